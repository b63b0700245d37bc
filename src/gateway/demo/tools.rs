//! The shop's server tools, for an agent. Knows nothing of the page, nor of who approves what.
//!
//! | tool | risk | does |
//! |---|---|---|
//! | `order_search` | read | lists orders by status, text or customer |
//! | `order_status` | read | says how far one order is |
//! | `order_refund` | irreversible | pays an order back, once |
//! | `order_note_add` | write | adds a note to an order |
//! | `orders_export` | read | writes a list of orders into a CSV file, in the background |
//! | `kb_search` | read | finds help articles |

use std::sync::Arc;

use serde_json::{Value, json};

use crate::gateway::demo::desk::{Call, euros};
use crate::gateway::demo::exports;
use crate::gateway::demo::orders::{CURRENCY, OrderFilter, STATUSES};
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};
use crate::gateway::tools::{CallContext, ServerTool};
use crate::protocol::{Outcome, Risk, Scope, ToolError};
use crate::tools::Definition;

/// The tools over a store.
pub fn tools(store: Arc<Store>) -> Vec<ServerTool> {
    vec![
        tool(Arc::clone(&store), order_search(), search),
        tool(Arc::clone(&store), order_status(), status),
        tool(Arc::clone(&store), order_refund(), refund),
        tool(Arc::clone(&store), order_note_add(), add_note),
        tool(Arc::clone(&store), kb_search(), search_articles),
        exports::orders_export(store),
    ]
}

type Run = fn(&Store, &Value, &CallContext) -> Result<Value, ShopError>;

fn tool(store: Arc<Store>, definition: Definition, run: Run) -> ServerTool {
    let name = definition.name.clone();
    ServerTool::new(definition, move |arguments, context| {
        let (store, name) = (Arc::clone(&store), name.clone());
        async move {
            let result = store.within(move |store| run(store, &arguments, &context)).await;
            result.map_or_else(|error| Outcome::Error(tool_error(&name, error)), Outcome::Result)
        }
    })
}

pub(super) fn tool_error(name: &str, error: ShopError) -> ToolError {
    let hint = match error.kind {
        ErrorKind::NotFound => "Check the id, or look for it with order_search.",
        ErrorKind::Invalid => "Nothing was changed. Correct the arguments and call it again.",
        ErrorKind::Conflict => "Nothing was changed now. Do not repeat the call; tell the user.",
        ErrorKind::Broken => {
            let words = format!("\"{name}\" failed: the shop's database could not answer. Tell the user.");
            return ToolError::new("tool_error", words).for_operator(error.message);
        }
    };
    let code = match error.kind {
        ErrorKind::NotFound => "not_found",
        ErrorKind::Conflict => "conflict",
        ErrorKind::Invalid | ErrorKind::Broken => "invalid_arguments",
    };
    ToolError::new(code, format!("\"{name}\": {}. {hint}", error.message))
}

fn order_search() -> Definition {
    definition(
        "order_search",
        "Find orders",
        "Lists orders of the shop, newest first. Use it to find an order whose id is unknown, or to list orders by \
         status or customer. Returns how many fit and the first of them with id, customer, status and total.",
        Risk::Read,
        json!({
            "q": { "type": "string", "maxLength": 200,
                "description": "Part of an order id, a customer's name, a product's title or a tracking number." },
            "status": { "type": "string", "enum": statuses(),
                "description": "Only orders of this status; late means pending or packed for more than three days." },
            "customer": { "type": "string", "maxLength": 100,
                "description": "A customer's id such as C-001, or part of the name." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 20,
                "description": "How many orders to return; 10 if absent." },
        }),
        &[],
    )
}

pub(super) fn statuses() -> Vec<&'static str> {
    STATUSES.into_iter().chain(["late"]).collect()
}

fn search(store: &Store, arguments: &Value, _: &CallContext) -> Result<Value, ShopError> {
    let filter = OrderFilter {
        status: text(arguments, "status").map(str::to_owned),
        q: text(arguments, "q").map(str::to_owned),
        customer: text(arguments, "customer").map(str::to_owned),
    };
    let found = store.orders(&filter, 1, number(arguments, "limit", 10).clamp(1, 20) as u32)?;
    let orders = found.items.iter().map(|order| {
        json!({
            "id": order.id, "customer": order.customer.name, "status": order.status, "placed_at": order.placed_at,
            "total_cents": order.total_cents, "currency": CURRENCY, "screen": format!("/orders/{}", order.id),
        })
    });
    Ok(json!({ "total": found.total, "orders": orders.collect::<Vec<_>>() }))
}

fn order_status() -> Definition {
    definition(
        "order_status",
        "Order status",
        "Says how far one order is. Use it whenever an order id is known. Returns status, customer, total, carrier and \
         tracking number (null before it is shipped), the products, and the address of the order's screen.",
        Risk::Read,
        json!({ "order_id": order_id_property() }),
        &["order_id"],
    )
}

