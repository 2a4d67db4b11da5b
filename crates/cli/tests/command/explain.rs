//! `millpond stability --explain RUN`.

use crate::common::{error_of, folder, millpond, names, stderr};
use std::fs;
use std::path::Path;

/// One CLTCP flow with a round-trip time of 200 ms, in equilibrium within ten seconds.
const STABLE: &str = r#"title = "Stable"
duration = "60s"
measure = { from = "30s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "10Mbps"
delay = "100ms"
buffer = "unlimited"
[[flows]]
name = "f"
protocol = "cltcp"
path = ["A", "B"]
"#;

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = millpond(folder, arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_finished_run_is_explained_in_a_sentence_tables_json_and_a_page() {
    let folder = folder(STABLE);
    printed(folder.path(), &["run", "scenario.toml", "--out", "stable"]);
    let text = printed(folder.path(), &["stability", "--explain", "stable", "--report", "stable.html"]);
    assert!(text.starts_with("does not oscillate: the rates of f fluctuate by "), "{text}");
    assert!(
        text.contains("30.000 s (measure.from) to 60.000 s (the run ends), a sample every 100ms, packets"),
        "{text}"
    );
    for head in ["operating point", "loop gain at the phase crossover", "measured s.d."] {
        assert!(text.contains(head), "{head}: {text}");
    }
    let page = fs::read_to_string(folder.path().join("stable.html")).unwrap();
    for part in ["id=\"spectra\"", "id=\"nyquist\"", "Queue of L", "does not oscillate"] {
        assert!(page.contains(part), "{part}");
    }
    // A file of the run stands for its directory.
    let json = printed(folder.path(), &["stability", "--explain", "stable/summary.json", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["finding"].as_str(), json["world"].as_str()), (Some("noise"), Some("packets")));
    assert_eq!(json["model"]["stable"], true);
    assert_eq!(json["interval"]["from_s"], 30.0);
}

#[test]
fn a_folder_without_exactly_one_run_is_refused_with_a_remedy() {
    let folder = folder(STABLE);
    let at = |arguments: &[&str]| error_of(folder.path(), arguments);
    let none = at(&["stability", "--explain", "nothing"]);
    assert!(none.contains("nothing") && none.contains("millpond run SCENARIO.toml --out DIR"), "{none}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = at(&["stability", "--explain", "empty"]);
    assert!(empty.contains("empty: has no run: there is no summary.json"), "{empty}");
    fs::create_dir(folder.path().join("half")).unwrap();
    fs::write(folder.path().join("half/summary.json"), "{}").unwrap();
    let half = at(&["stability", "--explain", "half"]);
    assert!(half.contains("half/summary.json: missing field"), "{half}");
    printed(
        folder.path(),
        &["compare", "scenario.toml", "--protocols", "cltcp", "--seeds", "2", "--out", "both"],
    );
    let several = at(&["stability", "--explain", "both"]);
    assert!(
        several.contains(
            "both: there are 2 runs in it; --explain takes one of them: both/cltcp-seed1, both/cltcp-seed2"
        ),
        "{several}"
    );
    let one = ["stability", "--explain", "both/cltcp-seed1"];
    assert!(printed(folder.path(), &one).starts_with("does not oscillate"));
    fs::create_dir(folder.path().join("above")).unwrap();
    fs::rename(folder.path().join("both/cltcp-seed1"), folder.path().join("above/only")).unwrap();
    let only = printed(folder.path(), &["stability", "--explain", "above"]);
    assert!(only.starts_with("does not oscillate"), "{only}");
    let written = names(folder.path());
    assert_eq!(written, ["above", "both", "empty", "half", "scenario.toml", "trace.csv"]);
}

#[test]
fn a_time_at_which_nothing_is_measured_is_refused() {
    let folder = folder(STABLE);
    printed(folder.path(), &["run", "scenario.toml", "--out", "run"]);
    for time in ["10s", "60s"] {
        let error = error_of(folder.path(), &["stability", "--explain", "run", "--at", time]);
        assert!(error.contains("run: the run is measured from 30 s to 60 s"), "{error}");
    }
}

#[test]
fn a_run_of_a_law_without_a_linear_model_is_explained_and_one_without_equations_refused() {
    let folder = folder(STABLE);
    printed(folder.path(), &["run", "scenario.toml", "--out", "clocked", "--set", "flows.f.protocol=vcp"]);
    let clocked = printed(folder.path(), &["stability", "--explain", "clocked"]);
    assert!(clocked.starts_with("has a limit cycle: under vcp, windows grow additively"), "{clocked}");
    printed(folder.path(), &["run", "scenario.toml", "--out", "short", "--set", "duration=31s"]);
    let short = error_of(folder.path(), &["stability", "--explain", "short"]);
    assert!(short.contains("is 1.000 s with 10 samples; 6.400 s are needed"), "{short}");
    let lossy = ["run", "scenario.toml", "--out", "lossy", "--set", "links.L.loss=0.001"];
    printed(folder.path(), &lossy);
    let lossy = error_of(folder.path(), &["stability", "--explain", "lossy"]);
    assert!(
        lossy.contains("lossy/scenario.toml") && lossy.contains("the fluid world has no random loss"),
        "{lossy}"
    );
}

#[test]
fn a_scenario_and_a_run_are_not_explained_together() {
    let folder = folder(STABLE);
    for extra in [
        &["scenario.toml"][..],
        &["--critical", "rtt"],
        &["--map", "rtt=1ms..2ms,flows=1..2"],
        &["--set", "seed=2"],
    ] {
        let arguments: Vec<&str> = ["stability", "--explain", "run"].iter().chain(extra).copied().collect();
        let message = error_of(folder.path(), &arguments);
        assert!(message.contains("cannot be used with"), "{message}");
    }
    assert!(error_of(folder.path(), &["stability"]).contains("SCENARIO.toml"));
}

#[test]
fn a_run_in_packets_stands_beside_the_loci_of_the_same_scenario() {
    let folder = folder(STABLE);
    let command = ["stability", "scenario.toml", "--with-run"];
    let text = printed(folder.path(), &[&command[..], &["--report", "page.html"]].concat());
    assert!(text.starts_with("stable"), "{text}");
    assert!(text.contains("\nin packets, it does not oscillate: the rates of f fluctuate by "), "{text}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let parts =
        ["id=\"nyquist-loci\"", "id=\"bode\"", "id=\"run-over-time\"", "Spectrum: Queue of L", "root: "];
    for part in parts {
        assert!(page.contains(part), "{part}");
    }
    // The page marks the frequency of the rightmost root.
    let json = printed(folder.path(), &[&command[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let root = json["stability"]["roots"][0]["frequency_rad_per_s"].as_f64().unwrap();
    let hertz = millpond_units::format::number(root / std::f64::consts::TAU);
    assert!(page.contains(&format!("root: {hertz} Hz")), "{hertz}");
    assert_eq!(json["run"]["finding"], "noise");
}

#[test]
fn a_run_that_is_too_short_is_drawn_and_the_page_says_why_it_is_not_compared() {
    let folder = folder(&STABLE.replace("60s", "3s").replace("30s", "1s"));
    let text = printed(folder.path(), &["stability", "scenario.toml", "--with-run", "--report", "page.html"]);
    assert!(text.contains("in packets, it was not compared with the analysis: "), "{text}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("id=\"run-over-time\"") && !page.contains("Spectrum: "));
}

#[test]
fn a_run_beside_a_network_that_oscillates_by_its_law_is_refused() {
    let folder = folder(&STABLE.replace("cltcp", "dctcp"));
    let error = error_of(folder.path(), &["stability", "scenario.toml", "--with-run"]);
    assert!(error.contains("--with-run needs a fixed point"), "{error}");
}
