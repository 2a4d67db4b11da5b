//! Several runs side by side.

use super::layout::table;
use millpond_results::{Headline, Run};
use millpond_stats::{ConfidenceInterval, confidence_interval};
use millpond_units::format::{number, percent};

/// A column: its heading, its value, and the value as text.
struct ComparisonColumn {
    heading: &'static str,
    value: fn(&Headline) -> f64,
    show: fn(f64) -> String,
}

const COLUMNS: &[ComparisonColumn] = &[
    ComparisonColumn { heading: "utilization", value: |line| line.utilization, show: percent },
    ComparisonColumn { heading: "goodput\nMbit/s", value: |line| line.goodput_bps / 1e6, show: number },
    ComparisonColumn {
        heading: "queueing\ndelay, ms\nmean",
        value: |line| line.queueing_ms.mean,
        show: number,
    },
    ComparisonColumn {
        heading: "queueing\ndelay, ms\np95",
        value: |line| line.queueing_ms.p95,
        show: number,
    },
    ComparisonColumn {
        heading: "queueing\ndelay, ms\np99",
        value: |line| line.queueing_ms.p99,
        show: number,
    },
    ComparisonColumn { heading: "Jain's\nindex", value: |line| line.jain, show: |jain| format!("{jain:.3}") },
    ComparisonColumn {
        heading: "loss",
        value: |line| line.loss,
        show: |loss| format!("{:.3} %", 100.0 * loss),
    },
];

/// One row per label, in the order of the runs. Runs with the same label differ in their seeds: their mean is shown with
/// the half width of its 95 % confidence interval.
pub fn comparison(runs: &[Run]) -> String {
    let mut rows =
        table(&std::iter::once("run").chain(COLUMNS.iter().map(|c| c.heading)).collect::<Vec<_>>());
    let mut labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    labels.retain(|label| seen.insert(*label));
    for label in labels {
        let seeds = runs.iter().filter(|run| run.label == label);
        let lines: Vec<Headline> = seeds.map(|run| Headline::of(run, runs)).collect();
        let cells = COLUMNS.iter().map(|column| cell(column, &lines));
        rows.add_row(std::iter::once(label.to_owned()).chain(cells));
    }
    format!("{rows}\n")
}

fn cell(column: &ComparisonColumn, lines: &[Headline]) -> String {
    let values: Vec<f64> = lines.iter().map(column.value).collect();
    match confidence_interval(&values) {
        Some(ConfidenceInterval { mean, half_width: Some(half) }) => {
            format!("{} ± {}", (column.show)(mean), (column.show)(half))
        }
        Some(ConfidenceInterval { mean, half_width: None }) => (column.show)(mean),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Fairness, Summary};

    fn run(label: &str, jain: f64) -> Run {
        let fairness = Fairness { jain, ..Fairness::default() };
        Run { label: label.into(), summary: Summary { fairness, ..Summary::default() }, ..Run::default() }
    }

    #[test]
    fn runs_of_several_seeds_are_one_row_with_confidence_intervals() {
        // Student's t(1) = 12.706, sample deviation 0.2/sqrt(2): half width 12.706 * 0.1.
        let text = comparison(&[run("lgcc", 0.8), run("abc", 0.5), run("lgcc", 1.0)]);
        let rows: Vec<_> =
            text.lines().filter(|line| line.contains("lgcc") || line.contains("abc")).collect();
        assert!(rows[0].contains("lgcc") && rows[0].contains("0.900 ± 1.271"), "{text}");
        assert!(rows[1].contains("abc") && rows[1].contains("0.500 ") && !rows[1].contains('±'), "{text}");
    }
}
