//! What the commands print and write.

use crate::common::{RIGHT, command, folder, millpond, names, stderr, stdout};
use std::fs;
use std::process::Stdio;

#[test]
fn a_run_writes_its_directory_and_the_same_bytes_again() {
    let folder = folder(RIGHT);
    for out in ["one", "two/three"] {
        let output = millpond(folder.path(), &["run", "scenario.toml", "--seed", "3", "--csv", "--out", out]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let (one, two) = (folder.path().join("one"), folder.path().join("two/three"));
    let files = names(&one);
    for file in
        ["scenario.toml", "summary.json", "series.parquet", "flows.parquet", "timing.json", "series.csv"]
    {
        assert!(files.iter().any(|name| name == file), "{file} is missing: {files:?}");
    }
    for file in files.iter().filter(|name| *name != "timing.json") {
        assert!(fs::read(one.join(file)).unwrap() == fs::read(two.join(file)).unwrap(), "{file} differs");
    }
}

#[test]
fn the_scenario_that_a_run_writes_gives_the_same_run() {
    let folder = folder(RIGHT);
    let sets = ["--set", "links.L1.rate=7Mbps", "--seed", "9"];
    let first = [&["run", "scenario.toml", "--out", "one"][..], &sets].concat();
    assert!(millpond(folder.path(), &first).status.success());
    let again = millpond(folder.path(), &["run", "one/scenario.toml", "--out", "two"]);
    assert!(again.status.success(), "{}", stderr(&again));
    for file in ["summary.json", "scenario.toml", "series.parquet"] {
        let [one, two] = ["one", "two"].map(|run| fs::read(folder.path().join(run).join(file)).unwrap());
        assert!(one == two, "{file} differs");
    }
}

#[test]
fn json_alone_stands_on_standard_output() {
    let folder = folder(RIGHT);
    let output = millpond(folder.path(), &["run", "scenario.toml", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(summary["world"], "packets");
    assert_eq!(summary["flows"][0]["name"], "f");
    assert_eq!(stderr(&output), "", "no progress bar where there is no terminal");
}

#[test]
fn the_schema_of_scenarios_is_printed_as_json() {
    let folder = folder(RIGHT);
    let output = millpond(folder.path(), &["schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["duration"]["type"], "string");
}

#[test]
fn a_comparison_shows_a_row_per_protocol_and_its_second_time_is_like_the_first() {
    let folder = folder(RIGHT);
    let compare = ["compare", "scenario.toml", "--protocols", "lgcc,newreno,cubic"];
    let first = millpond(folder.path(), &compare);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    for word in ["lgcc", "newreno", "cubic", "utilization", "Jain", "loss", "scenario-report.html"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    let page = fs::read(folder.path().join("scenario-report.html")).unwrap();
    let second = millpond(folder.path(), &compare);
    assert!(second.status.success(), "{}", stderr(&second));
    assert_eq!(stdout(&second), text);
    assert!(fs::read(folder.path().join("scenario-report.html")).unwrap() == page, "the page differs");
    let elsewhere = millpond(folder.path(), &[&compare[..], &["--out", "runs"]].concat());
    assert!(elsewhere.status.success(), "{}", stderr(&elsewhere));
    assert!(
        fs::read(folder.path().join("runs/report.html")).unwrap() == page,
        "the page depends on where it goes"
    );
}

#[test]
fn the_fluid_world_writes_the_same_files() {
    let folder = folder(RIGHT);
    let run = ["run", "scenario.toml", "--world", "fluid", "--out", "fluid", "--json"];
    let output = millpond(folder.path(), &run);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(summary["world"], "fluid");
    assert!(summary["flows"][0]["goodput_bps"].as_f64().unwrap() > 1e6, "{summary}");
    for file in ["summary.json", "series.parquet", "flows.parquet", "distributions.parquet", "scenario.toml"]
    {
        assert!(folder.path().join("fluid").join(file).is_file(), "{file}");
    }
    let report = millpond(folder.path(), &["report", "fluid", "--out", "fluid.html"]);
    assert!(report.status.success(), "{}", stderr(&report));
}

#[test]
fn two_worlds_stand_side_by_side_with_their_differences() {
    let folder = folder(RIGHT);
    let compare = ["compare", "scenario.toml", "--worlds", "packets,fluid", "--out", "worlds"];
    let output = millpond(folder.path(), &compare);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for word in ["packets", "fluid", "difference", "f: goodput Mbps", "L2 B -> C: used", "%"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    for file in ["report.html", "packets/summary.json", "fluid/summary.json"] {
        assert!(folder.path().join("worlds").join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(folder.path().join("worlds/report.html")).unwrap();
    assert!(page.contains("world: packets, fluid") && page.contains("One law, several worlds"));
    let both = ["compare", "scenario.toml", "--worlds", "packets,fluid", "--protocols", "newreno,dctcp"];
    let text = stdout(&millpond(folder.path(), &both));
    assert!(text.contains("newreno-fluid") && text.contains("dctcp-packets"), "{text}");
    let notes = ["the equations of newreno leave out: slow start; ", "means begin at "];
    assert!(notes.iter().all(|note| text.contains(note)), "{text}");
    let measured = [&both[..], &["--set", "measure.from=1s"]].concat();
    assert!(!stdout(&millpond(folder.path(), &measured)).contains("means begin at "));
}

#[test]
fn a_comparison_with_seeds_keeps_every_run_and_they_make_a_report() {
    let folder = folder(RIGHT);
    let arguments =
        ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--seeds", "2", "--out", "runs"];
    let output = millpond(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains('±'), "intervals over seeds:\n{}", stdout(&output));
    let runs = ["cubic-seed1", "cubic-seed2", "newreno-seed1", "newreno-seed2", "report.html"];
    assert_eq!(names(&folder.path().join("runs")), runs);
    let report = millpond(folder.path(), &["report", "runs", "--out", "page.html"]);
    assert!(report.status.success(), "{}", stderr(&report));
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("cubic-seed2"));
}

#[test]
fn pinned_flows_keep_their_protocol_in_a_comparison() {
    let other = "[[flows]]\nname = \"cross\"\nprotocol = \"cubic\"\npinned = true\npath = [\"A\", \"B\"]\n";
    let folder = folder(&RIGHT.replace("[protocols.lgcc]", &format!("{other}[protocols.lgcc]")));
    let output =
        millpond(folder.path(), &["compare", "scenario.toml", "--protocols", "newreno", "--out", "runs"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = fs::read(folder.path().join("runs/newreno/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["flows"][0]["protocol"], "newreno");
    assert_eq!(summary["flows"][1]["protocol"], "cubic");
}

#[test]
fn check_says_what_would_be_run() {
    let folder = folder(RIGHT);
    let output = millpond(folder.path(), &["check", "scenario.toml"]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("newreno"), "{}", stdout(&output));
}

#[test]
fn protocols_are_listed_and_shown_with_units_equations_and_defaults() {
    let folder = folder(RIGHT);
    let list = stdout(&millpond(folder.path(), &["protocols"]));
    for name in ["lgcc", "lgc", "abc", "dctcp", "cubic", "newreno", "red", "codel", "droptail"] {
        assert!(list.contains(name), "{name} is missing in:\n{list}");
    }
    let page = stdout(&millpond(folder.path(), &["protocols", "lgcc"]));
    for word in ["control", "\"rate\"", "phi1", "Algorithm 1"] {
        assert!(page.contains(word), "{word} is missing in:\n{page}");
    }
}

#[test]
fn a_generated_trace_is_the_same_again_and_can_be_measured() {
    let folder = folder(RIGHT);
    let generate = ["trace", "generate", "--preset", "5g-static", "--duration", "20s", "--seed", "4"];
    let [one, two] = [millpond(folder.path(), &generate), millpond(folder.path(), &generate)];
    assert!(one.status.success() && one.stdout == two.stdout);
    fs::write(folder.path().join("new.csv"), &one.stdout).unwrap();
    let stats = stdout(&millpond(folder.path(), &["trace", "stats", "new.csv"]));
    assert!(stats.contains("20s") && stats.contains("mean rate"), "{stats}");
    let run = millpond(folder.path(), &["run", "scenario.toml", "--set", "links.L2.rate.trace.file=new.csv"]);
    assert!(run.status.success(), "{}", stderr(&run));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = folder(RIGHT);
    let mut child =
        command(folder.path(), &["protocols"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(stderr(&output), "");
    assert!(output.status.success());
}

/// Four like flows over one full buffer: a quarter each.
#[test]
fn at_rest_equals_share_a_row_and_nothing_is_said_of_a_closed_form_that_there_is_not() {
    const LIKE: &str = r#"title = "Four alike"
duration = "2s"
[dumbbell]
pairs = 4
bottleneck = { rate = "100Mbps", delay = "10ms", buffer = "1bdp" }
access = { rate = "1Gbps", delay = "1ms" }
[[flows]]
name = "f"
protocol = "newreno"
"#;
    let folder = folder(LIKE);
    let output = millpond(folder.path(), &["equilibrium", "scenario.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let row = |name: &str| -> Vec<String> {
        let line =
            text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
        line.split(['│', '┆']).map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(row("f.0")[..3], ["f.0 and 3 more", "4", "25.0"], "{text}");
    assert_eq!(row("RTT ms"), ["flow", "flows", "rate Mbps each", "RTT ms"], "{text}");
    let bottleneck = row("bottleneck ->");
    assert_eq!((&*bottleneck[1], &*bottleneck[bottleneck.len() - 1]), ("100.0 %", "yes"), "{text}");
    assert_eq!(row("access1 ->")[..2], ["access1 -> and 7 more", "2.5 %"], "{text}");
}
