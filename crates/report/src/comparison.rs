//! The page about finished runs, side by side.

use super::document::{Section, page, paragraphs};
use super::run_view::RunView;
use super::{agreement, charts, conclusion, live_agreement, parts, source, table};
use maud::{Markup, html};
use millpond_diagnosis::agreement::Agreement;
use millpond_diagnosis::agreement::live::LiveAgreement;
use millpond_results::{Comparison, EntityKind, Run, findings, labelled, quantity};
use std::collections::BTreeSet;

/// The page about `runs`, in the order of the comparison. Runs with the same label are seeds of one run. Equal runs give
/// equal bytes.
pub fn runs(runs: &[Run], title: &str) -> String {
    let found = match runs {
        [only] => findings(&only.summary),
        several => Comparison::of(several).findings,
    };
    comparison(runs, title, &[], &[], &found)
}

/// The same page with the agreement of equilibrium, fluid run and packet run for each label, that of live runs, and with these
/// sentences above the table.
pub fn comparison(
    runs: &[Run],
    title: &str,
    agreements: &[(String, Agreement)],
    live: &[LiveAgreement],
    findings: &[String],
) -> String {
    let views = RunView::all(runs);
    let sections = [
        over_time_section(&views),
        comparison_section(&views),
        parts::applications(&views),
        parts::links(&views),
        agreement::section(agreements),
        live_agreement::section(live),
        internals_section(&views),
        source_section(&views),
    ];
    page(title, &lead(&views, findings), &sections.into_iter().flatten().collect::<Vec<_>>())
}

fn over_time_section(views: &[RunView]) -> Option<Section> {
    let bottleneck = views.first().map_or("", |view| view.bottleneck.as_str());
    let has_relays =
        views.iter().any(|view| view.series(EntityKind::Relay, quantity::BACKLOG).next().is_some());
    let relays = if has_relays {
        " The dashed curve beside the queue is the backlog of all relays; the shaded part of the delay is spent in them."
    } else {
        ""
    };
    let is_configured =
        |view: &RunView| view.series(EntityKind::Link, quantity::CONFIGURED_CAPACITY).next().is_some();
    let configured = if views.iter().any(is_configured) {
        " Dashed over the capacity: the capacity with which the laws of the link are configured."
    } else {
        ""
    };
    let groups = if views.iter().any(|view| !view.groups.is_empty()) {
        " A run with several groups of flows has a curve of the delay for each of them."
    } else {
        ""
    };
    let seeds = match views.iter().map(|view| view.seeds.len()).max() {
        Some(seeds @ 2..) => {
            format!(" Curves are those of the first seed; the bands span the values of all {seeds} seeds.")
        }
        _ => String::new(),
    };
    let intro = format!(
        "The goodput of each flow over the capacity of the bottleneck ({bottleneck}, grey), the queue there, and the \
         queueing delay of packets from end to end, with the delay at the bottleneck dotted.{groups} All runs have the same axes; \
         only the rate axes differ if the rates of runs differ by a factor of more than eight. A curve is broken where \
         there is no value, such as a delay while no packet arrives; hatched times are outages: the bottleneck has no \
         capacity.{configured}{relays}{seeds}"
    );
    Section::of_figures(
        "over-time",
        "Each run over time",
        intro,
        &charts::over_time(views, charts::OverTimeStyle::REPORT),
    )
}

fn comparison_section(views: &[RunView]) -> Option<Section> {
    let charts = [
        charts::packets_and_fluid,
        charts::delays,
        charts::completions,
        charts::slowdown,
        charts::tradeoff,
        charts::fairness,
    ];
    let figures: Vec<_> = charts.into_iter().filter_map(|chart| chart(views)).collect();
    let title = if views.len() == 1 { "The whole run" } else { "Comparison" };
    Section::of_figures("comparison", title, "", &figures)
}

fn internals_section(views: &[RunView]) -> Option<Section> {
    let figures = charts::internals(views);
    (!figures.is_empty()).then(|| Section {
        id: "internals".into(),
        title: "Internal variables".into(),
        intro: format!(
            "Windows, round-trip times, and the variables of each protocol and each link. Open a run to see them.{}",
            if views.iter().any(|view| view.seeds.len() > 1) { " Curves are those of the first seed." } else { "" }
        ),
        body: html! {
            @for figure in &figures { details { summary { (figure.title) } (figure) } }
        },
    })
}

fn source_section(views: &[RunView]) -> Option<Section> {
    (!views.is_empty()).then(|| Section {
        id: "sources".into(),
        title: "How to reproduce the results".into(),
        intro: "The same command gives the same numbers on any machine.".into(),
        body: source::sources(views),
    })
}

