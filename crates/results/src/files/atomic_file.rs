//! Files that appear complete or not at all; an older file of the same name is replaced.

use super::directory::{OutputError, beside, remove_abandoned};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A file under a temporary name. Dropped before [`finish`](Self::finish) it is removed, and an older file stays.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    temporary: PathBuf,
}

impl AtomicFile {
    /// Creates the temporary file next to `target`.
    ///
    /// # Errors
    /// A `target` that cannot be written, or that is a folder, a device or a pipe.
    pub fn create(target: &Path) -> Result<Self, OutputError> {
        let name = target.file_name().filter(|_| target.is_file() || !target.exists());
        let name = name.ok_or_else(|| OutputError::new(target, "is not the name of a regular file"))?;
        remove_abandoned(target, name);
        let file = Self { target: target.to_owned(), temporary: beside(target, name) };
        file.write(&[])?;
        Ok(file)
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Sets its content.
    pub fn write(&self, content: &[u8]) -> Result<(), OutputError> {
        let failed = |error| OutputError::io(&self.target, "write this file", &error);
        fs::write(&self.temporary, content).map_err(failed)
    }

    /// Opens the file, for content that comes little by little.
    pub fn open(&self) -> Result<File, OutputError> {
        let failed = |error| OutputError::io(&self.target, "write this file", &error);
        File::options().write(true).open(&self.temporary).map_err(failed)
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<(), OutputError> {
        let failed = |error| OutputError::io(&self.target, "write this file", &error);
        fs::rename(&self.temporary, &self.target).map_err(failed)
    }
}

impl Drop for AtomicFile {
    /// Removes the temporary file; errors are ignored, because they cannot be reported.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a file that appears complete or not at all.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), OutputError> {
    let file = AtomicFile::create(path)?;
    file.write(content)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::super::testing::file_names;
    use super::*;

    #[test]
    fn a_file_is_replaced_completely_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("report.html");
        write_atomically(&path, b"old").unwrap();
        let unfinished = AtomicFile::create(&path).unwrap();
        unfinished.write(b"half").unwrap();
        drop(unfinished);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(file_names(root.path()), ["report.html"]);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_refused_at_once() {
        let root = tempfile::tempdir().unwrap();
        for path in [root.path().join("none/report.html"), root.path().to_owned(), PathBuf::from("/dev/null")]
        {
            let error = AtomicFile::create(&path).unwrap_err();
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
        }
        assert!(file_names(root.path()).is_empty());
    }
}
