//! What each way of writing means.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod common;

use common::parse_with;
use millpond_scenario::{
    Buffer, Capacity, Delay, FlowStart, Hop, Loss, Relays, Rtt, Scenario, Scheduler, SettingValue, Workload,
};
use millpond_units::{Bytes, Rate, Span, Time};

fn parse(text: &str) -> Scenario {
    parse_with(text, &[]).unwrap_or_else(|faults| panic!("{faults}"))
}

fn node_names<'a>(scenario: &'a Scenario, path: &[Hop]) -> Vec<&'a str> {
    let first = path.first().map(|&hop| scenario.tail(hop));
    let nodes = first.into_iter().chain(path.iter().map(|&hop| scenario.head(hop)));
    nodes.map(|node| scenario.nodes[node].as_str()).collect()
}

const TWO_BOTTLENECKS: &str = r#"
title    = "Two bottlenecks, four round-trip times"
duration = "100s"
seed     = 1
measure  = { from = "50s", every = "100ms" }

[[links]]
name    = "L1"
between = ["R1", "R2"]
rate    = "155Mbps"
delay   = "15ms"
buffer  = "1bdp"

[[flows]]
name     = "short"
count    = 10
protocol = "acp"
path     = ["R1", "R2"]
rtt      = "60ms"
start    = { uniform = ["0s", "10s"] }
packet   = "1000B"
workload = "bulk"

[protocols.lgcc]
relays = []
queue  = { red = { max_th = "75KB", mark_at = "departure" } }
params = { phi1 = 10, phi2 = 5, control = "window", interval = { acks = 4 } }
"#;

#[test]
fn a_plain_file_is_read_as_written() {
    let scenario = parse(TWO_BOTTLENECKS);
    assert_eq!(scenario.duration, Span::from_secs(100.0));
    assert_eq!(scenario.measure.from, Time::from_secs(50.0));
    let link = &scenario.links[0];
    assert_eq!(link.forward.rate, Capacity::Constant(Rate::from_mbps(155.0)));
    assert_eq!(link.forward.buffer, Buffer::Bdp(1.0));
    assert_eq!(link.backward.as_ref(), Some(&link.forward));
    let flow = &scenario.flows[0];
    assert_eq!((flow.count, flow.rtt), (10, Some(Rtt::Constant(Span::from_millis(60)))));
    assert_eq!(flow.start, FlowStart::Uniform(Time::ZERO, Time::from_secs(10.0)));
    assert_eq!((flow.packet, flow.overhead, flow.ack), (Bytes::new(1000), Bytes::ZERO, Bytes::new(40)));
    assert_eq!(flow.workload, Workload::Bulk);
    let entry = &scenario.protocols["lgcc"];
    assert_eq!(entry.protocol.value, "lgcc");
    let queue = entry.queue.as_ref().unwrap();
    assert_eq!(
        (queue.name.as_str(), queue.settings[1].value.value.clone()),
        ("red", SettingValue::Text("departure".into()))
    );
    let params: Vec<_> = entry.params.iter().map(|p| (p.name.as_str(), p.value.value.clone())).collect();
    assert_eq!(params[0], ("phi1", SettingValue::Number(10.0)));
    assert_eq!(params[3], ("interval", SettingValue::Count("acks".into(), 4.0)));
}

#[test]
fn a_distribution_of_sizes_is_the_same_from_a_file_and_as_a_list() {
    let size = |table: &str| {
        let text = TWO_BOTTLENECKS.replace("\"bulk\"", &format!("{{ size = {{ cdf = {table} }} }}"));
        match parse(&text).flows.remove(0).workload {
            Workload::Sized(size) => size,
            other => panic!("{other:?}"),
        }
    };
    let file = size("\"web-search.cdf\"");
    assert_eq!(file, size("[[\"0B\", 0], [\"10KB\", \"15%\"], [\"30MB\", 1]]"));
    // 15 % have 5 KB on average, the others 15.005 MB.
    assert_eq!(file.mean(), Bytes::new(12_755_000));
}

