//! Arguments as a model wrote them, and results as a tool gave them, held against their schemas.
//!
//! Knows nothing of a call's life.

use serde_json::{Value, json};

use crate::protocol::{ToolError, parse_json};
use crate::tools::{Registry, Resolved, error};

// An empty text means no arguments: many servers send nothing at all for a tool without any.
pub(super) fn read_arguments(tools: &Resolved, name: &str, text: &str) -> Result<Value, ToolError> {
    let trimmed = text.trim();
    let mut value = match trimmed {
        "" | "null" => json!({}),
        text => parse_json(text).map_err(|why| error::invalid_json(name, &why.to_string()))?,
    };
    // Some servers encode the arguments twice.
    if let Value::String(inner) = &value
        && inner.trim_start().starts_with('{')
    {
        value = parse_json(inner).map_err(|why| error::invalid_json(name, &why.to_string()))?;
    }
    if !value.is_object() {
        return Err(error::invalid_json(name, "they are JSON, but not an object"));
    }
    if let Some(schema) = tools.schema(name) {
        schema.drop_absent(&mut value);
        schema.check(&value).map_err(|violations| error::invalid_arguments(name, &violations))?;
    }
    Ok(value)
}

/// Whether a result is what the tool's definition promises.
pub(in crate::agent) fn check_result(registry: &Registry, name: &str, result: &Value) -> Result<(), ToolError> {
    let violations = registry.output(name).and_then(|output| output.check(result).err());
    violations.map_or(Ok(()), |violations| Err(error::invalid_result(name, &violations)))
}
