//! Runs as values of Python that can be pickled, and back.
//!
//! The numbers of series and distributions are bytes of numbers of 64 bits, so that a restored run is equal to the last bit.
//! Series with the same times share one object of bytes, which a pickle holds once.

use crate::error::Failure;
use millpond_results::files::summary_json;
use millpond_results::{Distribution, EntityKind, Run as Results, Series, Summary, Times, Timing, Transfer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Kind, entity, quantity and unit.
type Key = (String, String, String, String);

/// A key with two columns of numbers.
type Columns<'py> = (Key, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Name, group, protocol, size, delivered bytes, start, end and shortest completion time.
type TransferParts = (String, String, String, Option<u64>, u64, f64, Option<f64>, Option<f64>);

/// Elapsed time, processor time and packet-hops per second.
type TimingParts = (f64, Option<f64>, f64);

/// Label, command, `summary.json`, scenario, series, distributions, transfers, timing and directory of a run.
pub(crate) type RunParts<'py> = (
    String,
    String,
    String,
    String,
    Vec<Columns<'py>>,
    Vec<Columns<'py>>,
    Vec<TransferParts>,
    Option<TimingParts>,
    Option<PathBuf>,
);

/// The parts of a run.
pub(crate) fn parts<'py>(
    py: Python<'py>,
    run: &Results,
    timing: Option<Timing>,
    directory: Option<PathBuf>,
) -> Result<RunParts<'py>, Failure> {
    Ok((
        run.label.clone(),
        run.command.clone(),
        summary_json(run)?,
        run.scenario_toml.clone(),
        series_parts(py, &run.series),
        run.distributions.iter().map(|one| distribution_parts(py, one)).collect(),
        run.transfers.iter().map(transfer_parts).collect(),
        timing.map(|timing| (timing.wall_s, timing.cpu_s, timing.packet_hops_per_s)),
        directory,
    ))
}

/// The run of these parts, with its timing and its directory.
pub(crate) fn restored(parts: RunParts<'_>) -> Result<(Results, Option<Timing>, Option<PathBuf>), Failure> {
    let (label, command, summary, scenario_toml, series, distributions, transfers, timing, directory) = parts;
    let summary: Summary = serde_json::from_str(&summary).map_err(Failure::input)?;
    let run = Results {
        label,
        summary,
        series: restored_series(&series)?,
        distributions: distributions.iter().map(restored_distribution).collect::<Result<_, _>>()?,
        scenario_toml,
        command,
        transfers: transfers.into_iter().map(restored_transfer).collect(),
    };
    let timing = timing.map(|(wall_s, cpu_s, packet_hops_per_s)| Timing { wall_s, cpu_s, packet_hops_per_s });
    Ok((run, timing, directory))
}

fn bytes<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, bytemuck::cast_slice(numbers))
}

fn numbers(bytes: &Bound<'_, PyBytes>) -> Vec<f64> {
    let number = |eight: &[u8]| eight.try_into().map_or(f64::NAN, f64::from_ne_bytes);
    bytes.as_bytes().chunks_exact(size_of::<f64>()).map(number).collect()
}

fn series_parts<'py>(py: Python<'py>, all: &[Series]) -> Vec<Columns<'py>> {
    let mut known: Option<(&Times, Bound<'py, PyBytes>)> = None;
    let one = |series: &Series, times: Bound<'py, PyBytes>| {
        let kind = series.kind.name().to_owned();
        let key = (kind, series.entity.clone(), series.quantity.clone(), series.unit.clone());
        (key, times, bytes(py, &series.values))
    };
    let mut found = Vec::with_capacity(all.len());
    for series in all {
        let shared = known.take().filter(|(times, _)| times[..] == series.times[..]);
        let (times, column) = shared.unwrap_or_else(|| (&series.times, bytes(py, &series.times)));
        found.push(one(series, column.clone()));
        known = Some((times, column));
    }
    found
}

fn restored_series(all: &[Columns<'_>]) -> Result<Vec<Series>, Failure> {
    let mut known: Option<(&Bound<'_, PyBytes>, Times)> = None;
    let mut found = Vec::with_capacity(all.len());
    for ((kind, entity, quantity, unit), column, values) in all {
        let shared = known.take().filter(|(before, _)| before.is(column));
        let (column, times) = shared.unwrap_or_else(|| (column, numbers(column).into()));
        found.push(Series {
            kind: kind_of(kind)?,
            entity: entity.clone(),
            quantity: quantity.clone(),
            unit: unit.clone(),
            times: times.clone(),
            values: numbers(values),
        });
        known = Some((column, times));
    }
    Ok(found)
}

fn distribution_parts<'py>(py: Python<'py>, one: &Distribution) -> Columns<'py> {
    let (shares, values): (Vec<f64>, Vec<f64>) = one.points.iter().copied().unzip();
    let kind = one.kind.name().to_owned();
    let key = (kind, one.entity.clone(), one.quantity.clone(), one.unit.clone());
    (key, bytes(py, &shares), bytes(py, &values))
}

fn restored_distribution(
    ((kind, entity, quantity, unit), shares, values): &Columns<'_>,
) -> Result<Distribution, Failure> {
    Ok(Distribution {
        kind: kind_of(kind)?,
        entity: entity.clone(),
        quantity: quantity.clone(),
        unit: unit.clone(),
        points: numbers(shares).into_iter().zip(numbers(values)).collect(),
    })
}

fn transfer_parts(one: &Transfer) -> TransferParts {
    let Transfer { name, group, protocol, size_bytes, delivered_bytes, start_s, completed_s, shortest_ms } =
        one.clone();
    (name, group, protocol, size_bytes, delivered_bytes, start_s, completed_s, shortest_ms)
}

fn restored_transfer(parts: TransferParts) -> Transfer {
    let (name, group, protocol, size_bytes, delivered_bytes, start_s, completed_s, shortest_ms) = parts;
    Transfer { name, group, protocol, size_bytes, delivered_bytes, start_s, completed_s, shortest_ms }
}

fn kind_of(name: &str) -> Result<EntityKind, Failure> {
    let found = EntityKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| Failure::input(format!("a pickled run has an entity of the unknown kind \"{name}\"")))
}
