//! Which model answers: one of the gateway's that the user chose, or one that the page asks by itself. And what goes to it
//! beside words.

use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_sys::{HtmlInputElement, HtmlSelectElement};

use crate::support::fake::{Network, evaluate};
use crate::support::mounted::{Mounted, text_of};
use crate::support::stream::saying;
use crate::support::{fresh_name, listing, until_so};

fn js(value: &Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap()
}

async fn with_models(network: &Network, models: Value) -> Mounted {
    let panel = Mounted::waiting(&fresh_name());
    let mut listed = listing(&[]);
    listed["models"] = models;
    network.asked("/tools").await.answer_json(200, &listed);
    panel.button("Open the orders").await;
    panel
}

fn two() -> Value {
    json!([
        { "name": "clever", "label": "Clever", "files": ["image/*", "text/*"], "maxFileBytes": 1000 },
        { "name": "home", "label": "At home", "files": [] },
    ])
}

#[test]
async fn a_user_chooses_among_the_gateways_models() {
    let network = Network::install();
    let panel = with_models(&network, two()).await;
    let select: HtmlSelectElement = panel.part("model").await.unchecked_into();
    assert_eq!((select.value().as_str(), text_of(&select).as_str()), ("clever", "CleverAt home"));
    let asked = |words: &'static str| {
        panel.send(words);
        network.asked("/agent")
    };
    let first = asked("One.").await;
    assert_eq!(first.json().await["forwardedProps"], json!({}), "the first is meant where none is named");
    first.answer_text(200, "{}", &saying("Yes."));
    panel.reads(".md", "Yes.").await;
    select.set_value("home");
    select.dispatch_event(&web_sys::Event::new("change").unwrap()).unwrap();
    let second = asked("Two.").await;
    assert_eq!(second.json().await["forwardedProps"]["pagehand"]["model"], "home");
    second.answer_text(200, "{}", &saying("No."));
    // Another thread is asked of the same.
    panel.button("New").await.click();
    assert_eq!(asked("Three.").await.json().await["forwardedProps"]["pagehand"]["model"], "home");
    // The page may say, too.
    panel.instance.set_model("clever");
    until_so("the choice", || {
        let select: HtmlSelectElement = panel.find("[part=model]").unwrap().unchecked_into();
        select.value() == "clever"
    })
    .await;
}

#[test]
async fn one_model_is_no_choice() {
    let network = Network::install();
    let panel = with_models(&network, json!([{ "name": "one", "label": "One", "files": [] }])).await;
    assert!(panel.find("[part=model]").is_none() && panel.find("[part=attach]").is_none());
    assert_eq!(text_of(&panel.find(".agent").unwrap()), "A scripted model");
}

fn choose(panel: &Mounted, name: &str, media_type: &str, text: &str) {
    let input: HtmlInputElement = panel.find("input[type=file]").unwrap().unchecked_into();
    let files = evaluate(&format!(
        "(() => {{ const all = new DataTransfer(); all.items.add(new File([{text:?}], {name:?}, {{ type: {media_type:?} }})); return all.files; }})()"
    ));
    js_sys::Reflect::set(&input, &"files".into(), &files).unwrap();
    input.dispatch_event(&web_sys::Event::new("change").unwrap()).unwrap();
}

#[test]
async fn files_go_with_the_message_and_are_named_in_it() {
    let network = Network::install();
    let panel = with_models(&network, two()).await;
    panel.part("attach").await;
    choose(&panel, "a.png", "image/png", "pixels");
    panel.reads(".composer .files", "a.png, 6 bytes").await;
    choose(&panel, "note.txt", "text/plain", "words");
    panel.reads(".composer .files", "note.txt").await;
    panel.find("[aria-label^='Remove note.txt']").unwrap().click();
    until_so("one file", || panel.all(".composer .files li").len() == 1).await;
    panel.send("Look.");
    let asked = network.asked("/agent").await;
    let content = asked.json().await["messages"][0]["content"].clone();
    assert_eq!(content[0], json!({ "type": "text", "text": "Look." }));
    assert_eq!(content[1]["source"], json!({ "type": "data", "value": "cGl4ZWxz", "mimeType": "image/png" }));
    assert!(panel.find(".composer .files").is_none(), "what was sent waits no more");
    panel.reads("[part=user-message] .files", "a.png, 6 bytes").await;
    asked.answer_text(200, "{}", &saying("A picture."));
    panel.reads(".md", "A picture.").await;
}

