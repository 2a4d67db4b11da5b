//! Runs: made, loaded, saved, and read as tables.

use crate::error::Failure;
use crate::pickle::{self, RunParts};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::work::{Conditions, interruptible};
use crate::world::world_of;
use crate::{VERSION, registry, table_columns};
use millpond_lab::{Choice, cases};
use millpond_report::{FigureKind, PAPER_RULES, PaperWidth, figure};
use millpond_results::files::{self, Extras, OutputError, RunDirectory, save, summary_json};
use millpond_results::{About, Finished, Run as Results, RunOrigin, Timing};
use millpond_scenario::Scenario as Resolved;
use millpond_terminal as terminal;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A finished run.
#[pyclass(frozen, module = "millpond._core")]
pub struct Run {
    pub(crate) results: Arc<Results>,
    /// None if the run was loaded.
    timing: Option<Timing>,
    /// None if the run was loaded or restored from a pickle.
    pub(crate) scenario: Option<Arc<Resolved>>,
    /// The directory from which the run was loaded.
    pub(crate) directory: Option<PathBuf>,
}

impl Run {
    pub(crate) fn new(results: Results, timing: Timing, scenario: Arc<Resolved>) -> Self {
        Self { results: Arc::new(results), timing: Some(timing), scenario: Some(scenario), directory: None }
    }
}

#[pymethods]
impl Run {
    /// What a pickle holds of the run.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<RunParts<'py>> {
        Ok(pickle::parts(py, &self.results, self.timing, self.directory.clone())?)
    }

    /// The run of these `parts`.
    #[staticmethod]
    fn restore(parts: RunParts<'_>) -> PyResult<Self> {
        let (results, timing, directory) = pickle::restored(parts)?;
        Ok(Self { results: Arc::new(results), timing, scenario: None, directory })
    }

    /// Label of the run: in a comparison that of its row, else the title of the scenario.
    #[getter]
    fn label(&self) -> &str {
        &self.results.label
    }

    /// The call or the command that reproduces the run.
    #[getter]
    fn command(&self) -> &str {
        &self.results.command
    }

    /// The scenario with all defaults, as TOML.
    #[getter]
    fn scenario_toml(&self) -> &str {
        &self.results.scenario_toml
    }

    /// Elapsed time and processor time of the run, in seconds; None for a run that was loaded.
    #[getter]
    fn timing_s(&self) -> Option<(f64, Option<f64>)> {
        self.timing.map(|timing| (timing.wall_s, timing.cpu_s))
    }

    /// The text of `summary.json`.
    fn summary_json(&self) -> PyResult<String> {
        Ok(summary_json(&self.results).map_err(Failure::from)?)
    }

    /// The table that `millpond run` prints, as lines of at most `width` characters.
    #[pyo3(signature = (width=None))]
    fn text(&self, width: Option<usize>) -> String {
        terminal::summary(&self.results.summary).fitted(width)
    }

    /// Kind, entity, quantity and unit of each series.
    fn series_keys(&self) -> Vec<(&'static str, &str, &str, &str)> {
        let series = self.results.series.iter();
        series.map(|s| (s.kind.name(), s.entity.as_str(), s.quantity.as_str(), s.unit.as_str())).collect()
    }

    /// Times and values of a series by its number in `series_keys`, as bytes of numbers of 64 bits.
    fn series_values(&self, number: usize) -> PyResult<(&[u8], &[u8])> {
        let series = self.results.series.get(number);
        let series = series.ok_or_else(|| Failure::input(format!("there is no series {number}")))?;
        Ok((bytemuck::cast_slice(&series.times), bytemuck::cast_slice(&series.values)))
    }

    /// Kind, entity, quantity, unit, shares and values of each distribution.
    fn distribution_keys(&self) -> Vec<(&'static str, &str, &str, &str)> {
        let distributions = self.results.distributions.iter();
        distributions
            .map(|d| (d.kind.name(), d.entity.as_str(), d.quantity.as_str(), d.unit.as_str()))
            .collect()
    }

    /// Cumulative shares and values of a distribution by its number in `distribution_keys`, as bytes of numbers of 64 bits.
    fn distribution_points(&self, number: usize) -> PyResult<(Vec<u8>, Vec<u8>)> {
        let distribution = self.results.distributions.get(number);
        let distribution =
            distribution.ok_or_else(|| Failure::input(format!("there is no distribution {number}")))?;
        let (shares, values): (Vec<f64>, Vec<f64>) = distribution.points.iter().copied().unzip();
        Ok((bytemuck::cast_slice(&shares).to_vec(), bytemuck::cast_slice(&values).to_vec()))
    }

    /// Quantities over time: the table `series.parquet`.
    fn series(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(py.detach(|| Table::series(&self.results))?)
    }

    /// One row for each declared flow.
    fn flows(&self) -> PyResult<Table> {
        Ok(Table::of(table_columns::flows(&self.results.summary.flows))?)
    }

    /// One row for each direction of each link.
    fn links(&self) -> PyResult<Table> {
        Ok(Table::of(table_columns::links(&self.results.summary.links))?)
    }

    /// Every transfer: the table `flows.parquet`.
    fn transfers(&self) -> PyResult<Table> {
        Ok(Table::of(table_columns::with_units(files::transfer_columns(&self.results)))?)
    }

    /// Distributions of queueing delay: the table `distributions.parquet`.
    fn distributions(&self) -> PyResult<Table> {
        Ok(Table::of(table_columns::with_units(files::distribution_columns(&self.results)))?)
    }

    /// Writes the files of the run into a directory that must not exist, or replaces a run.
    fn save(&self, py: Python<'_>, directory: PathBuf, replace: bool, csv: bool) -> PyResult<()> {
        let write = || -> Result<(), Failure> {
            let begin = if replace { RunDirectory::replace } else { RunDirectory::create };
            // The option of the command is an argument here.
            let in_python = |error: OutputError| error.to_string().replace("--force", "replace=True");
            let directory = begin(&directory).map_err(|error| Failure::input(in_python(error)))?;
            save(&self.results, &self.timing.unwrap_or_default(), Extras { csv }, &directory)?;
            directory.finish()?;
            Ok(())
        };
        Ok(py.detach(write)?)
    }

    /// A figure of the report as SVG of the width of one or two columns, or None if the run has not what it shows.
    fn svg(&self, kind: &str, columns: usize) -> PyResult<Option<String>> {
        svg(std::slice::from_ref(&*self.results), kind, columns)
    }
}

