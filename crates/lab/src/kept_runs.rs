//! Finished runs in a folder, from which an interrupted check or evaluation continues.

use crate::error::Error;
use crate::world::run;
use millpond_protocols::Registry;
use millpond_results::files::{Extras, RunDirectory, load, save};
use millpond_results::{About, Run, Watch};
use millpond_scenario::Scenario;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A run that is wanted.
pub struct WantedRun<'a> {
    /// The beginning of the name of its directory: words, to which the digest is added.
    pub name: String,
    /// Its scenario.
    pub scenario: &'a Scenario,
    /// The protocols and queues that the scenario may use.
    pub registry: &'a Registry,
    /// The label, the command, the version and the world.
    pub about: About,
}

impl WantedRun<'_> {
    /// The run: loaded from `folder` if it was kept there, else made, and kept if there is a folder.
    ///
    /// # Errors
    /// The faults of the scenario, a folder that cannot be written, or the interruption by `watch`.
    pub fn load_or_make(self, folder: Option<&Path>, watch: &dyn Watch) -> Result<Run, Error> {
        let directory = folder.map(|folder| folder.join(self.directory_name()));
        if let Some(found) = directory.as_ref().and_then(|directory| load(directory).ok()?.pop()) {
            return Ok(found);
        }
        let finished = run(self.scenario, self.registry, self.about, watch)?;
        if let Some(directory) = directory {
            let directory = RunDirectory::create(&directory)?;
            save(&finished.run, &finished.timing, Extras::default(), &directory)?;
            directory.finish()?;
        }
        Ok(finished.run)
    }

    /// The name of its directory: readable, and different if the scenario, its traces, the seed, the world or this program
    /// differ.
    fn directory_name(&self) -> PathBuf {
        let key = self.scenario.key();
        let mut digest = Sha256::new();
        digest.update(env!("CARGO_PKG_VERSION"));
        digest.update(program_digest());
        digest.update(self.about.world.name());
        digest.update(key.sha256);
        key.traces.iter().for_each(|trace| digest.update(&trace.sha256));
        digest.update(self.scenario.seed.to_le_bytes());
        let mut short = String::new();
        for byte in digest.finalize().iter().take(8) {
            // Writing to a String cannot fail.
            let _ = write!(short, "{byte:02x}");
        }
        let words = self.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        PathBuf::from(words.chain([short.as_str()]).collect::<Vec<_>>().join("-"))
    }
}

/// The digest of this program's file, so that results of another build are not reused; empty if it cannot be read.
fn program_digest() -> &'static [u8] {
    use std::sync::OnceLock;
    static DIGEST: OnceLock<Vec<u8>> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        Sha256::digest(bytes).to_vec()
    })
}
