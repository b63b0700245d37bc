//! `open_link`: another site, in a new tab, after the user agreed to the very address.

use serde_json::{Value, json};

use crate::browser::tools::{definition as shared, failed, text};
use crate::browser::url::{Address, Kind};
use crate::protocol::{Outcome, ToolError};
use crate::tools::{Approval, Definition};

pub(super) fn definition() -> Definition {
    let description = "Opens a web address in a new tab of the user's browser, or a mailto: or tel: address in the \
         program for it. The user is asked each time and sees the address. For screens of this site use navigate.";
    let url = json!({ "type": "string", "minLength": 1, "maxLength": 2000, "description": "The full address." });
    shared("open_link", "Open a link", Approval::Always, description, json!({ "url": url }), &["url"])
}

pub(super) fn call(arguments: &Value) -> Outcome {
    let wanted = text(arguments, "url");
    let Some(address) = Address::parse(wanted) else {
        return failed("open_link", &format!("\"{wanted}\" is not an address"));
    };
    if address.kind() == Kind::Forbidden {
        let words = "Only http, https, mailto and tel addresses can be opened.";
        return Outcome::Error(ToolError::new("refused", words));
    }
    let Some(window) = web_sys::window() else { return failed("open_link", "there is no window") };
    // With `noopener` the call gives null whether or not a tab was opened.
    match window.open_with_url_and_target_and_features(&address.href(), "_blank", "noopener,noreferrer") {
        Ok(_) => Outcome::Result(json!({ "opened": address.href() })),
        Err(_) => failed("open_link", "the browser refused to open a tab"),
    }
}
