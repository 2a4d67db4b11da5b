//! Queues for each flow: FQ-CoDel, FQ-PIE and the schedulers of flows.

use crate::common::{flow, link, mean, near, results, series};
use millpond_results::Run;

/// Two long NewReno flows with 20 ms, two with 80 ms, and a flow that sends a packet each 20 ms, on 20 Mbit/s: a full packet of
/// 1500 bytes is served in 0.6 ms.
const MIXED: &str = r#"
title = "long flows and a sparse one"
duration = "60s"
measure = { from = "20s", every = "100ms" }
links = [
  { name = "L", between = ["A", "B"], rate = "20Mbps", delay = "5ms", buffer = "10240packets", queue = { fq-codel = {} } },
  { name = "near", between = ["S", "A"], rate = "1Gbps", delay = "5ms", buffer = "1000packets", queue = "droptail" },
  { name = "far", between = ["T", "A"], rate = "1Gbps", delay = "35ms", buffer = "1000packets", queue = "droptail" },
]
flows = [
  { name = "near", count = 2, protocol = "newreno", path = ["S", "A", "B"] },
  { name = "far", count = 2, protocol = "newreno", path = ["T", "A", "B"] },
  { name = "sparse", protocol = "newreno", path = ["A", "B"], workload = { rate = "600kbps" } },
]
"#;

/// Service time of a full packet at the bottleneck, in milliseconds.
const SERVICE_MS: f64 = 0.6;

/// The longest wait of a sparse flow while the queue of one other flow is new as well: the packet in service, and two packets of
/// that flow, since a quantum of 1514 bytes is not used up by one packet.
const SPARSE_MS: f64 = 3.0 * SERVICE_MS;

const LONG: [&str; 4] = ["near.0", "near.1", "far.0", "far.1"];

/// Goodput of each long flow over the mean of all.
fn shares(run: &Run) -> Vec<f64> {
    let rates = LONG.map(|name| flow(run, name).goodput_bps);
    let total: f64 = rates.iter().sum();
    rates.iter().map(|rate| rate * 4.0 / total).collect()
}

