//! Each mistake gives one readable fault: the line, what was expected, the nearest right spelling.

#![allow(clippy::expect_used, reason = "helpers fail as tests do")]

mod common;

use common::parse_with;

const GOOD: &str = r#"title = "test"
duration = "10s"
seed = 1
measure = { from = "1s", every = "100ms" }
[[links]]
name = "L1"
between = ["R1", "R2"]
rate = "155Mbps"
delay = "15ms"
buffer = "1bdp"
[[links]]
name = "L2"
between = ["R2", "R3"]
rate = { trace = { file = "cell.down", end = "loop" } }
delay = "5ms"
simplex = false
[[flows]]
name = "short"
count = 2
protocol = "acp"
path = ["R1", "R2", "R3"]
rtt = "60ms"
start = { uniform = ["0s", "10s"] }
[protocols.lgcc]
relays = ["R2"]
queue = { red = { max_th = "75KB" } }
params = { phi1 = 10 }
"#;

#[test]
fn the_scenario_that_the_mistakes_are_made_in_is_right() {
    if let Err(faults) = parse_with(GOOD, &[]) {
        panic!("{faults}");
    }
}

/// Line of the file to replace (and, if it is another, the line of the fault), what by, words of the message, words
/// of the help.
const MISTAKES: &str = r#"
# Spelling.
2       | durration = "10s" | unknown key of a scenario "durration" | did you mean "duration"?
9       | dely = "15ms" | unknown key of a link "dely" | did you mean "delay"?
8       | rate = "155Mbs" | unknown unit "Mbs" | did you mean "155Mbps"?
14      | rate = { trace = { fil = "cell.down" } } | unknown key of a trace "fil" | mean "file"?
14      | rate = { trace = { end = "hold" } } | this trace has no "file" | file = "cell.csv"
22      | relays = ["R2"] | "relays" is a key of a protocol, not of a flow group | write it in the table of a protocol
16      | count = 3 | "count" is a key of a flow group, not of a link | write it in the table of a flow group
16      | relays = ["R2"] | "relays" is a key of a protocol, not of a link | (or did you mean "delay"?)
16      | mode = "x" | unknown key of a link "mode" | known here
22      | rows = [["60ms"]] | a flow group has no rows: the table form with columns and rows is that of recipes | write one table for each row
14      | rate = { trece = "cell.csv" } | unknown key of a rate "trece" | mean "trace"?
14      | rate = {} | expected one of steps, trace | cell.csv
12 > 11 |  | this link has no "name" | name = "L1"
14      | rate = { trace = { file = "cell.down", end = "lop" } } | unknown word "lop" | "loop"?
21      | from = "R1" | `from` without `to` | for the shortest path
21      | to = "R3" | `to` without `from` | for the shortest path
18      | name = "all" | "all" is the name of all flows together | name the group otherwise
21      | path = ["R1", "R2", "R33"] | unknown node "R33" | did you mean "R3"?
25      | relays = ["R9"] | unknown node "R9" | R1, R2, R3
25      | follow = "share" | unknown key of a protocol "follow" | if it is a parameter of the law, write params.follow. Known here: protocol, relays
24      | [protocol.lgcc] | unknown key of a scenario "protocol" | did you mean "protocols"?
# Syntax and kinds.
3       | seed = = 1 | not TOML |
3       | fluid = 5 | expected a table: the fluid table's keys |
3       | fluid = { metod = "adaptive" } | unknown key of a fluid table "metod" | mean "method"?
3       | fluid = { method = "fixed" } | unknown word "fixed" | adaptive, fixed-step
3       | fluid = { method = "fixed-step" } | this fluid table has no "step" | step = "5ms"
3       | fluid = { method = "fixed-step", step = 5 } | no unit | a time such as "50ms"
3       | fluid = { method = "fixed-step", step = "0s" } | out of range | from "1us" to "10s"
3       | fluid = { method = "fixed-step", step = "11s" } | out of range | from "1us" to "10s"
3       | fluid = { step = "5ms" } | a step without method = "fixed-step" | or leave it out
3       | fluid = { method = "adaptive", step = "5ms" } | a step without method = "fixed-step" | or leave it out
3       | fluid = { method = "fixed-step", step = "3ms" } | duration = "10s" is not a whole number of steps of 3ms | step = "2.5ms"
3       | fluid = { method = "fixed-step", step = "200ms" } | measure.every = "100ms" is not a whole number | step = "100ms"
3       | seed = "one" | expected a whole number | from 0 to
9       | delay = 15 | no unit | a time such as "50ms"
16      | simplex = 1 | expected true or false |
7       | between = ["R1"] | expected two values | ["R1", "R2"]
26      | queue = { red = {}, codel = {} } | expected one queue | max_th
10      | buffer = "1bpd" | expected a buffer | did you mean "1bdp"?
10      | buffer = "75Kb" | expected a buffer | did you mean "75KB"?
10      | buffer = "0ms" | expected a buffer | write a buffer above zero
10      | buffer = "unlimted" | expected a buffer | did you mean "unlimited"?
# Absurd numbers.
27      | params = { phi1 = nan } | expected a finite number | write a finite number
2       | duration = "0s" | out of range | above zero and up to "5112h"
2       | duration = "10s\u202e" | the control character U+202E | remove
2       | duration = "10" | no unit | write "10ms" or "10s"
2       | duration = "6000h" | too large a number, at most 5124h |
2       | duration = "-5s" | a negative amount |
4       | measure = { every = "0s" } | out of range | "1us"
4       | measure = { from = "10s" } | begins at 10s, but the run ends at 10s | run for longer
8       | rate = "0Mbps" | out of range |
8       | rate = "200Tbps" | out of range | up to "100Tbps"
8       | rate = [["0s", "1Mbps"]] | a list in place of a rate | "155Mbps", or { steps = [...] }
8       | rate = "1e30bps" | a number with an exponent | expected a rate such as
8       | rate = 155 | no unit | write "155kbps" or "155Mbps" or "155Gbps"
8       | rate = { steps = [["0s", "0bps"]] } | a rate above zero |
8       | rate = { steps = [["1s", "5Mbps"]] } | the first step at "0s" |
8       | rate = { steps = [["0s", "5Mbps"], ["0s", "6Mbps"]] } | a time after |
9       | delay = "100h" | out of range | from "0s" to "1h"
9       | loss = 1.5 | a number from 0 to 1 |
9       | link_layer = "wifi" | expected "none" | radio
9       | link_layer = { radio = { error = "110%", retransmit_after = "8ms" } } | a number from 0 to 1 |
9       | link_layer = { radio = { error = "10%" } } | this radio table has no "retransmit_after" | retransmit_after = "8ms"
9       | link_layer = { grants = { every = "0s", after = "4ms" } } | out of range | up to "1s"
9       | link_layer = { contention = { access = "0.1ms", aggregate = 0 } } | expected a whole number from 1 to 1024 |
22      | workload = { size = { cdf = "falling.cdf" } } | sizes and shares must not fall | in ascending order
22      | workload = { size = { cdf = "absent.cdf" } } | cannot read the distribution of sizes | relative to the scenario file
22      | workload = { size = { cdf = [["1KB", 0.5]] } } | its last share is 0.5 | in ascending order
22      | workload = { size = { cdf = [["1KB", 2]] } } | a number from 0 to 1 |
22      | sender = "greedy" | expected "honest", "unresponsive" |
22      | sender = { greedy = 0.5 } | expected a number from 1 to 1000 |
22      | receiver = { early_acks = 0 } | expected a whole number from 1 to 1000000 |
22      | receiver = "lies" | expected "honest", "hides-marks" |
3       | endpoint = { skip_numbers = 0 } | expected "never", or a whole number of packets |
22      | workload = { ping = "1ns" } | out of range | from "1us"
9       | loss = nan | a number from 0 to 1 |
9       | loss = "101%" | a number from 0 to 1, or a percentage |
9       | configured_rate = "told" | expected "actual", a percentage |
9       | configured_rate = "0%" | expected a percentage of the actual rate from "0.01%" to "10000%" |
9       | configured_levels = 0 | expected "exact", "scone", or a whole number of levels from 1 |
9       | router = "tunel" | unknown word "tunel" | did you mean "tunnel"
3       | endpoint = { clock_tick = "2s" } | out of range | from 0s to 1s
9       | configured_noise = "200%" | a number from 0 to 1 |
9       | configured_delay = -1 | a negative amount |
10      | buffer = "100" | no unit | write "100packets", "100KB", "100ms" or "100bdp"
4       | measure = { jain_window = "1ps" } | out of range | from "1us"
10      | buffer = "0packets" | a buffer above zero |
10      | buffer = "99999999TB" | too large a number, at most 18446744TB | a smaller buffer
10      | buffer = "2000000000packets" | too large a number, at most 1000000000packets | "unlimited"
10      | buffer = "2000000bdp" | too large a number, at most 1000000bdp | "unlimited"
19      | count = 0 | from 1 to 1000000 |
19      | count = 1000001 | from 1 to 1000000 |
19      | packet = "70KB" | out of range | 65.535KB
19      | overhead = "1500B" | smaller than the packet |
22      | rtt = "39ms" | on a path that takes 40ms | lengthen
22      | rtt = { uniform = ["39ms", "80ms"] } | 39ms on a path that takes 40ms | lengthen
22      | rtt = { unifrm = ["39ms", "80ms"] } | "unifrm" | "uniform"?
22      | rtt = { uniform = ["80ms", "40ms"] } | ends before it begins |
23      | start = { uniform = ["9s", "1s"] } | ends before it begins |
23      | start = { uniform = ["0s", "1s"], every = "1s" } | one of uniform, every |
# What does not fit together.
12      | name = "L1" | a second link called "L1" | its own name
13 > 12 | between = ["R2", "R1"] | lead from the same node to the same node | ambiguous
13      | between = ["R3", "R3"] | from a node to itself |
16 > 21 | simplex = true | no return path | duplex
21      | path = ["R1", "R3"] | hop 1 does not exist: no link leads from "R1" to "R3" | to: R2
21      | path = ["R1", "R2", "R1"] | visits a node twice |
21      | path = "pairs" | expected a list of nodes |
25      | relays = ["R1"] | no flow passes through "R1" |
25 > 26 | relays = ["R2"]\naggregate = ["R3"] | "R3" is no relay | begins at a relay
25 > 26 | relays = ["R2"]\naggregate = true | expected a list of relays |
25 > 26 | relays = []\nloops = { R2 = "acp" } | "R2" is no relay | add "R2" to relays
25 > 26 | relays = ["R2"]\nloops = { R22 = "acp" } | unknown node "R22" | did you mean "R2"
25 > 26 | relays = "all"\nloops = { R1 = "acp" } | no flow passes through "R1" | between a sender and a receiver
25 > 26 | relays = ["R2"]\nloops = ["acp"] | expected a protocol for each relay |
25 > 26 | relays = ["R2"]\nloops = { R2 = 3 } | expected a text |
25 > 26 | relays = ["R2"]\nloops = { R2 = "acp/x" } | expected a protocol, or a variant |
25 > 26 | relays = ["R2"]\nloops = { R2 = "acp:x=1,x=2" } | x is set twice |
23 > 24 | stop = "5s"\nlasts = "5s" | both "stop" and "lasts" |
23 > 24 | start = "5s"\nstop = "5s" | a flow stops at 5s, but starts at 5s | lasts = "5s"
23 > 24 | start = { every = "3s" }\nstop = "2s" | a flow stops at 2s, but starts at 3s |
24      | [protocols."../lgcc"] | "../lgcc" is not a name | part of file names
# Workloads.
23      | workload = { transfers = "10KB" } | expected one of every, poisson | poisson = "2s"
23      | workload = { transfers = "0B", every = "1s" } | expected a size above zero |
23      | workload = { transfers = { pareto = "10KB" }, every = "1s" } | has no "shape" | shape = 1.2
23      | workload = { transfers = { pareto = "10KB", shape = 1 }, every = "1s" } | a number from 1.001 |
23      | workload = { transfers = { pareto_frm = "10KB", shape = 2 }, every = "1s" } | "pareto_frm" | "pareto_from"?
23      | workload = { transfers = "10KB", poisson = "1ns" } | out of range | "1us"
23      | workload = { transfers = "10KB", poisson = "0s" } | out of range |
23      | workload = { transfers = "10KB", poison = "1s" } | "poison" | "poisson"?
23      | workload = { pages = "web" } | expected "3gpp" |
        23      | workload = { pages = { first = { lognormal = "10KB" } } } | has no "sigma" | sigma = 1.37
        23      | workload = { pages = { first = { lognormal = "10KB", sigma = 1, within = ["1GB", "2GB"] } } } | almost never occur | contain the median
        23      | workload = { pages = { objects = { pareto_from = 2, shape = 1.1 } } } | has no "most" | most = 55
        23      | workload = { pages = { thinks = "1s" } } | "thinks" | "think"?
        23      | workload = { video = { ladder = ["2Mbps", "1Mbps"] } } | at least one bitrate, ascending |
        23      | workload = { video = { buffer = "60s" } } | a buffer of 60s | hold reservoir and cushion
        23      | workload = { call = { range = ["2Mbps", "1Mbps"] } } | ends before it begins |
        23      | workload = { call = { fps = 30 } } | "fps" |
        23      | workload = { rate = "5Mbps", on = "1s" } | an unclear pause | off =
