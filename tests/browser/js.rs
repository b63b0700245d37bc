//! Tools in JavaScript: whatever they return or throw, the model reads one answer.

use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::{Network, evaluate};
use crate::support::mounted::Mounted;
use crate::support::stream::calling;
use crate::support::until_so;

/// What the model reads of a tool with this function.
async fn result_of(run: &str) -> Value {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("page_tool", run);
    panel.result_of(&network, "page_tool", &json!({})).await
}

/// Code, words and whether the call is worth repeating, of a failure.
fn told(result: &Value) -> (&str, &str, bool) {
    assert_eq!(result["status"], "error", "{result}");
    (result["code"].as_str().unwrap(), result["message"].as_str().unwrap(), result["retryable"] == true)
}

#[test]
async fn what_a_tool_returns_or_resolves_to_is_the_result() {
    assert_eq!(
        result_of("() => ({ count: 3, list: [1, null, 'x'] })").await,
        json!({ "count": 3, "list": [1, null, "x"] })
    );
    assert_eq!(result_of("async () => 'later'").await, json!("later"));
    assert_eq!(result_of("() => false").await, json!(false));
}

#[test]
async fn nothing_is_null() {
    assert_eq!(result_of("() => undefined").await, json!(null));
    assert_eq!(result_of("async () => {}").await, json!(null));
}

#[test]
async fn an_error_that_is_thrown_fails_in_its_own_words() {
    for run in ["() => { throw new Error('no cart'); }", "() => Promise.reject(new TypeError('no cart'))"] {
        let result = result_of(run).await;
        assert_eq!(told(&result), ("tool_error", "\"page_tool\" failed: no cart", false), "{run}");
    }
}

#[test]
async fn an_error_can_say_that_trying_again_helps() {
    let result = result_of("() => { throw Object.assign(new Error('busy'), { retryable: true }); }").await;
    assert_eq!(told(&result), ("tool_error", "\"page_tool\" failed: busy", true));
}

#[test]
async fn anything_can_be_thrown() {
    let table = [
        ("'just words'", "just words"),
        ("undefined", "something without a message was thrown"),
        ("null", "something without a message was thrown"),
        ("42", "something without a message was thrown"),
        ("{ message: 'of an object' }", "of an object"),
        ("new Error('')", "Error"),
        ("new DOMException('not now', 'InvalidStateError')", "not now"),
        ("new DOMException('nobody cancelled', 'AbortError')", "nobody cancelled"),
    ];
    for (thrown, words) in table {
        let result = result_of(&format!("() => {{ throw ({thrown}); }}")).await;
        let (code, message, _) = told(&result);
        assert_eq!(code, "tool_error", "{thrown}");
        assert_eq!(message, format!("\"page_tool\" failed: {words}"), "{thrown}");
    }
}

#[test]
async fn a_result_that_is_not_json_is_an_error_that_says_it_ran() {
    let results = [
        "() => () => 1",
        "() => Symbol('x')",
        "() => 10n",
        "() => { const loop = {}; loop.loop = loop; return loop; }",
        "() => ({ toJSON() { throw new Error('not me'); } })",
    ];
    for run in results {
        let result = result_of(run).await;
        let (code, message, retryable) = told(&result);
        assert_eq!((code, retryable), ("unserializable_result", false), "{run}");
        assert!(message.contains("ran, but") && message.contains("Do not repeat the call"), "{message}");
    }
}

#[test]
async fn a_tool_is_given_its_arguments_and_its_call() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register(
        "page_tool",
        "(args, { callId, approved, signal }) => ({ args, id: typeof callId, approved, signal: signal.aborted })",
    );
    let result = panel.result_of(&network, "page_tool", &json!({ "city": "Oslo" })).await;
    assert_eq!(result, json!({ "args": { "city": "Oslo" }, "id": "string", "approved": false, "signal": false }));
}

#[test]
async fn a_key_called_proto_is_a_key_and_nothing_more() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register(
        "page_tool",
        "(args) => ({ own: Object.keys(args), of_all: ({}).polluted ?? null, of_it: args.polluted ?? null })",
    );
    let arguments = json!({ "__proto__": { "polluted": true }, "constructor": { "prototype": { "polluted": true } } });
    let result = panel.result_of(&network, "page_tool", &arguments).await;
    assert_eq!(result, json!({ "own": ["__proto__", "constructor"], "of_all": null, "of_it": null }));
}

#[test]
async fn a_tool_may_be_called_constructor() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("constructor", "() => 'built'");
    assert_eq!(panel.result_of(&network, "constructor", &json!({})).await, "built");
}

#[test]
async fn a_cancelled_tool_hears_of_it_and_its_abort_error_is_no_result() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    evaluate("globalThis.cancelled = []");
    panel.register(
        "page_tool",
        "(args, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => {
            cancelled.push(signal.reason.name);
            reject(signal.reason);
        }))",
    );
    let body = panel.ask(&network, "Do it.").await;
    body.send(&calling(&[("c1", "page_tool", json!({}))]));
    body.end();
    panel.the("[data-state=running]").await;
    panel.instance.stop();
    panel.the("[data-state=cancelled]").await;
    until_so("the signal", || evaluate("cancelled.join()") == "AbortError").await;
    panel.reads("[part=banner]", "You stopped this run.").await;
    assert_eq!(network.count("/agent").await, 1, "a cancelled call restarts nothing");
}

// ---- limits ----

#[test]
async fn a_result_that_is_too_large_is_an_error_with_the_limit_in_it() {
    for run in [
        "() => 'x'.repeat(50e6)",
        "() => 'x'.repeat(9 * 1024 * 1024)",
        "async () => ({ list: Array(1e6).fill('nine chars') })",
    ] {
        let result = result_of(run).await;
        let (code, words, retryable) = told(&result);
        assert_eq!((code, retryable), ("result_too_large", false), "{run}");
        assert!(words.starts_with("\"page_tool\" ran, but its result is longer than 8 MiB"), "{words}");
    }
}

