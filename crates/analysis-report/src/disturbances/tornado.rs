//! The bars of tornado charts: for each disturbance the least and the greatest change of an indicator over its levels.

use millpond_results::{DisturbedProtocol, Estimate, Indicators};
use millpond_units::format::{fixed, two_digits};

/// A tornado chart of one indicator.
pub(super) struct Tornado {
    /// The indicator.
    pub(super) heading: &'static str,
    /// The same in at most 12 characters.
    pub(super) label: &'static str,
    /// The unit in which it is shown.
    pub(super) unit: &'static str,
    /// Values in this unit are multiplied by this.
    pub(super) scale: f64,
    /// The digits of a value in this unit.
    pub(super) show: fn(f64) -> String,
    pub(super) value: fn(&Indicators) -> Option<Estimate>,
}

/// One for each indicator.
pub(super) const TORNADOES: [Tornado; 4] = [
    Tornado {
        heading: "utilization",
        label: "utilization",
        unit: "%",
        scale: 100.0,
        show: |x| fixed(x, 1),
        value: |one| one.utilization,
    },
    Tornado {
        heading: "queueing delay p95",
        label: "delay p95",
        unit: "ms",
        scale: 1.0,
        show: two_digits,
        value: |one| one.queueing_p95_ms,
    },
    Tornado {
        heading: "Jain's index",
        label: "Jain's index",
        unit: "1",
        scale: 1.0,
        show: |x| fixed(x, 3),
        value: |one| one.jain,
    },
    Tornado {
        heading: "least share",
        label: "least share",
        unit: "% of the fair share",
        scale: 100.0,
        show: |x| fixed(x, 1),
        value: |one| one.least_share,
    },
];

/// The change by a disturbance, in the unit of the chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TornadoBar {
    pub(super) name: String,
    /// The least change over its levels, at most zero.
    pub(super) low: f64,
    /// The greatest change, at least zero.
    pub(super) high: f64,
}

impl TornadoBar {
    /// The greater of both sides.
    pub(super) fn reach(&self) -> f64 {
        self.high.max(-self.low)
    }
}

impl Tornado {
    /// A bar for each disturbance that applies to the protocol, the greatest reach first.
    pub(super) fn bars(&self, protocol: &DisturbedProtocol) -> Vec<TornadoBar> {
        let of_one = protocol.rows.chunk_by(|one, next| one.disturbance == next.disturbance);
        let bar = |rows: &[millpond_results::DisturbedRow]| {
            let changes = rows.iter().filter_map(|row| (self.value)(row.changes.as_ref()?));
            let changes: Vec<f64> = changes.map(|change| change.mean * self.scale).collect();
            (!changes.is_empty()).then(|| TornadoBar {
                name: rows[0].disturbance.clone(),
                low: changes.iter().copied().fold(0.0, f64::min),
                high: changes.iter().copied().fold(0.0, f64::max),
            })
        };
        let mut bars: Vec<TornadoBar> = of_one.filter_map(bar).collect();
        bars.sort_by(|one, other| other.reach().total_cmp(&one.reach()));
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::DisturbedRow;

    fn row(disturbance: &str, utilization: Option<f64>) -> DisturbedRow {
        let utilization = utilization.map(|mean| Estimate { mean, half_width: None });
        let changes = utilization.map(|_| Indicators { utilization, ..Indicators::default() });
        DisturbedRow { disturbance: disturbance.into(), changes, ..DisturbedRow::default() }
    }

    #[test]
    fn a_bar_spans_all_levels_and_zero_and_the_longest_comes_first() {
        let rows = vec![
            row("none", None),
            row("small", Some(0.01)),
            row("small", Some(0.02)),
            row("wide", Some(0.1)),
            row("wide", Some(-0.3)),
        ];
        let protocol = DisturbedProtocol { rows, ..DisturbedProtocol::default() };
        let bars = TORNADOES[0].bars(&protocol);
        let ends: Vec<(&str, f64, f64)> =
            bars.iter().map(|bar| (bar.name.as_str(), bar.low, bar.high)).collect();
        assert_eq!(ends, [("wide", -30.0, 10.0), ("small", 0.0, 2.0)]);
        assert!(TORNADOES[1].bars(&protocol).is_empty(), "nothing has a delay");
    }
}
