//! Link layers: radio retransmission, grants and contention, against their closed forms.

use crate::common::{flow, link, near, results};

/// One-way delay of a ping of 125 bytes over an idle link: 0.1 ms of service, 10 ms of propagation.
const IDLE_MS: f64 = 10.1;

const LINK: &str = r#"
title = "One link"
duration = "60s"
hosts = { jitter = "0s" }
routers = { jitter = "0s" }

[[links]]
name    = "L"
between = ["A", "B"]
rate    = "10Mbps"
delay   = "10ms"
buffer  = "100packets"
queue   = "droptail"
back    = { link_layer = "none" }

[[flows]]
name     = "ping"
protocol = "cubic"
path     = ["A", "B"]
packet   = "125B"
workload = { ping = "50ms" }
"#;

const BULK: &str = r#"
[[flows]]
name     = "bulk"
protocol = "newreno"
path     = ["A", "B"]
"#;

/// Settings of the link layer of the forward direction.
fn layer(table: &str) -> String {
    format!("links.L.link_layer={table}")
}

#[test]
fn radio_retransmission_makes_jitter_of_losses() {
    let run = results(LINK, &[&layer("{ radio = { error = \"20%\", retransmit_after = \"8ms\" } }")]);
    let ping = flow(&run, "ping");
    // At most 3 retransmissions; the mean number is p + p^2 + p^3, the variance below 0.32; 1200 pings, five errors.
    let one_way = ping.one_way_ms.unwrap();
    assert!(
        (one_way.mean - IDLE_MS - 8.0 * 0.248).abs() < 8.0 * 5.0 * (0.32_f64 / 1200.0).sqrt(),
        "{one_way:?}"
    );
    assert!(near(one_way.min, IDLE_MS, 1e-6) && near(one_way.p50, IDLE_MS, 0.01), "{one_way:?}");
    // A ping that all four attempts lose is sent again by its sender.
    assert_eq!(link(&run, "L").drops, ping.lost);
}

#[test]
fn without_retransmission_a_radio_loses_what_random_loss_does() {
    let run =
        results(LINK, &[&layer("{ radio = { error = \"20%\", retransmit_after = \"8ms\", attempts = 1 } }")]);
    let link = link(&run, "L");
    let share = link.drops as f64 / link.arrivals as f64;
    assert!((share - 0.2).abs() < 5.0 * (0.16 / link.arrivals as f64).sqrt(), "{share}");
}

#[test]
fn a_loss_based_flow_gains_from_retransmission_at_the_link() {
    let lossy = |attempts: u32| {
        let radio =
            format!("{{ radio = {{ error = \"10%\", retransmit_after = \"8ms\", attempts = {attempts} }} }}");
        flow(&results(&format!("{LINK}{BULK}"), &[&layer(&radio)]), "bulk").goodput_bps
    };
    let (once, often) = (lossy(1), lossy(8));
    assert!(often > 5.0 * once, "{once} {often}");
}

#[test]
fn a_grant_delays_an_idle_flow_by_half_a_period_and_the_grant_time() {
    // The period is prime to that of the pings, so that all phases are equally frequent: 50 ms over 7 ms.
    let run = results(LINK, &[&layer("{ grants = { every = \"7ms\", after = \"4ms\" } }")]);
    let one_way = flow(&run, "ping").one_way_ms.unwrap();
    // Phases 0, 1, .., 6 ms.
    assert!(near(one_way.mean, IDLE_MS + 4.0 + 3.0, 0.01), "{one_way:?}");
    assert!(
        near(one_way.min, IDLE_MS + 4.0, 1e-6) && near(one_way.max, IDLE_MS + 4.0 + 6.0, 1e-6),
        "{one_way:?}"
    );
}

#[test]
fn grants_do_not_cost_capacity_while_packets_wait() {
    let run = results(
        &format!("{LINK}{BULK}"),
        &[&layer("{ grants = { every = \"5ms\", after = \"4ms\" } }"), "measure.from=10s"],
    );
    assert!(link(&run, "L").utilization > 0.97, "{}", link(&run, "L").utilization);
}

/// Bianchi's accounting of one station: each aggregate costs the access time and the mean backoff.
#[test]
fn the_throughput_of_a_saturated_medium_follows_from_access_time_and_aggregate() {
    // Queues with a delay target below the time of an aggregate would let the link run out of packets.
    let controlled = |name: &str| format!("{{ {name} = {{ target = \"100ms\", interval = \"1s\" }} }}");
    for queue in ["\"droptail\"".to_owned(), controlled("codel"), controlled("fq-codel")] {
        for (aggregate, stations) in [(1, 0), (8, 0), (8, 2)] {
            let table = format!(
                "{{ contention = {{ access = \"1ms\", slot = \"100us\", window = 10, aggregate = {aggregate}, \
                 stations = {stations}, busy = \"2ms\" }} }}"
            );
            let queue = format!("links.L.queue={queue}");
            let sets = [&*layer(&table), "measure.from=10s", &*queue, "flows.bulk.count=4"];
            let run = results(&format!("{LINK}{BULK}"), &sets);
            let served: f64 = run.summary.flows.iter().map(|flow| flow.goodput_bps).sum();
            // 1500 bytes take 1.2 ms; backoff 0.5 ms on average; each other station wins once per turn, on average.
            let payload = 1.2 * f64::from(aggregate);
            let expected = 10e6 * payload / (payload + 1.5 + 2.0 * f64::from(stations));
            assert!(near(served, expected, 0.06), "{queue} {aggregate} {stations}: {served} {expected}");
        }
    }
}
