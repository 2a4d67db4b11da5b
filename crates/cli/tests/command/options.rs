//! Options of all commands, existing outputs, and terminals.

use crate::common::{VALID, command, error_of, folder, millpond, names, stderr, stdout, succeeds};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn colours_are_those_of_the_option_and_off_without_a_terminal() {
    let folder = folder(&VALID.replace("newreno", "newrno"));
    let error = |arguments: &[&str]| stderr(&millpond(folder.path(), arguments));
    assert!(!error(&["check", "scenario.toml"]).contains('\u{1b}'));
    assert!(error(&["check", "scenario.toml", "--color", "always"]).contains('\u{1b}'));
    let mut quiet = command(folder.path(), &["check", "scenario.toml"]);
    let quiet = quiet.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
    assert!(!stderr(&quiet).contains('\u{1b}'));
    assert!(!error(&["check", "scenario.toml", "--color", "never"]).contains('\u{1b}'));
}

/// A name may have escape characters, and characters that change the direction of text.
#[test]
fn the_name_of_a_file_does_not_command_the_terminal() {
    let folder = folder(VALID);
    let name = "a\u{1b}[31m\u{202e}.toml";
    fs::copy(folder.path().join("scenario.toml"), folder.path().join(name)).unwrap();
    let (out, _) = succeeds(folder.path(), &["check", name]);
    assert!(out.contains("[31m") && !out.contains(['\u{1b}', '\u{202e}']), "{out:?}");
    let trace = name.replace("toml", "csv");
    let generate = ["trace", "generate", "--preset", "5g-static", "--duration", "10s", "--out", &trace];
    let (out, _) = succeeds(folder.path(), &generate);
    assert!(out.contains("[31m") && !out.contains(['\u{1b}', '\u{202e}']), "{out:?}");
}

#[test]
fn a_quiet_command_prints_no_warnings() {
    let folder = folder(VALID);
    let seeds =
        ["compare", "scenario.toml", "--protocols", "newreno", "--seeds", "2", "--set", "hosts.jitter=0s"];
    assert!(succeeds(folder.path(), &seeds).1.contains("warning:"));
    assert_eq!(succeeds(folder.path(), &[&seeds[..], &["--quiet"]].concat()).1, "");
}

#[test]
fn more_threads_than_cores_are_not_started_and_change_no_result() {
    let folder = folder(VALID);
    let compare = ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--csv"];
    let one = succeeds(folder.path(), &[&compare[..], &["--jobs", "1"]].concat());
    let many = succeeds(folder.path(), &[&compare[..], &["--jobs", "10000"]].concat());
    assert_eq!(one.0, many.0);
    assert!(many.1.contains("--jobs=10000: ") && many.1.contains("one per processor core"), "{}", many.1);
    let mut variable = command(folder.path(), &["check", "scenario.toml"]);
    let told = stderr(&variable.env("RAYON_NUM_THREADS", "9999").output().unwrap());
    assert!(told.contains("RAYON_NUM_THREADS=9999: "), "{told}");
    assert!(error_of(folder.path(), &["check", "scenario.toml", "--jobs", "0"]).contains("from 1 to 10000"));
}

#[test]
fn an_existing_run_is_replaced_with_force_only_and_other_directories_never() {
    let folder = folder(VALID);
    let run = ["run", "scenario.toml", "--out", "out"];
    succeeds(folder.path(), &run);
    assert!(error_of(folder.path(), &run).contains("--force"));
    let forced = ["run", "scenario.toml", "--seed", "9", "--out", "out", "--force"];
    succeeds(folder.path(), &forced);
    let summary = fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
    assert!(summary.contains("\"seed\": 9"), "{summary}");
    fs::create_dir(folder.path().join("thesis")).unwrap();
    let other = error_of(folder.path(), &["run", "scenario.toml", "--out", "thesis", "--force"]);
    assert!(other.contains("thesis: is not the directory of a run"), "{other}");
}

#[test]
fn an_existing_report_is_replaced_with_force_only() {
    let folder = folder(VALID);
    succeeds(folder.path(), &["run", "scenario.toml", "--out", "run"]);
    fs::write(folder.path().join("page.html"), "mine").unwrap();
    let outputs: [&[&str]; 5] = [
        &["report", "run", "--out", "page.html"],
        &["run", "scenario.toml", "--report", "page.html"],
        &["compare", "scenario.toml", "--protocols", "newreno", "--report", "page.html"],
        &["papers", "check", "lgcc/section3", "--report", "page.html"],
        &["trace", "generate", "--preset", "lte-car", "--duration", "2s", "--out", "page.html"],
    ];
    for arguments in outputs {
        let error = error_of(folder.path(), arguments);
        assert!(error.contains("page.html: exists already") && error.contains("--force"), "{error}");
        assert_eq!(fs::read(folder.path().join("page.html")).unwrap(), b"mine", "{arguments:?}");
    }
    succeeds(folder.path(), &[outputs[0], &["--force"]].concat());
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().starts_with("<!DOCTYPE"));
}

