//! Scenarios: read, changed and resolved.

use crate::error::Failure;
use crate::registry;
use crate::world::world_of;
use millpond_plan::{fluid, packets};
use millpond_results::World;
use millpond_scenario::{Disk, Scenario as Resolved};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario: its text, the changes of it, and what they resolve to.
#[pyclass(frozen, module = "millpond._core")]
#[derive(Clone)]
pub struct Scenario {
    text: Arc<str>,
    /// The name of the text in errors.
    name: Arc<str>,
    /// The folder to which the paths of traces are relative.
    folder: PathBuf,
    /// Changes in the form of `--set`.
    sets: Vec<String>,
    /// The seed that replaces that of the text, as with `--seed`.
    seed: Option<u64>,
    pub(crate) resolved: Arc<Resolved>,
}

#[pymethods]
impl Scenario {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || -> Result<Self, Failure> {
            let resolved = Resolved::load(&path, &[])?;
            Ok(Self {
                text: resolved.sources.text(0).into(),
                name: path.display().to_string().into(),
                folder: path.parent().unwrap_or(Path::new("")).to_owned(),
                sets: Vec::new(),
                seed: None,
                resolved: Arc::new(resolved),
            })
        };
        Ok(py.detach(read)?)
    }

    /// Reads a text. Errors call it `name`; paths of traces are relative to `folder`.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, name: &str, folder: PathBuf) -> PyResult<Self> {
        Ok(py.detach(|| Self::resolve(text.into(), name.into(), folder, Vec::new(), None))?)
    }

    /// The scenario of these `parts`.
    #[staticmethod]
    fn restore(
        py: Python<'_>,
        text: &str,
        name: &str,
        folder: PathBuf,
        sets: Vec<String>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        Ok(py.detach(|| Self::resolve(text.into(), name.into(), folder, sets, seed))?)
    }

    /// Text, name, folder, changes and chosen seed, from which `restore` makes the same scenario.
    fn parts(&self) -> (&str, &str, PathBuf, Vec<String>, Option<u64>) {
        (&self.text, &self.name, self.folder.clone(), self.sets.clone(), self.seed)
    }

    /// The scenario with further changes in the form of `--set`.
    fn with_sets(&self, py: Python<'_>, sets: Vec<String>) -> PyResult<Self> {
        let sets = [self.sets.clone(), sets].concat();
        let Self { text, name, folder, seed, .. } = self.clone();
        Ok(py.detach(|| Self::resolve(text, name, folder, sets, seed))?)
    }

    /// The scenario with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        let resolved = Resolved { seed, ..(*self.resolved).clone() };
        Self { seed: Some(seed), resolved: Arc::new(resolved), ..self.clone() }
    }

    /// Title of the scenario.
    #[getter]
    fn title(&self) -> &str {
        &self.resolved.title
    }

    /// Seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.resolved.seed
    }

    /// Simulated time of a run, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.resolved.duration.secs()
    }

    /// The name in errors: the path of the file.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Names of the groups of flows, in the order of the scenario.
    #[getter]
    fn groups(&self) -> Vec<String> {
        self.resolved.flows.iter().map(|group| group.name.value.clone()).collect()
    }

    /// Names of the links, in the order of the scenario.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.resolved.links.iter().map(|link| link.name.value.clone()).collect()
    }

    /// Names of the protocols of its flows, of its entries and of their loops, as the registry lists them.
    fn protocols(&self) -> Vec<String> {
        let named = self.resolved.flows.iter().map(|group| group.protocol.value.clone());
        let entries = self.resolved.protocols.values();
        let of_entries =
            entries.flat_map(|entry| std::iter::once(&entry.protocol).chain(entry.loops.values()));
        named.chain(of_entries.map(|name| name.value.clone())).collect()
    }

    /// What runs depend on: the hash of the scenario without its seed, the seed, and the hash of each trace.
    fn key(&self, py: Python<'_>) -> (String, u64, Vec<String>) {
        let key = py.detach(|| self.resolved.key());
        (key.sha256, self.resolved.seed, key.traces.into_iter().map(|trace| trace.sha256).collect())
    }

    /// The scenario with all defaults, as TOML.
    fn to_toml(&self) -> String {
        self.resolved.to_toml()
    }

    /// The warnings of a valid scenario and its outline, as `millpond check` prints them.
    fn check(&self, py: Python<'_>, world: &str) -> PyResult<(Vec<String>, String)> {
        let world = world_of(world)?;
        Ok(py.detach(|| check(&self.resolved, world))?)
    }
}

impl Scenario {
    /// The text without changes.
    pub(crate) fn text(&self) -> String {
        self.text.as_ref().to_owned()
    }

    /// The path of the file; of a text, a path in its folder.
    pub(crate) fn file(&self) -> PathBuf {
        let name = Path::new(self.name.as_ref());
        self.folder.join(name.file_name().unwrap_or(name.as_os_str()))
    }

    /// The changes in the form of `--set`.
    pub(crate) fn sets(&self) -> Vec<String> {
        self.sets.clone()
    }

    /// The seed that replaces that of the text.
    pub(crate) fn chosen_seed(&self) -> Option<u64> {
        self.seed
    }

    fn resolve(
        text: Arc<str>,
        name: Arc<str>,
        folder: PathBuf,
        sets: Vec<String>,
        seed: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut resolved = Resolved::parse(&text, &name, &folder, &sets, &Disk)?;
        if let Some(seed) = seed {
            resolved = resolved.with_seed(seed);
        }
        Ok(Self { text, name, folder, sets, seed, resolved: Arc::new(resolved) })
    }
}

fn check(scenario: &Resolved, world: World) -> Result<(Vec<String>, String), Failure> {
    match world {
        World::Packets | World::Live => {
            let packets::PacketCheck { warnings, outline } = packets::check(scenario, &registry())?;
            Ok((warnings, outline))
        }
        World::Fluid => {
            let plan = fluid::plan(scenario, &registry())?;
            fluid::check_method(scenario, &plan)?;
            Ok((plan.warnings.clone(), plan.outline()))
        }
    }
}
