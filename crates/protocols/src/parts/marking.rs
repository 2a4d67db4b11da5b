//! A sender's estimate of the marking probability: the smoothed share of marked packets per interval.

use millpond_law::fluid::{Number, SenderInput};
use millpond_law::key::{Interval, Key, above, interval, number, word};
use millpond_law::{Ack, Settings, words};
use millpond_units::{Bytes, Time};

pub(crate) const ALPHA: Key<f64> = number("alpha", "1", 0.05, above(0.0).to(1.0))
    .source("LGCC Algorithm 1 line 8, section X-A")
    .meaning("weight of the newest interval in the smoothed marking probability");
pub(crate) const FIRST_MARKS: Key<FirstMarks> = word("first_marks", FirstMarks::Averaged)
    .source("\"smoothed\": LGCC Algorithm 1 line 8; \"averaged\": see docs/extensions/lgcc-warm.md")
    .meaning("weight of intervals from the first marked one on: alpha; or 1 / (i + 1) in the i-th, at least alpha, until the rate first comes within g2 of its target");
pub(crate) const INTERVAL: Key<Interval<IntervalName>> =
    interval("interval", Interval::Word(IntervalName::BaseRtt)).source("LGCC section IX-C").meaning(
        "update interval of the rate: a base RTT, a round trip, several acknowledgements, or a time",
    );

words! {
    /// The weight of the first intervals from the first mark on.
    pub(crate) enum FirstMarks {
        /// alpha, as everywhere.
        Smoothed = "smoothed",
        /// `max(alpha, 1 / (i + 1))`: the mean of all intervals until alpha is larger or the start ends.
        Averaged = "averaged",
    }

    /// The length of an interval.
    pub(crate) enum IntervalName { BaseRtt = "base-rtt", Round = "round" }
}

/// Number of intervals per second in the fluid model, for packets of this many bits.
pub(crate) fn per_second<T: Number>(
    interval: Interval<IntervalName>,
    input: &SenderInput<'_, T>,
    packet: f64,
) -> T {
    match interval {
        Interval::Word(IntervalName::BaseRtt) => T::from(input.base_rtt.recip()),
        Interval::Word(IntervalName::Round) => input.rtt().recip(),
        Interval::Acks(acks) => input.acked / (acks as f64 * packet),
        Interval::Span(span) => T::from(span.secs().max(1e-9).recip()),
    }
}

/// Acknowledged and marked bytes since the interval began.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tally {
    began: Time,
    round: u64,
    acks: u64,
    packets: f64,
    marked: f64,
}

/// The smoothed marking probability, and the intervals over which it is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkingEstimate {
    alpha: f64,
    /// Every interval ends with an acknowledgement.
    interval: Interval<IntervalName>,
    tally: Option<Tally>,
    /// Number of intervals from the first marked one on, if the first ones are averaged and the start has not ended.
    averaged: Option<u32>,
    value: f64,
}

impl MarkingEstimate {
    /// The estimate under these settings.
    pub fn read(settings: &Settings) -> Self {
        let averaged = (settings.get(FIRST_MARKS) == FirstMarks::Averaged).then_some(0);
        Self { averaged, ..Self::new(settings.get(ALPHA), settings.get(INTERVAL)) }
    }

    const fn new(alpha: f64, interval: Interval<IntervalName>) -> Self {
        Self { alpha, interval, tally: None, averaged: None, value: 0.0 }
    }

    /// The estimate, from 0 to 1.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Ends the averaging of the first intervals: later marks have the weight alpha. A sender calls this when its rate is near
    /// its target, because the first mark of a flow in equilibrium is no estimate of what other flows do.
    pub fn end_start(&mut self) {
        self.averaged = None;
    }

