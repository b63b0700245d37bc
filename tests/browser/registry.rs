//! What a page says to the registry: toolsets, editors, rules, facts, callbacks, jobs; and whether it agrees with the
//! gateway.

use js_sys::Promise;
use pagehand::protocol::{Risk, Scope};
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::{Asked, Network, evaluate};
use crate::support::mounted::{Mounted, results_in};
use crate::support::stream::{calling, saying};
use crate::support::{definition, fresh_name, listing, until, until_so};

fn js(value: &Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap()
}

fn json_of(value: &JsValue) -> Value {
    serde_json::from_str(&js_sys::JSON::stringify(value).unwrap().as_string().unwrap()).unwrap()
}

fn thrown<T: std::fmt::Debug>(result: Result<T, JsValue>) -> (String, String) {
    let error = result.unwrap_err();
    let text = |name: &str| js_sys::Reflect::get(&error, &name.into()).unwrap().as_string().unwrap();
    (text("code"), text("message"))
}

fn tool(name: &str, more: &Value) -> Value {
    let mut definition = json!({
        "name": name, "owner": "tests", "risk": "read", "parameters": { "type": "object" },
        "description": "Answers what the test that registered it says it answers.",
    });
    for (field, value) in more.as_object().unwrap() {
        definition[field] = value.clone();
    }
    definition
}

async fn ask(network: &Network, panel: &Mounted) -> Asked {
    panel.send("Do it.");
    network.asked("/agent").await
}

fn offered(request: &Value) -> Vec<&str> {
    request["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn opened() -> (Network, Mounted) {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    (network, panel)
}

/// Lets the model call this tool; the call's id comes back, and the request after it.
async fn called(network: &Network, panel: &Mounted, name: &str, arguments: Value) -> Asked {
    let asked = ask(network, panel).await;
    asked.answer_text(200, "{}", &calling(&[(&fresh_name(), name, arguments)]));
    network.asked("/agent").await
}

// ---- toolsets and editors ----

#[test]
async fn a_toolset_is_resolved_by_the_facts_of_each_request_and_freed_when_it_is_closed() {
    let (network, panel) = opened().await;
    let toolset = evaluate(
        "({ name: 'cart', owner: 'shop', closed: 0, close() { globalThis.cartClosed = 1; },
            resolve: (facts) => facts.page === 'cart' || (facts.page === 'shop' && ['cart_add']),
            tools: [
              { definition: { name: 'cart_add', owner: 'shop', risk: 'read', description: 'Adds something to the cart of this page.'.padEnd(50, '.') }, run: () => 'added' },
              { definition: { name: 'cart_pay', owner: 'shop', risk: 'read', description: 'Pays for the cart of this page, all of it.'.padEnd(50, '.') }, run: () => 'paid' },
            ] })",
    );
    panel.instance.register_toolset(&toolset).unwrap();
    for (page, expected) in [("cart", &["cart_add", "cart_pay"][..]), ("shop", &["cart_add"]), ("home", &[])] {
        panel.instance.set_facts(&js(&json!({ "page": page }))).unwrap();
        let asked = ask(&network, &panel).await;
        let request = asked.json().await;
        let cart: Vec<&str> = offered(&request).into_iter().filter(|name| name.starts_with("cart")).collect();
        assert_eq!(cart, expected, "{page}");
        asked.answer_text(200, "{}", &saying("Done."));
        until_so("the run to end", || panel.find_button("Stop").is_none()).await;
    }
    assert!(panel.instance.close_toolset("cart"));
    assert_eq!(evaluate("globalThis.cartClosed").as_f64(), Some(1.0));
    assert!(!panel.instance.close_toolset("cart"));
}

#[test]
async fn all_faults_of_a_toolset_come_together_and_none_of_it_is_registered() {
    let (_network, panel) = opened().await;
    let toolset = evaluate(
        "({ name: 'x', owner: '', tools: [
             { definition: { name: 'fine_tool', owner: 'shop', risk: 'read', description: 'Is as it should be in every respect there is.' }, run: () => 1 },
             { definition: { name: 'Bad', owner: 'shop', risk: 'read', description: 'short' }, run: () => 1 },
           ] })",
    );
    let (code, message) = thrown(panel.instance.register_toolset(&toolset));
    assert_eq!(code, "invalid_tool");
    assert_eq!(message.lines().count(), 4, "{message}");
    assert!(!json_of(&panel.instance.tools()).to_string().contains("fine_tool"));
}