#[test]
fn a_fault_of_a_value_that_is_kept_as_written_points_at_it() {
    let scenario = parse(TWO_BOTTLENECKS);
    let phi1 = &scenario.protocols["lgcc"].params[0];
    let fault = scenario.fault(phi1.value.place, "too small", "here").help("above 1");
    assert_eq!((fault.line(), fault.message()), (27, "too small"));
    assert_eq!(scenario.fault(scenario.flows[0].protocol.place, "", "").line(), 17);
}

#[test]
fn the_backward_direction_differs_only_in_the_keys_of_back() {
    let text = TWO_BOTTLENECKS
        .replace("buffer  = \"1bdp\"", "loss = 0.01\nback = { rate = \"10Mbps\", loss = \"none\" }");
    let link = parse(&text).links.remove(0);
    let backward = link.backward.unwrap();
    assert_eq!(backward.rate, Capacity::Constant(Rate::from_mbps(10.0)));
    assert_eq!((backward.loss, backward.delay), (Loss::None, Delay::Constant(Span::from_millis(15))));
    assert_eq!(link.forward.loss, Loss::Bernoulli(0.01));
}

#[test]
fn overrides_address_list_items_by_name_and_add_missing_tables() {
    let overrides = [
        "duration=10s",
        "measure.from=1s",
        "links.L1.rate.trace.file=cell.csv",
        "links.L1.scheduler=fair",
        "flows.short.count=5",
        "flows.short.start=2s",
        "protocols.lgcc.params.phi1=5",
        "protocols.lgcc.queue={ codel = {} }",
        "protocols.cubic.params.beta=0.5",
        "title=\"with = quotes\"",
    ];
    let scenario = parse_with(TWO_BOTTLENECKS, &overrides).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scenario.duration, Span::from_secs(10.0));
    assert_eq!(scenario.title, "with = quotes");
    assert_eq!(scenario.links[0].forward.rate.schedule().peak(), Rate::from_mbps(20.0));
    assert_eq!(scenario.links[0].forward.scheduler, Scheduler::Fair);
    assert_eq!(
        (scenario.flows[0].count, &scenario.flows[0].start),
        (5, &FlowStart::At(Time::from_secs(2.0)))
    );
    assert_eq!(scenario.protocols["lgcc"].params[0].value.value, SettingValue::Number(5.0));
    assert_eq!(scenario.protocols["lgcc"].queue.as_ref().unwrap().name.value, "codel");
    assert_eq!(scenario.protocols["cubic"].params[0].value.value, SettingValue::Number(0.5));
}

#[test]
fn an_override_replaces_another_form_of_the_same_value() {
    let text = TWO_BOTTLENECKS.replace("\"155Mbps\"", "{ steps = [[\"0s\", \"1Mbps\"]] }");
    let scenario =
        parse_with(&text, &["links.L1.rate.trace.file=cell.csv"]).unwrap_or_else(|f| panic!("{f}"));
    assert!(matches!(scenario.links[0].forward.rate, Capacity::Trace(_)));
}

/// A shorthand makes links without tables, so that an override of one of them has no effect that could be meant.
#[test]
fn an_override_of_a_link_that_a_shorthand_makes_names_the_key_of_the_shorthand() {
    let text = |network: &str| {
        format!("duration = \"1s\"\n{network}\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\n")
    };
    let link = "{ rate = \"1Mbps\", delay = \"1ms\" }";
    let dumbbell = text(&format!("[dumbbell]\nbottleneck = {link}\naccess = {link}"));
    let chain = text(&format!("[chain]\nhops = 2\nlink = {link}"));
    for (network, set, expected) in [
        (&dumbbell, "links.bottleneck.rate=5Mbps", "set dumbbell.bottleneck.rate"),
        (&dumbbell, "links.access1.delay=5ms", "set dumbbell.access.delay"),
        (&dumbbell, "links.other.rate=5Mbps", "set a key of [dumbbell]"),
        (&chain, "links.hop2.queue.red.min=5packets", "set chain.link.queue.red.min"),
    ] {
        let faults = parse_with(network, &[set]).unwrap_err().render(false);
        assert!(faults.contains("makes its links") && faults.contains(expected), "{set}: {faults}");
    }
}

