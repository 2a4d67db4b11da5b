//! The classification of the steady state: the same in every analysis, and what runs do.

use crate::common::scenario;
use millpond_diagnosis::explain::{
    ExplainError, Explanation, Finding, explain, explain_at, explanation_json, explanation_sentence,
};
use millpond_lab::run;
use millpond_law::{Protocol, Settings};
use millpond_protocols::Registry;
use millpond_results::{About, Unwatched};
use millpond_scenario::{Disk, Scenario};
use millpond_theory::classification::{analyze_steady_state, equilibrium_output_json};
use millpond_theory::stability::{stability_json, stability_sentence};
use millpond_theory::steady_state::{SteadyState, steady_state_json, steady_state_sentence};
use millpond_theory::{AnalysisError, AnalyzedCapacity, Study, with_constant_capacities};
use std::path::{Path, PathBuf};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name)
}

/// A shipped scenario with one protocol for all flows.
fn under(file: &Path, protocol: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let mut scenario = Scenario::load(file, &sets).unwrap_or_else(|faults| panic!("{faults}"));
    for group in &mut scenario.flows {
        protocol.clone_into(&mut group.protocol.value);
    }
    scenario
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(shipped("")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

/// `equilibrium` and `stability`, each by its own JSON and sentence, on all shipped scenarios under all protocols.
#[test]
fn equilibrium_and_stability_agree_on_every_protocol_and_scenario() {
    let registry = Registry::builtin();
    const MOST_STATES: usize = 40;
    let mut seen = 0;
    let mut kinds = std::collections::BTreeSet::new();
    for file in files() {
        for protocol in registry.protocols() {
            let name = protocol.card().name;
            let scenario = under(&file, name, &["duration=20s", "measure.from=1s"]);
            let mean = AnalyzedCapacity::mean_of_run(&scenario);
            let held = with_constant_capacities(&scenario, mean).scenario;
            let Ok(plan) = Study::new(&held, &registry).plan() else { continue };
            // The roots of a large network or of a chain of loops take up to a minute.
            if plan.assembly.states() > MOST_STATES || plan.flows.iter().any(|flow| flow.loops.len() > 1) {
                continue;
            }
            seen += 1;
            let about = format!("{}: {name}", file.display());
            let mut found = analyze_steady_state(&plan).unwrap_or_else(|error| panic!("{about}: {error}"));
            let equilibrium = equilibrium_output_json(&found, &[]).steady_state;
            assert_eq!(equilibrium, steady_state_json(&found.state), "{about}");
            kinds.insert(equilibrium.kind);
            match found.stability() {
                Ok(Some(stability)) => {
                    let sentence = stability_sentence(&stability, &[]);
                    let json = stability_json(&sentence, &stability, &[], None);
                    assert_eq!(json.steady_state, equilibrium, "{about}");
                    let head = match (equilibrium.kind, equilibrium.stable) {
                        ("continuum", _) => "marginal",
                        ("fixed point", Some(true)) => "stable",
                        ("fixed point", Some(false)) => "unstable",
                        other => panic!("{about}: {other:?}"),
                    };
                    assert!(sentence.starts_with(head), "{about}: {head}: {sentence}");
                }
                Ok(None) => assert!(["limit cycle", "sawtooth"].contains(&equilibrium.kind), "{about}"),
                Err(_) => assert_eq!(equilibrium.stable, None, "{about}"),
            }
        }
    }
    assert!(seen >= 60, "{seen} pairs of a scenario and a protocol");
    assert_eq!(Vec::from_iter(kinds), ["continuum", "fixed point", "limit cycle", "none", "sawtooth"]);
}

/// Under Vegas with alpha = 2 and beta = 4 each of three flows may have 2 to 4 packets queued: three dimensions, whether the
/// flows are of one class or of two.
#[test]
fn a_continuum_has_a_root_at_zero_for_each_flow_and_names_its_box() {
    let registry = Registry::builtin();
    for flows in [
        r#"flows = [{ name = "u", count = 3, protocol = "vegas", path = ["A", "B"] }]"#,
        r#"flows = [{ name = "u", count = 2, protocol = "vegas", path = ["A", "B"] },
                    { name = "v", protocol = "vegas", path = ["A", "B"], rtt = "60ms" }]"#,
    ] {
        let text = format!(
            "title = \"v\"\nduration = \"10s\"\nlinks = [{{ name = \"L\", between = [\"A\", \"B\"], rate = \"20Mbps\", delay = \
             \"20ms\" }}]\n{flows}\n"
        );
        let scenario = Scenario::parse(&text, "v.toml", Path::new(""), &[], &Disk).unwrap();
        let plan = Study::new(&scenario, &registry).plan().unwrap();
        let mut found = analyze_steady_state(&plan).unwrap();
        let state = steady_state_json(&found.state);
        assert_eq!((state.kind, state.dimension), ("continuum", Some(3)));
        assert!(state.ranges.iter().all(|range| (range.low, range.high) == (2.0, 4.0)), "{:?}", state.ranges);
        assert!(
            state.sentence.contains("3 dimensions, a box of 2 to 4 queued packets of each flow"),
            "{}",
            state.sentence
        );
        let stability = found.stability().unwrap().unwrap();
        let zero = stability.spectrum.roots[0];
        assert!(stability.spectrum.is_zero(&zero) && zero.multiplicity == 3, "{:?}", stability.spectrum);
        let sentence = stability_sentence(&stability, &[]);
        assert!(sentence.contains("disturbances in 3 directions neither grow nor decay"), "{sentence}");
    }
}

fn explained(scenario: &Scenario) -> Explanation {
    let registry = Registry::builtin();
    let run =
        run(scenario, &registry, About::default(), &Unwatched).unwrap_or_else(|error| panic!("{error}")).run;
    explain(&run, Study::new(scenario, &registry)).unwrap_or_else(|reason| panic!("{reason}"))
}

/// `--explain` of a run has the steady state of the other analyses, and its sentence names it.
#[test]
fn an_explanation_agrees_with_the_other_analyses_on_every_protocol() {
    let (registry, mut seen) = (Registry::builtin(), 0);
    let has_equations = |protocol: &&'static dyn Protocol| {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        protocol.fluid(&settings).unwrap().is_some()
    };
    for protocol in registry.protocols().filter(has_equations) {
        let name = protocol.card().name;
        for file in ["dumbbell.toml", "beside-cubic.toml"] {
            let sets = ["duration=24s", "measure.from=12s", "measure.every=50ms"];
            let scenario = under(&shipped(file), name, &sets);
            let plan = Study::new(&scenario, &registry).plan().unwrap_or_else(|error| panic!("{error}"));
            let state = analyze_steady_state(&plan).unwrap_or_else(|error| panic!("{error}")).state;
            let run = run(&scenario, &registry, About::default(), &Unwatched).unwrap().run;
            let found = match explain(&run, Study::new(&scenario, &registry)) {
                Ok(found) => found,
                // Too few cycles of a slow loop.
                Err(ExplainError::TooShort { .. }) => continue,
                // Its thresholds of the round-trip time are below that of these paths, so that it does not fill them.
                Err(ExplainError::Analysis(AnalysisError::NoBottleneck { .. }))
                    if name == "timely-patched" =>
                {
                    continue;
                }
                Err(reason) => panic!("{name}: {reason}"),
            };
            seen += 1;
            assert_eq!(found.steady_state, state, "{name}");
            let sentence = explanation_sentence(&found);
            let json = explanation_json(&sentence, &found);
            assert_eq!(json.steady_state, steady_state_json(&state), "{name}");
            match &state {
                SteadyState::LimitCycle(_) | SteadyState::Sawtooth(_) => {
                    assert_eq!(json.finding, state.kind(), "{name}");
                    assert!(
                        sentence.starts_with(&format!("has {}", steady_state_sentence(&state))),
                        "{sentence}"
                    );
                }
                _ => assert!(!["limit cycle", "sawtooth"].contains(&json.finding), "{name}: {sentence}"),
            }
        }
    }
    assert!(seen >= 20, "{seen} of 30 runs were explained");
}

