//! A directory of runs, each of which appears in it as soon as it has ended.

use super::directory::{OutputError, RunDirectory, make, missing_parents, refuse_existing};
use super::save::{Extras, save};
use crate::{Run, Timing};
use std::fs;
use std::path::{Path, PathBuf};

/// Holds the runs of a comparison. Dropped without any it leaves nothing behind.
#[derive(Debug)]
pub struct ComparisonDirectory {
    path: PathBuf,
    /// Parents that did not exist before, the outermost first.
    made: Vec<PathBuf>,
}

impl ComparisonDirectory {
    /// Makes `path`, which must not exist; missing parents are made too.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        refuse_existing(path)?;
        let directory = Self { path: path.to_owned(), made: missing_parents(path) };
        make(path, path)?;
        Ok(directory)
    }

    /// Adds a run that has ended.
    pub fn keep(&self, name: &str, run: &Run, timing: &Timing, extras: Extras) -> Result<(), OutputError> {
        let directory = RunDirectory::create(&self.path.join(name))?;
        save(run, timing, extras, &directory)?;
        directory.finish().map(|_| ())
    }
}

impl Drop for ComparisonDirectory {
    /// Removes what is empty; a directory that holds a run is not.
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
    fn runs_stay_and_an_empty_directory_does_not() {
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
    fn a_directory_that_is_there_already_stays_even_if_it_is_empty() {
        let root = tempfile::tempdir().unwrap();
        assert!(ComparisonDirectory::create(root.path()).is_err());
        assert!(root.path().is_dir());
    }
}
