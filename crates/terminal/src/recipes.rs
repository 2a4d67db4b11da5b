//! Recipes and verdicts.

use millpond_papers::{CheckedRecipe, Headline, RowVerdict, SelectedRecipe};
use millpond_tables::{Cell, Document, text_table};
use std::fmt::Write;

/// The recipes with their titles.
pub fn recipe_list(selected: &[SelectedRecipe<'_>]) -> Document {
    let mut rows = text_table(&["recipe", "place", "title"]);
    for SelectedRecipe { recipe, .. } in selected {
        rows.add_row([recipe.name.as_str(), recipe.place.as_str(), recipe.title.as_str()]);
    }
    Document::default().table(rows)
}

/// The rows of a recipe, and below them the reasons of those that do not match. In CSV a value, its unit, its source and the value
/// that an order refers to are columns of their own.
pub fn verdicts(checked: &CheckedRecipe) -> Document {
    let has_others = checked.rows.iter().any(|row| row.other_value().is_some());
    let mut headings = vec!["quantity", "case", "reading", "paper"];
    headings.extend(has_others.then_some("ns-2 or own"));
    headings.extend(["source", "compared", "measured", "unit", "verdict"]);
    let mut rows = text_table(&headings).only_in_csv(&["source", "compared", "unit"]);
    for row in &checked.rows {
        let names = [row.what.as_str(), &row.case, &row.reading].map(Cell::from);
        let paper = Cell::text(row.paper_value(), row.paper_alone());
        let other = row.other_value().map(|shown| Cell::text(shown, row.other_alone().unwrap_or_default()));
        let other = has_others.then(|| other.unwrap_or_else(Cell::absent));
        let shown = |value| Cell::shown(value, row.measured_value());
        rows.add_row(names.into_iter().chain([paper]).chain(other).chain([
            row.source.name().into(),
            row.compared.map_or_else(Cell::absent, Cell::number),
            row.measured.map_or_else(Cell::absent, shown),
            row.unit.as_str().into(),
            row.verdict.name().into(),
        ]));
    }
    let title = format!("{}: {} ({})\n", checked.recipe, checked.title, checked.place);
    Document::default().text(title).table(rows).text(reasons(checked) + "\n")
}

/// How many claims hold, and the reasons of claims and rows that do not match.
fn reasons(checked: &CheckedRecipe) -> String {
    let mut text = String::new();
    if !checked.claims.is_empty() {
        let hold = checked.claims.iter().filter(|claim| claim.verdict == RowVerdict::Matches).count();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{hold} of {} claims hold", checked.claims.len());
    }
    let claims = checked.claims.iter().filter(|claim| claim.verdict != RowVerdict::Matches);
    let claims = claims.map(|claim| format!("claim {}: {}", claim.verdict.name(), claim.description()));
    let rows = checked.rows.iter().filter(|row| row.verdict != RowVerdict::Matches);
    let rows = rows.map(|row| {
        format!("{} ({}, {}) {}: {}", row.what, row.case, row.reading, row.verdict.name(), row.reason)
    });
    let text = claims.chain(rows).fold(text, |text, line| format!("{text}\n- {line}"));
    text.trim_end().to_owned() + "\n"
}

/// The numbers of claims that hold: those of the papers, then those of other rows, a line for each.
pub fn headline(headline: &Headline) -> Document {
    let papers = (!headline.papers.is_empty()).then(|| headline.sentence());
    let lines = papers.into_iter().chain(headline.apart()).map(|line| line + "\n");
    Document::default().text(lines.collect::<String>())
}
