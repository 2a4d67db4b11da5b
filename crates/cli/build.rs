//! Passes the version on to the program, with the commit that it is built from if the sources are in a repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let commit =
        Path::new("../../.git").exists().then(|| git(&["rev-parse", "--short=12", "HEAD"])).flatten();
    let version = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=MILLPOND_VERSION={version}");
    // A new commit changes this file; a file that does not exist would run this program at every build.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists());
    if let Some(log) = log {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// What git prints; none if it fails or is not installed.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
