//! A single file that appears whole or not at all, over an older one if there is one.

use super::directory::{OutputError, beside};
use std::fs;
use std::path::{Path, PathBuf};

/// A file under a temporary name. Dropped before [`finish`](Self::finish) it leaves an older one as it was.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    temporary: PathBuf,
}

impl WholeFile {
    /// Makes sure that `target` can be written.
    pub fn create(target: &Path) -> Result<Self, OutputError> {
        let name = target.file_name().filter(|_| !target.is_dir());
        let name = name.ok_or_else(|| OutputError::new(target, "is not the name of a file"))?;
        let file = Self { target: target.to_owned(), temporary: beside(target, name) };
        file.write(&[])?;
        Ok(file)
    }

    /// What it will be called.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Sets its content.
    pub fn write(&self, content: &[u8]) -> Result<(), OutputError> {
        let failed = |error| OutputError::io(&self.target, "write this file", &error);
        fs::write(&self.temporary, content).map_err(failed)
    }

    /// It is whole: gives it its name.
    pub fn finish(self) -> Result<(), OutputError> {
        let failed = |error| OutputError::io(&self.target, "write this file", &error);
        fs::rename(&self.temporary, &self.target).map_err(failed)
    }
}

impl Drop for WholeFile {
    /// Removes what has not been given its name. A failure to do so has nobody left to tell.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a whole file at once.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), OutputError> {
    let file = WholeFile::create(path)?;
    file.write(content)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_or_stays_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("report.html");
        write_whole(&path, b"old").unwrap();
        let unfinished = WholeFile::create(&path).unwrap();
        unfinished.write(b"half").unwrap();
        drop(unfinished);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(root.path()), ["report.html"]);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_refused_at_once() {
        let root = tempfile::tempdir().unwrap();
        for path in [root.path().join("none/report.html"), root.path().to_owned()] {
            let error = WholeFile::create(&path).unwrap_err();
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
        }
        assert!(names(root.path()).is_empty());
    }
}