#[test]
async fn files_that_the_model_does_not_take_or_that_are_too_large_are_refused_by_name() {
    let network = Network::install();
    let panel = with_models(&network, two()).await;
    panel.part("attach").await;
    choose(&panel, "clip.mp4", "video/mp4", "x");
    panel.reads(".banner", "clip.mp4 is video/mp4, which the model does not take.").await;
    choose(&panel, "huge.png", "image/png", &"x".repeat(1001));
    panel.reads(".banner", "huge.png is too large").await;
    assert!(panel.find(".composer .files").is_none());
}

#[test]
async fn a_page_sends_files_and_asks_for_a_form_and_hears_the_value() {
    let network = Network::install();
    let panel = with_models(&network, two()).await;
    evaluate("globalThis.outputs = []");
    let listener = evaluate("(event) => outputs.push(event.detail.value)");
    panel.element.add_event_listener_with_callback("pagehand-output", listener.unchecked_ref()).unwrap();
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let prompt = json!({
        "text": "How many?", "files": [{ "name": "a", "type": "text/csv", "data": "YQ==" }],
        "output": { "name": "count", "schema": schema },
    });
    panel.instance.send(&js(&prompt)).unwrap();
    let asked = network.asked("/agent").await;
    let body = asked.json().await;
    assert_eq!(body["forwardedProps"]["pagehand"]["output"], json!({ "name": "count", "schema": schema }));
    assert_eq!(body["messages"][0]["content"][1]["source"]["value"], "YQ==");
    asked.answer_text(200, "{}", &saying("Many."));
    let asked = network.asked("/agent").await;
    let told = asked.json().await["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(told.contains("has not the form"), "{told}");
    let answer = r#"{"n":3,"of":"*stars* and __lines__"}"#;
    asked.answer_text(200, "{}", &saying(answer));
    until_so("the value", || {
        evaluate("JSON.stringify(outputs)").as_string().as_deref() == Some(&format!("[{answer}]"))
    })
    .await;
    panel.reads(".md .code code", answer).await;
    assert_eq!(panel.find(".md em").map(|element| element.text_content()), None, "JSON is no Markdown");
    for (prompt, words) in [
        (json!({ "files": [{ "name": "a" }] }), "files[0] must be"),
        (json!({ "files": [{ "name": "a", "type": "image/png", "data": "!!!" }] }), "files[0] must be"),
        (json!({ "files": [{ "name": "a", "type": "image/png", "url": "file:///etc/passwd" }] }), "files[0] must be"),
        (json!({ "text": "x", "output": { "name": "no spaces" } }), "output.name must be"),
        (json!({ "text": "x", "output": {} }), "output.schema must be"),
        (json!({ "text": "x", "output": { "schema": { "type": "dict" } } }), "output.schema:"),
    ] {
        let error = panel.instance.send(&js(&prompt)).unwrap_err();
        let message = js_sys::Reflect::get(&error, &"message".into()).unwrap().as_string().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

// ---- asked by the page itself ----

fn alone() -> Mounted {
    Mounted::alone(&fresh_name())
}

fn chat(delta: &Value, finish: Option<&str>) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "delta": delta, "finish_reason": finish }] }))
}

