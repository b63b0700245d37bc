//! Work to be done once before the next paint. Knows nothing of what it is.

use std::cell::RefCell;

use leptos::prelude::request_animation_frame;

thread_local! {
    static WORK: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Does this in the next frame, together with whatever else waits for it.
pub(super) fn next(work: impl FnOnce() + 'static) {
    let first = WORK.with_borrow_mut(|waiting| {
        waiting.push(Box::new(work));
        waiting.len() == 1
    });
    if first {
        request_animation_frame(|| {
            for work in WORK.take() {
                work();
            }
        });
    }
}
