//! The schema of the steady state in the JSON of all analyses.

use super::{EquilibriumRange, FlowPeriod, SteadyState, dimension, steady_state_sentence};
use schemars::JsonSchema;
use serde::Serialize;

/// What the laws do in the steady state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadyStateJson {
    /// `fixed point`, `continuum`, `limit cycle`, `sawtooth` or `none`.
    pub kind: &'static str,
    /// Whether disturbances of a fixed point decay; null if it is no fixed point, or if that is unknown.
    pub stable: Option<bool>,
    /// The steady state in a sentence.
    pub sentence: String,
    /// The number of dimensions of a continuum of equilibria; null for all others, or if it is unknown.
    pub dimension: Option<usize>,
    /// What may vary in a continuum, for each class of flows.
    pub ranges: Vec<EquilibriumRangeJson>,
    /// The closed-form period of each class of flows; empty without an oscillation.
    pub periods: Vec<FlowPeriodJson>,
    /// The period of the fluid equations, in s; null without a jump of a queue law.
    pub fluid_period_s: Option<f64>,
}

/// A quantity of each flow of a class that may have any value of a range in equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EquilibriumRangeJson {
    /// Name of the flow or of its group.
    pub flow: String,
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// The period of one class of flows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowPeriodJson {
    /// Name of the flow or of its group.
    pub flow: String,
    /// Time from one reduction to the next, if all flows of the link are reduced at the same time, in s.
    pub period_s: f64,
}

/// The JSON of a steady state.
#[must_use]
pub fn steady_state_json(state: &SteadyState) -> SteadyStateJson {
    let period = |period: &FlowPeriod| FlowPeriodJson { flow: period.flow.clone(), period_s: period.seconds };
    let oscillation = state.oscillation();
    let ranges = match state {
        SteadyState::Continuum { ranges, .. } => &ranges[..],
        _ => &[],
    };
    let range = |range: &EquilibriumRange| EquilibriumRangeJson {
        flow: range.flow.clone(),
        quantity: range.quantity,
        low: range.low,
        high: range.high,
    };
    SteadyStateJson {
        kind: state.kind(),
        stable: state.is_stable(),
        sentence: steady_state_sentence(state),
        dimension: (!ranges.is_empty()).then(|| dimension(ranges)),
        ranges: ranges.iter().map(range).collect(),
        periods: oscillation.map_or_else(Vec::new, |found| found.periods.iter().map(period).collect()),
        fluid_period_s: oscillation.and_then(|found| found.fluid_period),
    }
}
