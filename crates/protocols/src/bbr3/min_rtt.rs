//! The base round-trip time, and when its next measurement is due (section 5.3.4.3).

use super::params::Params;
use millpond_units::{Span, Time};

/// An RTT and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    rtt: Span,
    at: Time,
}

/// The smallest recent RTTs.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// BBR.min_rtt: the smallest of the filter window.
    base: Measured,
    /// BBR.probe_rtt_min_delay: the smallest since the last measurement was due.
    recent: Measured,
    /// BBR.probe_rtt_expired: the recent one was due for a measurement at the last acknowledgement.
    pub(super) is_due: bool,
}

impl MinRtt {
    /// No sample yet.
    pub(super) fn new(now: Time) -> Self {
        let none = Measured { rtt: Span::MAX, at: now };
        Self { base: none, recent: none, is_due: false }
    }

    /// UpdateMinRTT().
    pub(super) fn update(&mut self, now: Time, rtt: Option<Span>, params: &Params) {
        self.is_due = now > self.recent.at + params.probe_rtt_interval;
        if let Some(rtt) = rtt.filter(|rtt| *rtt < self.recent.rtt || self.is_due) {
            self.recent = Measured { rtt, at: now };
        }
        let has_expired = now > self.base.at + params.min_rtt_window;
        if self.recent.rtt < self.base.rtt || has_expired {
            self.base = self.recent;
        }
    }

    /// The base RTT was measured with little in flight: the next measurement is an interval from now.
    pub(super) fn on_measured(&mut self, now: Time) {
        self.recent.at = now;
    }

    /// The base RTT in seconds; none before the first sample.
    pub(super) fn get(&self) -> Option<f64> {
        (self.base.rtt < Span::MAX).then(|| self.base.rtt.secs())
    }
}
