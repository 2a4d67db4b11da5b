//! The page about evaluations: for each protocol and suite the criteria with their verdicts, and the evidence of each.

use maud::{Markup, html};
use millpond_evaluation::{Evaluation, Evidence, EvidenceVerdict, JudgedCriterion, JudgedSuite};
use millpond_report::document::{origin, page_of};
use millpond_results::RunOrigin;

/// The page about evaluations.
pub fn evaluation(evaluations: &[Evaluation], made: &RunOrigin) -> String {
    let names: Vec<&str> = evaluations.iter().map(|one| one.name.as_str()).collect();
    let lead = html! {
        ul.facts {
            @for one in evaluations {
                li { strong { (one.title) } " (" (one.name) "): " (one.specification) }
                @if !one.overrides.is_empty() { li { "With " code { (one.overrides.join(" ")) } } }
            }
            (origin(made))
        }
        p.guide {
            "A row is met if the 95 % confidence interval of its mean over the seeds is within the bound, not met if it \
             is outside, and undecided if it contains the bound. A criterion has the worst verdict of its rows."
        }
    };
    let main = html! {
        @for one in evaluations { @for suite in &one.suites { (section(one, suite)) } }
    };
    page_of(&format!("Evaluation of {}", names.join(", ")), &lead, &main)
}

fn section(evaluation: &Evaluation, suite: &JudgedSuite) -> Markup {
    let id = |section: &str| format!("{}-{}-{section}", evaluation.name, suite.suite);
    html! {
        section id=(format!("{}-{}", evaluation.name, suite.suite)) {
            h2 { (evaluation.name) ": " (suite.title) }
            p { (suite.source) ". " (suite.about) }
            p { strong { (suite.sentence()) } }
            (contents(suite, &id))
        }
        @for criterion in &suite.criteria { (evidence(suite, criterion, &id(&criterion.section))) }
    }
}

/// The criteria with their verdicts.
fn contents(suite: &JudgedSuite, id: &dyn Fn(&str) -> String) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label={ "Criteria of " (suite.suite) } {
            table.evidence {
                thead { tr { @for title in ["Criterion", "Verdict", "Rows met", "It asks"] { th scope="col" { (title) } } } }
                tbody {
                    @for one in &suite.criteria {
                        tr {
                            th scope="row" { a href={ "#" (id(&one.section)) } { (one.section) " " (one.title) } }
                            td data-label="Verdict" { (verdict(one.verdict)) }
                            td data-label="Rows met" {
                                @if !one.evidence.is_empty() {
                                    (one.count(EvidenceVerdict::Met)) " of " (one.evidence.len())
                                }
                            }
                            td data-label="It asks" { (one.asks) }
                        }
                    }
                }
            }
        }
    }
}

/// A criterion with the rows that are its evidence.
fn evidence(suite: &JudgedSuite, criterion: &JudgedCriterion, id: &str) -> Markup {
    html! {
        section.criterion id=(id) {
            h3 { (criterion.section) " " (criterion.title) span.summary { (criterion.verdict.name()) } }
            p { (criterion.asks) }
            @if !criterion.not_judged.is_empty() { p { "Not judged: " (criterion.not_judged) } }
            @if !criterion.evidence.is_empty() {
                div.scrolls tabindex="0" role="region" aria-label={ "Evidence for " (suite.suite) " " (criterion.section) } {
                    table.evidence {
                        thead {
                            tr {
                                @for title in ["Quantity", "Measured", "Bound", "Verdict", "Source of the bound"] {
                                    th scope="col" { (title) }
                                }
                            }
                        }
                        @for scenario in criterion.evidence.chunk_by(|one, next| one.recipe == next.recipe) {
                            (rows_of(scenario))
                        }
                    }
                }
            }
        }
    }
}

/// The rows of one recipe. A source that is that of the row above is not repeated.
fn rows_of(rows: &[Evidence]) -> Markup {
    let above = std::iter::once(None).chain(rows.iter().map(|row| Some(&row.derivation)));
    html! {
        tbody {
            @if let Some(first) = rows.first() {
                tr.subject { th colspan="5" scope="rowgroup" { (first.scenario) " (" code { (first.recipe) } ")" } }
            }
            @for (row, above) in rows.iter().zip(above) {
                tr {
                    th scope="row" { (row.what) span.setting { (row.case) " · " (row.seeds) " seeds" } }
                    td data-label="Measured" { (row.value()) }
                    td data-label="Bound" { (row.bound()) }
                    td data-label="Verdict" { (verdict(row.verdict)) }
                    td data-label="Source" {
                        @if !row.fault.is_empty() { (row.fault) }
                        @else if above == Some(&row.derivation) { "as above" }
                        @else { (row.derivation) }
                    }
                }
            }
        }
    }
}

fn verdict(verdict: EvidenceVerdict) -> Markup {
    html! {
        @if matches!(verdict, EvidenceVerdict::NotMet | EvidenceVerdict::NotMeasured) {
            strong { (verdict.name()) }
        } @else {
            (verdict.name())
        }
    }
}
