//! What late calls change in the results of a law.

use super::{VirtualRun, ideal};
use millpond_results::LiveFacts;
use millpond_units::{Span, Time};

/// Two Vegas flows over a link of 20 Mbit/s with an RTT of 20 ms; the second one starts later.
fn two_downloads(seed: u32) -> String {
    format!(
        r#"
        title = "two downloads"
        duration = "20s"
        seed = {seed}
        links = [{{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "10ms", buffer = "1bdp" }}]
        flows = [
            {{ name = "first", protocol = "vegas", path = ["S", "D"], start = "576ms" }},
            {{ name = "second", protocol = "vegas", path = ["S", "D"], start = "1449ms" }},
        ]
        "#
    )
}

/// The share of the first flow in what both deliver from 8 s to 20 s, and that in the capacity.
fn share_and_utilization(seed: u32, late: Span) -> (f64, f64) {
    let mut run = VirtualRun::new(&two_downloads(seed));
    let delivered =
        |run: &VirtualRun| run.plan.network.flows().map(|flow| flow.delivered().as_f64()).collect::<Vec<_>>();
    run.run_to(Time::from_secs(8.0), late, &mut ideal);
    let before = delivered(&run);
    run.run_to(Time::from_secs(20.0), late, &mut ideal);
    let rates: Vec<f64> = delivered(&run).iter().zip(before).map(|(after, before)| after - before).collect();
    let all = rates[0] + rates[1];
    (rates[0] / all, all * 8.0 / (20e6 * 12.0))
}

#[test]
fn late_calls_move_vegas_only_among_its_equilibria() {
    // In equilibrium each flow has between alpha = 2 and beta = 4 packets in the queue. Flows with equal base RTTs have shares in
    // proportion to them: 2/6 to 4/6 (Low, Peterson and Wang 2002). Two per cent for the approach.
    for seed in 1..=6 {
        for late in [Span::ZERO, Span::from_micros(200)] {
            let (share, utilization) = share_and_utilization(seed, late);
            assert!((2.0 / 6.0 - 0.02..=4.0 / 6.0 + 0.02).contains(&share), "{seed}, {late} late: {share}");
            assert!(utilization > 0.99, "{seed}, {late} late: {utilization}");
        }
    }
}

/// A call of the driver up to the end of a run counts with its whole lateness: 3 ms, although the run ends 1 us after the event.
#[test]
fn lateness_beyond_the_end_of_a_run_is_counted() {
    let network = &mut VirtualRun::new(&two_downloads(1)).plan.network;
    let due = network.next_event();
    network.run_due(due + Span::from_millis(3), due + Span::from_micros(1));
    let lateness = network.host_lateness().unwrap();
    assert_eq!((lateness.total(), lateness.max()), (1, Span::from_millis(3).picos()));
}

/// One LGCC flow over a relay, whose loops have round trips of 10 ms.
const RELAY: &str = r#"
    title = "relay"
    duration = "12s"
    links = [
        { name = "before", between = ["S", "R"], rate = "160Mbps", delay = "5ms", buffer = "1bdp" },
        { name = "behind", between = ["R", "D"], rate = "150Mbps", delay = "5ms", buffer = "1bdp" },
    ]
    flows = [{ name = "flow", protocol = "lgcc", path = ["S", "R", "D"] }]
    protocols = { lgcc = { relays = ["R"] } }
"#;

/// What a loop has counted.
#[derive(Clone, Copy)]
struct Counted {
    delivered: f64,
    arrived: f64,
    marked: f64,
    rtt_sum: f64,
    rtt_samples: f64,
    shortest_rtt: f64,
}

fn counted(run: &VirtualRun) -> Vec<Counted> {
    let flow = run.plan.network.flows().next().unwrap();
    let loops = flow.loops().map(|one| {
        let (totals, rtt) = (one.totals(), one.round_trip_times());
        Counted {
            delivered: totals.delivered_bytes as f64,
            arrived: totals.arrived as f64,
            marked: totals.marked as f64,
            rtt_sum: rtt.sum() as f64,
            rtt_samples: rtt.total() as f64,
            shortest_rtt: rtt.min() as f64,
        }
    });
    loops.collect()
}

