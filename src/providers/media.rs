//! Files for a model: what a vendor takes of them, and what is text for all. Knows nothing of how a vendor writes one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::{Attachment, ModelError, ModelErrorKind, Source, UserMessage};

/// What a vendor takes beside words.
#[derive(Clone, Copy, Debug)]
pub struct Media {
    /// Media types, `image/*` for all of a kind.
    pub types: &'static [&'static str],
    /// Those of which it fetches a file from an address; `*` for all.
    pub urls: &'static [&'static str],
    /// The most bytes of one file.
    pub max_bytes: usize,
}

/// A piece of what the user said.
pub(super) enum Piece<'a> {
    /// Words.
    Text(std::borrow::Cow<'a, str>),
    /// A file that the vendor takes.
    File(&'a Attachment),
}

impl Media {
    /// No files at all, but those that are text.
    pub const NONE: Self = Self { types: &[], urls: &[], max_bytes: 0 };
}

fn is_one_of(media_type: &str, patterns: &[&str]) -> bool {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(kind) => media_type.starts_with(kind),
        None => *pattern == media_type,
    };
    patterns.iter().any(fits)
}

/// What the user said, in pieces, the words first. Files that are text are words, with their name.
///
/// # Errors
/// A file that this vendor does not take, by name.
pub(super) fn pieces<'a>(said: &'a UserMessage, media: &Media, vendor: &str) -> Result<Vec<Piece<'a>>, ModelError> {
    let mut pieces = Vec::new();
    if !said.content.is_empty() || said.attachments.is_empty() {
        pieces.push(Piece::Text(said.content.as_str().into()));
    }
    for file in &said.attachments {
        pieces.push(piece(file, media, vendor)?);
    }
    Ok(pieces)
}

fn piece<'a>(file: &'a Attachment, media: &Media, vendor: &str) -> Result<Piece<'a>, ModelError> {
    let refuse = |words: String| Err(ModelError::new(ModelErrorKind::BadRequest, words));
    let name = if file.name.is_empty() { "The file" } else { file.name.as_str() };
    if let (Source::Data(data), true) = (&file.source, is_text(&file.media_type)) {
        let bytes = STANDARD.decode(data.as_bytes());
        return match bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Ok(Piece::Text(format!("[{name}, {}]\n{text}", file.media_type).into())),
            None => refuse(format!("{name} says that it is {}, but it is no UTF-8 text in base64.", file.media_type)),
        };
    }
    if !is_one_of(&file.media_type, media.types) {
        let takes = if media.types.is_empty() { "text alone".to_owned() } else { media.types.join(", ") };
        return refuse(format!("{name} is {}, which {vendor} does not take; it takes {takes}.", file.media_type));
    }
    if matches!(file.source, Source::Url(_)) && !is_one_of(&file.media_type, media.urls) {
        return refuse(format!(
            "{name} stands at an address, from which {vendor} fetches no such file; attach the file itself."
        ));
    }
    if let Some(size) = file.size().filter(|size| *size > media.max_bytes) {
        let mib = |bytes: usize| bytes.div_ceil(1024 * 1024);
        return refuse(format!("{name} has {} MiB; {vendor} takes {} at most.", mib(size), mib(media.max_bytes)));
    }
    Ok(Piece::File(file))
}

fn is_text(media_type: &str) -> bool {
    let plain = media_type.split(';').next().unwrap_or_default().trim();
    plain.starts_with("text/") || matches!(plain, "application/json" | "application/xml" | "application/yaml")
}

/// A file as a `data:` address.
pub(super) fn address(file: &Attachment) -> String {
    match &file.source {
        Source::Data(data) => format!("data:{};base64,{data}", file.media_type),
        Source::Url(url) => url.clone(),
    }
}
