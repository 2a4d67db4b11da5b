//! Variants of protocols: `lgcc:PRESET`, `lgcc:PARAMETER=VALUE`.

use crate::common::{VALID, folder, millpond, names, stderr};
use std::path::Path;

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = millpond(folder, arguments);
    assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn error_of(folder: &Path, arguments: &[&str]) -> String {
    let output = millpond(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    stderr(&output)
}

/// The label of each row of all flows, and its numbers.
fn rows(json: &str) -> Vec<(String, Vec<serde_json::Value>)> {
    let comparison: serde_json::Value = serde_json::from_str(json).unwrap();
    let rows = comparison["rows"].as_array().unwrap().iter().filter(|row| row["group"].is_null());
    let numbers = |row: &serde_json::Value| {
        ["utilization", "total_goodput_bps", "queueing_ms", "loss"].map(|key| row[key].clone()).to_vec()
    };
    rows.map(|row| (row["run"].as_str().unwrap().to_owned(), numbers(row))).collect()
}

#[test]
fn settings_of_one_protocol_are_compared_side_by_side() {
    let folder = folder(VALID);
    let compare = |protocols: &str, more: &[&str]| {
        let arguments = ["compare", "scenario.toml", "--json", "--protocols", protocols];
        rows(&printed(folder.path(), &[&arguments, more].concat()))
    };
    let variants = "lgcc,lgcc:control=rate,phi1=20,lgcc:cellular,newreno";
    let found = compare(variants, &[]);
    let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["lgcc", "lgcc:control=rate,phi1=20", "lgcc:cellular", "newreno"]);
    // Each is the run with these settings, at the relay of the scenario's entry.
    let set = |sets: &[&str]| {
        let options: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        compare("lgcc", &options)[0].1.clone()
    };
    assert_eq!(found[0].1, set(&[]));
    let rate = ["protocols.lgcc.params.control=rate", "protocols.lgcc.params.phi1=20"];
    assert_eq!(found[1].1, set(&rate));
    assert_eq!(found[2].1, set(&["protocols.lgcc.params.preset=cellular"]));
    assert!(found[0].1 != found[1].1 && found[1].1 != found[2].1 && found[0].1 != found[2].1);
}

#[test]
fn files_of_variants_have_their_names_and_are_read_again() {
    let folder = folder(VALID);
    let compare = [
        "compare",
        "scenario.toml",
        "--protocols",
        "lgcc:cellular,lgcc:control=rate,drain=4",
        "--seeds",
        "2",
        "--out",
        "runs",
    ];
    let table = printed(folder.path(), &compare);
    assert!(table.contains("lgcc:cellular") && table.contains("lgcc:control=rate,drain=4"), "{table}");
    let directories = names(&folder.path().join("runs"));
    for seed in ["lgcc@cellular-seed1", "lgcc@cellular-seed2", "lgcc@control=rate,drain=4-seed2"] {
        assert!(directories.iter().any(|name| name == seed), "{directories:?}");
    }
    let resumed = printed(folder.path(), &[&compare[..], &["--resume"]].concat());
    assert_eq!(resumed, table);
    // The resolved scenario can be run again, and gives the same numbers.
    let resolved = "runs/lgcc@control=rate,drain=4-seed2/scenario.toml";
    let again = printed(folder.path(), &["run", resolved, "--json"]);
    let written = "runs/lgcc@control=rate,drain=4-seed2/summary.json";
    let summary = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["groups"].clone();
    let written = std::fs::read_to_string(folder.path().join(written)).unwrap();
    assert_eq!(summary(&again), summary(&written));
    assert!(again.contains("\"lgcc:control=rate,drain=4\""), "{again}");
    printed(folder.path(), &["figure", "runs", "--kind", "ccdf", "--out", "both.svg"]);
    let figure = std::fs::read_to_string(folder.path().join("both.svg")).unwrap();
    assert!(figure.contains(">lgcc:cellular<"), "the legend names the variants");
}

#[test]
fn flows_of_a_scenario_and_sweeps_name_variants() {
    let folder = folder(VALID);
    let run = ["run", "scenario.toml", "--json", "--set", "flows.f.protocol=lgcc:control=rate"];
    let run: serde_json::Value = serde_json::from_str(&printed(folder.path(), &run)).unwrap();
    assert_eq!(run["flows"][0]["protocol"], "lgcc:control=rate", "{run}");
    let sweep = [
        "sweep",
        "scenario.toml",
        "--vary",
        "links.L1.rate=5Mbps,10Mbps",
        "--protocols",
        "lgcc,lgcc:control=rate,drain=4",
        "--out",
        "rates",
        "--csv",
    ];
    let table = printed(folder.path(), &sweep);
    assert_eq!(table.matches("lgcc:control=rate,drain=4").count(), 2, "{table}");
}

#[test]
fn errors_of_variants_point_at_the_setting_with_the_nearest_spelling() {
    let folder = folder(VALID);
    for (protocols, expected) in [
        ("lgcc,lgcc:celular", "did you mean \"cellular\"?"),
        ("lgcc:folow=share", "did you mean \"follow\"?"),
        ("lgcc:follow=shar", "did you mean \"share\"?"),
        ("lgcv:cellular", "did you mean \"lgcc\" or \"lgc\"?"),
        ("cubic:cellular", "cubic has no presets"),
        ("lgcc:drain=", "neither a preset nor PARAMETER=VALUE"),
        ("lgcc:drain=4,drain=8", "drain is set twice"),
        ("lgcc:cellular,queue=codell", "did you mean \"codel\"?"),
        ("lgcc:cellular,lgcc:cellular", "named twice"),
    ] {
        let error = error_of(folder.path(), &["compare", "scenario.toml", "--protocols", protocols]);
        assert!(error.contains(expected) && error.contains("--protocols"), "{protocols}:\n{error}");
        assert!(!error.contains(&format!(", {protocols}\n")), "it is none of those that there are: {error}");
    }
    let baseline = ["--deploy", "0,100%", "--baseline", "lgcc:folow=share"];
    let deployed = [&["compare", "scenario.toml", "--protocols", "newreno"], &baseline[..]].concat();
    let error = error_of(folder.path(), &deployed);
    assert!(error.contains("did you mean \"follow\"?") && error.contains("--baseline"), "{error}");
    let error = error_of(folder.path(), &["coexistence", "lgc:folow=share"]);
    assert!(error.contains("folow"), "{error}");
}
