//! The runs of recipes.

use millpond_papers::{Library, trials};
use std::path::Path;

#[test]
fn every_trial_of_every_shipped_recipe_has_a_valid_scenario() {
    assert_valid(&Library::builtin().unwrap());
}

#[test]
fn recipes_of_a_folder_with_a_relative_path_find_their_traces() {
    assert_valid(&Library::read(Path::new("../../papers")).unwrap());
}

fn assert_valid(library: &Library) {
    for selected in library.select(None).unwrap() {
        for trial in [false, true].iter().flat_map(|&full| trials(selected, full)) {
            if let (true, Err(faults)) = (selected.recipe.scenario.is_some(), trial.scenario(&[], None)) {
                panic!("{}:\n{}", trial.label(), faults.render(false));
            }
        }
    }
}

/// With one seed for all runs of a row, the interval over its seeds would be zero.
#[test]
fn an_override_of_the_seed_is_refused() {
    let library = Library::builtin().unwrap();
    let trials = trials(library.select(Some("lgcc/fig12")).unwrap()[0], false);
    let set = |set: &str| trials[0].scenario(&[set.to_owned()], None);
    assert_eq!(set("duration=3s").unwrap().seed, 1);
    let fault = set("seed=5").unwrap_err().to_string();
    assert!(fault.contains("seed=5") && fault.contains("the seeds of a recipe are 1, 2, ..."), "{fault}");
}
