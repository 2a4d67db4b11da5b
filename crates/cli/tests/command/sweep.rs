//! `millpond sweep`: its dataset, and what it prints.

use crate::common::{folder, millpond, stderr, stdout};
use std::fs;

const SCENARIO: &str = r#"title = "One link"
duration = "2s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "5Mbps"
delay = "10ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
"#;

const SWEEP: &[&str] =
    &["sweep", "scenario.toml", "--vary", "links.L.rate=2Mbps,8Mbps", "--seeds", "2", "--out", "out"];

#[test]
fn a_sweep_writes_a_dataset_and_is_continued_by_the_same_command() {
    let folder = folder(SCENARIO);
    let first = millpond(folder.path(), SWEEP);
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(
        stdout(&first).contains("links.L.rate") && stdout(&first).contains("8Mbps"),
        "{}",
        stdout(&first)
    );
    let mut names: Vec<String> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["groups.parquet", "report.html", "runs.jsonl", "runs.parquet", "sweep.json"]);
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    let command = "<code>millpond sweep scenario.toml --vary links.L.rate=2Mbps,8Mbps --seeds 2</code>";
    assert!(page.contains(command), "the page lacks {command}");
    let again = millpond(folder.path(), SWEEP);
    assert!(stderr(&again).contains("out: has 4 of 4 runs"), "{}", stderr(&again));
    assert_eq!(stdout(&first), stdout(&again));
    let report = millpond(folder.path(), &["report", "out", "--out", "page.html"]);
    let refused = stderr(&report);
    assert!(
        refused.contains("out: holds the dataset of a sweep") && refused.contains("report.html"),
        "{refused}"
    );
}

#[test]
fn a_run_without_results_gives_exit_code_1_and_its_message() {
    let folder = folder(SCENARIO);
    let varied = ["--vary", "flows.f.start=0s,1500ms", "--vary", "flows.f.stop=1s,2s"];
    let output =
        millpond(folder.path(), &[&["sweep", "scenario.toml", "--out", "out"], varied.as_slice()].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("1 of 4 runs have no results. The first error is:"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_mistake_in_a_value_is_reported_at_its_place_and_leaves_no_directory() {
    let folder = folder(SCENARIO);
    for (varied, part) in [
        ("links.L.rate=1Mbps..9Mbps:one", "\"one\" is no number of values"),
        ("links.L.rate=5Mbps,50", "50Mbps"),
        ("flows.f.count=1..4:7", "or these as a list: 1,2,3,4"),
        ("links.M.rate=5Mbps", "no item is called \"M\""),
    ] {
        let output = millpond(folder.path(), &["sweep", "scenario.toml", "--out", "out", "--vary", varied]);
        assert_eq!(output.status.code(), Some(2), "{varied}");
        assert!(stderr(&output).contains(part), "{varied}: {}", stderr(&output));
        assert!(!folder.path().join("out").exists());
    }
}