23      | workload = { rate = "5Mbps", on = "1s", of = "1s" } | an unclear pause | off =
23      | workload = { rate = "5Mbps", on = "1ns", off = "1ns" } | far too often | 10us
23      | workload = { rate = "5Mbps", bursts = [] } | at least one burst |
23      | workload = { rate = "5Mbps", bursts = [["2s", "1s"]] } | ends before it begins |
23      | workload = { rate = "5Mbps", bursts = [["2s", "2s"]] } | a burst that lasts |
23      | workload = { rate = "5Mbps", bursts = [["2s", "4s"], ["3s", "5s"]] } | after the end of the one before |
23      | workload = { call = { pauses = [["2s", "4s"], ["4s", "5s"]] } } | a pause that lasts, after the end of the one before |
# Traces.
14      | rate = { trace = "nowhere.down" } | cannot read the trace | relative to the scenario file
"#;

/// A line of the table.
struct Mistake {
    line: usize,
    fault_line: usize,
    replacement: String,
    message: &'static str,
    help: &'static str,
}

fn mistakes() -> impl Iterator<Item = Mistake> {
    MISTAKES.lines().filter(|row| !row.is_empty() && !row.starts_with('#')).map(|row| {
        let [lines, replacement, message, help] =
            row.split('|').map(str::trim).collect::<Vec<_>>().try_into().expect(row);
        let (line, fault_line) = lines.split_once('>').unwrap_or((lines, lines));
        let number = |text: &str| text.trim().parse().expect(row);
        let (line, fault_line) = (number(line), number(fault_line));
        Mistake { line, fault_line, replacement: replacement.replace("\\n", "\n"), message, help }
    })
}

