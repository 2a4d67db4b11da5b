//! What the README tells a newcomer to type.

use crate::common::{millpond, stderr};
use std::fs;
use std::path::{Path, PathBuf};

/// Recipes take minutes, and have tests of their own.
const TOO_LONG: &str = "papers";

fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with all that the README's commands name.
fn clone_with(page: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = folder.path().join("scenarios/traces");
    fs::create_dir_all(&scenarios).unwrap();
    for file in ["last-hop-5g.toml", "traces/5g-static-demo.csv"] {
        let file = Path::new("scenarios").join(file);
        fs::copy(house().join(&file), folder.path().join(&file)).unwrap();
    }
    let home = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    fs::write(folder.path().join("home.toml"), home).unwrap();
    let recording: String = (1..2000).map(|millisecond| format!("{millisecond}\n")).collect();
    fs::write(folder.path().join("my.down"), recording).unwrap();
    folder
}

/// The arguments of each `$ millpond` command of the page.
fn commands(page: &str) -> Vec<Vec<String>> {
    let page = page.replace("\\\n", " ");
    let typed = page.lines().filter_map(|line| line.strip_prefix("$ millpond "));
    typed.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn every_command_of_the_readme_works_as_it_is_written() {
    let page = fs::read_to_string(house().join("README.md")).unwrap();
    let (folder, commands) = (clone_with(&page), commands(&page));
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands.iter().filter(|command| command[0] != TOO_LONG) {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if ["run", "compare"].contains(&arguments[0]) {
            arguments.extend(["--set", "duration=2500ms"]);
        }
        let output = millpond(folder.path(), &arguments);
        assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
    }
}
