//! Ctrl-C ends within a second, keeps finished runs, removes the unfinished one, exit code 130.

use crate::common::{VALID, command, folder, names};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(folder: &Path, arguments: &[&str]) -> Child {
    command(folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts")
}

/// Waits until `ready`, for a minute at most.
#[allow(clippy::disallowed_methods, reason = "a process of its own is timed by the wall clock")]
fn wait_for(ready: impl Fn() -> bool) {
    let begin = Instant::now();
    while !ready() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not get ready");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// State and CPU time of a process; it is in state `Z` from its end until it is waited for.
fn state_and_cpu_time(process: u32) -> (String, Duration) {
    let stat =
        std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process is not waited for");
    // The fields after the name, which may contain spaces: 3 is the state, 14 and 15 are times in hundredths of a second.
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let hundredths = |field: usize| fields[field - 3].parse::<u64>().expect("a number");
    (fields[0].to_owned(), Duration::from_millis(10 * (hundredths(14) + hundredths(15))))
}

/// Sends SIGINT; returns the exit code and the CPU time until the end, which a busy machine does not change.
fn interrupt(mut child: Child) -> (Option<i32>, Duration) {
    let before = state_and_cpu_time(child.id()).1;
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    wait_for(|| state_and_cpu_time(child.id()).0 == "Z");
    let after = state_and_cpu_time(child.id()).1;
    (child.wait().expect("it ends").code(), after.saturating_sub(before))
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let folder = folder(VALID);
    let long = ["run", "scenario.toml", "--set", "duration=20000s", "--out", "out"];
    let before = names(folder.path());
    let child = start(folder.path(), &long);
    wait_for(|| names(folder.path()).len() > before.len());
    let (code, took) = interrupt(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(names(folder.path()), before);
}

/// As timeout(1) does, which signals the process and its group.
#[test]
fn two_signals_at_once_are_one_interrupt() {
    let folder = folder(VALID);
    let before = names(folder.path());
    // A live run handles the first signal at once, so that the second one is not merged with it.
    let live = ["run", "scenario.toml", "--world", "live", "--set", "duration=20000s", "--out", "out"];
    let mut child = start(folder.path(), &live);
    wait_for(|| names(folder.path()).len() > before.len() && listens(child.id()));
    let twice = format!("kill -INT {0}; sleep 0.002; kill -INT {0}", child.id());
    assert!(Command::new("sh").args(["-c", &twice]).status().expect("sh runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(names(folder.path()), before);
}

#[test]
fn an_interrupted_comparison_keeps_what_had_ended() {
    let folder = folder(VALID);
    let long = [
        "compare",
        "scenario.toml",
        "--protocols",
        "newreno,cubic",
        "--seeds",
        "200",
        "--set",
        "duration=200s",
        "--out",
        "runs",
    ];
    let runs = folder.path().join("runs");
    let child = start(folder.path(), &long);
    let finished =
        || names_if_there(&runs).into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>();
    wait_for(|| !finished().is_empty());
    let (code, took) = interrupt(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(!finished().is_empty() && finished().len() < 400, "{:?}", finished());
    assert_eq!(finished(), names(&runs), "neither half a directory nor half a report");
    for run in finished() {
        assert!(runs.join(&run).join("summary.json").is_file(), "{run}");
    }
}

/// The file is so large that it is being written for longer than it takes to interrupt the command.
#[test]
fn an_interrupted_trace_leaves_no_file() {
    let folder = folder("");
    let before = names(folder.path());
    let generate = ["trace", "generate", "--preset", "5g-static", "--format", "mahimahi"];
    let child =
        start(folder.path(), &[&generate[..], &["--duration", "40min", "--out", "long.down"]].concat());
    wait_for(|| listens(child.id()));
    let (code, _) = interrupt(child);
    assert_eq!(code, Some(130));
    assert_eq!(names(folder.path()), before);
}

fn names_if_there(folder: &Path) -> Vec<String> {
    if folder.is_dir() { names(folder) } else { Vec::new() }
}

/// Whether a process has said what it does on SIGINT.
fn listens(process: u32) -> bool {
    const SIGINT: u64 = 1 << 1;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGINT != 0)
}

#[test]
fn interrupted_trajectories_leave_no_page() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/delay-margin.toml");
    let folder = folder(&std::fs::read_to_string(scenario).expect("a scenario"));
    let before = names(folder.path());
    let long = ["stability", "scenario.toml", "--phase", "x,q", "--starts", "50", "--report", "page.html"];
    let child = start(folder.path(), &long);
    wait_for(|| listens(child.id()));
    let (code, took) = interrupt(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(names(folder.path()), before);
}
