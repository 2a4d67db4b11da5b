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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder beside a secret file, with a sandbox of it.
    fn sandbox() -> (tempfile::TempDir, PathBuf, Sandbox) {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("folder");
        std::fs::create_dir_all(folder.join("traces")).unwrap();
        std::fs::write(outside.path().join("secret.csv"), "secret").unwrap();
        std::fs::write(folder.join("traces/own.csv"), "own").unwrap();
        let sandbox = Sandbox::new(&folder).unwrap();
        (outside, folder, sandbox)
    }

    fn error(sandbox: &Sandbox, path: impl AsRef<Path>) -> String {
        sandbox.read(path.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn files_of_the_folder_are_read_by_any_path_that_stays_in_it() {
        let (_outside, folder, sandbox) = sandbox();
        symlink("traces/own.csv", folder.join("link.csv")).unwrap();
        let paths = ["traces/own.csv", "./traces/../traces/own.csv", "link.csv"];
        for path in paths.map(PathBuf::from).into_iter().chain([folder.join("traces/own.csv")]) {
            assert_eq!(sandbox.read(&path).unwrap(), b"own", "{}", path.display());
        }
    }

    #[test]
    fn shipped_files_are_read_if_the_folder_has_none_of_their_names() {
        let (_outside, folder, sandbox) = sandbox();
        let name = Path::new("traces/5g-static-demo.csv");
        assert!(sandbox.read(name).unwrap().len() > 1000);
        assert_eq!(sandbox.read(&folder.join(name)).unwrap(), sandbox.read(name).unwrap());
        std::fs::write(folder.join(name), "mine").unwrap();
        assert_eq!(sandbox.read(name).unwrap(), b"mine");
        assert!(error(&sandbox, "traces/none.csv").contains("No such file"));
    }

    #[test]
    fn what_lies_outside_of_the_folder_is_refused_whether_it_exists_or_not() {
        let (outside, folder, sandbox) = sandbox();
        symlink(outside.path().join("secret.csv"), folder.join("link.csv")).unwrap();
        symlink(outside.path(), folder.join("above")).unwrap();
        let paths = [
            "../secret.csv",
            "../none.csv",
            "traces/../../secret.csv",
            "/etc/passwd",
            "/none",
            "link.csv",
            "above/secret.csv",
        ];
        for path in paths.map(PathBuf::from).into_iter().chain([folder.join("../secret.csv")]) {
            let error = error(&sandbox, &path);
            assert!(error.starts_with("the playground reads only files in its folder"), "{error}");
            assert!(error.contains(&folder.canonicalize().unwrap().display().to_string()), "{error}");
        }
    }

    #[test]
    fn only_regular_files_of_limited_size_are_read() {
        let (_outside, folder, sandbox) = sandbox();
        let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.csv")).status().unwrap();
        assert!(pipe.success());
        symlink("/dev/zero", folder.join("zero.csv")).unwrap();
        let large = File::create(folder.join("large.csv")).unwrap();
        large.set_len(limits::LARGEST_FILE + 1).unwrap();
        assert_eq!(error(&sandbox, "pipe.csv"), "it is not a regular file");
        assert_eq!(error(&sandbox, "traces"), "it is not a regular file");
        assert!(error(&sandbox, "zero.csv").starts_with("the playground reads only"));
        assert!(error(&sandbox, "large.csv").starts_with("it is larger than 16 MiB"));
        // The device itself, in a sandbox that contains it.
        assert_eq!(error(&Sandbox::new(Path::new("/dev")).unwrap(), "zero"), "it is not a regular file");
    }
}
