//! Several runs side by side.

use super::write::table;
use millpond_results::{Headline, Run};
use millpond_stats::{ConfidenceInterval, confidence_interval};
use millpond_units::format::{number, percent};

/// A column: its head, its number of a headline, and how that is written.
struct Column {
    head: &'static str,
    of: fn(&Headline) -> f64,
    write: fn(f64) -> String,
}

const COLUMNS: &[Column] = &[
    Column { head: "utilization", of: |line| line.utilization, write: percent },
    Column { head: "goodput Mbps", of: |line| line.goodput_bps / 1e6, write: number },
    Column { head: "queueing ms: mean", of: |line| line.queueing_ms.mean, write: number },
    Column { head: "p95", of: |line| line.queueing_ms.p95, write: number },
    Column { head: "p99", of: |line| line.queueing_ms.p99, write: number },
    Column { head: "Jain", of: |line| line.jain, write: |jain| format!("{jain:.3}") },
    Column { head: "loss", of: |line| line.loss, write: |loss| format!("{:.3} %", 100.0 * loss) },
];

/// One row per label, in the order of the runs. Runs with the same label are seeds of one another: their mean is
/// shown with the half width of its 95 % confidence interval.
pub fn comparison(runs: &[Run]) -> String {
    let mut rows =
        table(&std::iter::once("protocol").chain(COLUMNS.iter().map(|c| c.head)).collect::<Vec<_>>());
    let mut labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    labels.retain(|label| seen.insert(*label));
    for label in labels {
        let namesakes = runs.iter().filter(|run| run.label == label);
        let lines: Vec<Headline> = namesakes.map(|run| Headline::of(run, runs)).collect();
        let cells = COLUMNS.iter().map(|column| cell(column, &lines));
        rows.add_row(std::iter::once(label.to_owned()).chain(cells));
    }
    format!("{rows}\n")
}

fn cell(column: &Column, lines: &[Headline]) -> String {
    let values: Vec<f64> = lines.iter().map(column.of).collect();
    match confidence_interval(&values) {
        Some(ConfidenceInterval { mean, half_width: Some(half) }) => {
            format!("{} ± {}", (column.write)(mean), (column.write)(half))
        }
        Some(ConfidenceInterval { mean, half_width: None }) => (column.write)(mean),
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
    fn seeds_of_one_protocol_share_a_row_with_an_interval() {
        // Student's t(1) = 12.706, sample deviation 0.2/sqrt(2): half width 12.706 * 0.1.
        let text = comparison(&[run("lgcc", 0.8), run("abc", 0.5), run("lgcc", 1.0)]);
        let rows: Vec<_> =
            text.lines().filter(|line| line.contains("lgcc") || line.contains("abc")).collect();
        assert!(rows[0].contains("lgcc") && rows[0].contains("0.900 ± 1.271"), "{text}");
        assert!(rows[1].contains("abc") && rows[1].contains("0.500 ") && !rows[1].contains('±'), "{text}");
    }
}
