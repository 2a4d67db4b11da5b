//! Reading saved runs, for reports.

use super::comparison::{run_name, seed_suffix};
use super::names;
use crate::{Comparison, Distribution, EntityKind, Run, Series, Summary, Times, Transfer};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Row, RowAccessor};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A directory or file of a run that cannot be read.
#[derive(Debug)]
pub struct LoadError {
    /// Which file or directory.
    pub path: PathBuf,
    /// The reason.
    pub fault: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl std::error::Error for LoadError {}

/// The run in `directory`, or the runs below it: those of a comparison in its order, others in that of their paths. The label of a run is the path of its
/// directory from there, without the seed that a comparison appends to it, and with the colons of a variant.
///
/// # Errors
/// A directory without a run, or a file that cannot be read.
pub fn load(directory: &Path) -> Result<Vec<Run>, LoadError> {
    let own_name = Path::new(directory.file_name().unwrap_or(directory.as_os_str()));
    let name = |path: &Path| match path.strip_prefix(directory) {
        Ok(below) if !below.as_os_str().is_empty() => below.to_owned(),
        _ => own_name.to_owned(),
    };
    let runs = run_directories(directory)?.into_iter().map(|path| one(&path, &name(&path)));
    let mut runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
    let labels = compared_labels(directory);
    runs.sort_by_key(|run| labels.iter().position(|label| *label == run.label).unwrap_or(labels.len()));
    Ok(runs)
}

/// The directories of runs: `directory` itself, or those below it in the order of their paths.
///
/// # Errors
/// A directory without a run, or one that cannot be read.
pub fn run_directories(directory: &Path) -> Result<Vec<PathBuf>, LoadError> {
    if directory.join(names::SUMMARY).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    fs::read_dir(directory).map_err(|error| fault(directory, error))?;
    let mut paths = Vec::new();
    find(directory, MOST_LEVELS, &mut paths);
    paths.sort();
    if paths.is_empty() {
        return Err(fault(directory, no_run(directory)));
    }
    Ok(paths)
}

/// Why a directory has no run. A dataset of a sweep has rows of runs, but not their files.
fn no_run(directory: &Path) -> String {
    if directory.join(names::SWEEP).is_file() {
        return "holds the dataset of a sweep, which has no files of single runs: its page is report.html in it, `millpond figure DIR \
                --kind sweep` draws it, and runs.parquet has a row for each run. `millpond compare --out DIR` keeps the files of its runs"
            .to_owned();
    }
    format!("has no run: there is no {} in it or below it", names::SUMMARY)
}

/// The labels of the comparison in `directory` in its order; empty if there is none.
fn compared_labels(directory: &Path) -> Vec<String> {
    let text = fs::read_to_string(directory.join(names::COMPARISON)).unwrap_or_default();
    let comparison: Comparison = serde_json::from_str(&text).unwrap_or_default();
    comparison.rows.into_iter().map(|row| row.run).collect()
}

/// Directories are searched this deep.
const MOST_LEVELS: usize = 16;

/// Adds the directories of runs below `directory`; links to directories and hidden ones are not followed.
fn find(directory: &Path, levels: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if is_hidden || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join(names::SUMMARY).is_file() {
            found.push(path);
        } else if levels > 0 {
            find(&path, levels - 1, found);
        }
    }
}

/// The path of the resolved scenario of the run in `directory`.
pub fn scenario_of(directory: &Path) -> PathBuf {
    directory.join(names::SCENARIO)
}

/// The run in `directory`, labelled by `name`.
fn one(directory: &Path, name: &Path) -> Result<Run, LoadError> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).map_err(|error| fault(&path, error))
    };
    let summary: Summary = serde_json::from_str(&read(names::SUMMARY)?)
        .map_err(|error| fault(&directory.join(names::SUMMARY), error))?;
    let scenario = directory.join(names::SCENARIO);
    let is_compared = directory.parent().is_some_and(|parent| parent.join(names::COMPARISON).is_file());
    let own = name.file_name().filter(|_| is_compared).map(|own| run_name(&own.to_string_lossy()));
    Ok(Run {
        label: label(&own.map_or_else(|| name.to_owned(), |own| name.with_file_name(own)), summary.seed),
        summary,
        series: table(directory, names::SERIES, series)?,
        distributions: table(directory, names::DISTRIBUTIONS, distributions)?,
        scenario_toml: read(names::SCENARIO)?,
        command: format!("millpond run {}", scenario.display()),
        transfers: table(directory, names::FLOWS, transfers)?,
    })
}

