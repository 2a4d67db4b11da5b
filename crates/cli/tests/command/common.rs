//! A folder to run the command in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A small valid scenario; each test of invalid input changes one line of it.
pub(crate) const VALID: &str = r#"title = "Two hops"
duration = "2s"
[[links]]
name = "L1"
between = ["A", "B"]
rate = "10Mbps"
delay = "5ms"
[[links]]
name = "L2"
between = ["B", "C"]
rate = { trace = { file = "trace.csv", end = "loop" } }
delay = "5ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B", "C"]
[protocols.lgcc]
relays = ["B"]
params = { phi1 = 10 }
"#;

const TRACE: &str = "time_s,mbps\n0,5\n1,8\n2,6\n";

/// A new folder with `scenario.toml` and `trace.csv`.
pub(crate) fn folder(scenario: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scenario.toml"), scenario).expect("a file");
    fs::write(folder.path().join("trace.csv"), TRACE).expect("a file");
    folder
}

/// The command with these arguments, in `folder`.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millpond"));
    command.args(arguments).current_dir(folder);
    command
}

/// Runs the command to its end.
pub(crate) fn millpond(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the command runs")
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The error about invalid input: exit code 2, no standard output, no file left, no panic.
pub(crate) fn error_of(folder: &Path, arguments: &[&str]) -> String {
    let before = names(folder);
    let output = millpond(folder, arguments);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert_eq!(stdout(&output), "", "{arguments:?}: nothing but the error");
    assert_eq!(names(folder), before, "{arguments:?}: no file is left");
    assert!(!error.contains("panicked"), "{error}");
    error
}

/// Standard output and standard error of a command that succeeds.
pub(crate) fn succeeds(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = millpond(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}
