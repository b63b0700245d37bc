//! The tools every page gets, in a real page.

use std::rc::Rc;

use pagehand::browser::tools::{ToolContext, built_in};
use pagehand::browser::url::{Address, Kind};
use pagehand::browser::{Abort, Artifacts, Database, Journal, Services, ThreadServices, sleep};
use pagehand::protocol::{Outcome, Risk, Scope};
use pagehand::tools::{Approval, ToolState};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_sys::HtmlElement;

use crate::support::fake::{ClipboardStub, Tabs, evaluate};
use crate::support::{Place, definition, document, tool_request, until_so};

async fn call_from(element: &HtmlElement, name: &str, arguments: Value, approved: bool) -> Outcome {
    let (_, run) = built_in(element).into_iter().find(|(definition, _)| definition.name == name).unwrap();
    let abort = Abort::new();
    let mut request = tool_request(definition("any_tool", Scope::Browser, Risk::Read), arguments.clone());
    request.approved = approved;
    let journal = Rc::new(Journal::new(&Database::new("pagehand"), &request.thread));
    let artifacts = Rc::new(Artifacts::of(&journal));
    let services = ThreadServices::new(Services::default(), artifacts, Rc::new(|_| ()));
    let context =
        ToolContext { request: Rc::new(request), state: ToolState::default(), signal: abort.signal(), services };
    run(arguments, context).await
}

async fn call(name: &str, arguments: Value) -> Outcome {
    call_from(&document().body().unwrap(), name, arguments, false).await
}

fn result(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Result(value) => value,
        other => panic!("{other:?}"),
    }
}

/// Code and words of a failure.
fn told(outcome: Outcome) -> (String, String) {
    match outcome {
        Outcome::Error(error) => (error.code.into_owned(), error.message),
        other => panic!("{other:?}"),
    }
}

// ---- addresses ----

#[test]
fn an_address_is_judged_as_the_browser_reads_it() {
    let own = web_sys::window().unwrap().location().origin().unwrap();
    let host = own.strip_prefix("http://").unwrap();
    let table = [
        ("/orders?page=2#top", Some(Kind::SameOrigin)),
        ("orders", Some(Kind::SameOrigin)),
        ("#there", Some(Kind::SameOrigin)),
        (&own, Some(Kind::SameOrigin)),
        (&format!("  {own}/x\n"), Some(Kind::SameOrigin)),
        (&format!("//{host}/x"), Some(Kind::SameOrigin)),
        (&format!("http://someone@{host}/"), Some(Kind::Web)),
        ("http://127.0.0.1.example.org/", Some(Kind::Web)),
        (&format!("https://example.org/?next={own}"), Some(Kind::Web)),
        ("//example.org/x", Some(Kind::Web)),
        ("\\\\example.org\\x", Some(Kind::Web)),
        ("HTTPS://EXAMPLE.ORG", Some(Kind::Web)),
        ("mailto:someone@example.org", Some(Kind::Contact)),
        ("tel:+4912345", Some(Kind::Contact)),
        ("javascript:alert(1)", Some(Kind::Forbidden)),
        ("JaVaScRiPt:alert(1)", Some(Kind::Forbidden)),
        ("\u{1}javascript:alert(1)", Some(Kind::Forbidden)),
        (" \t javascript:alert(1)", Some(Kind::Forbidden)),
        ("java\nscript:alert(1)", Some(Kind::Forbidden)),
        ("java\tscript:alert(1)", Some(Kind::Forbidden)),
        ("javascript://example.org/%0aalert(1)", Some(Kind::Forbidden)),
        ("data:text/html,<script>1</script>", Some(Kind::Forbidden)),
        (&format!("blob:{own}/1"), Some(Kind::Forbidden)),
        (&format!("view-source:{own}/"), Some(Kind::Forbidden)),
        ("vbscript:x", Some(Kind::Forbidden)),
        ("file:///etc/passwd", Some(Kind::Forbidden)),
        ("about:blank", Some(Kind::Forbidden)),
        ("ftp://example.org/", Some(Kind::Forbidden)),
        ("intent://x#Intent;end", Some(Kind::Forbidden)),
        ("https://", None),
        ("http://[::1", None),
    ];
    for (text, kind) in table {
        assert_eq!(Address::parse(text).map(|address| address.kind()), kind, "{text:?}");
    }
}

