//! Sweeps: their plan, their dataset, and runs by their numbers, so that other processes can execute them.

use crate::error::Failure;
use crate::scenario::Scenario;
use crate::work::{Conditions, interruptible};
use crate::world::world_of;
use crate::{VERSION, guest};
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_sweep::{MeanRow, SweepSpec, Varied, means, run_cell, run_cells};
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The registry of new plans, with the number of changes of the list of guests before it.
static REGISTRY: Mutex<Option<(u64, &'static Registry)>> = Mutex::new(None);

/// The registry with the laws that are registered now. Plans live as long as Python keeps them, and one registry lives for each
/// list of guests that plans have used.
fn registry() -> &'static Registry {
    let (registry, changes) = guest::registry();
    let mut kept = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    match *kept {
        Some((number, registry)) if number == changes => registry,
        _ => {
            let registry: &'static Registry = Box::leak(Box::new(registry));
            *kept = Some((changes, registry));
            registry
        }
    }
}

type Plan = millpond_sweep::SweepPlan<'static>;

/// The runs of a sweep.
#[pyclass(frozen, module = "millpond._core")]
pub struct SweepPlan(Arc<Plan>);

#[pymethods]
impl SweepPlan {
    /// Checks the scenario, each value by itself and each protocol. `guests` names the code of laws in Python; it is a part of
    /// the version in the keys of runs.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        vary: Vec<String>,
        samples: Option<u32>,
        protocols: Vec<String>,
        seeds: u64,
        world: &str,
        guests: &str,
    ) -> PyResult<Self> {
        let varied = vary.iter().map(|text| Varied::parse(text).map_err(Failure::input));
        let spec = SweepSpec {
            file: scenario.file(),
            sets: scenario.sets(),
            seed: scenario.chosen_seed(),
            varied: varied.collect::<Result<_, _>>()?,
            samples,
            protocols,
            world: world_of(world)?,
            seeds,
        };
        let text = scenario.text();
        let version = format!("{VERSION}{guests}");
        let plan = move || Plan::with_text(spec, text, registry(), &version);
        Ok(Self(Arc::new(py.detach(plan).map_err(Failure::from)?)))
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.0.cells().len()
    }

    /// Executes the runs of these numbers; returns a line of `runs.jsonl` for each.
    fn run(&self, py: Python<'_>, numbers: Vec<usize>) -> PyResult<Vec<String>> {
        let plan = Arc::clone(&self.0);
        interruptible(py, &Conditions::PLAIN, move |watch| {
            let line = |number: &usize| {
                let cell = plan.cells().get(*number);
                let cell = cell.ok_or_else(|| Failure::input(format!("there is no run {number}")))?;
                Ok(serde_json::to_string(&run_cell(&plan, cell, 0, watch)?)?)
            };
            numbers.iter().map(line).collect()
        })
    }
}

/// The directory of a sweep, to which one process at a time adds runs.
#[pyclass(frozen, module = "millpond._core")]
pub struct Dataset {
    plan: Arc<Plan>,
    dataset: Arc<millpond_sweep::Dataset>,
}

#[pymethods]
impl Dataset {
    /// Creates the directory of a sweep, or opens that of an interrupted or smaller one.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, plan: &SweepPlan, replace: bool) -> PyResult<Self> {
        let plan = Arc::clone(&plan.0);
        let open = || -> Result<Self, Failure> {
            if replace {
                millpond_sweep::Dataset::remove(&path)?;
            }
            let dataset = Arc::new(millpond_sweep::Dataset::open(&path, &plan)?);
            Ok(Self { plan, dataset })
        };
        Ok(py.detach(open)?)
    }

    /// The numbers of the runs that the dataset did not have when it was opened.
    fn missing(&self) -> Vec<usize> {
        let cells = self.plan.cells();
        let missing: BTreeSet<&str> = self.dataset.missing(cells).map(|cell| cell.key.as_str()).collect();
        let numbered = cells.iter().enumerate();
        numbered.filter(|(_, cell)| missing.contains(cell.key.as_str())).map(|(number, _)| number).collect()
    }

    /// Adds a run by its line of `runs.jsonl`.
    fn append(&self, line: &str) -> PyResult<()> {
        let record = serde_json::from_str(line).map_err(Failure::from)?;
        Ok(self.dataset.append(&record).map_err(Failure::from)?)
    }

    /// Executes the missing runs on this number of threads; 0 for one per core.
    fn run(&self, py: Python<'_>, threads: usize, progress: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let (plan, dataset) = (Arc::clone(&self.plan), Arc::clone(&self.dataset));
        let runs = dataset.missing(plan.cells()).count();
        let conditions = Conditions { runs, threads, progress };
        interruptible(py, &conditions, move |watch| Ok(run_cells(&plan, &dataset, watch)?))
    }

    /// Writes tables and report; returns the JSON and the table that `millpond sweep` prints.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let finish = || -> Result<(String, String), Failure> {
            let records = self.dataset.records()?;
            self.dataset.write_tables(&records)?;
            let rows = means(&records);
            self.dataset.write_report(&millpond_analysis_report::sweep(&rows, self.plan.title()))?;
            let tables = terminal::sweep(&rows).fitted(None);
            Ok((serde_json::to_string_pretty(&SweepMeans { rows })?, tables))
        };
        Ok(py.detach(finish)?)
    }
}

/// The runs of a dataset, as `millpond sweep --json` prints them.
#[derive(Serialize)]
struct SweepMeans {
    rows: Vec<MeanRow>,
}
