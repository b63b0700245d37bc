//! What the shop's page reads: `GET /api/…`, JSON. Knows nothing of the agent.
//!
//! | path | answers |
//! |---|---|
//! | `/api/summary` | the figures of the first screen |
//! | `/api/orders?status=&q=&customer=&page=&size=` | a page of orders, newest first |
//! | `/api/orders/{id}` | one order |
//! | `/api/customers?q=&page=&size=` | a page of customers |
//! | `/api/customers/{id}` | one customer with their orders |
//! | `/api/articles?q=` | help articles, the best first where something is asked |
//! | `/api/articles/{slug}` | one article |
//! | `/api/exports/{file}` | an export, as CSV |
//!
//! A failure is `{ "error": { "code", "message" } }` with 400 `bad_request`, 404 `not_found` or 500 `internal`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gateway::demo::orders::OrderFilter;
use crate::gateway::demo::store::{ErrorKind, ShopError, Store};

const MAX_SIZE: u32 = 100;
const MAX_FOUND: usize = 20;

/// The shop's API over a store.
pub fn router(store: Arc<Store>) -> Router {
    Router::new()
        .route("/api/summary", get(summary))
        .route("/api/orders", get(orders))
        .route("/api/orders/{id}", get(order))
        .route("/api/customers", get(customers))
        .route("/api/customers/{id}", get(customer))
        .route("/api/articles", get(articles))
        .route("/api/articles/{slug}", get(article))
        .route("/api/exports/{file}", get(export))
        // Otherwise a mistyped path would get the page that the gateway answers everything else with.
        .route("/api/{*rest}", any(nothing))
        .with_state(store)
}

type Shop = State<Arc<Store>>;
type Answer = Result<Json<Value>, ShopError>;
type Asked<T> = Result<Query<T>, QueryRejection>;

#[derive(Deserialize)]
struct OrdersQuery {
    status: Option<String>,
    q: Option<String>,
    customer: Option<String>,
    page: Option<u32>,
    size: Option<u32>,
}

#[derive(Deserialize)]
struct ListQuery {
    q: Option<String>,
    page: Option<u32>,
    size: Option<u32>,
}

async fn summary(State(store): Shop) -> Answer {
    store.within(Store::summary).await.map(Json)
}

async fn orders(State(store): Shop, query: Asked<OrdersQuery>) -> Answer {
    let OrdersQuery { status, q, customer, page, size } = asked(query)?;
    let (page, size) = bounds(page, size)?;
    let filter = OrderFilter { status, q, customer };
    json_of(store.within(move |store| store.orders(&filter, page, size)).await?)
}

async fn order(State(store): Shop, Path(id): Path<String>) -> Answer {
    json_of(store.within(move |store| store.order(&id)).await?)
}

async fn customers(State(store): Shop, query: Asked<ListQuery>) -> Answer {
    let ListQuery { q, page, size } = asked(query)?;
    let (page, size) = bounds(page, size)?;
    json_of(store.within(move |store| store.customers(q.as_deref(), page, size)).await?)
}

async fn customer(State(store): Shop, Path(id): Path<String>) -> Answer {
    store.within(move |store| store.customer(&id)).await.map(Json)
}

async fn articles(State(store): Shop, query: Asked<ListQuery>) -> Answer {
    let q = asked(query)?.q;
    let found = store.within(move |store| store.articles(q.as_deref(), MAX_FOUND)).await?;
    let items = found.iter().map(|article| {
        json!({ "slug": article.slug, "title": article.title, "section": article.section, "summary": article.summary })
    });
    Ok(Json(json!({ "items": items.collect::<Vec<_>>() })))
}

async fn article(State(store): Shop, Path(slug): Path<String>) -> Answer {
    let found = store.within(move |store| store.article(&slug)).await?;
    Ok(Json(json!({ "slug": found.slug, "title": found.title, "section": found.section, "body": found.body })))
}

// Saved, not shown: an address of the shop's own origin shows nothing that came from elsewhere.
async fn export(State(store): Shop, Path(file): Path<String>) -> Result<impl IntoResponse, ShopError> {
    let found = store.exports.get(&file);
    let csv = found.ok_or_else(|| ShopError::new(ErrorKind::NotFound, format!("there is no export {file}")))?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"orders.csv\""),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, csv))
}

async fn nothing(Path(rest): Path<String>) -> ShopError {
    ShopError::new(ErrorKind::NotFound, format!("there is nothing at /api/{rest}"))
}

fn asked<T>(query: Asked<T>) -> Result<T, ShopError> {
    query.map(|Query(query)| query).map_err(|error| ShopError::new(ErrorKind::Invalid, error.body_text()))
}

fn bounds(page: Option<u32>, size: Option<u32>) -> Result<(u32, u32), ShopError> {
    let (page, size) = (page.unwrap_or(1), size.unwrap_or(20));
    if page == 0 || size == 0 || size > MAX_SIZE {
        let message = format!("pages are counted from 1 and have 1 to {MAX_SIZE} items");
        return Err(ShopError::new(ErrorKind::Invalid, message));
    }
    Ok((page, size))
}

fn json_of(value: impl Serialize) -> Answer {
    serde_json::to_value(value)
        .map(Json)
        .map_err(|error| ShopError::new(ErrorKind::Broken, format!("an answer is not JSON: {error}")))
}

impl IntoResponse for ShopError {
    fn into_response(self) -> Response {
        let (status, code) = match self.kind {
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            ErrorKind::Invalid => (StatusCode::BAD_REQUEST, "bad_request"),
            ErrorKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            ErrorKind::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        let message = if self.kind == ErrorKind::Broken {
            tracing::error!(error = %self, "the demo shop failed");
            "the shop could not answer; its log says why".to_owned()
        } else {
            self.message
        };
        (status, Json(json!({ "error": { "code": code, "message": message } }))).into_response()
    }
}
