//! The commands in the README and in the pages of `docs/`.

use crate::common::{millpond, stderr};
use std::fs;
use std::path::{Path, PathBuf};

/// Recipes take minutes, and links need privileges; both have tests of their own.
const ELSEWHERE: &[&str] = &["papers", "link"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with all that the README's commands name.
fn clone_with(page: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = folder.path().join("scenarios/traces");
    fs::create_dir_all(&scenarios).unwrap();
    for file in [
        "last-hop-5g.toml",
        "delay-margin.toml",
        "parking-lot.toml",
        "traces/5g-static-demo.csv",
        "home-evening.toml",
        "dumbbell.toml",
    ] {
        let file = Path::new("scenarios").join(file);
        fs::copy(workspace().join(&file), folder.path().join(&file)).unwrap();
    }
    let home = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    fs::write(folder.path().join("home.toml"), home).unwrap();
    let recording: String = (1..2000).map(|millisecond| format!("{millisecond}\n")).collect();
    fs::write(folder.path().join("my.down"), recording).unwrap();
    folder
}

/// The arguments of each `$ millpond` command of the page.
fn commands(page: &str) -> Vec<Vec<String>> {
    let page = page.replace("\\\n", " ");
    let typed = page.lines().filter_map(|line| line.strip_prefix("$ millpond "));
    typed.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn every_command_of_the_readme_works_as_it_is_written() {
    let page = fs::read_to_string(workspace().join("README.md")).unwrap();
    let (folder, commands) = (clone_with(&page), commands(&page));
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands.iter().filter(|command| !ELSEWHERE.contains(&command[0].as_str())) {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if ["run", "compare", "sweep"].contains(&arguments[0]) {
            arguments.extend(["--set", "duration=2500ms", "--set", "measure.from=0s"]);
        }
        let output = millpond(folder.path(), &arguments);
        // A busy machine is too late for a live run, which is no fault of the command.
        let is_untrusted =
            command.iter().any(|word| word.contains("live")) && output.status.code() == Some(1);
        assert!(output.status.success() || is_untrusted, "{arguments:?}:\n{}", stderr(&output));
    }
}

/// The table below the command with Pledge: utilization, p95 of the queueing delay and Jain's index of each protocol.
#[test]
fn the_table_of_the_readme_has_the_numbers_of_its_command() {
    let page = fs::read_to_string(workspace().join("README.md")).unwrap();
    let folder = clone_with(&page);
    let command =
        commands(&page).into_iter().find(|command| command.iter().any(|word| word.contains("pledge")));
    let command = command.unwrap();
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--markdown");
    let printed = String::from_utf8(millpond(folder.path(), &arguments).stdout).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let labels: Vec<&str> = command[3].split(',').collect();
    let measured = labels.iter().map(|label| {
        let row =
            printed.lines().map(cells).find(|row| row.get(1).is_some_and(|cell| cell == label)).unwrap();
        [row[3].clone(), format!("{} ms", row[8]), row[10].clone()]
    });
    let table = page.split("| | utilization | p95 of queueing | Jain's index |\n").nth(1).unwrap();
    let shown = table.lines().skip(1).take_while(|line| line.starts_with('|')).map(cells);
    let shown: Vec<[String; 3]> = shown.map(|row| [row[2].clone(), row[3].clone(), row[4].clone()]).collect();
    assert_eq!(measured.collect::<Vec<_>>(), shown, "{printed}");
}

/// Each `$ millpond` command of the page's consoles, and the lines that the page shows of its output.
fn sessions(page: &str) -> Vec<(Vec<String>, Vec<&str>)> {
    let mut found: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    let consoles = page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    for console in consoles {
        for line in console.lines() {
            match (line.strip_prefix("$ millpond "), found.last_mut()) {
                (Some(typed), _) => {
                    found.push((typed.split_whitespace().map(str::to_owned).collect(), Vec::new()));
                }
                (None, Some((_, shown))) if line != "..." && !line.starts_with("$ ") => {
                    shown.push(line.trim_end());
                }
                _ => {}
            }
        }
    }
    found
}

/// Runs a command; each of these lines must be printed, in this order.
fn assert_prints(folder: &Path, command: &[String], shown: &[&str]) {
    let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    let output = millpond(folder, &arguments);
    assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut lines = printed.lines().map(str::trim_end);
    for line in shown {
        assert!(
            lines.any(|printed| printed == *line),
            "{arguments:?} does not print, in this order,\n{line}\nbut\n{printed}"
        );
    }
    assert!(!shown.is_empty(), "{arguments:?}: the page shows nothing of it");
}

/// Runs every command of a page's consoles; each line that the page shows must be printed, in this order.
fn assert_shows_what_its_commands_print(page: &str, scenario: &str, least_sessions: usize) {
    let page = fs::read_to_string(workspace().join("docs").join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scenarios")).unwrap();
    let scenario = format!("scenarios/{scenario}");
    fs::copy(workspace().join(&scenario), folder.path().join(&scenario)).unwrap();
    let sessions = sessions(&page);
    assert!(sessions.len() >= least_sessions, "{sessions:?}");
    for (command, shown) in &sessions {
        assert_prints(folder.path(), command, shown);
    }
}

/// The first command of the README has its output below it.
#[test]
fn the_first_table_of_the_readme_is_what_its_command_prints() {
    let page = fs::read_to_string(workspace().join("README.md")).unwrap();
    let (folder, sessions) = (clone_with(&page), sessions(&page));
    let (command, shown) = &sessions[0];
    assert!(shown.len() > 5, "{shown:?}");
    assert_prints(folder.path(), command, shown);
}

/// The pages of the site are read in their order within one folder: later commands use the files of earlier ones.
#[test]
fn every_command_of_the_pages_of_the_site_works_as_it_is_written() {
    for page in ["tour", "my-network", "my-trace", "sweep"] {
        let page = fs::read_to_string(workspace().join(format!("website/pages/{page}.md"))).unwrap();
        let home = fs::read_to_string(workspace().join("website/pages/tour.md")).unwrap();
        let (folder, commands) = (clone_with(&home), commands(&page));
        let network = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        fs::write(folder.path().join("network.toml"), network.unwrap_or_default()).unwrap();
        assert!(!commands.is_empty());
        for command in commands.iter().filter(|command| !ELSEWHERE.contains(&command[0].as_str())) {
            let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            if command[0] == "new" {
                arguments.push("--force");
            }
            if ["run", "compare", "sweep"].contains(&arguments[0]) {
                arguments.extend(["--set", "duration=2500ms", "--set", "measure.from=0s"]);
            }
            let output = millpond(folder.path(), &arguments);
            assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
        }
        if network.is_some() {
            let output = millpond(folder.path(), &["check", "network.toml"]);
            assert!(output.status.success(), "{}", stderr(&output));
        }
    }
}

/// The page on experiments: its commands, and the conversions of traces with files of the formats that they name.
#[test]
fn the_commands_of_the_page_on_experiments_work_as_they_are_written() {
    let page = fs::read_to_string(workspace().join("docs/experiments.md")).unwrap();
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let folder = clone_with(&readme);
    let commands = commands(&page);
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let output = millpond(folder.path(), &arguments);
        assert!(output.status.success(), "{arguments:?}:\n{}", stderr(&output));
    }
    fs::write(folder.path().join("rates.txt"), "0 5000000\n0.5 7500000\n1.0 0\n").unwrap();
    let rows = "Timestamp,Speed,UL_bitrate,DL_bitrate\r\nnoon,3,1,5000\r\nlater,3,1,7000\r\n";
    fs::write(folder.path().join("dataset.csv"), rows).unwrap();
    let script = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let output = shell(folder.path(), script);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(written("ns3.csv"), "0,5\n0.5,7.5\n1.0,0\n");
    assert_eq!(written("5g.csv"), "0,5\n1,7\n");
}

/// Runs a script with the command on the path.
fn shell(folder: &Path, script: &str) -> std::process::Output {
    let binaries = Path::new(env!("CARGO_BIN_EXE_millpond")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-e", "-c", script]).env("PATH", path).current_dir(folder).output().unwrap()
}

#[test]
fn the_page_from_a_law_to_its_stability_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("from-a-law-to-its-stability.md", "delay-margin.toml", 8);
}

#[test]
fn the_page_about_coexistence_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("coexistence.md", "beside-cubic.toml", 6);
}

#[test]
fn the_page_about_nodes_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("node.md", "beside-cubic.toml", 2);
}

