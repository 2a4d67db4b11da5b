//! Runs cells: a recurrence at once, a scenario in its world, a finished one from where it was kept; or has them answered.

use super::analysis::Answer;
use super::analyze::Question;
use super::trial::Cell;
use millpond_lab::{Error, run};
use millpond_protocols::Registry;
use millpond_results::files::{Extras, RunDirectory, load, save};
use millpond_results::{About, Run, Watch};
use millpond_scenario::Scenario;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How recipes are run.
#[derive(Clone)]
pub struct Settings {
    /// The protocols and queues that their scenarios may name.
    pub registry: Registry,
    /// At the paper's own extent?
    pub full: bool,
    /// Values laid over every scenario, as `--set` takes them.
    pub set: Vec<String>,
    /// A trace in place of every trace of the recipes.
    pub trace: Option<PathBuf>,
    /// Where finished runs are kept, and found again by a check that was interrupted.
    pub keep: Option<PathBuf>,
    /// Return one run of each case, for drawing?
    pub draw: bool,
}

impl Settings {
    /// A quick check with what Millpond ships, nothing kept.
    pub fn quick() -> Self {
        Self {
            registry: Registry::builtin(),
            full: false,
            set: Vec::new(),
            trace: None,
            keep: None,
            draw: false,
        }
    }
}

/// What a cell ends with.
#[derive(Clone, Debug)]
pub enum Ended {
    /// A run.
    Run(Box<Run>),
    /// The answer of an analysis.
    Answer(Answer),
}

/// Runs one cell, the one that `watch` knows by `index`.
///
/// # Errors
/// What is wrong with the scenario, that nothing can be kept, or that `watch` stopped it.
pub(super) fn execute(
    cell: &Cell<'_>,
    index: usize,
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<Ended, Error> {
    if let Some(recurrence) = cell.recurrence() {
        return Ok(Ended::Run(Box::new(recurrence.run(&cell.label()))));
    }
    let scenario = cell.scenario(&settings.set, settings.trace.as_deref())?;
    if let Some(analysis) = cell.case.analysis {
        let question = Question { cell, scenario: &scenario, registry: &settings.registry, index, watch };
        return Ok(Ended::Answer(question.answer(analysis)?));
    }
    Ok(Ended::Run(Box::new(integrate(cell, &scenario, index, settings, watch)?)))
}

fn integrate(
    cell: &Cell<'_>,
    scenario: &Scenario,
    index: usize,
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<Run, Error> {
    let kept = settings.keep.as_ref().map(|folder| folder.join(key(cell, &format!("{scenario:?}"))));
    if let Some(found) = kept.as_ref().and_then(|directory| load(directory).ok()?.pop()) {
        return Ok(found);
    }
    let about = About { label: cell.label(), command: cell.command(), index, world: cell.case.world };
    let finished = run(scenario, &settings.registry, about, watch)?;
    if let Some(directory) = kept {
        let directory = RunDirectory::create(&directory)?;
        save(&finished.run, &finished.timing, Extras::default(), &directory)?;
        directory.finish()?;
    }
    Ok(finished.run)
}

/// The name of a cell's directory: readable, and different if the scenario, its traces, the seed or this program
/// differ.
fn key(cell: &Cell<'_>, scenario: &str) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(env!("CARGO_PKG_VERSION"));
    digest.update(program());
    digest.update(cell.case.world.name());
    digest.update(scenario);
    let mut short = String::new();
    for byte in digest.finalize().iter().take(8) {
        // Writing to a String cannot fail.
        let _ = write!(short, "{byte:02x}");
    }
    let words = format!("{} {} seed {}", cell.case.name, cell.reading.name, cell.seed);
    let plain: Vec<_> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    Path::new(&cell.recipe.name).join(format!("{}-{short}", plain.join("-")))
}

/// The bytes of this program: what another build computed is not taken for its own. Empty where it cannot be read.
fn program() -> &'static [u8] {
    use std::sync::OnceLock;
    static DIGEST: OnceLock<Vec<u8>> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        Sha256::digest(bytes).to_vec()
    })
}
