//! What an emulated link has done with real packets: the JSON of `millpond link`. Suffixes of keys are units: `_s` seconds,
//! `_ms` milliseconds, `_us` microseconds, `_bps` bits per second.

use crate::{Lateness, Machine, Milliseconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file of `millpond link --out`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EmulatedLink {
    /// Version of Millpond, with the commit that it was built from if that is known.
    pub version: String,
    /// The command line that was typed.
    pub command: String,
    /// Seed of the random numbers of laws, loss and jitter.
    pub seed: u64,
    /// How long the command ran, in seconds.
    pub duration_s: f64,
    /// Exit code of the command; 128 and the number of the signal that ended it.
    pub exit_code: u8,
    /// Exit code of the command at the other end, if it ended before the command; else null.
    pub server_exit_code: Option<u8>,
    /// The machine that emulated the link.
    pub machine: Machine,
    /// The direction to the command, then that from the command.
    pub directions: Vec<EmulatedDirection>,
}

/// One direction of the link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EmulatedDirection {
    /// `down`: to the command; `up`: from the command.
    pub name: String,
    /// Mean capacity over the duration, in bit/s; null without a limit.
    pub capacity_bps: Option<f64>,
    /// Propagation delay at the start, in milliseconds, without jitter.
    #[serde(default)]
    pub delay_ms: f64,
    /// Mean rate of the packets served, in bit/s.
    pub rate_bps: f64,
    /// Used share of the capacity; null without a limit.
    pub utilization: Option<f64>,
    /// Packets that entered.
    pub packets: u64,
    /// Packets that were delivered.
    pub delivered: u64,
    /// Bytes of the packets served.
    pub bytes: u64,
    /// Number of flows: pairs of addresses and ports.
    pub flows: u64,
    /// Queueing delay of the packets served, in milliseconds, without their own service; null without such a packet.
    pub queueing_ms: Option<Milliseconds>,
    /// Packets marked with CE by the queue.
    pub marks: u64,
    /// Packets dropped by the queue's law, or marked although not ECN-capable.
    pub law_drops: u64,
    /// Packets dropped because the buffer was full.
    pub buffer_drops: u64,
    /// Packets lost at random.
    pub losses: u64,
    /// Packets in the queue or on the wire when the command ended.
    pub left: u64,
    /// Packets that never entered the link, because the emulator did not read them in time.
    pub overrun: u64,
    /// Packets that the kernel at the end of the link did not accept.
    pub refused: u64,
    /// Packets that no router forwards, such as router solicitations; they did not enter.
    pub ignored: u64,
    /// By how much packets left later than they should have, in microseconds; null if none left.
    pub lateness_us: Option<Lateness>,
}
