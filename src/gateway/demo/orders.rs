//! Reading orders: the list, one order, the day's figures. Knows nothing of HTTP or tools.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::gateway::demo::seed::LATE_BEFORE;
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};

/// The states of an order.
pub(super) const STATUSES: [&str; 6] = ["pending", "packed", "shipped", "delivered", "cancelled", "refunded"];

/// The shop's one currency.
pub(super) const CURRENCY: &str = "EUR";

const ROW: &str = "SELECT o.id, o.customer_id, c.name, o.status, o.placed_at, o.total_cents,
        (SELECT SUM(quantity) FROM lines l WHERE l.order_id = o.id)
    FROM orders o JOIN customers c ON c.id = o.customer_id";

// `late` is no state but a question: pending or packed, and longer than it should be.
const WANTED: &str = "(?1 IS NULL OR o.status = ?1
        OR (?1 = 'late' AND o.status IN ('pending', 'packed') AND o.placed_at < ?4))
    AND (?2 IS NULL OR o.id LIKE ?2 ESCAPE '\\' OR c.name LIKE ?2 ESCAPE '\\' OR o.tracking_number LIKE ?2 ESCAPE '\\'
        OR EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id AND l.title LIKE ?2 ESCAPE '\\'))
    AND (?3 IS NULL OR o.customer_id = ?3 OR c.name LIKE ?5 ESCAPE '\\')";

/// Which orders.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderFilter {
    /// One of [`STATUSES`], or `late`.
    pub(super) status: Option<String>,
    /// Part of an id, a customer's name, a title or a tracking number.
    pub(super) q: Option<String>,
    /// A customer's id, or part of the name.
    pub(super) customer: Option<String>,
}

/// An order as a list shows it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OrderRow {
    pub(super) id: String,
    pub(super) customer: CustomerRef,
    pub(super) status: String,
    pub(super) placed_at: String,
    pub(super) total_cents: i64,
    pub(super) currency: &'static str,
    pub(super) items: i64,
}

/// A customer as an order names them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CustomerRef {
    pub(super) id: String,
    pub(super) name: String,
}

/// One order with all that is known of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Order {
    #[serde(flatten)]
    pub(super) row: OrderRow,
    pub(super) lines: Vec<Line>,
    pub(super) shipping: Shipping,
    pub(super) history: Vec<Value>,
    pub(super) notes: Vec<Value>,
    pub(super) refund: Option<Value>,
}

/// A ware of an order.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) sku: String,
    pub(super) title: String,
    pub(super) quantity: i64,
    pub(super) unit_cents: i64,
}

/// Where an order goes and how far it is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Shipping {
    pub(super) address: Vec<String>,
    pub(super) carrier: Option<String>,
    pub(super) tracking_number: Option<String>,
    pub(super) shipped_at: Option<String>,
    pub(super) delivered_at: Option<String>,
}

/// A page of a longer list.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) page: u32,
    pub(super) pages: u32,
    pub(super) total: u32,
}

impl Store {
    /// A page of the orders that fit, newest first. Pages are counted from 1.
    pub(super) fn orders(&self, filter: &OrderFilter, page: u32, size: u32) -> Result<Page<OrderRow>, ShopError> {
        let text = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
        let (status, q, customer) = (text(&filter.status), text(&filter.q), text(&filter.customer));
        if let Some(word) = status.as_deref().filter(|word| !STATUSES.contains(word) && *word != "late") {
            let message = format!("\"{word}\" is no order status; use {} or late", STATUSES.join(", "));
            return Err(ShopError::new(ErrorKind::Invalid, message));
        }
        let (q, name) = (q.as_deref().map(containing), customer.as_deref().map(containing));
        let wanted = params![status, q, customer, LATE_BEFORE, name];
        self.with(|connection| {
            let count =
                format!("SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE {WANTED}");
            let total: u32 = connection.query_row(&count, wanted, |row| row.get(0))?;
            let offset = u64::from(page.saturating_sub(1)) * u64::from(size);
            let sql = format!("{ROW} WHERE {WANTED} ORDER BY o.placed_at DESC, o.id DESC LIMIT {size} OFFSET {offset}");
            let items = connection.prepare_cached(&sql)?.query_map(wanted, row)?.collect::<Result<_, _>>()?;
            Ok(Page { items, page, pages: total.div_ceil(size).max(1), total })
        })
    }

    /// One order.
    pub(super) fn order(&self, id: &str) -> Result<Order, ShopError> {
        self.with(|connection| order(connection, id))
    }

    /// The orders of a customer, newest first.
    pub(super) fn orders_of(&self, customer: &str) -> Result<Vec<OrderRow>, ShopError> {
        let sql = format!("{ROW} WHERE o.customer_id = ?1 ORDER BY o.placed_at DESC, o.id DESC");
        self.with(|connection| {
            let rows = connection.prepare_cached(&sql)?.query_map([customer], row)?.collect::<Result<_, _>>()?;
            Ok(rows)
        })
    }

