//! Any text is read or refused with a fault: no parser panics.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use common::{TRACES, parse_with};
use millpond_scenario::trace::Trace;
use millpond_scenario::{Disk, Files, Scenario};
use proptest::prelude::*;
use std::path::Path;

const SCENARIO: &str = include_str!("../../../scenarios/two-bottlenecks.toml");
const GRAPH: &str = include_str!("../../../scenarios/topologies/six-lakes.graphml");
/// A scenario over whatever graph there is.
const OVER_A_GRAPH: &str = r#"duration = "1s"
topology = { graphml = "any", link = { rate = "1Mbps", delay = "1ms" } }
flows = [{ name = "f", protocol = "acp", from = "Geneva", to = "Ohrid" }]"#;

/// A text is refused with a fault, or is equal when it is written out and read again.
fn scenario_holds(text: &str) {
    match parse_with(text, &[]) {
        Ok(scenario) => {
            let again = Scenario::parse(&scenario.to_toml(), "again", Path::new("/"), &[], &TRACES);
            assert_eq!(again.unwrap(), scenario);
        }
        Err(faults) => assert!(!faults.render(true).is_empty()),
    }
}

/// Bytes are refused with a fault, or are a trace whose statistics are numbers.
fn trace_holds(bytes: &[u8]) {
    match Trace::parse(bytes, "arbitrary", None) {
        Ok(trace) => assert!(trace.stats().variation.iter().flatten().all(|x| x.is_finite())),
        Err(fault) => assert!(!fault.message().is_empty()),
    }
}

/// One graph under every name.
struct OneGraph<'a>(&'a [u8]);

impl Files for OneGraph<'_> {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }
}

/// Bytes are refused with a fault, or are a network that is equal when it is written out and read again.
fn graph_holds(bytes: &[u8]) {
    match Scenario::parse(OVER_A_GRAPH, "arbitrary", Path::new("/"), &[], &OneGraph(bytes)) {
        Ok(scenario) => {
            let again = Scenario::parse(&scenario.to_toml(), "again", Path::new("/"), &[], &TRACES);
            assert_eq!(again.unwrap(), scenario);
        }
        Err(faults) => assert!(!faults.render(false).is_empty()),
    }
}

/// An override is refused with a fault, or gives a scenario.
fn override_holds(text: &str) {
    if let Err(faults) = parse_with(SCENARIO, &[text]) {
        assert!(!faults.render(false).is_empty());
    }
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.collect()
}

fn corpus_of_texts(target: &str) -> Vec<String> {
    corpus(target).iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

#[test]
fn the_corpus_of_the_fuzzer_gives_values_or_faults() {
    corpus_of_texts("scenario").iter().for_each(|text| scenario_holds(text));
    corpus_of_texts("override").iter().for_each(|text| override_holds(text));
    corpus("trace").iter().for_each(|bytes| trace_holds(bytes));
    corpus("graph").iter().for_each(|bytes| graph_holds(bytes));
    assert!(["scenario", "override", "trace", "graph"].iter().all(|target| corpus(target).len() >= 10));
}

#[test]
fn the_corpus_of_scenarios_is_also_read_with_files_from_disk() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for text in corpus_of_texts("scenario") {
        let _ = Scenario::parse(&text, "corpus", &folder, &[], &Disk);
    }
}

/// A good text with a piece cut out and something else put in.
fn damaged(good: &'static str) -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<String>(),
        "[\\[\\]{}=\",.0-9a-z \n]{0,12}",
        Just("\"99999999999999999999h\"".to_owned()),
        Just("nan".to_owned()),
        Just("-1".to_owned()),
        Just("[[flows]]".to_owned()),
        Just("<edge source=\"0\" target=\"1\">".to_owned()),
        Just("</data>".to_owned()),
    ];
    (0..good.len(), 0_usize..40, pieces).prop_map(|(start, length, piece)| {
        let end = (start + length).min(good.len());
        let (before, after) = (good.as_bytes()[..start].to_vec(), &good.as_bytes()[end..]);
        String::from_utf8_lossy(&[before, piece.into_bytes(), after.to_vec()].concat()).into_owned()
    })
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_a_fault(text in any::<String>()) {
        scenario_holds(&text);
    }

    #[test]
    fn a_damaged_scenario_is_a_scenario_or_a_fault(text in damaged(SCENARIO)) {
        scenario_holds(&text);
    }

    #[test]
    fn any_override_gives_a_scenario_or_a_fault(text in prop_oneof![any::<String>(), "[a-zL.1=\\[\\]{}\"]{0,30}"]) {
        override_holds(&text);
    }

    #[test]
    fn any_bytes_are_a_trace_or_a_fault(bytes in any::<Vec<u8>>()) {
        trace_holds(&bytes);
    }

    #[test]
    fn any_numbers_are_a_trace_or_a_fault(text in "([0-9]{1,6}[,.\n]){0,40}") {
        trace_holds(text.as_bytes());
    }

    #[test]
    fn any_text_is_a_graph_or_a_fault(text in any::<String>()) {
        graph_holds(text.as_bytes());
    }

    #[test]
    fn a_damaged_graph_is_a_graph_or_a_fault(text in damaged(GRAPH)) {
        graph_holds(text.as_bytes());
    }
}
