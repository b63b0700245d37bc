//! JavaScript's values as JSON, and back, each by its own shape.
//!
//! `JSON.parse` and `JSON.stringify` are the page's, and a page may have changed them: an old library gives every array a
//! `toJSON` that makes a text of it, another has `JSON.parse` turn some texts into dates. So values are read and made one by
//! one here. What comes out is what an unchanged `JSON.stringify` says
//! (<https://tc39.es/ecma262/#sec-json.stringify>): a `toJSON` of a value's own class is asked, functions, symbols and
//! `undefined` are left out of objects and null in arrays, and what is no finite number is null.

use js_sys::{Array, Boolean, Date, Function, JsString, Number, Object, Reflect};
use serde_json::{Map, Value};
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::interface::{call, property};
use crate::browser::tools::thrown_words;
use crate::protocol::{JsonFault, MAX_DEPTH};

/// Why a value of JavaScript is not taken.
pub(crate) enum NotJson {
    /// Its JSON would be longer than was allowed.
    TooLong,
    /// Something else; the words are the rest of a sentence.
    Words(String),
}

/// The value as JSON, of so many characters at most; `undefined` is null.
pub(crate) fn to_json(value: &JsValue, most: usize) -> Result<Value, NotJson> {
    if value.is_undefined() {
        return Ok(Value::Null);
    }
    let of_all = [property(&Object::new(), "toJSON"), property(&Array::new(), "toJSON")];
    let mut reader = Reader { left: most, of_all };
    reader.read(value, "", 0)?.ok_or_else(|| NotJson::Words("it is not JSON".to_owned()))
}

/// JSON as JavaScript has it. Every key is a plain property of its object, `__proto__`, too.
pub(crate) fn to_js(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Bool(value) => JsValue::from_bool(*value),
        Value::Number(number) => JsValue::from_f64(number.as_f64().unwrap_or_default()),
        Value::String(text) => JsValue::from_str(text),
        Value::Array(items) => items.iter().map(to_js).collect::<Array>().into(),
        Value::Object(fields) => {
            let entries: Array = fields.iter().map(|(key, value)| Array::of2(&key.into(), &to_js(value))).collect();
            Object::from_entries(&entries).map_or(JsValue::NULL, JsValue::from)
        }
    }
}

struct Reader {
    // How many characters may still come.
    left: usize,
    // The `toJSON` of every object and of every array, where somebody has given them one.
    of_all: [JsValue; 2],
}

impl Reader {
    /// `None` where there is no JSON of it.
    fn read(&mut self, value: &JsValue, key: &str, depth: usize) -> Result<Option<Value>, NotJson> {
        let thrown = |thrown: JsValue| NotJson::Words(thrown_words(&thrown));
        if value.is_null() {
            self.take(4)?;
            return Ok(Some(Value::Null));
        }
        if let Some(flag) = value.as_bool() {
            self.take(4)?;
            return Ok(Some(Value::Bool(flag)));
        }
        if let Some(number) = value.as_f64() {
            self.take(1)?;
            return Ok(Some(number_of(number)));
        }
        if let Some(text) = value.dyn_ref::<JsString>() {
            self.take(text.length() as usize + 2)?;
            return Ok(Some(Value::String(text.into())));
        }
        if !value.is_object() && !value.is_bigint() {
            return Ok(None);
        }
        if depth >= MAX_DEPTH {
            return Err(NotJson::Words(JsonFault::TooDeep.to_string()));
        }
        if let Some(said) = self.said_of(value, key).map_err(thrown)? {
            // What it says of itself is not asked once more.
            return self.inside(&said, depth);
        }
        self.inside(value, depth)
    }

    fn inside(&mut self, value: &JsValue, depth: usize) -> Result<Option<Value>, NotJson> {
        let thrown = |thrown: JsValue| NotJson::Words(thrown_words(&thrown));
        if value.is_bigint() {
            return Err(NotJson::Words("a BigInt has no JSON".to_owned()));
        }
        if !value.is_object() {
            return self.read(value, "", depth);
        }
        if value.is_instance_of::<Number>() || value.is_instance_of::<Boolean>() || value.is_instance_of::<JsString>() {
            return self.read(&value.unchecked_ref::<Object>().value_of(), "", depth);
        }
        if Array::is_array(value) {
            self.take(2)?;
            let items = value.unchecked_ref::<Array>();
            let mut read = Vec::new();
            for at in 0..items.length() {
                let item = Reflect::get_u32(value, at).map_err(thrown)?;
                let item = self.read(&item, &at.to_string(), depth + 1)?;
                self.take(1)?;
                read.push(item.unwrap_or_default());
            }
            return Ok(Some(Value::Array(read)));
        }
        self.take(2)?;
        let mut fields = Map::new();
        let class = property(&js_sys::global(), "Object");
        let names = call(&class, "keys", &[value]).map_err(thrown)?;
        for name in Array::from(&names).iter().filter_map(|name| name.as_string()) {
            let field = Reflect::get(value, &name.as_str().into()).map_err(thrown)?;
            if let Some(field) = self.read(&field, &name, depth + 1)? {
                self.take(name.len() + 4)?;
                fields.insert(name, field);
            }
        }
        Ok(Some(Value::Object(fields)))
    }

    // What the value's own class says is its JSON.
    fn said_of(&self, value: &JsValue, key: &str) -> Result<Option<JsValue>, JsValue> {
        // What is no object has a class all the same.
        let holder = if value.is_object() { value.clone() } else { Object::get_prototype_of(value).into() };
        let found = Reflect::get(&holder, &"toJSON".into())?;
        let Some(ask) = found.dyn_ref::<Function>().filter(|_| !self.of_all.contains(&found)) else { return Ok(None) };
        if let Some(date) = value.dyn_ref::<Date>() {
            // As the language has it, and nobody else: of a time that is none there is null.
            let text = if date.get_time().is_nan() { JsValue::NULL } else { date.to_iso_string().into() };
            return Ok(Some(text));
        }
        ask.call1(value, &key.into()).map(Some)
    }

    fn take(&mut self, characters: usize) -> Result<(), NotJson> {
        self.left = self.left.checked_sub(characters).ok_or(NotJson::TooLong)?;
        Ok(())
    }
}

// A whole number is written without a fraction.
fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < i64::MAX as f64 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}
