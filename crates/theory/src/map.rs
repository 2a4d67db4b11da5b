//! Stability over two knobs.

use crate::vary::{growth, longest_rtt};
use crate::{Knob, Refusal};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::Scenario;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One side of a map: values from low to high, in equal ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is varied.
    pub knob: Knob,
    /// Its values.
    pub values: Vec<f64>,
}

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

impl Axis {
    /// `rtt=10ms..2s`: so many values in equal ratios.
    #[must_use]
    pub fn new(knob: Knob, low: f64, high: f64, points: usize) -> Self {
        // At most some hundred points.
        #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
        let part = |point: usize| point as f64 / (points.max(2) - 1) as f64;
        let values = (0..points).map(|point| low * (high / low).powf(part(point))).collect();
        Self { knob, values }
    }
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
