//! The panel as a person meets it: by roles, labels, parts and words.

use serde_json::json;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_sys::{Element, HtmlTextAreaElement, Node};

use pagehand::browser::sleep;
use pagehand::protocol::{Risk, Scope};
use pagehand::tools::Definition;

use crate::support::database::{Fault, put};
use crate::support::fake::{Body, ClipboardStub, Network, evaluate, press, press_with};
use crate::support::mounted::{Mounted, results_in, text_of};
use crate::support::stream::{call, calling, finished, frame, saying, started, text, text_end, text_start};
use crate::support::{definition, until_so};

/// A panel that shows the answer so far, and the rest of it on its way.
async fn answering(network: &Network, words: &str) -> (Mounted, Body) {
    let panel = Mounted::new(network).await;
    let body = panel.ask(network, "Tell me.").await;
    body.send_all(&[started(), text_start(), text(words)]);
    panel.the("[part=assistant-message] .md > *").await;
    (panel, body)
}

/// A panel that shows a whole answer.
async fn answered(network: &Network, words: &str) -> Mounted {
    let panel = Mounted::new(network).await;
    panel.send("Tell me.");
    network.asked("/agent").await.answer_text(200, "{}", &saying(words));
    until_so("the end of the answer", || panel.find("[part=assistant-message]:not([aria-busy])").is_some()).await;
    panel
}

fn end(body: &Body) {
    body.send_all(&[text_end(), finished()]);
    body.end();
}

fn write_tool(name: &str) -> Definition {
    definition(name, Scope::Server, Risk::Write)
}

/// A panel in which a call of `note_add` waits for its approval.
async fn asking(network: &Network) -> Mounted {
    let panel = Mounted::serving(network, &[write_tool("note_add")]).await;
    let body = panel.ask(network, "Write it down.").await;
    body.send(&calling(&[("c1", "note_add", json!({ "text": "call back" }))]));
    body.end();
    panel.part("approval").await;
    panel
}

fn arguments_of(panel: &Mounted) -> HtmlTextAreaElement {
    panel.find("[part=approval] textarea").unwrap().unchecked_into()
}

// ---- the way in ----

#[test]
async fn an_empty_panel_names_itself_and_says_what_to_try() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let region = panel.part("panel").await;
    let title = region.get_attribute("aria-labelledby").unwrap();
    assert_eq!(text_of(&panel.find(&format!("#{title}")).unwrap()), "Helper");
    panel.reads(".agent", "A scripted model").await;
    let suggestions: Vec<_> = panel.all("[part=suggestion]").iter().map(text_of).collect();
    assert_eq!(suggestions, ["Where is order A-1042?", "Open the orders"]);

    panel.instance.set_label("Desk".to_owned());
    panel.reads("h2", "Desk").await;
}

#[test]
async fn a_suggestion_is_sent_with_a_click() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.button("Open the orders").await.click();
    let request = network.asked("/agent").await.json().await;
    assert_eq!(request["messages"][0]["content"], "Open the orders");
    panel.reads("[part=user-message]", "You said:Open the orders").await;
    until_so("the suggestions to go", || panel.find("[part=suggestion]").is_none()).await;
}

#[test]
async fn enter_sends_what_is_written_and_empties_the_composer() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let label = panel.all("label").into_iter().find(|label| text_of(label) == "Message to the agent").unwrap();
    assert_eq!(label.get_attribute("for").unwrap(), panel.composer().id());
    panel.send("  Where is it?\n");
    assert_eq!(panel.composer().value(), "");
    let request = network.asked("/agent").await.json().await;
    assert_eq!(request["messages"][0]["content"], "Where is it?");
}

#[test]
async fn the_send_button_sends_too() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.composer().set_value("Hello");
    panel.button("Send").await.click();
    assert_eq!(network.asked("/agent").await.json().await["messages"][0]["content"], "Hello");
}

