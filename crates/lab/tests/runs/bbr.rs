//! BBRv3 against the test cases of its draft (draft-ietf-ccwg-bbr-06, appendix A), and both versions against closed forms.

use crate::common::{flow, greatest, least, link, mean, near, results, samples_of, series};
use millpond_results::Run;

/// One flow on a link of 50 Mbit/s and 40 ms: a bandwidth-delay product of 167 packets, or 250 kB. The draft's cases have
/// a fixed path, without random processing times.
const ONE: &str = r#"
title = "one flow"
duration = "30s"
measure = { every = "5ms" }
hosts = { jitter = "0s" }
links = [{ name = "L", between = ["A", "B"], rate = "50Mbps", delay = "20ms", buffer = "8bdp" }]
flows = [{ name = "f", protocol = "bbr3", path = ["A", "B"] }]
"#;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const DOWN: f64 = 2.0;
const CRUISE: f64 = 3.0;
const REFILL: f64 = 4.0;
const UP: f64 = 5.0;
const PROBE_RTT: f64 = 6.0;

/// A stay in one phase.
#[derive(Clone, Copy, Debug)]
struct Stay {
    phase: f64,
    from: f64,
    until: f64,
}

impl Stay {
    fn lasts(&self) -> f64 {
        self.until - self.from
    }
}

/// The phases of the flow in order, with times in seconds to within one sample. The last one is not complete.
fn stays(run: &Run) -> Vec<Stay> {
    let mut stays: Vec<Stay> = Vec::new();
    for (time, phase) in samples_of(series(run, "f", "phase"), (0.0, f64::MAX)) {
        match stays.last_mut() {
            Some(stay) if stay.phase == phase => stay.until = time,
            _ => stays.push(Stay { phase, from: time, until: time }),
        }
    }
    stays
}

/// The phases that follow `phase`, each once.
fn successors(stays: &[Stay], phase: f64) -> Vec<f64> {
    let pairs = stays.iter().zip(stays.iter().skip(1));
    let mut after: Vec<f64> =
        pairs.filter(|(stay, _)| stay.phase == phase).map(|(_, next)| next.phase).collect();
    after.sort_by(f64::total_cmp);
    after.dedup();
    after
}

fn all_of(stays: &[Stay], phase: f64) -> Vec<Stay> {
    stays.iter().filter(|stay| stay.phase == phase).copied().collect()
}

#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_within_two_percent() {
    for (rate, delay, bps) in [("2Mbps", "50ms", 2e6), ("50Mbps", "20ms", 50e6), ("1Gbps", "1ms", 1e9)] {
        let run = results(ONE, &[&format!("links.L.rate={rate}"), &format!("links.L.delay={delay}")]);
        let stays = stays(&run);
        assert_eq!(successors(&stays, STARTUP), [DRAIN], "{rate}");
        assert_eq!(flow(&run, "f").lost, 0, "{rate}: no loss ends the phase");
        let found = greatest(series(&run, "f", "bandwidth"), (stays[1].from - 0.01, stays[1].from + 0.01));
        assert!(near(found, bps, 0.02), "{rate}: {found}");
    }
}

#[test]
fn the_window_bounds_the_queue_of_the_start_to_one_bandwidth_delay_product() {
    // Section 5.3.1.1: (2 - 1) times the estimated product, 167 packets; and the quantum of a millisecond at 2.77 times the
    // rate, 12 packets.
    let run = results(ONE, &[]);
    let start = stays(&run)[0];
    let queue = greatest(series(&run, "L ->", "queue"), (start.from, start.until));
    assert!((0.8 * 167.0..=167.0 + 12.0).contains(&queue), "{queue}");
}

#[test]
fn drain_ends_when_the_data_in_flight_is_down_to_the_product() {
    let run = results(ONE, &[]);
    let drain = stays(&run)[1];
    assert_eq!(drain.phase, DRAIN);
    // Half the rate leaves while the whole rate is delivered: a queue of one product takes two round trips, and the
    // acknowledgements of the start one more.
    assert!(drain.lasts() <= 3.0 * 0.04 + 0.08, "{drain:?}");
    let queue = series(&run, "L ->", "queue");
    let after = mean(queue, (drain.until + 0.04, drain.until + 0.06));
    assert!(after <= 0.1 * 167.0, "{after} packets");
}

#[test]
fn drain_ends_after_three_round_trips_in_any_case() {
    // The capacity falls to a tenth while the start fills the queue, so that half the estimated bandwidth is five times
    // the rate of the link.
    let slower = "links.L.rate={ steps = [[\"0s\", \"50Mbps\"], [\"500ms\", \"5Mbps\"]] }";
    let run = results(ONE, &[slower, "links.L.buffer=10MB"]);
    let stays = stays(&run);
    let drain = all_of(&stays, DRAIN)[0];
    assert!(flow(&run, "f").lost == 0 && drain.lasts() > 0.08, "{drain:?}");
}

