//! A rate that changes in steps over time.

use millpond_units::{Rate, Span, Time};

/// What follows the end of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The schedule again.
    #[default]
    Loop,
    /// Its last rate.
    Hold,
    /// No service.
    Stop,
}

/// A piecewise-constant rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// When each rate begins. There is at least one, the first begins at zero, times increase strictly.
    pub steps: Vec<(Time, Rate)>,
    /// Its length, above the last step's time. [`Span::MAX`] if it has no end.
    pub length: Span,
    /// What follows its end.
    pub end: End,
}

impl Schedule {
    /// A constant rate.
    pub fn constant(rate: Rate) -> Self {
        Self::stepped(vec![(Time::ZERO, rate)])
    }

    /// These rates, the last of them without an end.
    pub fn stepped(steps: Vec<(Time, Rate)>) -> Self {
        Self { steps, length: Span::MAX, end: End::Hold }
    }

    /// The rate at `time`.
    pub fn at(&self, time: Time) -> Rate {
        let length = self.length.picos().max(1);
        let time = match self.end {
            End::Loop => Time::from_picos(time.picos() % length),
            End::Stop if time.picos() >= length => return Rate::ZERO,
            _ => time,
        };
        let after = self.steps.partition_point(|&(start, _)| start <= time);
        self.steps.get(after.wrapping_sub(1)).map_or(Rate::ZERO, |&(_, rate)| rate)
    }

    /// Its highest rate.
    pub fn peak(&self) -> Rate {
        self.steps.iter().map(|&(_, rate)| rate).max().unwrap_or_default()
    }

    /// Its mean over one length; over `duration` if it has no end.
    pub fn mean(&self, duration: Span) -> Rate {
        if let [(_, constant)] = self.steps[..] {
            return constant;
        }
        let length = self.length_or(duration);
        let bits: f64 = self.until(length).map(|(span, rate)| rate.as_f64() * span.secs()).sum();
        Rate::from_bps_f64(bits / length.secs())
    }

    /// The distribution of its rate over one length; over `duration` if it has no end.
    pub fn distribution(&self, duration: Span) -> RateDistribution {
        let length = self.length_or(duration);
        let mut spans: Vec<(Rate, f64)> =
            self.until(length).map(|(span, rate)| (rate, span.secs() / length.secs())).collect();
        spans.sort_by_key(|&(rate, _)| rate);
        let mut share = 0.0;
        for span in &mut spans {
            share += span.1;
            span.1 = share;
        }
        RateDistribution { mean: self.mean(duration), cumulative: spans }
    }

    /// Its length; `duration` if it has no end.
    fn length_or(&self, duration: Span) -> Span {
        if self.length == Span::MAX { duration } else { self.length }
    }

    /// Length and rate of each segment up to `length`.
    fn until(&self, length: Span) -> impl Iterator<Item = (Span, Rate)> {
        let mut left = length;
        self.segments().map_while(move |(span, rate)| {
            let span = span.min(left);
            left = left.saturating_sub(span);
            (!span.is_zero()).then_some((span, rate))
        })
    }

    /// Length and rate of each segment.
    pub fn segments(&self) -> impl Iterator<Item = (Span, Rate)> {
        let ends = self.steps.iter().skip(1).map(|&(start, _)| start).chain([Time::ZERO + self.length]);
        self.steps.iter().zip(ends).map(|(&(start, rate), end)| (end.since(start), rate))
    }
}

/// The rates of a schedule, each with the share of time up to it.
#[derive(Clone, Debug, PartialEq)]
pub struct RateDistribution {
    mean: Rate,
    /// Ascending rates, each with the share of time in which the rate is at most this.
    cumulative: Vec<(Rate, f64)>,
}

impl RateDistribution {
    /// The mean rate.
    pub fn mean(&self) -> Rate {
        self.mean
    }

    /// The share of time in which the rate is below `rate`.
    pub fn share_below(&self, rate: Rate) -> f64 {
        let below = self.cumulative.partition_point(|&(other, _)| other < rate);
        below.checked_sub(1).and_then(|last| self.cumulative.get(last)).map_or(0.0, |&(_, share)| share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_distributions_are_over_the_duration_or_over_one_length() {
        let at = Time::from_secs;
        let steps =
            vec![(at(0.0), Rate::ZERO), (at(5.0), Rate::from_mbps(20.0)), (at(9.0), Rate::from_mbps(4.0))];
        let stepped = Schedule::stepped(steps.clone());
        let seconds = |secs| Span::from_secs(secs);
        // 4 s at 20 and 1 s at 4 Mbit/s of 10 s.
        assert_eq!(stepped.mean(seconds(10.0)), Rate::from_mbps(8.4));
        assert_eq!(stepped.mean(seconds(5.0)), Rate::ZERO);
        let below = |mbps| stepped.distribution(seconds(10.0)).share_below(Rate::from_mbps(mbps));
        assert_eq!([0.0, 4.0, 5.0, 20.0].map(below), [0.0, 0.5, 0.6, 0.6]);
        assert!((below(21.0) - 1.0).abs() < 1e-12);
        let looped = Schedule { steps, length: seconds(20.0), end: End::Loop };
        // 4 s at 20 and 11 s at 4 Mbit/s of 20 s.
        assert_eq!(looped.mean(seconds(10.0)), Rate::from_mbps(6.2));
        assert_eq!(Schedule::constant(Rate::from_bps(7)).mean(Span::ZERO), Rate::from_bps(7));
    }
}