// ---- navigate ----

/// Puts the page's address back.
struct Stay(String);

impl Stay {
    fn here() -> Self {
        Self(web_sys::window().unwrap().location().href().unwrap())
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        evaluate(&format!("(history.replaceState(null, '', {}), document.title = 'tests')", json!(self.0)));
    }
}

fn listen(element: &HtmlElement, event: &str, listener: &str) {
    let listener = evaluate(listener);
    element.add_event_listener_with_callback(event, listener.unchecked_ref()).unwrap();
}

#[test]
async fn navigate_waits_for_a_router_that_says_when_it_is_done() {
    let (place, _stay) = (Place::new(), Stay::here());
    listen(
        &place.0,
        "pagehand-navigate",
        "(event) => {
            event.preventDefault();
            event.detail.waitUntil(new Promise((done) => setTimeout(() => {
                history.pushState(null, '', event.detail.url);
                document.title = 'Orders, page 2';
                done();
            }, 250)));
        }",
    );
    let result = result(call_from(&place.0, "navigate", json!({ "url": "/orders?page=2" }), false).await);
    assert!(result["address"].as_str().unwrap().ends_with("/orders?page=2"), "{result}");
    assert_eq!(result["title"], "Orders, page 2");
}

#[test]
async fn navigate_gives_a_router_that_does_not_say_so_a_moment() {
    let (place, _stay) = (Place::new(), Stay::here());
    listen(
        &place.0,
        "pagehand-navigate",
        "(event) => { event.preventDefault(); setTimeout(() => { document.title = 'Help'; }, 20); }",
    );
    let result = result(call_from(&place.0, "navigate", json!({ "url": "/help" }), false).await);
    assert_eq!(result["title"], "Help");
}

#[test]
async fn a_screen_that_can_not_be_shown_fails_in_the_routers_words() {
    let (place, _stay) = (Place::new(), Stay::here());
    listen(
        &place.0,
        "pagehand-navigate",
        "(event) => { event.preventDefault(); event.detail.waitUntil(Promise.reject(new Error('no order 7'))); }",
    );
    let (code, words) = told(call_from(&place.0, "navigate", json!({ "url": "/orders/7" }), false).await);
    assert_eq!(code, "tool_error");
    assert!(words.contains("no order 7"), "{words}");
}

#[test]
async fn navigate_clicks_a_link_for_a_router_that_takes_links() {
    let (place, _stay) = (Place::new(), Stay::here());
    let take = "(event) => {
        const link = event.target.closest('a');
        if (!link) return;
        event.preventDefault();
        history.pushState(null, '', link.href);
    }";
    let body = document().body().unwrap();
    let listener: js_sys::Function = evaluate(take).unchecked_into();
    body.add_event_listener_with_callback("click", &listener).unwrap();
    let outcome = call_from(&place.0, "navigate", json!({ "url": "/customers" }), false).await;
    body.remove_event_listener_with_callback("click", &listener).unwrap();
    assert!(result(outcome)["address"].as_str().unwrap().ends_with("/customers"));
    assert!(document().query_selector("a[href$='/customers']").unwrap().is_none(), "the link is gone again");
}

#[test]
async fn navigate_to_a_place_on_this_very_page_needs_no_router() {
    let _stay = Stay::here();
    let result = result(call("navigate", json!({ "url": "#there" })).await);
    assert!(result["address"].as_str().unwrap().ends_with("#there"), "{result}");
}