#[test]
async fn an_editor_adds_instructions_context_and_options_and_one_that_throws_adds_nothing() {
    let (network, panel) = opened().await;
    let register =
        |name: &str, order, code: &str| panel.instance.register_editor(name, "tests", order, &evaluate(code));
    register("second", 2, "() => ({ instructions: 'Second.' })").unwrap();
    register("broken", 1, "() => { throw new Error('no'); }").unwrap();
    register(
        "first",
        0,
        "({ message, tools }) => ({ instructions: `First: ${message}`, context: [{ description: 'tools', value: String(tools.length > 3) }], options: { a: 1 } })",
    )
    .unwrap();
    let asked = ask(&network, &panel).await;
    let request = asked.json().await;
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.ends_with("First: Do it.\n\nSecond."), "{system}");
    assert_eq!(request["forwardedProps"], json!({ "a": 1 }));
    assert!(request["context"].as_array().unwrap().contains(&json!({ "description": "tools", "value": "true" })));
    assert_eq!(thrown(register("second", 0, "() => ({})")).0, "invalid_tool");
    assert!(thrown(register("nothing_edits", 0, "undefined")).1.contains("give it a function"));
}

// ---- rules, facts, user ----

#[test]
async fn rules_are_defined_once() {
    let (network, panel) = opened().await;
    let (code, message) = thrown(panel.instance.define_policy(&js(&json!([{ "then": "maybe" }]))));
    assert_eq!(code, "invalid_policy");
    assert!(message.contains("rule 1"), "{message}");
    let rules = js(&json!([{ "when": { "owner": "tests" }, "then": "refuse", "reason": "Not in this page." }]));
    panel.instance.define_policy(&rules).unwrap();
    assert_eq!(thrown(panel.instance.define_policy(&js(&json!([])))).0, "policy_locked");
    panel.register("page_tool", "() => 1");
    let result = panel.result_of(&network, "page_tool", &json!({})).await;
    assert_eq!(
        (&result["code"], result["message"].as_str().unwrap().contains("Not in this page.")),
        (&json!("refused"), true)
    );
}

#[test]
async fn a_tool_is_told_who_is_signed_in_by_the_page_and_remembers_things_of_them() {
    let (network, panel) = opened().await;
    let user = |id: &str| js(&json!({ "id": id }));
    let ann = fresh_name();
    panel.instance.set_user(&user(&ann)).unwrap();
    panel.register(
        "page_tool",
        "({ note }, { user, state }) => { const before = state.get('user:note'); state.set('user:note', note); state.set('temp:x', 1);
           return { user: user.id, before, now: state.get('user:note'), all: Object.keys(state.all()) }; }",
    );
    let first = panel.result_of(&network, "page_tool", &json!({ "note": "tea", "user": { "id": "mallory" } })).await;
    assert_eq!(first, json!({ "user": ann, "before": null, "now": "tea", "all": ["temp:x", "user:note"] }));
    panel.instance.new_thread();
    let second = panel.result_of(&network, "page_tool", &json!({ "note": "milk" })).await;
    assert_eq!(second["before"], "tea", "another thread of the same user");
    panel.instance.set_user(&user(&fresh_name())).unwrap();
    let third = panel.result_of(&network, "page_tool", &json!({ "note": "x" })).await;
    assert_eq!(third["before"], Value::Null, "another user");
}

#[test]
async fn a_tool_searches_what_the_page_remembers() {
    let (network, panel) = opened().await;
    panel.register("page_tool", "async (args, { memory }) => memory.search('tea', 3)");
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, json!([]), "no memory is set up");
    panel.instance.set_memory(&evaluate("async (words, limit) => [{ words, limit }]"));
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, json!([{ "words": "tea", "limit": 3 }]));
    panel.instance.set_memory(&evaluate("() => { throw new Error('asleep'); }"));
    assert!(panel.result_of(&network, "page_tool", &json!({})).await["message"].as_str().unwrap().contains("asleep"));
}

// ---- artifacts ----