#[test]
fn the_cycle_is_down_cruise_refill_up() {
    let run = results(ONE, &["duration=60s"]);
    let stays = stays(&run);
    // A measurement of the base RTT may interrupt each of them, and ends in CRUISE.
    for (phase, next) in [(DOWN, CRUISE), (CRUISE, REFILL), (REFILL, UP), (UP, DOWN), (PROBE_RTT, CRUISE)] {
        let after: Vec<f64> =
            successors(&stays, phase).into_iter().filter(|next| *next != PROBE_RTT).collect();
        assert_eq!(after, [next], "after {phase}");
    }
}

#[test]
fn refill_lasts_one_round_trip_and_up_ends_after_three_on_a_plateau() {
    let run = results(ONE, &["duration=60s"]);
    let stays = stays(&run);
    let pairs = stays.iter().zip(&stays[1..]);
    for (refill, _) in pairs.filter(|(stay, next)| stay.phase == REFILL && next.phase == UP) {
        assert!((0.03..=0.06).contains(&refill.lasts()), "{refill:?}");
    }
    // The first round trip of the phase carries acknowledgements of data sent before it; then three without growth.
    // Round trips grow from 40 ms by a quarter of the product per round trip.
    let pairs = stays.iter().zip(&stays[1..]);
    let ups: Vec<&Stay> =
        pairs.filter(|(stay, next)| stay.phase == UP && next.phase == DOWN).map(|(up, _)| up).collect();
    assert!(ups.len() > 10);
    for up in ups {
        assert!((3.0 * 0.04..=5.0 * 0.08).contains(&up.lasts()), "{up:?}");
    }
}

#[test]
fn probes_for_bandwidth_are_two_to_three_seconds_apart_or_63_round_trips() {
    // 62 round trips are 2.5 s at 40 ms. At 10 ms they are 0.62 s, and up to twice that while the queue of a probe drains.
    // A product of 42 packets needs 41 or 42 round trips of Reno.
    let cases =
        [("20ms", "50Mbps", 2.0..=3.1), ("5ms", "100Mbps", 0.62..=1.25), ("5ms", "50Mbps", 0.41..=0.84)];
    for (delay, rate, apart) in cases {
        let sets =
            ["duration=60s".to_owned(), format!("links.L.delay={delay}"), format!("links.L.rate={rate}")];
        let run = results(ONE, &sets.each_ref().map(String::as_str));
        let stays = stays(&run);
        let (ups, measured) = (all_of(&stays, UP), all_of(&stays, PROBE_RTT));
        for (one, next) in ups.iter().zip(&ups[1..]) {
            // A measurement of the base RTT restarts the wait.
            let begins = measured.iter().map(|stay| stay.until).filter(|until| *until < next.from);
            let since = next.from - begins.fold(one.until, f64::max);
            assert!(apart.contains(&since), "{delay}: {one:?}, {next:?}: {since}");
        }
    }
}

#[test]
fn the_base_rtt_is_measured_every_five_seconds_with_half_the_product_in_flight() {
    let run = results(ONE, &["duration=60s"]);
    let probes = all_of(&stays(&run), PROBE_RTT);
    assert!((10..=11).contains(&probes.len()), "{}", probes.len());
    for (one, next) in probes.iter().zip(&probes[1..]) {
        assert!(near(next.from - one.until, 5.0, 0.02), "{one:?}, {next:?}");
        // 200 ms and a round trip; before it the data in flight falls to half the product, which takes half a round trip.
        assert!((0.2..=0.2 + 3.0 * 0.04).contains(&one.lasts()), "{one:?}");
        let window = least(series(&run, "f", "window"), (one.from, one.until));
        assert!(near(window, 0.5 * 167.0, 0.03), "{window}");
    }
}

#[test]
fn a_sender_without_data_skips_the_measurement_of_the_base_rtt() {
    // Idle periods of 6 s are longer than the interval of 5 s: the queue was empty anyway.
    let bursts = "flows.f.workload={ rate = \"40Mbps\", on = \"1s\", off = \"6s\" }";
    let run = results(ONE, &["duration=60s", bursts]);
    assert!(all_of(&stays(&run), PROBE_RTT).is_empty());
    assert!(flow(&run, "f").goodput_bps > 4e6, "it sends");
}