#[test]
async fn navigate_refuses_what_is_not_this_site() {
    let place = Place::new();
    listen(&place.0, "pagehand-navigate", "() => { throw new Error('nobody should be asked'); }");
    for url in ["https://example.org/", "//example.org", "javascript:alert(1)", "java\nscript:alert(1)", "mailto:a@b.c"]
    {
        let (code, words) = told(call_from(&place.0, "navigate", json!({ "url": url }), false).await);
        assert_eq!(code, "refused", "{url:?}: {words}");
    }
    let (code, words) = told(call("navigate", json!({ "url": "https://" })).await);
    assert_eq!(code, "tool_error");
    assert!(words.contains("is not an address"), "{words}");
}

// ---- page_read ----

/// What `page_read` says of a page that holds this and nothing else.
async fn read(html: &str) -> Value {
    let place = Place::holding(html);
    let rest = document().body().unwrap().children();
    let rest: Vec<_> =
        (1..rest.length()).filter_map(|at| rest.item(at)).filter(|other| !other.has_attribute("hidden")).collect();
    rest.iter().for_each(|other| other.set_attribute("hidden", "").unwrap());
    let outcome = call("page_read", json!({})).await;
    rest.iter().for_each(|other| other.remove_attribute("hidden").unwrap());
    drop(place);
    result(outcome)
}

async fn outline(html: &str) -> String {
    read(html).await["content"].as_str().unwrap().to_owned()
}

#[test]
async fn a_page_reads_as_an_outline() {
    let html = "<main><h1>Order  A-1042</h1><p>Placed by <a href='/customers/7'>Ada <b>Byron</b></a>, paid.</p>
        <h2>Lines</h2><table><thead><tr><th>Article<th>Price</thead><tr><td>Tea<td>4 <i>€</i></table>
        <ul><li>first<li>second</ul><button>Refund</button></main>";
    let expected = "# Order A-1042\n\
        Placed by [Ada Byron](/customers/7), paid.\n\
        ## Lines\n\
        | Article | Price |\n\
        | Tea | 4 € |\n\
        - first\n\
        - second\n\
        [button: Refund]";
    assert_eq!(outline(html).await, expected);
}

#[test]
async fn fields_read_as_their_label_and_value() {
    let html = "<form>
        <label for='n'>Name</label><input id='n' value='Ada'>
        <label>Note <textarea>call back</textarea></label>
        <label>State <select><option>open</option><option selected>closed</option></select></label>
        <label><input type='checkbox' checked> Express</label>
        <input type='radio' aria-label='By post'>
        <input placeholder='Search' value=''>
        <input type='submit' value='Save'>
        </form>";
    let expected = "Name: \"Ada\"\n\
        Note: \"call back\"\n\
        State: closed\n\
        Express: yes\n\
        By post: no\n\
        Search: \"\"\n\
        [button: Save]";
    assert_eq!(outline(html).await, expected);
}

#[test]
async fn a_label_that_only_stands_near_a_field_is_text() {
    assert_eq!(outline("<label>Filters</label><p>none</p>").await, "Filters\nnone");
}

#[test]
async fn what_is_private_or_out_of_sight_is_left_out() {
    let secret = [
        "<input type='password' value='SECRET'>",
        "<input autocomplete='cc-number' value='SECRET'>",
        "<input autocomplete='section-a billing cc-csc' value='SECRET'>",
        "<input autocomplete='CC-NUMBER' value='SECRET'>",
        "<input autocomplete='new-password' value='SECRET'>",
        "<input autocomplete='one-time-code' value='SECRET'>",
        "<input type='hidden' value='SECRET'>",
        "<p data-pagehand-private>SECRET</p>",
        "<div data-pagehand-private><p>SECRET</p></div>",
        "<a href='/x'>Account <span data-pagehand-private>SECRET</span></a>",
        "<button>Pay <span data-pagehand-private>SECRET</span></button>",
        "<label for='q'>Card <span data-pagehand-private>SECRET</span></label><input id='q'>",
        "<table><tr><td data-pagehand-private>SECRET<td>x</table>",
        "<table><tr><td><b data-pagehand-private>SECRET</b><td>x</table>",
        "<p hidden>SECRET</p>",
        "<p aria-hidden='true'>SECRET</p>",
        "<p style='display: none'>SECRET</p>",
        "<p style='visibility: hidden'>SECRET</p>",
        "<details><summary>More</summary><p>SECRET</p></details>",
        "<script type='text/plain'>SECRET</script><style>/* SECRET */</style><template>SECRET</template>",
        "<page-hand>SECRET</page-hand>",
    ];
    for html in secret {
        let outline = outline(&format!("<p>before</p>{html}<p>after</p>")).await;
        assert!(outline.starts_with("before") && outline.ends_with("after"), "{html}: {outline}");
        assert!(!outline.contains("SECRET"), "{html}: {outline}");
    }
}

