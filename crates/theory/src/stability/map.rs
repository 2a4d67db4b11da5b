//! Stability over two knobs.

use super::axis::Axis;
use super::critical::growth;
use crate::Refusal;
use crate::equilibrium::longest_rtt;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::Scenario;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Real parts of the rightmost root over two knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// From left to right.
    pub across: Axis,
    /// From bottom to top.
    pub up: Axis,
    /// Where on it the scenario as it is stands.
    pub now: (f64, f64),
    /// Row by row from the bottom; none where there is no equilibrium or no loop.
    pub growth: Vec<Vec<Option<f64>>>,
}

/// Computes a map on all processors.
///
/// # Errors
/// The scenario as it is cannot be planned.
pub fn map(
    scenario: &Scenario,
    registry: &Registry,
    across: Axis,
    up: Axis,
    watch: &dyn Watch,
) -> Result<Map, Refusal> {
    let longest = longest_rtt(&fluid::plan(scenario, registry)?);
    let done = AtomicUsize::new(0);
    let rows = up.values.len();
    let cell = |varied: &Scenario, x: f64| {
        if watch.stopped() {
            return None;
        }
        let now = across.knob.now(varied, registry, longest);
        growth(&across.knob.scaled(varied, now, x / now), registry).ok()
    };
    let row = |y: &f64| {
        let now = up.knob.now(scenario, registry, longest);
        let varied = up.knob.scaled(scenario, now, y / now);
        let row = across.values.iter().map(|x| cell(&varied, *x)).collect();
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        // Rows are few.
        #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
        watch.progress(0, done as f64 / rows as f64);
        row
    };
    let growth = up.values.par_iter().map(row).collect();
    let now = [&across, &up].map(|axis| axis.knob.now(scenario, registry, longest));
    Ok(Map { across, up, now: (now[0], now[1]), growth })
}