#[test]
async fn a_result_that_is_nested_too_deep_is_an_error_in_words() {
    let nest = |levels: u32| format!("() => {{ let v = 1; for (let i = 0; i < {levels}; i++) v = [v]; return v; }}");
    assert!(result_of(&nest(120)).await.is_array());
    for levels in [128, 200, 1_000_000] {
        let result = result_of(&nest(levels)).await;
        let (code, message, _) = told(&result);
        assert_eq!(code, "unserializable_result", "{levels}");
        assert!(message.contains("nested deeper than 127 levels"), "{message}");
    }
}

#[test]
async fn a_result_reads_as_json_stringify_writes_it() {
    let results = [
        "({ a: undefined, b: () => 1, c: Symbol('x'), d: 1 })",
        "[undefined, () => 1, Symbol('x'), NaN, -0, Infinity, 1e21, 9007199254740993, 0.1]",
        "new Date(0)",
        "({ when: new Date(NaN) })",
        "[new Number(3), new String('a'), new Boolean(false)]",
        "new Map([[1, 2]])",
        "new Uint8Array([1, 2])",
        "new (class { x = 1; get y() { return 2; } toJSON(key) { return { x: this.x, key }; } })()",
        "Object.create({ inherited: 1 }, { hidden: { value: 1 }, shown: { value: 2, enumerable: true } })",
        "JSON.parse('{\"__proto__\": { \"a\": 1 }, \"\": 2}')",
        "Object.assign([1, 2], { extra: 3 })",
        "new URL('https://a.example/b')",
    ];
    for result in results {
        let wanted = evaluate(&format!("JSON.stringify({result})")).as_string().unwrap();
        let wanted: Value = serde_json::from_str(&wanted).unwrap();
        assert_eq!(result_of(&format!("() => ({result})")).await, wanted, "{result}");
    }
}

#[test]
async fn what_stringify_refuses_is_refused() {
    for run in [
        "() => 1n",
        "() => [1n]",
        "() => { const a = {}; a.a = a; return a; }",
        "() => ({ get a() { throw new Error('no'); } })",
    ] {
        assert_eq!(told(&result_of(run).await).0, "unserializable_result", "{run}");
    }
}

#[test]
async fn what_else_a_tool_says_is_bounded_in_the_same_way() {
    let run = "(args, { state }) => {
        try { state.set('big', 'x'.repeat(50e6)); } catch (error) { return `${error.code}: ${error.message}`; }
    }";
    assert_eq!(result_of(run).await, "not_json: it is longer than 8 MiB");
}

// ---- registration ----

#[test]
async fn every_fault_of_a_definition_is_told_at_once_with_a_code() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let faulty =
        json!({ "name": "No good", "description": "short", "timeoutMs": 0, "parameters": { "type": "string" } });
    let thrown = panel.try_register(&faulty, "42").unwrap_err();
    let error: &js_sys::Error = thrown.dyn_ref().expect("a real Error");
    assert_eq!(js_sys::Reflect::get(error, &"code".into()).unwrap(), "invalid_tool");
    let words = String::from(error.message());
    for fault in
        ["nothing can run it", "risk must be", "the name must match", "at least 40", "no owner", "0 ms", "object"]
    {
        assert!(words.lines().any(|line| line.contains(fault)), "{fault:?} is not in:\n{words}");
    }
}

#[test]
async fn what_is_no_definition_at_all_is_refused_in_words() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    for nonsense in ["undefined", "null", "42", "'page_tool'", "[]", "({ name: 7, risk: {}, parameters: () => 1 })"] {
        let thrown = panel
            .instance
            .register_tool(evaluate(nonsense), evaluate("() => 1"), &wasm_bindgen::JsValue::UNDEFINED)
            .unwrap_err();
        assert_eq!(js_sys::Reflect::get(&thrown, &"code".into()).unwrap(), "invalid_tool", "{nonsense}");
    }
}

#[test]
async fn a_name_that_is_taken_stays_with_its_first_tool() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("page_tool", "() => 'first'");
    let again = json!({
        "name": "page_tool", "owner": "others", "risk": "read",
        "description": "Answers what the test that registered it says it answers.",
    });
    let thrown = panel.try_register(&again, "() => 'second'").unwrap_err();
    assert!(String::from(thrown.unchecked_ref::<js_sys::Error>().message()).contains("taken by a tool of tests"));
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, "first");
}

#[test]
async fn a_tool_that_was_taken_out_is_unknown_and_can_come_back() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("page_tool", "() => 1");
    assert!(panel.instance.unregister_tool("page_tool"));
    assert!(!panel.instance.unregister_tool("page_tool"), "it is gone");
    assert!(!panel.instance.unregister_tool("toString"), "and was never there");
    let result = panel.result_of(&network, "page_tool", &json!({})).await;
    assert_eq!(told(&result).0, "unknown_tool");
    panel.register("page_tool", "() => 2");
    assert_eq!(panel.result_of(&network, "page_tool", &json!({})).await, 2);
}

#[test]
async fn the_tools_are_listed_with_their_scopes() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("page_tool", "() => 1");
    let tools = js_sys::JSON::stringify(&panel.instance.tools()).unwrap().as_string().unwrap();
    let tools: Value = serde_json::from_str(&tools).unwrap();
    let find = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).cloned().unwrap();
    assert_eq!(find("page_tool")["scope"], "browser");
    assert_eq!(find("navigate")["label"], "Open a screen");
}
