//! ACP and MCP beside CUBIC, and among their own when one more joins late: who starves, and how long fairness takes.

use crate::common::{flow, link, results, series};
use millpond_lab::results::{Group, Run};

const BESIDE: &str = include_str!("../../../../scenarios/beside-cubic.toml");
const LATE: &str = include_str!("../../../../scenarios/late-joiner.toml");

fn beside_cubic(protocol: &str, count: usize) -> Run {
    results(BESIDE, &[&format!("flows.one.protocol={protocol}"), &format!("flows.one.count={count}")])
}

/// So many flows, the last of which joins after 30 s; measured over the last 30 s.
fn late(protocol: &str, flows: usize, duration: u32) -> Run {
    let sets = [
        format!("flows.early.protocol={protocol}"),
        format!("flows.late.protocol={protocol}"),
        format!("flows.early.count={}", flows - 1),
        format!("duration={duration}s"),
        format!("measure.from={}s", duration - 30),
    ];
    results(LATE, &sets.each_ref().map(String::as_str))
}

fn group<'a>(run: &'a Run, name: &str) -> &'a Group {
    run.summary.groups.iter().find(|group| group.name == name).unwrap()
}

#[test]
fn cubic_starves_acp_to_a_packet_per_round_trip() {
    // CUBIC keeps y above .99 C, so (6) lowers p to 0, and (5) leaves one packet of 1500 B in 30 ms, or in twice that
    // when the buffer is full: 0.4 to 0.2 Mbps.
    for count in [1, 4] {
        let goodput = group(&beside_cubic("acp", count), "one").goodput_bps;
        assert!(goodput.min > 0.18e6 && goodput.max < 0.4e6, "{goodput:?}");
    }
}

#[test]
fn cubic_starves_mcp_to_its_floor() {
    // Every period is an overload: all that is left is the floor of 80 kbps, or nothing of a packet in flight more.
    for count in [1, 4] {
        let goodput = group(&beside_cubic("mcp", count), "one").goodput_bps;
        assert!(goodput.min > 0.06e6 && goodput.max < 0.1e6, "{goodput:?}");
    }
}

#[test]
fn acp_shares_among_its_own_and_a_late_joiner_has_its_share_within_two_seconds() {
    // .99 C / N, but for what whole windows of 333 and 33 packets of C RTT / N = 3.3 leave: half a packet each.
    for (flows, least) in [(2, 0.985), (10, 0.97), (100, 0.85)] {
        let run = late("acp", flows, 90);
        let share = 100e6 / flows as f64;
        let (early, late) = (group(&run, "early").goodput_bps, flow(&run, "late"));
        for goodput in [early.min, early.max, late.goodput_bps] {
            assert!((least..1.0).contains(&(goodput / share)), "{flows} flows: {goodput}");
        }
        assert!(late.converged_s.is_some_and(|time| time <= 32.0), "{flows} flows: {:?}", late.converged_s);
    }
}

#[test]
fn a_late_joiner_of_mcp_has_its_share_after_seven_cycles() {
    // A cycle takes .49 C / (n 80 kbps) .4 s: 24.5 s with ten flows, 2.45 s with a hundred. Seven of them from 30 s on
    // end at 202 and 47 s; then all creep up and rest.
    for (flows, duration) in [(10, 300), (100, 90)] {
        let run = late("mcp", flows, duration);
        assert!(run.summary.fairness.min_over_max > 0.8, "{flows}: {}", run.summary.fairness.min_over_max);
        let used = link(&run, "L").utilization;
        assert!((0.9..0.98).contains(&used), "{flows} flows use {used}");
        let mode = series(&run, "late", "mode");
        assert_eq!(mode.values.last(), Some(&4.0), "it rests");
    }
}

#[test]
fn two_flows_of_mcp_on_a_wide_link_are_not_fair_for_minutes() {
    // A cycle of two flows takes 122 s: after 60 s the newcomer has added at most 150 steps of 80 kbps, 12 Mbps of
    // its 49, and the link, between .49 and .98, is used to less than that mean of .735.
    let run = late("mcp", 2, 90);
    assert!(flow(&run, "late").goodput_bps < 12e6);
    assert!(link(&run, "L").utilization < 0.735);
}
