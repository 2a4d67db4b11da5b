//! Spawned transfers and applications with pauses: every byte arrives once, and every source has its own random values.

use crate::common::{flow, link, results, scenario, series};
use millpond_plan::packets::plan;
use millpond_protocols::Registry;
use millpond_results::{Run, Transfer};

const MICE: &str = r#"
title = "Mice beside an elephant"
duration = "30s"
measure = { from = "5s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "50Mbps"
delay = "10ms"
[[flows]]
name = "elephant"
protocol = "newreno"
path = ["A", "B"]
[[flows]]
name = "mice"
count = 3
protocol = "newreno"
path = ["A", "B"]
rtt = "40ms"
stop = "25s"
workload = { transfers = { pareto = "30KB", shape = 1.35 }, poisson = "60ms" }
"#;

/// Further groups, which are appended to the scenario.
const MORE: &str = r#"
[[flows]]
name = "others"
protocol = "cubic"
path = ["B", "A"]
workload = { transfers = "20KB", poisson = "100ms" }
"#;

fn spawned<'a>(run: &'a Run, group: &'a str) -> impl Iterator<Item = &'a Transfer> + Clone {
    run.transfers.iter().filter(move |transfer| transfer.group == group)
}

/// The name, start time and size of each transfer.
fn sampled(run: &Run, group: &str) -> Vec<(String, f64, Option<u64>)> {
    spawned(run, group).map(|one| (one.name.clone(), one.start_s, one.size_bytes)).collect()
}

#[test]
fn every_byte_of_every_transfer_arrives_once_and_counts_in_its_group() {
    let run = results(MICE, &[]);
    let mice = || spawned(&run, "mice");
    // 3 x 25 s / 60 ms: five standard deviations of a Poisson count.
    assert!(mice().count().abs_diff(1250) < 177, "{}", mice().count());
    assert!(mice().all(|one| one.size_bytes == Some(one.delivered_bytes) && one.completed_s.is_some()));
    assert!(mice().all(|one| one.start_s < 25.0 && one.completion_ms() > Some(20.0)));
    let group = &run.summary.groups[1];
    let measured: Vec<&Transfer> = mice().filter(|one| one.start_s >= 5.0).collect();
    assert_eq!((group.transfers, group.completed), (measured.len() as u64, measured.len() as u64));
    let mean = measured.iter().filter_map(|one| one.completion_ms()).sum::<f64>() / measured.len() as f64;
    assert!((group.completion_ms.unwrap().mean / mean - 1.0).abs() < 1e-9);
    let bytes: u64 = mice().map(|one| one.delivered_bytes).sum();
    let goodput = |name: &str| {
        let series = series(&run, name, "goodput");
        series.values.iter().sum::<f64>() * 0.1 / 8.0
    };
    let of_series: f64 = ["mice.0", "mice.1", "mice.2"].map(goodput).iter().sum();
    assert!((of_series / bytes as f64 - 1.0).abs() < 1e-9, "{of_series} of {bytes}");
}

#[test]
fn a_small_transfer_on_an_idle_path_takes_the_time_of_its_slow_start() {
    // 20 packets from an initial window of 14720 bytes (RFC 9002, section 7.2): nine packets, and a round trip of 20 ms
    // and one packet later the other eleven. A packet takes 12 us at 1 Gbps, an acknowledgement of 40 B 0.32 us.
    let text =
        MICE.replace("[[flows]]\nname = \"elephant\"\nprotocol = \"newreno\"\npath = [\"A\", \"B\"]\n", "");
    let run = results(
        &text,
        &[
            "links.L.rate=1Gbps",
            "flows.mice.rtt=20ms",
            "flows.mice.count=1",
            "hosts.jitter=0s",
            "flows.mice.workload={ transfers = \"30000B\", every = \"500ms\" }",
        ],
    );
    let took: Vec<f64> = spawned(&run, "mice").filter_map(Transfer::completion_ms).collect();
    let theory = 20.0 + 0.012 + 0.00032 + 11.0 * 0.012 + 10.0;
    assert_eq!(took.len(), 50);
    assert!(took.iter().all(|took| (took - theory).abs() < 1e-6), "{took:?}");
}

#[test]
fn another_group_or_another_protocol_does_not_change_arrivals() {
    let run = results(MICE, &[]);
    for (text, sets) in [
        (format!("{MICE}{MORE}"), vec![]),
        (MICE.to_owned(), vec!["flows.mice.protocol=cubic", "flows.elephant.protocol=cubic"]),
    ] {
        assert_eq!(sampled(&results(&text, &sets), "mice"), sampled(&run, "mice"));
    }
    let four = sampled(&results(MICE, &["flows.mice.count=4"]), "mice");
    assert_eq!(four[..sampled(&run, "mice").len()], sampled(&run, "mice"));
    assert_ne!(sampled(&results(MICE, &["seed=2"]), "mice"), sampled(&run, "mice"));
}

#[test]
fn fairness_does_not_include_sources_of_transfers() {
    let run = results(MICE, &[]);
    assert_eq!(run.summary.fairness.jain, None, "there is one elephant");
    assert_eq!(run.summary.flows.len(), 4);
    let mice: f64 = run.summary.flows[1..].iter().map(|flow| flow.goodput_bps).sum();
    // 30 kB every 60 ms, three times, with heavy-tailed sizes: 12 Mbps on average.
    assert!((3e6..40e6).contains(&mice), "{mice}");
    assert!(link(&run, "L").utilization > 0.9);
}

/// The rates of a source are means over the time until its last transfer is complete, after its stop.
#[test]
fn a_source_ends_with_its_last_transfer() {
    let run = results(MICE, &["flows.mice.workload={ transfers = \"1500KB\", every = \"700ms\" }"]);
    for source in run.summary.flows.iter().filter(|flow| flow.group == "mice") {
        let own = format!("{}/", source.name);
        let own = || run.transfers.iter().filter(|one| one.name.starts_with(&own));
        let last = own().filter_map(|one| one.completed_s).fold(0.0, f64::max);
        assert!(last > 25.0 && own().all(|one| one.completed_s.is_some()), "{last}");
        assert!((source.stop_s - last).abs() < 1e-9, "{} {last}", source.stop_s);
    }
}

#[test]
fn transfers_run_over_relays() {
    let text = MICE
        .replace("[[flows]]\nname = \"elephant\"", "[[links]]\nname = \"M\"\nbetween = [\"B\", \"C\"]\nrate = \"30Mbps\"\ndelay = \"5ms\"\n[[flows]]\nname = \"elephant\"")
        .replace("path = [\"A\", \"B\"]", "path = [\"A\", \"B\", \"C\"]")
        .replace("newreno", "lgcc");
    let run = results(&format!("{text}[protocols.lgcc]\nrelays = [\"B\"]\n"), &[]);
    let complete = spawned(&run, "mice").filter(|one| one.size_bytes == Some(one.delivered_bytes)).count();
    assert!(complete as f64 >= 0.95 * spawned(&run, "mice").count() as f64, "{complete}");
}

#[test]
fn transfers_that_exceed_the_capacity_of_a_link_have_a_warning() {
    let warnings =
        |sets: &[&str]| plan(&scenario(MICE, sets), &Registry::builtin()).unwrap().warnings().to_vec();
    assert_eq!(warnings(&[]), Vec::<String>::new());
    let warned = warnings(&["links.L.rate=10Mbps"]);
    assert!(
        warned.len() == 1 && warned[0].contains("offer 12Mbps to \"L ->\", which has 10Mbps"),
        "{warned:?}"
    );
    // Sources that follow one another are not added.
    let later = |start: &str| {
        let text = format!(
            "{MICE}[[flows]]\nname = \"later\"\ncount = 3\nprotocol = \"newreno\"\npath = [\"A\", \"B\"]\nstart = \"{start}\"\nworkload = {{ transfers = {{ pareto = \"30KB\", shape = 1.35 }}, poisson = \"60ms\" }}\n"
        );
        let warnings = plan(&scenario(&text, &["links.L.rate=20Mbps"]), &Registry::builtin()).unwrap();
        warnings.warnings().iter().filter(|text| text.contains("offer 24")).count()
    };
    assert_eq!((later("25s"), later("24s")), (0, 1));
}

#[test]
fn applications_with_bursts_and_pauses_deliver_all_that_they_produce() {
    let workload = |workload: &str| {
        let sets = ["flows.mice.count=1", &format!("flows.mice.workload={workload}"), "flows.mice.stop=30s"];
        let run = results(MICE, &sets);
        let delivered = spawned(&run, "mice").map(|one| one.delivered_bytes).sum::<u64>() as f64;
        (delivered, flow(&run, "mice").goodput_bps)
    };
    // 3 s and 5 s at 4 Mbps, to a packet.
    let (delivered, _) = workload("{ rate = \"4Mbps\", bursts = [[\"2s\", \"5s\"], [\"20s\", \"25s\"]] }");
    assert!((delivered - 4e6).abs() <= 1500.0, "{delivered}");
    // A second of every two: 15 s of 30 s, and 12 s of the 25 s measured.
    let (delivered, goodput) = workload("{ rate = \"4Mbps\", on = \"1s\", off = \"1s\" }");
    assert!((delivered - 15.0 * 0.5e6).abs() <= 1500.0, "{delivered}");
    assert!((goodput - 4e6 * 12.0 / 25.0).abs() < 4e6 * 0.05 / 25.0, "{goodput}");
}
