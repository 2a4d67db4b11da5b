//! `millpond papers`.

use crate::common::{VALID, error_of, folder, millpond, names, stderr, stdout};
use std::fs;
use std::path::Path;

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = millpond(folder, &[&["papers"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn recipes_are_listed_run_checked_and_read_in_tables_json_and_a_page() {
    let folder = folder(VALID);
    let asked = |arguments: &[&str]| printed(folder.path(), arguments);
    assert!(asked(&["list", "lgcc"]).contains("| lgcc/section3 "));
    for command in ["run", "check"] {
        let printed = asked(&[command, "lgcc/section3"]);
        let headline = printed.lines().find(|line| line.contains(" claims of lgcc hold, "));
        assert!(
            headline.is_some_and(|line| line.ends_with(" do not, with reason; 0 unexplained")),
            "{printed}"
        );
        let printed = asked(&[command, "lgcc/section3", "--json", "--report", "page.html"]);
        let rows: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(rows["recipes"][0]["recipe"], "lgcc/section3");
        assert_eq!(rows["headline"]["claims"]["unexplained"], 0);
        let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
        let made = format!("<code>millpond papers {command} lgcc/section3 --json</code>");
        assert!(page.contains("Papers' results, reproduced") && page.contains(&made), "{made}");
        fs::remove_file(folder.path().join("page.html")).unwrap();
    }
    let readings = ["readings", "lgcc/section3", "--rows", "rows.csv"];
    assert!(asked(&readings).contains("=: exactly the value under the reading \"window\""));
    let rows = fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    assert!(rows.starts_with("recipe,quantity,case,accepted,unit,window,window: verdict,"), "{rows}");
    assert!(rows.lines().skip(1).all(|line| line.starts_with("lgcc/section3,")), "{rows}");
    // A number, its unit, its source and its verdict are columns of their own.
    let checked = asked(&["check", "lgcc/section3", "--csv"]);
    let lines: Vec<&str> = checked.lines().collect();
    assert_eq!(
        lines[0], "quantity,case,reading,paper,ns-2 or own,source,compared,measured,unit,verdict",
        "{checked}"
    );
    assert!(lines[1].ends_with(",ABC,window,197.02,,paper,,197.02,packets,matches"), "{checked}");
    assert!(lines.iter().any(|line| line.contains(",LGCC,window,,10,own,,10,RTTs,matches")), "{checked}");
    let csv = asked(&["readings", "lgcc/section3", "--csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("quantity,case,accepted,unit,window,window: verdict,paced window,"),
        "{csv}"
    );
    let mut cells = lines[2].split(',').skip(4);
    assert!(cells.next().is_some_and(|value| value.parse::<f64>().is_ok()), "{csv}");
    assert_eq!(cells.next(), Some("accepted"), "{csv}");
    let again = error_of(folder.path(), &[&["papers"], &readings[..]].concat());
    assert!(again.contains("rows.csv: exists already"), "{again}");
    fs::remove_file(folder.path().join("rows.csv")).unwrap();
    assert_eq!(names(folder.path()), ["scenario.toml", "trace.csv"]);
}

#[test]
fn a_recipe_that_was_edited_in_the_clone_is_the_one_that_is_used() {
    let folder = folder(VALID);
    let edited = folder.path().join("papers/lgcc");
    fs::create_dir_all(&edited).unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/lgcc/section3.toml");
    let text = fs::read_to_string(shipped).unwrap();
    let title = text.lines().find(|line| line.starts_with("title")).unwrap();
    fs::write(edited.join("section3.toml"), text.replace(title, "title = \"Edited on disk\"")).unwrap();
    assert!(printed(folder.path(), &["list", "lgcc"]).contains("Edited on disk"));
    assert!(printed(folder.path(), &["check", "lgcc/section3", "--markdown"]).contains("Edited on disk"));
}

const OWN: &str = r#"
title = "More than there is"
place = "Fig. 1"
claim = "A flow uses twice the link."
[scenario]
duration = "1s"
[scenario.dumbbell]
bottleneck = { rate = "10Mbps", delay = "5ms" }
[[scenario.flows]]
name = "f"
protocol = "newreno"
[[cases]]
name = "a flow"
[[expect]]
what = "utilization"
summary = "links.bottleneck.utilization"
paper = 2
accept = [1.9, 2.1]
because = "it says so"
"#;

#[test]
fn a_row_that_nobody_explains_fails_a_check_and_not_a_run() {
    let folder = folder(VALID);
    let own = folder.path().join("papers/own");
    fs::create_dir_all(&own).unwrap();
    let paper = "title = \"Own\"\nsource = \"here\"\nkind = \"subject\"\n[[readings]]\nname = \"as written\"\nabout = \"One.\"\nset = {}\n";
    fs::write(own.join("paper.toml"), paper).unwrap();
    fs::write(own.join("fig1.toml"), OWN).unwrap();
    let arguments = ["own/fig1", "--papers", "papers"];
    assert!(printed(folder.path(), &[&["run"][..], &arguments].concat()).contains("UNEXPLAINED"));
    let checked = millpond(folder.path(), &[&["papers", "check"][..], &arguments].concat());
    assert_eq!(checked.status.code(), Some(1), "{}", stderr(&checked));
    assert!(stdout(&checked).contains("UNEXPLAINED: accepted: 1.9 to 2.1"), "{}", stdout(&checked));
}

#[test]
fn texts_of_a_recipe_have_no_characters_that_a_terminal_obeys() {
    let folder = folder(VALID);
    let own = folder.path().join("papers/own");
    fs::create_dir_all(&own).unwrap();
    let paper = "title = \"Own\"\nsource = \"here\"\nkind = \"subject\"\n[[readings]]\nname = \"as written\"\nabout = \"One.\"\nset = {}\n";
    fs::write(own.join("paper.toml"), paper).unwrap();
    fs::write(own.join("fig1.toml"), OWN.replace("More than", "More\\u001b[31m than\\u202e")).unwrap();
    let text = printed(folder.path(), &["run", "own/fig1", "--papers", "papers"]);
    assert!(text.contains("More\u{fffd}[31m than\u{fffd}"), "{text:?}");
}

#[test]
fn a_name_that_no_recipe_has_and_a_page_that_cannot_be_written_are_refused_at_once() {
    let folder = folder(VALID);
    let misspelt = error_of(folder.path(), &["papers", "check", "lgcc/sektion3"]);
    assert!(misspelt.contains("did you mean \"lgcc/section3\"?"), "{misspelt}");
    let page = error_of(folder.path(), &["papers", "check", "lgcc/section3", "--report", "none/page.html"]);
    assert!(page.contains("none/page.html"), "{page}");
    for command in ["check", "readings"] {
        let trace = error_of(folder.path(), &["papers", command, "lgcc/section3", "--trace", "trace.csv"]);
        assert!(trace.contains("trace.csv: a trace replaces") && trace.contains("lgcc/section3"), "{trace}");
    }
}
