//! The browser's database, and the one connection a page has to it. Knows nothing of what is kept in it.
//!
//! A connection can die at any time: a background tab loses it, a newer page asks for it, the user clears the storage. A
//! dead one is never used again; the next that needs one opens it anew.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use idb::event::{DatabaseEvent, VersionChangeEvent};
use idb::request::OpenDatabaseRequest;
use idb::{CursorDirection, Error, Factory, KeyRange, ObjectStoreParams, Query, Transaction, TransactionMode};
use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{IdbDatabase, IdbOpenDbRequest, IdbRequest, IdbTransaction};

use crate::browser::sleep;
use crate::browser::tools::thrown_name;
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

const NEWER: &str = "a newer version of this page is open in another tab; load this one again";

// A database that says nothing for so long will say nothing.
const PATIENCE_MS: u64 = 5000;

// How long another page may hold on to an older layout before we go on without the database.
const BLOCKED_MS: u64 = 3000;

/// The database of a page. Copies share its connection.
#[derive(Clone)]
pub struct Database {
    name: Rc<str>,
    connection: Rc<RefCell<Option<Connection>>>,
    opened: Rc<Cell<u32>>,
}

#[derive(Clone)]
struct Connection {
    held: Rc<Held>,
    /// A page that is newer than this one has changed the layout: it can be read here, and no more.
    newer: bool,
}

/// A connection that is closed with its last holder: one that nobody closes stands in every newer page's way.
struct Held {
    raw: JsValue,
    // Hears of its end.
    _database: idb::Database,
}

impl Drop for Held {
    fn drop(&mut self) {
        close(&self.raw);
    }
}

