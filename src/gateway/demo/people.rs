//! Reading customers. Knows nothing of HTTP.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::{Value, json};

use crate::gateway::demo::orders::{Page, containing};
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};

const CUSTOMER: &str = "SELECT c.id, c.name, c.email, c.city, c.country, c.since, c.phone,
        (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id),
        (SELECT COALESCE(SUM(CASE o.status WHEN 'cancelled' THEN 0
             ELSE o.total_cents - COALESCE(r.amount_cents, 0) END), 0)
         FROM orders o LEFT JOIN refunds r ON r.order_id = o.id WHERE o.customer_id = c.id)
    FROM customers c";

const WANTED: &str = "(?1 IS NULL OR c.name LIKE ?1 ESCAPE '\\' OR c.email LIKE ?1 ESCAPE '\\'
    OR c.id LIKE ?1 ESCAPE '\\' OR c.city LIKE ?1 ESCAPE '\\')";

/// A customer as the list shows them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Customer {
    id: String,
    name: String,
    email: String,
    city: String,
    country: String,
    since: String,
    #[serde(skip)]
    phone: String,
    orders: i64,
    spent_cents: i64,
}

impl Store {
    /// A page of the customers whose name, email, id or city contains `q`, by id.
    pub(super) fn customers(&self, q: Option<&str>, page: u32, size: u32) -> Result<Page<Customer>, ShopError> {
        let q = q.filter(|q| !q.trim().is_empty()).map(containing);
        self.with(|connection| {
            let count = format!("SELECT COUNT(*) FROM customers c WHERE {WANTED}");
            let total: u32 = connection.query_row(&count, params![q], |row| row.get(0))?;
            let offset = u64::from(page.saturating_sub(1)) * u64::from(size);
            let sql = format!("{CUSTOMER} WHERE {WANTED} ORDER BY c.id LIMIT {size} OFFSET {offset}");
            let items = connection.prepare_cached(&sql)?.query_map(params![q], customer)?.collect::<Result<_, _>>()?;
            Ok(Page { items, page, pages: total.div_ceil(size).max(1), total })
        })
    }

    /// One customer with phone and orders.
    pub(super) fn customer(&self, id: &str) -> Result<Value, ShopError> {
        let sql = format!("{CUSTOMER} WHERE c.id = ?1");
        let found = self.with(|connection| Ok(connection.query_row(&sql, [id], customer).optional()?))?;
        let found = found.ok_or_else(|| ShopError::new(ErrorKind::NotFound, format!("there is no customer {id}")))?;
        let mut value = json!(found);
        value["phone"] = json!(found.phone);
        value["orders_list"] = json!(self.orders_of(id)?);
        Ok(value)
    }
}

fn customer(row: &Row<'_>) -> rusqlite::Result<Customer> {
    Ok(Customer {
        id: row.get(0)?,
        name: row.get(1)?,
        email: row.get(2)?,
        city: row.get(3)?,
        country: row.get(4)?,
        since: row.get(5)?,
        phone: row.get(6)?,
        orders: row.get(7)?,
        spent_cents: row.get(8)?,
    })
}
