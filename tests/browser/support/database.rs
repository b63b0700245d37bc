//! The browser's database with something wrong in it, or somebody else at it.

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/browser/support/fake.js")]
extern "C" {
    type FaultyDatabase;
    #[wasm_bindgen(constructor)]
    fn new(what: &str, times: u32) -> FaultyDatabase;
    #[wasm_bindgen(method)]
    fn remove(this: &FaultyDatabase);

    #[wasm_bindgen(js_name = openLayout)]
    fn open_layout_in_js(name: &str, version: u32, stores: &str) -> Promise;
    #[wasm_bindgen(js_name = clearDatabase)]
    fn clear_in_js(name: &str) -> Promise;
    #[wasm_bindgen(js_name = writeByHand)]
    fn write_in_js(name: &str, count: u32, length: u32, durability: &str) -> Promise;
    fn touch(name: &str, store: &str, what: &str, key: &str, value: &str) -> Promise;
}

/// Something is wrong with the browser's database, until this is dropped.
pub(crate) struct Fault(FaultyDatabase);

impl Fault {
    /// There is none.
    pub(crate) fn none() -> Self {
        Self(FaultyDatabase::new("none", 0))
    }

    /// The page may not use it.
    pub(crate) fn denied() -> Self {
        Self(FaultyDatabase::new("denied", 0))
    }

    /// It is full, so many times.
    pub(crate) fn full(times: u32) -> Self {
        Self(FaultyDatabase::new("full", times))
    }

    /// Its connection is dead, so many times.
    pub(crate) fn dead(times: u32) -> Self {
        Self(FaultyDatabase::new("dead", times))
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// Opens a database in a version with these stores, as a page of another version would.
pub(crate) async fn open_layout(name: &str, version: u32, stores: &str) -> Result<(), JsValue> {
    JsFuture::from(open_layout_in_js(name, version, stores)).await.map(drop)
}

pub(crate) async fn put(name: &str, store: &str, key: &str, value: &str) {
    JsFuture::from(touch(name, store, "put", key, value)).await.unwrap();
}

pub(crate) async fn delete(name: &str, store: &str, key: &str) {
    JsFuture::from(touch(name, store, "delete", key, "")).await.unwrap();
}

pub(crate) async fn get(name: &str, store: &str, key: &str) -> Option<String> {
    JsFuture::from(touch(name, store, "get", key, "")).await.unwrap().as_string()
}

/// How many milliseconds it takes to write so many texts of a length, a transaction each.
pub(crate) async fn write_by_hand(name: &str, count: u32, length: u32, durability: &str) -> f64 {
    JsFuture::from(write_in_js(name, count, length, durability)).await.unwrap().as_f64().unwrap()
}

/// Deletes a whole database, as a user does who clears what a site has kept.
pub(crate) async fn clear(name: &str) {
    JsFuture::from(clear_in_js(name)).await.unwrap();
}
