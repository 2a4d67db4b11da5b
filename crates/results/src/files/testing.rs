//! What several tests of files need.

use std::fs;
use std::path::Path;

/// The names of the files in a directory, sorted.
pub(super) fn file_names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
