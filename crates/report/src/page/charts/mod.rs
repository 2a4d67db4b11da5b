//! One file per chart.

mod delays;
mod fairness;
mod internals;
mod over_time;
mod recurrence;
mod tradeoff;
mod worlds;

pub(super) use delays::delays;
pub(super) use fairness::fairness;
pub(super) use internals::internals;
pub(super) use over_time::over_time;
pub(super) use recurrence::recurrence;
pub(super) use tradeoff::tradeoff;
pub(super) use worlds::worlds;

use super::subject::Subject;
use crate::chart::plot::Axis;
use crate::chart::scale::Scale;

/// Slices of time in a large plot: more than it has pixels, so that zooming in shows more.
const FINE: usize = 2048;
/// Slices of time in a plot that is one among many.
const COARSE: usize = 512;

/// The time axis that all plots over time share.
fn time_axis(subjects: &[Subject]) -> Axis {
    let end = subjects.iter().map(|subject| subject.run.summary.simulated_s).fold(0.0, f64::max);
    Axis::numbered(Scale::linear(0.0, end), "time, s", 6)
}
