//! DualPI2's parameters.

use crate::parts::interval;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span_or_zero, whole, word};
use millpond_units::Span;

millpond_law::words! {
    /// How the two queues are scheduled.
    pub enum SchedulerKind {
        /// Weighted round robin.
        WeightedRoundRobin = "wrr",
        /// The head packet that has waited longest, with an advantage of the low-latency queue.
        TimeShiftedFifo = "ts-fifo",
    }
}

/// DualPI2's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Queueing delay of the classic queue that the controller aims at.
    pub target: Span,
    /// Time between two updates of the base probability.
    pub update: Span,
    /// Integral gain, in 1/s for each update.
    pub alpha: f64,
    /// Proportional gain, in 1/s.
    pub beta: f64,
    /// Coupling factor k.
    pub coupling: f64,
    /// Start of the ramp of the low-latency queue.
    pub min_threshold: Span,
    /// Width of the ramp.
    pub range: Span,
    /// Packets behind the departing one up to which the ramp does not mark.
    pub min_packets: u64,
    /// How the two queues are scheduled.
    pub scheduler: SchedulerKind,
    /// Share of the classic queue in the weighted round robin.
    pub classic_weight: f64,
    /// Advantage of the low-latency queue in the time-shifted FIFO.
    pub time_shift: Span,
}

const TARGET: Key<Span> = span_or_zero("target", Span::from_millis(15))
    .source("target in RFC 9332, Figure 2")
    .meaning("queueing delay of the classic queue that the controller aims at");
const UPDATE: Key<Span> = interval::timer("update", Span::from_millis(16))
    .source("Tupdate in RFC 9332, appendix A.1")
    .meaning("time between two updates of the base probability");
const ALPHA: Key<f64> = number("alpha", "1/s", 0.16, from(0.0).to(1e6))
    .source("alpha in RFC 9332, appendix A.1, for RTT_max = 100 ms")
    .meaning("base probability that an update adds per second of delay above the target");
const BETA: Key<f64> = number("beta", "1/s", 3.2, from(0.0).to(1e6))
    .source("beta in RFC 9332, appendix A.1, for RTT_max = 100 ms")
    .meaning(
        "base probability that an update adds per second by which the delay has grown since the last update",
    );
const COUPLING: Key<f64> = number("coupling", "1", 2.0, above(0.0).to(100.0))
    .source("k in RFC 9332, Figure 2 and section 2.1")
    .meaning("marking probability of the low-latency queue over the base probability");
const MIN_THRESHOLD: Key<Span> = span_or_zero("min_threshold", Span::from_micros(800))
    .source("minTh in RFC 9332, Figure 2")
    .meaning("sojourn time in the low-latency queue above which its ramp marks");
const RANGE: Key<Span> = span_or_zero("range", Span::from_micros(400))
    .source("range in RFC 9332, Figure 2")
    .meaning("width of the ramp, at whose end every packet is marked; 0s: a step");
const MIN_PACKETS: Key<u64> = whole("min_packets", "packets", 1, from(0.0).to(1e6))
    .source("Th_len in RFC 9332, Figures 2 and 7")
    .meaning("packets left in the low-latency queue up to which its ramp does not mark");
const SCHEDULER: Key<SchedulerKind> = word("scheduler", SchedulerKind::WeightedRoundRobin)
    .source("RFC 9332, section 4.2.2 and appendix A.2")
    .meaning("weighted round robin, or a time-shifted FIFO");
const CLASSIC_WEIGHT: Key<f64> = number("classic_weight", "1", 1.0 / 16.0, from(0.0).to(1.0))
    .source("RFC 9332, section 4.2.2")
    .meaning("share of the classic queue in the weighted round robin while both queues have packets");
const TIME_SHIFT: Key<Span> = span_or_zero("time_shift", Span::from_millis(50))
    .source("tshift in RFC 9332, appendix A.2")
    .meaning("time by which packets of the classic queue must have waited longer in the time-shifted FIFO");

pub(super) static PARAMETERS: Keys = &[
    &TARGET,
    &UPDATE,
    &ALPHA,
    &BETA,
    &COUPLING,
    &MIN_THRESHOLD,
    &RANGE,
    &MIN_PACKETS,
    &SCHEDULER,
    &CLASSIC_WEIGHT,
    &TIME_SHIFT,
];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            target: settings.get(TARGET),
            update: settings.get(UPDATE),
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            coupling: settings.get(COUPLING),
            min_threshold: settings.get(MIN_THRESHOLD),
            range: settings.get(RANGE),
            min_packets: settings.get(MIN_PACKETS),
            scheduler: settings.get(SCHEDULER),
            classic_weight: settings.get(CLASSIC_WEIGHT),
            time_shift: settings.get(TIME_SHIFT),
        }
    }
}
