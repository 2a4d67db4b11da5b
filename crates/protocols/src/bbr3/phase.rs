//! The phases of BBRv3 and their gains (section 5.6.1).

use super::params::Params;

/// What the sender does at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Searches for the bandwidth by doubling the rate each round trip.
    Startup,
    /// Empties the queue that the search has built.
    Drain,
    /// Sends below the bandwidth, to empty the queue of a probe and to leave headroom.
    Down,
    /// Sends at the bandwidth.
    Cruise,
    /// Fills the path for one round trip before it sends faster.
    Refill,
    /// Sends faster than the bandwidth, to find out whether there is more.
    Up,
    /// Holds little in flight, to measure the base RTT.
    ProbeRtt,
}

impl Phase {
    /// True in the four phases of the bandwidth cycle (IsInAProbeBWState).
    pub(super) fn is_in_cycle(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// True while the sender tries to find more bandwidth (IsProbingBW).
    pub(super) fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Pacing rate over bandwidth.
    pub(super) fn pacing_gain(self, params: &Params) -> f64 {
        match self {
            Self::Startup => params.startup_pacing_gain,
            Self::Drain => params.drain_pacing_gain,
            Self::Down => params.probe_down_pacing_gain,
            Self::Up => params.probe_up_pacing_gain,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
        }
    }

    /// Window over the bandwidth-delay product.
    pub(super) fn window_gain(self, params: &Params) -> f64 {
        match self {
            Self::Up => params.probe_up_window_gain,
            Self::ProbeRtt => params.probe_rtt_window_gain,
            _ => params.window_gain,
        }
    }

    /// Its number in plots, in the order in which the phases follow one another.
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Startup => 0.0,
            Self::Drain => 1.0,
            Self::Down => 2.0,
            Self::Cruise => 3.0,
            Self::Refill => 4.0,
            Self::Up => 5.0,
            Self::ProbeRtt => 6.0,
        }
    }
}
