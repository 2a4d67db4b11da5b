//! `millpond evaluate`.

use crate::common::{VALID, error_of, folder, millpond, names, stderr, stdout};
use std::fs;
use std::path::Path;

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = millpond(folder, &[&["evaluate"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn one_protocol_has_its_evidence_several_are_a_matrix_and_the_page_has_both() {
    let folder = folder(VALID);
    let sections = ["--suite", "bcp133", "--section", "7.10,7.11"];
    let one = printed(folder.path(), &[&["newreno", "--report", "page.html"][..], &sections].concat());
    assert!(one.contains("bcp133: 2 criteria: 1 met, 1 not judged"), "{one}");
    assert!(one.contains("7.10 Multipath transport, not judged: A flow in Millpond has one path."), "{one}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for text in
        ["Evaluation of newreno", "RFC 9743", "longest completion time", "evaluate newreno --suite bcp133"]
    {
        assert!(page.contains(text), "{text}");
    }
    let again = error_of(folder.path(), &["evaluate", "newreno", "--report", "page.html"]);
    assert!(again.contains("page.html: exists already"), "{again}");
    let two = printed(folder.path(), &[&["newreno", "cubic", "--markdown"][..], &sections].concat());
    assert!(two.contains("| protocol | 7.10 | 7.11 |"), "{two}");
    assert!(two.contains("| newreno  | -    | met  |\n| cubic    | -    | met  |"), "{two}");
    assert_eq!(names(folder.path()), ["page.html", "scenario.toml", "trace.csv"]);
}

#[test]
fn unknown_protocols_suites_and_sections_are_refused_with_the_nearest_name() {
    let folder = folder(VALID);
    let refused = |arguments: &[&str]| error_of(folder.path(), &[&["evaluate"], arguments].concat());
    assert!(refused(&["cubik"]).contains("did you mean \"cubic\"?"));
    assert!(refused(&["cubic", "--suite", "bcp13"]).contains("did you mean \"bcp133\"?"));
    let section = refused(&["cubic", "--section", "5.1.9"]);
    assert!(section.contains("no section \"5.1.9\"") && section.contains("did you mean"), "{section}");
    assert!(refused(&[]).contains("NAME"));
    let kind = refused(&["cubic", "--suite", "aqm"]);
    assert!(kind.contains("suite \"aqm\" evaluates queues, and cubic is a protocol"), "{kind}");
    assert!(refused(&["fq-codle"]).contains("did you mean \"fq-codel\"?"));
    assert!(refused(&["cubic", "--section", "7.11", "--matrix", "m.md"]).contains("cannot be used with"));
    let key = refused(&["cubic", "--section", "7.11", "--set", "links.M.rate=1Mbps"]);
    assert!(key.contains("M"), "{key}");
}

#[test]
fn the_rows_of_named_queues_replace_theirs_on_the_page_and_the_others_are_kept() {
    let folder = folder(VALID);
    let row = |page: &str, name: &str| {
        let start = format!("| {name} ");
        page.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
    };
    let page = fs::read_to_string("../../docs/evaluation-matrix.md").unwrap();
    let changed = ["droptail", "red"].iter().fold(page.clone(), |page, name| {
        let row = row(&page, name);
        page.replacen(&row, &row.replacen("met", "no ", 1), 1)
    });
    // A row that lacks a cell is not kept.
    let cut = row(&page, "pie");
    let damaged = changed.replacen(&cut, cut.trim_end_matches('|').rsplit_once('|').unwrap().0, 1);
    fs::write(folder.path().join("m.md"), &damaged).unwrap();
    printed(folder.path(), &["droptail", "--suite", "aqm", "--matrix", "m.md"]);
    let written = fs::read_to_string(folder.path().join("m.md")).unwrap();
    assert_eq!(row(&written, "droptail"), row(&page, "droptail"));
    assert_eq!(row(&written, "red"), row(&changed, "red"));
    assert_ne!(row(&written, "red"), row(&page, "red"));
    // Nothing else has changed but the version that wrote the row.
    let is_other = |line: &&str| {
        !["droptail ", "pie "].iter().any(|name| line.trim_start_matches("| ").starts_with(name))
    };
    let kept = changed.lines().filter(is_other);
    assert!(written.lines().filter(is_other).eq(kept), "{written}");
    assert!(!written.lines().any(|line| line.starts_with("pie ") || line.starts_with("| pie ")), "{written}");
}

#[test]
fn rows_of_a_suite_whose_files_have_changed_are_written_together() {
    let folder = folder(VALID);
    let page = fs::read_to_string("../../docs/evaluation-matrix.md").unwrap();
    let changed = page.replace("<!-- suite l4s, fingerprint ", "<!-- suite l4s, fingerprint 0");
    fs::write(folder.path().join("m.md"), &changed).unwrap();
    let refused = error_of(folder.path(), &["evaluate", "cubic", "--suite", "l4s", "--matrix", "m.md"]);
    assert!(refused.contains("m.md: all rows of the suite l4s are stale"), "{refused}");
    assert!(refused.contains("millpond evaluate --all --suite l4s --matrix m.md"), "{refused}");
    assert_eq!(fs::read_to_string(folder.path().join("m.md")).unwrap(), changed);
}

#[test]
fn a_damaged_comment_of_the_page_is_named_with_its_section_and_line() {
    let folder = folder(VALID);
    let page = fs::read_to_string("../../docs/evaluation-matrix.md").unwrap();
    let line = 2 + page.lines().position(|line| line.starts_with("<!-- suite bcp133")).unwrap();
    let row = page.lines().nth(line - 1).unwrap();
    let (before, after) = page.split_once("<!-- suite bcp133").unwrap();
    let damaged = format!("{before}<!-- suite bcp133{}", after.replacen(row, "newreno", 1));
    fs::write(folder.path().join("m.md"), damaged).unwrap();
    let refused = error_of(folder.path(), &["evaluate", "cubic", "--suite", "l4s", "--matrix", "m.md"]);
    assert!(
        refused.contains(&format!("m.md: line {line}: the section \"## bcp133: Specifying")),
        "{refused}"
    );
}

/// The files of the suite `my-link` on the page about evaluations, by their paths.
fn suite_of_the_page() -> Vec<(String, String)> {
    let page = fs::read_to_string("../../docs/evaluation.md").unwrap();
    let files = page.split("```toml\n# ").skip(1).map(|rest| rest.split("```").next().unwrap());
    files.map(|file| file.split_once('\n').unwrap()).map(|(path, text)| (path.into(), text.into())).collect()
}

/// CUBIC fills the buffer of 100 ms, and the router of XCP keeps its queue empty.
#[test]
fn a_folder_is_a_suite_of_ones_own_whose_mistakes_have_a_place() {
    let folder = folder(VALID);
    let suite = folder.path().join("my-link");
    fs::create_dir(&suite).unwrap();
    let files = suite_of_the_page();
    assert_eq!(
        files.iter().map(|file| file.0.as_str()).collect::<Vec<_>>(),
        ["my-link/suite.toml", "my-link/downloads.toml"]
    );
    files.iter().for_each(|(path, text)| fs::write(folder.path().join(path), text).unwrap());
    let short = ["--suite", "./my-link", "--set", "duration=15s"];
    let verdicts = printed(folder.path(), &[&["cubic", "xcp", "--markdown"][..], &short].concat());
    for row in ["| cubic    | no 1/1 | - |", "| xcp      | met    | - |"] {
        assert!(verdicts.contains(row), "{verdicts}");
    }
    let recipe = suite.join("downloads.toml");
    let wrong = fs::read_to_string(&recipe).unwrap().replace("accept ", "acept ");
    fs::write(&recipe, wrong).unwrap();
    let refused = error_of(folder.path(), &["evaluate", "cubic", "--suite", "./my-link"]);
    assert!(refused.contains("my-link/downloads.toml") && refused.contains("acept"), "{refused}");
}
