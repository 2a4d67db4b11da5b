//! The slowdown of transfers: their completion time over that alone in the network.

use crate::common::results;
use millpond_results::{Run, Transfer};

/// Links of different rates without processing times, and a window that holds every transfer.
const CHAIN: &str = r#"
duration = "20s"
hosts = { jitter = "0s" }

[[links]]
name = "L1"
between = ["A", "B"]
rate = "10Mbps"
delay = "3ms"
buffer = "1000packets"

[[links]]
name = "L2"
between = ["B", "C"]
rate = "4Mbps"
delay = "1ms"
buffer = "1000packets"

[[links]]
name = "L3"
between = ["C", "D"]
rate = "7Mbps"
delay = "2ms"
buffer = "1000packets"

[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B", "C", "D"]
rtt = "30ms"
start = { every = "1s" }
count = 5
workload = { size = "1B" }

[protocols.newreno]
params.initial_window = 1000
"#;

fn slowdowns(run: &Run) -> Vec<f64> {
    run.transfers.iter().map(|one| one.slowdown().expect("a complete transfer")).collect()
}

#[test]
fn a_transfer_alone_with_all_its_packets_at_once_has_none() {
    for size in ["1B", "1500B", "1501B", "3010B", "10kB", "300kB"] {
        let declared = results(CHAIN, &[&format!("flows.f.workload={{ size = \"{size}\" }}")]);
        let spawned =
            results(CHAIN, &[&format!("flows.f.workload={{ transfers = \"{size}\", every = \"5s\" }}")]);
        for run in [declared, spawned] {
            let found = slowdowns(&run);
            assert!(found.iter().all(|slowdown| (slowdown - 1.0).abs() < 1e-9), "{size}: {found:?}");
            let whole = run.summary.slowdown.unwrap();
            assert!((whole.mean - 1.0).abs() < 1e-9 && run.summary.groups[0].slowdown == Some(whole));
        }
    }
}

/// Two transfers of 100 packets of 1500 B arrive at the same time at a link of 12 Mbit/s, which needs 100 ms for each: the
/// second one waits for all of the first one. The delay is 10 ms.
#[test]
fn a_transfer_behind_another_one_waits_for_all_of_it() {
    const BOTH: &str = r#"
duration = "5s"
hosts = { jitter = "0s" }
links = [{ name = "L", between = ["A", "B"], rate = "12Mbps", delay = "10ms", buffer = "1000packets" }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"], count = 2, workload = { size = "150kB" } }]
protocols.newreno.params.initial_window = 1000
"#;
    let run = results(BOTH, &[]);
    let mut found = slowdowns(&run);
    found.sort_by(f64::total_cmp);
    assert!((found[0] - 1.0).abs() < 1e-9 && (found[1] - 210.0 / 110.0).abs() < 1e-9, "{found:?}");
    let of_group = run.summary.groups[0].slowdown.unwrap();
    assert!((of_group.p50 - 160.0 / 110.0).abs() < 1e-9 && (of_group.max - 210.0 / 110.0).abs() < 1e-9);
}

/// Slow start, other flows, random processing times, relays: nothing makes a transfer faster than the shortest time.
#[test]
fn no_transfer_is_faster_than_the_shortest_time() {
    let leaf_spine = std::fs::read_to_string("../../scenarios/leaf-spine.toml").unwrap();
    let relays = format!("{CHAIN}[protocols.lgcc]\nrelays = \"all\"\n");
    let of_lgcc = ["flows.f.protocol=lgcc", "hosts.jitter=100us", "flows.f.workload={ size = \"50kB\" }"];
    for run in [
        results(&leaf_spine, &[]),
        results(&leaf_spine, &["flows.search.protocol=hpcc", "flows.answers.protocol=hpcc"]),
        results(&relays, &of_lgcc),
    ] {
        let found: Vec<f64> = run.transfers.iter().filter_map(Transfer::slowdown).collect();
        assert!(found.len() >= 5 && found.iter().all(|slowdown| *slowdown > 1.0), "{found:?}");
    }
}

#[test]
fn transfers_over_links_that_change_and_parts_of_applications_have_no_shortest_time() {
    for set in [
        "links.L2.rate.steps=[[\"0s\", \"4Mbps\"], [\"1s\", \"5Mbps\"]]",
        "links.L2.delay.steps=[[\"0s\", \"1ms\"], [\"1s\", \"2ms\"]]",
        "flows.f.workload={ pages = \"3gpp\" }",
    ] {
        let run = results(CHAIN, &[set]);
        assert!(run.transfers.iter().all(|one| one.shortest_ms.is_none()), "{set}");
        assert_eq!((run.summary.slowdown, run.summary.groups[0].slowdown), (None, None), "{set}");
        assert!(run.transfers.iter().any(|one| one.completed_s.is_some()), "{set}");
    }
}