fn status(store: &Store, arguments: &Value, _: &CallContext) -> Result<Value, ShopError> {
    let order = store.order(&order_id(arguments))?;
    let items = order.lines.iter().map(|line| format!("{} × {}", line.quantity, line.title)).collect::<Vec<_>>();
    Ok(json!({
        "id": order.row.id, "status": order.row.status, "customer": order.row.customer.name,
        "customer_id": order.row.customer.id, "total_cents": order.row.total_cents, "currency": CURRENCY,
        "total": euros(order.row.total_cents), "items": items, "placed_at": order.row.placed_at,
        "carrier": order.shipping.carrier, "tracking_number": order.shipping.tracking_number,
        "shipped_at": order.shipping.shipped_at, "delivered_at": order.shipping.delivered_at,
        "refund": order.refund, "screen": format!("/orders/{}", order.row.id),
    }))
}

fn order_refund() -> Definition {
    definition(
        "order_refund",
        "Refund an order",
        "Pays a shipped or delivered order back to the customer. This can not be undone, works once for each order, and \
         the user is always asked first. Call order_status before it. Returns the amount that was refunded.",
        Risk::Irreversible,
        json!({
            "order_id": order_id_property(),
            "reason": { "type": "string", "minLength": 3, "maxLength": 500,
                "description": "Why, in the user's words; it is kept in the order's history." },
            "amount_cents": { "type": "integer", "minimum": 1,
                "description": "How much, in cents; the whole total if absent." },
        }),
        &["order_id", "reason"],
    )
}

fn refund(store: &Store, arguments: &Value, context: &CallContext) -> Result<Value, ShopError> {
    let order = order_id(arguments);
    let call = Call { id: &context.call_id, tool: "order_refund", order: &order };
    store.refund(&call, text(arguments, "reason").unwrap_or_default(), whole(arguments, "amount_cents"))
}

fn order_note_add() -> Definition {
    definition(
        "order_note_add",
        "Add a note",
        "Adds a note for colleagues to one order. The customer does not see it. Use it when the user asks to note \
         or record something about an order. Returns the note as it was saved.",
        Risk::Write,
        json!({
            "order_id": order_id_property(),
            "text": { "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "The note, exactly as the user worded it." },
        }),
        &["order_id", "text"],
    )
}

fn add_note(store: &Store, arguments: &Value, context: &CallContext) -> Result<Value, ShopError> {
    let order = order_id(arguments);
    let call = Call { id: &context.call_id, tool: "order_note_add", order: &order };
    store.add_note(&call, text(arguments, "text").unwrap_or_default())
}

fn kb_search() -> Definition {
    definition(
        "kb_search",
        "Search the help articles",
        "Searches the shop's help articles on returns, shipping, warranties, sizes, care and more. Use it for every \
         question about how the shop works. Returns the best articles with their text and the address of their screen.",
        Risk::Read,
        json!({
            "q": { "type": "string", "minLength": 1, "maxLength": 200,
                "description": "What to look for, in a few words: returns policy." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 10,
                "description": "How many articles to return; 3 if absent." },
        }),
        &["q"],
    )
}

fn search_articles(store: &Store, arguments: &Value, _: &CallContext) -> Result<Value, ShopError> {
    // A blank question would list everything.
    let q = text(arguments, "q").filter(|q| !q.trim().is_empty());
    let q = q.ok_or_else(|| ShopError::new(ErrorKind::Invalid, "q is blank"))?;
    let limit = number(arguments, "limit", 3).clamp(1, 10) as usize;
    let articles = store.articles(Some(q), limit)?.into_iter().map(|article| {
        json!({
            "slug": article.slug, "title": article.title, "section": article.section, "text": article.body,
            "screen": format!("/help/{}", article.slug),
        })
    });
    Ok(json!({ "articles": articles.collect::<Vec<_>>() }))
}

pub(super) fn definition(
    name: &str,
    label: &str,
    description: &str,
    risk: Risk,
    properties: Value,
    required: &[&str],
) -> Definition {
    let mut parameters = json!({ "type": "object", "required": required, "additionalProperties": false });
    parameters["properties"] = properties;
    let mut definition = Definition::new(name, description, Scope::Server, risk);
    definition.owner = "northwind-demo".to_owned();
    definition.parameters = Arc::new(parameters);
    definition.timeout_ms = Some(10_000);
    definition.label = label.into();
    definition
}

fn order_id_property() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 20, "description": "The order's id, such as A-1042." })
}

// Models write a-1042 and 1042 too.
fn order_id(arguments: &Value) -> String {
    let id = text(arguments, "order_id").unwrap_or_default().trim().to_uppercase();
    if !id.is_empty() && id.bytes().all(|digit| digit.is_ascii_digit()) { format!("A-{id}") } else { id }
}

fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

// The schema takes 3.0 for an integer.
fn whole(arguments: &Value, name: &str) -> Option<i64> {
    let value = arguments.get(name)?;
    value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
}

fn number(arguments: &Value, name: &str, otherwise: i64) -> i64 {
    whole(arguments, name).unwrap_or(otherwise)
}