    /// Counts an acknowledgement. Returns whether it ended an interval and updated the estimate.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) -> bool {
        let tally = self.tally.get_or_insert(Tally {
            began: now,
            round: ack.round,
            acks: 0,
            packets: 0.0,
            marked: 0.0,
        });
        tally.acks += 1;
        tally.packets += ack.packets as f64;
        tally.marked += ack.ce_packets as f64;
        let over = match self.interval {
            Interval::Word(IntervalName::BaseRtt) => now.since(tally.began) >= ack.min_rtt,
            Interval::Word(IntervalName::Round) => ack.round > tally.round,
            Interval::Acks(acks) => tally.acks >= acks,
            Interval::Span(span) => now.since(tally.began) >= span,
        };
        over && self.finish(now, ack.round)
    }

    /// Counts lost bytes as marked, because a loss signals at least as much congestion as a mark.
    pub fn on_loss(&mut self, bytes: Bytes, packet: Bytes) {
        if let Some(tally) = &mut self.tally {
            let packets = bytes.as_f64() / packet.as_f64().max(1.0);
            tally.packets += packets;
            tally.marked += packets;
        }
    }

    /// Algorithm 1 lines 7 and 8. Returns whether any packets were counted.
    fn finish(&mut self, now: Time, round: u64) -> bool {
        let next = Tally { began: now, round, acks: 0, packets: 0.0, marked: 0.0 };
        let Some(tally) = self.tally.replace(next).filter(|tally| tally.packets > 0.0) else {
            return false;
        };
        let share = (tally.marked / tally.packets).min(1.0);
        self.value += self.next_weight(share) * (share - self.value);
        true
    }

    /// The weight of an interval with this share of marked packets: alpha, or that of a mean of few intervals if it is
    /// larger.
    fn next_weight(&mut self, share: f64) -> f64 {
        let Some(intervals) = &mut self.averaged else { return self.alpha };
        if *intervals > 0 || share > 0.0 {
            *intervals = intervals.saturating_add(1);
        }
        if *intervals == 0 { self.alpha } else { self.alpha.max(1.0 / (f64::from(*intervals) + 1.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Span;

    const RTT: Span = Span::from_millis(2);

    fn ack(packets: u64, ce_packets: u64, round: u64) -> Ack {
        Ack { packets, ce_packets, round, ..Ack::plain(Bytes::new(1500), RTT, Bytes::ZERO) }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_estimate_with_weight_a_twentieth_is_within_5_percent_after_59_intervals() {
        // 1 - .95^n >= .95 from n = ln .05 / ln .95 = 58.4 on.
        let mut marking = MarkingEstimate::new(0.05, Interval::Acks(1));
        let reached = (1..).find(|_| marking.on_ack(Time::ZERO, &ack(1, 1, 0)) && marking.value() >= 0.95);
        assert_eq!(reached, Some(59));
    }

    #[test]
    fn an_interval_ends_with_the_first_acknowledgement_that_is_late_enough() {
        let mut marking = MarkingEstimate::new(1.0, Interval::Word(IntervalName::BaseRtt));
        let ends = [0, 1, 2, 3, 7, 8].map(|millis| marking.on_ack(at(millis), &ack(1, 0, 0)));
        assert_eq!(ends, [false, false, true, false, true, false]);
        let mut marking = MarkingEstimate::new(1.0, Interval::Word(IntervalName::Round));
        assert_eq!(
            [5, 5, 6, 6, 8].map(|round| marking.on_ack(at(0), &ack(1, 0, round))),
            [false, false, true, false, true]
        );
        let mut marking = MarkingEstimate::new(1.0, Interval::Acks(2));
        assert_eq!([0; 4].map(|_| marking.on_ack(at(0), &ack(1, 0, 0))), [false, true, false, true]);
        let mut marking = MarkingEstimate::new(1.0, Interval::Span(Span::from_millis(5)));
        assert_eq!([0, 4, 5].map(|millis| marking.on_ack(at(millis), &ack(1, 0, 0))), [false, false, true]);
    }

    /// A zero and the shares from the first mark on have the mean (0 + 1 + 1 + 0 + 1) / 5; the weight 1 / (i + 1) reaches
    /// alpha = 1 / 20 after 19 intervals.
    #[test]
    fn averaged_from_the_first_mark_on_the_estimate_is_a_mean_until_alpha_is_the_larger_weight() {
        let averaged = MarkingEstimate { averaged: Some(0), ..MarkingEstimate::new(0.05, Interval::Acks(1)) };
        let mut marking = averaged.clone();
        let mut after = |marked| {
            marking.on_ack(at(0), &ack(1, marked, 0));
            marking.value()
        };
        let found = [0, 0, 1, 1, 0, 1].map(&mut after);
        for (found, expected) in found.into_iter().zip([0.0, 0.0, 1.0 / 2.0, 2.0 / 3.0, 2.0 / 4.0, 3.0 / 5.0])
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let seventeenth = (4..19).map(|_| after(1)).last().unwrap();
        assert!((seventeenth - 18.0 / 20.0).abs() < 1e-12, "{seventeenth}");
        let smoothed = after(0);
        assert!((smoothed - 0.95 * seventeenth).abs() < 1e-12, "{smoothed}");
        assert!((after(0) - 0.95 * smoothed).abs() < 1e-12, "the weight falls no further");
    }

    #[test]
    fn after_the_start_every_mark_has_the_weight_alpha() {
        for before in [0, 1] {
            let mut marking =
                MarkingEstimate { averaged: Some(0), ..MarkingEstimate::new(0.05, Interval::Acks(1)) };
            (0..before).for_each(|_| {
                marking.on_ack(at(0), &ack(1, 1, 0));
            });
            let value = marking.value();
            assert_eq!(value, f64::from(before) / 2.0);
            marking.end_start();
            marking.on_ack(at(0), &ack(1, 1, 0));
            assert!((marking.value() - (value + 0.05 * (1.0 - value))).abs() < 1e-12, "{before}");
        }
    }

    #[test]
    fn marked_and_lost_packets_count_alike() {
        let mut marking = MarkingEstimate::new(1.0, Interval::Acks(2));
        marking.on_ack(at(0), &ack(2, 1, 0));
        marking.on_loss(Bytes::new(3000), Bytes::new(1500));
        marking.on_ack(at(0), &ack(4, 1, 0));
        assert_eq!(marking.value(), 4.0 / 8.0);
    }

    #[test]
    fn an_interval_without_packets_keeps_the_estimate() {
        let mut marking = MarkingEstimate::new(1.0, Interval::Acks(1));
        assert!(!marking.on_ack(at(0), &ack(0, 0, 0)));
        assert_eq!(marking.value(), 0.0);
    }
}
