//! A job: what the server writes to the standard input of a process, which answers with one JSON object per line.

use crate::effort::check_flows;
use crate::faults::{self, PlacedFault};
use crate::files::Sandbox;
use crate::messages::{Message, PageWorld};
use crate::requests::Edited;
use millpond_plan::law_faults;
use millpond_protocols::Registry;
use millpond_scenario::{Faults, Scenario};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;

/// The first argument of a process that is a job.
pub(crate) const ARGUMENT: &str = "--playground-job";

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    /// Faults, drawing, sliders and effort.
    Check,
    /// Writes overrides into the text.
    Apply,
    /// A notebook.
    Notebook,
    /// A run in a world.
    Run(PageWorld),
    /// The theory.
    Analysis,
}

impl Task {
    /// A fault of this task as a line of the answer.
    pub(crate) fn fault(self, faults: Vec<PlacedFault>) -> Message {
        let world = if let Self::Run(world) = self { Some(world) } else { None };
        Message::Fault { world, analysis: self == Self::Analysis, faults }
    }
}

/// A job as the server writes it to the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) edited: Edited,
    /// The folder whose files a scenario may read, without symbolic links; the current folder of the process.
    pub(crate) folder: PathBuf,
    /// The width of a figure in pixels.
    pub(crate) width: u32,
}

impl Job {
    /// The scenario of the request.
    ///
    /// # Errors
    /// Everything that is wrong with it, or too many flows.
    pub(crate) fn scenario(&self, registry: &Registry) -> Result<Scenario, Vec<PlacedFault>> {
        let files = Sandbox::new(&self.folder).map_err(|error| {
            vec![PlacedFault::plain(format!("the folder {} cannot be read: {error}", self.folder.display()))]
        })?;
        let Edited { text, overrides } = &self.edited;
        let further = |readable: &Scenario| law_faults(readable, registry);
        let scenario =
            Scenario::parse_with(text, faults::SCENARIO, &self.folder, overrides, &files, &further);
        let scenario = scenario.map_err(|found: Faults| faults::placed(&found))?;
        check_flows(&scenario)?;
        Ok(scenario)
    }
}

/// Writes a JSON object and a line break.
pub(crate) fn line(output: &mut dyn Write, value: &impl Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}