#[test]
fn alone_it_uses_the_link_at_one_percent_below_its_rate_less_the_measurements() {
    // Every 5.2 s half the product is missing for 0.2 s and a round trip at most: 0.5 (0.24 / 5.24) = 2.3 %.
    let run = results(ONE, &["duration=60s", "measure.from=10s"]);
    let used = link(&run, "L").utilization;
    assert!((0.99 - 0.023..=0.995).contains(&used), "{used}");
    // BBRv1 has no margin, and holds four of 167 packets for 0.2 s in 10.2 s.
    let run = results(ONE, &["duration=60s", "measure.from=10s", "flows.f.protocol=bbr1"]);
    let used = link(&run, "L").utilization;
    assert!((1.0 - 0.028..=1.0).contains(&used), "{used}");
}

/// With a margin of a tenth the phase with 1.25 sends at 1.125 of the bandwidth, for two round trips until 1.25 products are in
/// flight after .9; the next one at .675 until one product is, .25 / .325 round trips; then six at .9: .93 on average. Without a
/// margin random processing times raise the largest sample above the bandwidth, and a queue grows, most of which one of 1 %
/// drains.
#[test]
fn a_pacing_margin_of_bbr1_leaves_its_part_of_the_link_and_drains_the_queue() {
    let bbr1 = |sets: &[&str]| {
        let sets = [&["duration=60s", "measure.from=10s", "flows.f.protocol=bbr1"], sets].concat();
        link(&results(ONE, &sets), "L").clone()
    };
    let used = bbr1(&["protocols.bbr1.params.pacing_margin=0.1"]).utilization;
    assert!((0.93 - 0.028..=0.93 + 0.015).contains(&used), "{used}");
    // The service time of a packet, 1500 B at 50 Mbit/s.
    let queueing = |margin: &str| {
        let margin = format!("protocols.bbr1.params.pacing_margin={margin}");
        bbr1(&["hosts.jitter=240us", margin.as_str()]).queueing_ms.mean
    };
    let (without, with) = (queueing("0"), queueing("0.01"));
    assert!(with < 0.5 * without, "{with} and {without} ms");
}

#[test]
fn losses_up_to_the_threshold_do_not_reduce_the_rate_and_bbr1_ignores_more() {
    let goodput = |protocol: &str, loss: &str| {
        let sets = [format!("flows.f.protocol={protocol}"), format!("links.L.loss={loss}")];
        let run = results(ONE, &sets.each_ref().map(String::as_str));
        flow(&run, "f").goodput_bps / 50e6
    };
    // Section 5.3.3.8: between two probes, 63 round trips here, the rate falls by the lost part p per round trip at most. On
    // average it is (1 - (1 - p)^63) / (63 p), less 2.3 % for measurements of the base RTT, and of it 1 - p is goodput.
    for (loss, p) in [("0.5%", 0.005_f64), ("1%", 0.01)] {
        let least = (1.0 - (1.0 - p).powi(63)) / (63.0 * p) * (0.99 - 0.023) * (1.0 - p);
        let measured = goodput("bbr3", loss);
        assert!((least..=0.99).contains(&measured), "{loss}: {measured}, at least {least}");
    }
    // Above the threshold of 2 % every probe ends at once. BBRv1 keeps the rate as long as a probe delivers more than the
    // estimate: up to a loss of 1 - 1 / 1.25 = 20 %.
    assert!(goodput("bbr3", "10%") < 0.5, "{}", goodput("bbr3", "10%"));
    for (loss, p) in [("1%", 0.01), ("10%", 0.1)] {
        let (measured, model) = (goodput("bbr1", loss), (1.0 - p) * (1.0 - 0.028));
        assert!(near(measured, model, 0.06), "{loss}: {measured}, {model}");
    }
}

#[test]
fn bbr1_beside_one_loss_based_flow_has_half_of_a_deep_buffer() {
    // The window is twice bandwidth times base RTT, and the base RTT is measured while only the packets of the other flow
    // are in the network. With a share s of the link and of a full buffer of X products the other has (1 - s) (1 + X)
    // products, so that 2 s (1 - s) (1 + X) = s (1 + X) and s = 1/2. Every 10 s it sends nothing until its own data has left,
    // and for 0.2 s (R. Ware et al., IMC 2019).
    let text = r#"
        title = "beside a loss-based flow"
        duration = "300s"
        measure = { from = "100s" }
        links = [{ name = "L", between = ["A", "B"], rate = "40Mbps", delay = "20ms", buffer = "8bdp" }]
        flows = [{ name = "f", protocol = "bbr1", path = ["A", "B"] }, { name = "loss", protocol = "newreno", path = ["A", "B"] }]
    "#;
    for depth in [8.0, 16.0] {
        let run = results(text, &[&format!("links.L.buffer={depth}bdp")]);
        let share = flow(&run, "f").goodput_bps / (40e6 * link(&run, "L").utilization);
        let measuring = (0.04 * (1.0 + depth) + 0.2) / 10.0;
        let model = 0.5 * (1.0 - measuring);
        assert!(near(share, model, 0.1), "{depth}: {share}, model {model}");
    }
}
