//! Round-trip time of a loop (RFC 9002, section 5) and the durations computed from it.

use crate::RttState;
use millpond_units::Span;

/// Round-trip time estimates.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    latest: Span,
    smoothed: Span,
    variation: Span,
    /// [`Span::MAX`] before the first sample. Persistent congestion does not reset it, as RFC 9002, section 5.2, recommends: there the
    /// reset avoids repeated persistent congestion, which does not depend on it here, and laws use it as the base RTT.
    min: Span,
    granularity: Span,
    max_ack_delay: Span,
    /// Stored because it is read more often than it changes.
    probe_timeout: Span,
}

impl RttEstimator {
    /// The estimate before the first sample (RFC 9002, section 6.2.2).
    pub fn new(initial: Span, granularity: Span, max_ack_delay: Span) -> Self {
        let (latest, smoothed, variation, min) = (initial, initial, initial / 2, Span::MAX);
        let probe_timeout = Span::ZERO;
        let mut rtt = Self { latest, smoothed, variation, min, granularity, max_ack_delay, probe_timeout };
        rtt.update_probe_timeout();
        rtt
    }

    /// Processes a sample (RFC 9002, section 5.3). Returns it without the acknowledgement delay of the receiver.
    #[inline]
    pub fn update(&mut self, latest: Span, ack_delay: Span) -> Span {
        self.latest = latest;
        if !self.is_known() {
            (self.min, self.smoothed, self.variation) = (latest, latest, latest / 2);
            self.update_probe_timeout();
            return latest;
        }
        self.min = self.min.min(latest);
        let delay = ack_delay.min(self.max_ack_delay);
        let adjusted = if delay <= latest - self.min { latest - delay } else { latest };
        let difference = Span::from_picos(self.smoothed.picos().abs_diff(adjusted.picos()));
        self.variation = smooth(self.variation, difference, 2);
        self.smoothed = smooth(self.smoothed, adjusted, 3);
        self.update_probe_timeout();
        adjusted
    }

    /// Computes the probe timeout (RFC 9002, section 6.2.1).
    #[inline]
    fn update_probe_timeout(&mut self) {
        self.probe_timeout = self.smoothed + (self.variation * 4).max(self.granularity) + self.max_ack_delay;
    }

    /// Minimum RTT; the initial value before the first sample.
    pub fn min(&self) -> Span {
        if self.is_known() { self.min } else { self.smoothed }
    }

    /// Smoothed RTT; the initial value before the first sample.
    pub fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// The estimates, after the first sample.
    pub(crate) fn state(&self) -> Option<RttState> {
        let Self { latest, smoothed, variation, min, .. } = *self;
        self.is_known().then_some(RttState { latest, min, smoothed, variation })
    }

    /// True after the first sample.
    pub fn is_known(&self) -> bool {
        self.min != Span::MAX
    }

    /// Time threshold of loss detection (RFC 9002, section 6.1.2).
    pub(crate) fn loss_delay(&self) -> Span {
        let longest = self.latest.max(self.smoothed);
        (longest + longest / 8).max(self.granularity)
    }

    /// The probe timeout without backoff (RFC 9002, section 6.2.1).
    #[inline]
    pub(crate) fn probe_timeout(&self) -> Span {
        self.probe_timeout
    }

    /// Persistent congestion duration (RFC 9002, section 7.6.1), with probe timeouts of `least` or more.
    pub(crate) fn persistent_congestion_duration(&self, least: Span) -> Span {
        self.probe_timeout().max(least) * 3
    }
}

/// `old`, moved towards `new` by 2^-`shift` of the difference, rounded.
#[inline]
fn smooth(old: Span, new: Span, shift: u32) -> Span {
    let difference = new.picos().wrapping_sub(old.picos()) as i64;
    let step = (difference + (1 << (shift - 1))) >> shift;
    Span::from_picos(old.picos().wrapping_add_signed(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn rtt() -> RttEstimator {
        RttEstimator::new(MS(333), MS(1), MS(25))
    }

    #[test]
    fn before_the_first_sample_the_probe_timeout_is_one_second() {
        // Section 6.2.2: initial RTT of 333 ms, four times the variation of half of it, and the ack delay.
        assert_eq!(rtt().probe_timeout(), MS(333) + MS(666) + MS(25));
    }

    #[test]
    fn the_first_sample_initializes_all_estimates() {
        let mut rtt = rtt();
        assert_eq!(rtt.update(MS(100), MS(25)), MS(100));
        assert_eq!((rtt.min(), rtt.smoothed()), (MS(100), MS(100)));
        assert_eq!(rtt.probe_timeout(), MS(100) + MS(200) + MS(25));
        assert_eq!(rtt.persistent_congestion_duration(Span::ZERO), MS(325) * 3);
    }

    #[test]
    fn the_rtt_is_smoothed_by_an_eighth_and_its_variation_by_a_quarter() {
        let mut rtt = rtt();
        rtt.update(MS(80), Span::ZERO);
        rtt.update(MS(160), Span::ZERO);
        assert_eq!(rtt.smoothed(), MS(90));
        // Variation: 3/4 of 40 ms and 1/4 of |80 - 160| ms.
        assert_eq!(rtt.probe_timeout(), MS(90) + MS(50) * 4 + MS(25));
    }

    #[test]
    fn samples_of_an_outage_make_the_probe_timeout_at_most_2_72_times_as_long() {
        // After n samples of R the smoothed RTT is (1 - (7/8)^n) R, and the variation 2 ((7/8)^n - (3/4)^n) R.
        let mut rtt = RttEstimator::new(MS(333), MS(1), Span::ZERO);
        for _ in 0..100 {
            rtt.update(MS(1), Span::ZERO);
        }
        let timeouts = (0..50).map(|_| {
            rtt.update(MS(5_000), Span::ZERO);
            rtt.probe_timeout().secs()
        });
        let longest = timeouts.fold(0.0, f64::max);
        assert!((longest - 2.72 * 5.0).abs() < 0.01 * 5.0, "{longest} s");
    }

    #[test]
    fn the_ack_delay_is_subtracted_up_to_its_bound_but_not_below_the_minimum_rtt() {
        let mut rtt = rtt();
        rtt.update(MS(100), MS(10));
        assert_eq!(rtt.update(MS(120), MS(10)), MS(110));
        assert_eq!(rtt.update(MS(150), MS(40)), MS(125));
        assert_eq!(rtt.update(MS(105), MS(10)), MS(105));
        assert_eq!(rtt.min(), MS(100));
    }

    #[test]
    fn the_time_threshold_is_nine_eighths_of_the_longer_rtt_and_at_least_the_granularity() {
        let mut long = rtt();
        long.update(MS(80), Span::ZERO);
        assert_eq!(long.loss_delay(), MS(90));
        long.update(MS(160), Span::ZERO);
        assert_eq!(long.loss_delay(), MS(180));
        let mut short = rtt();
        short.update(Span::from_micros(100), Span::ZERO);
        assert_eq!(short.loss_delay(), MS(1));
    }
}
