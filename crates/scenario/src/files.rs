//! Where files come from: the disk, or a test's memory.

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
        let file = std::fs::File::open(path)?;
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