#[test]
async fn artifacts_have_versions_and_outlive_their_call() {
    let (network, panel) = opened().await;
    panel.register(
        "page_tool",
        "async ({ text }, { artifacts }) => ({ version: artifacts.save('notes', text, 'text/markdown'), first: await artifacts.load('notes', 1),
           latest: await artifacts.load('notes'), none: await artifacts.load('other'), versions: artifacts.versions('notes'), list: artifacts.list() })",
    );
    panel.result_of(&network, "page_tool", &json!({ "text": "one" })).await;
    let told = panel.result_of(&network, "page_tool", &json!({ "text": "zwei" })).await;
    assert_eq!(
        told,
        json!({ "version": 2, "first": "one", "latest": "zwei", "none": null, "versions": 2,
            "list": { "notes": { "mediaType": "text/markdown", "versions": 2, "characters": 4 } } })
    );
    let part = panel.result_of(&network, "artifact_read", &json!({ "name": "notes", "offset": 1, "length": 2 })).await;
    assert_eq!((&part["text"], &part["next_offset"], &part["version"]), (&json!("we"), &json!(3), &json!(2)));
    let missing = panel.result_of(&network, "artifact_read", &json!({ "name": "gone" })).await;
    assert!(missing["message"].as_str().unwrap().contains("There are: notes"), "{missing}");
}

#[test]
async fn a_result_that_is_too_long_can_be_read_on_in() {
    let (network, panel) = opened().await;
    panel.register("page_tool", "() => 'x'.repeat(50000) + 'END'");
    let told = panel.result_of(&network, "page_tool", &json!({})).await;
    assert_eq!(told["characters"], 50_003);
    let name = told["artifact"].as_str().unwrap();
    let end = panel.result_of(&network, "artifact_read", &json!({ "name": name, "offset": 50_000 })).await;
    assert_eq!((&end["text"], &end["next_offset"]), (&json!("END"), &Value::Null));
}

// ---- callbacks ----

#[test]
async fn the_first_callback_that_answers_stands_in_the_tools_place() {
    let (network, panel) = opened().await;
    panel.register("page_tool", "() => { globalThis.toolRan = (globalThis.toolRan ?? 0) + 1; return 'tool'; }");
    let add = |when: &str, name: &str, code: &str| {
        panel.instance.add_callback(when, name, &evaluate(code)).unwrap();
    };
    evaluate("(globalThis.toolRan = 0, globalThis.heard = [])");
    add("before-tool", "silent", "({ name }) => { globalThis.heard.push('silent ' + name); }");
    add("before-tool", "answers", "async () => ({ result: 'callback' })");
    add("before-tool", "never", "() => { globalThis.heard.push('never'); }");
    add("after-tool", "after", "({ result }) => { globalThis.heard.push('after ' + result); }");
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, json!("callback"));
    assert_eq!(json_of(&evaluate("globalThis.heard")), json!(["silent page_tool", "after callback"]));
    panel.instance.remove_callback("answers");
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, json!("tool"));
    assert_eq!(evaluate("globalThis.toolRan").as_f64(), Some(1.0));
    add("before-tool", "throws", "() => { throw new Error('ignored'); }");
    add("error", "mends", "({ error }) => ({ result: 'mended ' + error.code })");
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, json!("tool"));
    panel.register("failing_tool", "() => { throw Object.assign(new Error('no'), { code: 'sold_out' }); }");
    assert_eq!(panel.result_of(&network, "failing_tool", &json!({})).await, json!("mended sold_out"));
    assert_eq!(thrown(panel.instance.add_callback("before-lunch", "x", &evaluate("() => 1"))).0, "invalid_callback");
}

#[test]
async fn a_callback_may_answer_in_the_models_place_before_after_and_when_it_fails() {
    let (network, panel) = opened().await;
    let add = |when: &str, code: &str| panel.instance.add_callback(when, when, &evaluate(code)).unwrap();
    add("after-model", "({ text }) => text.includes('secret') ? { text: 'I can not say that.' } : undefined");
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &saying("The secret is 42."));
    panel.reads("[part=assistant-message]", "I can not say that.").await;
    assert!(!panel.root.text_content().unwrap_or_default().contains("42"));

    add("error", "({ model }) => model && ({ text: 'Sorry: ' + model.code })");
    ask(&network, &panel).await.answer_json(429, &json!({ "error": { "message": "Slow down.", "retryable": false } }));
    until_so("the words in the error's place", || {
        panel
            .all("[part=assistant-message]")
            .iter()
            .any(|one| crate::support::mounted::text_of(one) == "Sorry: rate_limit")
    })
    .await;

    add("before-model", "({ tools }) => ({ text: `Without asking, ${tools.length > 3}` })");
    panel.send("Again.");
    until_so("the words in the model's place", || {
        panel
            .all("[part=assistant-message]")
            .iter()
            .any(|one| crate::support::mounted::text_of(one) == "Without asking, true")
    })
    .await;
    assert_eq!(network.count("/agent").await, 2);
}

// ---- approvals ----

