//! The agreement of equilibrium, fluid run and packet run of one scenario.

mod json;
pub mod live;
mod notes;

pub use json::{AgreementJson, ComparisonJson, GroupAgreementJson, LinkAgreementJson, agreement_json};

use millpond_results::{Link, Run};
use millpond_theory::Study;
use millpond_theory::equilibrium::{EquilibriumSummary, LinkOperatingPoint, equilibrium_summary};
use millpond_units::format::{megabits, number, percent};
use notes::notes;
use serde::{Deserialize, Serialize};

/// The agreement of one scenario under one protocol.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The compared quantities.
    pub rows: Vec<AgreementRow>,
    /// Why there is no equilibrium; none if there is one.
    pub no_equilibrium: Option<String>,
    /// What restricts the comparison: parts of the laws that the equations leave out, means that include transients.
    pub notes: Vec<String>,
}

impl Agreement {
    /// The remarks to print below the table.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        const LACKS: &str = "no equilibrium";
        let complete = |reason: &String| match reason.starts_with(LACKS) {
            true => reason.clone(),
            false => format!("{LACKS}: {reason}"),
        };
        let reason = self.no_equilibrium.iter().map(complete);
        reason.chain(self.notes.iter().map(|note| format!("note: {note}")))
    }
}

/// One quantity of a group of flows or of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementRow {
    /// Name of the group or link, as in a run's summary.
    pub name: String,
    /// Direction of the link, such as `R1 -> R2`; none for a group.
    pub direction: Option<String>,
    /// The quantity.
    pub quantity: ComparedQuantity,
    /// Its value at the equilibrium; none if it has none there.
    pub equilibrium: Option<f64>,
    /// Its mean in the fluid run.
    pub fluid: f64,
    /// Its mean in the packet run.
    pub packets: f64,
}

/// A compared quantity: the first three of groups, the others of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ComparedQuantity {
    /// Mean goodput of the group's flows, in bit/s.
    Goodput,
    /// Mean queueing delay, in ms.
    QueueingDelay,
    /// Jain's fairness index of the group's goodputs.
    JainIndex,
    /// Departing rate over capacity.
    Utilization,
    /// Mean queue, in packets of the largest size that crosses the link.
    MeanQueue,
    /// Longest queue, in the same packets.
    LongestQueue,
    /// Share of packets that are marked.
    MarkedShare,
}

impl ComparedQuantity {
    /// Its name in tables, with its unit.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Goodput => "goodput per flow Mbit/s",
            Self::QueueingDelay => "queueing delay ms",
            Self::JainIndex => "Jain's index",
            Self::Utilization => "utilization",
            Self::MeanQueue => "queue packets",
            Self::LongestQueue => "longest queue packets",
            Self::MarkedShare => "marked share",
        }
    }
}

impl AgreementRow {
    /// One of its values as shown in tables.
    pub fn format_value(&self, value: f64) -> String {
        match self.quantity {
            ComparedQuantity::Goodput => megabits(value),
            ComparedQuantity::Utilization => percent(value),
            // Shares of marks are often far below one per cent.
            ComparedQuantity::MarkedShare => format!("{} %", number(100.0 * value)),
            ComparedQuantity::JainIndex => format!("{value:.3}"),
            ComparedQuantity::QueueingDelay
            | ComparedQuantity::MeanQueue
            | ComparedQuantity::LongestQueue => number(value),
        }
    }

    /// [`Self::difference`] as shown in tables: `+2.5 %`.
    pub fn format_difference(&self) -> String {
        let share = self.difference();
        if share.is_finite() { format!("{:+.1} %", 100.0 * share) } else { "-".to_owned() }
    }

    /// Group or link, and quantity.
    #[must_use]
    pub fn title(&self) -> String {
        let direction = self.direction.as_ref().map_or_else(String::new, |direction| format!(" {direction}"));
        format!("{}{direction}: {}", self.name, self.quantity.label())
    }

    /// The difference of the fluid run from the packet run, as a share of the latter.
    #[must_use]
    pub fn difference(&self) -> f64 {
        (self.fluid - self.packets) / self.packets
    }
}

/// Compares the equilibrium of a scenario, its fluid run and its packet run. Of links only busy ones are compared.
#[must_use]
pub fn compute_agreement(study: Study<'_>, packets: &Run, fluid: &Run) -> Agreement {
    let equilibrium = equilibrium_summary(study.scenario, study.registry).map_err(|error| error.to_string());
    let mut agreement = tabulate_agreement(packets, fluid, equilibrium);
    if let Ok(plan) = study.plan() {
        agreement.notes = notes(&plan, study.scenario, &agreement.rows);
    }
    agreement
}

