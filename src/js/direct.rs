//! A model that the page asks by itself. `JsValue` to our types and back; knows nothing of how it is asked.

use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::browser::{Direct, on_device};
use crate::js::{Instance, error, from_js};

// What a developer reads, once for each element.
const WARNING: &str = "pagehand: this page asks a model with the user's own key. Every script of this page can read it; \
                       serve models to others through a gateway.";

#[wasm_bindgen]
impl Instance {
    /// Has the page itself ask a model: `{provider, url, model, parameters, key, remember}`; the provider `prompt_api` is
    /// the browser's own. The key stays in memory, unless it is to be remembered in this browser.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_model`.
    #[wasm_bindgen(js_name = useModel)]
    pub fn use_model(&self, options: &JsValue) -> Result<(), JsValue> {
        let fault = |words: &str| error("invalid_model", words);
        let options = from_js(options).map_err(|why| fault(&why))?;
        let text = |name: &str| options.get(name).and_then(Value::as_str);
        if text("provider") == Some("prompt_api") {
            let (answers, info) = on_device().ok_or_else(|| fault("this browser has no model of its own"))?;
            self.app.ask_elsewhere(answers, info);
            return Ok(());
        }
        let direct = Direct::read(&options).map_err(|why| fault(&why.0))?;
        if text("key").is_some() {
            web_sys::console::warn_1(&WARNING.into());
        }
        let remember = options.get("remember").and_then(Value::as_bool).unwrap_or_default();
        self.app.ask_directly(direct, text("key").map(str::to_owned), remember);
        Ok(())
    }

    /// Forgets the key of the model that the page asks, here and in this browser's storage.
    #[wasm_bindgen(js_name = forgetKey)]
    pub fn forget_key(&self) {
        self.app.forget_key();
    }
}