#[test]
async fn a_tool_asks_by_itself_and_is_told_the_users_answer() {
    let (network, panel) = opened().await;
    let asks = tool("page_tool", &json!({ "approval": "tool", "risk": "write" }));
    panel
        .try_register(&asks, "(args, ctx) => ctx.approved ? { answer: ctx.approval } : ctx.requestApproval('120 people will read this.', { people: 120 })")
        .unwrap();
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "page_tool", json!({}))]));
    panel.reads("[part=approval]", "120 people will read this.").await;
    panel.reads("[part=approval] .approval-asked pre", "\"people\": 120").await;
    let reply: web_sys::HtmlTextAreaElement =
        panel.the("[part=approval] .approval-asked textarea").await.unchecked_into();
    reply.set_value("{ \"only\": 10 }");
    panel.button("Approve").await.click();
    assert_eq!(results_in(&network.asked("/agent").await).await, [json!({ "answer": { "only": 10 } })]);
}

#[test]
async fn a_page_may_decide_in_the_users_name() {
    let (network, panel) = opened().await;
    panel.try_register(&tool("page_tool", &json!({ "risk": "write" })), "() => 'ran'").unwrap();
    let calls = Calls::listen(&panel);
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "page_tool", json!({}))]));
    let call = calls.of("approval-requested").await;
    let no = js(&json!({ "approve": false, "reason": "Not today." }));
    assert_eq!(
        rejected(panel.instance.complete(call.clone(), &js(&json!({ "result": 1 }))).unwrap()).await,
        "call_not_open"
    );
    assert_eq!(rejected(panel.instance.cancel_job(call.clone())).await, "call_not_open");
    JsFuture::from(panel.instance.decide(call.clone(), &no).unwrap()).await.unwrap();
    let told = results_in(&network.asked("/agent").await).await.remove(0);
    assert!(told["message"].as_str().unwrap().contains("Not today."), "{told}");
    assert_eq!(rejected(panel.instance.decide(call, &no).unwrap()).await, "call_not_open", "it is decided");
}

#[test]
async fn an_answer_to_a_call_that_nobody_made_is_refused_and_changes_nothing() {
    let (network, panel) = opened().await;
    panel.hear(&network, "Tell me.", "It was sent.").await;
    let instance = &panel.instance;
    let before = JsFuture::from(instance.export_thread()).await.unwrap();
    let nobody = || "nobody".to_owned();
    assert_eq!(rejected(instance.decide(nobody(), &js(&json!({ "approve": true }))).unwrap()).await, "unknown_call");
    assert_eq!(rejected(instance.complete(nobody(), &js(&json!({ "result": 1 }))).unwrap()).await, "unknown_call");
    assert_eq!(rejected(instance.cancel_job(nobody())).await, "unknown_call");
    let after = JsFuture::from(instance.export_thread()).await.unwrap();
    let text = |value: &JsValue| String::from(js_sys::JSON::stringify(value).unwrap());
    assert_eq!(text(&before), text(&after));
}

/// The code that a promise is rejected with.
async fn rejected(promise: Promise) -> String {
    let thrown = JsFuture::from(promise).await.unwrap_err();
    js_sys::Reflect::get(&thrown, &"code".into()).unwrap().as_string().unwrap()
}

/// The calls of a panel, as its element tells of them.
struct Calls(std::rc::Rc<std::cell::RefCell<Vec<(String, String)>>>);

impl Calls {
    fn listen(panel: &Mounted) -> Self {
        let heard: std::rc::Rc<std::cell::RefCell<Vec<(String, String)>>> = std::rc::Rc::default();
        let kept = std::rc::Rc::clone(&heard);
        let hear =
            wasm_bindgen::closure::Closure::<dyn Fn(web_sys::CustomEvent)>::new(move |event: web_sys::CustomEvent| {
                let detail = json_of(&event.detail());
                let text = |name: &str| detail[name].as_str().unwrap().to_owned();
                kept.borrow_mut().push((text("state"), text("callId")));
            });
        panel
            .element
            .add_event_listener_with_callback("pagehand-tool-call", hear.into_js_value().unchecked_ref())
            .unwrap();
        Self(heard)
    }

    /// The call that entered a state.
    async fn of(&self, state: &str) -> String {
        until(state, || self.0.borrow().iter().rev().find(|(is, _)| is == state).map(|(_, id)| id.clone())).await
    }
}

// ---- jobs ----

const BEGINS: &str = "(args, ctx) => { ctx.startJob('job-1'); globalThis.ctx = ctx; ctx.progress(0.25, 'A quarter.'); return { rows: 0 }; }";

