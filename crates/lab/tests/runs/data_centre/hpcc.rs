//! HPCC: its utilization and queue in equilibrium, incast, several links, and the bytes of its telemetry.

use super::{queueing, shares};
use crate::common::{flow, greatest, least, link, mean, near, results, series};
use millpond_results::Run;

/// One link of 100 Gbit/s and 40 us of round trip: 333 packets.
const FAST_LINK: &str = r#"
title = "HPCC on one link"
duration = "60ms"
measure = { from = "40ms", every = "20us" }
links = [{ name = "L", between = ["A", "B"], rate = "100Gbps", delay = "20us", buffer = "50000packets", queue = "droptail" }]
flows = [{ name = "f", protocol = "hpcc", path = ["A", "B"] }]
"#;

const ETA: f64 = 0.95;

/// The value of `expected_flows` in these tests.
const EXPECTED: f64 = 20.0;

/// `U` in equilibrium: `W = W eta / U + W_AI` with `W = U C T / N` and `W_AI = C T (1 - eta) / expected_flows` (section 3.3, SIGCOMM 2019).
fn equilibrium(flows: f64) -> f64 {
    ETA + (1.0 - ETA) * flows / EXPECTED
}

fn with_flows(flows: usize, sets: &[&str]) -> Run {
    let count = format!("flows.f.count={flows}");
    let expected = format!("protocols.hpcc.params.expected_flows={EXPECTED}");
    results(FAST_LINK, &[&[count.as_str(), expected.as_str()], sets].concat())
}

#[test]
fn up_to_the_expected_number_of_flows_the_link_has_the_utilization_of_the_equilibrium_and_no_queue() {
    for flows in [1, 5, 10, 19] {
        let run = with_flows(flows, &[]);
        let (measured, theory) = (link(&run, "L").utilization, equilibrium(flows as f64));
        assert!(near(measured, theory, 0.01), "{flows}: {measured} instead of {theory}");
        // Less than 3 % of the base round-trip time: ten packets of 0.12 us.
        assert!(queueing(&run) < 1.2e-6, "{flows}: {}", queueing(&run));
        assert_eq!(link(&run, "L").drops_total, 0);
        let (least, greatest) = shares(&run);
        assert!(least > 0.95 && greatest < 1.05, "{flows}: {least} to {greatest}");
    }
}

#[test]
fn more_flows_than_expected_have_a_queue_that_grows_with_their_number() {
    // The link is full, and its queue is U - 1 of the base round-trip time.
    for flows in [40, 60] {
        let run = with_flows(flows, &[]);
        let theory = (equilibrium(flows as f64) - 1.0) * 40.24e-6;
        assert!(near(queueing(&run), theory, 0.35), "{flows}: {} instead of {theory}", queueing(&run));
        assert!(link(&run, "L").utilization > 0.985, "{flows}: {}", link(&run, "L").utilization);
    }
}

#[test]
fn an_incast_of_line_rate_senders_drains_within_round_trips() {
    // 32 senders begin with a window of 333 packets each. A round trip later they divide it by what they see: U / eta is about 33.
    let sets =
        ["protocols.hpcc.params.base_rtt=40.24us", "measure.from=0s", "duration=5ms", "measure.every=10us"];
    let run = with_flows(32, &sets);
    let queue = series(&run, "L ->", "queue");
    let peak = greatest(queue, (0.0, 5e-3));
    let most = 32.0 * 334.0;
    assert!((0.5 * most..=most).contains(&peak), "{peak} of at most {most} packets");
    // Draining 31 bandwidth-delay products takes 31 round trips, 1.3 ms; from then on the queue stays below a tenth of one.
    assert!(greatest(queue, (2.5e-3, 5e-3)) < 33.0, "{}", greatest(queue, (2.5e-3, 5e-3)));
    assert!(least(series(&run, "L ->", "throughput"), (2.5e-3, 5e-3)) > 0.85 * 100e9);
}

