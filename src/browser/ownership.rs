//! Who may run a thread: one page at a time, by the Web Locks API. Knows nothing of threads or runs.
//!
//! The browser frees a lock the moment its page is gone, however it went, and gives it to the next that asked. Web Locks
//! exist in secure contexts only. Where they are missing, are refused (a sandboxed frame, cookies that are blocked) or do
//! not answer, whoever comes last takes over, and the journal's numbered lines keep the other from writing on.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{Either, pending, select};
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::browser::interface::{ask, call, property};
use crate::browser::{Abort, sleep};

/// A lock that was asked for. Dropping it takes the question back.
pub struct Claim {
    locks: JsValue,
    granted: oneshot::Receiver<Function>,
    abort: Abort,
    // Until it is granted.
    rest: Option<Rest>,
}

/// A lock that is held, until it is dropped; nothing where the browser has none.
pub struct Lock(Option<Held>);

struct Held {
    release: Function,
    rest: Rest,
}

struct Rest {
    lost: oneshot::Receiver<()>,
    // Called by the browser, once.
    _grant: Grant,
}

type Grant = Closure<dyn FnMut(JsValue) -> JsValue>;

impl Claim {
    /// Asks for the lock of a name; `steal` takes it from whoever holds it. `None` where the browser has no locks, or throws
    /// at the question.
    #[must_use]
    pub fn new(name: &str, steal: bool) -> Option<Self> {
        let locks = property(&web_sys::window()?.navigator(), "locks");
        let (grant, granted) = oneshot::channel();
        let grant = RefCell::new(Some(grant));
        // The lock is held for as long as the promise that is given back is open.
        let grant = Grant::new(move |_: JsValue| {
            let release: Rc<RefCell<Option<Function>>> = Rc::default();
            let kept = Rc::clone(&release);
            let held = Promise::new(&mut move |resolve, _| *kept.borrow_mut() = Some(resolve));
            if let (Some(grant), Some(release)) = (grant.borrow_mut().take(), release.borrow_mut().take())
                && let Err(release) = grant.send(release)
            {
                let _ = release.call0(&JsValue::UNDEFINED);
            }
            held.into()
        });
        let abort = Abort::new();
        let options = Object::new();
        // The API takes one or the other.
        let (option, value) = match abort.signal() {
            Some(signal) if !steal => ("signal", signal.into()),
            _ => ("steal", JsValue::from_bool(steal)),
        };
        Reflect::set(&options, &option.into(), &value).ok()?;
        let asked = call(&locks, "request", &[&name.into(), &options, grant.as_ref()]).ok()?;
        let (tell, lost) = oneshot::channel();
        spawn_local(async move {
            // Settled when it is given back, taken away, or was never given.
            let _ = JsFuture::from(Promise::resolve(&asked)).await;
            let _ = tell.send(());
        });
        Some(Self { locks, granted, abort, rest: Some(Rest { lost, _grant: grant }) })
    }

    /// Waits until it is ours; may be dropped and called again. A lock of nothing where the browser refuses it.
    pub async fn granted(&mut self) -> Lock {
        let Some(rest) = &mut self.rest else { return pending().await };
        let release = match select(&mut self.granted, &mut rest.lost).await {
            Either::Left((Ok(release), _)) => release,
            _ => return Lock::none(),
        };
        self.abort.disarm();
        Lock(self.rest.take().map(|rest| Held { release, rest }))
    }

    /// Whether the browser answers questions about its locks at all, within this time: then one that is not granted is
    /// held by somebody else.
    pub async fn is_answered(&self, within_ms: u64) -> bool {
        let asked = pin!(ask(&self.locks, "query", &[]));
        matches!(select(asked, sleep(within_ms)).await, Either::Left((Ok(_), _)))
    }
}

impl Lock {
    /// A lock where there are none: never taken away.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Whether it keeps nobody else out.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Resolves when it was taken away.
    pub async fn lost(&mut self) {
        match &mut self.0 {
            Some(held) => drop((&mut held.rest.lost).await),
            None => pending().await,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.release.call0(&JsValue::UNDEFINED);
    }
}
