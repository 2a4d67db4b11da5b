//! Evaluations of protocols: criteria, their evidence, and the matrix of several protocols.

use millpond_evaluation::{Evaluation, EvidenceVerdict, JudgedCriterion, JudgedSuite, SubjectKind};
use millpond_tables::{Cell, Document, text_table};

/// The evidence of one evaluation, the verdicts of several.
pub fn evaluations(evaluations: &[Evaluation]) -> Document {
    match evaluations {
        [one] => evaluation(one),
        several => matrix(several),
    }
}

/// The criteria of each suite with their verdicts, then their evidence.
fn evaluation(evaluation: &Evaluation) -> Document {
    let of = |document: Document, suite: &JudgedSuite| {
        let title = format!("{}: {} ({})\n", evaluation.name, suite.title, suite.source);
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

/// For each suite the verdicts of its subjects.
fn matrix(evaluations: &[Evaluation]) -> Document {
    let of = |document: Document, name: &str| document.then(suite_matrix(evaluations, name));
    Evaluation::suites_of(evaluations).into_iter().fold(Document::default(), of)
}

/// The verdicts of all subjects of one suite.
fn suite_matrix(evaluations: &[Evaluation], name: &str) -> Document {
    let judged: Vec<_> = evaluations.iter().filter_map(|one| Some((one, one.suite(name)?))).collect();
    let Some((first, suite)) = judged.first() else { return Document::default() };
    let rows: Vec<_> = judged.iter().map(|(one, suite)| (one.name.clone(), suite.cells())).collect();
    verdicts(suite, first.kind, &rows)
}

/// A row for each subject, with its verdicts in the order of the criteria, in tables that fit on a page.
fn verdicts(suite: &JudgedSuite, kind: SubjectKind, rows: &[(String, Vec<String>)]) -> Document {
    const COLUMNS: usize = 8;
    let document = Document::default().text(format!("{} ({})\n", suite.title, suite.source));
    let table = |(index, columns): (usize, &[JudgedCriterion])| {
        let mut headings = vec![kind.name()];
        headings.extend(columns.iter().map(|criterion| criterion.section.as_str()));
        let mut table = text_table(&headings);
        for (name, cells) in rows {
            let cells = cells.iter().skip(index * COLUMNS).take(columns.len());
            table.add_row(std::iter::once(name).chain(cells).map(|text| Cell::from(text.as_str())));
        }
        table
    };
    suite.criteria.chunks(COLUMNS).enumerate().map(table).fold(document, Document::table)
}

/// The section of a suite on the page with the verdicts of all subjects, which are the rows: title, verdicts, and what the
/// sections ask.
pub fn matrix_section(suite: &JudgedSuite, kind: SubjectKind, rows: &[(String, Vec<String>)]) -> String {
    let JudgedSuite { suite: name, title, about, .. } = suite;
    let verdicts = verdicts(suite, kind, rows).markdown();
    let (verdicts, asks) = (verdicts.trim_end(), suite.asks());
    format!("\n## {name}: {title}\n\n{about}\n\n{verdicts}\n\n{asks}")
}
