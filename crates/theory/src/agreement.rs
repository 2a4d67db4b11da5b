//! How far the worlds and theory agree about one scenario: at rest, as fluid, in packets.

use crate::equilibrium::{AtRest, LinkAtRest, at_rest};
use millpond_plan::fluid::{self, Plan};
use millpond_protocols::Registry;
use millpond_results::{Link, Run};
use millpond_scenario::Scenario;
use millpond_units::format::{megabits, number, percent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One scenario under one protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// What is compared, line by line.
    pub lines: Vec<Line>,
    /// Why nothing is said of rest, if so.
    pub restless: Option<String>,
    /// What a reader should know of the columns: what the equations leave out, and what the means are of.
    pub notes: Vec<String>,
}

impl Agreement {
    /// The notes to print below the table.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let restless = self.restless.iter().map(|why| format!("at rest: {why}"));
        restless.chain(self.notes.iter().map(|note| format!("note: {note}")))
    }
}

/// One quantity of one group of flows, or of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// As summaries call the group or the link.
    pub name: String,
    /// `R1 -> R2`; none for a group.
    pub direction: Option<String>,
    /// Which.
    pub quantity: Quantity,
    /// At rest; none where rest has no such number.
    pub rest: Option<f64>,
    /// The fluid world's mean.
    pub fluid: f64,
    /// The packet world's mean.
    pub packets: f64,
}

/// What is compared: of groups the first three, of links the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Mean over the group's flows, in bit/s.
    Goodput,
    /// Mean delay in queues, in ms.
    Queueing,
    /// Jain's index of the group's goodputs.
    Jain,
    /// Departing rate over capacity.
    Used,
    /// Mean queue in the link's largest packets.
    Queue,
    /// Its peak.
    LongestQueue,
    /// Share of packets that were marked.
    Marked,
}

impl Quantity {
    /// As tables call it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Goodput => "goodput Mbps",
            Self::Queueing => "queueing ms",
            Self::Jain => "Jain",
            Self::Used => "used",
            Self::Queue => "queue packets",
            Self::LongestQueue => "longest queue",
            Self::Marked => "marked",
        }
    }

    /// As JSON calls it, with its unit.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::Queueing => "queueing_ms",
            Self::Jain => "jain",
            Self::Used => "utilization",
            Self::Queue => "queue_packets",
            Self::LongestQueue => "longest_queue_packets",
            Self::Marked => "marked",
        }
    }
}

impl Line {
    /// `value`, one of this line's three, as tables print it.
    pub fn show(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Goodput => megabits(value),
            Quantity::Used => percent(value),
            // A window of a hundred packets asks for one mark in five thousand.
            Quantity::Marked => format!("{} %", number(100.0 * value)),
            Quantity::Jain => format!("{value:.3}"),
            Quantity::Queueing | Quantity::Queue | Quantity::LongestQueue => number(value),
        }
    }

    /// The difference as tables print it: `+2.5 %`.
    pub fn show_difference(&self) -> String {
        let share = self.difference();
        if share.is_finite() { format!("{:+.1} %", 100.0 * share) } else { "-".to_owned() }
    }

    /// Whose, and which.
    #[must_use]
    pub fn what(&self) -> String {
        let direction = self.direction.as_ref().map_or_else(String::new, |direction| format!(" {direction}"));
        format!("{}{direction}: {}", self.name, self.quantity.label())
    }

    /// By how much the fluid's number differs, as a share of the packets'.
    #[must_use]
    pub fn difference(&self) -> f64 {
        (self.fluid - self.packets) / self.packets
    }

    /// By how much the fluid's number differs from that of rest, as a share of it.
    fn apart_from_rest(&self) -> Option<f64> {
        self.rest.map(|rest| (self.fluid - rest) / rest)
    }
}

/// Lays a run in packets, the same as fluid, and the point of rest side by side. Only links that are busy count.
#[must_use]
pub fn agreement(scenario: &Scenario, registry: &Registry, packets: &Run, fluid: &Run) -> Agreement {
    let rest = at_rest(scenario, registry).map_err(|refusal| refusal.to_string());
    let mut agreement = side_by_side(packets, fluid, rest);
    if let Ok(plan) = fluid::plan(scenario, registry) {
        agreement.notes = notes(&plan, scenario, &agreement.lines);
    }
    agreement
}

/// The same of two finished runs and a point of rest, without notes.
pub fn side_by_side(packets: &Run, fluid: &Run, rest: Result<AtRest, String>) -> Agreement {
    let (rest, restless) = match rest {
        Ok(rest) => (rest, None),
        Err(why) => (AtRest::default(), Some(why)),
    };
    let mut lines = groups(packets, fluid, &rest);
    let pairs = packets.summary.links.iter().zip(&fluid.summary.links).enumerate();
    let is_busy = |link: &Link| link.utilization > 0.5;
    for (index, (p, f)) in pairs.filter(|(_, (p, f))| is_busy(p) || is_busy(f)) {
        lines.extend(link(p, f, rest.links.get(index).copied().flatten()));
    }
    Agreement { lines, restless, notes: Vec::new() }
}