/// RFC 8290, section 1: FQ-CoDel is CoDel in each queue. With one flow there is one queue: all packets have the same times and fates.
#[test]
fn one_flow_at_fq_codel_has_the_run_of_one_flow_at_codel() {
    const ONE: &str = r#"
duration = "30s"
measure.from = "5s"
links = [{ name = "L", between = ["A", "B"], rate = "2Mbps", delay = "5ms", buffer = "unlimited" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"] }]
"#;
    let [codel, fq_codel] = ["codel", "fq-codel"].map(|queue| {
        let run = results(ONE, &[&format!("links.L.queue={queue}")]);
        let summary = run.summary;
        assert!(summary.flows[0].lost > 50, "{queue}");
        (summary.flows, summary.links)
    });
    assert_eq!(codel, fq_codel);
}

#[test]
fn fq_codel_shares_equally_among_flows_of_unequal_round_trips() {
    // RFC 8290, section 3: flows with a backlog share by bytes, whatever their round-trip times. Without CoDel's drops all of
    // them have one.
    let backlogged = ["links.L.queue={ fq-codel = { interval = \"1000s\" } }", "links.L.buffer=500packets"];
    let equal = shares(&results(MIXED, &backlogged));
    assert!(equal.iter().all(|share| (0.99..1.01).contains(share)), "{equal:?}");
    // With CoDel a window that halves at a short queue uses between 3/4 and all of its share; the others take the rest.
    let fair = shares(&results(MIXED, &[]));
    assert!(fair.iter().all(|share| (0.75..1.25).contains(share)), "{fair:?}");
    // One queue for all favours the short round trips.
    let unfair = shares(&results(MIXED, &["links.L.queue=codel"]));
    assert!(unfair[0] > 1.25 && unfair[2] < 0.75, "{unfair:?}");
}

#[test]
fn a_sparse_flow_waits_for_no_more_than_the_packet_in_service() {
    // RFC 8290, section 1.3: a flow whose queue is empty at each packet goes first; service is not interrupted.
    let run = results(MIXED, &[]);
    let sparse = flow(&run, "sparse");
    assert!(sparse.queueing_ms.p50 <= SERVICE_MS, "{:?}", sparse.queueing_ms);
    assert!(sparse.queueing_ms.p99 <= SPARSE_MS, "{:?}", sparse.queueing_ms);
    assert_eq!((sparse.lost, sparse.marked), (0, 0));
    assert!(flow(&run, "near.0").queueing_ms.mean > 4.0 * SERVICE_MS);
}

#[test]
fn fq_codel_keeps_the_delay_near_its_target_and_the_link_busy() {
    // RFC 8289, section 4.3: the standing delay is held to the target of 5 ms; a window of each flow adds its sawtooth, which
    // is below its bandwidth-delay product: 20 ms at most for the near flows.
    let run = results(MIXED, &[]);
    for name in LONG {
        let delay = flow(&run, name).queueing_ms.mean;
        assert!(delay < 5.0 + 20.0, "{name}: {delay}");
    }
    assert!(link(&run, "L").utilization > 0.95);
}

#[test]
fn with_one_queue_fq_codel_is_codel() {
    let one = results(MIXED, &["links.L.queue={ fq-codel = { queues = 1 } }"]);
    let codel = results(MIXED, &["links.L.queue=codel"]);
    for name in LONG.into_iter().chain(["sparse"]) {
        assert_eq!(flow(&one, name).delivered, flow(&codel, name).delivered, "{name}");
        assert_eq!(flow(&one, name).lost, flow(&codel, name).lost, "{name}");
    }
}

/// RFC 8289, section 4.4: CoDel's limit of one packet left behind counts the packets of all queues. Thirty flows of one packet each
/// are a standing queue, which CoDel shortens in one queue and in many. With a limit for each queue, packets of flows with two packets were
/// never marked or dropped.
#[test]
fn thirty_flows_wait_no_longer_at_fq_codel_than_at_codel() {
    const MANY: &str = r#"
title = "many flows"
duration = "60s"
measure = { from = "20s" }
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "10ms", buffer = "10240packets", queue = "codel" }]
flows = [{ name = "f", protocol = "cubic", count = 30, path = ["A", "B"], start = { uniform = ["0s", "2s"] } }]
"#;
    let [codel, fq_codel] = ["codel", "fq-codel"].map(|queue| {
        let run = results(MANY, &[&format!("links.L.queue={queue}")]);
        assert!(link(&run, "L").utilization > 0.99, "{queue}");
        link(&run, "L").queueing_ms.mean
    });
    assert!(fq_codel < codel, "{fq_codel} {codel}");
}

#[test]
fn a_full_buffer_costs_the_fattest_queue_and_not_the_sparse_flow() {
    // RFC 8290, section 4.1. CoDel does not act before the buffer of 60 packets is full.
    let sets = ["links.L.queue={ fq-codel = { interval = \"1000s\" } }", "links.L.buffer=60packets"];
    let run = results(MIXED, &sets);
    assert_eq!(flow(&run, "sparse").lost, 0);
    assert!(LONG.iter().all(|name| flow(&run, name).lost > 0));
    let tail = results(MIXED, &["links.L.queue=droptail", "links.L.buffer=60packets"]);
    assert!(flow(&tail, "sparse").lost > 0);
}

