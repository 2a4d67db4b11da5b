//! Recipes and verdicts.

use super::document::Document;
use super::layout::table;
use millpond_papers::{CheckedRecipe, Headline, RowVerdict, SelectedRecipe};
use std::fmt::Write;

/// The recipes with their titles.
pub fn recipe_list(selected: &[SelectedRecipe<'_>]) -> Document {
    let mut rows = table(&["recipe", "place", "title"]);
    for SelectedRecipe { recipe, .. } in selected {
        rows.add_row([recipe.name.as_str(), recipe.place.as_str(), recipe.title.as_str()]);
    }
    Document::default().table(rows)
}

/// The rows of a recipe, and below them the reasons of those that do not match.
pub fn verdicts(checked: &CheckedRecipe) -> Document {
    let has_others = checked.rows.iter().any(|row| row.other_value().is_some());
    let mut headings = vec!["quantity", "case", "reading", "paper"];
    headings.extend(has_others.then_some("ns-2 or own"));
    headings.extend(["measured", "verdict"]);
    let mut rows = table(&headings);
    for row in &checked.rows {
        let mut cells = vec![row.what.clone(), row.case.clone(), row.reading.clone(), row.paper_value()];
        cells.extend(has_others.then(|| row.other_value().unwrap_or_else(|| "-".to_owned())));
        cells.extend([row.measured_value(), row.verdict.name().to_owned()]);
        rows.add_row(cells);
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
