//! Everything that needs no browser.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a test that can not go on should stop where it stands")]

mod ag_ui;
mod approval;
mod architecture;
mod bfcl;
mod contract;
mod definitions;
mod demo_model;
#[cfg(feature = "gateway")]
mod demo_shop;
#[cfg(feature = "gateway")]
mod gateway_call;
#[cfg(feature = "gateway")]
mod gateway_catalog;
#[cfg(feature = "gateway")]
mod gateway_http;
#[cfg(feature = "gateway")]
mod gateway_jobs;
#[cfg(feature = "gateway")]
mod gateway_model;
#[cfg(feature = "gateway")]
mod gateway_models;
#[cfg(feature = "gateway")]
mod gateway_openapi;
#[cfg(feature = "gateway")]
mod gateway_replay;
#[cfg(feature = "gateway")]
mod gateway_support;
mod halves;
mod history;
mod journal;
mod limits;
mod markdown;
mod markdown_meaning;
mod named;
mod output;
mod portability;
mod properties;
mod providers;
mod registry;
mod resume;
mod runs;
mod schema;
mod schema_suite;
mod session;
mod sse;
mod support;
#[cfg(feature = "typed")]
mod typed;
mod waits;
