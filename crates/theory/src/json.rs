//! JSON of the reports.

use crate::stability::StabilityJson;
use crate::transients::TransientsJson;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The JSON value of a report, with its keys in alphabetical order. Numbers that are not finite become null.
#[must_use]
pub fn json_value(report: &impl Serialize) -> Value {
    serde_json::to_value(report).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

/// The output of `millpond stability SCENARIO.toml --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StabilityOutputJson {
    /// Stability of the linear model at the equilibrium, and the results that were requested beside it.
    Linear {
        /// Roots, margins, critical values and the map.
        #[serde(flatten)]
        stability: Box<StabilityJson>,
        /// Phase portrait, step responses and convergence times.
        #[serde(flatten)]
        transients: Box<TransientsJson>,
    },
    /// A network that has a limit cycle about a jump of a marking law: it has neither roots nor margins.
    LimitCycle {
        /// The limit cycle in a sentence.
        verdict: String,
        /// Always false.
        stable: bool,
    },
}
