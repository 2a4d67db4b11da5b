//! The table of a recipe's rows, below the claims that they check.

use maud::{Markup, html};
use millpond_papers::{CheckedRecipe, Claimant, JudgedRow, RowVerdict};

const HEAD: [&str; 7] = ["Quantity", "Paper", "Theory", "Accepted", "Measured", "Verdict", "Reason"];

/// All rows, those of the same claims together.
pub(super) fn table(checked: &CheckedRecipe) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label={ "Rows of " (checked.recipe) } {
            table.verdicts {
                thead { tr { @for title in HEAD { th scope="col" { (title) } } } }
                @for group in groups(&checked.rows) { (group.html(checked)) }
            }
        }
    }
}

/// What the rows of a group check.
#[derive(PartialEq)]
enum RowSubject<'a> {
    /// Claims of the paper.
    Claims(&'a [String]),
    /// A reading that we reject.
    RejectedReading(&'a str),
    /// A value measured in ns-2.
    Ns2,
    /// A value of our own.
    Own,
}

impl<'a> RowSubject<'a> {
    fn of(row: &'a JudgedRow) -> Self {
        match row.source {
            _ if row.rejected => Self::RejectedReading(&row.reading),
            Claimant::Paper => Self::Claims(&row.claims),
            Claimant::Ns2 => Self::Ns2,
            Claimant::Own => Self::Own,
        }
    }
}

/// Rows that check the same.
struct JudgedRows<'a> {
    subject: RowSubject<'a>,
    rows: Vec<&'a JudgedRow>,
}

fn groups(rows: &[JudgedRow]) -> Vec<JudgedRows<'_>> {
    let mut groups: Vec<JudgedRows<'_>> = Vec::new();
    for row in rows {
        let subject = RowSubject::of(row);
        match groups.iter_mut().find(|group| group.subject == subject) {
            Some(group) => group.rows.push(row),
            None => groups.push(JudgedRows { subject, rows: vec![row] }),
        }
    }
    groups
}

impl JudgedRows<'_> {
    fn html(&self, checked: &CheckedRecipe) -> Markup {
        html! {
            tbody class=(verdict_classes(self.rows.iter().copied())) {
                tr.subject { th colspan=(HEAD.len()) scope="rowgroup" { (self.heading(checked)) } }
                @for row in &self.rows { (table_row(row)) }
            }
        }
    }

    fn heading(&self, checked: &CheckedRecipe) -> Markup {
        let outcome = |claim: &String| {
            let judged = checked.claims.iter().find(|judged| judged.claim == *claim);
            judged.map_or("", |judged| outcome(judged.verdict))
        };
        html! {
            @match self.subject {
                RowSubject::Claims([]) => "Beside the claims",
                RowSubject::Claims(claims) => @for claim in claims {
                    span.claim { (claim) " " em { (outcome(claim)) } }
                },
                RowSubject::RejectedReading(reading) => { "Rejected reading: " (reading) },
                RowSubject::Ns2 => "Comparisons with ns-2",
                RowSubject::Own => "Own checks",
            }
        }
    }
}

/// Whether a claim with this verdict holds.
fn outcome(verdict: RowVerdict) -> &'static str {
    match verdict {
        RowVerdict::Matches => "holds",
        RowVerdict::Differs => "does not hold",
        RowVerdict::Unexplained => "unexplained",
    }
}

/// The class of a verdict, by which the filter finds rows.
pub(super) fn verdict_class(verdict: RowVerdict) -> &'static str {
    match verdict {
        RowVerdict::Matches => "matches",
        RowVerdict::Differs => "differs",
        RowVerdict::Unexplained => "unexplained",
    }
}

/// The classes of all verdicts among rows, by which the filter finds what contains them.
pub(super) fn verdict_classes<'a>(rows: impl Iterator<Item = &'a JudgedRow> + Clone) -> String {
    let has = |verdict: &RowVerdict| rows.clone().any(|row| row.verdict == *verdict);
    let found = [RowVerdict::Matches, RowVerdict::Differs, RowVerdict::Unexplained].into_iter().filter(has);
    found.map(|verdict| format!("has-{}", verdict_class(verdict))).collect::<Vec<_>>().join(" ")
}

fn table_row(row: &JudgedRow) -> Markup {
    html! {
        tr class=(verdict_class(row.verdict)) {
            th scope="row" { (row.what) span.setting { (row.case) " · " (row.reading) } }
            td { (stated(row)) }
            td { (row.theory.as_deref().unwrap_or_default()) }
            td { (row.accept.as_deref().unwrap_or_default()) }
            td { (row.measured_value()) }
            td {
                @if row.verdict == RowVerdict::Matches {
                    (row.verdict.name())
                } @else {
                    strong { (row.verdict.name()) }
                }
            }
            td { (row.reason) }
        }
    }
}

/// The value that the row compares with; a claim in words is in the heading.
fn stated(row: &JudgedRow) -> String {
    if row.paper.is_some() {
        return row.paper_value();
    }
    let in_words = if row.source == Claimant::Paper { "in words" } else { "" };
    row.other_value().unwrap_or_else(|| in_words.to_owned())
}