/// The name of a directory, without the seed that a comparison appends to it.
fn label(name: &Path, seed: u64) -> String {
    let name = name.display().to_string();
    name.strip_suffix(&seed_suffix(seed)).map_or_else(|| name.clone(), str::to_owned)
}

fn fault(path: &Path, fault: impl fmt::Display) -> LoadError {
    LoadError { path: path.to_owned(), fault: fault.to_string() }
}

type ParquetRows<'a> = &'a mut dyn Iterator<Item = Result<Row, ParquetError>>;

fn table<T>(
    directory: &Path,
    name: &str,
    read: impl Fn(ParquetRows<'_>) -> Result<T, ParquetError>,
) -> Result<T, LoadError> {
    let path = directory.join(name);
    let file = File::open(&path).map_err(|error| fault(&path, error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| fault(&path, error))?;
    let mut rows = reader.get_row_iter(None).map_err(|error| fault(&path, error))?;
    read(&mut rows).map_err(|error| fault(&path, error))
}

/// The series of a table, in which the rows of one series are adjacent. Series with the same times share them with the one
/// before.
fn series(rows: ParquetRows<'_>) -> Result<Vec<Series>, ParquetError> {
    let mut all: Vec<Series> = Vec::new();
    let mut times = Vec::new();
    for row in rows {
        let row = row?;
        let key = SeriesKey::of(&row)?;
        if all.last().is_none_or(|s| !key.is(s.kind, &s.entity, &s.quantity)) {
            let SeriesKey { kind, entity, quantity, unit } = key;
            let (entity, quantity, unit) = (entity.to_owned(), quantity.to_owned(), unit.to_owned());
            end_series(&mut all, &mut times);
            all.push(Series { kind, entity, quantity, unit, times: Times::default(), values: Vec::new() });
        }
        if let Some(series) = all.last_mut() {
            times.push(row.get_double(0)?);
            series.values.push(row.get_double(3)?);
        }
    }
    end_series(&mut all, &mut times);
    Ok(all)
}

/// Gives the last series its times, which leaves `times` empty.
fn end_series(all: &mut [Series], times: &mut Vec<f64>) {
    let Some((last, before)) = all.split_last_mut() else { return };
    last.times = match before.last() {
        Some(known) if *known.times == times[..] => known.times.clone(),
        _ => times.as_slice().into(),
    };
    times.clear();
}

fn distributions(rows: ParquetRows<'_>) -> Result<Vec<Distribution>, ParquetError> {
    let mut all: Vec<Distribution> = Vec::new();
    for row in rows {
        let row = row?;
        let key = SeriesKey::of(&row)?;
        if all.last().is_none_or(|d| !key.is(d.kind, &d.entity, &d.quantity)) {
            let SeriesKey { kind, entity, quantity, unit } = key;
            let (entity, quantity, unit) = (entity.to_owned(), quantity.to_owned(), unit.to_owned());
            all.push(Distribution { kind, entity, quantity, unit, points: Vec::new() });
        }
        if let Some(distribution) = all.last_mut() {
            distribution.points.push((row.get_double(0)?, row.get_double(3)?));
        }
    }
    Ok(all)
}

/// The columns that identify a series or a distribution.
struct SeriesKey<'a> {
    kind: EntityKind,
    entity: &'a str,
    quantity: &'a str,
    unit: &'a str,
}

impl<'a> SeriesKey<'a> {
    fn of(row: &'a Row) -> Result<Self, ParquetError> {
        let kind = row.get_string(5)?;
        let kind = EntityKind::ALL.into_iter().find(|k| k.name() == kind);
        let kind = kind.ok_or_else(|| ParquetError::General("unknown kind of entity".into()))?;
        Ok(Self { kind, entity: row.get_string(1)?, quantity: row.get_string(2)?, unit: row.get_string(4)? })
    }

    fn is(&self, kind: EntityKind, entity: &str, quantity: &str) -> bool {
        self.kind == kind && self.entity == entity && self.quantity == quantity
    }
}

fn transfers(rows: ParquetRows<'_>) -> Result<Vec<Transfer>, ParquetError> {
    let transfer = |row: Row| {
        let bytes = |column| row.get_long(column).ok().and_then(|bytes| u64::try_from(bytes).ok());
        Ok(Transfer {
            name: row.get_string(0)?.clone(),
            group: row.get_string(1)?.clone(),
            protocol: row.get_string(2)?.clone(),
            size_bytes: bytes(3),
            delivered_bytes: bytes(4).unwrap_or_default(),
            start_s: row.get_double(5)?,
            completed_s: row.get_double(6).ok(),
            shortest_ms: row.get_double(8).ok(),
        })
    };
    rows.map(|row| transfer(row?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timing;
    use crate::files::{ComparisonDirectory, Extras, RunDirectory, save};

    fn run() -> Run {
        let series = |entity: &str, values: &[f64]| Series {
            kind: EntityKind::Flow,
            entity: entity.into(),
            quantity: "goodput".into(),
            unit: "bit/s".into(),
            times: (1..=values.len()).map(|t| t as f64).collect(),
            values: values.to_vec(),
        };
        Run {
            label: "lgcc".into(),
            series: vec![series("a", &[1.0, 2.0]), series("b", &[0.1])],
            distributions: vec![Distribution {
                kind: EntityKind::Link,
                entity: "L1 ->".into(),
                quantity: "queueing delay".into(),
                unit: "ms".into(),
                points: vec![(0.0, 0.5), (1.0, 7.25)],
            }],
            scenario_toml: "title = \"x\"\n".into(),
            transfers: vec![Transfer {
                name: "a".into(),
                group: "a".into(),
                protocol: "lgcc".into(),
                size_bytes: Some(1000),
                delivered_bytes: 900,
                start_s: 0.5,
                completed_s: None,
                shortest_ms: Some(2.5),
            }],
            ..Run::default()
        }
    }

    #[test]
    fn a_saved_run_loads_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("lgcc");
        let directory = RunDirectory::create(&target).unwrap();
        save(&run(), &Timing::default(), Extras { csv: true }, &directory).unwrap();
        directory.finish().unwrap();
        assert!(target.join("series.csv").is_file());
        let command = format!("millpond run {}", target.join("scenario.toml").display());
        let expected = [Run { command, ..run() }];
        assert_eq!(load(&target).unwrap(), expected);
        assert_eq!(load(root.path()).unwrap(), expected);
    }

    #[test]
    fn runs_of_a_comparison_load_in_its_order_and_others_after_them() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            let directory = RunDirectory::create(&root.path().join(name)).unwrap();
            save(&run(), &Timing::default(), Extras::default(), &directory).unwrap();
            directory.finish().unwrap();
        }
        let labels = || load(root.path()).unwrap().into_iter().map(|run| run.label).collect::<Vec<_>>();
        assert_eq!(labels(), ["a", "b", "c"]);
        let runs = ["c", "a"].map(|label| Run { label: label.into(), ..run() });
        let text = serde_json::to_string(&Comparison::of(&runs)).unwrap();
        fs::write(root.path().join(names::COMPARISON), text).unwrap();
        assert_eq!(labels(), ["c", "a", "b"]);
    }

    /// Names of files have no colon, and a variant keeps the one of its label.
    #[test]
    fn a_variant_of_a_comparison_has_a_directory_without_a_colon_and_its_own_label() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("both");
        let directory = ComparisonDirectory::create(&path).unwrap();
        let kept = Run { label: "lgcc:drain=4".into(), ..run() };
        directory.keep("lgcc:drain=4-seed0", &kept, &Timing::default(), Extras::default()).unwrap();
        directory.write_comparison(&Comparison::of(&[kept])).unwrap();
        let own = path.join("lgcc@drain=4-seed0");
        assert_eq!(directory.finished("lgcc:drain=4-seed0"), Some(own.clone()));
        for place in [&path, &own] {
            assert_eq!(load(place).unwrap()[0].label, "lgcc:drain=4", "{}", place.display());
        }
        assert_eq!(load(root.path()).unwrap()[0].label, "both/lgcc:drain=4");
    }

    #[test]
    fn a_directory_without_runs_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert!(load(root.path()).unwrap_err().to_string().contains("has no run"));
        fs::write(root.path().join(names::SWEEP), "{}").unwrap();
        let of_sweep = load(root.path()).unwrap_err().to_string();
        assert!(of_sweep.contains("dataset of a sweep") && of_sweep.contains("report.html"), "{of_sweep}");
        assert!(load(&root.path().join("none")).is_err());
    }
}
