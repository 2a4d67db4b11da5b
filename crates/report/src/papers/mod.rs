//! The page about recipes: the paper's values, the measured values, and pictures with the axes of the paper.

mod charted;
mod over_time;
mod paper_mark;
mod picture;
mod pictures;
mod rows;
mod scatter;
mod values;

use super::agreement;
use super::document::{origin, page_of};
use maud::{Markup, html};
use millpond_papers::{CheckedPapers, CheckedRecipe, JudgedClaim, RowVerdict};
use millpond_results::RunOrigin;

/// The page about checked recipes: a section for each, in the order of their papers.
pub fn papers(checked: &CheckedPapers, made: &RunOrigin) -> String {
    let CheckedPapers { headline, recipes } = checked;
    let lead = html! {
        ul.facts {
            @if !headline.papers.is_empty() { li { strong { (headline.sentence()) } } }
            @for line in headline.apart() { li { (line) } }
            (origin(made))
        }
        p.guide {
            "A row matches if the measured value is within the accepted bounds. It differs if theory explains why the \
             paper's value cannot be reproduced, and the value is within the bounds of theory. A claim holds if all \
             its rows match. In pictures, values of the paper are open: bars and diamonds with a dark edge."
        }
        (filter(recipes))
        @if recipes.len() != 1 { (contents(recipes)) }
    };
    let sections = html! { @for recipe in recipes { (section(recipe)) } };
    page_of("Papers' results, reproduced", &lead, &sections)
}

/// Which rows are shown. The style sheet reads it, so that it works without a script; paper shows all rows.
fn filter(recipes: &[CheckedRecipe]) -> Markup {
    let count = |verdict: RowVerdict| {
        recipes.iter().flat_map(|recipe| &recipe.rows).filter(|row| row.verdict == verdict).count()
    };
    let all: usize = recipes.iter().map(|recipe| recipe.rows.len()).sum();
    let choice = |id: &str, text: &str, count: usize, is_chosen: bool| {
        html! { label { input type="radio" name="shown" id=(id) checked[is_chosen]; " " (text) " (" (count) ")" } }
    };
    html! {
        fieldset.filter {
            legend { "Rows" }
            (choice("show-all", "all", all, true))
            (choice("show-differs", "differs", count(RowVerdict::Differs), false))
            @if count(RowVerdict::Unexplained) > 0 {
                (choice("show-unexplained", "unexplained", count(RowVerdict::Unexplained), false))
            }
        }
    }
}

/// Each paper with its recipes, and the claims of each that hold.
fn contents(recipes: &[CheckedRecipe]) -> Markup {
    let papers: Vec<&[CheckedRecipe]> = recipes.chunk_by(|one, next| paper(one) == paper(next)).collect();
    html! {
        nav.contents aria-label="Recipes" {
            @for recipes in papers {
                @let claims: Vec<&JudgedClaim> = recipes.iter().flat_map(|recipe| &recipe.claims).collect();
                h2 { (recipes.first().map_or("", paper)) span.summary { (holding(&claims)) } }
                ul {
                    @for recipe in recipes {
                        li class=(rows::verdict_classes(recipe.rows.iter())) {
                            a href={ "#" (recipe.recipe) } { (recipe.recipe) }
                            " " (recipe.title) span.summary { (holding(&recipe.claims.iter().collect::<Vec<_>>())) }
                        }
                    }
                }
            }
        }
    }
}

/// The name of a recipe's paper.
fn paper(recipe: &CheckedRecipe) -> &str {
    recipe.recipe.split('/').next().unwrap_or_default()
}

/// How many of the claims hold.
fn holding(claims: &[&JudgedClaim]) -> String {
    let hold = claims.iter().filter(|claim| claim.verdict == RowVerdict::Matches).count();
    match claims.len() {
        0 => "no claims".to_owned(),
        1 if hold == 1 => "its claim holds".to_owned(),
        1 => "its claim does not hold".to_owned(),
        all => format!("{hold} of {all} claims hold"),
    }
}

fn section(checked: &CheckedRecipe) -> Markup {
    let classes = format!("recipe {}", rows::verdict_classes(checked.rows.iter()));
    html! {
        section class=(classes) id=(checked.recipe) {
            h2 {
                (checked.recipe) " · " (checked.place) ": " (checked.title)
                span.summary { (holding(&checked.claims.iter().collect::<Vec<_>>())) }
            }
            p { (checked.claim) }
            (pictures::pictures(checked))
            (pictures::bottlenecks(checked))
            (rows::table(checked))
            @for (case, agreement) in &checked.agreements { (agreement::table(case, agreement)) }
        }
    }
}
