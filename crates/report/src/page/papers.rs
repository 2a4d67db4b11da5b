//! The page about recipes: the paper's values, the measured values, and charts of each run.

use super::agreement;
use super::charts;
use super::document::{Section, page};
use super::nyquist::several;
use super::run_view::RunView;
use maud::{Markup, html};
use millpond_chart::{Figure, SeriesStyle};
use millpond_papers::{CheckedPapers, CheckedRecipe, JudgedClaim, JudgedRow, Verdict};

/// The page about checked recipes: a section for each, with the runs that were kept for drawing.
pub fn papers(checked: &CheckedPapers) -> String {
    let CheckedPapers { headline, recipes } = checked;
    let sections: Vec<Section> = recipes.iter().map(section).collect();
    let lead = html! {
        @if !headline.papers.is_empty() { p.facts { (headline.sentence()) } }
        @for line in headline.apart() { p.facts { (line) } }
        p.guide {
            "A row matches if the measured value is within the accepted bounds. It differs if theory explains why the \
             paper's value cannot be reproduced, and the value is within the bounds of theory. A claim holds if all \
             its rows match."
        }
        @if recipes.len() != 1 { (contents(recipes)) }
    };
    page("Papers' results, reproduced", &lead, &sections)
}

/// Each recipe with the worst of its verdicts, and the share of its rows that have it.
fn contents(checked: &[CheckedRecipe]) -> Markup {
    html! {
        ul.contents {
            @for recipe in checked {
                @let worst = recipe.verdict(None);
                @let count = recipe.rows.iter().filter(|row| Some(row.verdict) == worst).count();
                li {
                    a href={ "#" (recipe.recipe) } { (recipe.recipe) }
                    " " (recipe.title) ": " (worst.map_or("", Verdict::name))
                    @if count < recipe.rows.len() { " " (count) "/" (recipe.rows.len()) }
                }
            }
        }
    }
}

fn section(checked: &CheckedRecipe) -> Section {
    Section {
        id: checked.recipe.clone(),
        title: format!("{} · {}: {}", checked.recipe, checked.place, checked.title),
        intro: checked.claim.clone(),
        body: html! {
            (claims(&checked.claims))
            (table(&checked.rows))
            (reasons(&checked.rows))
            @for (case, agreement) in &checked.agreements { (agreement::table(case, agreement)) }
            @for figure in figures(checked) { (figure) }
        },
    }
}

/// Runs over time, Nyquist loci, and difference equations; their ids begin with the recipe's name.
fn figures(checked: &CheckedRecipe) -> Vec<Figure> {
    let (iterated, simulated): (Vec<_>, Vec<_>) =
        checked.runs.iter().cloned().partition(|run| run.summary.links.is_empty());
    let over_time = charts::over_time(&RunView::all(&simulated));
    let loci = (!checked.loci.is_empty()).then(|| several(&checked.loci));
    let recurrences =
        iterated.iter().enumerate().filter_map(|(index, run)| charts::recurrence(run, SeriesStyle(index)));
    let mut figures: Vec<Figure> = over_time.into_iter().chain(loci).chain(recurrences).collect();
    figures.iter_mut().for_each(|figure| figure.id = format!("{}-{}", checked.recipe, figure.id));
    figures
}

/// The claims of a recipe that do not hold.
fn claims(claims: &[JudgedClaim]) -> Markup {
    let failed: Vec<_> = claims.iter().filter(|claim| claim.verdict != Verdict::Matches).collect();
    html! {
        @if !claims.is_empty() {
            p { (claims.len() - failed.len()) " of " (claims.len()) " claims hold." }
        }
        @if !failed.is_empty() {
            ul { @for claim in failed { li { strong { (claim.verdict.name()) } ": " (claim.description()) } } }
        }
    }
}

const HEAD: [&str; 9] =
    ["Quantity", "Case", "Reading", "Paper", "ns-2 or own", "Measured", "Verdict", "Accepted", "Theory"];

fn table(rows: &[JudgedRow]) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Verdicts" {
            table.headline.verdicts {
                thead {
                    tr {
                        @for title in HEAD { th scope="col" { (title) } }
                    }
                }
                tbody { @for row in rows { (table_row(row)) } }
            }
        }
    }
}