#[test]
fn the_page_about_evaluation_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("evaluation.md", "beside-cubic.toml", 1);
}

#[test]
fn the_page_about_disturbances_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("disturbances.md", "dumbbell.toml", 1);
}

/// The page's commands with one trace of each kind, two seeds and three seconds.
#[test]
fn the_page_about_a_figure_writes_its_figures() {
    let page = fs::read_to_string(workspace().join("docs/figure-for-a-paper.md")).unwrap();
    let script = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut short = script.to_owned();
    for (long, brief) in
        [("1 2 3 4 5 6 7 8 9", "1"), ("--seeds 10", "--seeds 2 --set duration=3s"), ("60s", "3s")]
    {
        assert!(short.contains(long), "{long}");
        short = short.replace(long, brief);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("scenarios/traces")).unwrap();
    for file in ["scenarios/last-hop-5g.toml", "scenarios/traces/5g-static-demo.csv"] {
        fs::copy(workspace().join(file), folder.path().join(file)).unwrap();
    }
    let output = shell(folder.path(), &short);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read(folder.path().join("tradeoff.pdf")).unwrap().starts_with(b"%PDF-"));
    let tails = fs::read_to_string(folder.path().join("lte-car.svg")).unwrap();
    assert!(
        ["lgcc", "abc", "cubic"].iter().all(|protocol| tails.contains(&format!(">{protocol}<"))),
        "{tails}"
    );
}

#[test]
fn the_page_reno_over_red_shows_what_its_commands_print() {
    assert_shows_what_its_commands_print("reno-over-red.md", "reno-over-red.toml", 7);
}

/// (38) of CLTCP has a size of one at 1 rad/s and a phase of -180 degrees + atan 2 - atan 1/2.
#[test]
fn the_page_says_the_margins_of_the_closed_form() {
    let page = fs::read_to_string(workspace().join("docs/from-a-law-to-its-stability.md")).unwrap();
    let margin = 2_f64.atan() - 0.5_f64.atan();
    let numbers = [
        format!("**{:.2} degrees**", margin.to_degrees()),
        format!("**{margin:.4} s**"),
        format!("RTT {:.1} ms", margin * 1e3),
        format!("{:.2}° ", (margin - 0.02).to_degrees()),
        format!("{:.1} ms ", (margin - 0.02) * 1e3),
    ];
    for number in numbers {
        assert!(page.contains(&number), "{number}");
    }
}
