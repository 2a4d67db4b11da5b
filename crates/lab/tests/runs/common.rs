//! Helpers for tests of whole runs.

use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Flow, Link, Run, Series, Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

/// Reads a scenario, with overrides.
pub(crate) fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(text, "test.toml", Path::new(""), &sets, &Disk)
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// Runs a scenario in the packet world with the built-in protocols.
pub(crate) fn results(text: &str, sets: &[&str]) -> Run {
    let scenario = scenario(text, sets);
    let finished = run(&scenario, &Registry::builtin(), About::default(), &Unwatched);
    finished.unwrap_or_else(|error| panic!("{error}")).run
}

/// Runs a scenario in the fluid world with the built-in protocols.
pub(crate) fn fluid(text: &str, sets: &[&str]) -> Run {
    let about = About { world: World::Fluid, ..About::default() };
    let finished = run(&scenario(text, sets), &Registry::builtin(), about, &Unwatched);
    finished.unwrap_or_else(|error| panic!("{error}")).run
}

/// The flow of this name.
pub(crate) fn flow<'a>(run: &'a Run, name: &str) -> &'a Flow {
    run.summary.flows.iter().find(|flow| flow.name == name).expect("a flow of this name")
}

/// The first direction of the link of this name.
pub(crate) fn link<'a>(run: &'a Run, name: &str) -> &'a Link {
    run.summary.links.iter().find(|link| link.name == name).expect("a link of this name")
}

/// A quantity of an entity over time.
pub(crate) fn series<'a>(run: &'a Run, entity: &str, quantity: &str) -> &'a Series {
    let wanted = |series: &&Series| series.entity == entity && series.quantity == quantity;
    run.series.iter().find(wanted).unwrap_or_else(|| panic!("no {quantity} of {entity}"))
}

/// All samples of a series: the ends of their intervals in seconds, with the values.
pub(crate) fn all_samples(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.times.iter().copied().zip(series.values.iter().copied())
}

/// Whether the measured value is within the fraction `tolerance` of the theoretical one.
pub(crate) fn near(measured: f64, theory: f64, tolerance: f64) -> bool {
    (measured / theory - 1.0).abs() <= tolerance
}

/// Samples of the interval from just after `from` until `to`, in seconds, with their times.
fn samples(series: &Series, (from, to): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    all_samples(series).filter(move |(time, _)| from + 1e-9 < *time && *time < to + 1e-9)
}

/// Samples of the interval from just after its first to its second time, in seconds, with their times.
pub(crate) fn samples_of(series: &Series, interval: (f64, f64)) -> Vec<(f64, f64)> {
    samples(series, interval).collect()
}

/// The mean over an interval in seconds.
pub(crate) fn mean(series: &Series, interval: (f64, f64)) -> f64 {
    let values: Vec<f64> = samples(series, interval).map(|(_, value)| value).collect();
    millpond_stats::mean(&values)
}

/// The greatest value in an interval in seconds.
pub(crate) fn greatest(series: &Series, interval: (f64, f64)) -> f64 {
    samples(series, interval).map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max)
}

/// The least value in an interval in seconds.
pub(crate) fn least(series: &Series, interval: (f64, f64)) -> f64 {
    samples(series, interval).map(|(_, value)| value).fold(f64::INFINITY, f64::min)
}

/// The least and the greatest of some values.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let extremes = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(extremes, |(least, greatest), value| (least.min(value), greatest.max(value)))
}

/// The time in seconds, from the beginning of the interval, after which values stay within the fraction `within` of `at`.
pub(crate) fn settles(series: &Series, interval: (f64, f64), at: f64, within: f64) -> f64 {
    let outside = samples(series, interval).filter(|(_, value)| (value / at - 1.0).abs() > within);
    outside.map(|(time, _)| time - interval.0).last().unwrap_or(0.0)
}
