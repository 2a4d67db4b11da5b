//! Flows that have data and send nothing.

use crate::common::results;
use millpond_results::silence_sentences;

const OUTAGE: &str = r#"
title = "An outage of six seconds"
duration = "40s"
measure = { every = "500ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = { steps = [["0s", "20Mbps"], ["2s", "0bps"], ["8s", "20Mbps"]] }
delay = "20ms"
buffer = "100packets"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
rtt = "50ms"
"#;

/// Twenty flows fill the buffer, so that after the outage some have no packet in the queue and wait for their probe timeout.
#[test]
fn flows_that_sleep_after_an_outage_are_reported_without_the_outage() {
    let run = results(OUTAGE, &["flows.f.count=20"]);
    let silences = &run.summary.silences;
    assert!(!silences.is_empty());
    for silence in silences {
        // A flow that loses the packets of its start, and the probes for them, may be silent before the outage.
        let outside = silence.to_s <= 2.0 || silence.from_s >= 8.0;
        assert!(outside && silence.silent_s > 1.0, "{silence:?}");
        assert!((silence.to_s - silence.from_s - silence.silent_s).abs() < 1e-9, "{silence:?}");
        assert!((silence.base_rtts * 0.05 - silence.silent_s).abs() < 1e-9, "{silence:?}");
    }
    assert!(silences.windows(2).all(|pair| pair[0].silent_s >= pair[1].silent_s), "longest first");
    // The rate of the flow is zero in each whole interval of its silence.
    let longest = &silences[0];
    assert!(longest.from_s >= 8.0, "{longest:?}");
    let rate = run.series.iter().find(|s| s.entity == longest.flow && s.quantity == "send rate").unwrap();
    let within = |time: f64| longest.from_s <= time - 0.5 && time <= longest.to_s;
    let asleep = rate.times.iter().zip(&rate.values).filter(|(time, _)| within(**time));
    let rates: Vec<f64> = asleep.map(|(_, rate)| *rate).collect();
    assert!(!rates.is_empty() && rates.iter().all(|rate| *rate == 0.0), "{rates:?}");
    assert!(silence_sentences(&run.summary)[0].contains("although it had data and its path was up"));
}

/// Twenty round trips of 500 ms are 10 s.
#[test]
fn a_silence_is_longer_than_twenty_base_round_trip_times_and_ends_in_the_measured_time() {
    let silences = |sets: &[&str]| results(OUTAGE, sets).summary.silences;
    let far = silences(&["flows.f.count=20", "flows.f.rtt=500ms"]);
    assert!(far.iter().all(|silence| silence.silent_s > 10.0), "{far:?}");
    let late = silences(&["flows.f.count=20", "measure.from=20s"]);
    assert!(late.iter().all(|silence| silence.to_s > 20.0), "{late:?}");
}

/// The second link of the path has an outage from 3 to 5 s, within that of the first one from 2 to 8 s.
#[test]
fn a_path_is_up_when_all_its_links_are() {
    const SECOND: &str = r#"
[[links]]
name = "M"
between = ["B", "C"]
rate = { steps = [["0s", "20Mbps"], ["3s", "0bps"], ["5s", "20Mbps"]] }
delay = "0s"
buffer = "100packets"
"#;
    let text = OUTAGE.replace("[[flows]]", &format!("{SECOND}\n[[flows]]"));
    let text = text.replace("path = [\"A\", \"B\"]", "path = [\"A\", \"B\", \"C\"]");
    let silences = results(&text, &["flows.f.count=20"]).summary.silences;
    assert!(silences.iter().any(|silence| silence.from_s >= 8.0));
    for silence in silences {
        assert!(silence.to_s <= 2.0 || silence.from_s >= 8.0, "{silence:?}");
    }
}

#[test]
fn a_flow_without_data_a_flow_that_always_sends_and_an_outage_are_no_silences() {
    let ends_in_outage = ["duration=7s"];
    let bounded = ["flows.f.workload={ size = \"100KB\" }"];
    let steady = ["links.L.rate=20Mbps"];
    for sets in [&ends_in_outage[..], &bounded[..], &steady[..]] {
        let run = results(OUTAGE, sets);
        assert_eq!(run.summary.silences, [], "{sets:?}");
    }
}

#[test]
fn rcp_flows_with_an_outdated_rate_receive_a_new_one_within_round_trips() {
    // After the outage all flows send at once, and the router lowers the rate to a packet in many seconds for a while.
    let text = OUTAGE.replace("newreno", "rcp").replace("name = \"f\"\n", "name = \"f\"\ncount = 20\n");
    let run = results(&text, &["flows.f.start=0s"]);
    let after_waking = |silence: &&millpond_results::Silence| silence.from_s > 8.5;
    let late: Vec<_> = run.summary.silences.iter().filter(after_waking).collect();
    assert!(late.is_empty(), "{late:?}");
}
