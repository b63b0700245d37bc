//! `orders_export`: a list of orders as a CSV file, written step by step in the background; and the files themselves.
//!
//! Kept in memory, the latest few: a demo's files need no more. Their names can not be guessed.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::context::Level;
use crate::gateway::demo::orders::{OrderFilter, OrderRow};
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};
use crate::gateway::demo::tools::{definition, statuses, tool_error};
use crate::gateway::tools::{CallContext, ServerTool};
use crate::protocol::{Outcome, Risk};
use crate::tools::error;

const NAME: &str = "orders_export";
const ORDERS_A_STEP: u32 = 20;
// So that a demo's watcher sees that it takes steps.
const STEP: Duration = Duration::from_millis(250);
const MAX_FILES: usize = 16;

/// The files.
#[derive(Debug, Default)]
pub(super) struct Exports {
    files: Mutex<VecDeque<(String, String)>>,
}

impl Exports {
    /// A file's text.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.files().iter().find(|(other, _)| other == name).map(|(_, text)| text.clone())
    }

    fn keep(&self, text: String) -> Result<String, ShopError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|why| ShopError::new(ErrorKind::Broken, format!("no random name can be made: {why}")))?;
        let name = format!("{:032x}.csv", u128::from_le_bytes(bytes));
        let mut files = self.files();
        if files.len() >= MAX_FILES {
            files.pop_front();
        }
        files.push_back((name.clone(), text));
        Ok(name)
    }

    fn files(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tool.
pub(super) fn orders_export(store: Arc<Store>) -> ServerTool {
    let mut definition = definition(
        NAME,
        "Export orders",
        "Writes orders of the shop into a CSV file that the user can save. Use it when the user asks to export or \
         download orders. It goes on in the background; its end says how many orders there are and where the file is.",
        Risk::Read,
        json!({
            "status": { "type": "string", "enum": statuses(),
                "description": "Only orders of this status; late means pending or packed for more than three days." },
        }),
        &[],
    );
    definition.long_running = true;
    ServerTool::new(definition, move |arguments, context| {
        let store = Arc::clone(&store);
        async move {
            let status = arguments.get("status").and_then(Value::as_str).map(str::to_owned);
            let state = json!({ "status": status, "orders_written": 0 });
            context.job(&state, |job| write(store, status, job))
        }
    })
}

async fn write(store: Arc<Store>, status: Option<String>, job: CallContext) -> Outcome {
    let (mut csv, mut rows) = ("Order,Customer,Status,Placed at,Total (EUR)\r\n".to_owned(), 0);
    let filter = OrderFilter { status, ..OrderFilter::default() };
    for page in 1.. {
        let (shop, wanted) = (Arc::clone(&store), filter.clone());
        let found = match shop.within(move |store| store.orders(&wanted, page, ORDERS_A_STEP)).await {
            Ok(found) => found,
            Err(why) => return Outcome::Error(tool_error(NAME, why)),
        };
        found.items.iter().for_each(|order| line(&mut csv, order));
        rows += found.items.len();
        job.progress(f64::from(page) / f64::from(found.pages), &format!("{rows} of {} orders", found.total));
        if page >= found.pages {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(STEP) => {}
            () = job.cancel.cancelled() => return Outcome::Error(error::cancelled(NAME, true)),
        }
    }
    job.log(Level::Info, &format!("exported {rows} orders"));
    match store.exports.keep(csv) {
        Ok(name) => Outcome::Result(json!({ "file": format!("/api/exports/{name}"), "orders": rows })),
        Err(why) => Outcome::Error(tool_error(NAME, why)),
    }
}

// RFC 4180. Writing to a String can not fail.
fn line(csv: &mut String, order: &OrderRow) {
    let total = format!("{}.{:02}", order.total_cents / 100, order.total_cents % 100);
    let cells = [&order.id, &order.customer.name, &order.status, &order.placed_at, &total];
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    let _ = write!(csv, "{}\r\n", cells.join(","));
}

// A spreadsheet runs what begins like a formula.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let cell = cell.replace('"', "\"\"");
    format!("\"{}{cell}\"", if formula { "'" } else { "" })
}
