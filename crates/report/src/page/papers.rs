//! The page of a paper's recipes: what it says, what we measure, and each run redrawn.

use super::agreement;
use super::charts;
use super::document::{Section, page};
use super::nyquist::several;
use super::subject::Subject;
use crate::chart::figure::Figure;
use crate::chart::markup::Text;
use crate::chart::theme::Look;
use millpond_papers::{Checked, Judged, Verdict};
use std::fmt::Write;

/// The page about checked recipes: a section each, with the runs that were kept for drawing.
pub fn papers(checked: &[Checked]) -> String {
    let sections: Vec<Section> = checked.iter().map(section).collect();
    let rows = checked.iter().flat_map(|one| &one.rows);
    let mut counts = [Verdict::Matches, Verdict::Differs, Verdict::Unexplained].map(|verdict| (verdict, 0));
    for row in rows {
        counts.iter_mut().filter(|(verdict, _)| *verdict == row.verdict).for_each(|(_, count)| *count += 1);
    }
    let counts = counts.map(|(verdict, count)| format!("{count} {}", verdict.name())).join(" · ");
    let lead = format!(
        r#"<p class="facts">{counts}</p><p class="guide">A row matches if what we measure lies in the bounds that its reason gives; it differs if theory says why the paper's number cannot come out.</p>"#
    );
    page("What papers say, and what comes out", &(lead + &contents(checked)), &sections)
}

