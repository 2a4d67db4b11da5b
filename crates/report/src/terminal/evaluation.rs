//! Evaluations of protocols: criteria, their evidence, and the matrix of several protocols.

use millpond_evaluation::{Evaluation, EvidenceVerdict, JudgedSuite};
use millpond_tables::{Cell, Document, text_table};

/// The criteria of each suite with their verdicts, then their evidence.
pub fn evaluation(evaluation: &Evaluation) -> Document {
    let of = |document: Document, suite: &JudgedSuite| {
        let title = format!("{}: {} ({})\n", evaluation.protocol, suite.title, suite.source);
        document.text(title).table(criteria(suite)).table(evidence(suite)).text(reasons(suite))
    };
    evaluation.suites.iter().fold(Document::default(), of)
}

fn criteria(suite: &JudgedSuite) -> millpond_tables::Table {
    let mut rows = text_table(&["section", "criterion", "verdict", "rows met"]);
    for one in &suite.criteria {
        let met = match one.evidence.len() {
            0 => Cell::absent(),
            all => Cell::from(format!("{} of {all}", one.count(EvidenceVerdict::Met))),
        };
        let [section, title, verdict] = [&one.section, &one.title, one.verdict.name()].map(Cell::from);
        rows.add_row([section, title, verdict, met]);
    }
    rows
}

fn evidence(suite: &JudgedSuite) -> millpond_tables::Table {
    let headings = ["section", "quantity", "case", "measured", "half width", "bound", "unit", "verdict"];
    let mut rows = text_table(&headings).only_in_csv(&["half width", "unit"]);
    for criterion in &suite.criteria {
        for one in &criterion.evidence {
            let measured =
                one.measured.map_or_else(Cell::absent, |value| Cell::shown(value.mean, one.value()));
            let half =
                one.measured.and_then(|value| value.half_width).map_or_else(Cell::absent, Cell::number);
            let [section, what, case] =
                [&criterion.section, &one.what, &one.case].map(|text| Cell::from(text.as_str()));
            let bound = Cell::from(one.bound());
            let [unit, verdict] = [one.unit.as_str(), one.verdict.name()].map(Cell::from);
            rows.add_row([section, what, case, measured, half, bound, unit, verdict]);
        }
    }
    rows
}

/// What is not judged and what could not be measured, with the reasons; then the numbers of verdicts.
fn reasons(suite: &JudgedSuite) -> String {
    let not_judged = suite.criteria.iter().filter(|one| !one.not_judged.is_empty());
    let not_judged =
        not_judged.map(|one| format!("{} {}, not judged: {}", one.section, one.title, one.not_judged));
    let faults = suite
        .criteria
        .iter()
        .flat_map(|criterion| criterion.evidence.iter().map(move |one| (criterion, one)));
    let faults = faults.filter(|(_, one)| !one.fault.is_empty()).map(|(criterion, one)| {
        format!("{} {} ({}), not measured: {}", criterion.section, one.what, one.case, one.fault)
    });
    let lines = not_judged.chain(faults).map(|line| format!("- {line}\n"));
    format!("\n{}\n{}\n", lines.collect::<String>(), suite.sentence())
}

/// For each suite a row for each protocol and a column for each section.
pub fn evaluation_matrix(evaluations: &[Evaluation]) -> Document {
    let Some(first) = evaluations.first() else { return Document::default() };
    let of = |document: Document, (index, suite): (usize, &JudgedSuite)| {
        let mut headings = vec!["protocol"];
        headings.extend(suite.criteria.iter().map(|criterion| criterion.section.as_str()));
        let mut rows = text_table(&headings);
        for evaluation in evaluations {
            let criteria = evaluation.suites[index].criteria.iter();
            let name = Cell::from(evaluation.protocol.as_str());
            rows.add_row(std::iter::once(name).chain(criteria.map(|one| Cell::from(one.cell()))));
        }
        document.text(format!("{} ({})\n", suite.title, suite.source)).table(rows)
    };
    first.suites.iter().enumerate().fold(Document::default(), of)
}
