//! The schema of the steady state in the JSON of all analyses.

use super::{FlowPeriod, SteadyState, steady_state_sentence};
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
    /// The closed-form period of each class of flows; empty without an oscillation.
    pub periods: Vec<FlowPeriodJson>,
    /// The period of the fluid equations, in s; null without a jump of a queue law.
    pub fluid_period_s: Option<f64>,
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
    SteadyStateJson {
        kind: state.kind(),
        stable: state.is_stable(),
        sentence: steady_state_sentence(state),
        periods: oscillation.map_or_else(Vec::new, |found| found.periods.iter().map(period).collect()),
        fluid_period_s: oscillation.and_then(|found| found.fluid_period),
    }
}