#[test]
async fn a_page_without_a_gateway_asks_a_model_on_this_machine_and_runs_its_own_tools() {
    let network = Network::install();
    let panel = alone();
    panel.register("page_tool", "({ n }) => n + 1");
    panel.instance.use_model(&js(&json!({ "provider": "ollama", "model": "qwen3" }))).unwrap();
    panel.reads(".agent", "qwen3, asked by this page").await;
    panel.send("Count.");
    let asked = network.asked("/api/chat").await;
    assert_eq!(asked.header("authorization"), None);
    assert_eq!(
        asked.json().await["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["function"]["name"] == "page_tool")
            .count(),
        1
    );
    let call =
        json!({ "message": { "tool_calls": [{ "function": { "name": "page_tool", "arguments": { "n": 1 } } }] } });
    asked.answer_text(200, "{}", &format!("{call}\n{}\n", json!({ "done": true, "done_reason": "stop" })));
    let asked = network.asked("/api/chat").await;
    let messages = asked.json().await["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["role"], &last["content"]), (&json!("tool"), &json!("2")));
    asked.answer_text(200, "{}", "{\"message\":{\"content\":\"Two.\"}}\n{\"done\":true}\n");
    panel.reads(".md", "Two.").await;
    assert_eq!(network.count("/tools").await, 0, "there is no gateway to ask");
}

fn kept_keys() -> usize {
    let count = "Object.keys(localStorage).filter((name) => name.startsWith('pagehand.key')).length";
    evaluate(count).as_f64().unwrap() as usize
}

#[test]
async fn a_users_own_key_is_asked_for_sent_in_the_head_and_shown_nowhere() {
    const KEY: &str = "sk-the-users-own";
    let network = Network::install();
    let panel = alone();
    evaluate("localStorage.clear()");
    panel.instance.use_model(&js(&json!({ "provider": "openai_chat", "model": "small" }))).unwrap();
    let field: HtmlInputElement = panel.the("[part=key] input[type=password]").await.unchecked_into();
    for (text, words) in [("sk-the\u{200b}users", "This is no key"), (" ", "This is no key"), (KEY, "")] {
        field.set_value(text);
        panel.button("Use this key").await.click();
        if !words.is_empty() {
            panel.reads(".banner", words).await;
        }
    }
    until_so("the form to go", || panel.find("[part=key]").is_none()).await;
    panel.send("Hello");
    let asked = network.asked("/v1/chat/completions").await;
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}")));
    asked.answer_json(500, &json!({ "error": { "message": format!("Broken for {KEY}") } }));
    panel.reads(".banner", "Broken for [key]").await;
    assert!(!panel.root.inner_html().contains(KEY));
    assert_eq!(kept_keys(), 0, "kept in memory alone");
    // A key that is refused is asked for again, and kept where the user wants that.
    panel.button("Try now").await.click();
    network
        .asked("/v1/chat/completions")
        .await
        .answer_json(401, &json!({ "error": { "message": "sk-the...own is wrong" } }));
    let field: HtmlInputElement = panel.the("[part=key] input[type=password]").await.unchecked_into();
    field.set_value("sk-another");
    panel.find("[part=key] input[type=checkbox]").unwrap().click();
    panel.button("Use this key").await.click();
    // What was refused is asked again with it.
    let again = network.asked("/v1/chat/completions").await;
    assert_eq!(again.header("authorization").as_deref(), Some("Bearer sk-another"));
    let told = json!({ "error": { "message": "sk-another is broken" } });
    again.answer_text(200, "{}", &format!("data: {told}\n\n"));
    panel.reads(".banner", "[key] is broken").await;
    assert!(!panel.root.inner_html().contains("sk-"), "nor in part, nor from within an answer");
    let next = alone();
    next.instance.use_model(&js(&json!({ "provider": "openai_chat", "model": "small" }))).unwrap();
    next.send("Hello");
    let asked = network.asked("/v1/chat/completions").await;
    assert_eq!(asked.header("authorization").as_deref(), Some("Bearer sk-another"));
    asked.answer_text(200, "{}", &(chat(&json!({ "content": "Hi." }), None) + &chat(&json!({}), Some("stop"))));
    next.reads(".md", "Hi.").await;
    next.instance.forget_key();
    next.the("[part=key]").await;
    assert_eq!(kept_keys(), 0);
}

#[test]
async fn anthropic_is_told_that_a_page_asks() {
    let network = Network::install();
    let panel = alone();
    let model = json!({ "provider": "anthropic", "model": "claude", "key": "k", "parameters": { "max_tokens": 7 } });
    panel.instance.use_model(&js(&model)).unwrap();
    panel.send("Hello");
    let asked = network.asked("/v1/messages").await;
    assert_eq!(asked.header("x-api-key").as_deref(), Some("k"));
    assert_eq!(asked.header("anthropic-dangerous-direct-browser-access").as_deref(), Some("true"));
    assert_eq!(asked.json().await["max_tokens"], 7);
}

#[test]
async fn a_server_that_can_not_read_what_it_sealed_itself_is_asked_once_more_without() {
    let network = Network::install();
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "provider": "openrouter", "model": "m", "key": "k" }))).unwrap();
    panel.send("Hello");
    let thought = json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "STALE", "index": 0 }] });
    let said = chat(&thought, None) + &chat(&json!({ "content": "Hi." }), Some("stop"));
    network.asked("/api/v1/chat/completions").await.answer_text(200, "{}", &said);
    panel.reads(".md", "Hi.").await;
    panel.send("And?");
    let asked = network.asked("/api/v1/chat/completions").await;
    assert!(asked.json().await.to_string().contains("STALE"));
    let words = json!({ "error": { "message": "Invalid `signature` in `thinking` block" } }).to_string();
    let handed_on = json!({ "message": "Provider returned error", "code": 400, "metadata": { "raw": words } });
    asked.answer_json(400, &json!({ "error": handed_on }));
    let again = network.asked("/api/v1/chat/completions").await;
    let sent = again.json().await.to_string();
    assert!(!sent.contains("STALE") && sent.contains("Hi.") && sent.contains("And?"), "{sent}");
    again.answer_json(400, &json!({ "error": { "message": "Bad signature" } }));
    panel.reads(".banner", "Bad signature").await;
}

