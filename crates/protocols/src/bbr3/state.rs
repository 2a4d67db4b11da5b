//! Parts of the state of BBRv3: limits and probes.

use super::phase::Phase;
use millpond_units::{Span, Time};

/// Upper limits that losses have set; infinite where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// BBR.inflight_longterm, in bytes.
    pub(super) in_flight_long_term: f64,
    /// BBR.bw_shortterm, in bytes/s.
    pub(super) bw_short_term: f64,
    /// BBR.inflight_shortterm, in bytes.
    pub(super) in_flight_short_term: f64,
}

impl Limits {
    /// No limits.
    pub(super) const NONE: Self = Self {
        in_flight_long_term: f64::INFINITY,
        bw_short_term: f64::INFINITY,
        in_flight_short_term: f64::INFINITY,
    };
}

/// What is restored when a loss episode proves spurious (section 2.15).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// BBR.undo_state: the phase that the losses ended.
    pub(super) phase: Option<Phase>,
    pub(super) limits: Limits,
}

impl Default for Undo {
    fn default() -> Self {
        let limits = Limits { in_flight_long_term: 0.0, bw_short_term: 0.0, in_flight_short_term: 0.0 };
        Self { phase: None, limits }
    }
}

/// What acknowledgements are about (BBR.ack_phase, section 2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// No probe.
    #[default]
    Init,
    /// The path is being filled.
    Refilling,
    /// The first round trip of a probe.
    ProbeStarting,
    /// The round trips in which the probe is felt.
    ProbeFeedback,
    /// The round trip after a probe.
    ProbeStopping,
}

/// State of the probes for bandwidth (section 2.14).
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample: acknowledgements are of packets sent in a probe that had no excessive loss yet.
    pub(super) is_sample: bool,
    /// BBR.bw_probe_up_acked, in bytes.
    pub(super) acked: f64,
    /// BBR.probe_up_acked_per_inc, in bytes.
    pub(super) acked_per_packet: f64,
    /// BBR.bw_probe_up_rounds.
    pub(super) doublings: u32,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds_since_up: u64,
    /// BBR.bw_probe_wait.
    pub(super) wait: Span,
    /// BBR.cycle_stamp.
    pub(super) began: Time,
    /// BBR.prev_probe_too_high.
    pub(super) was_too_high: bool,
    /// BBR.prev_probe_precautionary.
    pub(super) was_precautionary: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_sample: false,
            acked: 0.0,
            acked_per_packet: f64::INFINITY,
            doublings: 0,
            rounds_since_up: 0,
            wait: Span::ZERO,
            began: Time::ZERO,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

/// Progress of the phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_done_stamp: when the phase may end; none until little is in flight.
    pub(super) done_at: Option<Time>,
    /// BBR.probe_rtt_round_done.
    pub(super) round_done: bool,
}
