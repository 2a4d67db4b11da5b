//! TIMELY and its patched form: the fixed point of the latter, which the former lacks (Zhu et al., CoNEXT 2016).

use super::{BASE_RTT, RATE, queueing};
use crate::common::{flow, fluid, link, mean, near, results, scenario, series};
use millpond_protocols::Registry;
use millpond_results::Run;
use millpond_theory::Study;
use millpond_theory::classification::analyze_steady_state;
use millpond_theory::steady_state::SteadyState;

/// Two flows on 10 Gbit/s that begin with 7 and 3 Gbit/s, as in the paper's figure on unfairness.
const TWO_FLOWS: &str = r#"
title = "Two flows with unequal initial rates"
duration = "200ms"
measure = { from = "100ms", every = "100us" }
links = [{ name = "L", between = ["A", "B"], rate = "10Gbps", delay = "5us", buffer = "10000packets", queue = "droptail" }]
flows = [
  { name = "fast", protocol = "fast", path = ["A", "B"] },
  { name = "slow", protocol = "slow", path = ["A", "B"] },
]
protocols.fast = { protocol = "timely-patched", params = { initial_share = 0.7 } }
protocols.slow = { protocol = "timely-patched", params = { initial_share = 0.3 } }
"#;

const PUBLISHED: [&str; 2] = ["protocols.fast.protocol=timely", "protocols.slow.protocol=timely"];

const EQUAL_FLOWS: &str = r#"
title = "Equal flows of patched TIMELY"
duration = "200ms"
measure = { from = "100ms", every = "100us" }
links = [{ name = "L", between = ["A", "B"], rate = "10Gbps", delay = "5us", buffer = "10000packets", queue = "droptail" }]
flows = [{ name = "f", protocol = "timely-patched", path = ["A", "B"] }]
"#;

const T_LOW: f64 = 50e-6;
const DELTA: f64 = 10e6;
const BETA: f64 = 0.008;

/// Round-trip time of the fixed point of `flows` flows: `(1 - 1/2) delta = beta / 2 R (rtt - t_low) / t_low` with `R` an equal
/// share (section 4.3, CoNEXT 2016, where the queue stands for the round-trip time).
fn fixed_point(flows: f64) -> f64 {
    T_LOW * (1.0 + flows * DELTA / (BETA * RATE))
}

/// Rate of the fast flow over that of the slow one.
fn unfairness(run: &Run) -> f64 {
    flow(run, "fast").goodput_bps / flow(run, "slow").goodput_bps
}

/// Settings for this number of flows, which begin with equal shares of the link.
fn equal(flows: usize) -> [String; 2] {
    let share = 1.0 / flows as f64;
    [format!("flows.f.count={flows}"), format!("protocols.timely-patched.params.initial_share={share}")]
}

#[test]
fn patched_flows_hold_the_round_trip_time_of_the_fixed_point_in_both_worlds() {
    for flows in [2, 10] {
        let sets = equal(flows);
        let sets = sets.each_ref().map(String::as_str);
        let theory = fixed_point(flows as f64);
        let packets = results(EQUAL_FLOWS, &sets);
        let rtt = queueing(&packets) + BASE_RTT;
        assert!(near(rtt, theory, 0.03), "{flows}: {rtt} instead of {theory}");
        assert!(link(&packets, "L").utilization > 0.99);
        // The equations have no service times in the round-trip time without queues.
        let rtt = queueing(&fluid(EQUAL_FLOWS, &sets)) + 10e-6;
        assert!(near(rtt, theory, 1e-3), "{flows}: {rtt} instead of {theory}");
    }
}

#[test]
fn patched_flows_become_equal_and_published_ones_stay_unequal() {
    // CoNEXT 2016, sections 4.1 and 4.3: the published form keeps arbitrary unfairness.
    for world in [results, fluid] {
        let (patched, published) =
            (unfairness(&world(TWO_FLOWS, &[])), unfairness(&world(TWO_FLOWS, &PUBLISHED)));
        assert!(near(patched, 1.0, 0.01), "{patched}");
        assert!(published > 1.25, "{published}");
    }
}

#[test]
fn differences_between_patched_flows_decay_as_their_linearization_says() {
    // With the queue constant, R' = -beta / 2 (rtt - t_low) / t_low R / tau* for a difference, tau* = 16 KB over R: 39 per second.
    let rate = RATE / 2.0;
    let interval = 16_000.0 * 8.0 / rate;
    let theory = BETA / 2.0 * (fixed_point(2.0) / T_LOW - 1.0) / interval;
    let run = results(TWO_FLOWS, &["measure.from=20ms"]);
    let difference = |at: f64| {
        let interval = (at - 2e-3, at + 2e-3);
        let [fast, slow] = ["fast", "slow"].map(|name| mean(series(&run, name, "rate"), interval));
        fast - slow
    };
    let measured = (difference(25e-3) / difference(65e-3)).ln() / 40e-3;
    assert!(near(measured, theory, 0.1), "{measured} instead of {theory}");
}

#[test]
fn the_published_form_has_a_limit_cycle_and_the_patched_one_is_stable_with_few_flows() {
    let state = |text: &str, sets: &[&str]| {
        let registry = Registry::builtin();
        let scenario = scenario(text, sets);
        let plan = Study::new(&scenario, &registry).plan().unwrap_or_else(|error| panic!("{error}"));
        analyze_steady_state(&plan).unwrap_or_else(|error| panic!("{error}")).state
    };
    assert!(matches!(state(TWO_FLOWS, &PUBLISHED), SteadyState::LimitCycle(_)));
    // CoNEXT 2016, section 4.3: the margin of the patched form falls with the number of flows.
    for (flows, is_stable) in [(2, true), (10, true), (20, true), (40, false), (64, false)] {
        let sets = equal(flows);
        let found = state(EQUAL_FLOWS, &sets.each_ref().map(String::as_str));
        assert_eq!(found.is_stable(), Some(is_stable), "{flows}: {found:?}");
    }
}

#[test]
fn forty_patched_flows_oscillate_about_their_fixed_point_and_ten_do_not() {
    // The number of flows at which the linearization loses stability separates the packet runs as well.
    let spread = |flows: usize| {
        let sets = equal(flows);
        let run = results(EQUAL_FLOWS, &sets.each_ref().map(String::as_str));
        let packets = link(&run, "L").queue_packets;
        (packets.p99 - packets.p50) / packets.mean
    };
    let (stable, unstable) = (spread(10), spread(40));
    assert!(stable < 0.03 && unstable > 0.05, "{stable} {unstable}");
}
