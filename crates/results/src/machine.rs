//! How well a machine kept to the times of links that real packets cross. Suffixes of keys are units: `_us` microseconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How well the machine kept to the times of the link. The times of the queue are exact whatever these numbers are; late
/// departures add to the delay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The emulator ran with real-time priority.
    pub real_time: bool,
    /// Mean number of processes that ran or waited for a processor in the last minute.
    pub load: f64,
    /// Number of processors.
    pub processors: u64,
    /// Share of the time for which the emulator used a processor.
    pub processor_share: f64,
    /// By how much packets of both directions left later than they should have, in microseconds; null if none left.
    pub lateness_us: Option<Lateness>,
}

/// A distribution of delays of the emulator, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Largest value.
    pub max: f64,
}
