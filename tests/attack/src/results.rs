//! What must hold for the results of a run in either world, and their digest.

use crate::ensure;
use millpond_results::{Milliseconds, Packets, Run, Series, quantity};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Checks the numbers of a run.
///
/// # Errors
/// The first invariant that does not hold, with its numbers.
pub(crate) fn check(run: &Run) -> Result<(), String> {
    let summary = &run.summary;
    numbers_are_finite(run)?;
    let delays = summary.flows.iter().map(|flow| (&flow.name, flow.queueing_ms));
    let links = summary.links.iter().map(|link| (&link.name, link.queueing_ms));
    let rtts = summary.flows.iter().filter_map(|flow| Some((&flow.name, flow.rtt_ms?)));
    for (name, delay) in delays.chain(links).chain(rtts) {
        ensure!(is_ordered(&delay), "{name}: quantiles are not in order: {delay:?}");
    }
    for link in &summary.links {
        let name = &link.name;
        ensure!((0.0..=1.0 + 1e-6).contains(&link.utilization), "{name}: utilization {}", link.utilization);
        ensure!(are_lengths(&link.queue_packets), "{name}: queue {:?}", link.queue_packets);
    }
    for flow in &summary.flows {
        let Some(rate) = [flow.goodput_bps, flow.send_rate_bps].into_iter().find(|rate| *rate < 0.0) else {
            continue;
        };
        return Err(format!("{}: a rate of {rate}", flow.name));
    }
    for group in &summary.groups {
        let flows = (group.flows as f64).max(1.0);
        ensure!(
            group.jain.is_none_or(|jain| (1.0 / flows - 1e-9..=1.0 + 1e-9).contains(&jain)),
            "{}: Jain {:?}",
            group.name,
            group.jain
        );
        ensure!(group.completed <= group.transfers, "{}: more are complete than have begun", group.name);
    }
    for series in &run.series {
        series_are_plausible(series)?;
    }
    Ok(())
}

fn is_ordered(x: &Milliseconds) -> bool {
    let values = [x.min, x.p50, x.p95, x.p99, x.p999, x.max];
    values.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-12) + 1e-9)
        && x.min <= x.mean + 1e-6
        && x.mean <= x.max + 1e-6
        && x.min >= -1e-9
}

fn are_lengths(x: &Packets) -> bool {
    let values = [0.0, x.p50, x.p95, x.p99, x.max];
    values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6) && (0.0..=x.max + 1e-6).contains(&x.mean)
}

/// JSON has no infinite numbers: they would become null.
fn numbers_are_finite(run: &Run) -> Result<(), String> {
    let before = serde_json::to_value(&run.summary).map_err(|error| error.to_string())?;
    let text = format!("{:?}", run.summary);
    ensure!(
        !text.contains("NaN") && !text.contains("inf,"),
        "the summary has a number that is not finite: {text}"
    );
    ensure!(matches!(before, Value::Object(_)), "the summary is no table");
    Ok(())
}

fn series_are_plausible(series: &Series) -> Result<(), String> {
    let Series { entity, quantity, times, values, .. } = series;
    ensure!(
        times.len() == values.len(),
        "{entity}, {quantity}: {} times, {} values",
        times.len(),
        values.len()
    );
    ensure!(times.windows(2).all(|pair| pair[0] < pair[1]), "{entity}, {quantity}: times do not rise");
    let never_negative = [
        quantity::GOODPUT,
        quantity::SEND_RATE,
        quantity::QUEUE,
        quantity::QUEUEING,
        quantity::THROUGHPUT,
        quantity::BACKLOG,
    ];
    if never_negative.contains(&quantity.as_str()) {
        let least = values.iter().copied().fold(0.0, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        ensure!(least >= -1e-6 * most.max(1.0), "{entity}, {quantity}: {least}");
    }
    Ok(())
}

/// The digest of all results but the text of the scenario and of the command.
#[must_use]
pub(crate) fn digest(run: &Run) -> String {
    let mut text = String::new();
    // Writing to a string does not fail; the debug format of a number is exact.
    let _ = write!(text, "{:?}{:?}{:?}{:?}", run.summary, run.series, run.distributions, run.transfers);
    Sha256::digest(text).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
