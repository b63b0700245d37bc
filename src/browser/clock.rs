//! Time and chance, as the browser has them. Knows nothing of what they are for.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::future::{LocalBoxFuture, poll_fn};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::protocol::{IdMint, Millis, ThreadId};

/// Milliseconds since the Unix epoch.
#[must_use]
pub fn now() -> Millis {
    js_sys::Date::now() as Millis
}

/// 64 random bits for the mint of identifiers.
#[must_use]
pub fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    let crypto = web_sys::window().and_then(|window| window.crypto().ok());
    if let Some(crypto) = crypto
        && crypto.get_random_values_with_u8_array(&mut bytes).is_ok()
    {
        return u64::from_le_bytes(bytes);
    }
    (js_sys::Math::random() * 9e15) as u64 ^ now().rotate_left(32)
}

/// The id of a thread that nobody has begun.
#[must_use]
pub fn fresh_thread() -> ThreadId {
    ThreadId(fresh_id())
}

/// An id that nobody else has.
#[must_use]
pub fn fresh_id() -> String {
    IdMint::new(random_seed()).mint()
}

/// Resolves after so many milliseconds. Dropping it clears the timer.
pub fn sleep(ms: u64) -> LocalBoxFuture<'static, ()> {
    let timer = Timer::start(ms);
    Box::pin(poll_fn(move |context| {
        let mut state = timer.state.borrow_mut();
        if state.rung {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }))
}

struct Timer {
    state: Rc<RefCell<State>>,
    id: i32,
    _ring: Closure<dyn FnMut()>,
}

#[derive(Default)]
struct State {
    rung: bool,
    waker: Option<Waker>,
}

impl Timer {
    fn start(ms: u64) -> Self {
        let state = Rc::new(RefCell::new(State::default()));
        let ringing = Rc::clone(&state);
        let ring = Closure::new(move || {
            let waker = {
                let mut state = ringing.borrow_mut();
                state.rung = true;
                state.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        // `setTimeout` takes 31 bits; a longer wait rings early, which its users allow for.
        let ms = i32::try_from(ms).unwrap_or(i32::MAX);
        let id = web_sys::window()
            .and_then(|window| {
                window.set_timeout_with_callback_and_timeout_and_arguments_0(ring.as_ref().unchecked_ref(), ms).ok()
            })
            .unwrap_or_default();
        Self { state, id, _ring: ring }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(window) = web_sys::window() {
            window.clear_timeout_with_handle(self.id);
        }
    }
}