fn table_row(row: &JudgedRow) -> Markup {
    html! {
        tr {
            th scope="row" { (row.what) }
            td { (row.case) }
            td { (row.reading) }
            td { (row.paper_value()) }
            td { (row.other_value().unwrap_or_default()) }
            td { (row.measured_value()) }
            td {
                @if row.verdict == Verdict::Matches {
                    (row.verdict.name())
                } @else {
                    strong { (row.verdict.name()) }
                }
            }
            td { (row.accept.as_deref().unwrap_or_default()) }
            td { (row.theory.as_deref().unwrap_or_default()) }
        }
    }
}

/// Why rows do not match, each reason once.
fn reasons(rows: &[JudgedRow]) -> Markup {
    let mut shown: Vec<&JudgedRow> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::Matches) {
        if !shown.iter().any(|other| other.reason == row.reason) {
            shown.push(row);
        }
    }
    html! {
        @if !shown.is_empty() {
            ul {
                @for row in shown {
                    li { strong { (row.what) } " (" (row.case) ", " (row.reading) ") " (row.reason) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_papers::{CheckOptions, Library, check};
    use millpond_results::Unwatched;

    fn checked(recipe: &str) -> CheckedPapers {
        let library = Library::builtin().unwrap();
        let selected = library.select(Some(recipe)).unwrap();
        let options = CheckOptions { draw: true, ..CheckOptions::quick() };
        CheckedPapers::new(check(&selected, &options, &Unwatched).unwrap())
    }

    #[test]
    fn the_page_shows_the_papers_value_and_the_reason_of_a_difference() {
        let html = papers(&checked("lgcc/fig10"));
        for text in [
            "lgcc/fig10 · ",
            "claims hold.",
            "differs",
            "8 steps compared with 7",
            "LGCC, primal-dual / log, primal-dual",
        ] {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn trajectories_are_drawn_as_a_phase_portrait() {
        let html = papers(&checked("acp/fig20"));
        assert!(html.contains("Phase portrait: queue over excess rate"));
        assert!(html.contains("data-name=\"0.6 s: 100, 0\""));
    }

    #[test]
    fn nyquist_plots_of_a_recipe_share_one_figure() {
        let checked = checked("paganini/fig7");
        let recipe = &checked.recipes[0];
        assert_eq!(recipe.verdict(None), Some(Verdict::Matches), "{:#?}", recipe.rows);
        let html = papers(&checked);
        assert_eq!(html.matches(r#"aria-label="Nyquist loci""#).count(), 1);
        for (case, _) in &recipe.loci {
            assert!(html.contains(&format!(r#"data-name="{case}""#)), "{case}");
        }
        let library = Library::builtin().unwrap();
        let selected = library.select(Some("paganini/fig7")).unwrap();
        assert!(recipe.loci.len() == selected[0].recipe.cases.len());
    }

    #[test]
    fn equilibrium_fluid_run_and_packet_run_of_a_case_are_a_table() {
        let mut library = Library::builtin().unwrap();
        let worlds = library.papers.iter_mut().find(|paper| paper.name == "worlds").unwrap();
        worlds.recipes.retain(|recipe| recipe.name == "worlds/max-min");
        worlds.recipes[0].expect.retain(|row| row.get_ref().case.as_deref() == Some("cltcp"));
        let selected = library.select(Some("worlds")).unwrap();
        let checked =
            check(&selected, &CheckOptions { draw: true, ..CheckOptions::quick() }, &Unwatched).unwrap();
        assert_eq!(checked[0].verdict(None), Some(Verdict::Matches), "{:#?}", checked[0].rows);
        let html = papers(&CheckedPapers::new(checked));
        for text in ["cltcp: equilibrium, fluid, packets", "two: goodput", "the equations of cltcp leave out"]
        {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn several_recipes_are_listed_with_their_worst_verdicts() {
        let checked = checked("lgcc/fig10");
        assert!(!papers(&checked).contains("class=\"contents\""));
        let recipe = &checked.recipes[0];
        let listed = papers(&CheckedPapers::new(vec![recipe.clone(), recipe.clone()]));
        let (rows, differ) =
            (recipe.rows.len(), recipe.rows.iter().filter(|row| row.verdict == Verdict::Differs));
        let counted = format!("differs {}/{rows}", differ.count());
        assert!(listed.contains("href=\"#lgcc/fig10\"") && listed.contains(&counted));
    }
}
