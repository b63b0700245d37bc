//! The files of a page, and the headers that keep it safe. Knows nothing of what is in them.

use std::path::Path;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;

// No inline script or style, nothing from elsewhere, and no HTML from strings.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; \
     require-trusted-types-for 'script'";

/// Serves a directory; every address without a file is the page's own to make sense of.
pub(super) fn site(directory: &Path) -> Router {
    let files = ServeDir::new(directory)
        .precompressed_br()
        .fallback(ServeFile::new(directory.join("index.html")).precompressed_br());
    let set = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    // A file that is missing below /www is missing: answering with the page would hide it.
    let assets = ServeDir::new(directory.join("www")).precompressed_br();
    Router::new()
        .nest_service("/www", assets)
        .fallback_service(files)
        .layer(set(header::CONTENT_SECURITY_POLICY, POLICY))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(header::REFERRER_POLICY, "same-origin"))
        .layer(set(header::CACHE_CONTROL, "no-cache"))
}
