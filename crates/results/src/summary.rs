//! The numbers of a run, with the keys of `summary.json`. Suffixes of keys are units: `_s` seconds, `_ms` milliseconds,
//! `_bps` bits per second. `docs/results.md` is the reference of all files.

use crate::LiveFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file `summary.json`. Counters and means are over the measured time, from `measured_from_s` to `simulated_s`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Title of the scenario.
    pub scenario: String,
    /// World of the run: `packets`, `fluid` or `live`.
    pub world: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: String,
    /// The hash of the resolved scenario without its seed: SHA-256 in hexadecimal digits.
    #[serde(default)]
    pub scenario_sha256: String,
    /// The traces of the scenario.
    #[serde(default)]
    pub traces: Vec<TraceKey>,
    /// Simulated time at the end of the run, in seconds.
    pub simulated_s: f64,
    /// Number of times that a packet (data or acknowledgement) crossed a link, from time zero; 0 in the fluid world.
    pub packet_hops: u64,
    /// Start of the measured time, in seconds: `measure.from`.
    pub measured_from_s: f64,
    /// Warnings about the scenario, one sentence each.
    pub warnings: Vec<String>,
    /// Each declared flow. A flow that spawns transfers has one entry for all of them, and is left out of `fairness`.
    pub flows: Vec<Flow>,
    /// Each group of flows, in the order of the scenario.
    pub groups: Vec<Group>,
    /// Each time in which a flow had data and sent nothing for longer than a second and 20 base RTTs, although its path was
    /// up; in the packet world, longest first.
    #[serde(default)]
    pub silences: Vec<Silence>,
    /// Each direction of each link: of two directions with one name, the forward one comes first.
    pub links: Vec<Link>,
    /// Each relay of each flow.
    pub relays: Vec<Relay>,
    /// End-to-end queueing delay of all packets of all flows, relays included, in milliseconds.
    pub queueing_ms: Milliseconds,
    /// Slowdown of the transfers of all groups; absent if it is not known of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Slowdown>,
    /// Fairness among all declared flows, those that spawn transfers, send pings or carry an application excepted.
    pub fairness: Fairness,
    /// What the machine and the datagrams did in a run of the live world; absent in the other worlds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveFacts>,
}

/// A trace of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceKey {
    /// The name of its file without directories.
    pub name: String,
    /// The SHA-256 of its rates over time in hexadecimal digits, whatever the format of the file.
    pub sha256: String,
}

impl Summary {
    /// Why the results of a live run cannot be trusted, each in a sentence; empty if they can, and in the other worlds.
    #[must_use]
    pub fn distrust(&self) -> Vec<String> {
        self.live.as_ref().map_or_else(Vec::new, |live| live.distrust(self.queueing_ms.mean))
    }

    /// Sentences about what the machine did in a live run, and whether its results can be trusted; empty in the other worlds.
    #[must_use]
    pub fn live_sentences(&self) -> Vec<String> {
        self.live.as_ref().map_or_else(Vec::new, |live| live.sentences(self.queueing_ms.mean))
    }

    /// The name by which series and distributions refer to `links[index]`: `L1 ->`, or `L1 <-` for the reverse direction.
    pub fn link_entity(&self, index: usize) -> String {
        let name = &self.links[index].name;
        let is_reverse = self.links[..index].iter().any(|link| link.name == *name);
        format!("{name} {}", if is_reverse { "<-" } else { "->" })
    }
}

/// A distribution of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Milliseconds {
    /// Least value, in milliseconds.
    pub min: f64,
    /// Mean, in milliseconds.
    pub mean: f64,
    /// Median, in milliseconds.
    pub p50: f64,
    /// 95th percentile, in milliseconds.
    pub p95: f64,
    /// 99th percentile, in milliseconds.
    pub p99: f64,
    /// 99.9th percentile, in milliseconds.
    #[serde(default)]
    pub p999: f64,
    /// Greatest value, in milliseconds.
    pub max: f64,
}

impl Milliseconds {
    /// The statistics of times in picoseconds; `quantile` returns the time that a share of them does not exceed.
    pub fn of_picoseconds(least: u64, mean: f64, greatest: u64, quantile: impl Fn(f64) -> u64) -> Self {
        let millis = |picos: u64| picos as f64 / 1e9;
        let at = |share| millis(quantile(share));
        Self {
            min: millis(least),
            mean: mean / 1e9,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: millis(greatest),
        }
    }
}

/// A distribution over time of a queue length, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// Mean over time, in packets.
    pub mean: f64,
    /// Median over time, in packets.
    pub p50: f64,
    /// 95th percentile over time, in packets.
    pub p95: f64,
    /// 99th percentile over time, in packets.
    pub p99: f64,
    /// Greatest value, in packets.
    pub max: f64,
}

