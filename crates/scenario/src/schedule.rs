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

    /// Its mean over one length; the first rate if it has no end.
    pub fn mean(&self) -> Rate {
        if self.length == Span::MAX {
            return self.at(Time::ZERO);
        }
        let bits: f64 = self.segments().map(|(span, rate)| rate.as_f64() * span.secs()).sum();
        Rate::from_bps_f64(bits / self.length.secs())
    }

    /// Length and rate of each segment.
    pub fn segments(&self) -> impl Iterator<Item = (Span, Rate)> {
        let ends = self.steps.iter().skip(1).map(|&(start, _)| start).chain([Time::ZERO + self.length]);
        self.steps.iter().zip(ends).map(|(&(start, rate), end)| (end.since(start), rate))
    }
}