#[test]
fn traces_of_the_file_are_relative_to_it_and_those_of_overrides_to_the_current_folder() {
    let text = TWO_BOTTLENECKS.replace("\"155Mbps\"", "{ trace = \"cell.csv\" }");
    let file = |scenario: &Scenario| match &scenario.links[0].forward.rate {
        Capacity::Trace(source) => source.file.value.clone(),
        other => panic!("{other:?}"),
    };
    let here = std::env::current_dir().unwrap();
    assert_eq!(file(&parse(&text)), here.join("folder/cell.csv"));
    let scenario = parse_with(&text, &["links.L1.rate.trace.file=cell.down"]).unwrap();
    assert_eq!(file(&scenario), here.join("cell.down"));
}

const DIAMOND: &str = r#"
duration = "1s"
[[links]]
name = "slow"
between = ["A", "B"]
rate = "1Mbps"
delay = "9ms"
[[links]]
name = "slow-on"
between = ["B", "Z"]
rate = "1Mbps"
[[links]]
name = "late"
between = ["A", "D"]
rate = "1Mbps"
delay = "5ms"
[[links]]
name = "late-on"
between = ["D", "Z"]
rate = "1Mbps"
[[links]]
name = "early"
between = ["A", "C"]
rate = "1Mbps"
delay = "5ms"
[[links]]
name = "early-on"
between = ["C", "Z"]
rate = "1Mbps"
[[links]]
name = "detour"
between = ["A", "E"]
rate = "1Mbps"
[[links]]
name = "detour-on"
between = ["E", "F"]
rate = "1Mbps"
[[links]]
name = "detour-end"
between = ["F", "Z"]
rate = "1Mbps"
[[flows]]
name = "f"
protocol = "cubic"
from = "A"
to = "Z"
"#;

#[test]
fn the_shortest_path_has_fewest_hops_then_least_delay_then_the_first_name() {
    let scenario = parse(DIAMOND);
    assert_eq!(node_names(&scenario, scenario.flows[0].path(0)), ["A", "C", "Z"]);
    let scenario = parse(&DIAMOND.replace("9ms", "1ms"));
    assert_eq!(node_names(&scenario, scenario.flows[0].path(0)), ["A", "B", "Z"]);
}

#[test]
fn acknowledgements_take_the_shortest_path_where_a_link_is_simplex() {
    let text = DIAMOND.replace("name = \"early-on\"", "name = \"early-on\"\nsimplex = true");
    let scenario = parse(&text);
    let there = scenario.flows[0].path(0);
    assert_eq!(node_names(&scenario, there), ["A", "C", "Z"]);
    let back = scenario.return_path(there).unwrap();
    assert_eq!(node_names(&scenario, &back), ["Z", "D", "A"]);
    assert_eq!(scenario.propagation(&back), Span::from_millis(5));
}

#[test]
fn relays_divide_a_path_into_loops() {
    let text = "duration = \"1s\"\n[chain]\nhops = 5\nlink = { rate = \"1Mbps\" }\n[[flows]]\nname = \"f\"\nprotocol = \
                \"lgcc\"\n[protocols.lgcc]\nrelays = [\"R5\", \"R2\"]\n";
    let scenario = parse(text);
    let lengths = |entry| -> Vec<usize> {
        scenario.loops(scenario.flows[0].path(0), entry).iter().map(Vec::len).collect()
    };
    assert_eq!(lengths(None), [5]);
    assert_eq!(lengths(scenario.protocols.get("lgcc")), [1, 3, 1]);
    let mut all = scenario.protocols["lgcc"].clone();
    all.relays = Relays::All;
    assert_eq!(lengths(Some(&all)), [1, 1, 1, 1, 1]);
}

