//! The runs of recipes.

use millpond_papers::{Expectation, Library, Statistic, trials};
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

/// A row of such an interval would be a mean over less time than it says.
#[test]
fn no_interval_of_a_shipped_recipe_ends_after_its_run() {
    for selected in Library::builtin().unwrap().select(None).unwrap() {
        let of_scenarios =
            |full: bool| trials(selected, full).into_iter().filter(|t| t.recipe.scenario.is_some());
        for (full, trial) in
            [false, true].into_iter().flat_map(|full| of_scenarios(full).map(move |t| (full, t)))
        {
            let end = trial.scenario(&[], None).unwrap().duration.secs();
            // A value that is reached earlier is reached in a shorter run, too.
            let of_case = |row: &&Expectation| {
                selected.recipe.case_of(row) == trial.case.name
                    && !matches!(row.statistic, Statistic::Reaches(_))
            };
            for row in selected.recipe.rows(full).filter(of_case) {
                let to = row.to.map_or(0.0, |to| to.0);
                assert!(to <= end, "{}: {}: {to} s of {end} s", trial.label(), row.what.get_ref());
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
