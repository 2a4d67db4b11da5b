//! Recipes and verdicts as Markdown tables, padded for the terminal.

use millpond_papers::{CheckedRecipe, Headline, JudgedRow, SelectedRecipe, Verdict};
use std::fmt::Write;

/// The recipes with their titles.
pub fn recipe_list(selected: &[SelectedRecipe<'_>]) -> String {
    let line = |one: &SelectedRecipe<'_>| {
        vec![one.recipe.name.clone(), one.recipe.place.clone(), one.recipe.title.clone()]
    };
    grid(&["recipe", "place", "title"], &selected.iter().map(line).collect::<Vec<_>>())
}

/// The rows of a recipe, and below them the reasons of those that do not match.
pub fn verdicts(checked: &CheckedRecipe) -> String {
    let has_others = checked.rows.iter().any(|row| row.other_value().is_some());
    let line = |row: &JudgedRow| {
        let mut cells = vec![row.what.clone(), row.case.clone(), row.reading.clone(), row.paper_value()];
        cells.extend(has_others.then(|| row.other_value().unwrap_or_else(|| "-".to_owned())));
        cells.extend([row.measured_value(), row.verdict.name().to_owned()]);
        cells
    };
    let rows: Vec<_> = checked.rows.iter().map(line).collect();
    let mut head = vec!["quantity", "case", "reading", "paper"];
    head.extend(has_others.then_some("ns-2 or own"));
    head.extend(["measured", "verdict"]);
    let mut text = format!("{}: {} ({})\n\n", checked.recipe, checked.title, checked.place);
    text += &grid(&head, &rows);
    if !checked.claims.is_empty() {
        let hold = checked.claims.iter().filter(|claim| claim.verdict == Verdict::Matches).count();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{hold} of {} claims hold", checked.claims.len());
    }
    let claims = checked.claims.iter().filter(|claim| claim.verdict != Verdict::Matches);
    let claims = claims.map(|claim| format!("claim {}: {}", claim.verdict.name(), claim.description()));
    let rows = checked.rows.iter().filter(|row| row.verdict != Verdict::Matches);
    let rows = rows.map(|row| {
        format!("{} ({}, {}) {}: {}", row.what, row.case, row.reading, row.verdict.name(), row.reason)
    });
    let text = claims.chain(rows).fold(text, |text, line| format!("{text}\n- {line}"));
    text.trim_end().to_owned() + "\n"
}

/// The numbers of claims that hold: those of the papers, then those of other rows, a line for each.
pub fn headline(headline: &Headline) -> String {
    let papers = (!headline.papers.is_empty()).then(|| headline.sentence());
    papers.into_iter().chain(headline.apart()).map(|line| line + "\n").collect()
}

/// A Markdown table whose columns are padded to the width of their widest cell.
pub(super) fn grid(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|title| title.len())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<_> = cells.zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rule: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let body = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    let top = [line(&mut head.iter().copied()), line(&mut rule.iter().map(String::as_str))];
    top.into_iter().chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = vec![vec!["a".to_owned(), "long".to_owned()], vec!["b".to_owned(), "x".to_owned()]];
        assert_eq!(grid(&["c", "d"], &rows), "| c | d    |\n| - | ---- |\n| a | long |\n| b | x    |\n");
    }
}
