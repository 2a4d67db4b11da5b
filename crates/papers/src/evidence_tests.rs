//! Claims are evidence: none of them would hold for senders that send nothing.

use crate::expect::Expectation;
use crate::measure::measure_nothing;
use crate::verdict::{JudgedRow, RowVerdict};
use crate::{Library, Recipe, SelectedRecipe};

/// The row judged as if every quantity of its run were zero.
fn judged_on_nothing(selected: SelectedRecipe<'_>, row: &Expectation) -> Option<JudgedRow> {
    let SelectedRecipe { paper, recipe } = selected;
    let named = |recipe: &Recipe, name: &str| {
        let other = recipe.rows(true).find(|other| other.name.as_deref() == Some(name));
        other.map(|other| Ok(vec![measure_nothing(other)]))
    };
    let others = row.order().and_then(|order| named(recipe, order.than.as_deref()?));
    let reading = paper.reading(row.reading.as_deref())?;
    Some(row.judge(recipe.case_of(row), reading, &Ok(vec![measure_nothing(row)]), others.as_ref()))
}

/// The claims of a recipe that would hold, all their rows matching.
fn hold_on_nothing(selected: SelectedRecipe<'_>) -> Vec<String> {
    let rows: Vec<_> =
        selected.recipe.rows(true).filter_map(|row| judged_on_nothing(selected, row)).collect();
    let claims = crate::claims::judge_claims(&rows);
    let hold = claims.into_iter().filter(|claim| claim.verdict == RowVerdict::Matches);
    hold.map(|claim| format!("{}: {}", selected.recipe.name, claim.claim)).collect()
}

#[test]
fn no_claim_of_the_shipped_recipes_holds_for_senders_that_send_nothing() {
    let library = Library::builtin().unwrap();
    let hold: Vec<_> = library.select(None).unwrap().into_iter().flat_map(hold_on_nothing).collect();
    assert!(hold.is_empty(), "{} claims are no evidence:\n{}", hold.len(), hold.join("\n"));
}
