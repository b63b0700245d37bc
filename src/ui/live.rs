//! A value that views follow. Knows nothing of what it is.
//!
//! Leptos compiles a signal anew for each type it holds. Here the value stands beside one counter, and the counter is
//! what is followed: one type of signal serves the whole panel, which makes its code a good deal smaller.

use std::sync::{Arc, Mutex, PoisonError};

use leptos::prelude::*;

/// A value that views follow.
#[derive(Debug)]
pub struct Live<T> {
    value: Arc<Mutex<T>>,
    // Goes with its last holder: a signal of an owner's would stay for as long as the panel does.
    changes: ArcRwSignal<u32>,
}

impl<T> Live<T> {
    /// A value, kept and followed as long as anybody holds it.
    pub fn new(value: T) -> Self {
        Self { value: Arc::new(Mutex::new(value)), changes: ArcRwSignal::new(0) }
    }

    /// Looks at it, and follows it.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        self.follow();
        self.peek(look)
    }

    /// Looks at it without following it.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes it and tells those who follow it.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = self.update_silently(change);
        notify(&self.changes);
        result
    }

    /// Changes it and tells nobody.
    pub fn update_silently<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces it.
    pub fn set(&self, value: T) {
        self.update(|old| *old = value);
    }

    /// Follows it.
    pub fn follow(&self) {
        follow(&self.changes);
    }
}

impl<T: Clone> Live<T> {
    /// A copy, followed.
    pub fn get(&self) -> T {
        self.with(T::clone)
    }

    /// A copy, not followed.
    pub fn now(&self) -> T {
        self.peek(T::clone)
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), changes: self.changes.clone() }
    }
}

// Views may be gone while a run still tells of itself; then there is nobody to tell.
fn notify(changes: &ArcRwSignal<u32>) {
    changes.try_update(|changes| *changes = changes.wrapping_add(1));
}

fn follow(changes: &ArcRwSignal<u32>) {
    let _ = changes.try_get();
}