/// The scenario with one line replaced.
fn with_mistake(line: usize, replacement: &str) -> String {
    let lines = GOOD.lines().enumerate().map(|(i, text)| if i + 1 == line { replacement } else { text });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_mistake_is_shown_with_its_line_and_what_was_expected() {
    for Mistake { line, fault_line, replacement, message, help } in mistakes() {
        let faults = parse_with(&with_mistake(line, &replacement), &[]).expect_err(&replacement);
        let first = faults.0.first().expect(&replacement);
        let shown = faults.render(false);
        assert_eq!(first.line(), fault_line, "{replacement}\n{shown}");
        assert!(first.message().contains(message), "{replacement}: {message}\n{shown}");
        let unbroken = shown.replace("\n        ", " ");
        assert!(unbroken.contains(help), "{replacement}: {help}\n{shown}");
        assert!(shown.contains(&format!("test.toml:{fault_line}:")), "{replacement}\n{shown}");
    }
}

#[test]
fn mistakes_that_do_not_hide_one_another_are_all_shown_in_order() {
    let text = with_mistake(9, "dely = \"15ms\"").replace("count = 2", "count = 0").replace("seed", "sed");
    let faults = parse_with(&text, &[]).unwrap_err();
    let lines: Vec<_> = faults.0.iter().map(millpond_scenario::Fault::line).collect();
    assert_eq!(lines, [3, 9, 19]);
}

#[test]
fn a_fault_lists_each_known_key_once() {
    let faults = parse_with(&with_mistake(14, "rate = { trece = \"cell.csv\" }"), &[]).unwrap_err();
    assert!(faults.to_string().contains("Known here: steps, trace\n"), "{faults}");
}

/// The messages about a scenario.
fn messages(text: &str) -> Vec<String> {
    let faults = parse_with(text, &[]).expect_err(text);
    faults.0.iter().map(|fault| fault.message().to_owned()).collect()
}

#[test]
fn a_wrong_link_is_reported_without_the_paths_that_need_it() {
    let one = |line: usize, replacement: &str| messages(&with_mistake(line, replacement));
    assert_eq!(one(7, ""), ["this link has no \"between\""]);
    assert_eq!(one(6, "nam = \"L1\""), ["unknown key of a link \"nam\""]);
    assert_eq!(one(6, "name = \"L2\""), ["a second link called \"L2\""]);
    assert_eq!(messages(&GOOD.replace("[[links]]", "[[link]]")), ["unknown key of a scenario \"link\""]);
    let without_links =
        "duration = \"1s\"\n[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\npath = [\"A\", \"B\"]";
    assert_eq!(messages(without_links), ["unknown node \"A\""]);
}

#[test]
fn a_key_of_the_scenario_below_a_table_header_is_named_as_such() {
    let text = GOOD.replace("duration = \"10s\"\n", "") + "duration = \"10s\"\n";
    assert_eq!(messages(&text), ["\"duration\" is a key of the scenario, not of a protocol"]);
    let text = format!("[measure]\nfrom = \"1s\"\n{}", GOOD.replace("measure = ", "hosts = "));
    let [first, ..] = messages(&text).try_into().unwrap_or_else(|all: Vec<_>| [all.concat()]);
    assert!(first.contains("is a key of the scenario, not of a measure table"), "{first}");
}

/// An option has no table headers.
#[test]
fn a_key_of_the_scenario_after_the_path_of_a_table_in_an_override_is_named_as_such() {
    let faults = parse_with(GOOD, &["links.L1.duration=3s"]).expect_err("a mistake");
    let shown = faults.render(false);
    assert!(shown.contains("\"duration\" is a key of the scenario, not of a link"), "{shown}");
    assert!(
        shown.contains("its name alone. Known here: name, between") && !shown.contains("header"),
        "{shown}"
    );
}

#[test]
fn a_scenario_has_at_most_a_million_flows() {
    let more = "[[flows]]\nname = \"more\"\ncount = 999999\nprotocol = \"acp\"\npath = [\"R1\", \"R2\"]\n";
    let text = GOOD.replace("[protocols.lgcc]", &format!("{more}[protocols.lgcc]"));
    assert_eq!(messages(&text), ["all groups together have 1000001 flows"]);
}

#[test]
fn a_share_can_be_written_as_a_percentage() {
    let written = |loss: &str| parse_with(&with_mistake(9, loss), &[]).expect(loss);
    assert_eq!(written("loss = \"1%\""), written("loss = 0.01"));
    assert_eq!(written("loss = { bernoulli = \"0.1 %\" }"), written("loss = { bernoulli = 0.001 }"));
}

/// The same wrong key in each of three rows is one mistake; another key is another one.
#[test]
fn a_mistake_in_several_rows_of_a_table_is_one_fault_with_all_lines() {
    let row = |name: &str, key: &str| {
        format!(
            "  {{ name = \"{name}\", between = [\"A\", \"B{name}\"], {key} = \"10Mbps\", delay = \"1ms\" }},\n"
        )
    };
    let rows = ["a", "b", "c"].map(|name| row(name, "rat")).concat() + &row("d", "rates");
    let flow = "flows = [{ name = \"f\", protocol = \"acp\", path = [\"A\", \"Ba\"] }]";
    let faults = parse_with(&format!("duration = \"1s\"\nlinks = [\n{rows}]\n{flow}"), &[]).unwrap_err();
    let messages: Vec<&str> = faults.0.iter().map(millpond_scenario::Fault::message).collect();
    let expected = ["unknown key of a link \"rat\" (also on lines 4, 5)", "unknown key of a link \"rates\""];
    assert_eq!(messages, expected);
}

#[test]
fn the_table_form_of_recipes_is_refused_by_its_name() {
    let links = "duration = \"1s\"\nflows = []\n[links]\ncolumns = [\"name\"]\nrows = [[\"L\"]]\n";
    let shown = parse_with(links, &[]).unwrap_err().to_string();
    assert!(shown.contains("columns and rows is that of recipes"), "{shown}");
}

#[test]
fn a_long_line_is_shown_in_part_and_many_faults_are_counted() {
    let long = with_mistake(9, &format!("dely = \"{}\"", "x".repeat(5000)));
    let shown = parse_with(&long, &[]).unwrap_err().to_string();
    assert!(shown.len() < 2000 && shown.contains("test.toml:9:1"), "{shown}");
    let keys: String = (0..100).map(|number| format!("key{number} = 1\n")).collect();
    let shown = parse_with(&(keys + GOOD), &[]).unwrap_err().to_string();
    assert!(shown.ends_with("and 80 more errors\n"), "{shown}");
}

#[test]
fn no_character_that_a_terminal_obeys_is_shown() {
    let hostile =
        with_mistake(9, "dely = 1 # \u{202e}").replace("title = \"test\"", "title = \"a\\u001b[31m\"");
    let shown = parse_with(&hostile, &[]).unwrap_err().to_string();
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
}

/// Twenty thousand unknown keys, and a path of ten thousand nodes: quadratic algorithms take minutes.
#[test]
fn long_scenarios_are_read_in_time_proportional_to_their_length() {
    let keys: String = (0..20_000).map(|number| format!("key{number} = 1\n")).collect();
    assert_eq!(parse_with(&(keys + GOOD), &[]).unwrap_err().0.len(), 20_000);
    let link = |i: usize| {
        let j = i + 1;
        format!(
            "[[links]]\nname = \"L{i}\"\nbetween = [\"N{i}\", \"N{j}\"]\nrate = \"1Mbps\"\nsimplex = true\n"
        )
    };
    let links: String = (0..10_000).map(link).collect();
    let back =
        "[[links]]\nname = \"back\"\nbetween = [\"N10000\", \"N0\"]\nrate = \"1Mbps\"\nsimplex = true\n";
    let flow = "[[flows]]\nname = \"f\"\nprotocol = \"cubic\"\nfrom = \"N0\"\nto = \"N10000\"\n";
    let scenario = parse_with(&format!("duration = \"1s\"\n{links}{back}{flow}"), &[]).unwrap();
    assert_eq!(scenario.flows[0].paths[0].len(), 10_000);
}

#[test]
fn a_path_that_is_wrong_leaves_relays_alone() {
    let faults = parse_with(&with_mistake(21, "path = [\"R1\", \"R3\"]"), &[]).unwrap_err();
    let messages: Vec<_> = faults.0.iter().map(millpond_scenario::Fault::message).collect();
    assert_eq!(messages, ["hop 1 does not exist: no link leads from \"R1\" to \"R3\""]);
}

/// A trace of which no line is wrong is shown where the scenario names it.
#[test]
fn a_wrong_trace_is_shown_with_its_own_line_and_text() {
    for (file, line, words) in [
        ("text-in-line-7.down", 7, "line 7 of the trace"),
        ("decreasing.down", 3, "earlier than the line before"),
        ("no-length.down", 2, "lasts no time"),
        ("empty.down", 14, "no opportunity to deliver anything"),
        ("comments.down", 14, "no opportunity to deliver anything"),
        ("huge.down", 2, "not a whole number"),
        ("far.down", 2, "more than a day"),
        ("back-in-time.csv", 4, "not later than the row before"),
        ("negative.csv", 3, "from zero up"),
        ("nan.csv", 3, "from zero up"),
        ("header.csv", 1, "time_s,mbps"),
        ("dead.csv", 14, "no rate above zero"),
        ("columns.csv", 2, "the rate is not a number"),
    ] {
        let faults = parse_with(&GOOD.replace("cell.down", file), &[]).expect_err(file);
        let shown = faults.render(false);
        assert_eq!(faults.0.first().map(millpond_scenario::Fault::line), Some(line), "{shown}");
        assert!(shown.replace("\n  │ ", " ").contains(words), "{file}: {words}\n{shown}");
    }
}

#[test]
fn a_mistake_in_an_override_quotes_the_override() {
    for (expression, words) in [
        ("duration=10parsecs", "unknown unit \"parsecs\""),
        ("duration", "an override without a value"),
        ("=5", "an override with an empty key"),
        ("links..rate=5", "an override with an empty key"),
        ("links.L3.rate=5Mbps", "no item is called \"L3\""),
        ("flows.0.count=3", "write the name of the item instead of its number; there are: "),
        ("links.L1.rat=5Mbps", "unknown key of a link \"rat\""),
        ("flows.short.count=0", "expected a whole number"),
        ("seed=[1", "not TOML"),
        ("a.b.c.d.e.f.g.h.i.j.k.l.m=1", "13 names deep"),
        ("links.L1.rate.trace.file=nowhere.csv", "cannot read the trace"),
    ] {
        let faults = parse_with(GOOD, &[expression]).expect_err(expression);
        let shown = faults.render(false);
        assert!(shown.contains(words), "{expression}: {words}\n{shown}");
        assert!(shown.contains("--set") && shown.contains(expression), "{expression}\n{shown}");
    }
}

#[test]
fn all_lines_that_are_not_toml_are_reported_together_each_once() {
    let text = GOOD
        .replacen("duration = \"10s\"", "duration = 10s", 1)
        .replacen("name = \"L1\"", "name == L1 L1", 1)
        .replacen("count = 2", "count = two", 1);
    let wrong: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| ["10s", "L1 L1", "two"].iter().any(|end| line.ends_with(&format!(" {end}"))))
        .map(|(index, _)| index + 1)
        .collect();
    assert_eq!(wrong.len(), 3);
    let faults = parse_with(&text, &[]).unwrap_err();
    let lines: Vec<usize> = faults.0.iter().map(millpond_scenario::Fault::line).collect();
    assert_eq!(lines, wrong, "{faults}");
}

#[test]
fn an_array_that_is_not_closed_is_one_fault() {
    let text = GOOD.replacen("between = [\"R1\", \"R2\"]", "between = [\"R1\", \"R2\"", 1);
    assert_ne!(text, GOOD);
    let faults = parse_with(&text, &[]).unwrap_err();
    assert_eq!(faults.0.len(), 1, "{faults}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    use millpond_scenario::Scenario;
    for path in ["/nowhere/at/all.toml", "/"] {
        let faults = Scenario::load(std::path::Path::new(path), &[]).unwrap_err();
        assert!(faults.to_string().contains(path), "{faults}");
    }
}
