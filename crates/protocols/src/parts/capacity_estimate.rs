//! The carrying capacity of a sender without a signalled one: a multiple of the recent delivery rate.

use millpond_law::key::{Key, above, number};
use millpond_law::{Ack, Settings};
use millpond_units::Rate;

pub(crate) const PROBE_GAIN: Key<f64> = number("probe_gain", "1", 2.0, above(1.0).to(100.0))
    .source("not in the paper (section IX-B leaves it open): see ERRATA.md")
    .meaning("an estimated capacity is this times the largest delivery rate, plus an initial window per RTT");

/// A sample expires after this number of round trips at the earliest, and after twice as many at the latest.
const ROUNDS: u64 = 10;

/// The largest delivery rate of the last 10 to 20 round trips, and the capacity estimated from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CapacityEstimate {
    gain: f64,
    began: u64,
    previous: Rate,
    recent: Rate,
}

impl CapacityEstimate {
    /// An estimate under these settings.
    pub fn read(settings: &Settings) -> Self {
        Self { gain: settings.get(PROBE_GAIN), ..Self::default() }
    }

    /// Records the delivery-rate sample of an acknowledgement. While the sender is application-limited, no sample
    /// expires.
    pub fn on_ack(&mut self, ack: &Ack) {
        if ack.round >= self.began.saturating_add(ROUNDS) && !ack.app_limited {
            *self = Self { began: ack.round, previous: self.recent, recent: Rate::ZERO, ..*self };
        }
        if let Some(rate) = ack.delivery_rate() {
            self.recent = self.recent.max(rate);
        }
    }

    /// The largest delivery rate; zero before the first sample.
    pub fn delivered(&self) -> Rate {
        self.previous.max(self.recent)
    }

    /// The estimate in bit/s. The constant term `step` lets flows that share a link grow equally: without it any
    /// division of the link would be an equilibrium.
    pub fn get(&self, step: f64) -> f64 {
        self.gain * self.delivered().as_f64() + step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::logistic::Bases;
    use millpond_units::{Bytes, Span};

    fn sample(round: u64, mbps: f64, app_limited: bool) -> Ack {
        let span = Span::from_millis(1);
        let delivered = Rate::from_mbps(mbps).bytes_in(span);
        Ack {
            round,
            delivered,
            delivery_span: span,
            app_limited,
            ..Ack::plain(Bytes::new(1500), span, Bytes::ZERO)
        }
    }

    #[test]
    fn a_peak_expires_after_10_to_20_rounds() {
        let mut estimate = CapacityEstimate::default();
        estimate.on_ack(&sample(0, 80.0, false));
        for round in 1..20 {
            estimate.on_ack(&sample(round, 8.0, false));
            assert_eq!(estimate.delivered(), Rate::from_mbps(80.0), "round {round}");
        }
        estimate.on_ack(&sample(20, 8.0, false));
        assert_eq!(estimate.delivered(), Rate::from_mbps(8.0));
    }

    #[test]
    fn two_flows_that_estimate_converge_to_equal_shares() {
        // Both receive the marking probability that keeps the sum at 100, and deliver their sending rates.
        let (bases, mut rates) = (Bases::new(10.0, 5.0), [90.0, 10.0]);
        for _ in 0..4000 {
            let capacities = rates.map(|x| {
                let delivered = Rate::from_bps_f64(x * 1e6);
                CapacityEstimate { gain: 2.0, recent: delivered, ..CapacityEstimate::default() }.get(2e6)
                    / 1e6
            });
            let deflation = 100.0 / (capacities[0] + capacities[1]);
            let marking = 1.0 - libm::pow(deflation, 1.0 / bases.exponent());
            rates = [0, 1].map(|i| bases.step(rates[i], capacities[i], marking, 0.3));
        }
        assert!((rates[0] - rates[1]).abs() < 1.0, "{rates:?}");
    }

    #[test]
    fn the_samples_of_an_application_limited_sender_do_not_expire() {
        let mut estimate = CapacityEstimate::default();
        estimate.on_ack(&sample(0, 80.0, false));
        for round in 1..100 {
            estimate.on_ack(&sample(round, 8.0, true));
        }
        assert_eq!(estimate.delivered(), Rate::from_mbps(80.0));
    }
}
