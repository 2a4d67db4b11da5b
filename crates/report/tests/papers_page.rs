//! The page about checked recipes: texts, tables and figures.

#![allow(clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_papers::{CheckOptions, CheckedPapers, CheckedRecipe, Library, RowVerdict, check};
use millpond_results::{RunOrigin, Unwatched};

fn checked(recipe: &str) -> CheckedPapers {
    let library = Library::builtin().unwrap();
    let selected = library.select(Some(recipe)).unwrap();
    let options = CheckOptions { draw: true, ..CheckOptions::quick() };
    CheckedPapers::new(check(&selected, &options, &Unwatched).unwrap())
}

fn papers(checked: &CheckedPapers) -> String {
    let made = RunOrigin { command: "millpond papers check lgcc".into(), version: "1.2".into() };
    millpond_report::papers(checked, &made)
}

#[test]
fn the_page_shows_the_papers_value_and_the_reason_of_a_difference() {
    let html = papers(&checked("lgcc/fig10"));
    for text in [
        "lgcc/fig10 · ",
        " claims hold",
        "does not hold",
        "paper-band",
        "differs",
        "Millpond 1.2: <code>millpond papers check lgcc</code>",
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
fn texts_of_a_recipe_have_no_variables_and_axes_name_what_a_recurrence_counts() {
    let pages =
        [("lgcc/fig4", "step"), ("lgcc/theorem81", "time, s"), ("mcp/fig11", "peak"), ("mcp/eq12", "cycle")];
    for (recipe, axis) in pages {
        let html = papers(&checked(recipe));
        assert!(html.contains(&format!(">{axis}</text>")), "{recipe}");
        for variable in ["{to}", "{from}", "{flow}", "{value}", "step, or time"] {
            assert!(!html.contains(variable), "{recipe}: {variable}");
        }
    }
}

#[test]
fn nyquist_plots_of_a_recipe_share_one_figure() {
    let checked = checked("paganini/fig7");
    let recipe = &checked.recipes[0];
    assert_eq!(recipe.verdict(None), Some(RowVerdict::Matches), "{:#?}", recipe.rows);
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
    assert_eq!(checked[0].verdict(None), Some(RowVerdict::Matches), "{:#?}", checked[0].rows);
    let html = papers(&CheckedPapers::new(checked));
    for text in ["cltcp: equilibrium, fluid, packets", "two: goodput", "the equations of cltcp leave out"] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn several_recipes_are_listed_under_their_paper_with_the_claims_that_hold() {
    let checked = checked("lgcc/fig10");
    assert!(!papers(&checked).contains("class=\"contents\""));
    let recipe = &checked.recipes[0];
    let listed = papers(&CheckedPapers::new(vec![recipe.clone(), recipe.clone()]));
    let hold = |recipe: &CheckedRecipe| {
        recipe.claims.iter().filter(|claim| claim.verdict == RowVerdict::Matches).count()
    };
    let (held, all) = (hold(recipe), recipe.claims.len());
    assert!(0 < held && held < all, "{:#?}", recipe.claims);
    let of_paper = format!("{} of {} claims hold", 2 * held, 2 * all);
    for text in ["href=\"#lgcc/fig10\"", &format!("{held} of {all} claims hold"), &of_paper] {
        assert!(listed.contains(text), "{text}");
    }
}

#[test]
fn rows_stand_below_the_claims_that_they_check_and_have_the_classes_of_the_filter() {
    let checked = checked("lgcc/fig10");
    let recipe = &checked.recipes[0];
    let html = papers(&checked);
    for (verdict, class) in [(RowVerdict::Matches, "matches"), (RowVerdict::Differs, "differs")] {
        let count = recipe.rows.iter().filter(|row| row.verdict == verdict).count();
        assert_eq!(html.matches(&format!("<tr class=\"{class}\">")).count(), count, "{class}");
    }
    let table = html
        .split("<table class=\"verdicts\"")
        .nth(1)
        .and_then(|rest| rest.split("</table>").next())
        .unwrap();
    assert_eq!(table.matches("<tr ").count(), table.matches("class=\"subject\"").count() + recipe.rows.len());
    assert!(html.contains("<section class=\"recipe has-matches has-differs\""), "the classes of the filter");
}

#[test]
fn the_bottleneck_of_each_run_is_named() {
    let html = papers(&checked("acp/window"));
    assert!(html.contains("Bottleneck, the link with the greatest utilization: <strong>"), "{html}");
    assert!(html.contains("bottleneck: L -"), "the title of the run");
}