impl Database {
    /// The database of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), connection: Rc::default(), opened: Rc::default() }
    }

    /// Lets go of the connection; the next that needs one opens it anew. A page that may come back out of the browser's
    /// cache must not hold one.
    pub fn close(&self) {
        self.connection.take();
    }

    /// Whether there is a connection now.
    #[must_use]
    pub(super) fn is_open(&self) -> bool {
        self.connection.borrow().is_some()
    }

    /// Counts the connections there have been: behind a new one the database may be another.
    #[must_use]
    pub(super) fn connections(&self) -> u32 {
        self.opened.get()
    }

    /// Does things in one transaction, all of them or none; what those that read found comes back. Once more with a
    /// fresh connection where the old one turns out to be dead. It comes to its end whether or not anybody waits for it.
    pub(super) async fn run(&self, access: Access, deeds: Vec<Deed>) -> Result<Vec<JsValue>, StoreError> {
        let (told, done) = oneshot::channel();
        let database = self.clone();
        spawn_local(async move {
            let _ = told.send(database.attempt(access, &deeds).await);
        });
        match select(done, sleep(PATIENCE_MS)).await {
            Either::Left((Ok(done), _)) => done,
            _ => {
                self.close();
                Err(StoreError::Failed("the browser's database does not answer".to_owned()))
            }
        }
    }

    async fn attempt(&self, access: Access, deeds: &[Deed]) -> Result<Vec<JsValue>, StoreError> {
        let mut again = true;
        loop {
            let failed = match self.connect(access).await {
                Ok(connection) => match connection.run(access, deeds).await {
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
                Failed::Newer => return Err(StoreError::Failed(NEWER.to_owned())),
            }
        }
    }

    async fn connect(&self, access: Access) -> Result<Connection, Failed> {
        let open = self.connection.borrow().clone();
        let connection = match open {
            Some(connection) => connection,
            None => {
                let connection = self.open().await?;
                self.opened.set(self.opened.get() + 1);
                self.connection.replace(Some(connection.clone()));
                connection
            }
        };
        if connection.newer && access != Access::Read {
            return Err(Failed::Refused(NEWER.to_owned()));
        }
        Ok(connection)
    }

    async fn open(&self) -> Result<Connection, Failed> {
        let factory = Factory::new()
            .map_err(|_| Failed::Refused("this browser does not let the page keep anything".to_owned()))?;
        match self.request(&factory, Some(VERSION)).await {
            Err(Failed::Newer) => Ok(self.connection_of(self.request(&factory, None).await?, true)),
            opened => Ok(self.connection_of(opened?, false)),
        }
    }

    async fn request(&self, factory: &Factory, version: Option<u32>) -> Result<JsValue, Failed> {
        let raw: IdbOpenDbRequest = factory.open(&self.name, version).map_err(|error| Failed::of(&error))?.into();
        let mut request = OpenDatabaseRequest::from(raw.clone());
        request.on_upgrade_needed(|event| {
            // What fails here fails the request.
            let _ = upgrade(&event);
        });
        let (told, opened) = oneshot::channel();
        spawn_local(async move {
            let opened = settled(&raw).await;
            // Nobody waits any more: one that comes late must not stand in another page's way.
            if let Err(Ok(late)) = told.send(opened) {
                close(&late);
            }
            drop(request);
        });
        match select(opened, sleep(BLOCKED_MS)).await {
            Either::Left((Ok(opened), _)) => opened,
            _ => Err(Failed::Refused("another tab holds an older version of this page open; close it".to_owned())),
        }
    }

    fn connection_of(&self, raw: JsValue, newer: bool) -> Connection {
        let mut database = idb::Database::from(raw.clone().unchecked_into::<IdbDatabase>());
        let (held, asked) = (Rc::downgrade(&self.connection), raw.clone());
        // A page with a newer layout waits until this one lets go.
        database.on_version_change(move |_| {
            close(&asked);
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
        Connection { held: Rc::new(Held { raw, _database: database }), newer }
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
    /// The layout is a later one.
    Newer,
}

fn close(database: &JsValue) {
    database.unchecked_ref::<IdbDatabase>().close();
}

/// One thing to do in a transaction. Said as data rather than as code: a page loads one function for all of them.
#[derive(Clone)]
pub(super) enum Deed {
    /// The value of a key, or undefined.
    Get(&'static str, JsValue),
    /// The values of a range, as a list.
    All(&'static str, Range),
    /// The keys of a range, as a list.
    Keys(&'static str, Range),
    /// The last key of a range, or undefined.
    LastKey(&'static str, Range),
    /// Adds a text under a key that must be free.
    Add(&'static str, JsValue, String),
    /// Puts a value under a key.
    Put(&'static str, JsValue, JsValue),
    /// Takes out a range.
    Delete(&'static str, Range),
}

/// Keys from one up to and without another.
pub(super) type Range = (JsValue, JsValue);

impl Deed {
    /// Puts a text under a key.
    pub(super) fn put(store: &'static str, key: JsValue, text: &str) -> Self {
        Self::Put(store, key, JsValue::from_str(text))
    }

    fn begin(&self, transaction: &Transaction) -> Result<IdbRequest, Error> {
        let store = |name: &str| transaction.object_store(name);
        Ok(match self {
            Self::Get(name, key) => store(name)?.get(Query::Key(key.clone()))?.into(),
            Self::All(name, keys) => store(name)?.get_all(Some(query(keys)?), None)?.into(),
            Self::Keys(name, keys) => store(name)?.get_all_keys(Some(query(keys)?), None)?.into(),
            Self::LastKey(name, keys) => {
                store(name)?.open_key_cursor(Some(query(keys)?), Some(CursorDirection::Prev))?.into()
            }
            Self::Add(name, key, text) => store(name)?.add(&JsValue::from_str(text), Some(key))?.into(),
            Self::Put(name, key, value) => store(name)?.put(value, Some(key))?.into(),
            Self::Delete(name, keys) => store(name)?.delete(query(keys)?)?.into(),
        })
    }

    async fn perform(&self, transaction: &Transaction) -> Result<JsValue, Failed> {
        let request = self.begin(transaction).map_err(|error| Failed::of(&error))?;
        let result = settled(&request).await?;
        Ok(match self {
            // A cursor stands on it.
            Self::LastKey(..) if !result.is_null() => Reflect::get(&result, &"key".into()).unwrap_or_default(),
            Self::LastKey(..) => JsValue::UNDEFINED,
            _ => result,
        })
    }
}

// What a request comes to. The crate's own futures are one type each for every kind of request; this is one for all.
async fn settled(request: &IdbRequest) -> Result<JsValue, Failed> {
    let answered = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    match JsFuture::from(answered).await {
        Ok(_) => Ok(request.result().unwrap_or_default()),
        Err(_) => Err(Failed::of_name(&request.error().ok().flatten().map_or_else(String::new, |error| error.name()))),
    }
}

fn query((from, to): &Range) -> Result<Query, Error> {
    KeyRange::bound(from, to, Some(false), Some(true)).map(Query::KeyRange)
}

impl Connection {
    async fn run(&self, access: Access, deeds: &[Deed]) -> Result<Vec<JsValue>, Failed> {
        let raw = self.transaction(access).map_err(|thrown| Failed::of_name(&thrown_name(&thrown)))?;
        let transaction = Transaction::try_from(raw.clone())
            .map_err(|_| Failed::Dead("the browser's database is gone".to_owned()))?;
        if access == Access::Read {
            let mut done = Vec::with_capacity(deeds.len());
            for deed in deeds {
                done.push(deed.perform(&transaction).await?);
            }
            return Ok(done);
        }
        // All of it is given away at once, with the word to keep it: what has left the page outlives it.
        for deed in deeds {
            deed.begin(&transaction).map_err(|error| Failed::of(&error))?;
        }
        let end: &IdbTransaction = raw.unchecked_ref();
        let committed = Promise::new(&mut |resolve, reject| {
            end.set_oncomplete(Some(&resolve));
            end.set_onabort(Some(&reject));
        });
        // Where there is nothing to commit any more it has been aborted.
        if transaction.commit().is_err() || JsFuture::from(committed).await.is_err() {
            return Err(Failed::of_name(&end.error().map_or_else(String::new, |error| error.name())));
        }
        Ok(Vec::new())
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
        let begin: Function = Reflect::get(&self.held.raw, &"transaction".into())?.dyn_into()?;
        begin.call3(&self.held.raw, &stores, &JsValue::from(web_sys::IdbTransactionMode::from(mode)), &options)
    }
}

impl Failed {
    fn of(error: &Error) -> Self {
        Self::of_name(&name_of(error))
    }

    fn of_name(name: &str) -> Self {
        match name {
            "ConstraintError" => Self::Taken,
            "VersionError" => Self::Newer,
            "QuotaExceededError" => Self::Refused("the browser's storage is full".to_owned()),
            "SecurityError" | "NotAllowedError" => {
                Self::Refused("this browser does not let the page keep anything".to_owned())
            }
            "" => Self::Dead("the browser's database can not be reached".to_owned()),
            other => Self::Dead(format!("the browser's database can not be used ({other})")),
        }
    }
}

// The name of the exception behind an error.
fn name_of(error: &Error) -> String {
    match error {
        Error::IndexedDbOpenFailed(thrown)
        | Error::TransactionOpenFailed(thrown)
        | Error::ObjectStoreNotFound(thrown)
        | Error::AddFailed(thrown)
        | Error::UpdateFailed(thrown) => thrown_name(thrown),
        _ => String::new(),
    }
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