/// A declared flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// `group.index`, or the name of the group if it has one flow.
    pub name: String,
    /// Name of its group.
    pub group: String,
    /// Protocol, as the scenario names it.
    pub protocol: String,
    /// Start, in seconds.
    pub start_s: f64,
    /// End, in seconds: its stop time, its completion or the end of the run, whichever comes first.
    pub stop_s: f64,
    /// Payload delivered exactly once over the part of the measured time in which the flow ran, in bit/s.
    pub goodput_bps: f64,
    /// Bytes on the wire sent by its first loop over the same time, in bit/s.
    pub send_rate_bps: f64,
    /// Mean of its fair shares over the windows of `measure.jain_window` in the measured time, in bit/s, as defined at
    /// `converged_s`; null if it has none.
    #[serde(default)]
    pub fair_share_bps: Option<f64>,
    /// Mean congestion window, in packets; null if the law has no window, or if the flow has relays.
    pub window_packets: Option<f64>,
    /// Round-trip times, in milliseconds; null without a sample, and if the flow has relays: no acknowledgement then comes from its
    /// destination.
    pub rtt_ms: Option<Milliseconds>,
    /// Its loops from source to destination, if it has relays.
    #[serde(default)]
    pub loops: Vec<Loop>,
    /// Round trips per minute, if its workload is `ping`: a minute over the mean of its round-trip times, those above their
    /// 95th percentile left out. Null for other workloads.
    #[serde(default)]
    pub rpm: Option<f64>,
    /// End-to-end queueing delay, relays included, in milliseconds; zeros if nothing was delivered.
    pub queueing_ms: Milliseconds,
    /// Time from the first transmission of data by the source to its arrival at the destination, in milliseconds: queueing,
    /// service, propagation, processing, retransmission and relays. Null in the fluid world.
    #[serde(default)]
    pub one_way_ms: Option<Milliseconds>,
    /// Number of packets sent by its first loop.
    pub sent: u64,
    /// Number of packets delivered for the first time.
    pub delivered: u64,
    /// Number of retransmitted packets, all loops.
    pub retransmitted: u64,
    /// Number of packets declared lost, all loops.
    pub lost: u64,
    /// Number of packets that arrived with a CE mark, all loops.
    pub marked: u64,
    /// Number of headers that its senders and receivers could not read (too short, foreign or invalid), all loops.
    pub unread_headers: u64,
    /// Time at which its last byte was delivered, in seconds; null if its size is unlimited or it is not complete.
    pub completed_s: Option<f64>,
    /// Time at which a sender of it closed, in seconds, because its receiver acknowledged packets that were not sent; only with
    /// `endpoint.skip_numbers`. Null if none did.
    #[serde(default)]
    pub closed_s: Option<f64>,
    /// Time at which a sender of it stopped ECN, in seconds, because a packet had arrived without its ECN field; only with
    /// `endpoint.validate_ecn`. Absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_stopped_s: Option<f64>,
    /// Time of convergence, in seconds: from then on the goodput of every window of `measure.jain_window` is within the
    /// fraction `measure.converged_within` of the fair share. The fair share is the max-min share, weighted by the weights of
    /// the flows, among those that run throughout the window, times the utilization that the flows connected with it by
    /// shared links reach. Null if the flow does not converge or shares no link.
    pub converged_s: Option<f64>,
}

/// One loop of a flow with relays: a sender, a path and a receiver with a law of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loop {
    /// `flow/loop1` for the first loop, which begins at the source.
    pub name: String,
    /// The name of its protocol in the scenario, if it is not that of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Mean congestion window, in packets; null if the law has no window.
    pub window_packets: Option<f64>,
    /// Round-trip times, in milliseconds.
    pub rtt_ms: Milliseconds,
}

/// Mean, least and greatest value over the flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Mean, in the unit of the key.
    pub mean: f64,
    /// Least value, in the unit of the key.
    pub min: f64,
    /// Greatest value, in the unit of the key.
    pub max: f64,
}

