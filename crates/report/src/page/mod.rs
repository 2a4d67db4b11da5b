//! The report: one HTML file that shows runs side by side and needs nothing but a browser.
//!
//! A chart is a file in `charts/`: it takes the runs as `Subject`s and gives a `Figure` of `Plot`s. Everything is
//! drawn as SVG here, on a grid of whole numbers, so equal runs give equal bytes; colours, dark mode and print belong
//! to `page.css`; pointing, zooming and copying belong to `page.js`. A charting script was weighed and left out: it
//! would add 4.6 MB to every report, draw nothing before it has run, and know neither paper nor the reader's theme.

mod agreement;
mod bundle;
mod charts;
mod document;
mod nyquist;
mod papers;
mod source;
mod stability;
mod subject;
mod table;
mod units;

pub use papers::papers;
pub use stability::{Page, explanation, stability};

use std::collections::BTreeSet;

use crate::chart::markup::Text;
use document::{Section, page};
use millpond_results::{Kind, Run, quantity};
use millpond_theory::agreement::Agreement;
use subject::Subject;

/// The report on `runs`, in the order in which they are to be compared. Equal runs give equal bytes.
pub fn html(runs: &[Run], title: &str) -> String {
    html_of_worlds(runs, title, &[])
}

/// The same with how far rest, fluid and packets agree, for each label.
pub fn html_of_worlds(runs: &[Run], title: &str, agreements: &[(String, Agreement)]) -> String {
    let subjects = Subject::all(runs);
    let mut sections = sections(&subjects);
    let at = sections.iter().position(|section| section.id == "compared").map_or(0, |compared| compared + 1);
    sections.splice(at..at, agreement::section(agreements));
    page(title, &lead(&subjects), &sections)
}

fn sections(subjects: &[Subject]) -> Vec<Section> {
    let compared = [charts::worlds, charts::delays, charts::tradeoff, charts::fairness];
    let compared: Vec<_> = compared.into_iter().filter_map(|chart| chart(subjects)).collect();
    let alone = subjects.len() == 1;
    let sources = (!subjects.is_empty()).then(|| Section {
        id: "sources".into(),
        title: "How to get this again".into(),
        intro: "The same command gives the same numbers, on any machine.".into(),
        body: source::sources(subjects),
    });
    [
        Section::of_figures(
            "over-time",
            "Run by run",
            over_time_intro(subjects),
            &charts::over_time(subjects),
        ),
        Section::of_figures("compared", if alone { "As a whole" } else { "Side by side" }, "", &compared),
        internals_section(subjects),
        sources,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn over_time_intro(subjects: &[Subject]) -> String {
    let place = subjects.first().map_or("", |subject| subject.bottleneck.as_str());
    let relayed =
        subjects.iter().any(|subject| subject.series(Kind::Relay, quantity::BACKLOG).next().is_some());
    let relays =
        if relayed { " The dashed line in the plot of the queue is what relays hold back." } else { "" };
    format!(
        "What each flow received, over the capacity of the bottleneck ({place}) in grey, and what waited there. \
         All runs are on the same axes, but for rates \
         too far apart to be read on one.{relays}"
    )
}

fn internals_section(subjects: &[Subject]) -> Option<Section> {
    let figures = charts::internals(subjects);
    let fold = |figure: &crate::chart::figure::Figure| {
        format!("<details><summary>{}</summary>{}</details>", figure.title, figure.html())
    };
    (!figures.is_empty()).then(|| Section {
        id: "inside".into(),
        title: "Inside the laws".into(),
        intro:
            "Windows, round-trip times and what each protocol computes for itself. Open a run to see them."
                .into(),
        body: figures.iter().map(fold).collect(),
    })
}

/// What was run, how to read the page, the numbers, and the warnings.
fn lead(subjects: &[Subject]) -> String {
    let Some(first) = subjects.first() else { return "<p>There is nothing to show.</p>".into() };
    let summary = &first.run.summary;
    let seeds: BTreeSet<u64> = subjects.iter().map(|subject| subject.run.summary.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let worlds: BTreeSet<&str> = subjects.iter().map(|subject| subject.run.summary.world.as_str()).collect();
    let worlds: Vec<&str> = worlds.into_iter().rev().collect();
    let facts = format!(
        r#"<p class="facts">{} s simulated, measured from {} s on · world: {} · seed {} · Millpond {}</p>"#,
        summary.simulated_s,
        summary.measured_from_s,
        Text(&worlds.join(", ")),
        seeds.join(", "),
        Text(&summary.version),
    );
    format!("{facts}{}{}{}", guide(subjects.len()), table::headline_table(subjects), warnings(subjects))
}

fn guide(runs: usize) -> String {
    let compared = if runs < 2 {
        ""
    } else {
        " Each run keeps its colour, dashes and mark throughout. Bold numbers are the best of their column."
    };
    format!(
        r#"<p class="guide">A protocol does well if it fills the capacity, keeps the queue short and lets flows share evenly.{compared} Point at a plot over time to read all of them at that moment; drag to zoom all of them, press Escape to zoom out. Long curves are thinned: of every slice of time the lowest and the highest value stay, so no spike is lost.</p>"#
    )
}

fn warnings(subjects: &[Subject]) -> String {
    let lines: String = subjects
        .iter()
        .flat_map(|subject| subject.run.summary.warnings.iter().map(|warning| (&subject.run.label, warning)))
        .map(|(label, warning)| format!("<li><strong>{}</strong> {}</li>", Text(label), Text(warning)))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!(r#"<aside class="warnings" aria-label="Warnings"><h2>Worth knowing</h2><ul>{lines}</ul></aside>"#)
}