async fn with_job() -> (Network, Mounted, Calls) {
    let (network, panel) = opened().await;
    panel.try_register(&tool("page_tool", &json!({ "longRunning": true })), BEGINS).unwrap();
    let calls = Calls::listen(&panel);
    let asked = called(&network, &panel, "page_tool", json!({})).await;
    let told = results_in(&asked).await.remove(0);
    assert_eq!(
        (&told["status"], &told["job"], &told["state"]),
        (&json!("pending"), &json!("job-1"), &json!({ "rows": 0 }))
    );
    asked.answer_text(200, "{}", &saying("It is at work."));
    panel.reads("[data-tool=page_tool] .call-state", "goes on").await;
    (network, panel, calls)
}

async fn told_of_end(network: &Network) -> String {
    let request = network.asked("/agent").await.json().await;
    let last = request["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "user");
    last["content"].as_str().unwrap().to_owned()
}

#[test]
async fn a_job_of_the_page_shows_how_far_it_is_and_its_end_is_told_in_a_new_step() {
    let (network, panel, _calls) = with_job().await;
    panel.reads("[data-tool=page_tool] .call-progress", "A quarter.").await;
    evaluate("globalThis.ctx.progress(0.75, 'Nearly.')");
    panel.reads("[data-tool=page_tool] .call-progress", "Nearly.").await;
    let bar = panel.the("[data-tool=page_tool] progress").await;
    assert_eq!(bar.get_attribute("value").as_deref(), Some("75"));
    evaluate("globalThis.ctx.complete({ rows: 7 })");
    assert!(told_of_end(&network).await.contains(r#"{"rows":7}"#));
    panel.reads("[data-tool=page_tool] .call-state", "done").await;
    assert!(panel.find("[part=cancel-job]").is_none());
}

#[test]
async fn a_job_may_be_ended_by_the_page() {
    let (network, panel, calls) = with_job().await;
    let call = calls.of("pending").await;
    let answer = js(&json!({ "error": { "code": "disk_full", "message": "There is no room." } }));
    JsFuture::from(panel.instance.complete(call.clone(), &answer).unwrap()).await.unwrap();
    assert!(told_of_end(&network).await.contains("There is no room."));
    panel.reads("[data-tool=page_tool] .call-state", "failed").await;
    assert_eq!(rejected(panel.instance.complete(call, &answer).unwrap()).await, "call_not_open", "once is enough");
    assert_eq!(thrown(panel.instance.complete("x".to_owned(), &js(&json!({ "neither": 1 })))).0, "not_json");
}

#[test]
async fn a_job_the_user_cancels_is_told_so_by_its_signal() {
    let (_network, panel, _calls) = with_job().await;
    assert!(evaluate("globalThis.ctx.signal.aborted").is_falsy());
    panel.part("cancel-job").await.click();
    panel.reads("[data-tool=page_tool] .call-state", "cancelled").await;
    assert!(evaluate("globalThis.ctx.signal.aborted").is_truthy());
    evaluate("globalThis.ctx.complete('too late')");
    panel.reads("[data-tool=page_tool] .call-state", "cancelled").await;
}

#[test]
async fn a_job_behind_the_gateway_is_waited_for_and_stopped_there() {
    let network = Network::install();
    let mut export = definition("orders_export", Scope::Server, Risk::Read);
    export.long_running = true;
    let panel = Mounted::serving(&network, &[export]).await;
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "orders_export", json!({}))]));
    network.asked("/tools/orders_export").await.answer_json(200, &json!({ "job": { "id": "j9", "state": null } }));
    network.asked("/agent").await.answer_text(200, "{}", &saying("At work."));
    let waiting = network.asked("/jobs/j9").await;
    panel.part("cancel-job").await.click();
    until_so("the wait to be let go of", || waiting.is_aborted()).await;
    assert_eq!(network.asked("/jobs/j9").await.method(), "DELETE");
}

// ---- the gateway's tools ----

#[test]
async fn a_tool_that_changed_behind_an_open_page_is_taken_up_and_said_so() {
    let network = Network::install();
    let before = definition("order_status", Scope::Server, Risk::Read);
    let panel = Mounted::serving(&network, std::slice::from_ref(&before)).await;
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "order_status", json!({}))]));
    let refused = json!({ "error": { "code": "definition_changed", "message": "It changed.", "retryable": false } });
    network.asked("/tools/order_status").await.answer_json(409, &refused);
    let mut now = before;
    now.version = "2".to_owned();
    now.risk = Risk::Write;
    network.asked("/tools").await.answer_json(200, &listing(&[now]));
    panel.reads(".banner", "order_status (version: \"1\" → \"2\", risk: \"read\" → \"write\")").await;
    assert_eq!(results_in(&network.asked("/agent").await).await[0]["code"], "definition_changed");
    assert_eq!(
        json_of(&panel.instance.tools())
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == "order_status")
            .unwrap()["version"],
        "2"
    );
}