#[test]
async fn an_element_without_a_box_of_its_own_is_looked_into() {
    assert_eq!(outline("<div style='display: contents'><p>inside</p></div>").await, "inside");
}

#[test]
async fn a_long_page_is_cut_and_says_so() {
    let lines = "<p>A line of some thirty letters.</p>".repeat(600);
    let whole = read("<p>short</p>").await;
    assert_eq!(whole["truncated"], false);
    let cut = read(&lines).await;
    let length = cut["content"].as_str().unwrap().chars().count();
    assert_eq!(cut["truncated"], true);
    assert!((11_000..=12_000).contains(&length), "{length}");
}

#[test]
async fn one_long_paragraph_is_cut_rather_than_left_out() {
    for html in [format!("<p>{}</p>", "word ".repeat(4000)), format!("<table><tr><td>{}</table>", "word ".repeat(4000))]
    {
        let cut = read(&html).await;
        assert_eq!(cut["truncated"], true);
        assert!(cut["content"].as_str().unwrap().chars().count() > 11_000);
    }
}

// ---- clipboard ----

#[test]
async fn a_text_is_copied() {
    let clipboard = ClipboardStub::with("");
    let outcome = call("clipboard_write", json!({ "text": "PGH-77" })).await;
    assert_eq!(result(outcome), json!({ "copied": "PGH-77" }));
    assert_eq!(clipboard.text(), "PGH-77");
}

#[test]
async fn a_browser_that_wants_a_click_is_asked_again_after_it() {
    let clipboard = ClipboardStub::locked();
    let arguments = json!({ "text": "PGH-77" });
    let outcome = call("clipboard_write", arguments.clone()).await;
    assert!(matches!(&outcome, Outcome::NeedsApproval { reason, .. } if reason.contains("click")), "{outcome:?}");
    assert_eq!(clipboard.text(), "");

    let body = document().body().unwrap();
    let (code, _) = told(call_from(&body, "clipboard_write", arguments.clone(), true).await);
    assert_eq!(code, "tool_error", "a browser that still refuses is not asked for ever");

    clipboard.unlock();
    result(call_from(&body, "clipboard_write", arguments, true).await);
    assert_eq!(clipboard.text(), "PGH-77");
}

#[test]
async fn the_clipboard_is_read_up_to_a_bound() {
    let clipboard = ClipboardStub::with("short");
    assert_eq!(result(call("clipboard_read", json!({})).await), json!({ "text": "short", "truncated": false }));
    drop(clipboard);
    let _clipboard = ClipboardStub::with(&"ü".repeat(20_001));
    let read = result(call("clipboard_read", json!({})).await);
    assert_eq!(read["truncated"], true);
    assert_eq!(read["text"].as_str().unwrap().chars().count(), 20_000);
}

#[test]
async fn a_clipboard_that_may_not_be_read_fails_in_the_browsers_words() {
    let _clipboard = ClipboardStub::locked();
    let (code, words) = told(call("clipboard_read", json!({})).await);
    assert_eq!(code, "tool_error");
    assert!(words.contains("permission denied"), "{words}");
}

#[test]
fn what_reaches_out_of_the_page_always_asks() {
    let tools = built_in(&document().body().unwrap());
    let always: Vec<_> = tools.iter().filter(|(tool, _)| tool.approval == Approval::Always).collect();
    let names: Vec<_> = always.iter().map(|(tool, _)| tool.name.as_str()).collect();
    assert_eq!(names, ["clipboard_read", "open_link"]);
}