/// A figure of the report of these runs.
pub(crate) fn svg(runs: &[Results], kind: &str, columns: usize) -> PyResult<Option<String>> {
    let chosen = FigureKind::ALL.into_iter().find(|one| one.name() == kind);
    let chosen = chosen.ok_or_else(|| Failure::input(format!("there is no figure \"{kind}\"")))?;
    let width = if columns == 1 { PaperWidth::OneColumn } else { PaperWidth::TwoColumns };
    Ok(figure(runs, chosen, None).ok().map(|figure| figure.to_svg(width, PAPER_RULES)))
}

/// The origin of runs that this call makes.
pub(crate) fn origin(command: &str) -> RunOrigin {
    RunOrigin { command: command.to_owned(), version: VERSION.to_owned() }
}

/// Runs a scenario, with `protocol` for all flows that are not pinned.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    world: &str,
    protocol: Option<String>,
    command: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let (origin, world) = (origin(command), world_of(world)?);
    let written = Arc::clone(&scenario.resolved);
    let conditions = Conditions { progress, ..Conditions::PLAIN };
    interruptible(py, &conditions, move |watch| {
        let registry = registry();
        let (label, scenario) = match protocol {
            None => (written.title.clone(), written),
            Some(protocol) => {
                let choice = Choice { protocols: vec![protocol], ..Choice::of(world) };
                let case = cases(&written, &registry, &choice)?.into_iter().next();
                case.map_or((String::new(), written), |case| (case.label, Arc::new(case.scenario)))
            }
        };
        let about = About { label, origin, index: 0, world };
        let Finished { run, timing } = millpond_lab::run(&scenario, &registry, about, watch)?;
        Ok(Run::new(run, timing, scenario))
    })
}

/// The runs in a directory: one, or all below it.
#[pyfunction]
pub fn load_runs(py: Python<'_>, directory: PathBuf) -> PyResult<Vec<Run>> {
    let load = move || -> Result<Vec<Run>, Failure> {
        let is_one = |runs: &[Results]| runs.len() == 1 && files::scenario_of(&directory).is_file();
        let runs = files::load(&directory)?;
        let place = is_one(&runs).then(|| directory.clone());
        let run = |results| Run {
            results: Arc::new(results),
            timing: None,
            scenario: None,
            directory: place.clone(),
        };
        Ok(runs.into_iter().map(run).collect())
    };
    Ok(py.detach(load)?)
}