#[test]
async fn what_the_page_was_built_against_is_held_against_what_the_gateway_serves() {
    let network = Network::install();
    let panel = Mounted::waiting(&fresh_name());
    let (same, mut newer, missing) = (
        definition("order_status", Scope::Server, Risk::Read),
        definition("order_note", Scope::Server, Risk::Read),
        definition("order_gone", Scope::Server, Risk::Read),
    );
    panel.instance.expect(&js(&listing(&[same.clone(), newer.clone(), missing]))).unwrap();
    newer.risk = Risk::Write;
    let unexpected = definition("order_new", Scope::Server, Risk::Read);
    network.asked("/tools").await.answer_json(200, &listing(&[same, newer, unexpected]));
    panel.reads(".banner", "the page expects order_note, version 1, read").await;
    let report = json_of(&panel.instance.report());
    let refused: Vec<&str> = report["refused"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(refused.len(), 3, "{refused:#?}");
    assert!(refused.iter().any(|one| one.contains("order_gone") && one.contains("serves no tool of that name")));
    assert!(
        refused
            .iter()
            .any(|one| one.contains("order_note") && one.contains("the gateway serves order_note, version 1, write"))
    );
    assert!(refused.iter().any(|one| one.contains("order_new") && one.contains("does not expect it")));
    let served: Vec<&str> = report["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["scope"] == "server")
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(served, ["order_status"], "the others are used");
}

#[test]
async fn what_the_models_provider_refuses_of_a_pages_tool_is_taken_out() {
    let (network, panel) = opened().await;
    panel.register("page_tool", "() => 1");
    let asked = network.asked("/check").await;
    assert_eq!(asked.json().await["tools"][0]["name"], "page_tool");
    let problems = json!({ "problems": [{ "kind": "tool", "name": "page_tool", "owner": "tests", "message": "too deep for some_model" }] });
    asked.answer_json(200, &problems);
    panel.reads(".banner", "tool \"page_tool\" of tests: too deep for some_model").await;
    assert!(!json_of(&panel.instance.tools()).to_string().contains("page_tool"));
}

#[test]
async fn a_report_counts_calls_aliases_and_unknown_names() {
    let (network, panel) = opened().await;
    panel
        .try_register(
            &tool("page_tool", &json!({ "aliases": ["old_name", { "name": "older_name", "offered": true }] })),
            "() => 1",
        )
        .unwrap();
    panel.result_of(&network, "old_name", &json!({})).await;
    panel.result_of(&network, "page_tool", &json!({})).await;
    panel.result_of(&network, "page_toll", &json!({})).await;
    let report = json_of(&panel.instance.report());
    assert_eq!(
        report["aliases"],
        json!([
            { "name": "old_name", "tool": "page_tool", "uses": 1, "removable": false },
            { "name": "older_name", "tool": "page_tool", "uses": 0, "removable": true },
        ])
    );
    assert_eq!(report["unknown"], json!({ "page_toll": 1 }));
    let count = &report["calls"][0];
    assert_eq!((&count["tool"], &count["outcome"], &count["calls"]), (&json!("page_tool"), &json!("ok"), &json!(2)));
    assert!(report["profiles"][0]["characters"].as_u64().unwrap() > 1000);
}

#[test]
async fn a_tool_that_claims_to_run_on_the_server_is_refused_by_the_page() {
    let (_network, panel) = opened().await;
    let (code, message) = thrown(panel.try_register(&tool("page_tool", &json!({ "scope": "server" })), "() => 1"));
    assert_eq!(code, "invalid_tool");
    assert!(message.contains("runs in the page; leave its scope out"), "{message}");
}

#[test]
async fn a_misspelt_field_is_not_passed_over() {
    let (_network, panel) = opened().await;
    let (_, message) = thrown(panel.try_register(&tool("page_tool", &json!({ "aproval": "always" })), "() => 1"));
    assert!(message.contains("\"aproval\" is no field of a definition; did you mean \"approval\"?"), "{message}");
}

#[test]
async fn labels_and_progress_are_in_the_language_of_the_page() {
    let network = Network::install();
    let mut status = definition("order_status", Scope::Server, Risk::Read);
    status.label = pagehand::tools::Words::from_json(&json!({ "en": "Order status", "de": "Bestellstatus" })).unwrap();
    status.progress =
        pagehand::tools::Words::from_json(&json!({ "en": "Looking it up", "de": "Wird nachgesehen" })).unwrap();
    let panel = Mounted::serving(&network, &[status]).await;
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "order_status", json!({}))]));
    panel.reads("[data-tool=order_status] .call-title", "Order status").await;
    panel.reads("[data-tool=order_status] .call-progress", "Looking it up").await;
}