/// Compares two finished runs and an equilibrium, or the reason why there is none; without notes.
pub fn tabulate_agreement(
    packets: &Run,
    fluid: &Run,
    equilibrium: Result<EquilibriumSummary, String>,
) -> Agreement {
    /// Links with at least this utilization in one of the worlds are compared.
    const BUSY: f64 = 0.5;
    let (equilibrium, no_equilibrium) = match equilibrium {
        Ok(equilibrium) => (equilibrium, None),
        Err(reason) => (EquilibriumSummary::default(), Some(reason)),
    };
    let mut rows = group_rows(packets, fluid, &equilibrium);
    let pairs = packets.summary.links.iter().zip(&fluid.summary.links).enumerate();
    let is_busy = |link: &Link| link.utilization > BUSY;
    for (index, (packet_link, fluid_link)) in pairs.filter(|(_, (p, f))| is_busy(p) || is_busy(f)) {
        let at_equilibrium = equilibrium.links.get(index).copied().flatten();
        rows.extend(link_rows(packet_link, fluid_link, at_equilibrium));
    }
    Agreement { rows, no_equilibrium, notes: Vec::new() }
}

fn group_rows(packets: &Run, fluid: &Run, equilibrium: &EquilibriumSummary) -> Vec<AgreementRow> {
    let mut rows = Vec::new();
    for (p, f) in packets.summary.groups.iter().zip(&fluid.summary.groups) {
        let row = |quantity, equilibrium, fluid, packets| AgreementRow {
            name: p.name.clone(),
            direction: None,
            quantity,
            equilibrium,
            fluid,
            packets,
        };
        let goodput =
            equilibrium.groups.iter().find(|group| group.name == p.name).map(|group| group.goodput_bps);
        rows.push(row(ComparedQuantity::Goodput, goodput, f.goodput_bps.mean, p.goodput_bps.mean));
        rows.push(row(ComparedQuantity::QueueingDelay, None, f.queueing_ms.mean, p.queueing_ms.mean));
        if let (Some(fluid), Some(packets)) = (f.jain, p.jain) {
            rows.push(row(ComparedQuantity::JainIndex, None, fluid, packets));
        }
    }
    rows
}

fn link_rows(p: &Link, f: &Link, equilibrium: Option<LinkOperatingPoint>) -> Vec<AgreementRow> {
    let row = |quantity, equilibrium, fluid, packets| AgreementRow {
        name: p.name.clone(),
        direction: Some(p.direction.clone()),
        quantity,
        equilibrium,
        fluid,
        packets,
    };
    let marked = |link: &Link| link.marks as f64 / link.arrivals.max(1) as f64;
    let (fluid, packets) = (f.queue_packets, p.queue_packets);
    let utilization = equilibrium.map(|link| link.utilization);
    let queue = equilibrium.map(|link| link.queue_packets);
    let mut rows = vec![
        row(ComparedQuantity::Utilization, utilization, f.utilization, p.utilization),
        row(ComparedQuantity::MeanQueue, queue, fluid.mean, packets.mean),
        row(ComparedQuantity::LongestQueue, None, fluid.max, packets.max),
    ];
    if p.marks > 0 || f.marks > 0 {
        let share = equilibrium.map(|link| link.marked_share);
        rows.push(row(ComparedQuantity::MarkedShare, share, marked(f), marked(p)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(equilibrium: f64, fluid: f64) -> AgreementRow {
        let (name, direction) = ("L".to_owned(), Some("A -> B".to_owned()));
        let quantity = ComparedQuantity::MeanQueue;
        AgreementRow { name, direction, quantity, equilibrium: Some(equilibrium), fluid, packets: 12.0 }
    }

    #[test]
    fn a_fluid_run_whose_mean_is_not_the_equilibrium_is_noted() {
        assert_eq!(notes::transient(&[row(10.0, 10.05), row(0.0, 0.3)]), None, "no share of nothing");
        assert!(notes::transient(&[row(10.0, 10.2)]).is_some(), "two per cent");
        let note = notes::transient(&[row(10.0, 10.05), row(10.0, 9.0)]).unwrap();
        assert!(note.contains("(L A -> B: queue packets)"), "{note}");
    }

    #[test]
    fn json_has_the_values_and_their_relative_differences() {
        let agreement = Agreement { rows: vec![row(10.0, 8.0)], ..Agreement::default() };
        let json = millpond_theory::json_value(&agreement_json(&agreement));
        let queue = &json["links"][0]["queue_packets"];
        assert_eq!(
            (queue["fluid_from_rest"].as_f64(), queue["packets_from_rest"].as_f64()),
            (Some(-0.2), Some(0.2))
        );
        assert_eq!(
            (json["links"][0]["name"].as_str(), queue["packets_from_fluid"].as_f64()),
            (Some("L"), Some(0.5))
        );
    }
}
