//! The rows of a recipe under every reading of its paper.

use millpond_papers::{CheckOptions, Effect, Library, Reading, ReadingsPlan, RecipeReadings};
use millpond_results::Unwatched;

/// The matrix of a recipe, and the number of its runs, with a changed second reading.
fn planned(change: impl Fn(&mut Reading)) -> (RecipeReadings, usize) {
    let mut library = Library::builtin().unwrap();
    library.papers.retain(|paper| paper.name == "xcp");
    change(&mut library.papers[0].readings[1]);
    let selected = library.select(Some("xcp/persistent-queue")).unwrap();
    let options = CheckOptions::quick();
    let plan = ReadingsPlan::new(&selected, &options);
    (plan.run(&Unwatched).unwrap().remove(0), plan.run_count())
}

fn matrix_of(change: impl Fn(&mut Reading)) -> RecipeReadings {
    planned(change).0
}

#[test]
fn every_row_has_a_cell_for_every_reading() {
    let matrix = matrix_of(|_| ());
    assert_eq!(matrix.readings, ["as the draft", "first interval of 80 ms", "truncated windows"]);
    assert!(matrix.rows.iter().all(|row| row.cells.len() == 3));
    assert_eq!(matrix.counts(0), (matrix.rows.len(), 0), "{matrix:#?}");
    assert!(matrix.counts(1).1 > 0, "{matrix:#?}");
}

#[test]
fn a_reading_that_changes_nothing_has_no_effect_on_any_row() {
    let matrix = matrix_of(|reading| reading.set.clear());
    assert!(matrix.rows.iter().all(|row| row.cells[1].effect == Effect::None), "{matrix:#?}");
    assert_eq!(matrix.counts(1), (matrix.rows.len(), 0));
}

#[test]
fn a_reading_that_cannot_reach_the_scenario_of_a_recipe_costs_no_run() {
    let set = |key: &str, value: toml::Value| {
        planned(|reading| reading.set = [(key.to_owned(), value.clone())].into())
    };
    let (_, with_effect) = planned(|_| ());
    let unreachable = [
        ("protocols.lgcc.params.phi1", 7.into()),
        ("links.none.delay", "7ms".into()),
        ("flows.none.start", "7s".into()),
        ("protocols.xcp.params.initial_interval", "50ms".into()),
    ];
    for (key, value) in unreachable {
        let (matrix, runs) = set(key, value);
        assert!(runs < with_effect, "{key}: {runs} runs");
        assert!(matrix.rows.iter().all(|row| row.cells[1].effect == Effect::None), "{key}");
    }
    assert_eq!(set("protocols.xcp.params.initial_interval", "51ms".into()).1, with_effect);
}

#[test]
fn a_reading_that_makes_a_scenario_invalid_is_a_cell_with_its_reason() {
    let bad = || ("protocols.xcp.params.no_such_key".to_owned(), toml::Value::Integer(1));
    let matrix = matrix_of(|reading| reading.set.extend([bad()]));
    let cell = &matrix.rows[0].cells[1];
    assert_eq!((cell.effect, cell.measured), (Effect::NotMeasured, None));
    assert!(cell.reason.contains("no_such_key"), "{cell:?}");
}
