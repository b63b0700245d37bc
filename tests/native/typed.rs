//! Tools written as Rust types: schema, check and reading come from the same type.

use std::collections::BTreeMap;
use std::future::Future;

use futures::executor::block_on;
use pagehand::protocol::{Outcome, ToolError};
use pagehand::tools::Schema;
use pagehand::tools::typed::schemars::{self, JsonSchema};
use pagehand::tools::typed::{schema_of, typed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Places an order.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Whom it goes to.
    customer: Customer,
    /// At least one.
    #[schemars(length(min = 1))]
    lines: Vec<Line>,
    /// How fast.
    #[serde(default)]
    speed: Speed,
    /// A word to the driver.
    note: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Customer {
    name: String,
    /// ISO 3166, two letters.
    #[schemars(regex(pattern = r"^[A-Z]{2}$"))]
    country: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Line {
    /// Article number.
    article: u32,
    #[schemars(range(min = 1, max = 99))]
    count: Option<u8>,
    weight: f64,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Speed {
    #[default]
    Normal,
    Express,
}

#[derive(Serialize)]
struct Placed {
    articles: Vec<u32>,
    express: bool,
}

fn place() -> impl Fn(Value, &'static str) -> Outcome {
    let run = typed("order_place", async |order: Order, context: &'static str| {
        assert_eq!(context, "the context");
        if order.note.as_deref() == Some("refuse") {
            return Err(ToolError::new("tool_error", "refused"));
        }
        let articles = order.lines.iter().map(|line| line.article).collect();
        Ok(Placed { articles, express: order.speed == Speed::Express })
    });
    move |arguments, context| block_on(run(arguments, context))
}

#[test]
fn the_schema_is_that_of_the_type() {
    let schema = schema_of::<Order>();
    let at = |place: &str| schema.pointer(place).cloned().unwrap_or_default();
    assert_eq!(at("/type"), "object");
    assert_eq!(at("/description"), "Places an order.");
    assert_eq!(at("/properties/note/description"), "A word to the driver.");
    assert_eq!(at("/$defs/Customer/properties/country/description"), "ISO 3166, two letters.");
    assert_eq!(at("/required"), json!(["customer", "lines"]));
    assert_eq!(at("/additionalProperties"), false);
    assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
    assert_eq!(schema_of::<Nothing>(), json!({ "type": "object", "properties": {} }));
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[test]
fn what_the_schema_takes_the_type_reads() {
    let schema = Schema::compile_arguments(&schema_of::<Order>()).unwrap();
    let full = json!({
        "customer": { "name": "Ada", "country": "GB" },
        "lines": [{ "article": 7.0, "count": 2, "weight": 1 }, { "article": 8, "count": null, "weight": 0.5 }],
        "speed": "express", "note": null,
    });
    let least = json!({ "customer": { "name": "Ada", "country": null }, "lines": [{ "article": 1, "weight": 3.0 }], "speed": null });
    for (arguments, expected) in
        [(full, json!({ "articles": [7, 8], "express": true })), (least, json!({ "articles": [1], "express": false }))]
    {
        let mut settled = arguments.clone();
        schema.drop_absent(&mut settled);
        assert_eq!(schema.check(&settled), Ok(()), "{settled}");
        assert_eq!(place()(arguments, "the context"), Outcome::Result(expected));
    }
    // Bounds are the registry's to check, by the same type's schema.
    let bad = json!({ "customer": { "name": "Ada", "country": "England" }, "lines": [] });
    let words: Vec<String> = schema.check(&bad).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        ["customer.country must match the pattern ^[A-Z]{2}$", "lines must have at least 1 items, has 0"]
    );
}

#[test]
fn what_does_not_fit_names_its_place_and_nothing_is_run() {
    let line =
        |article: Value| json!({ "customer": { "name": "Ada" }, "lines": [{ "article": article, "weight": 1 }] });
    for (arguments, words) in [
        (line(json!("7")), "lines[0].article can not be read: invalid type: string \"7\", expected u32"),
        (line(json!(7.5)), "lines[0].article can not be read: invalid type: floating point `7.5`, expected u32"),
        (line(json!(-1)), "lines[0].article can not be read: invalid value: integer `-1`, expected u32"),
        (json!({ "customer": {}, "lines": [] }), "customer can not be read: missing field `name`"),
        (json!({}), "the value can not be read: missing field `customer`"),
    ] {
        // The context would fail the assertion in the tool.
        let Outcome::Error(error) = place()(arguments, "not run") else { panic!("{words}") };
        assert_eq!(error.code, "invalid_arguments");
        assert!(error.message.contains(words), "{}", error.message);
    }
}

#[test]
fn the_tools_own_error_is_passed_on() {
    let arguments = json!({ "customer": { "name": "Ada" }, "lines": [], "note": "refuse" });
    assert_eq!(place()(arguments, "the context"), Outcome::Error(ToolError::new("tool_error", "refused")));
}

#[test]
fn a_result_without_json_is_an_error_of_its_own() {
    let run = typed("map_read", async |_: Nothing, (): ()| Ok(BTreeMap::from([((1, 2), 3)])));
    let Outcome::Error(error) = block_on(run(json!({}), ())) else { panic!("a map with pairs for keys has no JSON") };
    assert_eq!(error.code, "unserializable_result");
    assert!(error.message.starts_with("\"map_read\" ran, but its result can not be sent: key must be a string"));
}

// A gateway runs tools on several threads.
#[test]
fn a_call_may_move_to_another_thread() {
    fn is_send(future: impl Future<Output = Outcome> + Send) -> Outcome {
        block_on(future)
    }
    let run = typed("nothing_read", |_: Nothing, (): ()| async { Ok(()) });
    assert_eq!(is_send(run(json!({}), ())), Outcome::Result(Value::Null));
}