#[test]
async fn a_key_that_does_not_send_sends_nothing() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let composer = panel.composer();
    composer.set_value("not yet");
    assert!(!press_with(&composer, "Enter", r#"{ "shiftKey": true }"#), "a new line");
    assert!(!press_with(&composer, "Enter", r#"{ "isComposing": true }"#), "an input method's own");
    assert!(!press_with(&composer, "Enter", r#"{ "keyCode": 229 }"#), "the same, as Safari says it");
    assert!(!press(&composer, "a"));
    assert!(!press(&composer, "Escape"), "nothing is at work");
    assert_eq!(composer.value(), "not yet");

    composer.set_value("  \n ");
    press(&composer, "Enter");
    assert_eq!(network.count("/agent").await, 0, "nor does a message without a word");
    assert!(panel.find("[part=user-message]").is_none());
}

// ---- an answer ----

#[test]
async fn an_answer_is_shown_as_what_its_marks_mean() {
    let network = Network::install();
    let answer = "It is **very** *late*, `A-1`.\n\n\
        # Head\n\n\
        ```rust\nlet a = \"<b>\";\n```\n\n\
        | Article | Price |\n|---|--:|\n| Tea | 4 |\n| Rum | 9 |\n\n\
        1. one\n2. two\n   - inner\n\n\
        - [x] done\n- [ ] open\n\n\
        > said\n\n---\n";
    let panel = answered(&network, answer).await;
    let read =
        |selector: &str| text_of(&panel.find(&format!(".md {selector}")).unwrap_or_else(|| panic!("{selector}")));
    assert_eq!(read("p strong"), "very");
    assert_eq!(read("p em"), "late");
    assert_eq!(read("p code"), "A-1");
    assert_eq!(read("h3"), "Head");
    assert_eq!(read(".code pre code"), "let a = \"<b>\";");
    assert_eq!(read(".code .code-head span"), "rust");
    assert_eq!(read("table thead th:nth-child(2).right"), "Price");
    assert_eq!(read("table tbody tr:nth-child(2) td"), "Rum");
    assert_eq!(read("ol > li:nth-child(2) ul li"), "inner");
    assert_eq!(read("li.task [aria-label=done]"), "\u{2611}");
    assert_eq!(read("li.task [aria-label='to do']"), "\u{2610}");
    assert_eq!(read("blockquote p"), "said");
    assert!(panel.find(".md hr").is_some());
}

#[test]
async fn an_answer_is_busy_until_it_ends() {
    let network = Network::install();
    let (panel, body) = answering(&network, "So far").await;
    assert_eq!(panel.part("assistant-message").await.get_attribute("aria-busy").as_deref(), Some("true"));
    end(&body);
    until_so("the answer's end", || !panel.find("[part=assistant-message]").unwrap().has_attribute("aria-busy")).await;
}

#[test]
async fn open_marks_are_closed_for_the_moment() {
    let network = Network::install();
    let (panel, body) = answering(&network, "It is **very").await;
    panel.reads(".md strong", "very").await;
    body.send(&text(" late** indeed"));
    panel.reads(".md p", "It is very late indeed").await;
    panel.reads(".md strong", "very late").await;
}

#[test]
async fn a_finished_block_keeps_its_nodes_while_the_answer_goes_on() {
    let network = Network::install();
    let (panel, body) = answering(&network, "First.\n\n```\ncode\n```\n\nThird").await;
    panel.reads(".md > p:last-child", "Third").await;
    let nodes = || -> Vec<Node> {
        let of = |element: Element| [element.clone().into(), element.first_child().unwrap()];
        panel.all(".md > *").into_iter().take(2).flat_map(of).collect()
    };
    let before = nodes();
    body.send(&text(" goes on.\n\n- a\n- b\n\nLast"));
    panel.reads(".md > p:last-child", "Last").await;
    assert!(before == nodes(), "while it goes on");
    end(&body);
    until_so("the answer's end", || panel.find("[aria-busy]").is_none()).await;
    assert!(before == nodes(), "and when it has ended");
}

#[test]
async fn a_growing_paragraph_keeps_its_text_node() {
    let network = Network::install();
    let (panel, body) = answering(&network, "One").await;
    panel.reads(".md p", "One").await;
    let paragraph = panel.find(".md p").unwrap();
    let node = paragraph.first_child().unwrap();
    for more in [" two", " three", " **four"] {
        body.send(&text(more));
        panel.reads(".md p", more.trim_matches([' ', '*'])).await;
        assert!(panel.find(".md p").unwrap() == paragraph, "{more}");
        assert!(paragraph.first_child().unwrap() == node, "{more}");
    }
    assert_eq!(text_of(&paragraph), "One two three four");
}

#[test]
async fn growing_code_and_lists_and_tables_are_patched_in_place() {
    let network = Network::install();
    let table = [
        ("```\nlet a", ";\nlet b", ".md .code code", "let a; let b"),
        ("- one\n- tw", "o\n- three", ".md ul", "one two three"),
        ("| A | B |\n|---|---|\n| 1 | 2 |\n", "| 3 | 4 |\n", ".md table", "A B 1 2 3 4"),
        ("> quo", "ted", ".md blockquote", "quoted"),
        ("See https://example.org/a", "/b", ".md a", "https://example.org/a/b"),
    ];
    for (first, more, selector, whole) in table {
        let (panel, body) = answering(&network, first).await;
        let element = panel.the(selector).await;
        body.send(&text(more));
        let words = |element: &Element| {
            let inner = element.clone().unchecked_into::<web_sys::HtmlElement>().inner_text();
            inner.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        until_so(whole, || words(&element) == whole).await;
        assert!(panel.find(selector).unwrap() == element, "{selector}");
    }
}

#[test]
async fn code_is_copied_with_its_button() {
    let network = Network::install();
    let clipboard = ClipboardStub::with("");
    let panel = answered(&network, "```sh\nls -l\n```\n").await;
    panel.button("Copy").await.click();
    panel.button("Copied").await;
    assert_eq!(clipboard.text(), "ls -l\n");
    panel.button("Copy").await;
}

#[test]
async fn a_browser_that_refuses_to_copy_is_not_hidden() {
    let network = Network::install();
    let _clipboard = ClipboardStub::locked();
    let panel = answered(&network, "```\nls\n```\n").await;
    panel.button("Copy").await.click();
    panel.button("Not copied").await;
}

#[test]
async fn a_link_to_another_site_opens_apart_and_tells_it_nothing() {
    let network = Network::install();
    let panel = answered(&network, "[out](https://example.org/x) [in](/orders) [letter](mailto:a@example.org)").await;
    let links = panel.all(".md a");
    let attributes = |link: &Element, names: &[&str]| -> Vec<Option<String>> {
        names.iter().map(|name| link.get_attribute(name)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        attributes(&links[0], &["href", "target", "rel", "title"]),
        [
            some("https://example.org/x"),
            some("_blank"),
            some("noopener noreferrer nofollow"),
            some("https://example.org/x")
        ]
    );
    assert!(links[1].get_attribute("href").unwrap().ends_with("/orders"));
    assert_eq!(attributes(&links[1], &["target", "rel"]), [None, None]);
    assert_eq!(attributes(&links[2], &["href"]), [some("mailto:a@example.org")]);
}

#[test]
async fn what_a_model_writes_brings_no_markup_of_its_own_into_the_page() {
    let network = Network::install();
    let answer = "[a](javascript:alert(1)) [b](java&#10;script:alert(1)) [c](&#1;javascript:x) [d](data:text/html,x)\n\n\
        ![secret](https://example.org/pixel.png?q=1)\n\n\
        <img src=x onerror=alert(1)> inline <b style='color:red' id='mine'>bold</b>\n\n\
        <div id='mine' style='position:fixed' onclick='alert(1)'><script>alert(1)</script></div>\n\n\
        ```html\" onmouseover=\"alert(1)\n<p id=x>\n```\n";
    let panel = answered(&network, answer).await;
    assert!(
        panel.all(".md a").iter().all(|link| link.get_attribute("href").unwrap().starts_with("https://example.org/"))
    );
    assert_eq!(panel.all(".md .no-link").iter().map(text_of).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(panel.all(".md [style], .md [id], .md [onclick], .md [onerror], .md [onmouseover]").len(), 0);
    assert_eq!(panel.all(".md img, .md script, .md b, .md iframe").len(), 0);
    panel.reads(".md", "[image: secret]").await;
    panel.reads(".md", "<div id='mine'").await;
}

#[test]
async fn text_that_turns_out_to_be_thoughts_is_folded_where_it_stood() {
    let network = Network::install();
    let (panel, body) = answering(&network, "Hm.").await;
    panel.reads(".md", "Hm.").await;
    let was = json!({ "type": "CUSTOM", "name": "pagehand.was_reasoning", "value": { "messageId": "m1" } });
    body.send(&frame(&was));
    panel.reads("details.reasoning", "Hm.").await;
    assert!(panel.find(".md").is_none());
    body.send_all(&[text_end(), text_start(), text("Yes.")]);
    panel.reads(".md", "Yes.").await;
    end(&body);
    until_so("the answer's end", || panel.find("[aria-busy]").is_none()).await;
    let again = Mounted::alone(&panel.name);
    drop(panel);
    again.reads(".md", "Yes.").await;
    again.reads("details.reasoning", "Hm.").await;
}

// ---- tool calls ----

#[test]
async fn a_card_says_what_runs_where_and_what_came_of_it() {
    let network = Network::install();
    let mut status = definition("order_status", Scope::Server, Risk::Read);
    status.label = "Look up an order".into();
    let panel = Mounted::serving(&network, &[status]).await;
    panel.register("page_look", "() => ({ seen: 'all' })");
    let body = panel.ask(&network, "Look.").await;
    body.send_all(&[
        started(),
        call("c1", "order_status", &json!({ "id": "A-1" })),
        call("c2", "page_look", &json!({})),
    ]);
    panel.the("[data-tool=order_status][data-state=input-available]").await;
    body.send(&finished());
    body.end();

    let running = panel.the("[data-tool=order_status][data-state=running]").await;
    assert_eq!(running.get_attribute("role").as_deref(), Some("group"));
    assert_eq!(running.get_attribute("aria-label").as_deref(), Some("Tool: Look up an order"));
    let read = |tool: &str, selector: &str| text_of(&panel.find(&format!("[data-tool={tool}] {selector}")).unwrap());
    assert_eq!(read("order_status", ".call-where"), "on the server · order_status");
    assert_eq!(read("page_look", ".call-where"), "in this page · page_look");
    assert_eq!(read("page_look", ".call-title"), "Page look");
    assert!(read("order_status", "details pre").contains("\"id\": \"A-1\""));

    network.asked("/tools/order_status").await.answer_json(200, &json!({ "result": { "state": "sent" } }));
    let done = panel.the("[data-tool=order_status][data-state=result-available]").await;
    assert!(done == running, "the card is the same");
    panel.the("[data-tool=page_look][data-state=result-available]").await;
    until_so("the result", || read("order_status", "details:last-of-type").contains("\"state\": \"sent\"")).await;
    assert_eq!(read("order_status", ".call-state"), "done");
    until_so("the time it took", || read("order_status", ".call-time").ends_with('s')).await;
    assert!(panel.all("[data-tool=page_look] details").len() == 1, "no arguments, no line for them");
}

#[test]
async fn a_failed_call_shows_its_error_and_an_unknown_one_that_it_did_not_run() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("page_look", "() => { throw new Error('no page') }");
    let body = panel.ask(&network, "Look.").await;
    body.send(&calling(&[("c1", "page_look", json!({})), ("c2", "page_lok", json!({}))]));
    body.end();
    panel.the("[data-tool=page_look][data-state=failed]").await;
    panel.reads("[data-tool=page_look] .call-error", "no page").await;
    panel.reads("[data-tool=page_lok] .call-where", "not run").await;
    panel.reads("[data-tool=page_lok] .call-error", "The nearest names are: page_look").await;
}

#[test]
async fn a_write_waits_for_the_users_yes() {
    let network = Network::install();
    let panel = asking(&network).await;
    let group = panel.part("approval").await;
    assert_eq!(group.get_attribute("role").as_deref(), Some("group"));
    assert_eq!(group.get_attribute("aria-label").as_deref(), Some("Approval"));
    assert!(text_of(&group).contains("This changes data."));
    assert_eq!(arguments_of(&panel).value(), "{\n  \"text\": \"call back\"\n}");
    assert_eq!(network.count("/tools/note_add").await, 0, "nothing runs before");

    panel.button("Approve").await.click();
    let asked = network.asked("/tools/note_add").await;
    assert_eq!(asked.json().await["arguments"], json!({ "text": "call back" }));
    until_so("the question to go", || panel.find("[part=approval]").is_none()).await;
}

#[test]
async fn the_focus_goes_to_the_question_and_back_to_the_composer() {
    let network = Network::install();
    let panel = Mounted::serving(&network, &[write_tool("note_add")]).await;
    let focused = || panel.root.active_element().and_then(|element| element.get_attribute("part")).unwrap_or_default();
    panel.composer().focus().unwrap();
    let body = panel.ask(&network, "Write it down.").await;
    body.send(&calling(&[("c1", "note_add", json!({ "text": "call back" }))]));
    body.end();
    until_so("the question to have the focus", || focused() == "approval").await;
    panel.button("Decline").await.click();
    until_so("the composer to have it again", || focused() == "input").await;
}

#[test]
async fn somebody_who_is_writing_keeps_the_focus() {
    let network = Network::install();
    let panel = Mounted::serving(&network, &[write_tool("note_add")]).await;
    panel.composer().focus().unwrap();
    let body = panel.ask(&network, "Write it down.").await;
    panel.composer().set_value("and then");
    body.send(&calling(&[("c1", "note_add", json!({ "text": "call back" }))]));
    body.end();
    panel.part("approval").await;
    sleep(60).await;
    assert!(panel.root.active_element().unwrap() == **panel.composer());
}

#[test]
async fn the_user_may_change_the_arguments() {
    let network = Network::install();
    let panel = asking(&network).await;
    arguments_of(&panel).set_value("{ not JSON");
    panel.button("Approve").await.click();
    panel.reads("[part=approval] [role=alert]", "not a JSON object").await;
    assert_eq!(arguments_of(&panel).value(), "{ not JSON", "what was written stays");

    arguments_of(&panel).set_value("{ \"text\": \"write back\" }");
    panel.button("Approve").await.click();
    let asked = network.asked("/tools/note_add").await;
    assert_eq!(asked.json().await["arguments"], json!({ "text": "write back" }));
    panel.reads("[data-tool=note_add] details pre", "write back").await;
}

#[test]
async fn a_call_that_is_declined_never_runs_and_the_model_is_told() {
    let network = Network::install();
    let panel = asking(&network).await;
    panel.button("Decline").await.click();
    let result = results_in(&network.asked("/agent").await).await.remove(0);
    assert_eq!(result["code"], "denied");
    panel.the("[data-tool=note_add][data-state=denied]").await;
    panel.reads(".call-state", "declined").await;
    assert_eq!(network.count("/tools/note_add").await, 0);
}

#[test]
async fn a_browser_that_wants_a_click_gets_the_users() {
    let network = Network::install();
    let clipboard = ClipboardStub::locked();
    let panel = Mounted::new(&network).await;
    let body = panel.ask(&network, "Copy it.").await;
    body.send(&calling(&[("c1", "clipboard_write", json!({ "text": "PGH-77" }))]));
    body.end();
    panel.reads("[part=approval]", "The browser wants your click").await;
    clipboard.unlock();
    panel.button("Approve").await.click();
    let results = results_in(&network.asked("/agent").await).await;
    assert_eq!(results, [json!({ "copied": "PGH-77" })]);
    assert_eq!(clipboard.text(), "PGH-77");
}

// ---- stop, errors, anew ----

#[test]
async fn there_is_a_stop_button_only_while_something_is_at_work() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    assert!(panel.find_button("Stop").is_none());
    let body = panel.ask(&network, "Tell me.").await;
    body.send_all(&[started(), text_start(), text("Well,")]);
    panel.reads(".md", "Well,").await;
    panel.button("Stop").await.click();
    panel.reads(".broken", "Stopped here.").await;
    panel.reads("[part=banner]", "You stopped this run.").await;
    until_so("the button to go", || panel.find_button("Stop").is_none()).await;
    panel.reads(".md", "Well,").await;
}

#[test]
async fn escape_stops_too() {
    let network = Network::install();
    let (panel, _body) = answering(&network, "Well,").await;
    assert!(press(&panel.composer(), "Escape"));
    panel.reads("[part=banner]", "You stopped this run.").await;
}

#[test]
async fn an_error_is_told_in_words_and_can_be_tried_again() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.send("Hello");
    let error = r#"{ "error": { "message": "The key is wrong." } }"#;
    network.asked("/agent").await.answer_text(401, "{}", error);
    panel.reads("[part=banner].error", "The key is wrong.").await;
    panel.button("Try again").await.click();
    let request = network.asked("/agent").await;
    assert_eq!(request.json().await["messages"].as_array().unwrap().len(), 1, "the message is not sent twice");
    until_so("the banner to go", || panel.find("[part=banner]").is_none()).await;
    request.answer_text(200, "{}", &saying("Hello again"));
    panel.reads(".md", "Hello again").await;
    assert_eq!(panel.all("[part=user-message]").len(), 1);
}

#[test]
async fn a_rate_limit_counts_down_before_it_can_be_tried_again() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.send("Hello");
    let headers = json!({ "retry-after": "2", "x-should-retry": "false" }).to_string();
    network.asked("/agent").await.answer_text(429, &headers, r#"{ "error": { "message": "One at a time." } }"#);
    let retry = panel.part("retry").await;
    panel.reads("[part=banner]", "Too many requests for now. One at a time.").await;
    assert_eq!(text_of(&retry), "Try again in 2 s");
    assert!(retry.has_attribute("disabled"));
    retry.click();
    until_so("a second to pass", || text_of(&retry) == "Try again in 1 s").await;
    until_so("the time to be over", || text_of(&retry) == "Try again").await;
    assert!(!retry.has_attribute("disabled"));
    assert_eq!(network.count("/agent").await, 1, "a click before its time does nothing");
    retry.click();
    network.asked("/agent").await;
}

#[test]
async fn a_failure_that_may_pass_is_counted_down_and_tried_again_by_itself() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.send("Hello");
    let headers = json!({ "retry-after": "2" }).to_string();
    network.asked("/agent").await.answer_text(429, &headers, r#"{ "error": { "message": "One at a time." } }"#);
    let notice = panel.the("[part=waiting][role=status]").await;
    let said = "Too many requests for now. One at a time. It is tried again (1 of 4).";
    assert_eq!(text_of(&notice.query_selector("p").unwrap().unwrap()), said);
    panel.reads("[role=log]", said).await;
    let seconds = notice.query_selector("[aria-hidden=true]").unwrap().unwrap();
    assert!(["in 2 s", "in 3 s"].contains(&text_of(&seconds).as_str()), "{}", text_of(&seconds));
    until_so("a second to pass", || text_of(&seconds) == "in 1 s").await;
    assert!(panel.find("[part=banner]").is_none() && panel.find_button("Stop").is_some(), "the run is not over");
    let request = network.asked("/agent").await;
    until_so("the notice to go", || panel.find("[part=waiting]").is_none()).await;
    assert_eq!(request.json().await["messages"].as_array().unwrap().len(), 1);
    request.answer_text(200, "{}", &saying("Hello again"));
    panel.reads(".md", "Hello again").await;
    assert_eq!(panel.all("[part=user-message]").len(), 1);
}

#[test]
async fn a_wait_is_cut_short_or_stopped_by_the_user() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let headers = json!({ "retry-after": "30" }).to_string();
    panel.send("Hello");
    network.asked("/agent").await.answer_text(429, &headers, "");
    panel.button("Try now").await.click();
    network.asked("/agent").await.answer_text(429, &headers, "");
    panel.reads("[part=waiting]", "(2 of 4)").await;
    panel.button("Stop").await.click();
    panel.reads("[part=banner]", "You stopped this run.").await;
    assert!(panel.find("[part=waiting]").is_none());
    assert_eq!(network.count("/agent").await, 2);
}

/// What the browser says of the network, as long as this is held.
struct Air;

impl Air {
    fn of(online: bool) -> Self {
        let air = Self;
        air.says(online);
        air
    }

    fn says(&self, online: bool) {
        let getter = format!("({{ configurable: true, get: () => {online} }})");
        evaluate(&format!("Object.defineProperty(navigator, 'onLine', {getter})"));
    }

    fn becomes(&self, online: bool) {
        self.says(online);
        let name = if online { "online" } else { "offline" };
        evaluate(&format!("window.dispatchEvent(new Event('{name}'))"));
    }
}

impl Drop for Air {
    fn drop(&mut self) {
        evaluate("delete navigator.onLine");
    }
}

#[test]
async fn without_a_network_a_message_is_kept_and_goes_out_when_it_is_back() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let air = Air::of(true);
    air.becomes(false);
    panel.send("Hello");
    panel.reads("[part=waiting][role=status]", "You are offline; this goes on when you are back.").await;
    panel.reads("[part=user-message]", "Hello").await;
    assert_eq!(network.count("/agent").await, 0);
    air.becomes(true);
    network.asked("/agent").await.answer_text(200, "{}", &saying("Hello again"));
    panel.reads(".md", "Hello again").await;
    assert!(panel.find("[part=waiting]").is_none());
}

#[test]
async fn a_panel_that_opened_without_its_gateway_asks_it_again_once_there_is_a_network() {
    let network = Network::install();
    let panel = Mounted::waiting("away");
    network.asked("/tools").await.fail();
    panel.reads(".banner[role=status]", "Check that it is running").await;
    evaluate("window.dispatchEvent(new Event('online'))");
    network.asked("/tools").await.answer_json(200, &crate::support::listing(&[]));
    panel.button("Open the orders").await;
}

#[test]
async fn a_panel_that_opens_without_a_network_looks_for_it_now_and_then() {
    let network = Network::install();
    let _air = Air::of(false);
    let panel = Mounted::new(&network).await;
    panel.send("Hello");
    panel.reads("[part=waiting]", "You are offline").await;
    network.asked("/agent").await.fail();
    network.asked("/agent").await.answer_text(200, "{}", &saying("The browser was wrong."));
    panel.reads(".md", "The browser was wrong.").await;
    assert!(panel.find("[part=waiting]").is_none());
    panel.send("Again");
    network.asked("/agent").await;
}

#[test]
async fn an_answer_that_broke_off_is_shown_and_asked_for_again() {
    let network = Network::install();
    let (panel, body) = answering(&network, "Half").await;
    body.lose();
    panel.reads(".answer.superseded .broken", "asked for again").await;
    network.asked("/agent").await.answer_text(200, "{}", &saying("Whole"));
    until_so("the second answer", || panel.all(".md").iter().map(text_of).eq(["Half", "Whole"])).await;
}

#[test]
async fn a_gateway_that_is_down_is_told_of_before_anything_is_sent() {
    let network = Network::install();
    let panel = Mounted::waiting("down");
    network.asked("/tools").await.fail();
    panel.reads(".banner[role=status]", "Check that it is running").await;
}

#[test]
async fn new_clears_the_panel_and_ends_what_is_at_work_without_a_word() {
    let network = Network::install();
    let (panel, body) = answering(&network, "Well,").await;
    let before = panel.instance.thread();
    panel.button("New").await.click();
    until_so("the thread to be empty", || panel.find("[part=user-message], [part=assistant-message]").is_none()).await;
    panel.button("Open the orders").await;
    sleep(50).await;
    assert!(panel.find("[part=banner]").is_none(), "what became of the old thread is not the new one's");
    assert!(panel.find_button("Stop").is_none());
    assert_ne!(panel.instance.thread(), before);
    drop(body);

    panel.send("Afresh");
    let request = network.asked("/agent").await.json().await;
    assert_eq!(request["messages"].as_array().unwrap().len(), 1);
}

#[test]
async fn a_thread_is_there_again_after_a_reload() {
    let network = Network::install();
    let panel = answered(&network, "It was **sent**.").await;
    let (name, thread) = (panel.name.clone(), panel.instance.thread());
    drop(panel);
    let again = Mounted::waiting(&name);
    assert_eq!(again.instance.thread(), thread);
    again.reads("[part=user-message]", "Tell me.").await;
    again.reads(".md strong", "sent").await;
    assert!(again.find("[aria-busy]").is_none());
}

#[test]
async fn a_thread_that_can_not_be_saved_goes_on_and_says_so() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let full = Fault::full(u32::MAX);
    panel.send("Tell me.");
    network.asked("/agent").await.answer_text(200, "{}", &saying("All the same."));
    panel.reads(".banner[role=status]", "This conversation is not being saved").await;
    panel.reads(".md", "All the same.").await;
    drop(full);
    until_so("the notice to go", || panel.find(".banner").is_none()).await;
    let name = panel.name.clone();
    drop(panel);
    Mounted::waiting(&name).reads(".md", "All the same.").await;
}

#[test]
async fn a_damaged_record_is_shown_up_to_the_damage_and_says_so() {
    let network = Network::install();
    let panel = answered(&network, "It was sent.").await;
    let (name, thread) = (panel.name.clone(), panel.instance.thread());
    drop(panel);
    put("pagehand", "lines", &format!(r#"["{thread}", 2]"#), "{ half a li").await;
    // What was still being written when the page was left would mend it.
    evaluate(&format!("sessionStorage.removeItem('pagehand.left:{thread}')"));
    let again = Mounted::waiting(&name);
    again.reads("[part=user-message]", "Tell me.").await;
    again.reads(".banner[role=status]", "record was damaged").await;
    assert!(again.find(".md").is_none());
}

// ---- what a screen reader hears ----

/// Everything the live region says while something happens.
struct Said {
    region: Element,
    all: Vec<String>,
}

impl Said {
    fn by(panel: &Mounted) -> Self {
        let region = panel.find("[role=log][aria-live=polite]").unwrap();
        Self { region: region.into(), all: Vec::new() }
    }

    fn look(&mut self) {
        let lines = self.region.children();
        let lines = (0..lines.length()).filter_map(|at| lines.item(at)?.text_content());
        self.all = lines.collect();
    }

    async fn until(&mut self, words: &str) {
        until_so(&format!("{words:?} to be said"), || {
            self.look();
            self.all.iter().any(|said| said.contains(words))
        })
        .await;
    }
}

#[test]
async fn an_answer_is_said_in_whole_blocks() {
    let network = Network::install();
    let (panel, body) = answering(&network, "The order ").await;
    let mut said = Said::by(&panel);
    for piece in ["was **sent** yest", "erday.\n\n", "It will arr", "ive today.\n"] {
        body.send(&text(piece));
        sleep(40).await;
        said.look();
    }
    said.until("The order was sent yesterday.").await;
    end(&body);
    said.until("It will arrive today.").await;
    assert_eq!(said.all, ["The order was sent yesterday.", "It will arrive today."]);
}

#[test]
async fn each_call_is_said_at_its_turns_even_when_others_come_after_it() {
    let network = Network::install();
    let tools =
        [definition("order_status", Scope::Server, Risk::Read), definition("order_search", Scope::Server, Risk::Read)];
    let panel = Mounted::serving(&network, &tools).await;
    let mut said = Said::by(&panel);
    let body = panel.ask(&network, "Look.").await;
    body.send_all(&[started(), text_start(), text("I will look."), text_end()]);
    body.send_all(&[call("c1", "order_status", &json!({})), call("c2", "order_search", &json!({})), finished()]);
    body.end();
    said.until("I will look.").await;
    network.asked("/tools/order_status").await.answer_json(200, &json!({ "result": 1 }));
    said.until("Order status: done.").await;
    network.asked("/tools/order_search").await.answer_json(200, &json!({ "result": 2 }));
    said.until("Order search: done.").await;
}

#[test]
async fn a_question_and_the_end_of_a_run_are_said() {
    let network = Network::install();
    let panel = asking(&network).await;
    let mut said = Said::by(&panel);
    said.until("Note add: needs your approval.").await;
    panel.button("Stop").await.click();
    said.until("You stopped this run.").await;
}
