//! `docs/queues.md`: its commands work, and its code is that of the example.

#![allow(clippy::unwrap_used, reason = "helpers fail as tests do")]

use std::process::Command;

const PAGE: &str = include_str!("../../../docs/queues.md");
const SOURCE: &str = include_str!("../src/ramp.rs");

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_code_of_the_page_is_that_of_the_example() {
    let blocks: Vec<&str> =
        PAGE.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert!(words(SOURCE).contains(&words(block)), "not in ramp.rs:\n{block}");
    }
}

#[test]
fn every_command_of_the_page_works() {
    let commands: Vec<&str> =
        PAGE.lines().filter_map(|line| line.trim().strip_prefix("$ cargo run -p own-queue -- ")).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        // The measurement of the scenario begins at 50 s.
        let short = if command.contains("scenarios/") { "--set duration=60s" } else { "" };
        let script = format!("\"$0\" {command} --quiet {short}");
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", &script, env!("CARGO_BIN_EXE_own-queue")]);
        let output = shell.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{command} prints nothing");
    }
}
