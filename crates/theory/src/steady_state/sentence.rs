//! The steady state in one sentence.

use super::{EquilibriumRange, FixedPoint, Oscillation, SteadyState, dimension};
use millpond_units::format::{at_most_decimals, duration, number};
use std::f64::consts::PI;

/// The steady state in one sentence, without a full stop.
#[must_use]
pub fn steady_state_sentence(state: &SteadyState) -> String {
    match state {
        SteadyState::FixedPoint(FixedPoint::Stable) => "a stable fixed point".to_owned(),
        SteadyState::FixedPoint(FixedPoint::SlowlyStable { reason }) => format!(
            "a fixed point; one disturbance decays more slowly than an exponential, because {reason}; all others decay"
        ),
        SteadyState::FixedPoint(FixedPoint::Unstable(root)) => {
            let growth =
                root.as_ref().and_then(|root| Some((root.growth_per_cycle()?, 2.0 * PI / root.s.im)));
            match growth {
                Some((factor, period)) => format!(
                    "an unstable fixed point: oscillates every {}, x{} per cycle",
                    duration(period),
                    number(factor)
                ),
                None => "an unstable fixed point: a disturbance grows without oscillating".to_owned(),
            }
        }
        SteadyState::FixedPoint(FixedPoint::OnThreshold { is_stable, reason }) => {
            let kind = if *is_stable { "a stable" } else { "an unstable" };
            format!("{kind} fixed point: {reason}")
        }
        SteadyState::FixedPoint(FixedPoint::WithoutFeedback { flow }) => {
            format!("a fixed point without feedback: no link on the path of {flow} signals congestion")
        }
        SteadyState::FixedPoint(FixedPoint::Unknown { reason }) => {
            format!("a fixed point whose stability is unknown: {reason}")
        }
        SteadyState::Continuum { reason, ranges } => format!("{}: {reason}", continuum_clause(ranges)),
        SteadyState::LimitCycle(oscillation) => format!("a limit cycle: {}", cycle(oscillation)),
        SteadyState::Sawtooth(oscillation) => format!("a sawtooth by loss: {}", cycle(oscillation)),
        SteadyState::None { reason } => reason.clone(),
    }
}

/// What the continuum is, as a clause: a box, of which each flow contributes one side.
#[must_use]
pub fn continuum_clause(ranges: &[EquilibriumRange]) -> String {
    let Some(first) = ranges.first() else { return "a continuum of equilibria".to_owned() };
    let range = |range: &EquilibriumRange| {
        format!(
            "{} to {} {}",
            at_most_decimals(range.low, 2),
            at_most_decimals(range.high, 2),
            range.quantity
        )
    };
    let is_same = |other: &EquilibriumRange| range(other) == range(first);
    let dimension = dimension(ranges);
    let each = if ranges.iter().all(is_same) {
        format!("{} of each flow", range(first))
    } else {
        let of_flow = |other: &EquilibriumRange| format!("{} of {}", range(other), other.flow);
        ranges.iter().map(of_flow).collect::<Vec<_>>().join(", ")
    };
    let shape = match dimension {
        1 => "a segment",
        2 => "a rectangle",
        _ => "a box",
    };
    let dimensions =
        if dimension == 1 { "one dimension".to_owned() } else { format!("{dimension} dimensions") };
    format!("a continuum of equilibria of {dimensions}, {shape} of {each}")
}

fn cycle(oscillation: &Oscillation) -> String {
    match period_sentence(oscillation) {
        Some(period) => format!("{}; {period}", oscillation.reason),
        None => oscillation.reason.clone(),
    }
}

/// The predicted periods, as a clause; none if there are none.
#[must_use]
pub fn period_sentence(oscillation: &Oscillation) -> Option<String> {
    let packets = oscillation
        .period()
        .map(|period| format!("every {period} by the law's closed form, if all flows are reduced together"));
    let fluid =
        oscillation.fluid_period.map(|seconds| format!("every {} in the fluid equations", duration(seconds)));
    let both: Vec<String> = packets.into_iter().chain(fluid).collect();
    (!both.is_empty()).then(|| both.join(", "))
}
