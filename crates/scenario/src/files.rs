//! Sources of files: the disk, or a test's memory.

use millpond_units::nearest;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The largest file that is read at all.
const LARGEST: u64 = 1 << 30;

/// Reads whole files.
pub trait Files {
    /// The bytes of the file at `path`.
    fn read(&self, path: &Path) -> Result<Vec<u8>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = std::fs::File::open(path).map_err(|error| with_nearest(error, path))?;
        let facts = file.metadata()?;
        if facts.is_dir() {
            return Err(Error::new(ErrorKind::IsADirectory, "it is a directory"));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(Error::new(ErrorKind::FileTooLarge, "it is larger than 1 GiB"));
        }
        Ok(bytes)
    }
}

/// The error, with the nearest name in the folder if the file does not exist.
fn with_nearest(error: Error, path: &Path) -> Error {
    let Some(name) = path.file_name().filter(|_| error.kind() == ErrorKind::NotFound) else { return error };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match nearest(&name.to_string_lossy(), names.iter().map(String::as_str)) {
        Some(near) => Error::new(ErrorKind::NotFound, format!("{error}; did you mean \"{near}\"?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_reported_with_the_nearest_name_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("office.csv"), "0,1\n").unwrap();
        let error = |name: &str| Disk.read(&folder.path().join(name)).unwrap_err().to_string();
        assert!(error("ofice.csv").ends_with("did you mean \"office.csv\"?"));
        assert!(!error("entirely-other.down").contains("did you mean"));
    }
}
