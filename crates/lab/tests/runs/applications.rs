//! Pings, and transfers whose sizes come from a table.

use crate::common::{flow, near, results, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Unwatched, World};

/// Pings of 64 bytes over 10 Mbit/s and 20 ms, beside flows that start at 100 s.
const PINGS: &str = r#"
title = "Pings"
duration = "20s"
hosts = { jitter = "0s" }
links = [{ name = "L", between = ["A", "B"], rate = "10Mbps", delay = "20ms", buffer = "100packets", queue = "droptail" }]

[[flows]]
name     = "ping"
protocol = "prague"
pinned   = true
path     = ["A", "B"]
packet   = "64B"
workload = { ping = "30ms" }

[[flows]]
name     = "bulk"
protocol = "cubic"
path     = ["A", "B"]
start    = "100s"
"#;

/// 40 ms of propagation, 64 bytes of service there and 40 back: 51.2 us and 32 us.
const IDLE_RTT_MS: f64 = 40.0 + 0.0512 + 0.032;

#[test]
fn the_round_trips_per_minute_of_an_idle_path_are_a_minute_over_its_round_trip_time() {
    let run = results(PINGS, &[]);
    let ping = flow(&run, "ping");
    assert!(near(ping.rpm.unwrap(), 60_000.0 / IDLE_RTT_MS, 1e-9), "{:?}", ping.rpm);
    // One at 0 s, then one every 30 ms before 20 s.
    assert_eq!((ping.sent, ping.lost), (667, 0));
    let one_way = ping.one_way_ms.unwrap();
    assert!(near(one_way.min, 20.0512, 1e-9) && near(one_way.max, 20.0512, 1e-9), "{one_way:?}");
    assert_eq!(flow(&run, "bulk").rpm, None);
}

#[test]
fn under_load_pings_meet_the_queue_of_the_flows_and_do_not_yield_to_it() {
    let run = results(PINGS, &["flows.bulk.start=0s", "measure.from=5s"]);
    let ping = flow(&run, "ping");
    // A queue of at most 100 packets of 1.2 ms, which CUBIC fills: the round-trip time is between 40 ms and 160 ms.
    let rtt = 60_000.0 / ping.rpm.unwrap();
    assert!(rtt > IDLE_RTT_MS + 30.0 && rtt < IDLE_RTT_MS + 120.0, "{rtt}");
    assert!(near(ping.rtt_ms.unwrap().mean, rtt, 0.1));
    // Losses are retransmitted, and pings keep their rate: 500 in 15 s.
    assert!((500..=520).contains(&(ping.sent - ping.retransmitted)), "{} {}", ping.sent, ping.retransmitted);
    // They compete for nothing, and are left out of fairness.
    assert_eq!(run.summary.fairness.jain, None);
    assert_eq!(ping.fair_share_bps, None);
}

#[test]
fn pings_have_the_class_of_their_protocol() {
    // The queue for ECT(1) has strict precedence and a shallow threshold; the classic queue is that of CUBIC.
    let dual = ["flows.bulk.start=0s", "measure.from=5s", "links.L.queue=dualpi2"];
    let rtt = |protocol: &str| {
        let protocol = format!("flows.ping.protocol={protocol}");
        let sets = dual.into_iter().chain([protocol.as_str()]).collect::<Vec<_>>();
        60_000.0 / flow(&results(PINGS, &sets), "ping").rpm.unwrap()
    };
    let (scalable, classic) = (rtt("prague"), rtt("newreno"));
    assert!(scalable < IDLE_RTT_MS + 2.0, "{scalable}");
    assert!(classic > IDLE_RTT_MS + 8.0, "{classic}");
}

#[test]
fn pings_have_neither_header_nor_relays_of_their_protocol() {
    // Two links of half the delay, with a relay between them: one more service of each packet.
    let two = "links = [\
        { name = \"L\", between = [\"A\", \"M\"], rate = \"10Mbps\", delay = \"10ms\", queue = \"droptail\" }, \
        { name = \"N\", between = [\"M\", \"B\"], rate = \"10Mbps\", delay = \"10ms\", queue = \"droptail\" }]";
    let line = PINGS.lines().find(|line| line.starts_with("links")).unwrap();
    let path = |text: &str| text.replace("path     = [\"A\", \"B\"]", "path = [\"A\", \"M\", \"B\"]");
    let relayed = path(&PINGS.replace(line, two)).replace("\"prague\"", "\"lgcc\"");
    let run = results(&format!("{relayed}[protocols.lgcc]\nrelays = \"all\"\n"), &[]);
    let ping = flow(&run, "ping");
    let rtt = 60_000.0 / ping.rpm.unwrap();
    assert!(near(rtt, 40.0 + 2.0 * (0.0512 + 0.032), 1e-9) && ping.loops.is_empty(), "{rtt}");
}

#[test]
fn the_fluid_world_refuses_pings_and_link_layers_by_name() {
    let refusal = |sets: &[&str]| {
        let about = About { world: World::Fluid, ..About::default() };
        let pings = PINGS.replace("prague", "cubic");
        run(&scenario(&pings, sets), &Registry::builtin(), about, &Unwatched).err().unwrap().to_string()
    };
    let pings = refusal(&[]);
    assert!(pings.contains("flows \"ping\": the fluid world has no pings"), "{pings}");
    let radio = "links.L.link_layer={ radio = { error = \"10%\", retransmit_after = \"8ms\" } }";
    let layers = refusal(&[radio]);
    assert!(layers.contains("link \"L\": the fluid world has no link layers"), "{layers}");
}

#[test]
fn transfers_have_the_sizes_of_their_table() {
    // Half of the transfers have 1 KB, the others 1 KB to 3 KB: 1.5 KB on average.
    let text = r#"
        title = "mice"
        duration = "20s"
        links = [{ name = "L", between = ["A", "B"], rate = "100Mbps", delay = "1ms" }]
        [[flows]]
        name = "mice"
        protocol = "newreno"
        path = ["A", "B"]
        stop = "19s"
        workload = { transfers = { cdf = [["1KB", 0.5], ["3KB", 1]] }, poisson = "2ms" }
    "#;
    let run = results(text, &[]);
    let sizes: Vec<f64> =
        run.transfers.iter().filter_map(|transfer| transfer.size_bytes).map(|size| size as f64).collect();
    assert!(sizes.len() > 9000, "{}", sizes.len());
    assert!(sizes.iter().all(|size| (1000.0..=3000.0).contains(size)));
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let small = sizes.iter().filter(|size| **size == 1000.0).count() as f64 / sizes.len() as f64;
    // Standard deviation 646 bytes; five standard errors.
    let bound = 5.0 / (sizes.len() as f64).sqrt();
    assert!((mean - 1500.0).abs() < 646.0 * bound, "{mean}");
    assert!((small - 0.5).abs() < 0.5 * bound, "{small}");
}
