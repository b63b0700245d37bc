//! The browser's database, and the one connection a page has to it. Knows nothing of what is kept in it.
//!
//! A connection can die at any time: a background tab loses it, a newer page asks for it, the user clears the storage. A
//! dead one is never used again; the next that needs one opens it anew.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use idb::event::{DatabaseEvent, VersionChangeEvent};
use idb::{Error, Factory, ObjectStoreParams, Transaction, TransactionMode};
use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use crate::browser::sleep;
use crate::session::StoreError;

/// Lines by `[thread, number]`.
pub(super) const LINES: &str = "lines";
/// What is known of a thread, by its id.
pub(super) const THREADS: &str = "threads";
/// Texts by `[thread, name, version]`.
pub(super) const ARTIFACTS: &str = "artifacts";
/// Lines that could not be read, by `[thread, number]`.
pub(super) const DAMAGED: &str = "damaged";

/// All of them.
pub(super) const ALL: [&str; 4] = [LINES, THREADS, ARTIFACTS, DAMAGED];

/// The version of the layout. Each earlier one is brought here by [`upgrade`].
pub const VERSION: u32 = 2;

// How long another page may hold on to an older layout before we go on without the database.
const BLOCKED_MS: u64 = 3000;

/// The database of a page. Copies share its connection.
#[derive(Clone)]
pub struct Database {
    name: Rc<str>,
    connection: Rc<RefCell<Option<Connection>>>,
}

#[derive(Clone)]
struct Connection {
    // Holds what hears of its end.
    database: Rc<idb::Database>,
    raw: JsValue,
    /// A page that is newer than this one has changed the layout: it can be read here, and no more.
    newer: bool,
}

impl Database {
    /// The database of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), connection: Rc::default() }
    }

    /// Lets go of the connection; the next that needs one opens it anew. A page that may come back out of the browser's
    /// cache must not hold one.
    pub fn close(&self) {
        if let Some(connection) = self.connection.take() {
            connection.database.close();
        }
    }

    /// Does something in one transaction; once more with a fresh connection where the old one turns out to be dead. It
    /// comes to its end whether or not anybody waits for it.
    pub(super) async fn within<T: 'static>(
        &self,
        access: Access,
        work: impl AsyncFn(&Transaction) -> Result<T, Error> + 'static,
    ) -> Result<T, StoreError> {
        let (told, done) = oneshot::channel();
        let database = self.clone();
        spawn_local(async move {
            let _ = told.send(database.attempt(access, work).await);
        });
        done.await.unwrap_or_else(|_| Err(StoreError::Failed(String::new())))
    }

    async fn attempt<T>(
        &self,
        access: Access,
        work: impl AsyncFn(&Transaction) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut again = true;
        loop {
            let failed = match self.connect(access).await {
                Ok(connection) => match connection.within(access, &work).await {
                    Ok(done) => return Ok(done),
                    Err(failed) => failed,
                },
                Err(failed) => failed,
            };
            match failed {
                Failed::Taken => return Err(StoreError::Taken),
                Failed::Dead(_) if again => {
                    self.close();
                    again = false;
                }
                Failed::Dead(why) | Failed::Refused(why) => return Err(StoreError::Failed(why)),
            }
        }
    }

    async fn connect(&self, access: Access) -> Result<Connection, Failed> {
        let open = self.connection.borrow().clone();
        let connection = match open {
            Some(connection) => connection,
            None => {
                let connection = self.open().await?;
                self.connection.replace(Some(connection.clone()));
                connection
            }
        };
        if connection.newer && access != Access::Read {
            return Err(Failed::Refused(
                "a newer version of this page is open in another tab; load this one again".to_owned(),
            ));
        }
        Ok(connection)
    }

    async fn open(&self) -> Result<Connection, Failed> {
        let factory = Factory::new()
            .map_err(|_| Failed::Refused("this browser does not let the page keep anything".to_owned()))?;
        match self.request(&factory, Some(VERSION)).await {
            Ok(database) => Ok(self.connection_of(database, false)),
            Err(error) if name_of(&error) == "VersionError" => {
                let database = self.request(&factory, None).await.map_err(Failed::of)?;
                Ok(self.connection_of(database, true))
            }
            Err(error) => Err(Failed::of(error)),
        }
    }

    async fn request(&self, factory: &Factory, version: Option<u32>) -> Result<idb::Database, Error> {
        let mut request = factory.open(&self.name, version)?;
        request.on_upgrade_needed(|event| {
            // What fails here fails the request.
            let _ = upgrade(&event);
        });
        let (told, opened) = oneshot::channel();
        spawn_local(async move {
            let opened = request.await;
            // Nobody waits any more: one that comes late must not stand in another page's way.
            if let Err(Ok(late)) = told.send(opened) {
                late.close();
            }
        });
        match select(opened, sleep(BLOCKED_MS)).await {
            Either::Left((Ok(opened), _)) => opened,
            _ => Err(Error::IndexedDbOpenFailed(JsValue::from_str("blocked by an older version of this page"))),
        }
    }

    fn connection_of(&self, database: idb::Database, newer: bool) -> Connection {
        let raw = JsValue::from(database);
        let mut database = idb::Database::from(raw.clone().unchecked_into::<web_sys::IdbDatabase>());
        let (held, asked) = (Rc::downgrade(&self.connection), raw.clone());
        // A page with a newer layout waits until this one lets go.
        database.on_version_change(move |_| {
            let _ = Reflect::get(&asked, &"close".into())
                .and_then(|close| close.unchecked_into::<Function>().call0(&asked));
            if let Some(held) = held.upgrade() {
                held.take();
            }
        });
        let held = Rc::downgrade(&self.connection);
        database.on_close(move |_| {
            if let Some(held) = held.upgrade() {
                held.take();
            }
        });
        Connection { database: Rc::new(database), raw, newer }
    }
}