// ---- scroll_to and highlight ----

#[test]
async fn scrolling_shows_the_innermost_place_that_reads_so() {
    let place = Place::holding("<div style='height: 4000px'></div><section><p>Delivery  note <b>D-5</b></p></section>");
    let shown = result(call("scroll_to", json!({ "text": "delivery NOTE d-5" })).await);
    assert_eq!(shown, json!({ "shown": "Delivery note D-5" }));
    let paragraph = place.0.query_selector("p").unwrap().unwrap();
    until_so("the place to come into sight", || {
        let top = paragraph.get_bounding_client_rect().top();
        (0.0..1000.0).contains(&top)
    })
    .await;
}

#[test]
async fn what_is_not_there_is_not_found() {
    for tool in ["scroll_to", "highlight"] {
        let (code, words) = told(call(tool, json!({ "text": "no such words anywhere" })).await);
        assert_eq!(code, "not_found");
        assert!(words.contains("page_read"), "{words}");
    }
}

#[test]
async fn what_is_private_is_neither_found_nor_told() {
    let _place = Place::holding(
        "<p>Card of Ada <span data-pagehand-private>4111</span></p><p hidden>under cover</p><p>plain</p>",
    );
    assert_eq!(told(call("scroll_to", json!({ "text": "4111" })).await).0, "not_found");
    assert_eq!(told(call("scroll_to", json!({ "text": "under cover" })).await).0, "not_found");
    let shown = result(call("highlight", json!({ "text": "card of ada" })).await);
    assert_eq!(shown, json!({ "shown": "Card of Ada" }));
}

#[test]
async fn a_highlight_is_taken_back_even_where_two_overlap() {
    let place = Place::holding("<p style='outline: 1px dotted red'>Delivery note</p>");
    let paragraph: HtmlElement = place.0.query_selector("p").unwrap().unwrap().unchecked_into();
    let outline = || paragraph.style().get_property_value("outline").unwrap();
    let before = outline();
    result(call("highlight", json!({ "text": "Delivery note" })).await);
    assert_ne!(outline(), before);
    sleep(1_500).await;
    result(call("highlight", json!({ "text": "Delivery note" })).await);
    sleep(2_000).await;
    assert_ne!(outline(), before, "the first one's end does not end the second");
    until_so("the outline to be taken back", || outline() == before).await;
    assert_eq!(paragraph.style().get_property_value("outline-offset").unwrap(), "");
}

// ---- open_link ----

#[test]
async fn a_link_is_opened_in_a_tab_that_knows_nothing_of_this_page() {
    let tabs = Tabs::install();
    let opened = result(call("open_link", json!({ "url": "https://example.org/a b" })).await);
    assert_eq!(opened, json!({ "opened": "https://example.org/a%20b" }));
    assert_eq!(tabs.opened(), "https://example.org/a%20b _blank noopener,noreferrer");
}

#[test]
async fn a_letter_or_a_call_is_opened_too() {
    let tabs = Tabs::install();
    result(call("open_link", json!({ "url": "mailto:a@example.org" })).await);
    result(call("open_link", json!({ "url": "tel:+49123" })).await);
    assert_eq!(tabs.opened().lines().count(), 2);
}

#[test]
async fn an_address_that_could_run_something_is_not_opened() {
    let tabs = Tabs::install();
    let forbidden = [
        "javascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "java\nscript:alert(1)",
        " \tJAVASCRIPT:alert(1)",
        "data:text/html,x",
        "blob:https://example.org/1",
        "file:///etc/passwd",
        "about:blank",
        "vbscript:x",
    ];
    for url in forbidden {
        assert_eq!(told(call("open_link", json!({ "url": url })).await).0, "refused", "{url:?}");
    }
    assert_eq!(told(call("open_link", json!({ "url": "https://" })).await).0, "tool_error");
    assert_eq!(tabs.opened(), "");
}