#[test]
async fn a_server_that_lets_no_page_ask_it_is_named_with_what_to_do() {
    let network = Network::install();
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "url": "http://localhost:1234/v1", "model": "m" }))).unwrap();
    panel.send("Hello");
    network.asked("/v1/chat/completions").await.fail();
    panel.reads(".banner", "http://localhost:1234 can not be reached from this page").await;
}

#[test]
async fn a_web_page_in_the_models_place_is_called_one() {
    let network = Network::install();
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "url": "http://localhost:1234/v1", "model": "m" }))).unwrap();
    panel.send("Hello");
    network.asked("/v1/chat/completions").await.answer_text(200, r#"{"content-type":"text/html"}"#, "<h1>Hi</h1>");
    panel.reads(".banner", "answered with a web page").await;
    assert!(panel.find("[part=retry]").is_some());
}

#[test]
async fn a_page_with_neither_a_gateway_nor_a_model_says_so_and_asks_nobody() {
    let network = Network::install();
    let panel = alone();
    panel.send("Hello");
    panel.reads(".banner", "No model is chosen, and this page has no gateway").await;
    assert_eq!(network.count("/agent").await, 0);
}

#[test]
async fn a_model_that_is_not_there_is_shown_as_no_choice() {
    let network = Network::install();
    let panel = with_models(&network, two()).await;
    panel.instance.set_model("nobody");
    panel.send("One.");
    let asked = network.asked("/agent").await;
    assert_eq!(asked.json().await["forwardedProps"]["pagehand"]["model"], "nobody");
    let select: HtmlSelectElement = panel.part("model").await.unchecked_into();
    assert_eq!(select.value(), "", "none of them is what is asked");
}

#[test]
async fn an_answer_that_its_provider_cut_short_says_so() {
    let network = Network::install();
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "url": "http://localhost:1234/v1", "model": "m" }))).unwrap();
    for (reason, words) in [("length", "limit of length"), ("content_filter", "did not go on")] {
        panel.send("Tell me all.");
        let asked = network.asked("/v1/chat/completions").await;
        asked.answer_text(200, "{}", &chat(&json!({ "content": "Half of it" }), Some(reason)));
        panel.reads(".banner", words).await;
    }
}

