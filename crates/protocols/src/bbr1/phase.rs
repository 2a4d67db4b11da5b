//! The phases of BBRv1 and their gains (section 4.3).

use super::params::Params;

/// Number of phases of the bandwidth cycle (BBRGainCycleLen).
pub(super) const CYCLE: u32 = 8;

/// What the sender does at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Doubles the rate each round trip.
    Startup,
    /// Empties the queue of the start.
    Drain,
    /// Sends at the measured bandwidth; the number of the phase in the cycle of gains.
    ProbeBandwidth(u32),
    /// Holds four packets in flight, to measure the base RTT.
    ProbeRtt,
}

impl Phase {
    /// Pacing rate over bandwidth.
    pub(super) fn pacing_gain(self, params: &Params) -> f64 {
        match self {
            Self::Startup => params.high_gain,
            Self::Drain => 1.0 / params.high_gain,
            Self::ProbeBandwidth(0) => params.probe_gain,
            Self::ProbeBandwidth(1) => 2.0 - params.probe_gain,
            Self::ProbeBandwidth(_) | Self::ProbeRtt => 1.0,
        }
    }

    /// Window over the bandwidth-delay product.
    pub(super) fn window_gain(self, params: &Params) -> f64 {
        match self {
            Self::Startup | Self::Drain => params.high_gain,
            Self::ProbeBandwidth(_) => params.window_gain,
            Self::ProbeRtt => 1.0,
        }
    }

    /// Its number in plots: 0 to 3 in the order above.
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Startup => 0.0,
            Self::Drain => 1.0,
            Self::ProbeBandwidth(_) => 2.0,
            Self::ProbeRtt => 3.0,
        }
    }
}
