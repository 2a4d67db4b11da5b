//! Sweeps: their plan, their dataset, and runs by their numbers, so that other processes can execute them.

use crate::error::Failure;
use crate::scenario::Scenario;
use crate::work::{Conditions, interruptible};
use crate::world::world_of;
use crate::{VERSION, guest};
use millpond_analysis_report::SweepPage;
use millpond_protocols::Registry;
use millpond_sweep::{
    MeanRow, SweepCell, SweepRecord, SweepSpec, Varied, failed_cell, means, run_cell, run_cells,
};
use millpond_terminal as terminal;
use pyo3::prelude::*;
use serde::Serialize;
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

    /// Executes the run of this number; returns its line of `runs.jsonl`.
    fn run(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        let plan = Arc::clone(&self.0);
        interruptible(py, &Conditions::PLAIN, move |watch| {
            Ok(serde_json::to_string(&run_cell(&plan, cell(&plan, number)?, 0, watch)?)?)
        })
    }

    /// The line of `runs.jsonl` of the run of this number, which a law in Python has ended with this message.
    fn failed(&self, number: usize, message: String) -> PyResult<String> {
        let record = failed_cell(&self.0, cell(&self.0, number)?, message);
        Ok(serde_json::to_string(&record).map_err(Failure::from)?)
    }

    /// The settings, protocol and seed of the run of this number, for messages.
    fn describe(&self, number: usize) -> PyResult<String> {
        let cell = cell(&self.0, number)?;
        let settings = self.0.settings(cell).into_iter().map(|(key, value)| format!("{key}={value}"));
        let protocol = cell.protocol.iter().map(|name| format!("protocol {name}"));
        Ok(settings.chain(protocol).chain([format!("seed {}", cell.seed)]).collect::<Vec<_>>().join(", "))
    }
}

fn cell(plan: &Plan, number: usize) -> Result<&SweepCell, Failure> {
    plan.cells().get(number).ok_or_else(|| Failure::input(format!("there is no run {number}")))
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
        self.dataset.missing().to_vec()
    }

    /// Adds the run of this number by its line of `runs.jsonl`, which a worker has written.
    fn append(&self, number: usize, line: &str) -> PyResult<()> {
        let record: SweepRecord = serde_json::from_str(line).map_err(Failure::from)?;
        if record.run != cell(&self.plan, number)?.key {
            return Err(self.of_another_sweep(&record).into());
        }
        Ok(self.dataset.append(&record).map_err(Failure::from)?)
    }

    /// Lets another sweep use the directory.
    fn close(&self) {
        self.dataset.close();
    }

    /// The descriptor of the journal, which forked processes must not keep.
    #[cfg(unix)]
    fn descriptor(&self) -> Option<i32> {
        self.dataset.descriptor()
    }

    /// Executes the missing runs on this number of threads ([`Conditions`]).
    fn run(&self, py: Python<'_>, threads: usize, progress: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let (plan, dataset) = (Arc::clone(&self.plan), Arc::clone(&self.dataset));
        let runs = dataset.missing().len();
        let conditions = Conditions { runs, threads, progress };
        interruptible(py, &conditions, move |watch| Ok(run_cells(&plan, &dataset, watch)?))
    }

    /// Writes tables and report; returns the means over the seeds.
    fn finish(&self, py: Python<'_>) -> PyResult<SweepMeans> {
        let finish = || -> Result<SweepMeans, Failure> {
            let records = self.dataset.records()?;
            self.dataset.write_tables(&records)?;
            let rows = means(&records);
            drop(records);
            let page = SweepPage {
                rows: &rows,
                title: self.plan.title(),
                made: &self.plan.origin(),
                runs_of_command: self.plan.cells().len(),
            };
            self.dataset.write_report(&millpond_analysis_report::sweep(&page))?;
            Ok(SweepMeans { rows })
        };
        Ok(py.detach(finish)?)
    }
}

impl Dataset {
    /// Why a run is not added whose key is not that of this plan.
    fn of_another_sweep(&self, record: &SweepRecord) -> Failure {
        let (own, other) = (self.plan.version(), record.version.as_str());
        Failure::input(if own == other {
            "a worker has executed another run than it was sent: its scenario refers to traces or other files that differ from \
             those of this process. Give all workers the same files under the same paths, and call the sweep again"
                .to_owned()
        } else {
            format!(
                "a worker has version {other} of Millpond and its laws, this process has {own}. Install the same version for \
                 all workers, and call the sweep again"
            )
        })
    }
}

/// A row for each combination of settings and protocol, as `millpond sweep` prints them.
#[pyclass(frozen, module = "millpond._core")]
#[derive(Serialize)]
pub struct SweepMeans {
    rows: Vec<MeanRow>,
}

#[pymethods]
impl SweepMeans {
    /// The document that `millpond sweep --json` prints.
    fn json(&self) -> PyResult<String> {
        Ok(serde_json::to_string_pretty(self).map_err(Failure::from)?)
    }

    /// The table that `millpond sweep` prints.
    fn table(&self) -> String {
        terminal::sweep(&self.rows).fitted(None)
    }
}