/// The closed form of each law's period, and the mean time between reductions in a packet run. Losses of several flows
/// coincide only partly (CUBIC), and a sample counts up to one interval more or less.
#[test]
fn the_period_of_a_sawtooth_or_limit_cycle_follows_from_the_law() {
    for (protocol, every, tolerance) in
        [("newreno", "20ms", 0.25), ("cubic", "20ms", 0.25), ("dctcp", "10ms", 0.1), ("vcp", "20ms", 0.1)]
    {
        let sets = ["duration=60s", "measure.from=20s", &format!("measure.every={every}")];
        let found = explained(&under(&shipped("dumbbell.toml"), protocol, &sets));
        let predicted = found.steady_state.oscillation().and_then(|cycle| cycle.period()).unwrap();
        let measured = found.measured_period.unwrap();
        assert!(
            (1.0 - tolerance..1.0 + tolerance).contains(&(measured / predicted.low)),
            "{protocol}: {predicted}, measured {measured} s"
        );
    }
}

/// A cycle of .19 s with a sample every 100 ms: neither a period nor a frequency can be read from the series.
#[test]
fn an_explanation_says_that_samples_are_too_rare_for_the_predicted_period() {
    let sets = ["duration=20s", "measure.from=10s", "measure.every=100ms"];
    let found = explained(&under(&shipped("dumbbell.toml"), "dctcp", &sets));
    let sentence = explanation_sentence(&found);
    assert_eq!(found.measured_period, None);
    assert!(sentence.contains("a sample every 100.0 ms is too rare for this period"), "{sentence}");
    assert!(!sentence.contains("Hz"), "{sentence}");
}

