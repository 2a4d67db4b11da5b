//! Invalid input: each error names file and line, quotes the line, and says what was expected and the nearest valid
//! spelling. The exit code is 2, and no file is left.

use crate::common::{VALID, error_of, folder, names};
use std::fs;

/// Replaces a part of the valid scenario; the error must contain each of `words`.
fn invalid(from: &str, to: &str, words: &[&str]) {
    assert!(VALID.contains(from), "{from}");
    let folder = folder(&VALID.replacen(from, to, 1));
    let error = error_of(folder.path(), &["run", "scenario.toml", "--out", "out"]);
    for word in words {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[test]
fn a_mistyped_key_names_its_line_and_the_nearest_key() {
    invalid("delay = \"5ms\"", "dealy = \"5ms\"", &["scenario.toml:7", "dealy = \"5ms\"", "\"delay\""]);
}

#[test]
fn a_mistyped_unit_names_what_was_expected() {
    invalid("\"10Mbps\"", "\"10Mbsp\"", &["scenario.toml:6", "Mbsp", "155Mbps"]);
}

#[test]
fn a_mistyped_protocol_names_the_nearest() {
    let words = ["scenario.toml:15", "newrno", "did you mean \"newreno\"?", "cubic"];
    invalid("protocol = \"newreno\"", "protocol = \"newrno\"", &words);
}

#[test]
fn a_mistyped_node_names_those_there_are() {
    invalid("[\"A\", \"B\", \"C\"]", "[\"A\", \"Bb\", \"C\"]", &["scenario.toml:16", "Bb", "B"]);
}

#[test]
fn a_mistyped_relay_is_no_node() {
    invalid("relays = [\"B\"]", "relays = [\"BB\"]", &["scenario.toml:18", "BB"]);
}

#[test]
fn a_mistyped_parameter_names_the_nearest() {
    let folder = folder(&VALID.replace("phi1", "ph1").replace("\"newreno\"", "\"lgcc\""));
    let error = error_of(folder.path(), &["check", "scenario.toml"]);
    for word in ["scenario.toml:19", "ph1", "did you mean \"phi1\"?"] {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

/// Line and message of each error of a scenario.
fn messages(scenario: &str) -> Vec<String> {
    let folder = folder(scenario);
    let error = error_of(folder.path(), &["run", "scenario.toml", "--out", "out"]);
    let of_error = |text: &str| {
        let message = text.lines().next().unwrap_or_default();
        let line = text.split("scenario.toml:").nth(1).and_then(|rest| rest.split(':').next());
        format!("{} {message}", line.unwrap_or("no line:"))
    };
    error.split("× ").skip(1).map(of_error).collect()
}

/// A key, a protocol, a queue and two parameters, which are found by reading, among the laws and by a law.
#[test]
fn all_mistakes_that_do_not_depend_on_each_other_are_reported_at_once_in_the_order_of_their_lines() {
    let with = |delay: &str| {
        let wrong =
            VALID.replacen("delay = \"5ms\"", &format!("{delay} = \"5ms\"\nqueue = {{ rde = {{}} }}"), 1);
        let wrong = wrong.replacen("\"newreno\"", "\"newrno\"", 1);
        messages(&wrong.replacen("phi1 = 10", "ph1 = 10, drain = -1", 1))
    };
    let of_laws = [
        "8 unknown queue \"rde\"",
        "16 unknown protocol \"newrno\"",
        "20 lgcc: ph1: no such parameter",
        "20 lgcc: drain: expected",
    ];
    let found = with("dealy");
    assert_eq!(found.len(), 5, "{found:#?}");
    assert_eq!(found[0], "7 unknown key of a link \"dealy\"");
    for found in [&found[1..], &with("delay")] {
        let starts = found.iter().zip(of_laws).all(|(found, start)| found.starts_with(start));
        assert!(starts && found.len() == of_laws.len(), "{found:#?}");
    }
}

/// The flows name an entry that cannot be read, and entries below a misspelt key.
#[test]
fn what_follows_from_a_mistake_is_not_reported_beside_it() {
    let own = VALID.replacen("\"newreno\"", "\"own\"", 1);
    let misspelt = own.clone() + "[protocols.own]\nprotcol = \"cubic\"\n";
    let found = messages(&misspelt);
    assert!(found.len() == 1 && found[0].ends_with("\"protcol\""), "{found:#?}");
    let (before, _) = own.split_once("[protocols.").unwrap();
    let found = messages(&format!("protocols = 5\n{before}"));
    assert!(found.len() == 1 && found[0].ends_with("expected [protocols.NAME] tables"), "{found:#?}");
    let found = messages(&own.replace("[protocols.", "[protocol."));
    assert!(found.len() == 1 && found[0].ends_with("\"protocol\""), "{found:#?}");
}

#[test]
fn every_override_that_cannot_be_applied_is_reported() {
    let folder = folder(VALID);
    let sets = ["--set", "duration", "--set", "links.Q.rate=1Mbps"];
    let error = error_of(folder.path(), &[&["check", "scenario.toml"][..], &sets].concat());
    for word in ["an override without a value", "links.Q.rate=1Mbps"] {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[test]
fn an_entry_that_no_flow_names_has_to_be_right_as_well() {
    let words =
        ["scenario.toml:17", "unknown protocol \"lgc-c\"", "did you mean \"lgcc\"? there are: newreno"];
    invalid("[protocols.lgcc]", "[protocols.lgc-c]", &words);
    invalid("phi1 = 10", "phi1 = 0", &["scenario.toml:19", "phi1: expected a number above 1, found 0"]);
    invalid("relays = [\"B\"]", "queue = { red = { max_p = 2 } }", &["scenario.toml:18", "max_p"]);
}

#[test]
fn a_parameter_out_of_its_range_names_the_range() {
    let folder = folder(&VALID.replace("phi1 = 10", "phi1 = 1").replace("\"newreno\"", "\"lgcc\""));
    let error = error_of(folder.path(), &["check", "scenario.toml"]);
    for word in ["scenario.toml:19", "phi1", "above 1"] {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[test]
fn a_negative_number_is_refused() {
    invalid("\"10Mbps\"", "\"-10Mbps\"", &["scenario.toml:6", "negative"]);
}

#[test]
fn an_absurd_number_is_refused() {
    invalid("duration = \"2s\"", "duration = \"9999999999h\"", &["scenario.toml:2", "9999999999h"]);
}

#[test]
fn a_path_that_does_not_exist_is_refused() {
    invalid("[\"A\", \"B\", \"C\"]", "[\"A\", \"C\"]", &["scenario.toml:16", "\"A\"", "\"C\""]);
}

#[test]
fn a_missing_scenario_is_named() {
    let folder = folder(VALID);
    assert!(error_of(folder.path(), &["run", "scenari.toml"]).contains("scenari.toml"));
}

#[test]
fn a_missing_trace_is_named_with_the_line_that_names_it() {
    invalid("trace.csv", "trase.csv", &["scenario.toml:11", "trase.csv"]);
}

#[test]
fn a_trace_with_text_in_line_seven_says_so() {
    let folder = folder(VALID);
    let trace = "time_s,mbps\n0,5\n1,6\n2,7\n3,8\n4,9\n5,fast\n6,7\n";
    fs::write(folder.path().join("trace.csv"), trace).unwrap();
    let error = error_of(folder.path(), &["run", "scenario.toml"]);
    for word in ["trace.csv:7", "fast"] {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[test]
fn a_trace_without_any_opportunity_is_refused() {
    for (name, text) in [("trace.csv", "time_s,mbps\n0,0\n1,0\n"), ("trace.down", "")] {
        let folder = folder(&VALID.replace("trace.csv", name));
        fs::write(folder.path().join(name), text).unwrap();
        let error = error_of(folder.path(), &["run", "scenario.toml"]);
        assert!(error.contains(name) && error.contains("scenario.toml:11"), "{error}");
    }
}

#[test]
fn an_output_directory_that_exists_is_refused_and_untouched() {
    let folder = folder(VALID);
    fs::create_dir(folder.path().join("out")).unwrap();
    for arguments in [
        &["run", "scenario.toml", "--out", "out"][..],
        &["compare", "scenario.toml", "--protocols", "newreno", "--out", "out"],
    ] {
        assert!(error_of(folder.path(), arguments).contains("out: exists already"));
    }
    assert!(names(&folder.path().join("out")).is_empty());
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = folder(VALID);
    let out = "scenario.toml/out";
    assert!(error_of(folder.path(), &["run", "scenario.toml", "--out", out]).contains(out));
    let page = "none/report.html";
    assert!(
        error_of(folder.path(), &["compare", "scenario.toml", "--protocols", "newreno", "--report", page])
            .contains(page)
    );
}

#[test]
fn a_mistake_in_a_set_quotes_the_set() {
    let folder = folder(VALID);
    for (set, words) in [
        ("links.L1.rat=5Mbps", &["links.L1.rat=5Mbps", "\"rate\""][..]),
        ("links.L9.rate=5Mbps", &["links.L9.rate=5Mbps", "L1"]),
        ("links.L1.rate=5", &["links.L1.rate=5"]),
    ] {
        let error = error_of(folder.path(), &["run", "scenario.toml", "--set", set]);
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in:\n{error}");
        }
    }
}

#[test]
fn a_mistyped_protocol_of_a_comparison_is_pointed_at() {
    let folder = folder(VALID);
    let error = error_of(folder.path(), &["compare", "scenario.toml", "--protocols", "newreno,cubci"]);
    for word in ["--protocols", "newreno,cubci", "did you mean \"cubic\"?"] {
        assert!(error.contains(word), "{word:?} is missing in:\n{error}");
    }
}

#[test]
fn a_mistyped_queue_of_a_comparison_is_pointed_at() {
    let folder = folder(VALID);
    for (queues, words) in [
        ("droptail,codl", &["--queues", "droptail,codl", "did you mean \"codel\"?"][..]),
        ("codel,pie,codel", &["--queues", "\"codel\" is named twice"]),
        ("codl", &["unknown queue \"codl\"\n"]),
        ("codel,", &["--queues", "droptail,codel", "millpond protocols"]),
    ] {
        let error = error_of(folder.path(), &["compare", "scenario.toml", "--queues", queues]);
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in:\n{error}");
        }
    }
}

#[test]
fn options_quote_the_value_and_say_what_was_expected() {
    let folder = folder(VALID);
    for (arguments, words) in [
        (&["run", "scenario.toml", "--seed", "-1"][..], &["'-1'", "--seed", "from 0"][..]),
        (&["run", "scenario.toml", "--seed", "1.5"], &["'1.5'", "--seed", "whole number"]),
        (
            &["compare", "scenario.toml", "--protocols", ""],
            &["--protocols", "lgcc,cubic", "millpond protocols"],
        ),
        (&["compare", "scenario.toml", "--protocols", "newreno,,cubic"], &["--protocols", "lgcc,cubic"]),
        (
            &["compare", "scenario.toml", "--protocols", "cubic", "--seeds", "-2"],
            &["'-2'", "--seeds", "from 1"],
        ),
        (
            &["compare", "scenario.toml", "--protocols", "cubic", "--seeds", "0"],
            &["'0'", "--seeds", "from 1"],
        ),
        (
            &[
                "compare",
                "scenario.toml",
                "--protocols",
                "cubic",
                "--seed",
                "18446744073709551615",
                "--seeds",
                "3",
            ],
            &["--seeds", "there are no 3 seeds from 18446744073709551615 upwards"],
        ),
        (
            &["trace", "generate", "--preset", "lte-car", "--duration", "-5s"],
            &["-5s", "--duration", "negative"],
        ),
        (
            &["trace", "generate", "--preset", "lte-car", "--mean", "-5Mbps"],
            &["-5Mbps", "--mean", "negative"],
        ),
        (&["trace", "generate", "--preset", "lte-car", "--step", "-1ms"], &["-1ms", "--step", "\"50ms\""]),
        (&["run", "scenario.toml", "--set", "duration=-5s"], &["duration=-5s", "negative"]),
        (&["coexistence", "cubic", "--seeds", "3"], &["--harm"]),
        (&["frontier", "lte-shrt"], &["lte-shrt", "there is no such file", "did you mean \"lte-short\"?"]),
        (&["frontier", "scenario.toml"], &["scenario.toml: this is a scenario", "5g-static"]),
        (&["frontier", "lte-short", "--rtt", "0ms"], &["--rtt", "expected a time above zero"]),
        (&["frontier", "lte-short", "--rtt", "2s"], &["--rtt 2s", "expected 1ms to 500ms"]),
        (&["frontier", "lte-short", "--duration", "1ms"], &["0 samples"]),
        (&["frontier", "lte-short", "--duration", "500ms"], &["500ms of lte-short", "20 round trips"]),
        (&["frontier", "lte-short", "--target", "0ms"], &["--target", "expected a time above zero"]),
        (&["frontier", "lte-short", "--buffer", "much"], &["much", "buffer"]),
        (&["frontier", "lte-short", "--protocols", "pledg"], &["pledg", "did you mean \"pledge\"?"]),
        (&["frontier", "lte-short", "--protocols", "xcp,xcp"], &["xcp", "named twice"]),
        (&["coexistence", "cubic", "--harm", "--seeds", "0"], &["'0'", "--seeds", "from 1"]),
    ] {
        let error = error_of(folder.path(), arguments);
        for word in words {
            assert!(error.contains(word), "{word:?} is missing in:\n{error}");
        }
    }
}

#[test]
fn what_real_hosts_cannot_do_is_refused_by_name() {
    let folder = folder(VALID);
    for command in ["run", "check"] {
        let sets = ["--world", "live", "--set", "links.L1.rate=40Gbps", "--set", "links.L2.rate=40Gbps"];
        let error = error_of(folder.path(), &[&[command, "scenario.toml"], &sets[..]].concat());
        assert!(error.contains("link \"L1\" carries 3333333 packets per second"), "{error}");
        assert!(error.contains("--world packets"), "{error}");
    }
    let vary = ["--vary", "duration=1s,2s", "--out", "dataset", "--world", "live"];
    let error = error_of(folder.path(), &[&["sweep", "scenario.toml"], &vary[..]].concat());
    assert!(error.contains("a live run needs the machine for itself"), "{error}");
}

#[test]
fn run_and_check_refuse_what_the_fluid_world_does_not_support() {
    let folder = folder(VALID);
    for command in ["run", "check"] {
        let sets = ["--world", "fluid", "--set", "links.L1.loss=0.01"];
        let error = error_of(folder.path(), &[&[command, "scenario.toml"], &sets[..]].concat());
        for word in ["\"L1\"", "random loss", "scenario.toml:4", "--world packets"] {
            assert!(error.contains(word), "{command}: {word:?} is missing in:\n{error}");
        }
    }
    let twice = ["compare", "scenario.toml", "--world", "fluid", "--worlds", "packets,fluid"];
    assert!(error_of(folder.path(), &twice).contains("cannot be used with"));
}

#[test]
fn mistyped_names_on_the_command_line_meet_the_nearest() {
    let folder = folder(VALID);
    let near = |arguments: &[&str], name: &str| {
        let error = error_of(folder.path(), arguments);
        assert!(error.contains(name), "{error}");
    };
    near(&["protocols", "lcgc"], "\"lgcc\"");
    near(&["coexistence", "codel"], "no protocol \"codel\";");
    near(&["trace", "generate", "--preset", "5g-statik"], "\"5g-static\"");
    near(&["trace", "stats", "nothing.csv"], "nothing.csv");
    near(&["report", "nowhere", "--out", "page.html"], "nowhere");
    near(&["run", "scenario.toml", "--csv-files"], "--out");
}

#[test]
fn the_command_node_says_how_its_program_is_built() {
    let folder = folder(VALID);
    let error = error_of(folder.path(), &["node", "node.toml"]);
    assert!(error.contains("`make node`") && error.trim_end().lines().count() == 1, "{error}");
}

#[cfg(unix)]
#[test]
fn the_command_node_starts_the_program_beside_it() {
    let folder = folder(VALID);
    // A shell writes both programs: while a file is open for writing, also in a process that another test is starting, it
    // cannot be executed.
    let script = "cp \"$0\" millpond; printf '#!/bin/sh\\necho \"$@\"\\nexit 7\\n' > millpond-node; chmod 755 millpond-node";
    let written = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_millpond")])
        .current_dir(&folder)
        .status();
    assert!(written.unwrap().success());
    let command = folder.path().join("millpond");
    let output =
        std::process::Command::new(&command).args(["node", "node.toml", "--check"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "node.toml --check\n");
}
