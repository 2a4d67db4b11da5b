//! `--world live`: real datagrams. What is asserted holds on a machine that is busy with other things: right bytes, counts that
//! fit together, rates that no link exceeds, and an exit code that agrees with the reasons printed.

use crate::common::{folder, millpond, stderr, stdout};
use serde_json::Value;
use std::process::Output;

/// A flow of a law that is marked, and a transfer that is complete after some tenths of a second.
const MARKED: &str = r#"title = "Marked"
duration = "3s"
measure = { from = "1s", every = "100ms" }
links = [
    { name = "A", between = ["S", "R"], rate = "30Mbps", delay = "10ms" },
    { name = "B", between = ["R", "D"], rate = "10Mbps", delay = "10ms", buffer = "200packets" },
]
flows = [
    { name = "long", protocol = "dctcp", path = ["S", "R", "D"] },
    { name = "short", protocol = "dctcp", path = ["S", "R", "D"], workload = { size = "100KB" } },
]
"#;

/// A flow through a relay.
const RELAYED: &str = r#"title = "Relayed"
duration = "2s"
links = [
    { name = "A", between = ["S", "R"], rate = "30Mbps", delay = "10ms" },
    { name = "B", between = ["R", "D"], rate = "10Mbps", delay = "10ms" },
]
flows = [{ name = "f", protocol = "lgcc", path = ["S", "R", "D"] }]
[protocols.lgcc]
relays = ["R"]
"#;

fn summary(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn a_live_run_has_right_bytes_and_exact_rates_whatever_the_machine_does() {
    let folder = folder(MARKED);
    let output = millpond(folder.path(), &["run", "scenario.toml", "--world", "live", "--json"]);
    let summary = summary(&output);
    let live = &summary["live"];
    assert_eq!(summary["world"], "live");
    for faultless in ["lost_ecn", "damaged", "foreign", "wrong_bytes"] {
        assert_eq!(count(&live[faultless]), 0, "{faultless}: {live}");
    }
    assert!(count(&live["datagrams"]) > 1000, "{live}");
    let links = summary["links"].as_array().unwrap();
    // One packet may be in service at either end of the measured time: 1500 bytes of 10 Mbit/s in 2 s are 0.0006.
    assert!(links.iter().all(|link| link["utilization"].as_f64().unwrap() <= 1.0006), "{links:?}");
    let marked: u64 = links.iter().map(|link| count(&link["marks"])).sum();
    let received: u64 = summary["flows"].as_array().unwrap().iter().map(|flow| count(&flow["marked"])).sum();
    assert!(marked > 0 && marked.abs_diff(received) <= 200, "{marked} set, {received} received");
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(number(&live["sample_interval_ms"]), 100.0);
    assert_ne!(live["wake_ups_us"], live["machine"]["lateness_us"], "hosts and links are late on their own");
    let queueing = (0.1 * number(&summary["queueing_ms"]["mean"])).max(1.0);
    let latest = (0.1 * number(&live["shortest_rtt_ms"])).min(queueing).min(10.0);
    let is_late = |p99: &Value| number(p99) / 1e3 > latest;
    let is_untrusted = is_late(&live["machine"]["lateness_us"]["p99"])
        || is_late(&live["wake_ups_us"]["p99"])
        || count(&live["overruns"]) > 0;
    assert_eq!(output.status.code(), Some(i32::from(is_untrusted)), "{live}");
}

#[test]
fn a_live_run_that_ends_before_the_first_acknowledgement_has_no_round_trip_time() {
    let folder = folder(RELAYED);
    let output = millpond(
        folder.path(),
        &["run", "scenario.toml", "--world", "live", "--json", "--set", "duration=1ms"],
    );
    let live = summary(&output)["live"].clone();
    assert!(live["shortest_rtt_ms"].is_null(), "{live}");
    assert_eq!(output.status.code(), Some(0), "{live}");
}

#[test]
fn a_comparison_has_live_runs_beside_packets() {
    let folder = folder(RELAYED);
    let words = ["compare", "scenario.toml", "--worlds", "live,packets", "--out", "runs"];
    let output = millpond(folder.path(), &words);
    assert!([Some(0), Some(1)].contains(&output.status.code()), "{}", stderr(&output));
    let printed = stdout(&output);
    for text in ["packets left links", "utilization within 2.0 %", "live"] {
        assert!(printed.contains(text), "{printed}");
    }
    for world in ["packets", "live"] {
        let text =
            std::fs::read_to_string(folder.path().join("runs").join(world).join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(summary["world"], world);
        assert_eq!(summary.get("live").is_some(), world == "live");
    }
}