fn groups(packets: &Run, fluid: &Run, rest: &AtRest) -> Vec<Line> {
    let mut lines = Vec::new();
    for (p, f) in packets.summary.groups.iter().zip(&fluid.summary.groups) {
        let line = |quantity, rest, fluid, packets| Line {
            name: p.name.clone(),
            direction: None,
            quantity,
            rest,
            fluid,
            packets,
        };
        let goodput = rest.groups.iter().find(|group| group.name == p.name).map(|group| group.goodput_bps);
        lines.push(line(Quantity::Goodput, goodput, f.goodput_bps.mean, p.goodput_bps.mean));
        lines.push(line(Quantity::Queueing, None, f.queueing_ms.mean, p.queueing_ms.mean));
        lines.push(line(Quantity::Jain, None, f.jain, p.jain));
    }
    lines
}

fn link(p: &Link, f: &Link, rest: Option<LinkAtRest>) -> Vec<Line> {
    let line = |quantity, rest, fluid, packets| Line {
        name: p.name.clone(),
        direction: Some(p.direction.clone()),
        quantity,
        rest,
        fluid,
        packets,
    };
    let rested = |of: fn(&LinkAtRest) -> f64| rest.as_ref().map(of);
    let marked = |link: &Link| link.marks as f64 / link.arrivals.max(1) as f64;
    let (fluid, packets) = (f.queue_packets, p.queue_packets);
    let mut lines = vec![
        line(Quantity::Used, rested(|link| link.utilization), f.utilization, p.utilization),
        line(Quantity::Queue, rested(|link| link.queue_packets), fluid.mean, packets.mean),
        line(Quantity::LongestQueue, None, fluid.max, packets.max),
    ];
    if p.marks > 0 || f.marks > 0 {
        lines.push(line(Quantity::Marked, rested(|link| link.marked), marked(f), marked(p)));
    }
    lines
}

/// A fluid whose means are this far from rest, as a share, has not come to rest, or does not stay there.
const AT_REST: f64 = 0.01;

fn notes(plan: &Plan, scenario: &Scenario, lines: &[Line]) -> Vec<String> {
    let left_out = plan.left_out.iter().map(|(protocol, left_out)| {
        format!("the equations of {protocol} leave out: {}", left_out.join("; "))
    });
    left_out.chain(starts_count(plan, scenario)).chain(moves(lines)).collect()
}

fn starts_count(plan: &Plan, scenario: &Scenario) -> Option<String> {
    let (from, last) = (scenario.measure.from, plan.flows.iter().map(|flow| flow.start).max()?);
    (from <= last).then(|| {
        let (from, last) = (from.secs(), last.secs());
        format!(
            "means begin at {from} s and the last flow at {last} s: they hold the way to rest too, which measure.from leaves out"
        )
    })
}

fn moves(lines: &[Line]) -> Option<String> {
    let is_far =
        |line: &&Line| line.apart_from_rest().is_some_and(|apart| apart.is_finite() && apart.abs() > AT_REST);
    let line = lines.iter().find(is_far)?;
    Some(format!(
        "the fluid's means are not those of rest ({}): it has not arrived yet (a later measure.from, a longer duration), or it \
         goes about rest for ever (millpond stability)",
        line.what()
    ))
}

impl Agreement {
    /// The same for programs and recipes: groups and links by name, of each quantity `rest`, `fluid` and `packets`, and how
    /// far one is from another as a share of it.
    #[must_use]
    pub fn json(&self) -> Value {
        let of = |is_link: bool| {
            let mut named: BTreeMap<(&str, Option<&str>), serde_json::Map<String, Value>> = BTreeMap::new();
            for line in self.lines.iter().filter(|line| line.direction.is_some() == is_link) {
                let owner = named.entry((&line.name, line.direction.as_deref())).or_default();
                owner.insert("name".into(), line.name.clone().into());
                owner.insert("direction".into(), line.direction.clone().into());
                owner.insert(line.quantity.key().into(), numbers(line));
            }
            named.into_values().map(Value::Object).collect::<Vec<_>>()
        };
        json!({ "groups": of(false), "links": of(true), "restless": self.restless, "notes": self.notes })
    }
}

fn numbers(line: &Line) -> Value {
    let share = |of: f64, from: f64| Some((of - from) / from).filter(|share| share.is_finite());
    json!({
        "rest": line.rest,
        "fluid": line.fluid,
        "packets": line.packets,
        "fluid_from_rest": line.rest.and_then(|rest| share(line.fluid, rest)),
        "packets_from_rest": line.rest.and_then(|rest| share(line.packets, rest)),
        "packets_from_fluid": share(line.packets, line.fluid),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rest: f64, fluid: f64) -> Line {
        let (name, direction) = ("L".to_owned(), Some("A -> B".to_owned()));
        Line { name, direction, quantity: Quantity::Queue, rest: Some(rest), fluid, packets: 12.0 }
    }

    #[test]
    fn a_fluid_that_is_elsewhere_than_at_rest_is_named() {
        assert_eq!(moves(&[line(10.0, 10.05), line(0.0, 0.3)]), None, "no share of nothing");
        let note = moves(&[line(10.0, 10.05), line(10.0, 9.0)]).unwrap();
        assert!(note.contains("(L A -> B: queue packets)"), "{note}");
    }

    #[test]
    fn programs_get_the_numbers_and_how_far_apart_they_are() {
        let json = Agreement { lines: vec![line(10.0, 8.0)], ..Agreement::default() }.json();
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
