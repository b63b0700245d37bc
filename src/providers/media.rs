//! Files for a model: what a vendor takes of them, and what is text for all. Knows nothing of how a vendor writes one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::{Attachment, ModelError, ModelErrorKind, Source};
use crate::providers::history::Said;

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

/// What the user said, in pieces, the words first. Files that are text are words, with their name. Of those in
/// earlier messages, which another model may have taken, the name is left where this one does not.
///
/// # Errors
/// A file that this vendor does not take, by name.
pub(super) fn pieces<'a>(said: Said<'a>, media: &Media, vendor: &str) -> Result<Vec<Piece<'a>>, ModelError> {
    let message = said.message;
    let mut pieces = Vec::new();
    if !message.content.is_empty() || message.attachments.is_empty() {
        pieces.push(Piece::Text(message.content.as_str().into()));
    }
    for file in &message.attachments {
        pieces.push(match piece(file, media, vendor) {
            Err(_) if said.earlier => {
                let words = format!("[{}, {}: a file that this model can not read]", file.name, file.media_type);
                Piece::Text(words.into())
            }
            piece => piece?,
        });
    }
    Ok(pieces)
}

fn piece<'a>(file: &'a Attachment, media: &Media, vendor: &str) -> Result<Piece<'a>, ModelError> {
    let refuse = |words: String| Err(ModelError::new(ModelErrorKind::BadRequest, words));
    let name = if file.name.is_empty() { "The file" } else { file.name.as_str() };
    if let (Source::Data(data), true) = (&file.source, file.is_text()) {
        return match STANDARD.decode(data.as_bytes()) {
            // Of another alphabet, most letters can be read all the same.
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(Piece::Text(format!("[{name}, {}]\n{text}", file.media_type).into()))
            }
            Err(_) => refuse(format!("{name} is not in base64.")),
        };
    }
    if !file.is_one_of(media.types) {
        let takes = if media.types.is_empty() { "text alone".to_owned() } else { media.types.join(", ") };
        return refuse(format!("{name} is {}, which {vendor} does not take; it takes {takes}.", file.media_type));
    }
    if matches!(file.source, Source::Url(_)) && !is_one_of(&file.media_type, media.urls) {
        return refuse(format!(
            "{name} stands at an address, from which {vendor} fetches no such file; attach the file itself."
        ));
    }
    if matches!(&file.source, Source::Url(url) if !url.starts_with("https://") && !url.starts_with("http://")) {
        return refuse(format!("{name} stands at an address that does not begin with https://."));
    }
    if let Some(size) = file.size().filter(|size| *size > media.max_bytes) {
        let mib = |bytes: usize| bytes.div_ceil(1024 * 1024);
        return refuse(format!("{name} has {} MiB; {vendor} takes {} at most.", mib(size), mib(media.max_bytes)));
    }
    Ok(Piece::File(file))
}

/// A file as a `data:` address.
pub(super) fn address(file: &Attachment) -> String {
    match &file.source {
        Source::Data(data) => format!("data:{};base64,{data}", file.media_type),
        Source::Url(url) => url.clone(),
    }
}