#[test]
async fn what_is_wrong_with_a_model_is_said() {
    let _network = Network::install();
    let panel = alone();
    for (model, words) in [
        (json!({}), "needs a provider, or a url"),
        (json!({ "provider": "opnai", "model": "m" }), "\"opnai\" is not known; there are: openai_chat"),
        (json!({ "provider": "openai_compatible", "model": "m" }), "needs a url"),
        (json!({ "provider": "ollama" }), "needs its name"),
        (json!({ "url": "/v1", "model": "m" }), "url must begin with"),
        (json!({ "url": "http://bob:pw@localhost", "model": "m" }), "url must begin with"),
        (json!({ "provider": "prompt_api" }), "this browser has no model of its own"),
    ] {
        let error = panel.instance.use_model(&js(&model)).unwrap_err();
        let text = |name: &str| js_sys::Reflect::get(&error, &name.into()).unwrap().as_string().unwrap();
        assert_eq!(text("code"), "invalid_model");
        assert!(text("message").contains(words), "{}", text("message"));
    }
}

// ---- the browser's own ----

// What a page sees of Chrome's `LanguageModel`; with `open`, its loop of tools. Says what `says` holds, an array of
// answers, each an array of chunks.
fn language_model(open: bool, says: &str) -> OnDevice {
    evaluate(&format!(
        "(() => {{
            globalThis.told = [];
            const says = {says};
            class Session {{
                promptStreaming(prompt, options) {{
                    told.push({{ prompt, constraint: options.responseConstraint ?? null }});
                    const chunks = says.shift();
                    if (typeof chunks === 'string') throw new DOMException('no', chunks);
                    return new ReadableStream({{ start(on) {{ chunks.forEach((chunk) => on.enqueue(chunk)); on.close(); }} }});
                }}
                destroy() {{ told.push('destroyed'); }}
            }}
            globalThis.LanguageModel = {{
                availability: async () => 'available',
                create: async ({{ initialPrompts, tools }}) => {{ told.push({{ initialPrompts, tools: tools ?? null }}); return new Session(); }},
            }};
            const response = (kind) => class {{ constructor(given) {{ Object.assign(this, given, {{ kind }}); }} }};
            globalThis.LanguageModelToolSuccess = {open} ? response('success') : undefined;
            globalThis.LanguageModelToolError = {open} ? response('error') : undefined;
            return 1;
        }})()"
    ));
    OnDevice
}

/// The stand-in, as long as this is there.
struct OnDevice;

impl Drop for OnDevice {
    fn drop(&mut self) {
        evaluate("delete globalThis.LanguageModel");
    }
}

fn told() -> Value {
    serde_json::from_str(&evaluate("JSON.stringify(told)").as_string().unwrap()).unwrap()
}

#[test]
async fn the_browsers_own_model_calls_tools_where_it_can() {
    let _network = Network::install();
    let _device = language_model(
        true,
        "[['Looking. ', { type: 'tool-call', value: { callID: '', name: 'page_tool', arguments: { n: 1 } } },
           { type: 'tool-call', value: { callID: '', name: 'page_tool', arguments: { n: 2 } } }], ['Two', ' and three.']]",
    );
    let panel = alone();
    panel.register("page_tool", "({ n }) => { if (n > 1) throw new Error('too many'); return { n: n + 1 }; }");
    panel.instance.use_model(&js(&json!({ "provider": "prompt_api" }))).unwrap();
    panel.reads(".agent", "The model on this device").await;
    panel.send("Count.");
    panel.reads(".items > :last-child .md", "Two and three.").await;
    let heard = told();
    assert!(heard[0]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "page_tool"));
    let second = heard.as_array().unwrap().iter().rfind(|one| one["prompt"].is_array()).unwrap();
    let results = second["prompt"][0]["content"].as_array().unwrap();
    assert_eq!(results[0]["value"]["result"], json!([{ "type": "object", "value": { "n": 2 } }]));
    assert_eq!((&results[0]["value"]["kind"], &results[1]["value"]["kind"]), (&json!("success"), &json!("error")));
    let left = || told().as_array().unwrap().iter().filter(|one| *one == "destroyed").count();
    until_so("no session to be left", || left() == 2).await;
}

