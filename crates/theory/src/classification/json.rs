//! The schema of `millpond equilibrium --json`.

use super::SteadyStateAnalysis;
use crate::NamedCapacity;
use crate::equilibrium::{EquilibriumJson, equilibrium_json};
use crate::steady_state::{SteadyStateJson, steady_state_json};
use schemars::JsonSchema;
use serde::Serialize;

/// The steady state and the equilibrium: `millpond equilibrium --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EquilibriumOutputJson {
    /// What the laws do in the steady state.
    pub steady_state: SteadyStateJson,
    /// The capacity at which each link with a varying one was analyzed.
    pub varying_capacities: Vec<NamedCapacity>,
    /// The equilibrium of the equations; without flows and links if they have none.
    #[serde(flatten)]
    pub equilibrium: EquilibriumJson,
}

/// The JSON of a steady state with its equilibrium.
#[must_use]
pub fn equilibrium_output_json(
    found: &SteadyStateAnalysis<'_>,
    capacities: &[NamedCapacity],
) -> EquilibriumOutputJson {
    EquilibriumOutputJson {
        steady_state: steady_state_json(&found.state),
        varying_capacities: capacities.to_vec(),
        equilibrium: found.equilibrium.as_ref().map(equilibrium_json).unwrap_or_default(),
    }
}
