//! JSON of the reports.

use serde::Serialize;
use serde_json::{Value, json};

/// The JSON value of a report, with its keys in alphabetical order. Numbers that are not finite become null.
#[must_use]
pub fn json_value(report: &impl Serialize) -> Value {
    serde_json::to_value(report).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}
