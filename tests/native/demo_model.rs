//! The demo model: which calls it makes for a sentence, step by step, and what it says at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use pagehand::protocol::{
    AssistantMessage, ContextItem, FinishReason, Message, MessageId, MessageStatus, ModelEvent, ModelRequest, Part,
    RunId, ThreadId, ToolCall, ToolCallId, ToolError, ToolMessage, ToolOffer, ToolResult, UserMessage,
};
use pagehand::providers::demo::answer;
use serde_json::{Value, json};

const TOOLS: [&str; 15] = [
    "order_search",
    "order_status",
    "order_refund",
    "order_note_add",
    "kb_search",
    "navigate",
    "page_read",
    "clipboard_write",
    "clipboard_read",
    "scroll_to",
    "highlight",
    "open_link",
    "orders_filter",
    "order_open_panel",
    "unrelated_tool",
];

// What answers a call of a name with arguments.
type World = dyn Fn(&str, &Value) -> Result<Value, ToolError>;

// The calls of each step; what the last words hold.
type Steps<'a> = &'a [&'a [&'a str]];
type Words<'a> = &'a [&'a str];

// A thread, the world that answers its calls, and what was asked of it.
pub(crate) struct Talk {
    request: ModelRequest,
    world: Box<World>,
    ids: BTreeSet<String>,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let offer = |name: &str| ToolOffer {
            name: name.to_owned(),
            description: String::new(),
            parameters: Arc::new(json!({ "type": "object" })),
        };
        let request = ModelRequest {
            tools: TOOLS.map(|name| Arc::new(offer(name))).into(),
            ..ModelRequest::new(ThreadId::from("thread"), RunId::from("run0"))
        };
        Self { request, world: Box::new(world), ids: BTreeSet::new() }
    }

    fn without(mut self, tools: &[&str]) -> Self {
        self.request.tools.retain(|tool| !tools.contains(&tool.name.as_str()));
        self
    }

    fn at(mut self, address: &str) -> Self {
        self.request.context.push(ContextItem::new("address of the page", address));
        self
    }

    pub(crate) fn in_world(mut self, world: impl Fn(&str, &Value) -> Result<Value, ToolError> + 'static) -> Self {
        self.world = Box::new(world);
        self
    }

    // One run: the calls of each step, as `name {arguments}`, and the last words.
    pub(crate) fn say(&mut self, sentence: &str) -> (Vec<Vec<String>>, String) {
        let turn = self.request.messages.len();
        self.request.run = RunId(format!("run{turn}"));
        self.request.messages.push(Message::User(UserMessage::new(MessageId(format!("u{turn}")), sentence.to_owned())));
        let mut steps = Vec::new();
        for step in 0..8 {
            let events = answer(&self.request);
            assert_eq!(events, answer(&self.request), "the same request gives the same events");
            let parts = parts(&events);
            let calls: Vec<ToolCall> = parts.iter().filter_map(call_of).cloned().collect();
            let text: String = parts.iter().filter_map(text_of).collect();
            let id = MessageId(format!("m{turn}-{step}"));
            self.request.messages.push(Message::Assistant(AssistantMessage {
                id,
                parts,
                status: MessageStatus::Complete,
            }));
            if calls.is_empty() {
                return (steps, text);
            }
            steps.push(calls.iter().map(|call| self.run(call)).collect());
        }
        panic!("\"{sentence}\" goes on for ever: {steps:?}");
    }

    fn run(&mut self, call: &ToolCall) -> String {
        let arguments: Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
        assert!(self.ids.insert(call.id.0.clone()), "{} came twice", call.id);
        let result = match (self.world)(&call.name, &arguments) {
            Ok(value) => ToolResult::ok(call.id.clone(), &value),
            Err(error) => ToolResult::failed(call.id.clone(), &error),
        };
        let id = MessageId(format!("t{}", call.id));
        self.request.messages.push(Message::Tool(ToolMessage { id, result }));
        format!("{} {arguments}", call.name)
    }
}

