//! Folders of recipes.

use millpond_papers::Library;
use std::fs;
use std::path::Path;

const PAPER: &str = "title = 'T'\nsource = 'S'\nkind = 'subject'\n[[readings]]\nname = 'window'\nabout = 'x'";
const RECIPE: &str = "title = 't'\nplace = 'Fig. 1'\nclaim = 'c'\n[recurrence]\nlaw = 'abc'\nwindows = [3, 1]\n\
                      steps = 2\n[[cases]]\nname = 'abc'\n[[expect]]\nwhat = 'w'\n\
                      series = { flow = '1', quantity = 'window' }\npaper = 3.0\naccept = [3, 3]\nbecause = 'b'\n";

#[test]
fn a_folder_without_a_recipe_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let read = |folder: &Path| Library::read(folder).err().map(|fault| fault.to_string());
    let paper = folder.path().join("toy");
    fs::create_dir(&paper).unwrap();
    fs::write(paper.join("paper.toml"), PAPER).unwrap();
    assert!(read(folder.path()).unwrap().contains("there is no recipe in this folder"));
    fs::write(paper.join("fig2.toml"), RECIPE).unwrap();
    assert_eq!(read(folder.path()), None);
    assert!(read(&paper).unwrap().contains("there is no recipe in this folder"), "one folder too deep");
}

/// The error about the recipe with this text in place of another.
fn fault(from: &str, to: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let paper = folder.path().join("toy");
    fs::create_dir(&paper).unwrap();
    fs::write(paper.join("paper.toml"), PAPER).unwrap();
    assert!(RECIPE.contains(from));
    fs::write(paper.join("fig2.toml"), RECIPE.replace(from, to)).unwrap();
    Library::read(folder.path()).err().map(|fault| fault.to_string()).unwrap_or_default()
}

#[test]
fn a_mistake_without_a_type_is_an_error_with_its_row_or_case() {
    let case = "[[cases]]\nname = 'abc'\n";
    for (from, to, message) in [
        (case.to_owned(), case.repeat(2), "case \"abc\": another case has the same name"),
        (
            "paper = 3.0".into(),
            "scale = 0\npaper = 3.0".into(),
            "\"w\": scale = 0: every value would be the same",
        ),
        (
            "paper = 3.0".into(),
            "statistic = { settles = { at = 1, within = -0.1 } }\npaper = 3.0".into(),
            "within = -0.1: a share of at least 0",
        ),
        ("[3, 3]".into(), "[3]".into(), "expected a range [least, greatest]"),
    ] {
        let fault = fault(&from, &to);
        assert!(fault.contains(message), "{to}: {fault}");
    }
}
