//! Scenarios that `equilibrium`, `stability` and the fluid world refuse, each with the reason and an alternative.

use crate::common::{error_of, folder, millpond, stderr, stdout};

const GOOD: &str = r#"title = "t"
duration = "5s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "10ms"
buffer = "100packets"
[[flows]]
name = "f"
protocol = "cltcp"
path = ["A", "B"]
"#;

/// All three commands refuse the scenario with these changes, with these words.
fn refused(sets: &[&str], words: &[&str]) {
    for command in [&["equilibrium", "scenario.toml"][..], &["stability", "scenario.toml"], &FLUID] {
        refused_by(command, sets, words);
    }
}

const FLUID: [&str; 4] = ["run", "scenario.toml", "--world", "fluid"];

fn refused_by(command: &[&str], sets: &[&str], words: &[&str]) {
    let folder = folder(GOOD);
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    let error = error_of(folder.path(), &[command, &sets].concat());
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(error.contains(word), "{command:?}: {word:?} is missing in: {error}");
    }
}

#[test]
fn a_delay_of_zero_names_the_flow_that_it_leaves_without_a_round_trip_time() {
    let words = [
        "f: its round-trip time must be above zero: set the delay of a link or the `rtt` of the flow",
        "scenario.toml:10",
    ];
    refused(&["links.L.delay=0ms"], &words);
    // A bandwidth-delay product of zero is a buffer of one packet.
    refused(&["links.L.delay=0ms", "links.L.buffer=1bdp"], &words);
}

#[test]
fn steps_of_one_length_that_do_not_fit_are_refused_with_those_that_do() {
    let check = ["check", "scenario.toml", "--world", "fluid"];
    let steps = "fluid.method=fixed-step";
    for command in [&FLUID[..], &check] {
        for (sets, words) in [
            (&[steps][..], ["this fluid table has no \"step\"", "write step = \"5ms\""]),
            (&["fluid.step=5ms"], ["a step without method = \"fixed-step\"", "chooses its own"]),
            (&["fluid.method=fixd-step"], ["unknown word \"fixd-step\"", "did you mean \"fixed-step\"?"]),
            (
                &[steps, "fluid.step=3ms"],
                ["duration = \"5s\" is not a whole number of steps", "step = \"2.5ms\""],
            ),
            (&[steps, "fluid.step=25ms"], ["less than a step of 0.025 s", "a step of at most \"20ms\""]),
            (
                &[steps, "fluid.step=1us", "flows.f.rtt=1s"],
                ["is too long for steps of 0.000001 s", "set a longer step, or set fluid.method"],
            ),
            (
                &[steps, "fluid.step=5ms", "flows.f.protocol=mcp"],
                ["L ->: fixed steps do not support laws that act at times", "adaptive"],
            ),
        ] {
            refused_by(command, sets, &words);
        }
    }
}

#[test]
fn a_queue_without_equations_names_those_that_have_some() {
    refused(
        &["links.L.queue=codel"],
        &["the queue codel has no fluid model", "queues with a fluid model: droptail, red, pie, rem"],
    );
}

#[test]
fn a_flow_without_feedback_has_no_bottleneck() {
    let words = [
        "the flow f meets no bottleneck: no link on its path signals congestion",
        "add flows, or lower a link's rate",
    ];
    let sets = ["flows.f.protocol=lgcc", "links.L.delay=300ms", "links.L.buffer=unlimited"];
    refused_by(&["stability", "scenario.toml"], &sets, &words);
}

#[test]
fn a_queue_that_grows_without_bound_is_named_with_a_remedy() {
    let words = ["the queue of L -> grows without bound", "set a buffer, or a queue that marks"];
    for command in ["equilibrium", "stability"] {
        refused_by(
            &[command, "scenario.toml"],
            &["flows.f.protocol=newreno", "links.L.buffer=unlimited"],
            &words,
        );
    }
}