#[test]
fn fq_pie_and_pie_at_a_fair_link_keep_the_queue_of_each_flow_and_the_sparse_flow_ahead() {
    // A single NewReno flow of 5 Mbit/s: its window oscillates by half, so that PIE's probability is zero for part of the time
    // and its integral part does not hold the mean. The peak of the delay is above the target of 15 ms and the mean below
    // the target and a sawtooth of half the 20 ms or 80 ms of the round trip.
    // Fair queueing has no list of new queues: the sparse flow also waits for a packet of each of the other four.
    let [fq_pie, fair] = [&["links.L.queue=fq-pie"][..], &["links.L.queue=pie", "links.L.scheduler=fair"]];
    for (sets, sparse_ms) in [(fq_pie, SPARSE_MS), (fair, 5.0 * SERVICE_MS)] {
        let run = results(MIXED, sets);
        for (name, rtt) in LONG.into_iter().zip([20.0, 20.0, 80.0, 80.0]) {
            let delay = flow(&run, name).queueing_ms;
            assert!(delay.mean < 15.0 + rtt / 2.0 && delay.max > 15.0, "{sets:?}, {name}: {delay:?}");
        }
        let fair = shares(&run);
        assert!(fair.iter().all(|share| (0.75..1.25).contains(share)), "{sets:?}: {fair:?}");
        let sparse = flow(&run, "sparse").queueing_ms;
        assert!(sparse.p99 <= sparse_ms, "{sets:?}: {sparse:?}");
    }
}

#[test]
fn with_one_queue_fq_pie_holds_the_target_of_pie() {
    let sets = ["links.L.queue={ fq-pie = { queues = 1 } }", "flows.near.count=10"];
    let run = results(MIXED, &sets);
    let delay = mean(series(&run, "L ->", "queueing delay"), (20.0, 60.0));
    assert!(near(delay, 15.0, 0.15), "{delay}");
}

/// Two long flows of weights 3 and 1.
const WEIGHTS: &str = r#"
title = "weights"
duration = "40s"
measure = { from = "10s", every = "100ms" }
links = [{ name = "L", between = ["A", "B"], rate = "20Mbps", delay = "10ms", buffer = "200packets", queue = "droptail" }]
flows = [
  { name = "heavy", protocol = "newreno", path = ["A", "B"], weight = 3 },
  { name = "light", protocol = "newreno", path = ["A", "B"] },
]
"#;

#[test]
fn fair_queueing_and_deficit_round_robin_share_by_weight() {
    for scheduler in ["fair", "drr"] {
        let run = results(WEIGHTS, &[&format!("links.L.scheduler={scheduler}")]);
        let ratio = flow(&run, "heavy").goodput_bps / flow(&run, "light").goodput_bps;
        assert!(near(ratio, 3.0, 0.02), "{scheduler}: {ratio}");
        assert!(link(&run, "L").utilization > 0.99, "{scheduler}");
    }
}

#[test]
fn strict_priority_leaves_the_light_flow_what_the_heavy_one_does_not_use() {
    let bulk = results(WEIGHTS, &["links.L.scheduler=priority"]);
    assert!(flow(&bulk, "heavy").goodput_bps > 0.95 * 20e6 * 1460.0 / 1500.0);
    let modest =
        results(WEIGHTS, &["links.L.scheduler=priority", "flows.heavy.workload={ rate = \"5Mbps\" }"]);
    assert!(near(flow(&modest, "heavy").goodput_bps, 5e6, 0.02));
    assert!(
        flow(&modest, "heavy").queueing_ms.p99 <= SERVICE_MS + 0.01,
        "it waits for the packet in service"
    );
    assert!(link(&modest, "L").utilization > 0.98);
}

#[test]
fn a_queue_with_its_own_scheduler_refuses_another() {
    let scenario = crate::common::scenario(WEIGHTS, &["links.L.queue=fq-codel", "links.L.scheduler=drr"]);
    let registry = millpond_protocols::Registry::builtin();
    let about = millpond_results::About::default();
    let error = millpond_lab::run(&scenario, &registry, about, &millpond_results::Unwatched).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("a scheduler of its own") && text.contains("\"fifo\""), "{text}");
}

#[test]
fn cobalt_keeps_the_link_busy_at_no_more_delay_than_codel() {
    // Its count of signals decreases in steps where CoDel sets it back, so that it does not start again from one.
    let [cobalt, codel] =
        ["cobalt", "codel"].map(|queue| results(MIXED, &[&format!("links.L.queue={queue}")]));
    let delay = |run: &Run| mean(series(run, "L ->", "queueing delay"), (20.0, 60.0));
    assert!(delay(&cobalt) <= delay(&codel), "{} {}", delay(&cobalt), delay(&codel));
    assert!(link(&cobalt, "L").utilization > 0.95);
}
