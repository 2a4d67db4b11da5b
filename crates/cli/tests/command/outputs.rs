//! Output of the commands: text and files.

use crate::common::{VALID, command, error_of, folder, millpond, names, stderr, stdout, succeeds};
use std::fs;
use std::process::Stdio;

#[test]
fn two_equal_runs_write_directories_of_equal_bytes() {
    let folder = folder(VALID);
    for out in ["one", "two/three"] {
        let output =
            millpond(folder.path(), &["run", "scenario.toml", "--seed", "3", "--csv-files", "--out", out]);
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
    let folder = folder(VALID);
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
fn with_json_standard_output_is_json_only() {
    let folder = folder(VALID);
    let output = millpond(folder.path(), &["run", "scenario.toml", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(summary["world"], "packets");
    assert_eq!(summary["flows"][0]["name"], "f");
    assert_eq!(stderr(&output), "", "no progress bar where there is no terminal");
}

#[test]
fn the_schema_of_scenarios_is_printed_as_json() {
    let folder = folder(VALID);
    let output = millpond(folder.path(), &["schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["duration"]["type"], "string");
}

#[test]
fn a_comparison_prints_a_row_per_protocol_and_the_same_text_when_repeated() {
    let folder = folder(VALID);
    let compare = ["compare", "scenario.toml", "--protocols", "lgcc,newreno,cubic"];
    let first = millpond(folder.path(), &compare);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    for word in ["lgcc", "newreno", "cubic", "utilization", "Jain", "loss"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    assert!(stderr(&first).contains("report: scenario-report.html"), "{}", stderr(&first));
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
    let folder = folder(VALID);
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
fn a_comparison_of_two_worlds_prints_their_differences() {
    let folder = folder(VALID);
    let compare = ["compare", "scenario.toml", "--worlds", "packets,fluid", "--out", "worlds"];
    let output = millpond(folder.path(), &compare);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for word in ["packets", "fluid", "difference", "f: goodput", "L2 B -> C: ", "%"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    for file in ["report.html", "packets/summary.json", "fluid/summary.json"] {
        assert!(folder.path().join("worlds").join(file).is_file(), "{file}");
    }
    let page = fs::read_to_string(folder.path().join("worlds/report.html")).unwrap();
    assert!(page.contains("world: packets, fluid") && page.contains("Packets and fluid model"));
    let both = ["compare", "scenario.toml", "--worlds", "packets,fluid", "--protocols", "newreno,dctcp"];
    let text = stdout(&millpond(folder.path(), &both));
    assert!(text.contains("newreno-fluid") && text.contains("dctcp-packets"), "{text}");
    let notes = ["the equations of newreno leave out: slow start; ", "means are measured from "];
    assert!(notes.iter().all(|note| text.contains(note)), "{text}");
    let measured = [&both[..], &["--set", "measure.from=1s"]].concat();
    assert!(!stdout(&millpond(folder.path(), &measured)).contains("means are measured from "));
}

#[test]
fn a_comparison_with_seeds_writes_every_run_and_report_reads_them() {
    let folder = folder(VALID);
    let arguments =
        ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--seeds", "2", "--out", "runs"];
    let output = millpond(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains('±'), "intervals over seeds:\n{}", stdout(&output));
    let runs =
        ["comparison.json", "cubic-seed1", "cubic-seed2", "newreno-seed1", "newreno-seed2", "report.html"];
    assert_eq!(names(&folder.path().join("runs")), runs);
    let report = millpond(folder.path(), &["report", "runs", "--out", "page.html"]);
    assert!(report.status.success(), "{}", stderr(&report));
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("seed 1, 2 ·"));
}

#[test]
fn the_page_of_a_run_is_that_of_its_files() {
    let folder = folder(VALID);
    // The label of a run is the title of its scenario, that of files the name of their directory.
    succeeds(folder.path(), &["run", "scenario.toml", "--out", "Two hops", "--report", "run.html"]);
    succeeds(folder.path(), &["report", "Two hops", "--out", "files.html"]);
    let page = |name: &str, command: &str| {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text.starts_with("<!DOCTYPE") && text.contains(command), "{name}");
        text.replace(command, "the command")
    };
    let of_run = page("run.html", "millpond run scenario.toml");
    assert!(of_run == page("files.html", "millpond run Two hops/scenario.toml"));
}

/// The same numbers in every form: JSON has all digits, CSV those of JSON, tables and Markdown a few.
#[test]
fn a_comparison_is_printed_as_json_csv_and_markdown_and_saved_as_json() {
    let folder = folder(VALID);
    let compare = ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--seeds", "2"];
    let printed = |more: &[&str]| {
        let output = millpond(folder.path(), &[&compare[..], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let json = printed(&["--json", "--out", "runs"]);
    assert_eq!(fs::read_to_string(folder.path().join("runs/comparison.json")).unwrap(), json);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let total = &value["rows"][0]["total_goodput_bps"];
    assert_eq!(value["rows"][0]["seeds"], serde_json::json!([1, 2]));
    let csv = printed(&["--csv"]);
    let cells = |line: usize| csv.split("\r\n").nth(line).unwrap().split(',').collect::<Vec<_>>();
    let column = cells(0).iter().position(|name| *name == "total goodput Mbit/s").unwrap();
    let number = |index: usize| cells(1)[index].parse::<f64>().unwrap() * 1e6;
    assert!((number(column) - total["mean"].as_f64().unwrap()).abs() < 1.0, "{csv}");
    assert!((number(column + 1) - total["half_width"].as_f64().unwrap()).abs() < 1.0, "{csv}");
    let markdown = printed(&["--markdown"]);
    assert!(markdown.starts_with("| run ") && markdown.contains("| newreno "), "{markdown}");
    let both = millpond(folder.path(), &[&compare[..], &["--json", "--csv"]].concat());
    assert!(!both.status.success() && stderr(&both).contains("cannot be used with"), "{}", stderr(&both));
}

/// A queue that the scenario sets for all protocols is not neutral: those whose own queue differs are named.
#[test]
fn a_comparison_names_the_protocols_that_are_not_at_their_own_queue() {
    let folder = folder(VALID);
    let set = "links.L2.queue={ red = { preset = \"lgcc\", min_th = \"3KB\" } }";
    let compare = ["compare", "scenario.toml", "--protocols", "newreno,lgcc", "--set", set, "--json"];
    let output = millpond(folder.path(), &compare);
    assert!(output.status.success(), "{}", stderr(&output));
    let findings =
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["findings"].to_string();
    let expected = "newreno is not at its own queue droptail: link \\\"L2\\\" has red";
    assert!(findings.contains(expected) && !findings.contains("lgcc"), "{findings}");
    let page = fs::read_to_string(folder.path().join("scenario-report.html")).unwrap();
    assert!(page.contains("newreno is not at its own queue droptail"));
}

#[test]
fn a_run_prints_its_tables_as_csv_and_markdown() {
    let folder = folder(VALID);
    let printed = |form: &str| stdout(&millpond(folder.path(), &["run", "scenario.toml", form]));
    let csv = printed("--csv");
    let tables: Vec<&str> = csv.split("\r\n\r\n").collect();
    assert!(tables[0].starts_with("group,protocol,flows,goodput per flow Mbit/s,"), "{csv}");
    assert!(tables[1].starts_with("link,direction,capacity Mbit/s,"), "{csv}");
    assert!(printed("--markdown").contains("\n| group | protocol |"));
    let keys = ",world,seeds,scenario_sha256,trace_sha256,version";
    let json: serde_json::Value = serde_json::from_str(&printed("--json")).unwrap();
    let hashes = format!("{},{}", json["scenario_sha256"], json["traces"][0]["sha256"]).replace('"', "");
    for table in tables {
        let mut lines = table.lines();
        assert!(lines.next().is_some_and(|heading| heading.ends_with(keys)), "{table}");
        assert!(lines.all(|row| row.contains(&format!(",packets,1,{hashes},"))), "{table}");
    }
}

#[test]
fn seeds_that_change_nothing_are_a_warning() {
    let folder = folder(VALID);
    let periodic = |text: &'static str| {
        ["compare", "scenario.toml", "--protocols", "newreno", "--seeds", "2", "--set", text]
    };
    let warned = stderr(&millpond(folder.path(), &periodic("hosts.jitter=0s")));
    assert!(
        warned.contains("all seeds give the same results for newreno: nothing in these runs is random"),
        "{warned}"
    );
    let random = stderr(&millpond(folder.path(), &periodic("hosts.jitter=1us")));
    assert!(!random.contains("the same results"), "{random}");
}

#[test]
fn pinned_flows_keep_their_protocol_in_a_comparison() {
    let other = "[[flows]]\nname = \"cross\"\nprotocol = \"cubic\"\npinned = true\npath = [\"A\", \"B\"]\n";
    let folder = folder(&VALID.replace("[protocols.lgcc]", &format!("{other}[protocols.lgcc]")));
    let output =
        millpond(folder.path(), &["compare", "scenario.toml", "--protocols", "newreno", "--out", "runs"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = fs::read(folder.path().join("runs/newreno/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["flows"][0]["protocol"], "newreno");
    assert_eq!(summary["flows"][1]["protocol"], "cubic");
}

#[test]
fn check_prints_what_would_be_run() {
    let folder = folder(VALID);
    let output = millpond(folder.path(), &["check", "scenario.toml"]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("newreno"), "{}", stdout(&output));
}

#[test]
fn protocols_are_printed_with_units_equations_and_defaults() {
    let folder = folder(VALID);
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
fn a_generated_trace_is_reproducible_and_has_statistics() {
    let folder = folder(VALID);
    let generate = ["trace", "generate", "--preset", "5g-static", "--duration", "20s", "--seed", "4"];
    let [one, two] = [millpond(folder.path(), &generate), millpond(folder.path(), &generate)];
    assert!(one.status.success() && one.stdout == two.stdout);
    fs::write(folder.path().join("new.csv"), &one.stdout).unwrap();
    let stats = stdout(&millpond(folder.path(), &["trace", "stats", "new.csv"]));
    assert!(stats.contains("duration, s") && stats.contains("mean rate"), "{stats}");
    let run = millpond(folder.path(), &["run", "scenario.toml", "--set", "links.L2.rate.trace.file=new.csv"]);
    assert!(run.status.success(), "{}", stderr(&run));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = folder(VALID);
    let mut child =
        command(folder.path(), &["protocols"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(stderr(&output), "");
    assert!(output.status.success());
}

/// Four equal flows share one full buffer: a quarter each.
#[test]
fn equal_flows_of_an_equilibrium_are_one_row_and_there_is_no_column_without_a_closed_form() {
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
    assert_eq!(row("RTT, ms"), ["flow", "flows", "rate each, Mbit/s", "RTT, ms"], "{text}");
    let bottleneck = row("│ bottleneck ->");
    assert_eq!((&*bottleneck[1], &*bottleneck[bottleneck.len() - 1]), ("100.0 %", "yes"), "{text}");
    assert_eq!(row("access1 ->")[..2], ["access1 -> and 7 more", "2.5 %"], "{text}");
}

#[cfg(unix)]
#[test]
fn an_output_replaces_no_device() {
    let folder = folder(VALID);
    // A symbolic link, so that a failure of this test removes no device of the machine.
    let device = folder.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    let error = error_of(folder.path(), &["run", "scenario.toml", "--report", "null", "--force"]);
    assert!(error.contains("null: is not the name of a regular file"), "{error}");
    assert!(device.is_symlink());
}

#[test]
fn two_outputs_of_a_command_are_not_the_same_file() {
    let folder = folder(VALID);
    for arguments in [
        &["frontier", "lte-short", "--protocols", "cubic", "--report", "x.svg", "--figure", "./x.svg"][..],
        &["link", "--out", "x.json", "--pcap", "./x.json", "--server", "true", "--", "true"],
    ] {
        let error = error_of(folder.path(), arguments);
        assert!(error.contains("two outputs are this file"), "{arguments:?}: {error}");
    }
}