#[test]
fn a_limit_cycle_is_an_answer_and_refuses_what_needs_a_fixed_point() {
    let folder = folder(GOOD);
    let vcp = ["--set", "flows.f.protocol=vcp"];
    for (command, start) in
        [("equilibrium", "steady state: a limit cycle: "), ("stability", "has a limit cycle: ")]
    {
        let output = millpond(folder.path(), &[&[command, "scenario.toml"], &vcp[..]].concat());
        assert!(stdout(&output).starts_with(start), "{}", stdout(&output));
        assert!(stdout(&output).contains(" s by the law's closed form"), "{}", stdout(&output));
    }
    let words = ["--phase needs a fixed point", "millpond run --world fluid"];
    refused_by(&["stability", "scenario.toml", "--phase", "x,q"], &["flows.f.protocol=vcp"], &words);
    refused_by(&["equilibrium", "scenario.toml", "--at", "5s"], &[], &["--at 5s", "the run ends at 5s"]);
}

#[test]
fn a_map_over_an_unknown_parameter_names_the_known_ones() {
    let map =
        |map: &str, words: &[&str]| refused_by(&["stability", "scenario.toml", "--map", map], &[], words);
    map(
        "rtt=1ms..1s,protocols.cltcp.params.alfa=1..2",
        &["did you mean \"protocols.cltcp.params.alpha\"?", "rtt, flows"],
    );
    map("rtt=1ms..1s", &["--map rtt=1ms..1s: write two ranges, such as rtt=10ms..2s,flows=1..100"]);
    map("rtt=1ms..1s,flows=1..1000001", &["--map flows=1..1000001: a scenario has at most 1000000 flows"]);
    refused(&["flows.f.count=1000001"], &["from 1 to 1000000"]);
    map("rtt=1ms..1s,flows=0..10", &["--map flows=0..10: write the lower end first, and above zero"]);
    map("rtt=1ms..1s,rtt=1ms..2s", &["RTT is on both sides; vary two parameters"]);
}

/// The product of rates is greatest: each of one flow has its link, whatever the protocol would do of it.
#[test]
fn a_utility_of_the_users_choice_shares_the_network_or_is_refused_with_what_would_work() {
    let folder = folder(GOOD);
    let arguments = ["equilibrium", "scenario.toml", "--utility", "alpha=1", "--weight", "f=3", "--json"];
    let output = millpond(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rate = answer["flows"][0]["rate_bps"].as_f64().unwrap();
    assert!((rate / 100e6 - 1.0).abs() < 1e-7 && answer["flows"][0]["weight"] == 3.0, "{answer}");
    let table = stdout(&millpond(folder.path(), &arguments[..4]));
    assert!(table.starts_with("the proportionally fair (alpha = 1) rates of this network"), "{table}");

    let with = |utility| ["equilibrium", "scenario.toml", "--utility", utility];
    refused_by(&with("alpha=-1"), &[], &["alpha = -1 is not concave", "take alpha > 0"]);
    refused_by(&with("alpha=0"), &[], &["not strictly concave", "take a small alpha"]);
    refused_by(&with("log"), &[], &["expected alpha=NUMBER", "found log"]);
    let weighs = |weight| [&with("alpha=1")[..], &["--weight", weight]].concat();
    refused_by(&weighs("g=2"), &[], &["no group of flows is called g; there are f"]);
    refused_by(&weighs("f=0"), &[], &["a number above zero"]);
}

/// An analysis has equations alone, so that the packet world is no way out.
#[test]
fn only_a_run_is_advised_to_use_the_packet_world() {
    let folder = folder(GOOD);
    let loss = ["--set", "links.L.loss=0.001"];
    let error = |command: &[&str]| {
        let error = error_of(folder.path(), &[command, &loss].concat());
        assert!(error.contains("leave out `loss`"), "{error}");
        error
    };
    assert!(error(&FLUID).contains("or run it with --world packets"));
    for command in ["equilibrium", "stability"] {
        assert!(!error(&[command, "scenario.toml"]).contains("--world"), "{command}");
    }
}
