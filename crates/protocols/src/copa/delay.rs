//! The three round-trip times of Copa (sections 2.1 and 2.2, NSDI 2018).

use crate::parts::windowed_max::WindowedMax;
use millpond_units::{Span, Time};

/// Round trips over which the greatest round-trip time is taken (section 2.2).
const GREATEST_ROUNDS: u64 = 4;

/// Queueing delay over the greatest one below which the queue counts as nearly empty (section 2.2).
const NEARLY_EMPTY: f64 = 0.1;

/// Round-trip times of the recent past, in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    /// RTTstanding: the least of half a smoothed round-trip time. Negated samples: the greatest of them is the least time.
    standing: WindowedMax,
    /// RTTmin, negated as well.
    least: WindowedMax,
    /// RTTmax.
    greatest: WindowedMax,
}

impl Delays {
    pub(super) fn record(&mut self, now: Time, rtt: Span, smoothed: Span, min_rtt_window: Span) {
        let (now, rtt) = (now.picos(), rtt.secs());
        self.standing.record(now, -rtt, smoothed.picos() / 2);
        self.least.record(now, -rtt, min_rtt_window.picos());
        self.greatest.record(now, rtt, smoothed.picos().saturating_mul(GREATEST_ROUNDS));
    }

    /// RTTstanding in seconds: without the delay of acknowledgements that arrive compressed.
    pub(super) fn standing(&self) -> f64 {
        -self.standing.get()
    }

    /// RTTstanding less RTTmin, in seconds.
    pub(super) fn queueing(&self) -> f64 {
        (self.standing() + self.least.get()).max(0.0)
    }

    /// Section 2.2: whether the queue is nearly empty, compared with the greatest delay of the last four round trips.
    pub(super) fn nearly_empty(&self) -> bool {
        let greatest = self.greatest.get() + self.least.get();
        self.queueing() <= NEARLY_EMPTY * greatest.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standing_time_is_the_least_of_half_a_round_trip_and_the_greatest_that_of_four() {
        let mut delays = Delays::default();
        let mut at = |now_ms: u64, rtt_ms: u64| {
            let (now, ms) = (Time::ZERO + Span::from_millis(now_ms), Span::from_millis);
            delays.record(now, ms(rtt_ms), ms(100), ms(10_000));
            let millis = |secs: f64| (secs * 1e3).round() as u64;
            (millis(delays.standing()), millis(delays.queueing()), delays.nearly_empty())
        };
        assert_eq!(at(0, 100), (100, 0, true));
        // The first sample is in the standing window for 50 ms; 20 ms of queue then.
        assert_eq!(at(50, 120), (100, 0, true));
        assert_eq!(at(51, 120), (120, 20, false));
        assert_eq!(at(200, 200), (200, 100, false));
        // 10 ms are a tenth of the 100 ms that the queue had within 400 ms, and half of the 20 ms after that.
        assert_eq!(at(590, 110), (110, 10, true));
        assert_eq!(at(650, 120), (120, 20, false));
        // After ten seconds the least time is forgotten.
        assert_eq!(at(10_100, 130).1, 20);
        assert_eq!(at(20_000, 130).1, 0);
    }
}