/// The goodput of the flow from 4 s to 12 s in bit/s, and that which follows from its marks and round-trip times.
fn measured_and_predicted(late: Span) -> (f64, f64) {
    const FROM: f64 = 4.0;
    const TO: f64 = 12.0;
    let mut run = VirtualRun::new(RELAY);
    run.run_to(Time::from_secs(FROM), late, &mut ideal);
    let before = counted(&run);
    run.run_to(Time::from_secs(TO), late, &mut ideal);
    let after = counted(&run);
    // A window of x times the base RTT sends x T / RTT. The sender of the second loop has x = c (1 - p)^eta, that of the first
    // one the rate of the second loop in the place of c: Eqs. (10) and (15) with eta = ln 10 / ln 5.
    let eta = 10_f64.ln() / 5_f64.ln();
    let predicted = before.iter().zip(&after).fold(150e6, |rate, (before, after)| {
        let marked = (after.marked - before.marked) / (after.arrived - before.arrived);
        let rtt = (after.rtt_sum - before.rtt_sum) / (after.rtt_samples - before.rtt_samples);
        rate * (1.0 - marked).powf(eta) * after.shortest_rtt / rtt
    });
    let bytes = after.last().unwrap().delivered - before.last().unwrap().delivered;
    (8.0 * bytes / (TO - FROM), predicted)
}

#[test]
fn late_calls_lower_the_rate_of_lgcc_by_its_marks_and_by_longer_round_trips() {
    // Packets of 80 us arrive in bursts if calls are late; the queue marks from the third packet on. Windows are rounded up by
    // half a packet of 125, on average, in each loop: 0.8 %.
    let measured: Vec<f64> = [0, 50, 100]
        .map(|late| {
            let (measured, predicted) = measured_and_predicted(Span::from_micros(late));
            let ratio = measured / predicted;
            assert!((1.0..1.014).contains(&ratio), "{late} us late: {measured} of {predicted}");
            measured / 150e6
        })
        .into();
    assert!(measured[0] > 0.985 && measured[2] < 0.96, "{measured:?}");
    assert!(measured[0] > measured[1] && measured[1] > measured[2], "{measured:?}");
}

/// The mean queueing delay in milliseconds of a flow over a link of 20 Mbit/s with an RTT of 100 ms, from the start to 10 s.
fn mean_queueing_ms(protocol: &str, late: Span) -> f64 {
    let mut run = VirtualRun::new(&format!(
        r#"
        title = "long path"
        duration = "10s"
        links = [{{ name = "L", between = ["S", "D"], rate = "20Mbps", delay = "50ms", buffer = "1bdp" }}]
        flows = [{{ name = "flow", protocol = "{protocol}", path = ["S", "D"] }}]
        "#
    ));
    run.run_to(Time::from_secs(10.0), late, &mut ideal);
    let flow = run.plan.network.flows().next().unwrap();
    flow.queueing_delays().mean() / 1e9
}

#[test]
fn lateness_up_to_the_tolerance_of_mean_queueing_delays_changes_them_by_less() {
    for (protocol, late_ms) in [("rcp", 1), ("xcp", 1), ("newreno", 2), ("cubic", 5)] {
        let punctual = mean_queueing_ms(protocol, Span::ZERO);
        let late = mean_queueing_ms(protocol, Span::from_millis(late_ms));
        let tolerance = LiveFacts::queueing_tolerance_ms(late);
        assert!(late_ms as f64 <= tolerance, "{protocol}: {late_ms} ms late, {tolerance} ms accepted");
        assert!((late - punctual).abs() < tolerance, "{protocol}: {punctual} ms, {late} ms if late");
    }
}

#[test]
fn lateness_of_half_of_a_tenth_of_the_round_trip_time_more_than_doubles_a_short_queue() {
    let [punctual, late] = [Span::ZERO, Span::from_millis(5)].map(|late| mean_queueing_ms("xcp", late));
    assert!(late > 2.0 * punctual, "{punctual} ms, {late} ms if late");
    assert!(late - punctual > LiveFacts::queueing_tolerance_ms(punctual));
}
