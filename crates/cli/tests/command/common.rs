//! A folder to run the command in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A small scenario that is right; each test of bad input spoils one line of it.
pub(crate) const RIGHT: &str = r#"title = "Two hops"
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

/// Runs it to its end.
pub(crate) fn millpond(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the command runs")
}

/// What stands in a folder, by name.
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

/// What it complains of bad input: exit code 2, nothing on standard output, nothing left behind, no panic.
pub(crate) fn complaint(folder: &Path, arguments: &[&str]) -> String {
    let before = names(folder);
    let output = millpond(folder, arguments);
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
    assert_eq!(stdout(&output), "", "{arguments:?}: nothing but the complaint");
    assert_eq!(names(folder), before, "{arguments:?}: nothing is left behind");
    assert!(!complaint.contains("panicked"), "{complaint}");
    complaint
}