/// What was run, how to read the page, the table of results, and the warnings.
fn lead(views: &[RunView], findings: &[String]) -> Markup {
    let Some(first) = views.first() else { return paragraphs(["There is nothing to show."]) };
    let summary = &first.run.summary;
    let seeds = views.iter().flat_map(|view| &view.seeds).map(|run| run.summary.seed);
    let seeds: Vec<String> = seeds.collect::<BTreeSet<u64>>().iter().map(u64::to_string).collect();
    let worlds: BTreeSet<&str> = views.iter().map(|view| view.run.summary.world.as_str()).collect();
    let worlds: Vec<&str> = worlds.into_iter().rev().collect();
    html! {
        p.facts {
            (summary.simulated_s) " s simulated, measured from " (summary.measured_from_s) " s on · world: "
            (worlds.join(", ")) " · seed " (seeds.join(", ")) " · Millpond " (summary.version)
        }
        @if let Some(conclusion) = conclusion::conclusion(views) { p.conclusion { (conclusion) } }
        (notes("What the table does not show", findings))
        (table::headline_table(views))
        (guide(views))
        (warnings(views))
    }
}

/// How to read the page.
fn guide(views: &[RunView]) -> Markup {
    html! {
        p.guide {
            "Good results are a high utilization, a short queueing delay, and for each flow an equal share, or one in \
             proportion to its weight. "
            @if views.iter().any(|view| view.row.slowdown.is_some()) {
                "The slowdown of a transfer is its completion time divided by the shortest one, which it has alone in the \
                 network with all its packets sent at once: 1 is the best. "
            }
            @if views.len() > 1 {
                "Each run has the same colour, dashes and marker in all charts. Bold numbers are the best of their column \
                 among runs "
                (if conclusion::is_about_transfers(views) {
                    "with at least 99 % of the transfers complete"
                } else {
                    "without starving flows and with at least half of the greatest utilization per delay"
                })
                "; equal numbers are bold as well. "
            }
            @if views.iter().any(|view| view.row.world != views[0].row.world) {
                "Runs of one law in several worlds are models of it, of which none is better: only runs of the world "
                (views[0].row.world) " are ranked. "
            }
            "The goodput of a flow is its mean over the time in which the flow ran, so that those of flows that did not all run \
             at the same time can add up to more than the capacity. "
            @if views.iter().any(|view| view.seeds.len() > 1) {
                "Numbers are means over the seeds with half the width of their 95 % confidence interval. "
            }
            span.on-screen {
                "Point at a plot over time to read the values of all plots at that time. Drag to zoom all of them; press \
                 Escape to zoom out. "
            }
            "Long curves show the least and the greatest value of each short interval."
        }
    }
}

/// Sentences in a box under a heading; nothing if there are none.
fn notes(title: &str, sentences: &[String]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            aside.warnings aria-label=(title) {
                h2 { (title) }
                ul { @for sentence in sentences { li { (sentence) } } }
            }
        }
    }
}

/// Warnings that all runs have, and then those of single ones under their labels.
fn warnings(views: &[RunView]) -> Markup {
    let of = |view: &RunView| -> BTreeSet<String> {
        view.seeds.iter().flat_map(|run| &run.summary.warnings).cloned().collect()
    };
    let sets: Vec<BTreeSet<String>> = views.iter().map(of).collect();
    let shared: BTreeSet<String> =
        sets.iter().cloned().reduce(|a, b| a.intersection(&b).cloned().collect()).unwrap_or_default();
    let own = views.iter().zip(&sets).flat_map(|(view, warnings)| {
        warnings.difference(&shared).map(|warning| labelled(&view.run.label, warning))
    });
    notes("Warnings", &shared.iter().cloned().chain(own).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::Summary;

    fn run(label: &str, warnings: &[&str]) -> Run {
        let warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        Run { label: label.into(), summary: Summary { warnings, ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn a_warning_of_all_runs_is_there_once_and_others_have_the_label_of_their_run() {
        let runs = [
            run(
                "lgcc",
                &["\"second\" never starts", "a flow starves", "lgcc runs end to end", "lgcc: no relays"],
            ),
            run("cubic", &["\"second\" never starts"]),
        ];
        let text = warnings(&RunView::all(&runs)).into_string();
        let items: Vec<&str> =
            text.split("<li>").skip(1).filter_map(|item| item.split("</li>").next()).collect();
        assert_eq!(
            items,
            [
                "&quot;second&quot; never starts",
                "lgcc: a flow starves",
                "lgcc runs end to end",
                "lgcc: no relays"
            ]
        );
    }
}
