//! The threads of an element, as a page reaches them. Knows nothing of how they are kept.

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use crate::js::{Instance, error, from_js_within, promise, to_js};
use crate::protocol::{ThreadId, object};

// A file has a bound of its own: a thread may hold artifacts that each are nearly as long as a result may be.
const MAX_FILE: usize = 128 << 20;

#[wasm_bindgen]
impl Instance {
    /// Begins an empty thread.
    #[wasm_bindgen(js_name = newThread)]
    pub fn new_thread(&self) {
        self.app.new_thread();
    }

    /// Opens another thread.
    #[wasm_bindgen(js_name = openThread)]
    pub fn open_thread(&self, id: String) {
        self.app.open_thread(ThreadId(id));
    }

    /// The threads of whoever is signed in, the latest first: `[{id, title, at}]`.
    pub fn threads(&self) -> Promise {
        let app = self.app.clone();
        promise(Box::pin(async move {
            let threads = app.threads().await;
            let list = threads.iter().map(|thread| {
                object(vec![
                    ("id", thread.id.as_str().into()),
                    ("title", thread.title.as_str().into()),
                    ("at", thread.at.into()),
                ])
            });
            Ok(to_js(&list.collect()))
        }))
    }

    /// Forgets a thread for good.
    #[wasm_bindgen(js_name = deleteThread)]
    pub fn delete_thread(&self, id: String) -> Promise {
        let app = self.app.clone();
        promise(Box::pin(async move {
            app.delete_thread(ThreadId(id)).await.map_err(|why| error("not_saved", &why))?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// The thread that is up as a file.
    #[wasm_bindgen(js_name = exportThread)]
    pub fn export_thread(&self) -> Promise {
        let app = self.app.clone();
        promise(Box::pin(async move {
            let file = app.export().await;
            file.as_ref().map(to_js).ok_or_else(|| {
                error(
                    "not_saved",
                    "this thread is not in the browser's database: nothing was said in it, or it can not be kept",
                )
            })
        }))
    }

    /// Keeps the thread of a file and opens it; its id comes back.
    #[wasm_bindgen(js_name = importThread)]
    pub fn import_thread(&self, file: &JsValue) -> Promise {
        let (app, file) = (self.app.clone(), from_js_within(file, MAX_FILE));
        promise(Box::pin(async move {
            let file = file.map_err(|why| error("invalid_thread", &why))?;
            let id = app.import(&file).await.map_err(|why| error(why.code(), why.words()))?;
            Ok(JsValue::from_str(id.as_str()))
        }))
    }

    /// Has this page run the thread, whichever runs it now.
    #[wasm_bindgen(js_name = takeOver)]
    pub fn take_over(&self) {
        self.app.take_over();
    }
}
