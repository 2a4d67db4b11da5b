//! The result of a stability analysis in one sentence.

use super::{CriticalValue, CriticalValueSearch, Stability};
use crate::steady_state::{FixedPoint, SteadyState, continuum_clause, dimension, steady_state_sentence};
use millpond_fluid::stability::Root;
use millpond_units::format::{duration, number};
use std::f64::consts::PI;

/// The result in one sentence: whether it is stable, then the critical values or the ranges without one.
pub fn stability_sentence(stability: &Stability, searches: &[CriticalValueSearch]) -> String {
    let is_stable = stability.disturbances_decay();
    let critical: Vec<String> = searches
        .iter()
        .flat_map(|search| &search.found)
        .map(|found| critical_value(found, is_stable))
        .collect();
    let empty: Vec<String> = searches.iter().filter(|search| search.found.is_empty()).map(range).collect();
    let state = stability.steady_state();
    let head = match &stability.two_sided {
        Some(two_sided) if two_sided.crossing().is_none() => {
            format!("{}; {}", head(&state), two_sided.sentence())
        }
        _ => head(&state),
    };
    let (beyond, none) =
        if is_stable { ("oscillates", "no stability boundary") } else { ("stable", "unstable everywhere") };
    let critical = (!critical.is_empty()).then(|| format!("; {beyond} {}", critical.join(", and ")));
    let empty = (!empty.is_empty()).then(|| format!("; {none} {}", empty.join(" or ")));
    format!("{head}{}{}", critical.unwrap_or_default(), empty.unwrap_or_default())
}

/// On which side of a critical value the opposite result holds.
fn critical_value(found: &CriticalValue, is_stable: bool) -> String {
    let side = if found.stable_below == is_stable { "above" } else { "below" };
    let (name, value) = (found.parameter.name(), found.parameter.format_value(found.value));
    format!("{side} {name} {value} (now {})", found.parameter.format_value(found.current))
}

fn range(search: &CriticalValueSearch) -> String {
    let CriticalValueSearch { parameter, current, range, .. } = search;
    let [low, high, current] = [range.low, range.high, *current].map(|value| parameter.format_value(value));
    format!("between {} {low} and {high} (now {current})", parameter.name())
}

/// What the steady state means for stability.
fn head(state: &SteadyState) -> String {
    match state {
        SteadyState::FixedPoint(FixedPoint::Stable) => "stable".to_owned(),
        SteadyState::FixedPoint(FixedPoint::SlowlyStable { reason }) => format!(
            "stable: one disturbance decays more slowly than an exponential, because {reason}; all others decay"
        ),
        SteadyState::FixedPoint(FixedPoint::Unstable(root)) => format!("unstable: {}", growth(root.as_ref())),
        SteadyState::FixedPoint(FixedPoint::OnThreshold { is_stable, reason }) => {
            format!("{}: {reason}", if *is_stable { "stable" } else { "unstable" })
        }
        SteadyState::Continuum { reason, ranges } => {
            let neutral = match dimension(ranges) {
                0 | 1 => "one disturbance neither grows nor decays".to_owned(),
                dimension => format!("disturbances in {dimension} directions neither grow nor decay"),
            };
            let clause = continuum_clause(ranges);
            format!("marginal: {neutral}, because there is {clause} ({reason}); all others decay")
        }
        other => steady_state_sentence(other),
    }
}

fn growth(root: Option<&Root>) -> String {
    let Some(root) = root else { return "no root found".to_owned() };
    match root.growth_per_cycle() {
        Some(factor) => {
            format!("oscillates every {}, x{} per cycle", duration(2.0 * PI / root.s.im), number(factor))
        }
        None => format!("grows without oscillating, by a factor of e in {}", duration(1.0 / root.s.re)),
    }
}
