//! A tool whose arguments and result are Rust types: schema and check come from the same type. Knows nothing of
//! registries.
//!
//! ```
//! use pagehand::tools::typed::{schema_of, typed, schemars::{self, JsonSchema}};
//! use serde::Deserialize;
//!
//! /// Where and how far.
//! #[derive(Deserialize, JsonSchema)]
//! struct Forecast {
//!     /// The city's English name.
//!     city: String,
//!     /// Days from today; one where absent.
//!     days: Option<u8>,
//! }
//!
//! let parameters = schema_of::<Forecast>();
//! assert_eq!(parameters["properties"]["city"]["description"], "The city's English name.");
//! assert_eq!(parameters["required"], serde_json::json!(["city"]));
//!
//! let run = typed("weather_read", async |forecast: Forecast, _context: ()| Ok(forecast.days.unwrap_or(1)));
//! # let _ = run;
//! ```

use std::future::{Ready, ready};

use futures::FutureExt;
use futures::future::{Either, Map};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::protocol::{Outcome, ToolError};
use crate::tools::{Schema, Violation, error};

pub use schemars;

/// The future of one call: at once where the arguments do not fit, else when the tool has run.
pub type Answer<Fut, R> = Either<Ready<Outcome>, Map<Fut, Finish<R>>>;

/// Makes an outcome of what a tool returned.
type Finish<R> = Box<dyn FnOnce(Result<R, ToolError>) -> Outcome + Send>;

/// The JSON Schema (2020-12) of a type, as a definition's `parameters` want it: fields' docs are descriptions, types
/// within types stand under `$defs`.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    if let Some(map) = schema.as_object_mut() {
        // Said by the engine and by the definition; to a model both are noise.
        map.remove("$schema");
        map.remove("title");
        // A type without fields says nothing of them, and some providers want to hear that.
        if map.get("type").is_some_and(|kind| kind == "object") {
            map.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
        }
    }
    schema
}

/// A tool's code, from JSON to JSON: reads the arguments, runs `run`, writes the result.
///
/// A null where a property may be left out is read as left out, and 3.0 as 3 where the type wants an integer. What does
/// not fit is `invalid_arguments` and nothing is run; a result that has no JSON is `unserializable_result`.
pub fn typed<A, R, C, Fut>(name: impl Into<String>, run: impl Fn(A, C) -> Fut) -> impl Fn(Value, C) -> Answer<Fut, R>
where
    A: DeserializeOwned + JsonSchema,
    R: Serialize + 'static,
    Fut: Future<Output = Result<R, ToolError>>,
{
    let name = name.into();
    // Bounds are checked by the registry's schema; this one only says what to read leniently.
    let schema = Schema::compile(&schema_of::<A>()).unwrap_or_default();
    move |mut arguments, context| {
        schema.drop_absent(&mut arguments);
        schema.make_whole(&mut arguments);
        match read(arguments) {
            Ok(arguments) => {
                let name = name.clone();
                let finish: Finish<R> = Box::new(move |result| outcome(&name, result));
                Either::Right(run(arguments, context).map(finish))
            }
            Err(violation) => Either::Left(ready(Outcome::Error(error::invalid_arguments(&name, &[violation])))),
        }
    }
}

fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, Violation> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        // The root is a point.
        let path = if path == "." { String::new() } else { path };
        Violation { path, expected: format!("can not be read: {}", error.inner()) }
    })
}

fn outcome<R: Serialize>(name: &str, result: Result<R, ToolError>) -> Outcome {
    match result.map(|result| serde_json::to_value(result)) {
        Ok(Ok(result)) => Outcome::Result(result),
        Ok(Err(why)) => {
            let words = format!("\"{name}\" ran, but its result can not be sent: {why}. Do not repeat the call.");
            Outcome::Error(ToolError::new("unserializable_result", words))
        }
        Err(error) => Outcome::Error(error),
    }
}
