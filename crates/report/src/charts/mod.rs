//! One file per chart.

mod delays_over_time;
mod distributions;
mod fairness;
mod internals;
mod over_time;
mod packets_and_fluid;
mod phase_portrait;
mod slowdown;
mod tradeoff;

pub(super) use distributions::{completions, delays};
pub(super) use fairness::fairness;
pub(super) use internals::internals;
pub(super) use over_time::{OverTimeStyle, over_time};
pub(super) use packets_and_fluid::packets_and_fluid;
pub(super) use phase_portrait::phase_portrait;
pub(super) use slowdown::slowdown;
pub(super) use tradeoff::tradeoff;

use super::run_view::RunView;
use maud::{Markup, html};
use millpond_chart::{Axis, Legend, Scale};

/// Slices of time in a large plot: more than it has pixels, so that zooming in shows more.
pub(super) const FINE: usize = 2048;
/// Slices of time in a small plot.
const COARSE: usize = 512;

/// The time axis that all plots over time share.
fn time_axis(views: &[RunView]) -> Axis {
    let end = views.iter().map(|view| view.run.summary.simulated_s).fold(0.0, f64::max);
    Axis::numbered(Scale::linear(0.0, end), "time, s", 6)
}

/// The name of a run with its marker.
fn run_title(view: &RunView) -> Markup {
    html! { (view.style.badge()) (view.run.label) }
}

/// The legend of several runs.
fn run_legend<'a>(views: impl IntoIterator<Item = &'a RunView<'a>>) -> Legend {
    views.into_iter().fold(Legend::new(), |legend, view| legend.series(view.style, &view.run.label))
}

/// A text with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