fn parts(events: &[ModelEvent]) -> Vec<Part> {
    assert_eq!(events.first(), Some(&ModelEvent::Start));
    let (mut parts, mut open) = (Vec::new(), 0);
    for event in events {
        match event {
            ModelEvent::TextStart => parts.push(Part::text(String::new())),
            ModelEvent::TextDelta(piece) => match parts.last_mut() {
                Some(Part::Text { text, .. }) => text.push_str(piece),
                other => panic!("text in {other:?}"),
            },
            ModelEvent::CallStart { slot, id, name } => {
                assert_eq!(*slot, open, "slots are counted from 0");
                open += 1;
                let id = id.clone().expect("an id");
                parts.push(Part::Call(ToolCall {
                    id: ToolCallId(id.clone()),
                    wire_id: Some(id),
                    name: name.clone(),
                    arguments: String::new(),
                    encrypted_value: None,
                }));
            }
            ModelEvent::CallDelta { text, .. } => match parts.last_mut() {
                Some(Part::Call(call)) => call.arguments.push_str(text),
                other => panic!("arguments in {other:?}"),
            },
            _ => {}
        }
    }
    let calls = parts.iter().any(|part| call_of(part).is_some());
    let finish = if calls { FinishReason::Calls } else { FinishReason::Done };
    assert_eq!(events.last(), Some(&ModelEvent::Finish(finish)));
    parts
}

fn call_of(part: &Part) -> Option<&ToolCall> {
    if let Part::Call(call) = part { Some(call) } else { None }
}

fn text_of(part: &Part) -> Option<&str> {
    if let Part::Text { text, .. } = part { Some(text) } else { None }
}

fn world(name: &str, arguments: &Value) -> Result<Value, ToolError> {
    let order = arguments["order_id"].as_str().unwrap_or_default();
    Ok(match name {
        "order_status" => return status(order),
        "order_search" if arguments["q"].as_str().is_some_and(|q| q.starts_with("A-")) => {
            json!({ "total": 0, "orders": [] })
        }
        "order_search" => json!({ "total": 12, "orders": [
            { "id": "A-1139", "customer": "Maya Lindqvist", "status": "pending", "total_cents": 4500, "currency": "EUR",
              "placed_at": "2026-11-03T09:12:00Z", "screen": "/orders/A-1139" },
            { "id": "A-1042", "customer": "Maya Lindqvist", "status": "shipped", "total_cents": 68190, "currency": "EUR",
              "placed_at": "2026-10-20T09:12:00Z", "screen": "/orders/A-1042" },
        ] }),
        "order_refund" => {
            json!({ "id": order, "status": "refunded", "refunded_cents": 68190, "reason": arguments["reason"] })
        }
        "kb_search" => json!({ "articles": [
            { "slug": "returns-policy", "title": "Returns policy", "section": "Returns",
              "text": "Anything can be returned within 60 days.", "screen": "/help/returns-policy" },
            { "slug": "start-a-return", "title": "How to start a return", "section": "Returns", "text": "Open the order.",
              "screen": "/help/start-a-return" },
        ] }),
        "clipboard_read" => json!({ "text": "JD014600003RE1042" }),
        "page_read" => json!({ "title": "Orders", "text": "Orders\n500 orders, newest first" }),
        "teleport" => return Err(ToolError::new("unknown_tool", "There is no tool named \"teleport\".")),
        _ => json!({ "done": true }),
    })
}

fn status(order: &str) -> Result<Value, ToolError> {
    let state = match order {
        "A-1042" => "shipped",
        "A-1043" | "A-1060" => "delivered",
        "A-1051" => "packed",
        "A-1077" => "refunded",
        _ => {
            let message =
                format!("\"order_status\": there is no order {order}. Check the id, or look for it with order_search.");
            return Err(ToolError::new("not_found", message));
        }
    };
    let sent = matches!(state, "shipped" | "delivered");
    Ok(json!({
        "id": order, "status": state, "customer": "Maya Lindqvist", "total_cents": 68190, "currency": "EUR",
        "carrier": if sent { json!("DHL") } else { Value::Null },
        "tracking_number": if sent { json!(format!("JD014600003RE{}", &order[2..])) } else { Value::Null },
        "shipped_at": if sent { json!("2026-11-12T09:40:00Z") } else { Value::Null },
        "delivered_at": null, "screen": format!("/orders/{order}"),
    }))
}

