//! Disturbances, and the table of `docs/disturbances.md`.

use crate::common::scenario;
use millpond_lab::{Disturbance, DisturbancePlan, disturbances};
use millpond_protocols::Registry;
use millpond_results::{DisturbedProtocol, DisturbedRow, RunOrigin, Unwatched};
use millpond_scenario::{Faults, Rtt};
use millpond_units::Span;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/disturbances.md");

const ONE_LINK: &str = r#"
title = "one link"
duration = "8s"
measure = { from = "3s" }

[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "2bdp"

[[flows]]
name = "f"
count = 2
protocol = "cubic"
path = ["A", "B"]
"#;

/// The parameters of XCP, and the round-trip time of the empty link.
const ALPHA: f64 = 0.4;
const BETA: f64 = 0.226;
const BASE_RTT_MS: f64 = 20.0;

fn disturbed(protocol: &str, names: &[&str], sets: &[&str]) -> DisturbedProtocol {
    let mut scenario = scenario(ONE_LINK, sets);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let chosen = disturbances(&mut scenario, &names).unwrap();
    let registry = Registry::builtin();
    let plan = DisturbancePlan::new(scenario, &[protocol.to_owned()], &chosen, 1, &registry);
    let results = plan.and_then(|plan| plan.run(&registry, &RunOrigin::default(), &Unwatched));
    results.unwrap_or_else(|error| panic!("{error}")).protocols.remove(0)
}

fn reasons(of: &DisturbedProtocol, name: &str) -> Vec<Option<String>> {
    of.rows.iter().filter(|row| row.disturbance == name).map(|row| row.does_not_apply.clone()).collect()
}

fn changes(row: &DisturbedRow) -> [f64; 2] {
    let changes = row.changes.unwrap();
    [changes.utilization, changes.queueing_p95_ms].map(|change| change.unwrap().mean)
}

/// CUBIC reads no capacity, no header and no ECN field: nothing of this can change it.
#[test]
fn a_disturbance_that_a_protocol_does_not_see_does_not_apply() {
    let cubic = disturbed("cubic", &["all"], &[]);
    assert_eq!(cubic.rows.len(), Disturbance::ALL.iter().map(|one| one.levels.len()).sum::<usize>());
    for name in ["capacity-low", "capacity-high", "capacity-noise", "stripped", "tunnel"] {
        assert!(reasons(&cubic, name).iter().all(Option::is_some), "{name}");
    }
    for name in ["feedback-late", "reordering", "ack-thinning"] {
        assert!(reasons(&cubic, name).iter().any(Option::is_none), "{name}");
    }
    for row in &cubic.rows {
        assert_eq!(row.does_not_apply.is_none(), row.values.is_some() && row.changes.is_some(), "{row:?}");
    }
}

/// A router of XCP allots the capacity that it is configured with: at 95 to 50 % of the true one, the utilization falls by as much.
/// At a share `e` more than the true one its aggregate feedback, `alpha d e C - beta Q` (Katabi et al., SIGCOMM 2002, Eq. 1), is zero
/// at a queueing delay of `alpha / beta e d`, where the round-trip time `d` contains that delay. A constant capacity cannot be late, and 2^16, 4 and 2 evenly spaced levels
/// express the highest rate exactly; SCONE's scale does not express 20 Mbit/s: the nearest rate is 19.95.
#[test]
fn a_wrong_capacity_changes_the_utilization_of_xcp_by_as_much() {
    let xcp = disturbed("xcp", &["capacity-low", "capacity-high", "capacity-late", "capacity-bits"], &[]);
    for (row, percent) in xcp.rows.iter().zip([5.0, 10.0, 20.0, 50.0]) {
        let [utilization, _] = changes(row);
        assert!((utilization + percent / 100.0).abs() < 0.02, "{}: {utilization}", row.level);
    }
    let high: Vec<&DisturbedRow> = xcp.rows.iter().filter(|row| row.disturbance == "capacity-high").collect();
    for (row, percent) in high.iter().zip([5.0, 10.0, 20.0]) {
        let gain = ALPHA / BETA * percent / 100.0;
        let queueing = gain * BASE_RTT_MS / (1.0 - gain);
        let [_, change] = changes(row);
        assert!((change / queueing - 1.0).abs() < 0.15, "{}: {change} ms, not {queueing}", row.level);
    }
    let [_, change] = changes(high[3]);
    assert!((35.0..=40.0).contains(&change), "the buffer of two round trips is full: {change} ms");
    assert!(reasons(&xcp, "capacity-late").iter().all(Option::is_some));
    let bits: Vec<bool> = reasons(&xcp, "capacity-bits").iter().map(Option::is_none).collect();
    assert_eq!(bits, [false, true, false, false], "16, 7, 2 and 1 bits");
    let scone = xcp.rows.iter().find(|row| row.level == "7 bits (SCONE)").unwrap();
    assert!(changes(scone)[0].abs() < 0.01, "{scone:?}");
}

/// The sender of XCP receives nothing behind a router that strips the header, and nothing useful from a tunnel.
#[test]
fn stripped_and_hidden_headers_apply_to_a_protocol_with_a_header() {
    let xcp = disturbed("xcp", &["tunnel", "stripped"], &[]);
    assert_eq!(
        xcp.rows.iter().map(|row| row.disturbance.as_str()).collect::<Vec<_>>(),
        ["stripped", "tunnel"]
    );
    assert!(xcp.rows.iter().all(|row| row.changes.is_some()), "{:?}", xcp.rows);
}

/// Feedback is not delayed where a round-trip time of its own would contain the delay: it grows with it.
#[test]
fn late_feedback_lengthens_the_round_trip_of_every_flow() {
    for sets in [&[][..], &["flows.f.rtt=80ms"]] {
        let mut before = scenario(ONE_LINK, sets);
        let late = disturbances(&mut before, &["feedback-late".to_owned()]).unwrap()[0];
        let after = late.disturbed(&before, 100.0).unwrap();
        let return_path = |one: &millpond_scenario::Scenario| {
            one.propagation(&one.return_path(&one.flows[0].paths[0]).unwrap()).secs()
        };
        assert!((return_path(&after) - return_path(&before) - 0.1).abs() < 1e-12);
        let grown = Rtt::Constant(Span::from_millis(180));
        assert_eq!(after.flows[0].rtt, before.flows[0].rtt.map(|_| grown));
    }
}

#[test]
fn an_unknown_disturbance_is_refused_with_the_nearest_one() {
    let refused = |name: &str| {
        let refused = disturbances(&mut scenario(ONE_LINK, &[]), &[name.to_owned()]).err();
        refused.map(|fault| Faults::from(fault).to_string()).unwrap_or_default()
    };
    assert!(refused("reorderin").contains("did you mean \"reordering\"?"));
    assert!(refused("weather").contains("there are: all, capacity-low, "));
}

/// The table of the page is that of the code; charts have room for names of 14 characters.
#[test]
fn the_page_has_a_row_for_each_disturbance() {
    let names: BTreeSet<&str> = Disturbance::ALL.iter().map(|one| one.name).collect();
    assert_eq!(names.len(), Disturbance::ALL.len());
    let rows: Vec<String> = Disturbance::ALL
        .iter()
        .map(|one| {
            assert!(one.name.len() <= 14 && one.name != "all", "{}", one.name);
            let levels: Vec<String> = one.levels.iter().map(|value| one.level(*value)).collect();
            format!("| `{}` | {} | {} | {} |", one.name, one.changes, levels.join(", "), one.origin)
        })
        .collect();
    assert!(
        rows.iter().all(|row| PAGE.contains(row.as_str())),
        "docs/disturbances.md must have:\n{}",
        rows.join("\n")
    );
}
