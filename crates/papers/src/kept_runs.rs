//! Finished runs in a folder, from which an interrupted check or evaluation continues.

use millpond_lab::{Error, run};
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

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{RunOrigin, Unwatched, World};

    const SCENARIO: &str = "duration = '1s'\n[dumbbell]\nbottleneck = { rate = '10Mbps', delay = '5ms' }\n\
                            [[flows]]\nname = 'f'\nprotocol = 'cubic'\n";

    fn make(folder: &Path, name: &str, overrides: &[&str]) -> Run {
        let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_owned()).collect();
        let scenario =
            Scenario::parse(SCENARIO, "x.toml", Path::new("."), &overrides, &millpond_scenario::Disk);
        let about =
            About { label: name.to_owned(), origin: RunOrigin::default(), index: 0, world: World::Packets };
        let wanted = WantedRun {
            name: name.to_owned(),
            scenario: &scenario.unwrap(),
            registry: &Registry::builtin(),
            about,
        };
        wanted.load_or_make(Some(folder), &Unwatched).unwrap()
    }

    fn kept(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_run_is_loaded_if_scenario_seed_and_name_are_those_of_a_kept_one_and_made_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let first = make(folder.path(), "a, seed 1", &[]);
        assert_eq!((kept(folder.path()), first.label.as_str()), (1, "a, seed 1"));
        assert_eq!(make(folder.path(), "a: seed-1", &[]).label, "a, seed 1", "loaded");
        for change in ["seed=2", "duration=2s", "flows.f.protocol=newreno"] {
            let before = kept(folder.path());
            make(folder.path(), "a, seed 1", &[change]);
            assert_eq!(kept(folder.path()), before + 1, "{change}");
        }
    }
}
