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
