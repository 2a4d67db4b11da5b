//! `millpond stability --phase`, `--step`, `--convergence`.

use crate::common::{error_of, folder, millpond, stderr, stdout};

const ONE_FLOW: &str = r#"
title    = "one"
duration = "60s"
[[links]]
name    = "near"
between = ["A", "B"]
rate    = "12Mbps"
delay   = "1ms"
buffer  = "unlimited"
[[flows]]
name     = "f"
protocol = "cltcp"
path     = ["A", "B"]
rtt      = "100ms"
"#;

fn stability(arguments: &[&str]) -> std::process::Output {
    let folder = folder(ONE_FLOW);
    let output = millpond(folder.path(), &[&["stability", "scenario.toml"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

#[test]
fn every_result_has_a_sentence() {
    let options =
        ["--phase", "x,q", "--starts", "2", "--step", "near=80%", "--step", "join", "--convergence"];
    let printed =
        stdout(&stability(&[&options[..], &["rtt=50ms..200ms", "--points", "3", "--for", "30s"]].concat()));
    for sentence in [
        "stable; oscillates above RTT",
        "f.rate and near.queue: 4 of 4 settle",
        "near from 12 Mbit/s to 9.6 Mbit/s; f.rate: from 10 to 90 % in",
        "one more flow of f; f.rate: from 10 to 90 % in",
        "within 5.0 % of the equilibrium after",
    ] {
        assert!(
            printed.lines().any(|line| line.starts_with(sentence)),
            "{sentence} is missing in:\n{printed}"
        );
    }
}

#[test]
fn json_has_the_requested_results_only() {
    let options = ["--json", "--phase", "f.rate,near.queue", "--from", "x=6Mbps,q=0", "--step", "near=6Mbps"];
    let answer: serde_json::Value = serde_json::from_str(&stdout(&stability(&options))).unwrap();
    let paths = answer["portrait"]["trajectories"].as_array().unwrap();
    assert_eq!((paths.len(), paths[0]["behavior"].as_str()), (1, Some("settles")));
    assert_eq!((&paths[0]["across"][0], &paths[0]["up"][0]), (&6e6.into(), &0.0.into()));
    assert_eq!(answer["steps"][0]["rates"][0]["to"].as_f64().map(|to| (to / 6e6 * 1e4).round()), Some(1e4));
    assert!(answer.get("convergence").is_none() && answer["stable"] == true);
}

/// The scenario starts at its equilibrium, from where the convergence time would be zero.
#[test]
fn convergence_times_without_a_start_are_those_of_a_grid_around_the_equilibrium() {
    let settled = [
        "--set",
        "protocols.cltcp.params.initial_rate=1500",
        "--set",
        "protocols.cltcp.params.initial_factor=1500",
    ];
    let options = ["--convergence", "rtt=100ms..110ms", "--points", "2", "--json"];
    let times = |from: &[&str]| -> Vec<f64> {
        let output = stability(&[&options[..], &settled, from].concat());
        let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let times = answer["convergence"]["time_s"].as_array().unwrap().clone();
        times.iter().map(|time| time.as_f64().unwrap()).collect()
    };
    let (grid, half, fifth) = (times(&[]), times(&["--from", "x=50%"]), times(&["--from", "x=20%"]));
    for index in 0..2 {
        assert!(
            grid[index] >= half[index].max(fifth[index]) && half[index] > 1.0,
            "{grid:?} {half:?} {fifth:?}"
        );
    }
    assert_eq!(times(&["--from", "grid"]), grid);
}

#[test]
fn the_page_shows_every_figure_and_is_reproducible() {
    let folder = folder(ONE_FLOW);
    let page = |name: &str| {
        let options =
            ["stability", "scenario.toml", "--phase", "x,q", "--step", "near=80%", "--report", name];
        let output = millpond(folder.path(), &options);
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let first = page("a.html");
    for figure in ["nyquist-loci", "phase-portrait", "step-0"] {
        assert!(first.contains(&format!("<figure id=\"{figure}\"")), "{figure}");
    }
    assert!(first == page("b.html"));
}

#[test]
fn invalid_options_are_refused_with_a_valid_alternative() {
    let folder = folder(ONE_FLOW);
    let page = ["--report", "page.html"];
    for (arguments, words) in [
        (
            &["--phase", "x,near.quue"][..],
            &["--phase x,near.quue", "did you mean \"near.queue\"?", "f.rate"][..],
        ),
        (&["--phase", "x"], &["--phase x", "two quantities", "x,q"]),
        (&["--phase", "x,f.rate"], &["both sides"]),
        (&["--phase", "x,q", "--from", "x=0..2Mbsp"], &["--from", "2Mbsp", "a rate such as 2Mbps"]),
        (
            &["--phase", "x,q", "--from", "x=8..60Mbps"],
            &["\"8\" is no value of f.rate", "a rate such as 2Mbps"],
        ),
        (&["--phase", "x,q", "--from", "q=9..3"], &["q=9..3", "lower end first"]),
        (&["--phase", "x,q", "--from", "q=-3..3"], &["near.queue is at least 0"]),
        (&["--phase", "x,q", "--from", "everywhere"], &["everywhere", "grid"]),
        (&["--phase", "near.arriving-rate,q"], &["near.arriving-rate", "start from", "f.rate"]),
        (&["--phase", "x,q", "--starts", "0"], &["'0'", "--starts", "from 1"]),
        (&["--from", "grid"], &["--from", "--phase"]),
        (&["--for", "3s"], &["--for", "--phase", "--step"]),
        (&["--for", "0s", "--step", "join"], &["--for", "above zero"]),
        (&["--points", "3"], &["--points", "--map", "--convergence"]),
        (&["--step", "neer=80%"], &["neer", "did you mean \"near\"?"]),
        (&["--step", "near=0"], &["near=0", "near=80%"]),
        (&["--step", "near=100%"], &["its current capacity"]),
        (&["--step", "join=g"], &["\"g\"", "there are: f"]),
        (&["--convergence", "rt=1ms..2ms"], &["\"rt\"", "did you mean \"rtt\"?"]),
        (
            &["--convergence", "rtt=2ms..9ms", "--from", "x=1Mbps..2Mbps"],
            &["a single initial condition", "x=50%"],
        ),
        (&["--convergence", "rtt=2ms"], &["--convergence rtt=2ms", "rtt=10ms..2s"]),
        (&["--convergence", "rtt=2ms..9ms", "--within", "0%"], &["--within", "between 0 and 100"]),
        (&["--convergence", "rtt=2ms..9ms", "--from", "x=-1"], &["f.rate is at least"]),
    ] {
        let error = error_of(folder.path(), &[&["stability", "scenario.toml"], arguments, &page].concat());
        for word in words {
            assert!(error.contains(word), "{arguments:?}: {word:?} is missing in:\n{error}");
        }
    }
}
