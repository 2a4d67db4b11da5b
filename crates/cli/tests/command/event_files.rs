//! `run --qlog` and `run --pcap`: the events and packets at each sender.

use crate::common::{error_of, folder, millpond, names, stderr};
use crate::link::blocks;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A flow that loses packets of a short queue, one that is marked, and one with a relay.
const THREE_FLOWS: &str = r#"title = "Three flows"
duration = "5s"
links = [
    { name = "A", between = ["S", "R"], rate = "10Mbps", delay = "5ms", buffer = "20packets" },
    { name = "B", between = ["R", "D"], rate = "8Mbps", delay = "5ms", buffer = "200packets" },
    { name = "C", between = ["S", "T"], rate = "10Mbps", delay = "5ms" },
    { name = "E", between = ["T", "D"], rate = "8Mbps", delay = "5ms" },
]
flows = [
    { name = "lossy", protocol = "newreno", path = ["S", "R"] },
    { name = "marked", protocol = "dctcp", path = ["R", "D"] },
    { name = "relayed", protocol = "lgcc", path = ["S", "T", "D"], workload = { size = "200KB" } },
]
[protocols.lgcc]
relays = ["T"]
"#;

/// The JSON texts of a file, the header first.
fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let mut texts = text.split('\u{1e}');
    assert_eq!(texts.next(), Some(""), "each text follows a separator");
    texts.map(|text| serde_json::from_str(text.strip_suffix('\n').unwrap()).unwrap()).collect()
}

fn of<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
    events.iter().filter(move |event| event["name"] == name).map(|event| &event["data"])
}

fn number(data: &Value) -> u64 {
    data["header"]["packet_number"].as_u64().unwrap()
}

/// Every record has the form of the draft, and times do not fall.
fn conforms(records: &[Value]) {
    let schema: Value = serde_json::from_str(include_str!("qlog-0.3.schema.json")).unwrap();
    let header = json!({ "$ref": "#/$defs/file_header", "$defs": schema["$defs"] });
    let (header, event) =
        (jsonschema::validator_for(&header).unwrap(), jsonschema::validator_for(&schema).unwrap());
    assert!(header.is_valid(&records[0]), "{}", records[0]);
    for record in &records[1..] {
        assert!(event.is_valid(record), "{record}");
    }
    let times = records[1..].iter().map(|record| record["time"].as_f64().unwrap());
    assert!(times.is_sorted());
}

/// What a file and the summary both count is the same: packets sent, declared lost and sent as data.
fn agrees_with(events: &[Value], flow: &Value) {
    let sent: Vec<u64> = of(events, "transport:packet_sent").map(number).collect();
    assert!(sent.iter().copied().eq(0..flow["sent"].as_u64().unwrap()), "each number once, in order");
    let lost: BTreeSet<u64> = of(events, "recovery:packet_lost").map(number).collect();
    assert_eq!(lost.len() as u64, flow["lost"].as_u64().unwrap());
    assert!(lost.iter().all(|lost| (*lost as usize) < sent.len()));
    for frame in of(events, "transport:packet_received").map(|data| &data["frames"][0]) {
        for range in frame["acked_ranges"].as_array().unwrap() {
            assert!((range[1].as_u64().unwrap() as usize) < sent.len(), "only what was sent is acknowledged");
        }
    }
}