#[test]
async fn what_a_page_can_not_check_of_a_servers_schema_is_left_to_the_gateway_and_said() {
    let odd = json!({ "type": "object", "properties": { "x": { "type": "string", "pattern": "(?=a)b" } } });
    let network = Network::install();
    let mut served = definition("order_status", Scope::Server, Risk::Read);
    served.parameters = odd.clone().into();
    let panel = Mounted::serving(&network, &[served]).await;
    let report = json_of(&panel.instance.report());
    let tools = report["tools"].as_array().unwrap();
    let left = &tools.iter().find(|tool| tool["name"] == "order_status").unwrap()["leftToGateway"];
    assert!(left[0].as_str().unwrap().contains("/properties/x/pattern"), "{left}");
    let (_, message) = thrown(panel.try_register(&tool("page_tool", &json!({ "parameters": odd })), "() => 1"));
    assert!(message.contains("/properties/x/pattern"), "{message}");
}

// ---- what went wrong once ----

#[test]
async fn a_job_that_ends_before_its_step_does_is_not_lost() {
    let (network, panel) = opened().await;
    let run =
        "(args, ctx) => { ctx.startJob('quick'); Promise.resolve({ rows: 1 }).then(ctx.complete); return 'begun'; }";
    panel.try_register(&tool("page_tool", &json!({ "longRunning": true })), run).unwrap();
    panel.register("slow_tool", "() => new Promise((done) => setTimeout(() => done('slow'), 150))");
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "page_tool", json!({})), ("c2", "slow_tool", json!({}))]));
    // The end came while the step was at work, so the next step hears of it, or the one after.
    let asked = network.asked("/agent").await;
    asked.answer_text(200, "{}", &saying("At work."));
    assert!(told_of_end(&network).await.contains(r#"{"rows":1}"#));
}

#[test]
async fn a_job_that_fails_is_told_in_its_own_words() {
    let (network, _panel, _calls) = with_job().await;
    evaluate("globalThis.ctx.fail(Object.assign(new Error('The printer is on fire.'), { code: 'on_fire' }))");
    let told = told_of_end(&network).await;
    assert!(told.contains("The printer is on fire.") && told.contains("on_fire"), "{told}");
}

#[test]
async fn what_a_job_keeps_can_be_read_on_in() {
    let (network, panel, _calls) = with_job().await;
    evaluate("(globalThis.ctx.artifacts.save('report', 'words'), globalThis.ctx.complete({ artifact: 'report' }))");
    let asked = network.asked("/agent").await;
    assert!(offered(&asked.json().await).contains(&"artifact_read"));
    asked.answer_text(200, "{}", &saying("Done."));
    let part = panel.result_of(&network, "artifact_read", &json!({ "name": "report" })).await;
    assert_eq!(part["text"], "words");
}

#[test]
async fn the_thread_of_a_user_who_has_left_is_put_away_with_what_it_was_doing() {
    let (network, panel) = opened().await;
    let (ann, bob) = (fresh_name(), fresh_name());
    panel.instance.set_user(&js(&json!(ann))).unwrap();
    panel.register("page_tool", "(args, { state }) => new Promise((done) => { globalThis.finish = () => { state.set('user:secret', 1); state.set('shared', 2); done('late'); }; })");
    panel.register("look_tool", "(args, { state }) => state.all()");
    let hers = panel.instance.thread();
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "page_tool", json!({}))]));
    until_so("the tool to run", || evaluate("globalThis.finish").is_function()).await;
    panel.instance.set_user(&js(&json!(bob))).unwrap();
    evaluate("globalThis.finish()");
    until_so("an empty thread", || panel.all("[part=user-message]").is_empty()).await;
    assert_eq!(panel.result_of(&network, "look_tool", &json!({})).await, json!({}));
    assert!(!threads(&panel).await.contains(&hers), "it is not in the next user's list");
    panel.instance.set_user(&js(&json!(ann))).unwrap();
    assert_eq!(threads(&panel).await, std::slice::from_ref(&hers));
    panel.instance.open_thread(hers);
    panel.the("[part=user-message]").await;
    panel.the("[data-state=cancelled]").await;
}

