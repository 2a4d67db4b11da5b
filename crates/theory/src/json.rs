//! JSON of the reports.

use crate::NamedCapacity;
use crate::stability::StabilityJson;
use crate::steady_state::SteadyStateJson;
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
        /// The capacity at which each link with a varying one was analyzed.
        varying_capacities: Vec<NamedCapacity>,
    },
    /// A network with a limit cycle or a sawtooth: it has neither roots nor margins.
    Oscillation {
        /// The oscillation in a sentence.
        verdict: String,
        /// Always false.
        stable: bool,
        /// What the laws do in the steady state.
        steady_state: SteadyStateJson,
        /// The capacity at which each link with a varying one was analyzed.
        varying_capacities: Vec<NamedCapacity>,
    },
}
