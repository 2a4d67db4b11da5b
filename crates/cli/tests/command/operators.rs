//! The tables of `docs/which-should-i-deploy.md`.

use crate::common::{millpond, stderr};
use millpond_results::{Comparison, ComparisonRow, Estimate};
use millpond_units::format::{fixed, number, two_digits};
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the scenarios of the page and their traces.
fn folder_with_scenarios() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for directory in ["scenarios/links", "scenarios/traces"] {
        fs::create_dir_all(folder.path().join(directory)).unwrap();
        for file in fs::read_dir(workspace().join(directory)).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, folder.path().join(directory).join(file.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(workspace().join(LEAF_SPINE), folder.path().join(LEAF_SPINE)).unwrap();
    folder
}

/// The scenario of the table about transfers.
const LEAF_SPINE: &str = "scenarios/leaf-spine.toml";

/// The commands of a section. Those of a table about long flows are three: the flows alone, half of them beside CUBIC, half of them beside BBRv3.
fn commands(section: &str) -> Vec<Vec<&str>> {
    let typed = section.lines().filter_map(|line| line.strip_prefix("$ millpond "));
    typed.map(|line| line.split_whitespace().collect()).collect()
}

/// A mean with half the width of its interval, which has as many decimals.
fn shown(value: Estimate, show: fn(f64) -> String) -> String {
    let text = show(value.mean);
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    value.half_width.map_or(text.clone(), |half| format!("{text} ± {half:.decimals$}"))
}

/// The goodput of a group in Mbit/s, and whether flows of it starve under a seed.
fn share(row: &ComparisonRow) -> String {
    let starves = if row.starving.mean > 0.0 { " **starves**" } else { "" };
    format!("{}{starves}", shown(row.total_goodput_bps.scaled(1e-6), number))
}

/// The row of a protocol from the results of the three commands.
fn row(protocol: &str, [alone, beside_cubic, beside_bbr]: &[Comparison; 3]) -> String {
    let delays = alone.rows[0].queueing_ms.unwrap();
    let beside = |comparison: &Comparison| {
        let groups: Vec<String> =
            comparison.rows.iter().filter(|row| row.group.is_some()).map(share).collect();
        groups.join(" / ")
    };
    format!(
        "| `{protocol}` | {} | {} | {} | {} | {} | {} |",
        share(&alone.rows[0]),
        shown(delays.p95, two_digits),
        shown(delays.p99, two_digits),
        shown(alone.rows[0].jain.unwrap(), |index| fixed(index, 3)),
        beside(beside_cubic),
        beside(beside_bbr)
    )
}

/// The row of a protocol in the table about transfers.
fn row_of_transfers(protocol: &str, comparison: &Comparison) -> String {
    let counts = comparison.rows[0].transfers.unwrap();
    let of_group = |name: &str| {
        let row = comparison.rows.iter().find(|row| row.group.as_deref() == Some(name)).unwrap();
        let slowdown = row.slowdown.unwrap();
        [slowdown.p50, slowdown.p95, slowdown.p99].map(|value| shown(value, number))
    };
    let ([p50, p95, p99], [of_answers, _, last_answers]) = (of_group("search"), of_group("answers"));
    let missing = fixed(counts.transfers.mean - counts.completed.mean, 1);
    format!("| `{protocol}` | {missing} | {p50} | {p95} | {p99} | {of_answers} | {last_answers} |")
}

/// The results of a command with this protocol alone.
fn result(folder: &Path, command: &[&str], protocol: &str) -> Comparison {
    let mut arguments = command.to_vec();
    let list = arguments.iter().position(|word| *word == "--protocols").unwrap() + 1;
    arguments[list] = protocol;
    arguments.push("--json");
    let output = millpond(folder, &arguments);
    assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every row of each table is measured again.
#[test]
fn the_page_for_operators_has_the_rows_that_its_commands_give() {
    let page = fs::read_to_string(workspace().join("docs/which-should-i-deploy.md")).unwrap();
    let folder = folder_with_scenarios();
    let sections: Vec<&str> = page.split("\n## ").filter(|section| section.contains("$ millpond")).collect();
    assert_eq!(
        sections.len(),
        7,
        "LTE, LTE with a queue for each flow, 5G, Wi-Fi, satellite, data centre, transfers"
    );
    let mut stale = Vec::new();
    for section in sections {
        let commands = commands(section);
        let list = commands[0].iter().position(|word| *word == "--protocols").unwrap() + 1;
        let protocols: Vec<&str> = commands[0][list].split(',').collect();
        for protocol in &protocols {
            let of_command = |command: usize| result(folder.path(), &commands[command], protocol);
            let measured = if section.contains(LEAF_SPINE) {
                row_of_transfers(protocol, &of_command(0))
            } else {
                row(protocol, &[0, 1, 2].map(of_command))
            };
            if !section.lines().any(|line| line == measured) {
                stale.push(measured);
            }
        }
        let rows = section.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, protocols.len(), "a row for each protocol: {}", commands[0].join(" "));
    }
    assert!(stale.is_empty(), "the page must have\n{}", stale.join("\n"));
}