#[test]
async fn the_thread_of_a_user_is_put_away_when_nobody_is_signed_in() {
    let (network, panel) = opened().await;
    panel.instance.set_user(&js(&json!(fresh_name()))).unwrap();
    panel.hear(&network, "Tell me.", "It was sent.").await;
    let (name, thread) = (panel.name.clone(), panel.instance.thread());
    drop(panel);
    // A page that says nothing of its users goes on; one that says that nobody is there does not.
    let silent = Mounted::waiting(&name);
    silent.reads(".md", "It was sent.").await;
    drop(silent);
    let again = Mounted::waiting(&name);
    again.instance.set_user(&JsValue::NULL).unwrap();
    until_so("another thread", || again.instance.thread() != thread).await;
    assert!(again.all("[part=user-message]").is_empty());
}

/// The ids of the threads of whoever is signed in.
async fn threads(panel: &Mounted) -> Vec<String> {
    let list = JsFuture::from(panel.instance.threads()).await.unwrap();
    let list: Value = serde_wasm_bindgen::from_value(list).unwrap();
    list.as_array().unwrap().iter().map(|thread| thread["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
async fn stop_reaches_a_tool_behind_the_gateway() {
    let network = Network::install();
    let panel = Mounted::serving(&network, &[definition("order_status", Scope::Server, Risk::Read)]).await;
    let asked = ask(&network, &panel).await;
    asked.answer_text(200, "{}", &calling(&[("c1", "order_status", json!({}))]));
    let running = network.asked("/tools/order_status").await;
    panel.instance.stop();
    until_so("the request to be let go of", || running.is_aborted()).await;
    let stop = network.asked("/tools/order_status").await;
    assert_eq!((stop.method().as_str(), stop.header("idempotency-key")), ("DELETE", running.header("idempotency-key")));
}

#[test]
async fn a_callback_whose_result_can_not_be_sent_stands_in_the_tools_place_all_the_same() {
    let (network, panel) = opened().await;
    evaluate("(globalThis.toolRan = 0)");
    panel.register("page_tool", "() => { globalThis.toolRan += 1; return 'tool'; }");
    for (reply, expected) in [
        ("{ result: undefined }", json!(null)),
        ("{ result: 10n }", json!("unserializable_result")),
        ("{ error: new Error('Not now.') }", json!("tool_error")),
    ] {
        panel.instance.add_callback("before-tool", "guard", &evaluate(&format!("() => ({reply})"))).unwrap();
        let told = panel.result_of(&network, "page_tool", &json!({})).await;
        assert_eq!(told.get("code").cloned().unwrap_or(told.clone()), expected, "{reply}");
        panel.instance.remove_callback("guard");
    }
    assert_eq!(evaluate("globalThis.toolRan").as_f64(), Some(0.0));
    assert_eq!(thrown(panel.instance.add_callback("before-tool", "x", &evaluate("({})"))).0, "invalid_callback");
}

#[test]
async fn a_resolver_that_answers_anything_but_true_or_names_offers_nothing() {
    let (network, panel) = opened().await;
    for (at, resolve) in
        ["async () => true", "() => 'cart_0'", "() => 1", "() => { throw new Error('no'); }"].iter().enumerate()
    {
        let toolset = evaluate(&format!(
            "({{ name: 'set_{at}', owner: 'shop', resolve: {resolve}, tools: [{{ definition: {{ name: 'cart_{at}', owner: 'shop',
                risk: 'read', description: 'Adds something to the cart of this page, once.' }}, run: () => 1 }}] }})"
        ));
        panel.instance.register_toolset(&toolset).unwrap();
    }
    let asked = ask(&network, &panel).await;
    let request = asked.json().await;
    assert!(offered(&request).iter().all(|name| !name.starts_with("cart_")), "{request}");
}

#[test]
async fn a_pages_tools_are_asked_about_together() {
    let (network, panel) = opened().await;
    panel.register("page_tool", "() => 1");
    panel.register("other_tool", "() => 1");
    let asked = network.asked("/check").await;
    assert_eq!(asked.json().await["tools"].as_array().unwrap().len(), 2);
    let problems =
        json!({ "problems": [{ "kind": "profile", "name": "clerk", "owner": "", "message": "is too long" }] });
    asked.answer_json(200, &problems);
    panel.reads(".banner", "profile \"clerk\": is too long").await;
    assert!(json_of(&panel.instance.tools()).to_string().contains("other_tool"), "a profile is no tool");
    assert_eq!(network.count("/check").await, 1);
}