/// A group of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Number of its flows.
    pub flows: u64,
    /// Number of its flows that starve: their goodput is below a tenth of their fair share.
    #[serde(default)]
    pub starving: u64,
    /// Goodput of its flows, in bit/s.
    pub goodput_bps: Spread,
    /// Mean of the windows of its flows, in packets; null if the law has no window, or if the flows have relays.
    pub window_packets: Option<f64>,
    /// Jain's fairness index of the goodputs within the group, from 1/n to 1; null if fewer than two of its flows ran in the
    /// measured time, or if none delivered anything.
    pub jain: Option<f64>,
    /// Least goodput over greatest goodput, from 0 to 1.
    pub min_over_max: f64,
    /// End-to-end queueing delay of all packets of the group, in milliseconds.
    pub queueing_ms: Milliseconds,
    /// Time from the first transmission of data by the source to its arrival at the destination, in milliseconds: queueing,
    /// service, propagation, processing, retransmission and relays. Null in the fluid world.
    #[serde(default)]
    pub one_way_ms: Option<Milliseconds>,
    /// Number of its transfers: flows of limited size, and those that began in the measured time of spawned transfers, web
    /// pages, segments of adaptive video and frames of video calls.
    #[serde(default)]
    pub transfers: u64,
    /// Number of these transfers that are complete.
    #[serde(default)]
    pub completed: u64,
    /// Completion times of these transfers, in milliseconds; null if none is complete.
    pub completion_ms: Option<Milliseconds>,
    /// Slowdown of these transfers; absent if it is not known of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Slowdown>,
    /// What the viewers of its adaptive video saw; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playback: Option<Playback>,
}

/// How many times as long as alone in the network complete transfers took: completion time divided by the shortest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest value.
    pub max: f64,
}

/// What the viewers of an adaptive video saw in the measured time: mean, least and greatest value over the flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Playback {
    /// Mean bitrate of the segments that arrived, in bit/s.
    pub bitrate_bps: Spread,
    /// How long playback stood still after it had begun, in seconds.
    pub rebuffering_s: Spread,
    /// Number of changes of the bitrate from one segment to the next.
    pub switches: Spread,
    /// Time from the start to the first picture, in seconds, of the flows that had one since the run began.
    pub startup_s: Spread,
}

/// A time in which the first loop of a flow had data, or waited for a probe timeout, and sent nothing. Time in which a link of its
/// path had no capacity does not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// Name of the flow.
    pub flow: String,
    /// Beginning, in seconds; not within an outage of the path.
    pub from_s: f64,
    /// End, in seconds: when the next packet left, when the flow stopped, or the end of the run.
    pub to_s: f64,
    /// Duration in seconds, without outages of the path.
    pub silent_s: f64,
    /// `silent_s` in base RTTs of the flow.
    pub base_rtts: f64,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Name of the link; both directions have the same.
    pub name: String,
    /// Nodes at its ends: `R1 -> R2`.
    pub direction: String,
    /// Mean capacity, in bit/s.
    pub capacity_bps: f64,
    /// Served bits over the bits that the capacity could have served, from 0 to 1.
    pub utilization: f64,
    /// Queue length, the packet in service included, in packets.
    pub queue_packets: Packets,
    /// Queueing delay of its packets, in milliseconds.
    pub queueing_ms: Milliseconds,
    /// Number of packets that arrived.
    pub arrivals: u64,
    /// Number of packets dropped, random loss included.
    pub drops: u64,
    /// Number of packets dropped from time zero, random loss included.
    #[serde(default)]
    pub drops_total: u64,
    /// Number of packets marked.
    pub marks: u64,
    /// Number of headers that were too short, invalid, or of a protocol that no law of the link reads.
    pub foreign_headers: u64,
}

/// A relay of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Relay {
    /// `flow@node`.
    pub name: String,
    /// Length of its send queue, in packets.
    pub queue_packets: Packets,
    /// Number of packets dropped: 0, unless the relay has a fault.
    pub dropped: u64,
}

/// Fairness among flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Jain's fairness index of the goodputs over the weights of the flows, from 1/n to 1; null if fewer than two flows ran in the measured time, or if none delivered anything.
    pub jain: Option<f64>,
    /// The least of these over the greatest, from 0 to 1.
    pub min_over_max: f64,
    /// The same index per window of `measure.jain_window`, among the flows that run throughout the window.
    pub short_term_jain: Quartiles,
}

/// Extremes and quartiles of a list of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quartiles {
    /// Least value, in the unit of the key.
    pub min: f64,
    /// First quartile, in the unit of the key.
    pub p25: f64,
    /// Median, in the unit of the key.
    pub p50: f64,
    /// Third quartile, in the unit of the key.
    pub p75: f64,
    /// Greatest value, in the unit of the key.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantile of share `s` is `10 s` milliseconds.
    #[test]
    fn times_in_picoseconds_become_milliseconds() {
        let found = Milliseconds::of_picoseconds(1_000_000_000, 4.5e9, 12_000_000_000, |share| {
            (share * 1e10).round() as u64
        });
        let expected =
            Milliseconds { min: 1.0, mean: 4.5, p50: 5.0, p95: 9.5, p99: 9.9, p999: 9.99, max: 12.0 };
        assert_eq!(found, expected);
    }
}
