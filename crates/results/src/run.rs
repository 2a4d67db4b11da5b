//! The results of a run: summary, series, distributions and transfers.

use crate::{Summary, Times};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run: one scenario, one seed, one world, one assignment of protocols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The label of the run: in a comparison that of its row, else the title of the scenario.
    pub label: String,
    /// The numbers of the run.
    pub summary: Summary,
    /// Quantities over time, sampled every `measure.every`.
    pub series: Vec<Series>,
    /// Distributions of queueing delay: one per link direction, one per flow group, one of all flows (`all`).
    pub distributions: Vec<Distribution>,
    /// The scenario with all defaults, as TOML that can be run again.
    pub scenario_toml: String,
    /// The command that reproduces this run.
    pub command: String,
    /// Every transfer: the declared flows, then the spawned transfers, then the pages, segments and frames of applications.
    pub transfers: Vec<Transfer>,
}

impl Run {
    /// The series of a quantity of each flow, in the order of the scenario, without those of a flow's loops. `series` is in
    /// the order in which the flows start, which differs between worlds.
    pub fn series_of_flows(&self, quantity: &str) -> Vec<&Series> {
        let flows = self.summary.flows.iter().enumerate();
        let order: BTreeMap<&str, usize> = flows.map(|(index, flow)| (flow.name.as_str(), index)).collect();
        let is_wanted = |one: &&Series| {
            one.kind == EntityKind::Flow && one.quantity == quantity && !one.entity.contains('/')
        };
        let mut series: Vec<&Series> = self.series.iter().filter(is_wanted).collect();
        series.sort_by_key(|one| order.get(one.entity.as_str()).copied().unwrap_or(usize::MAX));
        series
    }
}

/// One transfer: a declared flow, or one transfer that a declared flow spawned.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// `group.index`, or the name of the group if it has one flow; a spawned transfer, segment or
    /// frame is `group.index/number`, a web page `group/number`.
    pub name: String,
    /// Name of its group.
    pub group: String,
    /// Protocol, as the scenario names it.
    pub protocol: String,
    /// Payload to deliver, in bytes; none if unlimited.
    pub size_bytes: Option<u64>,
    /// Payload delivered exactly once, in bytes.
    pub delivered_bytes: u64,
    /// Start, in seconds.
    pub start_s: f64,
    /// Time at which its last byte was delivered, in seconds; none if its size is unlimited or it is not complete.
    pub completed_s: Option<f64>,
    /// Its completion time alone in the network, in milliseconds; none if its size is unlimited, and where that is not known.
    pub shortest_ms: Option<f64>,
}

impl Transfer {
    /// The completion time in milliseconds; none if it is not complete.
    pub fn completion_ms(&self) -> Option<f64> {
        self.completed_s.map(|end| (end - self.start_s) * 1e3)
    }

    /// The completion time divided by the shortest one; none if it is not complete, or the shortest one is not known.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.completion_ms()? / self.shortest_ms?)
    }
}

/// The file `timing.json`: the cost of a run. It is separate from [`Run`] because it differs between executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Elapsed time, in seconds.
    pub wall_s: f64,
    /// Processor time of the thread of the run, in seconds; null where the system does not report it.
    pub cpu_s: Option<f64>,
    /// Packet-hops per second of processor time, or of elapsed time where `cpu_s` is null.
    pub packet_hops_per_s: f64,
}

/// The kind of entity to which a series or a distribution belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntityKind {
    /// A flow, `short.3`, or a loop of a flow, `short.3/loop2`.
    Flow,
    /// A direction of a link, `L1 ->` or `L1 <-`.
    Link,
    /// A relay of a flow, `short.3@R1`.
    Relay,
    /// All flows of a group, or all flows (`all`).
    Group,
}

impl EntityKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Flow, Self::Link, Self::Relay, Self::Group];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Link => "link",
            Self::Relay => "relay",
            Self::Group => "group",
        }
    }
}

/// One quantity of one entity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The kind of the entity.
    pub kind: EntityKind,
    /// The name of the entity.
    pub entity: String,
    /// The name of the quantity; [`quantity`] has those of every run.
    pub quantity: String,
    /// The unit: `bit/s`, `packets`, `ms` or `1`, or that of a quantity of a law.
    pub unit: String,
    /// Ends of the sampling intervals, in seconds.
    pub times: Times,
    /// One value per time; not a number where the quantity has no value.
    pub values: Vec<f64>,
}

/// The quantities of every run. Laws add internal quantities under their own names.
pub mod quantity {
    /// Of a flow: bytes delivered exactly once in the interval, as `bit/s`.
    pub const GOODPUT: &str = "goodput";
    /// Of a flow: its weighted max-min fair share, in `bit/s`. It is computed for charts and is in no file.
    pub const FAIR_SHARE: &str = "fair share";
    /// Of a flow: bytes sent by its first loop in the interval, as `bit/s`.
    pub const SEND_RATE: &str = "send rate";
    /// Of a flow's loop: congestion window, in `packets`.
    pub const WINDOW: &str = "window";
    /// Of a flow's loop: smoothed round-trip time, in `ms`.
    pub const RTT: &str = "smoothed RTT";
    /// Of a link: mean capacity over the interval, in `bit/s`.
    pub const CAPACITY: &str = "capacity";
    /// Of a link whose laws are configured with another capacity than the actual one: its mean over the interval, in `bit/s`.
    pub const CONFIGURED_CAPACITY: &str = "configured capacity";
    /// Of a link: served in the interval, as `bit/s`.
    pub const THROUGHPUT: &str = "throughput";
    /// Of a link: mean queue over the interval, in `packets`.
    pub const QUEUE: &str = "queue";
    /// Of a flow, a link or a relay: mean queueing delay of the packets that left in the interval, in `ms`.
    pub const QUEUEING: &str = "queueing delay";
    /// Of a relay: its send queue, in `packets`.
    pub const BACKLOG: &str = "backlog";
    /// Of a source of transfers: how many have begun and are not complete.
    pub const TRANSFERS: &str = "transfers under way";
    /// Of the group `all`: Jain's index of the goodputs over the weights of the flows that are running, over `measure.jain_window`.
    pub const JAIN: &str = "Jain index";
}

/// A distribution as points of its distribution function.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The kind of the entity.
    pub kind: EntityKind,
    /// The name of the entity.
    pub entity: String,
    /// The name of the quantity.
    pub quantity: String,
    /// The unit of the values.
    pub unit: String,
    /// `(cumulative share, value)`, both ascending; shares from 0 to 1.
    pub points: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flow, quantity};

    #[test]
    fn flows_are_in_the_order_of_the_scenario_whichever_starts_first() {
        let flow = |name: &str| Flow { name: name.into(), ..Flow::default() };
        let series = |name: &str| Series {
            kind: EntityKind::Flow,
            entity: name.into(),
            quantity: quantity::GOODPUT.into(),
            unit: "bit/s".into(),
            times: vec![1.0].into(),
            values: vec![1.0],
        };
        let run = Run {
            summary: Summary { flows: ["b", "a", "c"].map(flow).into(), ..Summary::default() },
            series: ["c", "a", "a/1", "b"].map(series).into(),
            ..Run::default()
        };
        let names = run.series_of_flows(quantity::GOODPUT);
        assert_eq!(names.iter().map(|one| one.entity.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
    }
}