/// Each recipe with the worst of its verdicts, and of how many rows that is; nothing if there is one recipe.
fn contents(checked: &[Checked]) -> String {
    let line = |one: &Checked| {
        let worst = one.verdict(None).map_or("", Verdict::name);
        let (worse, all) =
            (one.rows.iter().filter(|row| row.verdict.name() == worst).count(), one.rows.len());
        let share = if worse == all { String::new() } else { format!(" {worse}/{all}") };
        let (recipe, title) = (Text(&one.recipe), Text(&one.title));
        format!(r##"<li><a href="#{recipe}">{recipe}</a> {title}: {worst}{share}</li>"##)
    };
    if let [_] = checked {
        return String::new();
    }
    format!(r#"<ul class="contents">{}</ul>"#, checked.iter().map(line).collect::<String>())
}

fn section(checked: &Checked) -> Section {
    let drawn: Vec<_> = checked.runs.iter().filter(|run| !run.summary.links.is_empty()).cloned().collect();
    let own = |mut figure: Figure| {
        figure.id = format!("{}-{}", checked.recipe, figure.id);
        figure.html()
    };
    let loci = (!checked.loci.is_empty()).then(|| several(&checked.loci));
    let iterated = checked.runs.iter().filter(|run| run.summary.links.is_empty()).enumerate();
    let iterated = iterated.filter_map(|(place, run)| charts::recurrence(run, Look(place)));
    let agreements: String =
        checked.agreements.iter().map(|(case, agreement)| agreement::one(case, agreement)).collect();
    let over_time = charts::over_time(&Subject::all(&drawn));
    let figures: String = over_time.into_iter().chain(loci).chain(iterated).map(own).collect();
    Section {
        id: checked.recipe.clone(),
        title: format!("{} · {}: {}", checked.recipe, checked.place, checked.title),
        intro: checked.claim.clone(),
        body: table(&checked.rows) + &reasons(&checked.rows) + &agreements + &figures,
    }
}

fn table(rows: &[Judged]) -> String {
    let head = ["What", "Case", "Reading", "Paper", "Measured", "Verdict", "Accepted"];
    let head: String = head.iter().map(|title| format!(r#"<th scope="col">{title}</th>"#)).collect();
    let cell = |text: &str| format!("<td>{}</td>", Text(text));
    let line = |row: &Judged| {
        let cells = [&row.case, &row.reading, &row.says(), &row.measures()].map(|text| cell(text)).concat();
        let verdict = match row.verdict {
            Verdict::Matches => row.verdict.name().to_owned(),
            verdict => format!("<strong>{}</strong>", verdict.name()),
        };
        let (what, accepted) = (Text(&row.what), cell(&row.accept));
        format!(r#"<tr><th scope="row">{what}</th>{cells}<td>{verdict}</td>{accepted}</tr>"#)
    };
    let body: String = rows.iter().map(line).collect();
    format!(
        r#"<div class="scrolls" tabindex="0" role="region" aria-label="Verdicts"><table class="headline verdicts"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"#
    )
}

/// Why rows do not match, each reason once.
fn reasons(rows: &[Judged]) -> String {
    let mut items = String::new();
    let mut said: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::Matches) {
        if !said.contains(&row.reason.as_str()) {
            said.push(&row.reason);
            // Writing to a String cannot fail.
            let _ = write!(
                items,
                "<li><strong>{}</strong> ({}, {}) {}</li>",
                Text(&row.what),
                Text(&row.case),
                Text(&row.reading),
                Text(&row.reason)
            );
        }
    }
    if items.is_empty() { items } else { format!("<ul>{items}</ul>") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_papers::{Library, Settings, check};
    use millpond_results::Unwatched;

    #[test]
    fn the_page_says_what_the_paper_says_and_why_it_differs() {
        let library = Library::builtin().unwrap();
        let chosen = library.choose(Some("lgcc/section3")).unwrap();
        let checked = check(&chosen, &Settings { draw: true, ..Settings::quick() }, &Unwatched).unwrap();
        let html = papers(&checked);
        for said in [
            "lgcc/section3 · section III: How fast",
            "197.02 packets",
            "differs",
            "Eq. (14) with the printed gamma",
        ] {
            assert!(html.contains(said), "{said}");
        }
        assert!(html.contains("window of each flow, lgcc/section3, ABC"), "a recurrence is drawn, too");
    }

    #[test]
    fn trajectories_are_drawn_as_a_phase_portrait() {
        let library = Library::builtin().unwrap();
        let chosen = library.choose(Some("acp/fig20")).unwrap();
        let checked = check(&chosen, &Settings { draw: true, ..Settings::quick() }, &Unwatched).unwrap();
        let html = papers(&checked);
        assert!(html.contains("Phase portrait: queue over excess rate"));
        assert!(html.contains("data-name=\"0.6 s: 100, 0\""));
    }

    #[test]
    fn nyquist_plots_of_a_recipe_share_one_figure() {
        let library = Library::builtin().unwrap();
        let chosen = library.choose(Some("paganini/fig7")).unwrap();
        let settings = Settings { draw: true, ..Settings::quick() };
        let checked = check(&chosen, &settings, &Unwatched).unwrap();
        assert_eq!(checked[0].verdict(None), Some(Verdict::Matches), "{:#?}", checked[0].rows);
        let html = papers(&checked);
        assert_eq!(html.matches(r#"aria-label="Nyquist loci""#).count(), 1);
        for (case, _) in &checked[0].loci {
            assert!(html.contains(&format!(r#"data-name="{case}""#)), "{case}");
        }
        assert!(checked[0].loci.len() == chosen[0].recipe.cases.len());
    }

    #[test]
    fn what_rest_fluid_and_packets_say_of_a_case_is_a_table() {
        let mut library = Library::builtin().unwrap();
        let worlds = library.papers.iter_mut().find(|paper| paper.name == "worlds").unwrap();
        worlds.recipes.retain(|recipe| recipe.name == "worlds/max-min");
        worlds.recipes[0].expect.retain(|row| row.case.as_deref() == Some("cltcp"));
        let chosen = library.choose(Some("worlds")).unwrap();
        let checked = check(&chosen, &Settings { draw: true, ..Settings::quick() }, &Unwatched).unwrap();
        assert_eq!(checked[0].verdict(None), Some(Verdict::Matches), "{:#?}", checked[0].rows);
        let html = papers(&checked);
        for said in ["cltcp: rest, fluid, packets", "two: goodput Mbps", "the equations of cltcp leave out"] {
            assert!(html.contains(said), "{said}");
        }
    }

    #[test]
    fn several_recipes_are_listed_with_their_worst_verdicts() {
        let library = Library::builtin().unwrap();
        let chosen = library.choose(Some("lgcc/section3")).unwrap();
        let checked = check(&chosen, &Settings::quick(), &Unwatched).unwrap();
        assert!(!papers(&checked).contains("class=\"contents\""));
        let listed = papers(&[checked[0].clone(), checked[0].clone()]);
        let rows = checked[0].rows.len();
        assert!(listed.contains("href=\"#lgcc/section3\"") && listed.contains(&format!("differs 3/{rows}")));
    }
}
