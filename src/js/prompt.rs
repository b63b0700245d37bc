//! What a page sends: words, files and the form of the answer. Knows nothing of what becomes of it.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{Attachment, OutputFormat, Prompt, Source};
use crate::tools::Schema;

/// Reads `{text, files: [{name, type, data | url}], output: {name, schema}}`.
pub(super) fn read(json: &Value) -> Result<Prompt, String> {
    let text = json.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let files = json.get("files").and_then(Value::as_array).into_iter().flatten();
    let attachments = files.enumerate().map(|(at, file)| attachment(file).ok_or(at)).collect::<Result<Vec<_>, usize>>();
    let attachments = attachments.map_err(|at| {
        format!(
            "files[{at}] must be {{ name, type, data }} with base64, or {{ name, type, url }} with an address of http"
        )
    })?;
    let output = json.get("output").filter(|output| !output.is_null()).map(output).transpose()?;
    Ok(Prompt { text, attachments, output, ..Prompt::default() })
}

fn attachment(file: &Value) -> Option<Attachment> {
    let text = |name: &str| file.get(name).and_then(Value::as_str);
    let source = match (text("url"), text("data")) {
        (Some(url), _) if url.starts_with("https://") || url.starts_with("http://") => Source::Url(url.to_owned()),
        (Some(_), _) => return None,
        (None, data) => Source::Data(data.filter(|data| is_base64(data))?.into()),
    };
    let (name, media_type) = (text("name").unwrap_or_default().to_owned(), text("type")?.to_owned());
    Some(Attachment { name, media_type, source })
}

// RFC 4648 §4, with its padding.
fn is_base64(text: &str) -> bool {
    let letters = text.trim_end_matches('=');
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - letters.len() < 3 && letters.bytes().all(letter)
}

fn output(output: &Value) -> Result<Arc<OutputFormat>, String> {
    let name = output.get("name").and_then(Value::as_str).unwrap_or("answer");
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(letter) {
        return Err("output.name must be letters, digits, _ and -, at most 64".to_owned());
    }
    let schema = output.get("schema").filter(|schema| schema.is_object());
    let schema = schema.ok_or("output.schema must be a JSON Schema")?;
    if let Err(problems) = Schema::compile(schema) {
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(format!("output.schema: {}", words.join("; ")));
    }
    Ok(Arc::new(OutputFormat { name: name.to_owned(), schema: schema.clone() }))
}