#[test]
fn flows_share_loops_at_the_relays_in_aggregate() {
    let at = |aggregate: &str| {
        let text = format!(
            "duration = \"1s\"\n[chain]\nhops = 3\nlink = {{ rate = \"1Mbps\" }}\n[[flows]]\nname = \"f\"\nprotocol = \
             \"lgcc\"\n[protocols.lgcc]\nrelays = [\"R2\", \"R3\"]\n{aggregate}"
        );
        let scenario = parse(&text);
        let entry = &scenario.protocols["lgcc"];
        (0..scenario.nodes.len())
            .filter(|node| scenario.aggregates(entry, *node))
            .map(|n| scenario.nodes[n].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(at(""), [""; 0]);
    assert_eq!(at("aggregate = [\"R3\"]"), ["R3"]);
    assert_eq!(at("aggregate = \"all\""), ["R1", "R2", "R3", "R4"]);
}

/// A shorthand, what the flow says of its path, how many links there are, and the paths that it takes.
const SHORTHANDS: &[(&str, &str, usize, &[&str])] = &[
    ("[dumbbell]\npairs = 2\nbottleneck = LINK\naccess = LINK", "", 5, &["S1 R1 R2 D1", "S2 R1 R2 D2"]),
    ("[dumbbell]\npairs = 2\nbottleneck = LINK", "count = 7", 1, &["R1 R2", "R1 R2"]),
    ("[parking-lot]\nhops = 2\nlink = LINK\naccess = LINK", "", 8, &["S0 R1 R2 R3 D0"]),
    (
        "[parking-lot]\nhops = 2\nlink = LINK\naccess = LINK",
        "path = \"cross\"",
        8,
        &["S1 R1 R2 D1", "S2 R2 R3 D2"],
    ),
    ("[parking-lot]\nhops = 2\nlink = LINK", "path = \"all\"", 2, &["R1 R2 R3", "R1 R2", "R2 R3"]),
    ("[tree]\nlevels = [LINK, LINK]", "", 6, &["T-1-1 T-1 T", "T-1-2 T-1 T", "T-2-1 T-2 T", "T-2-2 T-2 T"]),
    (
        "[tree]\nlevels = [LINK, LINK]",
        "path = \"down\"",
        6,
        &["T T-1 T-1-1", "T T-1 T-1-2", "T T-2 T-2-1", "T T-2 T-2-2"],
    ),
    ("[chain]\nhops = 3\nlink = LINK", "", 3, &["R1 R2 R3 R4"]),
];

#[test]
fn shorthands_build_networks_and_paths() {
    for (table, path, links, paths) in SHORTHANDS {
        let table = table.replace("LINK", "{ rate = \"10Mbps\", delay = \"5ms\" }");
        let flow = format!("[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\n{path}");
        let scenario = parse(&format!("duration = \"1s\"\n{table}\n{flow}"));
        let taken = scenario.flows[0].paths.iter().map(|path| node_names(&scenario, path).join(" "));
        assert_eq!(
            (scenario.links.len(), taken.collect::<Vec<_>>()),
            (*links, paths.iter().map(|path| (*path).to_owned()).collect()),
            "{table}, {path}"
        );
    }
}

#[test]
fn a_mahimahi_line_is_1500_bytes_in_the_millisecond_that_ends_there() {
    // cell.down holds 1, 1, 4, 10: two packets in the first millisecond, one in the fourth, one in the tenth.
    let text = TWO_BOTTLENECKS.replace("\"155Mbps\"", "{ trace = \"cell.down\" }");
    let schedule = parse(&text).links[0].forward.rate.schedule();
    let at = |millis| schedule.at(Time::ZERO + Span::from_millis(millis));
    let expected = [24.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 12.0, 24.0];
    for (millis, mbps) in (0..).zip(expected) {
        assert_eq!(at(millis), Rate::from_mbps(mbps), "{millis} ms");
    }
    assert_eq!(schedule.length, Span::from_millis(10));
    // Four packets in ten milliseconds.
    assert_eq!(schedule.mean(Span::MAX), Rate::from_mbps(4.8));
}

#[test]
fn a_csv_row_holds_until_the_next_and_the_last_as_long_as_the_one_before() {
    let text = TWO_BOTTLENECKS.replace("\"155Mbps\"", "{ trace = { file = \"cell.csv\", end = \"stop\" } }");
    let schedule = parse(&text).links[0].forward.rate.schedule();
    let rates = [0.0, 0.9, 1.0, 1.9, 2.0].map(|s| schedule.at(Time::from_secs(s)).bps() / 1_000_000);
    assert_eq!(rates, [10, 10, 20, 20, 0]);
    assert_eq!(schedule.mean(Span::MAX), Rate::from_mbps(15.0));
}
