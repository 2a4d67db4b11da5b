//! `millpond new`: scenario files from templates.

use crate::common::{error_of, millpond, names, stderr, stdout};
use std::fs;

const TEMPLATES: [&str; 8] = [
    "dumbbell",
    "parking-lot",
    "two-bottlenecks",
    "late-joiner",
    "beside-cubic",
    "incast",
    "split-path",
    "leaf-spine",
];

#[test]
fn every_template_is_a_valid_scenario_beside_the_schema_that_it_names() {
    for template in TEMPLATES {
        let folder = tempfile::tempdir().unwrap();
        let output = millpond(folder.path(), &["new", "home.toml", "--template", template]);
        assert!(output.status.success(), "{template}:\n{}", stderr(&output));
        assert_eq!(names(folder.path()), ["home.toml", "scenario.schema.json"]);
        let text = fs::read_to_string(folder.path().join("home.toml")).unwrap();
        assert!(text.starts_with("#:schema scenario.schema.json\n"), "{template}: {text}");
        let schema = fs::read_to_string(folder.path().join("scenario.schema.json")).unwrap();
        assert_eq!(schema, stdout(&millpond(folder.path(), &["schema"])));
        let output = millpond(folder.path(), &["check", "home.toml"]);
        assert!(output.status.success(), "{template}:\n{}", stderr(&output));
    }
}

#[test]
fn an_existing_scenario_is_kept_unless_it_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("home.toml"), "title = \"mine\"\n").unwrap();
    let error = error_of(folder.path(), &["new", "home.toml"]);
    assert!(error.contains("home.toml: exists already"), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("home.toml")).unwrap(), "title = \"mine\"\n");
    assert_eq!(names(folder.path()), ["home.toml"]);
    assert!(millpond(folder.path(), &["new", "home.toml", "--force"]).status.success());
}

#[test]
fn an_unknown_template_and_a_missing_folder_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let error = error_of(folder.path(), &["new", "home.toml", "--template", "dumbel"]);
    assert!(error.contains("dumbel") && error.contains("dumbbell"), "{error}");
    let error = error_of(folder.path(), &["new", "missing/home.toml"]);
    assert!(error.contains("missing"), "{error}");
    assert!(names(folder.path()).is_empty());
}