/// What a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Read.
    Read,
    /// Write; may be lost in a power cut.
    Write,
    /// Write, and come back when it is on the disk.
    Strict,
}

enum Failed {
    /// There is something already where something was to be added.
    Taken,
    /// The connection may be dead.
    Dead(String),
    /// It is of no use to try again at once.
    Refused(String),
}

impl Connection {
    async fn within<T>(
        &self,
        access: Access,
        work: &impl AsyncFn(&Transaction) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let raw = self.transaction(access).map_err(|thrown| Failed::of_name(&thrown_name(&thrown)))?;
        let transaction = Transaction::try_from(raw.clone())
            .map_err(|_| Failed::Dead("the browser's database is gone".to_owned()))?;
        let done = work(&transaction).await.map_err(Failed::of)?;
        if access == Access::Read {
            return Ok(done);
        }
        let end = match transaction.commit() {
            Ok(transaction) => transaction.await,
            Err(error) => Err(error),
        };
        match end {
            Ok(end) if end.is_committed() => Ok(done),
            _ => {
                let error = Reflect::get(&raw, &"error".into()).unwrap_or(JsValue::NULL);
                Err(Failed::of_name(&thrown_name(&error)))
            }
        }
    }

    // The crate knows no durability.
    fn transaction(&self, access: Access) -> Result<JsValue, JsValue> {
        let stores: Array = ALL.iter().copied().map(JsValue::from_str).collect();
        let (mode, durability) = match access {
            Access::Read => (TransactionMode::ReadOnly, "default"),
            Access::Write => (TransactionMode::ReadWrite, "relaxed"),
            Access::Strict => (TransactionMode::ReadWrite, "strict"),
        };
        let options = Object::new();
        Reflect::set(&options, &"durability".into(), &durability.into())?;
        let begin: Function = Reflect::get(&self.raw, &"transaction".into())?.dyn_into()?;
        begin.call3(&self.raw, &stores, &JsValue::from(web_sys::IdbTransactionMode::from(mode)), &options)
    }
}

impl Failed {
    fn of(error: Error) -> Self {
        Self::of_name(&name_of(&error))
    }

    fn of_name(name: &str) -> Self {
        match name {
            "ConstraintError" => Self::Taken,
            "QuotaExceededError" => Self::Refused("the browser's storage is full".to_owned()),
            "SecurityError" | "NotAllowedError" => {
                Self::Refused("this browser does not let the page keep anything".to_owned())
            }
            "" => Self::Dead("the browser's database can not be reached".to_owned()),
            other => Self::Dead(format!("the browser's database can not be used ({other})")),
        }
    }
}

// The name of the exception behind an error, or the words of one of ours.
fn name_of(error: &Error) -> String {
    match error {
        Error::DomException(exception) => exception.name(),
        Error::IndexedDbOpenFailed(thrown)
        | Error::TransactionOpenFailed(thrown)
        | Error::ObjectStoreNotFound(thrown)
        | Error::AddFailed(thrown)
        | Error::UpdateFailed(thrown)
        | Error::TransactionCommitError(thrown) => thrown_name(thrown),
        _ => String::new(),
    }
}

fn thrown_name(thrown: &JsValue) -> String {
    if let Some(words) = thrown.as_string() {
        return words;
    }
    Reflect::get(thrown, &"name".into()).ok().and_then(|name| name.as_string()).unwrap_or_default()
}

// Brings the layout to the present version, a version at a time.
fn upgrade(event: &VersionChangeEvent) -> Result<(), Error> {
    let database = event.database()?;
    let from = event.old_version()?;
    let create = |name: &str| database.create_object_store(name, ObjectStoreParams::new()).map(drop);
    if from < 1 {
        create(LINES)?;
        create(THREADS)?;
    }
    if from < 2 {
        create(ARTIFACTS)?;
        create(DAMAGED)?;
    }
    Ok(())
}