#[test]
fn the_events_of_each_sender_conform_to_the_schema_and_agree_with_the_summary() {
    let folder = folder(THREE_FLOWS);
    let output = millpond(folder.path(), &["run", "scenario.toml", "--out", "run", "--qlog", "-q"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let directory = folder.path().join("run/qlog");
    assert_eq!(
        names(&directory),
        ["lossy.sqlog", "marked.sqlog", "relayed-loop1.sqlog", "relayed-loop2.sqlog"]
    );
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/summary.json")).unwrap()).unwrap();
    for name in names(&directory) {
        conforms(&records(&directory.join(name)));
    }
    for (index, name) in ["lossy", "marked"].into_iter().enumerate() {
        let records = records(&directory.join(format!("{name}.sqlog")));
        agrees_with(&records[1..], &summary["flows"][index]);
    }
    let lossy = records(&directory.join("lossy.sqlog"));
    assert!(of(&lossy, "recovery:packet_lost").any(|lost| lost["trigger"] == "reordering_threshold"));
    assert!(of(&lossy, "recovery:congestion_state_updated").any(|state| state["new"] == "recovery"));
    let marked = records(&directory.join("marked.sqlog"));
    assert!(of(&marked, "recovery:congestion_state_updated").any(|state| state["trigger"] == "ECN"));
}

#[test]
fn a_transfer_through_a_relay_is_complete_in_both_loops() {
    let folder = folder(THREE_FLOWS);
    millpond(folder.path(), &["run", "scenario.toml", "--out", "run", "--qlog", "-q"]);
    for number in 1..=2 {
        let records = records(&folder.path().join(format!("run/qlog/relayed-loop{number}.sqlog")));
        let frames: Vec<&Value> =
            of(&records, "transport:packet_sent").map(|data| &data["frames"][0]).collect();
        let end = frames.iter().find(|frame| frame["fin"] == true).expect("the end of the stream");
        let length = end["offset"].as_u64().unwrap() + end["length"].as_u64().unwrap();
        assert_eq!(length, 200_000, "loop {number}");
    }
}

/// Each interface is a sender; its packets are those of the summary, with right headers and the bytes of `docs/wire.md`.
#[test]
fn the_capture_has_every_packet_at_every_sender() {
    let folder = folder(THREE_FLOWS);
    let output = millpond(folder.path(), &["run", "scenario.toml", "--out", "run", "--pcap", "--json", "-q"]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = fs::read(folder.path().join("run/packets.pcapng")).unwrap();
    let blocks = blocks(&file);
    assert_eq!(blocks.iter().filter(|(kind, _)| *kind == 1).count(), 4);
    let packets = |interface: u32| {
        let of = move |content: &&[u8]| content[..4] == interface.to_ne_bytes();
        blocks.iter().filter(|(kind, _)| *kind == 6).map(|(_, content)| *content).filter(of)
    };
    for (index, flow) in summary["flows"].as_array().unwrap()[..2].iter().enumerate() {
        let sent = packets(index as u32).filter(|content| content[20 + 12..][..2] == [10, 1]);
        assert_eq!(Some(sent.count() as u64), flow["sent"].as_u64());
    }
    for content in packets(1) {
        let packet = &content[20..];
        let words = packet[..20].chunks(2).map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])));
        assert_eq!(words.sum::<u64>() % 0xffff, 0, "the checksum of IPv4");
        let length = u32::from_ne_bytes(content[16..20].try_into().unwrap());
        assert_eq!(u32::from(u16::from_be_bytes([packet[2], packet[3]])), length);
        assert_eq!(packet[28..30], *b"MP");
    }
    assert!(packets(1).any(|content| content[21] & 3 == 2), "DCTCP sends ECT(0)");
}

/// An observer changes nothing.
#[test]
fn a_run_has_the_same_files_with_and_without_the_log() {
    let folder = folder(THREE_FLOWS);
    millpond(folder.path(), &["run", "scenario.toml", "--out", "with", "--qlog", "--pcap", "-q"]);
    millpond(folder.path(), &["run", "scenario.toml", "--out", "without", "-q"]);
    for name in names(&folder.path().join("without")).iter().filter(|name| *name != "timing.json") {
        let read = |run: &str| fs::read(folder.path().join(run).join(name)).unwrap();
        assert!(read("with") == read("without"), "{name}");
    }
}

#[test]
fn a_live_run_writes_the_events_of_real_packets() {
    let folder = folder(THREE_FLOWS);
    let live =
        ["run", "scenario.toml", "--world", "live", "--set", "duration=1s", "--out", "run", "--qlog", "-q"];
    millpond(folder.path(), &live);
    let records = records(&folder.path().join("run/qlog/lossy.sqlog"));
    conforms(&records);
    assert!(of(&records, "transport:packet_received").count() > 20, "{} records", records.len());
}

#[test]
fn without_a_directory_or_packets_there_is_no_log() {
    let folder = folder(THREE_FLOWS);
    let error = error_of(folder.path(), &["run", "scenario.toml", "--qlog"]);
    assert!(error.contains("--out"), "{error}");
    let error =
        error_of(folder.path(), &["run", "scenario.toml", "--world", "fluid", "--qlog", "--out", "run"]);
    assert!(error.contains("--qlog: the fluid world has no packets"), "{error}");
    let error =
        error_of(folder.path(), &["run", "scenario.toml", "--world", "fluid", "--pcap", "--out", "run"]);
    assert!(error.contains("--pcap: the fluid world has no packets"), "{error}");
}
