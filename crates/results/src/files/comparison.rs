//! The directory of a comparison, with one directory per run, which appears when the run has ended.

use super::atomic_file::write_atomically;
use super::directory::{OutputError, RunDirectory, make, missing_parents, refuse_existing};
use super::save::{Extras, comparison_json, save};
use crate::{Comparison, Run, Timing};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file with the rows of a comparison.
const COMPARISON: &str = "comparison.json";

/// What a comparison of several seeds appends to the name of a run's directory.
pub fn seed_suffix(seed: u64) -> String {
    format!("-seed{seed}")
}

/// The directory of a comparison. It is removed when dropped without any run.
#[derive(Debug)]
pub struct ComparisonDirectory {
    path: PathBuf,
    /// Parent directories that were created, the outermost first.
    made: Vec<PathBuf>,
}

impl ComparisonDirectory {
    /// Creates `path`, which must not exist, and missing parents.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        refuse_existing(path)?;
        let directory = Self { path: path.to_owned(), made: missing_parents(path) };
        make(path, path)?;
        Ok(directory)
    }

    /// Writes `comparison.json`.
    pub fn write_comparison(&self, comparison: &Comparison) -> Result<(), OutputError> {
        let path = self.path.join(COMPARISON);
        let text = comparison_json(comparison)
            .map_err(|error| OutputError { path: path.clone(), fault: error.to_string() })?;
        write_atomically(&path, text.as_bytes())
    }

    /// Writes a run that has ended.
    pub fn keep(&self, name: &str, run: &Run, timing: &Timing, extras: Extras) -> Result<(), OutputError> {
        let directory = RunDirectory::create(&self.path.join(name))?;
        save(run, timing, extras, &directory)?;
        directory.finish().map(|_| ())
    }
}

impl Drop for ComparisonDirectory {
    /// Removes the directory and the created parents if they are empty.
    fn drop(&mut self) {
        for path in std::iter::once(&self.path).chain(self.made.iter().rev()) {
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_runs_is_removed_and_one_with_runs_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        drop(ComparisonDirectory::create(&path).unwrap());
        assert!(!root.path().join("a").exists());
        let directory = ComparisonDirectory::create(&path).unwrap();
        directory.keep("lgcc", &Run::default(), &Timing::default(), Extras::default()).unwrap();
        drop(directory);
        assert!(path.join("lgcc/summary.json").is_file());
    }

    #[test]
    fn an_existing_directory_is_refused_and_stays_even_if_it_is_empty() {
        let root = tempfile::tempdir().unwrap();
        assert!(ComparisonDirectory::create(root.path()).is_err());
        assert!(root.path().is_dir());
    }
}