// The last sentence of `sentences` must make the calls of `steps` and end in words that hold all of `words`.
fn check(mut talk: Talk, sentences: &[&str], steps: Steps<'_>, words: Words<'_>) {
    let mut last = (Vec::new(), String::new());
    for sentence in sentences {
        last = talk.say(sentence);
    }
    let (made, text) = last;
    assert_eq!(made, steps, "{sentences:?} → {text}");
    for word in words {
        assert!(text.contains(word), "{sentences:?}: no \"{word}\" in: {text}");
    }
}

const STATUS_1042: &str = r#"order_status {"order_id":"A-1042"}"#;
const OPEN_1042: &str = r#"navigate {"url":"/orders/A-1042"}"#;
const COPY_1042: &str = r#"clipboard_write {"text":"JD014600003RE1042"}"#;

#[test]
fn a_sentence_becomes_calls_step_by_step() {
    let cases: &[(&str, Steps<'_>, Words<'_>)] = &[
        (
            "where is order A-1042? open it and copy the tracking number",
            &[&[STATUS_1042, OPEN_1042], &[COPY_1042]],
            &[
                "**shipped**",
                "DHL",
                "`JD014600003RE1042`",
                "12 November 2026",
                "I opened [A-1042](/orders/A-1042) and copied",
            ],
        ),
        ("Where is a-1042", &[&[STATUS_1042]], &["**shipped**"]),
        ("#1042", &[&[STATUS_1042]], &["**shipped**"]),
        (
            "compare A-1042 and A-1043",
            &[&[STATUS_1042, r#"order_status {"order_id":"A-1043"}"#]],
            &["| Order |", "| [A-1043](/orders/A-1043) |"],
        ),
        (
            "show me A-1042, A-1051 and A-1060",
            &[&[STATUS_1042, r#"order_status {"order_id":"A-1051"}"#, r#"order_status {"order_id":"A-1060"}"#]],
            &["| packed |", "A-1060"],
        ),
        (
            "find orders of Lindqvist",
            &[&[r#"order_search {"limit":10,"q":"Lindqvist"}"#]],
            &["**12**", "- [A-1139]", "3 November 2026"],
        ),
        ("late orders", &[&[r#"order_search {"limit":10,"status":"late"}"#]], &["late orders"]),
        ("show me the pending orders", &[&[r#"order_search {"limit":10,"status":"pending"}"#]], &["A-1139"]),
        ("which orders are shipped?", &[&[r#"order_search {"limit":10,"status":"shipped"}"#]], &["A-1139"]),
        (
            "How many orders are pending?",
            &[&[r#"order_search {"limit":10,"status":"pending"}"#]],
            &["**12** pending orders"],
        ),
        (
            "find late orders and open the first",
            &[&[r#"order_search {"limit":10,"status":"late"}"#], &[r#"navigate {"url":"/orders/A-1139"}"#]],
            &["opened [A-1139]"],
        ),
        ("show pending orders on screen", &[&[r#"orders_filter {"status":"pending"}"#]], &["filtered the list"]),
        ("filter the list by shipped", &[&[r#"orders_filter {"status":"shipped"}"#]], &["shipped orders"]),
        ("filter the list for Lindqvist", &[&[r#"orders_filter {"q":"Lindqvist"}"#]], &["“Lindqvist”"]),
        (
            "refund A-1042 because it arrived damaged",
            &[&[STATUS_1042], &[r#"order_refund {"order_id":"A-1042","reason":"it arrived damaged"}"#]],
            &["**€681.90**", "it arrived damaged"],
        ),
        (
            "please refund €20 of A-1042 because a mat was wet and smelled, then open it",
            &[
                &[STATUS_1042, OPEN_1042],
                &[r#"order_refund {"amount_cents":2000,"order_id":"A-1042","reason":"a mat was wet and smelled"}"#],
            ],
            &["Refunded", "opened [A-1042]"],
        ),
        (
            "I want a refund for A-1042, because A-1043 was sent for €5 instead",
            &[&[STATUS_1042], &[r#"order_refund {"order_id":"A-1042","reason":"A-1043 was sent for €5 instead"}"#]],
            &["Refunded"],
        ),
        (
            "refund A-1042, it arrived damaged",
            &[&[STATUS_1042], &[r#"order_refund {"order_id":"A-1042","reason":"it arrived damaged"}"#]],
            &["Refunded"],
        ),
        (
            "open A-1042 and highlight the total",
            &[&[OPEN_1042], &[r#"highlight {"text":"total"}"#]],
            &["opened [A-1042](/orders/A-1042) and highlighted"],
        ),
        (
            "copy the tracking number of A-1042 and paste it",
            &[&[STATUS_1042], &[COPY_1042], &["clipboard_read {}"]],
            &["The clipboard holds"],
        ),
        (
            "find pending orders and show them on screen",
            &[&[r#"order_search {"limit":10,"status":"pending"}"#, r#"orders_filter {"status":"pending"}"#]],
            &["filtered the list"],
        ),
        ("list all orders", &[&[r#"order_search {"limit":10}"#]], &["**12** orders"]),
        ("how do I get a refund?", &[&[r#"kb_search {"limit":3,"q":"get refund"}"#]], &["/help/"]),
        ("refund A-1077 because it was lost", &[&[r#"order_status {"order_id":"A-1077"}"#]], &["already refunded"]),
        (
            "refund A-1051 because it is late",
            &[&[r#"order_status {"order_id":"A-1051"}"#]],
            &["**packed**", "Only shipped or delivered"],
        ),
        (
            "add a note to A-1042: Customer called, and open questions remain. See A-1043?",
            &[&[
                r#"order_note_add {"order_id":"A-1042","text":"Customer called, and open questions remain. See A-1043?"}"#,
            ]],
            &["added a note to [A-1042]"],
        ),
        (
            "what is our returns policy?",
            &[&[r#"kb_search {"limit":3,"q":"returns policy"}"#]],
            &["60 days", "(/help/returns-policy)"],
        ),
        ("how do we refund an order?", &[&[r#"kb_search {"limit":3,"q":"refund order"}"#]], &["See also"]),
        ("help with warranties", &[&[r#"kb_search {"limit":3,"q":"warranties"}"#]], &["/help/"]),
        (
            "what is our returns policy? open it",
            &[&[r#"kb_search {"limit":3,"q":"returns policy"}"#], &[r#"navigate {"url":"/help/returns-policy"}"#]],
            &["60 days", "I opened [the article “returns policy”](/help/returns-policy)"],
        ),
        ("open customers", &[&[r#"navigate {"url":"/customers"}"#]], &["customers"]),
        ("Open the orders.", &[&[r#"navigate {"url":"/orders"}"#]], &["orders"]),
        ("go to the dashboard", &[&[r#"navigate {"url":"/"}"#]], &["dashboard"]),
        ("open help", &[&[r#"navigate {"url":"/help"}"#]], &["help"]),
        ("open customer C-001", &[&[r#"navigate {"url":"/customers/C-001"}"#]], &["C-001"]),
        ("what is on this page?", &[&["page_read {}"]], &["**Orders**", "500 orders"]),
        ("paste what I copied", &[&["clipboard_read {}"]], &["JD014600003RE1042"]),
        ("read the clipboard", &[&["clipboard_read {}"]], &["JD014600003RE1042"]),
        ("highlight the total", &[&[r#"highlight {"text":"total"}"#]], &["highlighted “total”"]),
        ("scroll to \"Recent orders\"", &[&[r#"scroll_to {"text":"Recent orders"}"#]], &["scrolled to"]),
        (
            "open https://example.com/a?b=c",
            &[&[r#"open_link {"url":"https://example.com/a?b=c"}"#]],
            &["https://example.com"],
        ),
        (
            "copy \"hello, and open world\" to the clipboard",
            &[&[r#"clipboard_write {"text":"hello, and open world"}"#]],
            &["copied"],
        ),
        ("copy the carrier of A-1042", &[&[STATUS_1042], &[r#"clipboard_write {"text":"DHL"}"#]], &["carrier"]),
        (
            "copy the tracking number of A-1051",
            &[&[r#"order_status {"order_id":"A-1051"}"#]],
            &["no tracking number yet"],
        ),
        (
            "open the notes of A-1042",
            &[&[r#"order_open_panel {"id":"A-1042","panel":"notes"}"#]],
            &["opened the notes"],
        ),
        (
            "use the teleport tool",
            &[&[r#"teleport {"to":"the warehouse"}"#]],
            &["`unknown_tool`", "> There is no tool"],
        ),
        ("call a tool that does not exist", &[&[r#"teleport {"to":"the warehouse"}"#]], &["on purpose"]),
        (
            "where is A-9999?",
            &[&[r#"order_status {"order_id":"A-9999"}"#], &[r#"order_search {"limit":5,"q":"A-999"}"#]],
            &["no order `A-9999`"],
        ),
        ("cancel A-1042", &[], &["I cannot do that", "cancel A-1042"]),
        ("where is my order?", &[], &["Which order"]),
        ("refund A-1042", &[], &["What is the reason"]),
        ("add a note to A-1042", &[], &["What should the note"]),
        ("sing a song", &[], &["demo model", "without a language model", "\n- where is order A-1042?"]),
        ("what can you do?", &[], &["demo model"]),
        ("", &[], &["demo model"]),
        ("write a long answer", &[], &["# A long answer", "| Tool |", "```json", "\n> ", "\n- ", "](/orders/A-1042)"]),
        ("show me markdown", &[], &["# A long answer"]),
    ];
    for (sentence, steps, words) in cases {
        check(Talk::new(), &[sentence], steps, words);
    }
}

#[test]
fn it_remembers_what_was_spoken_of() {
    let cases: &[(&[&str], Steps<'_>, Words<'_>)] = &[
        (&["where is A-1042?", "open it"], &[&[OPEN_1042]], &["opened"]),
        (&["where is A-1042?", "copy its tracking number"], &[&[COPY_1042]], &["copied the tracking number"]),
        (&["compare A-1043 and A-1042", "copy the tracking number"], &[&[COPY_1042]], &["1042"]),
        (&["where is my order?", "A-1042"], &[&[STATUS_1042]], &["**shipped**"]),
        (
            &["open it and copy the tracking number", "it's A-1042"],
            &[&[OPEN_1042, STATUS_1042], &[COPY_1042]],
            &["opened"],
        ),
        (
            &["refund it", "a-1042", "it arrived damaged"],
            &[&[STATUS_1042], &[r#"order_refund {"order_id":"A-1042","reason":"it arrived damaged"}"#]],
            &["Refunded"],
        ),
        (&["refund it", "never mind"], &[], &["Nothing was changed"]),
        (&["refund A-1042", "open customers"], &[&[r#"navigate {"url":"/customers"}"#]], &["opened"]),
        (
            &["add a note to A-1042", "customer called"],
            &[&[r#"order_note_add {"order_id":"A-1042","text":"customer called"}"#]],
            &["added"],
        ),
        (&["what is our returns policy?", "open it"], &[&[r#"navigate {"url":"/help/returns-policy"}"#]], &["opened"]),
        (
            &["find orders of Lindqvist", "open the first one"],
            &[&[r#"navigate {"url":"/orders/A-1139"}"#]],
            &["A-1139"],
        ),
        (
            &["where is A-1042?", "compare it with A-1043"],
            &[&[STATUS_1042, r#"order_status {"order_id":"A-1043"}"#]],
            &["| Order |"],
        ),
    ];
    for (sentences, steps, words) in cases {
        check(Talk::new(), sentences, steps, words);
    }
}

#[test]
fn it_is_the_order_on_the_screen_where_none_was_spoken_of() {
    for address in ["https://shop.example/orders/A-1042", "/orders/A-1042?panel=notes", "{\"path\":\"/orders/A-1042\"}"]
    {
        check(Talk::new().at(address), &["where is it?"], &[&[STATUS_1042]], &["shipped"]);
    }
    check(Talk::new().at("https://shop.example/orders"), &["where is it?"], &[], &["Which order"]);
}

#[test]
fn it_calls_only_what_is_offered() {
    let cases: &[(&[&str], &str, Steps<'_>, Words<'_>)] = &[
        (&["order_status"], "where is A-1042?", &[], &["`order_status`", "does not offer"]),
        (
            &["clipboard_write"],
            "where is A-1042? copy the tracking number",
            &[&[STATUS_1042]],
            &["shipped", "`clipboard_write`"],
        ),
        (
            &["orders_filter"],
            "show pending orders on screen",
            &[&[r#"navigate {"url":"/orders?status=pending"}"#]],
            &["pending"],
        ),
        (
            &["orders_filter"],
            "filter the list for Åsa & Co",
            &[&[r#"navigate {"url":"/orders?q=%C3%85sa%20%26%20Co"}"#]],
            &["Åsa"],
        ),
        (&["order_open_panel"], "open the notes of A-1042", &[&[OPEN_1042]], &["opened"]),
        (&["order_refund"], "refund A-1042 because it broke", &[], &["`order_refund`"]),
        (
            &["order_search"],
            "where is A-9999?",
            &[&[r#"order_status {"order_id":"A-9999"}"#]],
            &["there is no order A-9999."],
        ),
        (&TOOLS, "where is A-1042? open it, copy its tracking number and highlight the total", &[], &["cannot"]),
    ];
    for (missing, sentence, steps, words) in cases {
        check(Talk::new().without(missing), &[sentence], steps, words);
    }
}

#[test]
fn a_call_that_failed_is_explained_and_never_repeated() {
    fn denied(name: &str, arguments: &Value) -> Result<Value, ToolError> {
        match name {
            "order_refund" | "navigate" | "clipboard_write" | "clipboard_read" => {
                Err(pagehand::tools::error::denied(name, None))
            }
            _ => world(name, arguments),
        }
    }
    fn conflict(name: &str, arguments: &Value) -> Result<Value, ToolError> {
        match name {
            "order_refund" => Err(ToolError::new(
                "conflict",
                "\"order_refund\": A-1042 was already refunded. Do not repeat the call.",
            )),
            _ => world(name, arguments),
        }
    }
    fn broken(name: &str, _: &Value) -> Result<Value, ToolError> {
        Err(ToolError::new("unreachable", format!("\"{name}\": the gateway could not be reached. Try later."))
            .retryable())
    }
    let refund: &[&[&str]] = &[&[STATUS_1042], &[r#"order_refund {"order_id":"A-1042","reason":"it broke"}"#]];
    let sentence = "refund A-1042 because it broke";
    check(
        Talk::new().in_world(denied),
        &[sentence],
        refund,
        &["You declined to refund A-1042", "What would you like instead?"],
    );
    check(Talk::new().in_world(conflict), &[sentence], refund, &["could not refund A-1042", "already refunded."]);
    check(Talk::new().in_world(broken), &[sentence], &refund[..1], &["could not be reached."]);
    check(Talk::new().in_world(denied), &["open A-1042"], &[&[OPEN_1042]], &["You declined to open"]);
    check(
        Talk::new().in_world(denied),
        &["read the clipboard"],
        &[&["clipboard_read {}"]],
        &["declined to read the clipboard"],
    );
    let copy: &[&[&str]] = &[&[r#"clipboard_write {"text":"x"}"#]];
    check(Talk::new().in_world(denied), &["copy \"x\""], copy, &["declined to copy"]);
}

#[test]
fn arguments_that_the_user_edited_are_not_sent_again() {
    let mut talk = Talk::new();
    talk.say("refund A-1042 because it broke");
    // The user changed order and reason before it ran; the last answer has not been given yet.
    talk.request.messages.pop();
    for message in &mut talk.request.messages {
        if let Message::Assistant(answer) = message {
            for part in &mut answer.parts {
                if let Part::Call(call) = part
                    && call.name == "order_refund"
                {
                    call.arguments = r#"{"order_id":"A-1043","reason":"a seam opened"}"#.to_owned();
                }
            }
        }
    }
    let parts = parts(&answer(&talk.request));
    assert!(parts.iter().all(|part| call_of(part).is_none()), "{parts:?}");
}

#[test]
fn whatever_is_said_the_model_answers() {
    let fragments = [
        "A-1042",
        "open",
        "it",
        "and",
        "copy",
        "“",
        "\"",
        "`",
        ":",
        "note",
        "refund",
        "because",
        "?",
        ", ",
        "€",
        "€9.",
        "ü",
        "然后",
        "then",
        "add a note to",
        "orders of",
        "filter by",
        "-",
        "a-",
        "'s",
        "scroll to",
        "\n",
        ". ",
        "C-",
        "show",
        "euros",
    ];
    for (at, first) in fragments.iter().enumerate() {
        for second in &fragments {
            for third in [fragments[at], "A-9999"] {
                for joint in ["", " "] {
                    Talk::new().say(&[*first, *second, third].join(joint));
                }
            }
        }
    }
}

#[test]
fn text_comes_in_small_pieces() {
    let mut talk = Talk::new();
    talk.request.messages.push(Message::User(UserMessage::new(MessageId::from("u"), "write a long answer".to_owned())));
    let events = answer(&talk.request);
    let pieces: Vec<&String> = events
        .iter()
        .filter_map(|event| if let ModelEvent::TextDelta(piece) = event { Some(piece) } else { None })
        .collect();
    assert!(pieces.len() > 150 && pieces.iter().all(|piece| piece.split_whitespace().count() <= 3), "{}", pieces.len());
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::Usage(_))), "it has no tokens to count");
}

#[test]
fn an_answer_of_a_given_form_fits_it() {
    let asked = |schema: Value| {
        let mut talk = Talk::new();
        talk.request.messages.push(Message::User(UserMessage::new(MessageId::from("u"), "hello")));
        talk.request.output = Some(std::sync::Arc::new(pagehand::protocol::OutputFormat {
            name: "x".to_owned(),
            schema: schema.clone(),
        }));
        let text: String = pagehand::providers::demo::answer(&talk.request)
            .into_iter()
            .filter_map(|event| if let ModelEvent::TextDelta(text) = event { Some(text) } else { None })
            .collect();
        let value: Value = serde_json::from_str(&text).unwrap();
        pagehand::tools::Schema::compile(&schema)
            .unwrap()
            .check(&value)
            .unwrap_or_else(|why| panic!("{value}: {why:?}"));
        value
    };
    let value = asked(json!({
        "type": "object", "required": ["answer", "sure", "of", "more", "how", "none"],
        "properties": {
            "answer": { "type": "string" }, "sure": { "type": "boolean" }, "of": { "enum": ["orders", "people"] },
            "more": { "type": "array", "items": { "type": "string" } }, "how": { "type": ["integer", "null"] },
            "none": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
        },
    }));
    assert!(value["answer"].as_str().unwrap().len() > 10, "{value}");
    assert_eq!(value["how"], 1042, "a number is asked for behind the words");
    assert_eq!(asked(json!({ "type": "integer" })), 1042, "the first number of what it says");
}