#[test]
fn a_resumed_comparison_keeps_the_runs_that_had_ended_and_gives_the_same_results() {
    let folder = folder(VALID);
    let compare =
        ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--seeds", "2", "--out", "runs"];
    let (whole, _) = succeeds(folder.path(), &compare);
    let runs = folder.path().join("runs");
    let timing = |run: &str| fs::read(runs.join(run).join("timing.json")).unwrap();
    let (kept, page) = (timing("cubic-seed1"), fs::read(runs.join("report.html")).unwrap());
    fs::remove_dir_all(runs.join("newreno-seed2")).unwrap();
    let resume = [&compare[..], &["--resume"]].concat();
    let (resumed, messages) = succeeds(folder.path(), &resume);
    assert_eq!(resumed, whole);
    assert!(messages.ends_with("report.html (the older one is replaced)\n"), "{messages}");
    assert_eq!(timing("cubic-seed1"), kept, "a finished run is not run again");
    assert!(runs.join("newreno-seed2/summary.json").is_file());
    assert!(fs::read(runs.join("report.html")).unwrap() == page, "the report differs");
    let other = error_of(folder.path(), &[&resume[..], &["--set", "duration=1s"]].concat());
    assert!(other.contains("a run of another scenario") && !other.contains("replaced"), "{other}");
    let trace = fs::read_to_string(folder.path().join("trace.csv")).unwrap();
    fs::write(folder.path().join("trace.csv"), trace.replace(",8", ",9")).unwrap();
    assert!(error_of(folder.path(), &resume).contains("trace"), "the file of the trace has changed");
    fs::write(folder.path().join("trace.csv"), trace).unwrap();
    let summary = runs.join("cubic-seed1/summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    fs::write(&summary, text.replace("\"version\": \"", "\"version\": \"9.")).unwrap();
    assert!(error_of(folder.path(), &resume).contains("version"), "another version has run it");
    let exists = error_of(folder.path(), &compare);
    assert!(exists.contains("--force") && exists.contains("--resume"), "{exists}");
    succeeds(folder.path(), &[&compare[..], &["--force", "--set", "duration=1s"]].concat());
}

#[test]
fn a_comparison_of_queues_has_one_row_per_pair_and_the_runs_of_links_with_these_queues() {
    let folder = folder(VALID);
    let rows = |arguments: &[&str]| {
        let all = [&["compare", "scenario.toml", "--csv"], arguments].concat();
        succeeds(folder.path(), &all).0.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let label = |row: &String| row.split(',').next().unwrap_or_default().to_owned();
    let pairs = rows(&["--protocols", "newreno,cubic", "--queues", "droptail,codel"]);
    let labels: Vec<String> = pairs[1..].iter().map(label).collect();
    assert_eq!(labels, ["newreno+droptail", "newreno+codel", "cubic+droptail", "cubic+codel"]);
    // The numbers are those of the same queue, set at both links; the default of these protocols is drop-tail.
    let numbers = |row: &String| row.split(',').skip(3).take(10).map(str::to_owned).collect::<Vec<_>>();
    let own = rows(&["--protocols", "newreno,cubic"]);
    assert_eq!([1, 3].map(|row| numbers(&pairs[row])), [1, 2].map(|row| numbers(&own[row])));
    assert_ne!(numbers(&pairs[4]), numbers(&pairs[3]));
    // A link that has this queue keeps its settings; the other has the default ones.
    let strict = "links.L2.queue={ codel = { target = \"1ms\", interval = \"10ms\" } }";
    let kept = rows(&["--queues", "codel", "--set", strict]);
    let set = rows(&["--protocols", "newreno", "--set", strict, "--set", "links.L1.queue=codel"]);
    assert_eq!(numbers(&kept[1]), numbers(&set[1]));
    assert_ne!(numbers(&kept[1]), numbers(&pairs[2]), "the target decides");
}

#[test]
fn a_report_finds_runs_at_any_depth() {
    let folder = folder(VALID);
    for out in ["all/one", "all/deep/er/two"] {
        succeeds(folder.path(), &["run", "scenario.toml", "--out", out]);
    }
    succeeds(folder.path(), &["report", "all", "--out", "page.html"]);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("deep/er/two") && page.contains("one"));
}

#[test]
fn completions_and_manual_pages_name_every_option() {
    let folder = folder(VALID);
    for shell in ["bash", "zsh", "fish"] {
        let script = succeeds(folder.path(), &["completions", shell]).0;
        assert!(script.contains("compare") && script.contains("resume"), "{shell}");
    }
    assert!(succeeds(folder.path(), &["man"]).0.contains(".TH millpond"));
    assert!(succeeds(folder.path(), &["man", "compare"]).0.contains("resume"));
    let nested = succeeds(folder.path(), &["man", "papers", "check"]).0;
    assert!(nested.contains(".TH millpond-papers-check") && nested.contains("keep"), "{nested}");
    assert!(error_of(folder.path(), &["man", "papers", "chek"]).contains("did you mean \"check\"?"));
    assert!(error_of(folder.path(), &["man", "run", "now"]).contains("run has no commands of its own"));
    assert!(error_of(folder.path(), &["man", "compar"]).contains("did you mean \"compare\"?"));
}

