//! Directories that appear under their names only when all their files are written.

use std::fmt;
use std::fs;
use std::io;
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

    pub(super) fn io(path: &Path, doing: &str, error: &io::Error) -> Self {
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
    is_complete: bool,
}

impl RunDirectory {
    /// Creates a temporary directory next to `target`, which must not exist, and missing parents.
    pub fn create(target: &Path) -> Result<Self, OutputError> {
        refuse_existing(target)?;
        let Some(name) = target.file_name() else {
            return Err(OutputError::new(target, "is not the name of a directory"));
        };
        let temporary = beside(target, name);
        let made = missing_parents(target);
        let directory = Self { target: target.to_owned(), temporary, made, is_complete: false };
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

    /// Gives the directory its name, and returns it.
    pub fn finish(mut self) -> Result<PathBuf, OutputError> {
        refuse_existing(&self.target)?;
        let failed = |error| OutputError::io(&self.target, "create this directory", &error);
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

/// A temporary name next to `path`, different in every process.
pub(super) fn beside(path: &Path, name: &std::ffi::OsStr) -> PathBuf {
    path.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id()))
}

/// Creates the directory `path` and its parents; errors name `target`.
pub(super) fn make(target: &Path, path: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(path).map_err(|error| OutputError::io(target, "create this directory", &error))
}

/// An error if `path` exists: an output is never added to existing files.
pub(super) fn refuse_existing(path: &Path) -> Result<(), OutputError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(OutputError::new(path, "exists already; give another name or remove it")),
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
    fn a_directory_that_cannot_be_created_is_an_error_with_its_name() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), b"").unwrap();
        let error = RunDirectory::create(&root.path().join("file/run")).unwrap_err();
        assert!(error.to_string().contains("file/run"), "{error}");
        assert_eq!(file_names(root.path()), ["file"]);
    }
}
