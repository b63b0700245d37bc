//! What the back office changes: a refund, a note. Each is one transaction that checks the order itself and
//! remembers its call, so that a call that is sent again gets its first answer.
//!
//! Knows nothing of who asks, nor of approvals.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::{Value, json};

use crate::gateway::demo::orders::{self, CURRENCY, Order};
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};

/// A call that writes: its key and the order it is about.
pub(super) struct Call<'a> {
    /// The caller's key for this call; empty for none, and then nothing is remembered.
    pub(super) id: &'a str,
    /// The tool's name.
    pub(super) tool: &'a str,
    /// The order's id.
    pub(super) order: &'a str,
}

impl Store {
    /// Pays an order back, in full where `amount` (in cents) is absent.
    pub(super) fn refund(&self, call: &Call<'_>, reason: &str, amount: Option<i64>) -> Result<Value, ShopError> {
        self.once(call, |transaction| {
            let order = orders::order(transaction, call.order)?;
            let amount = refundable(&order, amount)?;
            let (id, at) = (&order.row.id, now(transaction, &order)?);
            transaction.execute("UPDATE orders SET status = 'refunded' WHERE id = ?1", [id])?;
            transaction.execute("INSERT INTO refunds VALUES (?1, ?2, ?3, ?4)", params![id, amount, at, reason])?;
            let text = format!("Refunded {}: {reason}", euros(amount));
            transaction
                .execute("INSERT INTO history (order_id, at, text) VALUES (?1, ?2, ?3)", params![id, at, text])?;
            Ok(json!({
                "id": id, "status": "refunded", "refunded_cents": amount, "currency": CURRENCY, "at": at,
                "reason": reason, "screen": format!("/orders/{id}"),
            }))
        })
    }

    /// Adds a note to an order.
    pub(super) fn add_note(&self, call: &Call<'_>, text: &str) -> Result<Value, ShopError> {
        self.once(call, |transaction| {
            let order = orders::order(transaction, call.order)?;
            let (id, at) = (&order.row.id, now(transaction, &order)?);
            transaction.execute(
                "INSERT INTO notes (order_id, at, author, text) VALUES (?1, ?2, 'Pagehand', ?3)",
                params![id, at, text],
            )?;
            let note = transaction.last_insert_rowid();
            Ok(json!({ "id": id, "note_id": note, "at": at, "text": text, "screen": format!("/orders/{id}") }))
        })
    }

    // The work and the memory of it are one transaction: neither is there without the other.
    fn once(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(&Transaction<'_>) -> Result<Value, ShopError>,
    ) -> Result<Value, ShopError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(first) = earlier(&transaction, call)? {
                return Ok(first);
            }
            let result = work(&transaction)?;
            if !call.id.is_empty() {
                let row = params![call.id, call.tool, call.order, result.to_string()];
                transaction.execute("INSERT INTO calls VALUES (?1, ?2, ?3, ?4)", row)?;
            }
            transaction.commit()?;
            Ok(result)
        })
    }
}

fn earlier(connection: &Connection, call: &Call<'_>) -> Result<Option<Value>, ShopError> {
    let found: Option<(String, String, String)> = connection
        .query_row("SELECT tool, order_id, result FROM calls WHERE call_id = ?1", [call.id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((tool, order, result)) = found else { return Ok(None) };
    if tool != call.tool || order != call.order {
        let message = format!("the call id was already used for {tool} on {order}; nothing was changed");
        return Err(ShopError::new(ErrorKind::Conflict, message));
    }
    let result = serde_json::from_str(&result)
        .map_err(|error| ShopError::new(ErrorKind::Broken, format!("the kept result of {tool}: {error}")))?;
    Ok(Some(result))
}

fn refundable(order: &Order, amount: Option<i64>) -> Result<i64, ShopError> {
    let (id, status, total) = (&order.row.id, order.row.status.as_str(), order.row.total_cents);
    match status {
        "shipped" | "delivered" => {}
        "refunded" => return Err(ShopError::new(ErrorKind::Conflict, format!("{id} was already refunded"))),
        "cancelled" => {
            let message = format!("{id} was cancelled and its payment returned; there is nothing to refund");
            return Err(ShopError::new(ErrorKind::Conflict, message));
        }
        _ => {
            let message = format!("{id} is {status}; only shipped or delivered orders can be refunded");
            return Err(ShopError::new(ErrorKind::Conflict, message));
        }
    }
    let amount = amount.unwrap_or(total);
    if amount < 1 || amount > total {
        let message = format!("{} is not between €0.01 and the order's total of {}", euros(amount), euros(total));
        return Err(ShopError::new(ErrorKind::Invalid, message));
    }
    Ok(amount)
}

// The clock, but never before what already happened to the order: the seeded days lie in 2026.
fn now(connection: &Connection, order: &Order) -> Result<String, ShopError> {
    let latest = "SELECT MAX(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
        COALESCE((SELECT MAX(at) FROM history WHERE order_id = ?1), ''))";
    Ok(connection.query_row(latest, [&order.row.id], |row| row.get(0))?)
}

/// `€129.00`
pub(super) fn euros(cents: i64) -> String {
    format!("€{}.{:02}", cents / 100, (cents % 100).abs())
}
