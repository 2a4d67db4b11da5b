//! The schema of an agreement, into which rows of recipes look. Keys carry their units.

use super::{Agreement, AgreementRow, ComparedQuantity};
use serde::Serialize;
use std::collections::BTreeMap;

/// An agreement of equilibrium, fluid run and packet run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgreementJson {
    /// Groups of flows, by name.
    pub groups: Vec<GroupAgreementJson>,
    /// Directions of links, by name and direction.
    pub links: Vec<LinkAgreementJson>,
    /// Why there is no equilibrium; null if there is one.
    pub no_equilibrium: Option<String>,
    /// What restricts the comparison, each in a sentence.
    pub notes: Vec<String>,
}

/// A group of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupAgreementJson {
    /// Name of the group.
    pub name: String,
    /// Always null.
    pub direction: Option<String>,
    /// Mean goodput of its flows, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bps: Option<ComparisonJson>,
    /// Mean queueing delay, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_ms: Option<ComparisonJson>,
    /// Jain's fairness index of the goodputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<ComparisonJson>,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkAgreementJson {
    /// Name of the link.
    pub name: String,
    /// Its direction, such as `R1 -> R2`.
    pub direction: Option<String>,
    /// Departing rate over capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<ComparisonJson>,
    /// Mean queue, in packets of the largest size that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<ComparisonJson>,
    /// Longest queue, in the same packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_queue_packets: Option<ComparisonJson>,
    /// Share of packets that are marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<ComparisonJson>,
}

/// One quantity at the equilibrium and in both worlds, with relative differences; null where one is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparisonJson {
    /// At the equilibrium.
    #[serde(rename = "rest")]
    pub equilibrium: Option<f64>,
    /// Mean of the fluid run.
    pub fluid: f64,
    /// Mean of the packet run.
    pub packets: f64,
    /// (fluid - equilibrium) / equilibrium.
    #[serde(rename = "fluid_from_rest")]
    pub fluid_from_equilibrium: Option<f64>,
    /// (packets - equilibrium) / equilibrium.
    #[serde(rename = "packets_from_rest")]
    pub packets_from_equilibrium: Option<f64>,
    /// (packets - fluid) / fluid.
    pub packets_from_fluid: Option<f64>,
}

/// The JSON of an agreement.
#[must_use]
pub fn agreement_json(agreement: &Agreement) -> AgreementJson {
    let mut groups: BTreeMap<&str, GroupAgreementJson> = BTreeMap::new();
    let mut links: BTreeMap<(&str, &str), LinkAgreementJson> = BTreeMap::new();
    for row in &agreement.rows {
        match &row.direction {
            None => add_to_group(groups.entry(&row.name).or_default(), row),
            Some(direction) => add_to_link(links.entry((&row.name, direction)).or_default(), row),
        }
    }
    AgreementJson {
        groups: groups.into_values().collect(),
        links: links.into_values().collect(),
        no_equilibrium: agreement.no_equilibrium.clone(),
        notes: agreement.notes.clone(),
    }
}

fn add_to_group(group: &mut GroupAgreementJson, row: &AgreementRow) {
    group.name.clone_from(&row.name);
    let comparison = Some(comparison(row));
    match row.quantity {
        ComparedQuantity::Goodput => group.goodput_bps = comparison,
        ComparedQuantity::QueueingDelay => group.queueing_ms = comparison,
        ComparedQuantity::JainIndex => group.jain = comparison,
        _ => {}
    }
}

fn add_to_link(link: &mut LinkAgreementJson, row: &AgreementRow) {
    link.name.clone_from(&row.name);
    link.direction.clone_from(&row.direction);
    let comparison = Some(comparison(row));
    match row.quantity {
        ComparedQuantity::Utilization => link.utilization = comparison,
        ComparedQuantity::MeanQueue => link.queue_packets = comparison,
        ComparedQuantity::LongestQueue => link.longest_queue_packets = comparison,
        ComparedQuantity::MarkedShare => link.marked = comparison,
        _ => {}
    }
}

fn comparison(row: &AgreementRow) -> ComparisonJson {
    let difference = |value: f64, reference: f64| {
        Some((value - reference) / reference).filter(|difference| difference.is_finite())
    };
    let from_equilibrium = |value: f64| row.equilibrium.and_then(|reference| difference(value, reference));
    ComparisonJson {
        equilibrium: row.equilibrium,
        fluid: row.fluid,
        packets: row.packets,
        fluid_from_equilibrium: from_equilibrium(row.fluid),
        packets_from_equilibrium: from_equilibrium(row.packets),
        packets_from_fluid: difference(row.packets, row.fluid),
    }
}
