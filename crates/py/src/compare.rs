//! Comparisons of runs.

use crate::error::Failure;
use crate::registry;
use crate::run::{Run, origin, svg};
use crate::scenario::Scenario;
use crate::work::{Conditions, interruptible};
use crate::world::world_of;
use millpond_diagnosis::agreement::Agreement;
use millpond_lab::{Choice, cases, compare as run_cases, notes_on_queues, world_agreements};
use millpond_results::files::comparison_json;
use millpond_results::{Comparison as Rows, Finished, Run as Results, Timing};
use millpond_terminal::{self as terminal, Document};
use pyo3::prelude::*;
use std::sync::Arc;

/// Runs of one scenario under several protocols, in several worlds or with several seeds.
#[pyclass(frozen, module = "millpond._core")]
pub struct Comparison {
    runs: Vec<Py<Run>>,
    results: Vec<Arc<Results>>,
    rows: Rows,
    /// The tables that the command prints below that of the rows.
    agreements: Vec<(String, Agreement)>,
}

#[pymethods]
impl Comparison {
    /// What a pickle holds beside the runs: the text of `comparison.json`, and the agreements as JSON.
    fn parts(&self) -> PyResult<(String, String)> {
        let agreements = serde_json::to_string(&self.agreements).map_err(Failure::from)?;
        Ok((self.json()?, agreements))
    }

    /// The comparison of these runs and `parts`.
    #[staticmethod]
    fn restore(runs: Vec<Py<Run>>, json: &str, agreements: &str) -> PyResult<Self> {
        let rows = serde_json::from_str(json).map_err(Failure::from)?;
        let agreements = serde_json::from_str(agreements).map_err(Failure::from)?;
        let results = runs.iter().map(|run| Arc::clone(&run.get().results)).collect();
        Ok(Self { runs, results, rows, agreements })
    }

    /// The runs: protocol after protocol, world after world, seed after seed.
    #[getter]
    fn runs(&self, py: Python<'_>) -> Vec<Py<Run>> {
        self.runs.iter().map(|run| run.clone_ref(py)).collect()
    }

    /// The text of `comparison.json`.
    fn json(&self) -> PyResult<String> {
        Ok(comparison_json(&self.rows).map_err(Failure::from)?)
    }

    /// The tables that `millpond compare` prints, as lines of at most `width` characters.
    #[pyo3(signature = (width=None))]
    fn text(&self, width: Option<usize>) -> String {
        let of = |document: Document, (_, one): &(_, Agreement)| document.then(terminal::agreement(one));
        self.agreements.iter().fold(terminal::comparison(&self.rows), of).fitted(width)
    }

    /// A figure of the report as SVG of the width of one or two columns, or None if the runs have not what it shows.
    fn svg(&self, kind: &str, columns: usize) -> PyResult<Option<String>> {
        let runs: Vec<Results> = self.results.iter().map(|run| (**run).clone()).collect();
        svg(&runs, kind, columns)
    }
}

/// What the threads of a comparison give.
struct Compared {
    runs: Vec<Run>,
    rows: Rows,
    agreements: Vec<(String, Agreement)>,
}

/// Runs a scenario under several protocols, at several queues, in several worlds and with several seeds.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub fn compare(
    py: Python<'_>,
    scenario: &Scenario,
    protocols: Vec<String>,
    queues: Vec<String>,
    worlds: Vec<String>,
    seeds: u64,
    threads: usize,
    command: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let mut worlds = worlds.iter().map(|name| world_of(name)).collect::<Result<Vec<_>, _>>()?;
    worlds.sort_unstable();
    worlds.dedup();
    let runs = protocols.len().max(1)
        * queues.len().max(1)
        * worlds.len()
        * usize::try_from(seeds).unwrap_or(usize::MAX);
    let choice = Choice { protocols, queues, deployment: None, worlds, seeds };
    let (origin, written) = (origin(command), Arc::clone(&scenario.resolved));
    let conditions = Conditions { runs, threads, progress };
    let compared = interruptible(py, &conditions, move |watch| {
        let registry = registry();
        let cases = cases(&written, &registry, &choice)?;
        let finished = run_cases(&cases, &registry, &origin, &|_, _| Ok(()), watch)?;
        let finished = finished.into_iter().map(|Finished { run, timing }| (run, timing));
        let (results, timings): (Vec<Results>, Vec<Timing>) = finished.unzip();
        let mut rows = Rows::of(&results);
        rows.findings.extend(notes_on_queues(&cases, &registry)?);
        rows.command.clone_from(&origin.command);
        let agreements = world_agreements(&cases, &results, &registry);
        let scenarios = cases.into_iter().map(|case| Arc::new(case.scenario));
        let runs = results.into_iter().zip(timings).zip(scenarios);
        let runs = runs.map(|((run, timing), scenario)| Run::new(run, timing, scenario)).collect();
        Ok(Compared { runs, rows, agreements })
    })?;
    let Compared { runs, rows, agreements } = compared;
    let results = runs.iter().map(|run| Arc::clone(&run.results)).collect();
    let runs = runs.into_iter().map(|run| Py::new(py, run)).collect::<PyResult<_>>()?;
    Ok(Comparison { runs, results, rows, agreements })
}