#[test]
fn what_the_arguments_quote_has_no_characters_that_a_terminal_obeys() {
    let folder = folder(VALID);
    for arguments in [&["pro\u{202e}tocols"][..], &["run", "--see\u{1b}[31md", "scenario.toml"]] {
        let error = error_of(folder.path(), arguments);
        assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error:?}");
    }
    let help = succeeds(folder.path(), &["--help"]);
    assert!(help.0.contains("Usage:") && help.1.is_empty(), "{help:?}");
}

#[test]
fn the_help_of_trace_generate_lists_the_kinds_of_links() {
    let folder = folder(VALID);
    let help = succeeds(folder.path(), &["trace", "generate", "--help"]).0;
    let kinds = error_of(folder.path(), &["trace", "generate", "--preset", "none"]);
    let kinds: Vec<&str> = kinds.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(kinds.len() > 10, "{kinds:?}");
    assert!(kinds.iter().all(|kind| help.contains(kind)), "{kinds:?} in\n{help}");
}

#[test]
fn a_standard_error_that_cannot_be_written_changes_no_exit_code() {
    let folder = folder(VALID);
    let code = |arguments: &[&str]| {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        command(folder.path(), arguments).stderr(full).status().unwrap().code()
    };
    assert_eq!(code(&["check", "nothing.toml"]), Some(2));
    assert_eq!(code(&["compare", "scenario.toml", "--protocols", "newreno"]), Some(0));
}

#[test]
fn an_interrupt_ends_a_command_that_waits_for_its_input() {
    let folder = folder(VALID);
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    for arguments in [&["run", "pipe"][..], &["compare", "pipe", "--protocols", "cubic"], &["check", "pipe"]]
    {
        // A shell may have started the tests with interrupts ignored, which the command would inherit.
        let mut child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_millpond")])
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            child.try_wait().unwrap().is_some()
        });
        let _ = child.kill();
        assert!(ended, "{arguments:?}");
    }
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let folder = folder(VALID);
    let long = ["run", "scenario.toml", "--set", "duration=20000s", "--out", "out"];
    let before = names(folder.path());
    let mut child =
        command(folder.path(), &long).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let begun = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        names(folder.path()).len() > before.len()
    });
    assert!(begun);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(names(folder.path()).iter().any(|name| name.ends_with(".partial")));
    succeeds(folder.path(), &["run", "scenario.toml", "--out", "out"]);
    assert_eq!(names(folder.path()), ["out", "scenario.toml", "trace.csv"]);
}

#[test]
fn no_output_leaves_its_directory() {
    let folder =
        folder(&VALID.replace("[protocols.lgcc]", "[protocols.\"../../away\"]\nprotocol = \"cubic\""));
    let error =
        error_of(folder.path(), &["compare", "scenario.toml", "--protocols", "../../away", "--out", "runs"]);
    assert!(error.contains("\"../../away\" is not a name"), "{error}");
}

#[test]
fn a_scenario_with_a_million_flows_is_checked_in_little_memory() {
    const LIMIT_KB: u64 = 1_500_000;
    let folder = folder(&VALID.replace("[protocols.lgcc]", "count = 1000000\n[protocols.lgcc]"));
    let check = format!("ulimit -v {LIMIT_KB}; exec {} check scenario.toml", env!("CARGO_BIN_EXE_millpond"));
    let output = Command::new("sh").args(["-c", &check]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("1000000 flows"), "{}", stdout(&output));
}

#[test]
fn all_links_with_conflicting_queues_are_in_one_message() {
    let folder = folder(&VALID.replace(
        "[protocols.lgcc]",
        "[[flows]]\nname = \"g\"\nprotocol = \"dctcp\"\npath = [\"A\", \"B\", \"C\"]\n[protocols.lgcc]",
    ));
    for world in ["packets", "fluid"] {
        let error = error_of(folder.path(), &["check", "scenario.toml", "--world", world]);
        for words in
            ["links \"L1\", \"L2\" carry newreno (queue droptail) and dctcp (queue", "set the queue of each"]
        {
            assert!(error.contains(words), "{error}");
        }
    }
}

#[test]
fn a_target_of_a_frontier_that_is_named_twice_has_one_row() {
    let folder = folder(VALID);
    let frontier = ["frontier", "lte-short", "--duration", "5s", "--protocols", "cubic", "--csv"];
    let rows = |targets: &str| succeeds(folder.path(), &[&frontier[..], &["--target", targets]].concat()).0;
    assert_eq!(rows("50ms,20ms,50ms"), rows("50ms,20ms"));
}