/// One NewReno flow on 20 Mbit/s with 20 ms and a buffer of one bandwidth-delay product: its spectrum has harmonics, and
/// a queue that is emptied makes the second one strong.
#[test]
fn the_spectrum_of_a_sawtooth_has_its_period_and_no_rate_exceeds_the_link() {
    let sets = ["duration=60s", "measure.from=20s", "measure.every=20ms"];
    let found =
        explained(&under(&shipped("dumbbell.toml"), "newreno", &[&sets[..], &["dumbbell.pairs=1"]].concat()));
    assert_eq!(found.verdict.finding, Finding::Sawtooth);
    let (measured, shown) = (found.measured_period.unwrap(), found.verdict.clearest.unwrap());
    let fundamental = 1.0 / found.fluctuations[shown].peak.unwrap().frequency;
    assert!((fundamental / measured - 1.0).abs() < 0.05, "{fundamental} {measured}");
    let rates = found.fluctuations.iter().filter(|found| !found.is_queue());
    for rate in rates {
        assert!(rate.mean <= 100.05e6, "{}: {}", rate.name, rate.mean);
    }
}

const STEPS: &str = r#"
title = "A capacity in steps"
duration = "40s"
measure = { from = "5s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = { steps = [["0s", "10Mbps"], ["10s", "40Mbps"], ["30s", "20Mbps"]] }
delay = "20ms"
buffer = "unlimited"
[[flows]]
name = "f"
protocol = "xcp"
path = ["A", "B"]
"#;

/// 10 Mbit/s for 10 s, 40 for 20 s, 20 for 10 s: 27.5 Mbit/s in the mean.
#[test]
fn a_varying_capacity_is_analyzed_at_its_mean_or_at_a_named_time() {
    let registry = Registry::builtin();
    let scenario = scenario(STEPS, &[]);
    for (capacity, rate, which) in [
        (AnalyzedCapacity::mean_of_run(&scenario), 27.5e6, "mean over 40 s"),
        (AnalyzedCapacity::At(20.0), 40e6, "at 20 s"),
    ] {
        let held = with_constant_capacities(&scenario, capacity);
        let plan = Study::new(&held.scenario, &registry).plan().unwrap();
        let json = equilibrium_output_json(&analyze_steady_state(&plan).unwrap(), &held.named);
        assert!((json.equilibrium.flows[0].rate_bps.unwrap() / rate - 1.0).abs() < 1e-6, "{json:?}");
        let named = &json.varying_capacities;
        assert_eq!((named[0].link.as_str(), named[0].which.as_str(), named.len()), ("L ->", which, 1));
        assert!((named[0].capacity_bps - rate).abs() < 1.0);
    }
}

/// The longest interval of one capacity; the one that is named; and the mean if none is long enough.
#[test]
fn an_explanation_names_the_capacity_of_its_interval() {
    let registry = Registry::builtin();
    let explain_of = |sets: &[&str], at: Option<f64>| {
        let scenario = scenario(STEPS, sets);
        let run = run(&scenario, &registry, About::default(), &Unwatched).unwrap().run;
        explain_at(&run, Study::new(&scenario, &registry), at).unwrap_or_else(|reason| panic!("{reason}"))
    };
    let longest = explain_of(&[], None);
    assert_eq!((longest.interval.start, longest.interval.end), (10.0, 30.0));
    assert!((longest.capacities[0].capacity_bps - 40e6).abs() < 1.0);
    let named = explain_of(&[], Some(35.0));
    assert_eq!((named.interval.start, named.interval.end), (30.0, 40.0));
    assert!((named.capacities[0].capacity_bps - 20e6).abs() < 1.0);
    let mean = explain_of(&["measure.every=400ms"], None);
    assert_eq!((mean.interval.start, mean.interval.end), (5.0, 40.0));
    // 5 s of 10, 20 s of 40, 10 s of 20 Mbit/s.
    assert!((mean.capacities[0].capacity_bps / (1050e6 / 35.0) - 1.0).abs() < 1e-6);
    assert_eq!(mean.capacities[0].which, "mean from 5 s to 40 s");
}