#[test]
fn the_busiest_of_five_links_limits_and_each_link_costs_eight_bytes() {
    let text = r#"
title = "Five links"
duration = "20ms"
measure = { from = "10ms", every = "20us" }
links = [
  { name = "a", between = ["A", "B"], rate = "100Gbps", delay = "1us", buffer = "50000packets", queue = "droptail" },
  { name = "b", between = ["B", "C"], rate = "100Gbps", delay = "5us", buffer = "50000packets", queue = "droptail" },
  { name = "c", between = ["C", "D"], rate = "25Gbps", delay = "5us", buffer = "50000packets", queue = "droptail" },
  { name = "d", between = ["D", "E"], rate = "100Gbps", delay = "5us", buffer = "50000packets", queue = "droptail" },
  { name = "e", between = ["E", "F"], rate = "40Gbps", delay = "4us", buffer = "50000packets", queue = "droptail" },
]
flows = [{ name = "f", protocol = "hpcc", path = ["A", "B", "C", "D", "E", "F"] }]
"#;
    let run = results(text, &["protocols.hpcc.params.expected_flows=20"]);
    // W_AI is 1 - eta over 20 of the window of the interface, four times that of the bottleneck.
    let theory = ETA + (1.0 - ETA) * 4.0 / 20.0;
    let measured = link(&run, "c").utilization;
    assert!(near(measured, theory, 0.01), "{measured} instead of {theory}");
    assert!(queueing(&run) < 1.2e-6, "{}", queueing(&run));
    // Of 1500 bytes, 2 + 5 * 8 are telemetry.
    let payload = flow(&run, "f").goodput_bps / (measured * 25e9);
    assert!(near(payload, 1458.0 / 1500.0, 1e-3), "{payload}");
}

#[test]
fn flows_of_unequal_initial_windows_become_equal() {
    // A difference of windows decays by eta / U per round trip: with ten flows of 20 expected ones by 1/39, and the second group begins
    // when the first has the whole link.
    let text = FAST_LINK.replace(
        r#"flows = [{ name = "f", protocol = "hpcc", path = ["A", "B"] }]"#,
        r#"flows = [
  { name = "f", protocol = "hpcc", path = ["A", "B"], count = 5 },
  { name = "late", protocol = "hpcc", path = ["A", "B"], count = 5, start = "10ms" },
]"#,
    );
    let run = results(&text, &["protocols.hpcc.params.expected_flows=20"]);
    let (least, greatest) = shares(&run);
    assert!(least > 0.95 && greatest < 1.05, "{least} to {greatest}");
    let utilization = mean(series(&run, "f.0", "utilization"), (50e-3, 60e-3));
    assert!(near(utilization, equilibrium(10.0), 0.01), "{utilization}");
}

/// The independent model `tests/reference/hpcc_packets.py` has the same: an increase of 1/240 of a packet is less than what packets change in the
/// utilization that each flow measures, and one of 1/24 is more.
#[test]
fn equal_flows_on_a_path_of_few_packets_are_equal_only_if_the_increase_is_a_twenty_fourth_of_a_packet() {
    let text = r#"
title = "HPCC on a path of nine packets"
duration = "14s"
measure = { from = "4s" }
dumbbell = { bottleneck = { rate = "100Mbps", delay = "450us" } }
flows = [{ name = "f", protocol = "hpcc", count = 4 }]
"#;
    let goodputs = |expected: u32| {
        let run = results(text, &[&format!("protocols.hpcc.params.expected_flows={expected}")]);
        let mut goodputs: Vec<f64> = run.summary.flows.iter().map(|flow| flow.goodput_bps / 1e6).collect();
        goodputs.sort_by(f64::total_cmp);
        goodputs
    };
    let [unequal, equal] = [100, 10].map(goodputs);
    assert!(near(unequal[0], 5.9, 0.1) && near(unequal[3], 70.0, 0.05), "{unequal:?}");
    assert!(equal.iter().all(|goodput| near(*goodput, 23.5, 0.05)), "{equal:?}");
}

/// A tenth of 375 bytes is less than an acknowledgement of 40 bytes with the telemetry of one link, 10 bytes.
#[test]
fn a_buffer_given_as_a_share_of_the_bandwidth_delay_product_holds_an_acknowledgement_with_its_telemetry() {
    let text = r#"
title = "HPCC with small buffers on both ways"
duration = "20s"
measure = { every = "1s" }
links = [{ name = "L", between = ["A", "B"], rate = "500kbps", delay = "3ms", buffer = "0.1bdp", queue = "droptail" }]
flows = [{ name = "f", protocol = "hpcc", path = ["A", "B"], workload = { size = "100KB" } }]
"#;
    let run = results(text, &[]);
    assert_eq!(run.transfers[0].delivered_bytes, 100_000);
}
