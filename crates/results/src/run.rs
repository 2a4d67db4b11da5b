//! One run: its numbers, its quantities over time, its distributions, its transfers.

use crate::Summary;
use serde::{Deserialize, Serialize};

/// One run: one scenario, one seed, one world, one assignment of protocols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What the run is called beside others: the protocol in a comparison, else the scenario's title.
    pub label: String,
    /// The numbers.
    pub summary: Summary,
    /// Quantities over time, sampled every `measure.every`.
    pub series: Vec<Series>,
    /// Distributions of queueing delay: one per link direction, one per flow group, one of all flows (`all`).
    pub distributions: Vec<Distribution>,
    /// The scenario as resolved, re-runnable.
    pub scenario_toml: String,
    /// The command that reproduces this run.
    pub command: String,
    /// Every transfer: the declared flows, and those that a workload spawned.
    pub transfers: Vec<Transfer>,
}

/// One transfer: a flow of its own, whether it is one piece of a declared flow's work or all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// `group.index`, or the group's name if it has one flow; a transfer that one of them spawned is `group.index/number`.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its protocol.
    pub protocol: String,
    /// Payload it had to deliver; none if that had no end.
    pub size_bytes: Option<u64>,
    /// Payload delivered exactly once.
    pub delivered_bytes: u64,
    /// When it started.
    pub start_s: f64,
    /// When its last byte was delivered, if its size is limited and it was.
    pub completed_s: Option<f64>,
}

impl Transfer {
    /// How long it took, in milliseconds, if it is complete.
    pub fn completion_ms(&self) -> Option<f64> {
        self.completed_s.map(|end| (end - self.start_s) * 1e3)
    }
}

/// What a run cost, as `timing.json` spells it; apart from [`Run`] since it differs from one execution to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Time on the wall.
    pub wall_s: f64,
    /// Processor time of the run's thread; none where the system does not tell.
    pub cpu_s: Option<f64>,
    /// Packets that crossed a link, per second of processor time (else of wall time).
    pub packet_hops_per_s: f64,
}

/// What a series or a distribution belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One flow, by its name (`short.3`); a flow's loop is `short.3/loop2`.
    Flow,
    /// One direction of a link, `L1 ->` or `L1 <-`.
    Link,
    /// A relay of a flow, `short.3@R1`.
    Relay,
    /// All flows of a group, or all flows together (`all`).
    Group,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Flow, Self::Link, Self::Relay, Self::Group];

    /// As written in files.
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
    /// What kind of entity.
    pub kind: Kind,
    /// Its name.
    pub entity: String,
    /// In plain words; see [`quantity`] for those that every run has.
    pub quantity: String,
    /// As printed: `bit/s`, `packets`, `ms`, `1`.
    pub unit: String,
    /// Ends of the intervals sampled, in seconds.
    pub times: Vec<f64>,
    /// One value per time; not-a-number where the quantity has none (a flow that has not started).
    pub values: Vec<f64>,
}

/// The quantities that every run has, whatever the protocol; internals of laws come beside them by their own names.
pub mod quantity {
    /// Of a flow: bytes delivered exactly once in the interval, as `bit/s`.
    pub const GOODPUT: &str = "goodput";
    /// Of a flow: bytes sent by its first loop in the interval, as `bit/s`.
    pub const SEND_RATE: &str = "send rate";
    /// Of a flow's loop: congestion window, in `packets`.
    pub const WINDOW: &str = "window";
    /// Of a flow's loop: smoothed round-trip time, in `ms`.
    pub const RTT: &str = "smoothed RTT";
    /// Of a link: mean capacity over the interval, in `bit/s`.
    pub const CAPACITY: &str = "capacity";
    /// Of a link: served in the interval, as `bit/s`.
    pub const THROUGHPUT: &str = "throughput";
    /// Of a link: mean queue over the interval, in `packets`.
    pub const QUEUE: &str = "queue";
    /// Of a link: mean queueing delay of the packets that left in the interval, in `ms`.
    pub const QUEUEING: &str = "queueing delay";
    /// Of a relay: its send queue, in `packets`.
    pub const BACKLOG: &str = "backlog";
    /// Of a source of transfers: how many have begun and are not complete.
    pub const TRANSFERS: &str = "transfers under way";
    /// Of the group `all`: Jain's index of the goodputs of the flows that are running, over `measure.jain_window`.
    pub const JAIN: &str = "Jain index";
}

/// A distribution as value at evenly and unevenly spaced cumulative shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// What kind of entity.
    pub kind: Kind,
    /// Its name.
    pub entity: String,
    /// Which quantity.
    pub quantity: String,
    /// As printed.
    pub unit: String,
    /// `(cumulative share, value)`, both growing: 0 to 1.
    pub points: Vec<(f64, f64)>,
}