#[test]
async fn without_its_loop_of_tools_a_form_is_asked_for() {
    let _network = Network::install();
    let call = r#"{"say":"Looking.","calls":[{"name":"page_tool","arguments":{"n":1}}]}"#;
    let _device = language_model(false, &format!("[[{call:?}], [{:?}]]", r#"{"say":"Two.","calls":[]}"#));
    let panel = alone();
    panel.register("page_tool", "({ n }) => n + 1");
    panel.instance.use_model(&js(&json!({ "provider": "prompt_api" }))).unwrap();
    panel.send("Count.");
    panel.reads(".items > :last-child .md", "Two.").await;
    let told = told();
    assert_eq!(told[0]["tools"], Value::Null);
    assert!(told[0]["initialPrompts"][0]["content"].as_str().unwrap().contains("page_tool"));
    assert!(told[1]["constraint"]["properties"]["calls"].is_object());
    let last = told.as_array().unwrap().iter().rfind(|one| one["prompt"].is_array()).unwrap();
    assert!(last["prompt"][0]["content"].as_str().unwrap().contains("page_tool: 2"), "{last}");
}

#[test]
async fn what_goes_wrong_on_the_device_is_said_in_words() {
    let _network = Network::install();
    let _device = language_model(false, "['QuotaExceededError']");
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "provider": "prompt_api" }))).unwrap();
    panel.send("Hello");
    panel.reads(".banner", "The conversation is too long for the model on this device.").await;
}

#[test]
async fn thoughts_are_folded_and_what_has_no_words_is_not_seen() {
    let network = Network::install();
    let panel = alone();
    panel.instance.use_model(&js(&json!({ "provider": "anthropic", "model": "claude", "key": "k" }))).unwrap();
    panel.send("Hello");
    let block = |index: u32, block: Value, deltas: Vec<Value>| {
        let mut events = vec![json!({ "type": "content_block_start", "index": index, "content_block": block })];
        events.extend(
            deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
        events
    };
    let mut events = block(0, json!({ "type": "redacted_thinking", "data": "xx" }), Vec::new());
    events.extend(block(
        1,
        json!({ "type": "thinking", "thinking": "" }),
        vec![
            json!({ "type": "thinking_delta", "thinking": "Let me see." }),
            json!({ "type": "signature_delta", "signature": "s" }),
        ],
    ));
    events.extend(block(
        2,
        json!({ "type": "text", "text": "" }),
        vec![json!({ "type": "text_delta", "text": "One " })],
    ));
    events.extend(block(
        3,
        json!({ "type": "text", "text": "" }),
        vec![json!({ "type": "text_delta", "text": "text." })],
    ));
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }));
    events.push(json!({ "type": "message_stop" }));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    network.asked("/v1/messages").await.answer_text(200, "{}", &body);
    let folded = |panel: &Mounted| (panel.all(".reasoning").len(), panel.all(".md").len());
    panel.reads(".md", "One text.").await;
    assert_eq!(folded(&panel), (1, 1));
    assert!(!panel.find("details.reasoning").unwrap().has_attribute("open"));
    panel.reads(".reasoning", "Let me see.").await;
    // And so they are when the thread is read anew; the signature goes back.
    panel.send("Again.");
    let asked = network.asked("/v1/messages").await.json().await;
    let blocks: Vec<&Value> =
        asked["messages"][1]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(blocks, ["redacted_thinking", "thinking", "text", "text"]);
    let again = Mounted::alone(&panel.name);
    drop(panel);
    again.reads(".md", "One text.").await;
    assert_eq!(folded(&again), (1, 1));
}