    /// The figures of the first screen.
    pub(super) fn summary(&self) -> Result<Value, ShopError> {
        let recent = self.orders(&OrderFilter::default(), 1, 8)?.items;
        self.with(|connection| {
            let counts = counts(connection)?;
            let late: i64 = connection.query_row(
                "SELECT COUNT(*) FROM orders WHERE status IN ('pending', 'packed') AND placed_at < ?1",
                [LATE_BEFORE],
                |row| row.get(0),
            )?;
            let customers: i64 = connection.query_row("SELECT COUNT(*) FROM customers", [], |row| row.get(0))?;
            let by_day = by_day(connection)?;
            let revenue: i64 = connection.query_row(&format!("SELECT {REVENUE} FROM {PAID}"), [], |row| row.get(0))?;
            Ok(json!({
                "orders": counts, "late": late, "revenue_cents": revenue, "currency": CURRENCY,
                "customers": customers, "by_day": by_day, "recent": recent,
            }))
        })
    }
}

// What customers paid and did not get back.
const PAID: &str = "orders o LEFT JOIN refunds r ON r.order_id = o.id";
const REVENUE: &str = "SUM(CASE o.status WHEN 'cancelled' THEN 0 ELSE o.total_cents - COALESCE(r.amount_cents, 0) END)";

fn counts(connection: &Connection) -> Result<Map<String, Value>, ShopError> {
    let mut counts: Map<String, Value> = STATUSES.iter().map(|status| ((*status).to_owned(), json!(0))).collect();
    let mut total = 0;
    let mut statement = connection.prepare_cached("SELECT status, COUNT(*) FROM orders GROUP BY status")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let count: i64 = row.get(1)?;
        total += count;
        counts.insert(row.get(0)?, json!(count));
    }
    counts.insert("total".to_owned(), json!(total));
    Ok(counts)
}

fn by_day(connection: &Connection) -> Result<Vec<Value>, ShopError> {
    let sql = format!(
        "SELECT substr(o.placed_at, 1, 10) AS day, COUNT(*), {REVENUE} FROM {PAID}
         GROUP BY day ORDER BY day DESC LIMIT 14"
    );
    let day = |row: &Row<'_>| {
        let (day, orders, revenue) = (row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
        Ok(json!({ "day": day, "orders": orders, "revenue_cents": revenue }))
    };
    let mut days: Vec<Value> = connection.prepare_cached(&sql)?.query_map([], day)?.collect::<Result<_, _>>()?;
    days.reverse();
    Ok(days)
}

/// One order, inside a transaction or not.
pub(super) fn order(connection: &Connection, id: &str) -> Result<Order, ShopError> {
    let found = connection.prepare_cached(&format!("{ROW} WHERE o.id = ?1"))?.query_row([id], row).optional()?;
    let row = found.ok_or_else(|| ShopError::new(ErrorKind::NotFound, format!("there is no order {id}")))?;
    let list = |sql: &str, read: fn(&Row<'_>) -> rusqlite::Result<Value>| -> Result<Vec<Value>, ShopError> {
        Ok(connection.prepare_cached(sql)?.query_map([id], read)?.collect::<Result<_, _>>()?)
    };
    Ok(Order {
        row,
        lines: connection
            .prepare_cached("SELECT sku, title, quantity, unit_cents FROM lines WHERE order_id = ?1 ORDER BY position")?
            .query_map([id], |row| {
                Ok(Line { sku: row.get(0)?, title: row.get(1)?, quantity: row.get(2)?, unit_cents: row.get(3)? })
            })?
            .collect::<Result<_, _>>()?,
        shipping: connection.query_row(SHIPPING, [id], shipping)?,
        history: list("SELECT at, text FROM history WHERE order_id = ?1 ORDER BY seq", |row| {
            Ok(json!({ "at": row.get::<_, String>(0)?, "text": row.get::<_, String>(1)? }))
        })?,
        notes: list("SELECT seq, at, author, text FROM notes WHERE order_id = ?1 ORDER BY seq", |row| {
            let (author, text) = (row.get::<_, String>(2)?, row.get::<_, String>(3)?);
            Ok(json!({ "id": row.get::<_, i64>(0)?, "at": row.get::<_, String>(1)?, "author": author, "text": text }))
        })?,
        refund: list("SELECT amount_cents, at, reason FROM refunds WHERE order_id = ?1", |row| {
            let (at, reason) = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
            Ok(json!({ "amount_cents": row.get::<_, i64>(0)?, "at": at, "reason": reason }))
        })?
        .pop(),
    })
}

const SHIPPING: &str = "SELECT c.name, c.street, c.postcode || ' ' || c.city, c.country,
        o.carrier, o.tracking_number, o.shipped_at, o.delivered_at
    FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = ?1";

fn shipping(row: &Row<'_>) -> rusqlite::Result<Shipping> {
    Ok(Shipping {
        address: vec![row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?],
        carrier: row.get(4)?,
        tracking_number: row.get(5)?,
        shipped_at: row.get(6)?,
        delivered_at: row.get(7)?,
    })
}

fn row(row: &Row<'_>) -> rusqlite::Result<OrderRow> {
    Ok(OrderRow {
        id: row.get(0)?,
        customer: CustomerRef { id: row.get(1)?, name: row.get(2)? },
        status: row.get(3)?,
        placed_at: row.get(4)?,
        total_cents: row.get(5)?,
        currency: CURRENCY,
        items: row.get(6)?,
    })
}

/// A LIKE pattern for text that contains `part`, whatever signs stand in it.
pub(super) fn containing(part: &str) -> String {
    let quoted = part.trim().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{quoted}%")
}
