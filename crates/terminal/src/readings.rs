//! The matrix of readings.

use millpond_papers::{Effect, Paper, ReadingCell, RecipeReadings, RowReadings};
use millpond_tables::{Cell, Document, table};
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
    let (head, only_in_csv) = row_head(readings);
    let head: Vec<&str> = ["recipe"].into_iter().chain(head.iter().map(String::as_str)).collect();
    let mut rows = table(&head).only_in_csv(&only_in_csv.iter().map(String::as_str).collect::<Vec<_>>());
    let number =
        |one: &ReadingCell| Cell::text(cell(one), one.measured.map_or_else(String::new, four_digits));
    for (recipe, row) in recipes.iter().flat_map(|one| one.rows.iter().map(move |row| (&one.recipe, row))) {
        rows.add_row(std::iter::once(recipe.clone().into()).chain(row_cells(row, number)));
    }
    Document::default().table(rows)
}

/// The headings of a row, with two columns for each of these readings; and those of them that only CSV has.
fn row_head(readings: &[String]) -> (Vec<String>, Vec<String>) {
    let names = ["quantity", "case", "accepted", UNIT].map(str::to_owned);
    let verdict = |reading: &String| format!("{reading}: verdict");
    let pairs = readings.iter().flat_map(|reading| [reading.clone(), verdict(reading)]);
    let only_in_csv = std::iter::once(UNIT.to_owned()).chain(readings.iter().map(verdict));
    (names.into_iter().chain(pairs).collect(), only_in_csv.collect())
}

/// The heading of the unit of accepted and measured values.
const UNIT: &str = "unit";

/// The names of a row, what is accepted, its unit, and `number` and verdict of each reading.
fn row_cells(row: &RowReadings, number: impl Fn(&ReadingCell) -> Cell) -> impl Iterator<Item = Cell> {
    // An order has no unit.
    let unit = if row.accepted.starts_with(['<', '>']) { "" } else { row.unit.as_str() };
    let accepted = Cell::text(format!("{} {unit}", row.accepted).trim_end(), &row.accepted);
    let names = [row.what.clone().into(), row.case.clone().into(), accepted, row.unit.clone().into()];
    names.into_iter().chain(row.cells.iter().flat_map(move |one| [number(one), verdict(one.effect).into()]))
}

/// Every row of one recipe under every reading: the value, and whether it is accepted. CSV has both in columns of their own.
pub fn rows_under_readings(recipe: &RecipeReadings) -> Document {
    let (head, only_in_csv) = row_head(&recipe.readings);
    let [head, only_in_csv] =
        [&head, &only_in_csv].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
    let mut rows = table(&head).only_in_csv(&only_in_csv);
    let number = |one: &ReadingCell| match one.measured {
        Some(value) => Cell::shown(value, cell(one)),
        None => Cell::text(cell(one), ""),
    };
    for row in &recipe.rows {
        rows.add_row(row_cells(row, number));
    }
    let legend = format!("=: exactly the value under the reading \"{}\"\n", recipe.own);
    Document::default().text(recipe.recipe.clone() + "\n").table(rows).text(legend)
}

fn cell(cell: &ReadingCell) -> String {
    match (cell.effect, cell.measured) {
        (Effect::None, _) | (_, None) => verdict(cell.effect).to_owned(),
        (effect, Some(value)) => format!("{} {}", four_digits(value), verdict(effect)),
    }
}

fn verdict(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "=",
        Effect::Accepted => "accepted",
        Effect::NotAccepted => "not accepted",
        Effect::NotMeasured => "not measured",
    }
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
        let head = "recipe,quantity,case,accepted,unit,a,a: verdict,b,b: verdict,c,c: verdict";
        assert_eq!(lines[0], head);
        assert_eq!(lines[1], "p/r,x,c,1 to 2,s,1.000,accepted,3.000,not accepted,1.000,=");
        assert_eq!((lines.len(), lines[3].split(',').next()), (5, Some("p/s")));
    }

    #[test]
    fn an_order_has_no_unit() {
        let mut recipe = recipe();
        recipe.rows[0].accepted = "< a by a factor of 2".into();
        assert!(rows_under_readings(&recipe).markdown().contains("| < a by a factor of 2 |"));
        assert!(rows_under_readings(&recipe).csv().contains("x,c,< a by a factor of 2,s,1,accepted"));
    }

    #[test]
    fn rows_have_their_value_under_each_reading() {
        let text = rows_under_readings(&recipe()).markdown();
        let row = "| x        | c    | 1 to 2 s | 1.000 accepted | 3.000 not accepted | = |";
        assert!(text.contains(row), "{text}");
    }
}
