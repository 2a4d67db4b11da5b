//! Directories that appear under their names only when all their files are written.

use super::names;
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An output that could not be written.
#[derive(Debug)]
pub struct OutputError {
    /// Which file or directory.
    pub path: PathBuf,
    /// The reason, for the user.
    pub fault: String,
}

impl OutputError {
    pub(super) fn new(path: &Path, fault: impl Into<String>) -> Self {
        Self { path: path.to_owned(), fault: fault.into() }
    }

    /// The error of an operation of the file system: `doing` is what was tried, such as `write this file`.
    pub fn io(path: &Path, doing: &str, error: &io::Error) -> Self {
        Self::new(path, format!("cannot {doing}: {error}"))
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl std::error::Error for OutputError {}

/// A directory under a temporary name. It is removed with its files when dropped before [`finish`](Self::finish).
#[derive(Debug)]
pub struct RunDirectory {
    target: PathBuf,
    temporary: PathBuf,
    /// Parent directories that were created, the outermost first.
    made: Vec<PathBuf>,
    /// Whether the target may exist.
    replaces: bool,
    is_complete: bool,
}

impl RunDirectory {
    /// Creates a temporary directory next to `target`, which must not exist, and missing parents.
    pub fn create(target: &Path) -> Result<Self, OutputError> {
        refuse_existing(target)?;
        Self::begin(target, false)
    }

    /// Creates a temporary directory next to `target`. If `target` exists, it must be the directory of a run; it is
    /// replaced at the end.
    pub fn replace(target: &Path) -> Result<Self, OutputError> {
        if fs::symlink_metadata(target).is_ok() && !is_run(target) {
            return Err(OutputError::new(target, "is not the directory of a run, and is not replaced"));
        }
        Self::begin(target, true)
    }

    fn begin(target: &Path, replaces: bool) -> Result<Self, OutputError> {
        let Some(name) = target.file_name() else {
            return Err(OutputError::new(target, "is not the name of a directory"));
        };
        remove_abandoned(target, name);
        let temporary = beside(target, name);
        let made = missing_parents(target);
        let directory = Self { target: target.to_owned(), temporary, made, replaces, is_complete: false };
        make(target, &directory.temporary)?;
        Ok(directory)
    }

    /// The path until [`finish`](Self::finish).
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes one file into it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.temporary.join(name);
        fs::write(&path, content).map_err(|error| OutputError::io(&path, "write this file", &error))
    }

    /// Writes one file of JSON into it, while the JSON is made: the summary of many flows is long.
    pub(super) fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), OutputError> {
        let path = self.temporary.join(name);
        let write = || {
            let mut file = BufWriter::new(fs::File::create(&path)?);
            serde_json::to_writer_pretty(&mut file, value)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write().map_err(|error| OutputError::io(&path, "write this file", &error))
    }

    /// Gives the directory its name, and returns it.
    pub fn finish(mut self) -> Result<PathBuf, OutputError> {
        let failed = |error| OutputError::io(&self.target, "create this directory", &error);
        if self.replaces && is_run(&self.target) {
            fs::remove_dir_all(&self.target).map_err(failed)?;
        } else {
            refuse_existing(&self.target)?;
        }
        fs::rename(&self.temporary, &self.target).map_err(failed)?;
        self.is_complete = true;
        Ok(self.target.clone())
    }
}

impl Drop for RunDirectory {
    /// Removes an incomplete directory; errors are ignored, because they cannot be reported.
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        let _ = fs::remove_dir_all(&self.temporary);
        for parent in self.made.iter().rev() {
            let _ = fs::remove_dir(parent);
        }
    }
}

/// Whether the directory has the files of a run.
pub(super) fn is_run(path: &Path) -> bool {
    path.join(names::SUMMARY).is_file()
}

/// A temporary name next to `path`, different in every process.
pub(super) fn beside(path: &Path, name: &OsStr) -> PathBuf {
    path.with_file_name(format!("{}{}{PARTIAL}", partial_prefix(name), std::process::id()))
}

/// The end of a temporary name.
const PARTIAL: &str = ".partial";

/// The beginning of a temporary name. A long name is cut, because file systems have names of at most 255 bytes.
fn partial_prefix(name: &OsStr) -> String {
    const LONGEST: usize = 200;
    let name = name.to_string_lossy();
    let cut = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.", &name[..cut])
}

/// Removes the temporary files and directories of `target` that a killed process left.
pub(super) fn remove_abandoned(target: &Path, name: &OsStr) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = partial_prefix(name);
    let abandoned = |file: &str| {
        let process = file.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(PARTIAL));
        process.and_then(|process| process.parse().ok()).is_some_and(has_ended)
    };
    remove_each(folder, abandoned);
}

