//! The matrix of readings.

use millpond_papers::{Effect, Paper, ReadingCell, RecipeReadings, RowReadings};
use millpond_tables::{Document, table};
use millpond_units::format::four_digits;
use std::fmt::Write;

/// The legend of [`readings`].
const LEGEND: &str = "\
k/n: k of the n rows have an accepted value; (m): the reading changes m of them, all others have exactly the same value;
=: it changes none, * marks the reading under which the recipe judges its rows\n";

/// The rows of recipes of one paper that have an accepted value, and that a reading affects: a line per recipe, a
/// column per reading.
pub fn readings(paper: &Paper, recipes: &[RecipeReadings]) -> Document {
    let head: Vec<_> =
        std::iter::once("recipe").chain(paper.readings.iter().map(|reading| reading.name.as_str())).collect();
    let mut rows = table(&head);
    for one in recipes {
        let cells = (0..one.readings.len()).map(|reading| counts(one, reading));
        rows.add_row(std::iter::once(one.recipe.clone()).chain(cells));
    }
    let mut text = LEGEND.to_owned();
    for reading in &paper.readings {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n- {}: {}", reading.name, reading.about.trim());
    }
    Document::default().table(rows).text(text + "\n")
}

fn counts(recipe: &RecipeReadings, reading: usize) -> String {
    let (accepted, affected) = recipe.counts(reading);
    let all = recipe.rows.len();
    match affected {
        _ if recipe.readings.get(reading) == Some(&recipe.own) => format!("{accepted}/{all} *"),
        0 => "=".to_owned(),
        affected => format!("{accepted}/{all} ({affected})"),
    }
}

/// Every row of recipes of one paper under every reading, in one table.
pub fn all_rows_under_readings(recipes: &[RecipeReadings]) -> Document {
    let readings = recipes.first().map_or(&[][..], |one| &one.readings);
    let head = ["recipe"].into_iter().chain(ROW_HEAD).chain(readings.iter().map(String::as_str));
    let mut rows = table(&head.collect::<Vec<_>>());
    for (recipe, row) in recipes.iter().flat_map(|one| one.rows.iter().map(move |row| (&one.recipe, row))) {
        rows.add_row(std::iter::once(recipe.clone()).chain(row_cells(row)));
    }
    Document::default().table(rows)
}

/// The headings of a row before those of the readings.
const ROW_HEAD: [&str; 3] = ["quantity", "case", "accepted"];

/// The names of a row, what is accepted, and a cell for each reading.
fn row_cells(row: &RowReadings) -> impl Iterator<Item = String> + '_ {
    let names = [row.what.clone(), row.case.clone(), with_unit(&row.accepted, &row.unit)];
    names.into_iter().chain(row.cells.iter().map(cell))
}

/// Every row of one recipe under every reading: the value, and whether it is accepted.
pub fn rows_under_readings(recipe: &RecipeReadings) -> Document {
    let head = ROW_HEAD.into_iter().chain(recipe.readings.iter().map(String::as_str));
    let mut rows = table(&head.collect::<Vec<_>>());
    for row in &recipe.rows {
        rows.add_row(row_cells(row));
    }
    let legend = format!("=: exactly the value under the reading \"{}\"\n", recipe.own);
    Document::default().text(recipe.recipe.clone() + "\n").table(rows).text(legend)
}

fn cell(cell: &ReadingCell) -> String {
    let value = cell.measured.map_or_else(String::new, four_digits);
    match cell.effect {
        Effect::None => "=".to_owned(),
        Effect::Accepted => format!("{value} accepted"),
        Effect::NotAccepted => format!("{value} not accepted"),
        Effect::NotMeasured => "not measured".to_owned(),
    }
}

fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { text.to_owned() } else { format!("{text} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell_of(effect: Effect, measured: f64) -> ReadingCell {
        ReadingCell { measured: Some(measured), effect, reason: String::new() }
    }

    fn recipe() -> RecipeReadings {
        let row = |own, other| RowReadings {
            what: "x".into(),
            case: "c".into(),
            unit: "s".into(),
            accepted: "1 to 2".into(),
            cells: vec![own, other, cell_of(Effect::None, 1.0)],
        };
        RecipeReadings {
            recipe: "p/r".into(),
            own: "a".into(),
            readings: vec!["a".into(), "b".into(), "c".into()],
            rows: vec![
                row(cell_of(Effect::Accepted, 1.0), cell_of(Effect::NotAccepted, 3.0)),
                row(cell_of(Effect::Accepted, 1.5), cell_of(Effect::None, 1.5)),
            ],
        }
    }

    #[test]
    fn a_reading_without_effect_differs_from_one_that_keeps_or_loses_rows() {
        let counted: Vec<_> = (0..3).map(|reading| counts(&recipe(), reading)).collect();
        assert_eq!(counted, ["2/2 *", "1/2 (1)", "="]);
    }

    #[test]
    fn the_rows_of_several_recipes_are_one_table() {
        let other = RecipeReadings { recipe: "p/s".into(), ..recipe() };
        let csv = all_rows_under_readings(&[recipe(), other]).csv();
        let lines: Vec<_> = csv.lines().collect();
        assert_eq!(lines[0], "recipe,quantity,case,accepted,a,b,c");
        assert_eq!(lines[2], "p/r,x,c,1 to 2 s,1.500 accepted,=,=");
        assert_eq!((lines.len(), lines[3].split(',').next()), (5, Some("p/s")));
    }

    #[test]
    fn rows_have_their_value_under_each_reading() {
        let text = rows_under_readings(&recipe()).markdown();
        assert!(
            text.contains("| x        | c    | 1 to 2 s | 1.000 accepted | 3.000 not accepted | = |"),
            "{text}"
        );
    }
}
