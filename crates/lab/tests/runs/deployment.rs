//! Partial deployment: flows and routers that take part beside others that do not.

use crate::common::scenario;
use crate::loop_protocols::split;
use millpond_lab::{Choice, ComparisonCase, Deployment, cases, run};
use millpond_protocols::Registry;
use millpond_results::{About, Summary, Unwatched, World};
use millpond_scenario::{FlowStart, RouterConduct, Scenario, SettingValue};
use millpond_units::{Span, Time};

const FOUR_PAIRS: &str = r#"
title = "four pairs"
duration = "6s"
measure = { from = "2s" }

[dumbbell]
pairs = 4
bottleneck = { rate = "20Mbps", delay = "10ms" }
access = { rate = "1Gbps", delay = "1ms" }

[[flows]]
name = "user"
protocol = "xcp"
path = "pairs"
start = { first = "0s", every = "100ms" }
"#;

fn deployment(percentages: &[f64], links: &[&str]) -> Deployment {
    Deployment {
        percentages: percentages.to_vec(),
        baseline: "cubic".to_owned(),
        links: links.iter().map(|link| (*link).to_owned()).collect(),
    }
}

fn deployed(scenario: &Scenario, deployment: Deployment) -> Result<Vec<ComparisonCase>, String> {
    let choice = Choice { deployment: Some(deployment), ..Choice::of(World::Packets) };
    cases(scenario, &Registry::builtin(), &choice).map_err(|error| error.to_string())
}

fn summary(case: &ComparisonCase) -> Summary {
    run(&case.scenario, &Registry::builtin(), About::default(), &Unwatched).unwrap().run.summary
}

/// Flow `n` starts at 100 ms times `n` over pair `n`, whoever runs it.
#[test]
fn each_flow_keeps_its_path_and_its_start() {
    let whole = scenario(FOUR_PAIRS, &[]);
    let cases = deployed(&whole, deployment(&[0.0, 25.0, 100.0], &[])).unwrap();
    assert_eq!(cases.iter().map(|case| case.label.as_str()).collect::<Vec<_>>(), ["0%", "25%", "100%"]);
    let groups = |case: &ComparisonCase| {
        let flows = case.scenario.flows.iter();
        flows
            .map(|group| (group.name.value.clone(), group.protocol.value.clone(), group.count))
            .collect::<Vec<_>>()
    };
    let group = |name: &str, protocol: &str, count| (name.to_owned(), protocol.to_owned(), count);
    assert_eq!(groups(&cases[0]), [group("user", "cubic", 4)]);
    assert_eq!(groups(&cases[1]), [group("user", "xcp", 1), group("user-cubic", "cubic", 3)]);
    assert_eq!(groups(&cases[2]), [group("user", "xcp", 4)]);
    let others = &cases[1].scenario.flows[1];
    for flow in 0..3 {
        assert_eq!(others.path(flow), whole.flows[0].path(flow + 1), "{flow}");
    }
    let every =
        FlowStart::Every { first: Time::ZERO + Span::from_millis(100), interval: Span::from_millis(100) };
    assert_eq!(others.start, every);
}

#[test]
fn all_flows_with_the_queue_of_the_protocol_are_the_scenario_itself() {
    let whole = scenario(FOUR_PAIRS, &[]);
    let cases = deployed(&whole, deployment(&[100.0], &[])).unwrap();
    let plain = run(&whole, &Registry::builtin(), About::default(), &Unwatched).unwrap().run.summary;
    assert_eq!(summary(&cases[0]).groups, plain.groups);
}

#[test]
fn routers_at_other_links_are_absent() {
    let whole = scenario(FOUR_PAIRS, &[]);
    let cases = deployed(&whole, deployment(&[100.0], &["access1"])).unwrap();
    for link in &cases[0].scenario.links {
        let is_named = link.name.value == "access1";
        let expected = if is_named { RouterConduct::TakesPart } else { RouterConduct::Absent };
        assert_eq!(link.forward.router, expected, "{}", link.name.value);
        assert_eq!(link.forward.queue.is_some(), is_named, "the others have drop-tail queues");
    }
    let error = deployed(&whole, deployment(&[100.0], &["bottlenek"])).unwrap_err();
    assert!(error.contains("did you mean \"bottleneck\"?"), "{error}");
}

/// Loops of LGCC alone cross the second link, in the direction of the data.
#[test]
fn a_link_that_other_loops_of_the_flow_cross_has_the_queue_of_their_protocol() {
    let split = scenario(&split("dctcp", "lgcc"), &["flows.f.count=2"]);
    let cases = deployed(&split, deployment(&[50.0], &[])).unwrap();
    let queue = |link: usize| {
        let queue = cases[0].scenario.links[link].forward.queue.as_ref().unwrap();
        let presets = queue.settings.iter().filter(|setting| setting.name.value == "preset");
        (queue.name.value.clone(), presets.map(|setting| setting.value.value.clone()).collect::<Vec<_>>())
    };
    let text = |name: &str| vec![SettingValue::Text(name.to_owned())];
    assert_eq!(
        [queue(0), queue(1)],
        [("red".to_owned(), text("dctcp-step")), ("red".to_owned(), text("lgcc"))]
    );
}

#[test]
fn a_part_of_one_flow_is_refused() {
    let one = scenario(FOUR_PAIRS, &["flows.user.count=1"]);
    assert!(deployed(&one, deployment(&[0.0, 100.0], &[])).is_ok());
    let error = deployed(&one, deployment(&[50.0], &[])).unwrap_err();
    assert!(
        error.contains("50 % of the one flow of \"user\"") && error.contains("flows.user.count"),
        "{error}"
    );
}

/// Two rows of one share would be taken for two seeds of it.
#[test]
fn a_share_that_is_named_twice_is_refused() {
    let error = deployed(&scenario(FOUR_PAIRS, &[]), deployment(&[50.0, 100.0, 50.0], &[])).unwrap_err();
    assert!(error.contains("--deploy") && error.contains("\"50%\" is named twice"), "{error}");
}

#[test]
fn an_unknown_baseline_is_shown_at_its_option() {
    let unknown = Deployment { baseline: "cubik".to_owned(), ..deployment(&[50.0], &[]) };
    let error = deployed(&scenario(FOUR_PAIRS, &[]), unknown).unwrap_err();
    assert!(error.contains("--baseline") && error.contains("did you mean \"cubic\"?"), "{error}");
}

/// CUBIC beside CUBIC: whichever of the equal flows take part, all have about the same share.
#[test]
fn a_protocol_deployed_beside_itself_changes_nothing_but_names() {
    let same = scenario(FOUR_PAIRS, &["flows.user.protocol=cubic"]);
    let cases = deployed(&same, deployment(&[50.0, 100.0], &[])).unwrap();
    let goodputs = |case: &ComparisonCase| {
        let flows = summary(case).flows;
        flows.iter().map(|flow| flow.goodput_bps).sum::<f64>()
    };
    let [half, all] = [&cases[0], &cases[1]].map(goodputs);
    assert!((half / all - 1.0).abs() < 0.01, "{half} {all}");
}
