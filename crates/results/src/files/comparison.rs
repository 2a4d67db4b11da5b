//! The directory of a comparison, with one directory per run, which appears when the run has ended.

use super::atomic_file::write_atomically;
use super::directory::{
    OutputError, RunDirectory, is_run, make, missing_parents, refuse_existing, remove_all_abandoned,
};
use super::names;
use super::save::{Extras, comparison_json, save};
use crate::{Comparison, Run, Timing};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the directory of the run with this name, in which an `@` stands for the colon of a variant: Windows has no colon
/// in names, and rsync and scp take what is before it for a host. No name of a protocol has an `@`.
fn directory_name(run: &str) -> String {
    run.replace(':', "@")
}

/// The name of the run whose directory in a comparison has this name.
pub(super) fn run_name(directory: &str) -> String {
    directory.replace('@', ":")
}

/// The name of the report that `compare --out` writes.
const REPORT: &str = "report.html";

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
        if is_comparison(path) {
            let fault =
                "exists already; continue it with --resume, replace it with --force, or give another name";
            return Err(OutputError::new(path, fault));
        }
        refuse_existing(path)?;
        let directory = Self { path: path.to_owned(), made: missing_parents(path) };
        make(path, path)?;
        Ok(directory)
    }

    /// Creates `path` and replaces an older comparison. If it exists, it must have nothing but the files of a comparison, which are removed.
    pub fn replace(path: &Path) -> Result<Self, OutputError> {
        if fs::symlink_metadata(path).is_ok() {
            if !is_comparison(path) {
                return Err(OutputError::new(
                    path,
                    "has other files than those of a comparison, and is not replaced",
                ));
            }
            fs::remove_dir_all(path)
                .map_err(|error| OutputError::io(path, "replace this directory", &error))?;
        }
        Self::create(path)
    }

    /// Opens `path`, which an interrupted comparison has left, without what it had not finished; creates it if there is
    /// none.
    pub fn resume(path: &Path) -> Result<Self, OutputError> {
        if fs::symlink_metadata(path).is_err() {
            return Self::create(path);
        }
        if !is_comparison(path) {
            return Err(OutputError::new(
                path,
                "has other files than those of a comparison, and is not resumed",
            ));
        }
        remove_all_abandoned(path);
        Ok(Self { path: path.to_owned(), made: Vec::new() })
    }

    /// The directory of the run with this name, if it has ended.
    pub fn finished(&self, name: &str) -> Option<PathBuf> {
        Some(self.path.join(directory_name(name))).filter(|path| is_run(path))
    }

    /// Writes `comparison.json`.
    pub fn write_comparison(&self, comparison: &Comparison) -> Result<(), OutputError> {
        let path = self.path.join(names::COMPARISON);
        let text = comparison_json(comparison)
            .map_err(|error| OutputError { path: path.clone(), fault: error.to_string() })?;
        write_atomically(&path, text.as_bytes())
    }

    /// Writes a run that has ended.
    pub fn keep(&self, name: &str, run: &Run, timing: &Timing, extras: Extras) -> Result<(), OutputError> {
        let directory = RunDirectory::create(&self.path.join(directory_name(name)))?;
        save(run, timing, extras, &directory)?;
        directory.finish().map(|_| ())
    }
}

/// Whether `path` is a directory with nothing but runs, a report, the rows of a comparison and temporary files.
fn is_comparison(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    entries.flatten().all(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_temporary = name.starts_with('.') && name.ends_with(".partial");
        is_temporary || [names::COMPARISON, REPORT].contains(&name.as_str()) || is_run(&entry.path())
    })
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
    fn a_comparison_that_exists_can_be_continued_and_other_directories_cannot() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("both");
        let directory = ComparisonDirectory::create(&path).unwrap();
        directory.keep("lgcc", &Run::default(), &Timing::default(), Extras::default()).unwrap();
        let refused = |path: &Path| ComparisonDirectory::create(path).unwrap_err().to_string();
        assert!(refused(&path).contains("continue it with --resume"), "{}", refused(&path));
        fs::write(path.join("notes.txt"), "").unwrap();
        assert!(!refused(&path).contains("--resume"), "{}", refused(&path));
    }

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
    fn a_comparison_is_resumed_or_replaced_and_other_directories_are_not() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("runs");
        let keep = |directory: &ComparisonDirectory, name: &str| {
            directory.keep(name, &Run::default(), &Timing::default(), Extras::default()).unwrap();
        };
        keep(&ComparisonDirectory::create(&path).unwrap(), "cubic");
        let resumed = ComparisonDirectory::resume(&path).unwrap();
        assert!(resumed.finished("cubic").is_some() && resumed.finished("lgcc").is_none());
        keep(&resumed, "lgcc");
        assert!(ComparisonDirectory::replace(&path).unwrap().finished("cubic").is_none());
        keep(&ComparisonDirectory::resume(&path).unwrap(), "cubic");
        fs::write(path.join("thesis.tex"), b"").unwrap();
        assert!(ComparisonDirectory::replace(&path).is_err() && ComparisonDirectory::resume(&path).is_err());
        assert!(path.join("thesis.tex").is_file());
    }

    #[test]
    fn an_existing_directory_is_refused_and_stays_even_if_it_is_empty() {
        let root = tempfile::tempdir().unwrap();
        assert!(ComparisonDirectory::create(root.path()).is_err());
        assert!(root.path().is_dir());
    }
}
