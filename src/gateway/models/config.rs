//! A model of a server elsewhere, as it is configured. Knows nothing of what is asked of it.

use std::fmt;

use serde_json::{Map, Value};

use crate::protocol::Usage;
use crate::providers::error::redact;
use crate::providers::{Target, Vendor};

/// A model of a server elsewhere.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// What a page asks for it by.
    pub name: String,
    /// What the panel calls it.
    pub label: String,
    /// Where it is, and how it is spoken to.
    pub target: Target,
    /// Its key.
    pub key: Option<Secret>,
    /// What it costs, where that is known.
    pub prices: Option<Prices>,
    /// Which others are asked, in this order, where it can not be reached.
    pub fallback: Vec<String>,
}

/// What tokens cost, in millionths of a currency unit per million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Of those read.
    pub input: u64,
    /// Of those written.
    pub output: u64,
    /// Of those read from the provider's cache; as the others where `None`.
    pub cached: Option<u64>,
}

impl Prices {
    /// What this much costs, in millionths of a currency unit, rounded up.
    #[must_use]
    pub fn of(&self, usage: Usage) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let cost = cost(usage.input_tokens - cached, self.input)
            + cost(cached, self.cached.unwrap_or(self.input))
            + cost(usage.output_tokens, self.output);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// A text that is never printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without the secret, should it be in there ([`redact`]).
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        redact(&self.0, text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// The one model that the environment names; `None` where it names none.
pub(in crate::gateway) fn from_variables(
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<Upstream>, String> {
    let key = variable("PAGEHAND_MODEL_KEY").map(Secret::new);
    let vendor = match variable("PAGEHAND_PROVIDER") {
        None => None,
        Some(name) => Some(vendor(&name).map_err(|why| format!("PAGEHAND_PROVIDER: {why}"))?),
    };
    let url = variable("PAGEHAND_MODEL_URL");
    let Some(model) = variable("PAGEHAND_MODEL") else {
        let said = ["PAGEHAND_MODEL_URL", "PAGEHAND_PROVIDER", "PAGEHAND_MODEL_KEY", "PAGEHAND_PRICE_INPUT"];
        return match said.into_iter().find(|name| variable(name).is_some()) {
            Some(name) => Err(format!("{name} is set, but PAGEHAND_MODEL (the model's name there) is not")),
            None => Ok(None),
        };
    };
    if url.is_none() && vendor.is_none_or(|vendor| vendor.url.is_none()) {
        return Err(
            "PAGEHAND_MODEL is set, but PAGEHAND_MODEL_URL (its server) is not, nor PAGEHAND_PROVIDER with a usual \
                    address"
                .to_owned(),
        );
    }
    let target = target(vendor, url.as_deref(), &model, Map::new(), key.as_ref())
        .map_err(|why| format!("PAGEHAND_MODEL_URL {why}"))?;
    let prices = prices(variable)?;
    Ok(Some(Upstream { name: model.clone(), label: model, target, key, prices, fallback: Vec::new() }))
}

/// The vendor of a name.
pub(super) fn vendor(name: &str) -> Result<&'static Vendor, String> {
    Vendor::find(name).ok_or_else(|| {
        let known = Vendor::all().iter().map(|vendor| vendor.name).collect::<Vec<_>>().join(", ");
        format!("\"{name}\" is not known; there are: {known}")
    })
}

/// Where a model is: by its vendor's usual address, or whose server stands at the address that is named.
pub(super) fn target(
    vendor: Option<&'static Vendor>,
    url: Option<&str>,
    model: &str,
    parameters: Map<String, Value>,
    key: Option<&Secret>,
) -> Result<Target, String> {
    let url = url.unwrap_or_default();
    check_url(url)?;
    if let Some(key) = key {
        check_key(key)?;
    }
    let vendor = vendor.unwrap_or_else(|| Vendor::at(url)).of_address(url);
    Ok(Target::new(vendor, url, model, parameters, key.map(Secret::expose)))
}

fn check_url(url: &str) -> Result<(), String> {
    if url.is_empty() {
        return Ok(());
    }
    let place = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let place = place.ok_or("must begin with http:// or https://")?;
    if place.starts_with('/') || url.parse::<axum::http::Uri>().is_err() {
        return Err("is no address".to_owned());
    }
    if place.contains(['?', '#']) {
        return Err("must not have a query; the endpoint's path is put behind it".to_owned());
    }
    Ok(())
}

fn check_key(key: &Secret) -> Result<(), String> {
    let is_sendable = !key.0.is_empty() && key.0.bytes().all(|byte| byte.is_ascii_graphic());
    if is_sendable {
        Ok(())
    } else {
        Err("can not be used: its key is empty, or no single word of plain letters".to_owned())
    }
}

fn prices(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Prices>, String> {
    let price = |name: &str| match variable(name) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
            format!("{name}: \"{text}\" is not a whole number of millionths per million tokens (2.50 is 2500000)")
        }),
    };
    let cached = price("PAGEHAND_PRICE_CACHED")?;
    match (price("PAGEHAND_PRICE_INPUT")?, price("PAGEHAND_PRICE_OUTPUT")?) {
        (Some(input), Some(output)) => Ok(Some(Prices { input, output, cached })),
        (None, None) => Ok(None),
        (Some(_), None) => Err("PAGEHAND_PRICE_INPUT is set, but PAGEHAND_PRICE_OUTPUT is not".to_owned()),
        (None, Some(_)) => Err("PAGEHAND_PRICE_OUTPUT is set, but PAGEHAND_PRICE_INPUT is not".to_owned()),
    }
}
