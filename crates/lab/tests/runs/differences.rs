//! Differences between equal flows of one class.

use crate::common::{fluid, mean, near, scenario, series};
use millpond_plan::fluid::plan;
use millpond_protocols::Registry;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{Stability, analyze_stability};

const LINK: &str = r#"
title = "Equal flows"
duration = "12s"
measure = { every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
"#;

/// Groups of this many flows.
fn flows(protocol: &str, counts: &[usize]) -> String {
    let group = |(index, count): (usize, &usize)| {
        let name = ["one", "two"][index];
        format!(
            "[[flows]]\nname = \"{name}\"\ncount = {count}\nprotocol = \"{protocol}\"\npath = [\"A\", \"B\"]\nrtt = \"60ms\"\n"
        )
    };
    counts.iter().enumerate().map(group).collect()
}

fn stability(protocol: &str, counts: &[usize], sets: &[&str]) -> Stability {
    let text = LINK.to_owned() + &flows(protocol, counts);
    let plan = plan(&scenario(&text, sets), &Registry::builtin()).unwrap();
    analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap()
}

/// Two classes have the root of the differences between them; in one class it is that of the differences within it.
#[test]
fn the_root_of_differences_within_a_class_is_that_between_two_halves_of_it() {
    for protocol in ["xcp", "lgc", "lgcc", "cltcp", "paganini-ecn"] {
        let (whole, halves) = (stability(protocol, &[4], &[]), stability(protocol, &[2, 2], &[]));
        let root = whole.differences[0].root.unwrap().s;
        let is_same = |s: millpond_fluid::stability::Complex<f64>| (s - root).norm() < 1e-6 * root.norm();
        assert!(halves.spectrum.roots.iter().any(|other| is_same(other.s)), "{protocol}: {root}");
        assert!(!whole.spectrum.roots.iter().any(|other| is_same(other.s)), "{protocol}: {root}");
        assert_eq!(
            (whole.differences.len(), whole.differences[0].count, halves.differences.len()),
            (1, 4, 2)
        );
    }
    assert!(stability("rcp", &[4], &[]).differences.is_empty(), "its senders have no states");
    assert!(stability("xcp", &[1], &[]).differences.is_empty(), "one flow");
}

#[test]
fn the_difference_between_two_flows_decays_as_its_root_says() {
    let root = stability("xcp", &[2], &[]).differences[0].root.unwrap().s;
    let late = LINK.to_owned() + &flows("xcp", &[1, 1]) + "start = \"5s\"\n";
    let run = fluid(&late, &[]);
    let difference = |time: f64| {
        let rate = |flow: &str| mean(series(&run, flow, "send rate"), (time - 0.05, time + 0.05));
        rate("one") - rate("two")
    };
    let measured = (difference(9.0) / difference(7.5)).ln() / 1.5;
    assert!(root.im == 0.0 && near(measured, root.re, 0.01), "{measured} is not {root}");
}

/// Without shuffled traffic XCP keeps the differences between its flows: the sum of their rates is stable, their shares are not.
#[test]
fn differences_that_stay_leave_the_stability_unknown() {
    let kept = stability("xcp", &[4], &["protocols.xcp={ params = { gamma = 0 } }"]);
    assert_eq!(kept.steady_state().is_stable(), None);
    let reason = kept.zero_root.unwrap().reason;
    assert!(reason.starts_with("differences between the 4 flows of one neither grow nor decay"), "{reason}");
}

/// At its plateau the slope of CUBIC's window is zero, for each flow as for all of them.
#[test]
fn differences_between_flows_of_cubic_decay_more_slowly_than_an_exponential() {
    let judged = stability("cubic", &[4], &["links.L.queue=red"]);
    let clauses: Vec<String> = judged.difference_clauses().collect();
    assert_eq!(clauses, ["differences between the 4 flows of one decay more slowly than an exponential"]);
    assert_eq!(judged.steady_state().is_stable(), Some(true));
    // An exponential would fall from 50 s to 100 s by the same factor as from 100 s to 150 s.
    let late = LINK.replace("12s", "150s") + &flows("cubic", &[1, 1]) + "start = \"5s\"\n";
    let run = fluid(&late, &["links.L.queue=red"]);
    let difference = |time: f64| {
        let rate = |flow: &str| mean(series(&run, flow, "send rate"), (time - 1.0, time + 1.0));
        (rate("one") - rate("two")).abs()
    };
    let (first, second) = (difference(100.0) / difference(50.0), difference(150.0) / difference(100.0));
    assert!(first < 0.99 * second && second < 1.0, "{first} and {second}");
}