/// Removes all temporary files and directories in `folder` that a killed process left.
pub(super) fn remove_all_abandoned(folder: &Path) {
    remove_each(folder, |file| {
        let process = file.strip_prefix('.').and_then(|rest| rest.strip_suffix(PARTIAL)?.rsplit('.').next());
        process.and_then(|process| process.parse().ok()).is_some_and(has_ended)
    });
}

fn remove_each(folder: &Path, is_abandoned: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !is_abandoned(&entry.file_name().to_string_lossy()) {
            continue;
        }
        // Errors are ignored: what cannot be removed does not stop a run.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_directory { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
    }
}

/// Whether a process has certainly ended. Only Linux tells; elsewhere nothing is removed.
fn has_ended(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Creates the directory `path` and its parents; errors name `target`.
pub(super) fn make(target: &Path, path: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(path).map_err(|error| OutputError::io(target, "create this directory", &error))
}

/// An error if `path` exists: an output is never added to existing files.
pub(super) fn refuse_existing(path: &Path) -> Result<(), OutputError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(OutputError::new(path, "exists already; give another name, or replace it with --force")),
        Err(_) => Ok(()),
    }
}

/// Parents of `path` that do not exist, the outermost first.
pub(super) fn missing_parents(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|p| !p.as_os_str().is_empty() && !p.exists());
    let mut parents: Vec<_> = missing.map(Path::to_owned).collect();
    parents.reverse();
    parents
}

#[cfg(test)]
mod tests {
    use super::super::testing::file_names;
    use super::*;

    #[test]
    fn a_directory_appears_only_when_it_is_complete() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("a/b");
        let directory = RunDirectory::create(&target).unwrap();
        directory.write("x", b"1").unwrap();
        assert!(!target.exists());
        directory.finish().unwrap();
        assert_eq!(file_names(&target), ["x"]);
        assert_eq!(file_names(&root.path().join("a")), ["b"]);
    }

    #[test]
    fn json_is_the_text_of_its_value_and_an_error_names_the_file() {
        let root = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(&root.path().join("a")).unwrap();
        let values: Vec<u32> = (0..10_000).collect();
        directory.write_json("x", &values).unwrap();
        let text = fs::read_to_string(directory.path().join("x")).unwrap();
        assert_eq!(text, serde_json::to_string_pretty(&values).unwrap() + "\n");
        let error = directory.write_json("missing/x", &values).unwrap_err();
        assert!(error.to_string().contains("missing/x: cannot write this file"), "{error}");
    }

    #[test]
    fn an_incomplete_directory_is_removed_with_its_created_parents() {
        let root = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(&root.path().join("a/b/c")).unwrap();
        directory.write("x", b"1").unwrap();
        drop(directory);
        assert!(file_names(root.path()).is_empty());
    }

    #[test]
    fn an_existing_directory_is_refused_and_untouched() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("kept"), b"").unwrap();
        let error = RunDirectory::create(root.path()).unwrap_err();
        assert!(error.to_string().contains("exists already"), "{error}");
        assert_eq!(file_names(root.path()), ["kept"]);
    }

    #[test]
    fn a_name_of_the_greatest_length_has_a_temporary_name() {
        let root = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "é".repeat(127)] {
            let target = root.path().join(name);
            RunDirectory::create(&target).unwrap().finish().unwrap();
            assert!(target.is_dir());
        }
    }

    #[test]
    fn a_run_is_replaced_and_anything_else_is_not() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("run");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("kept"), b"").unwrap();
        assert!(RunDirectory::replace(&target).is_err());
        fs::write(target.join("summary.json"), b"old").unwrap();
        drop(RunDirectory::replace(&target).unwrap());
        assert_eq!(file_names(&target), ["kept", "summary.json"]);
        let directory = RunDirectory::replace(&target).unwrap();
        directory.write("summary.json", b"new").unwrap();
        directory.finish().unwrap();
        assert_eq!(file_names(&target), ["summary.json"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_killed_process_left_is_removed_and_a_running_one_keeps_its_files() {
        let root = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let left = root.path().join(format!(".run.{}.partial", ended.id()));
        let running = root.path().join(".run.1.partial");
        let other = root.path().join(format!(".other.{}.partial", ended.id()));
        for path in [&left, &running, &other] {
            fs::create_dir(path).unwrap();
        }
        RunDirectory::create(&root.path().join("run")).unwrap().finish().unwrap();
        assert_eq!([&left, &running, &other].map(|path| path.exists()), [false, true, true]);
    }

    #[test]
    fn a_directory_that_cannot_be_created_is_an_error_with_its_name() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), b"").unwrap();
        let error = RunDirectory::create(&root.path().join("file/run")).unwrap_err();
        assert!(error.to_string().contains("file/run"), "{error}");
        assert_eq!(file_names(root.path()), ["file"]);
    }
}
