//! The numbers of a run, as `summary.json` spells them: keys carry their units.

use serde::{Deserialize, Serialize};

/// `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Title of the scenario.
    pub scenario: String,
    /// packets, fluid or live.
    pub world: String,
    /// The seed.
    pub seed: u64,
    /// Of Millpond.
    pub version: String,
    /// How much time was simulated.
    pub simulated_s: f64,
    /// Packets, data or acknowledgement, that crossed a link.
    pub packet_hops: u64,
    /// Everything below is measured from here on, unless its name says total.
    pub measured_from_s: f64,
    /// What a user should know about this run.
    pub warnings: Vec<String>,
    /// Each declared flow. One that spawns transfers stands for all of them together, and is not compared with others.
    pub flows: Vec<Flow>,
    /// Each group of flows.
    pub groups: Vec<Group>,
    /// Each direction of each link: of two directions with one name, the one `->` comes first.
    pub links: Vec<Link>,
    /// Each relay of each flow.
    pub relays: Vec<Relay>,
    /// Queueing delay from end to end, relays included, of all packets of all flows.
    pub queueing_ms: Milliseconds,
    /// Among all flows, spawned transfers apart.
    pub fairness: Fairness,
}

impl Summary {
    /// What the series and distributions of `links[index]` are filed under: `L1 ->`, and `L1 <-` for the way back.
    pub fn link_entity(&self, index: usize) -> String {
        let name = &self.links[index].name;
        let back = self.links[..index].iter().any(|link| link.name == *name);
        format!("{name} {}", if back { "<-" } else { "->" })
    }
}

/// A distribution of times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Milliseconds {
    /// Least.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95 of 100 are at most this.
    pub p95: f64,
    /// 99 of 100 are at most this.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
}

/// A distribution over time of a number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Packets {
    /// Mean over time.
    pub mean: f64,
    /// Half of the time it is at most this.
    pub p50: f64,
    /// 95 % of the time it is at most this.
    pub p95: f64,
    /// 99 % of the time it is at most this.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// `group.index`, or the group's name if it has one flow.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Its protocol.
    pub protocol: String,
    /// When it started.
    pub start_s: f64,
    /// When it stopped: when it was told to, when it was complete, or at the end of the run.
    pub stop_s: f64,
    /// Payload delivered exactly once, over the time measured while it ran.
    pub goodput_bps: f64,
    /// Bytes on the wire sent by its first loop.
    pub send_rate_bps: f64,
    /// Mean congestion window of its first loop; none for a law without a window.
    pub window_packets: Option<f64>,
    /// Round-trip times of its first loop.
    pub rtt_ms: Milliseconds,
    /// Queueing delay from end to end, relays included.
    pub queueing_ms: Milliseconds,
    /// Packets sent by its first loop.
    pub sent: u64,
    /// Packets delivered for the first time.
    pub delivered: u64,
    /// Packets sent again, all loops.
    pub retransmitted: u64,
    /// Packets declared lost, all loops.
    pub lost: u64,
    /// Packets that arrived with a CE mark, all loops.
    pub marked: u64,
    /// Headers that its senders and receivers could not read, all loops: too short, foreign or senseless.
    pub unread_headers: u64,
    /// When its last byte was delivered, if its size is limited and it was.
    pub completed_s: Option<f64>,
    /// From when on its goodput, window of `measure.jain_window` after window, stays within the fraction
    /// `measure.converged_within` of its fair share: its max-min fair share of the links among the flows that run
    /// throughout the window, less what flows that share links with it leave unused. None if it shares no link.
    pub converged_s: Option<f64>,
}

/// Mean, least and greatest over the members of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}

/// Completion times of a group's transfers, in milliseconds.
pub type Completion = Milliseconds;

/// A group of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// How many flows it has.
    pub flows: u64,
    /// Goodput over its flows.
    pub goodput_bps: Spread,
    /// Mean window over its flows; none for a law without a window.
    pub window_packets: Option<f64>,
    /// Jain's fairness index within the group.
    pub jain: f64,
    /// Least goodput over greatest.
    pub min_over_max: f64,
    /// Queueing delay from end to end of all its packets.
    pub queueing_ms: Milliseconds,
    /// Its transfers: flows of a limited size, and what it spawned while it was measured.
    #[serde(default)]
    pub transfers: u64,
    /// How many of these are complete.
    #[serde(default)]
    pub completed: u64,
    /// Of those that are; none if there are none.
    pub completion_ms: Option<Completion>,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// `R1 -> R2`.
    pub direction: String,
    /// Mean capacity.
    pub capacity_bps: f64,
    /// Served over what could have been served.
    pub utilization: f64,
    /// Its queue, the packet in service included.
    pub queue_packets: Packets,
    /// Queueing delay of its packets.
    pub queueing_ms: Milliseconds,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped, random loss included.
    pub drops: u64,
    /// The same since the run began.
    #[serde(default)]
    pub drops_total: u64,
    /// Packets marked.
    pub marks: u64,
    /// Headers too short, senseless, or of a protocol that none of the link's laws reads.
    pub foreign_headers: u64,
}

/// A relay of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Relay {
    /// `flow@node`.
    pub name: String,
    /// Its send queue.
    pub queue_packets: Packets,
    /// Packets dropped: zero, or something is wrong.
    pub dropped: u64,
}

/// Fairness among all flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Jain's fairness index of the goodputs.
    pub jain: f64,
    /// Least goodput over greatest.
    pub min_over_max: f64,
    /// Jain's index over windows of `measure.jain_window`, among the flows that run in the whole window.
    pub short_term_jain: Quartiles,
}

/// Quartiles and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quartiles {
    /// Least.
    pub min: f64,
    /// Quarter.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// Three quarters.
    pub p75: f64,
    /// Greatest.
    pub max: f64,
}
