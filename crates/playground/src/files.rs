//! What a scenario may read: regular files inside of one folder, and shipped files.

use crate::{limits, shipped};
use millpond_scenario::Files;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path, PathBuf};

/// Reads files inside of a folder. Symbolic links that lead out of it, devices, pipes and large files are refused. A path
/// that does not exist there may name a shipped trace or topology.
pub(crate) struct Sandbox {
    /// The folder, without symbolic links.
    folder: PathBuf,
}

impl Sandbox {
    /// The sandbox of an existing folder.
    ///
    /// # Errors
    /// The folder does not exist.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        Ok(Self { folder: folder.canonicalize()? })
    }

    fn refused(&self, path: &Path) -> Error {
        let (path, folder) = (path.display(), self.folder.display());
        Error::new(
            ErrorKind::PermissionDenied,
            format!("the playground reads only files in its folder, {folder}, and {path} is not in it"),
        )
    }

    /// Whether a path in the folder leads out of the folder by its names alone. The file system is not asked, so that an error does not
    /// depend on what exists elsewhere.
    fn leads_out(path: &Path) -> bool {
        let mut depth = 0_usize;
        for component in path.components() {
            match component {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => depth -= 1,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
            }
        }
        false
    }
}

/// Opens a file without waiting for a writer, if it has become a pipe.
fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(flags.bits() as i32);
    }
    options.open(path)
}

/// The content of a regular file.
fn regular(path: &Path) -> Result<Vec<u8>> {
    let refuse_kind = || Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    if !path.metadata()?.is_file() {
        return Err(refuse_kind());
    }
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(refuse_kind());
    }
    let mut bytes = Vec::new();
    file.take(limits::LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::LARGEST_FILE {
        let most = limits::LARGEST_FILE >> 20;
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it is larger than {most} MiB, the limit of the playground; run it with: millpond run"),
        ));
    }
    Ok(bytes)
}

impl Files for Sandbox {
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let path = path.strip_prefix(&self.folder).unwrap_or(path);
        if Self::leads_out(path) {
            return Err(self.refused(path));
        }
        match self.folder.join(path).canonicalize() {
            Ok(resolved) if resolved.starts_with(&self.folder) => regular(&resolved),
            Ok(_) => Err(self.refused(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => match shipped::file(path) {
                Some(bytes) => Ok(bytes.to_vec()),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }
}
