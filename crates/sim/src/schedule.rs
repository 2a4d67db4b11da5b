//! A rate over time: constant, in steps, or a long table from a trace.

use millpond_units::{PICOS, Rate, Span, Time};
use std::sync::Arc;

/// What follows the last piece of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// The table begins again.
    Loop,
    /// The last rate holds for ever.
    Hold,
    /// No service any more.
    Stop,
}

/// Why a table of rates is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// It has no piece at all.
    Empty,
    /// The piece with this index lasts no time.
    NoTime(usize),
    /// It is longer than time itself.
    TooLong,
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "a rate over time needs at least one piece"),
            Self::NoTime(index) => write!(f, "piece {index} of the rate over time lasts no time"),
            Self::TooLong => write!(f, "the rate over time lasts longer than 213 days"),
        }
    }
}

impl std::error::Error for ScheduleError {}

/// A rate that is constant in pieces. Work is counted in bit·ps/s (a bit at one bit per second for a second is
/// 10^12 of it), so that every integral is a whole number.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// When each piece begins, ascending from zero.
    starts: Vec<u64>,
    rates: Vec<u64>,
    /// Work from time zero to the start of each piece, and at last to the end of the table.
    work: Vec<u128>,
    length: u64,
    end: AtEnd,
}

/// One piece of a [`Schedule`]: the rate from a moment until `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) rate: u64,
    pub(crate) until: u64,
}

impl Schedule {
    /// The same rate for ever.
    pub fn constant(rate: Rate) -> Self {
        Self { starts: vec![0], rates: vec![rate.bps()], work: vec![0, 0], length: 0, end: AtEnd::Hold }
    }

    /// Rates from given times on, ascending; the first counts from zero whatever its time, the last holds for ever.
    pub fn steps(steps: &[(Time, Rate)]) -> Result<Self, ScheduleError> {
        let last = steps.last().ok_or(ScheduleError::Empty)?;
        let mut pieces = Vec::with_capacity(steps.len());
        let mut start = Time::ZERO;
        for (index, pair) in steps.windows(2).enumerate() {
            if pair[1].0 <= start {
                return Err(ScheduleError::NoTime(index));
            }
            pieces.push((pair[1].0.since(start), pair[0].1));
            start = pair[1].0;
        }
        pieces.push((Span::from_picos(1), last.1));
        Self::table(&pieces, AtEnd::Hold)
    }

    /// Pieces one after the other, each with its length.
    pub fn table(pieces: &[(Span, Rate)], end: AtEnd) -> Result<Self, ScheduleError> {
        if pieces.is_empty() {
            return Err(ScheduleError::Empty);
        }
        let (mut starts, mut rates, mut work) = (Vec::new(), Vec::new(), vec![0]);
        let (mut length, mut sum) = (0_u64, 0_u128);
        for (index, &(span, rate)) in pieces.iter().enumerate() {
            if span.is_zero() {
                return Err(ScheduleError::NoTime(index));
            }
            starts.push(length);
            rates.push(rate.bps());
            length = length.checked_add(span.picos()).ok_or(ScheduleError::TooLong)?;
            sum += u128::from(span.picos()) * u128::from(rate.bps());
            work.push(sum);
        }
        // Without any service there is nothing to loop over.
        let end = if sum == 0 { AtEnd::Stop } else { end };
        Ok(Self { starts, rates, work, length, end })
    }

    /// What a router tells that measures its capacity over windows of this length: from the end of each window on,
    /// the mean over it. Before the end of the first, the mean over the first; a table that loops is divided into
    /// whole windows, if need be a little shorter ones, and is told as if it had looped before.
    pub fn measured_over(&self, window: Span) -> Result<Self, ScheduleError> {
        if self.rates.len() == 1 && self.end == AtEnd::Hold {
            return Ok(self.clone());
        }
        if window.is_zero() {
            return Err(ScheduleError::NoTime(0));
        }
        let count = self.length.div_ceil(window.picos());
        if self.end == AtEnd::Loop {
            let bound = |index: u64| (u128::from(self.length) * u128::from(index) / u128::from(count)) as u64;
            let mean = |index: u64| self.mean(bound(index), bound(index + 1));
            let piece = |index: u64| {
                let before = if index == 0 { count - 1 } else { index - 1 };
                (Span::from_picos(bound(index + 1) - bound(index)), mean(before))
            };
            return Self::table(&(0..count).map(piece).collect::<Vec<_>>(), AtEnd::Loop);
        }
        let mean = |index: u64| self.mean(index * window.picos(), (index + 1) * window.picos());
        let told = std::iter::once(0).chain(0..=count).map(|index| (window, mean(index)));
        Self::table(&told.collect::<Vec<_>>(), AtEnd::Hold)
    }

    /// The mean rate from `from` to `to`, which is later.
    fn mean(&self, from: u64, to: u64) -> Rate {
        let (work, span) = (self.work_until(to) - self.work_until(from), u128::from(to - from));
        Rate::from_bps(u64::try_from((work + span / 2) / span).unwrap_or(u64::MAX))
    }

    /// The rate at a moment.
    pub fn rate_at(&self, time: Time) -> Rate {
        let mut cursor = 0;
        Rate::from_bps(self.piece(time.picos(), &mut cursor).rate)
    }

    /// The highest rate there ever is.
    pub fn peak(&self) -> Rate {
        Rate::from_bps(self.rates.iter().copied().max().unwrap_or(0))
    }

    /// How many bits the schedule serves from `from` to `to`, rounded down.
    pub fn bits_between(&self, from: Time, to: Time) -> u64 {
        let work = self.work_until(to.picos()).saturating_sub(self.work_until(from.picos()));
        u64::try_from(work / u128::from(PICOS)).unwrap_or(u64::MAX)
    }

    /// When the rate changes next after `time`, to what; none if never.
    pub fn next_change(&self, time: Time) -> Option<(Time, Rate)> {
        let mut cursor = 0;
        let now = self.piece(time.picos(), &mut cursor);
        let mut until = now.until;
        for _ in 0..=self.rates.len() {
            if until == u64::MAX {
                return None;
            }
            let next = self.piece(until, &mut cursor);
            if next.rate != now.rate {
                return Some((Time::from_picos(until), Rate::from_bps(next.rate)));
            }
            until = next.until;
        }
        None
    }

    /// The piece in force at `time`. `cursor` remembers where it was found: later times are then found at once.
    pub(crate) fn piece(&self, time: u64, cursor: &mut usize) -> Piece {
        let last = self.rates.len() - 1;
        let (lap, within) = match self.end {
            AtEnd::Loop => (time / self.length * self.length, time % self.length),
            AtEnd::Stop if time >= self.length => return Piece { rate: 0, until: u64::MAX },
            _ => (0, time),
        };
        let here = |index: usize| {
            self.starts[index] <= within && self.starts.get(index + 1).is_none_or(|&next| within < next)
        };
        if !here(*cursor) {
            *cursor = if *cursor < last && here(*cursor + 1) {
                *cursor + 1
            } else {
                self.starts.partition_point(|&start| start <= within) - 1
            };
        }
        let until = match (*cursor == last, self.end) {
            (true, AtEnd::Hold) => u64::MAX,
            (true, _) => lap.saturating_add(self.length),
            (false, _) => lap.saturating_add(self.starts[*cursor + 1]),
        };
        Piece { rate: self.rates[*cursor], until }
    }

    /// Work from zero until `time`.
    pub(crate) fn work_until(&self, time: u64) -> u128 {
        let total = self.work[self.rates.len()];
        let (laps, within) = match self.end {
            AtEnd::Loop => (time / self.length, time % self.length),
            AtEnd::Stop => (0, time.min(self.length)),
            AtEnd::Hold => (0, time),
        };
        let index = self.starts.partition_point(|&start| start <= within) - 1;
        let rest = u128::from(within - self.starts[index]) * u128::from(self.rates[index]);
        total * u128::from(laps) + self.work[index] + rest
    }
}

/// The capacity that a link is told it has.
#[derive(Debug)]
pub(crate) struct Told {
    schedule: Arc<Schedule>,
    cursor: usize,
    piece: Piece,
}

impl Told {
    pub(crate) fn new(schedule: Arc<Schedule>) -> Self {
        let mut cursor = 0;
        let piece = schedule.piece(0, &mut cursor);
        Self { schedule, cursor, piece }
    }

    /// The capacity told at `now`, asked in order of time.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> Rate {
        if now.picos() >= self.piece.until {
            self.piece = self.schedule.piece(now.picos(), &mut self.cursor);
        }
        Rate::from_bps(self.piece.rate)
    }

    /// The same, asked in any order.
    pub(crate) fn rate_at(&self, now: Time) -> Rate {
        self.schedule.rate_at(now)
    }

    /// When it changes next after `now`.
    pub(crate) fn next_change(&self, now: Time) -> Time {
        self.schedule.next_change(now).map_or(Time::NEVER, |(time, _)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbps(rate: f64) -> Rate {
        Rate::from_mbps(rate)
    }

    fn saw(end: AtEnd) -> Schedule {
        Schedule::table(&[(Span::from_millis(10), mbps(8.0)), (Span::from_millis(30), mbps(0.0))], end)
            .unwrap()
    }

    #[test]
    fn the_peak_is_the_highest_rate_there_ever_is() {
        let step = |seconds, mbps| (Time::from_secs(seconds), Rate::from_mbps(mbps));
        let steps = [step(0.0, 400.0), step(1.0, 500.0), step(2.0, 150.0)];
        assert_eq!(Schedule::steps(&steps).unwrap().peak(), Rate::from_mbps(500.0));
        assert_eq!(Schedule::constant(Rate::from_mbps(3.0)).peak(), Rate::from_mbps(3.0));
    }

    #[test]
    fn a_table_ends_as_it_was_told_to() {
        let at = |end, millis| saw(end).rate_at(Time::ZERO + Span::from_millis(millis));
        for end in [AtEnd::Loop, AtEnd::Hold, AtEnd::Stop] {
            assert_eq!(at(end, 0), mbps(8.0));
            assert_eq!(at(end, 10), mbps(0.0));
        }
        assert_eq!(at(AtEnd::Loop, 40), mbps(8.0));
        assert_eq!(at(AtEnd::Loop, 4_000_009), mbps(8.0));
        assert_eq!(at(AtEnd::Hold, 40), mbps(0.0));
        assert_eq!(saw(AtEnd::Stop).next_change(Time::from_secs(0.01)), None);
        assert_eq!(
            saw(AtEnd::Loop).next_change(Time::from_secs(0.01)),
            Some((Time::from_secs(0.04), mbps(8.0)))
        );
    }

    #[test]
    fn the_integral_of_the_rate_is_exact_over_laps() {
        // 8 Mbps for 10 ms of every 40 ms: 80 kbit a lap.
        assert_eq!(saw(AtEnd::Loop).bits_between(Time::ZERO, Time::from_secs(40.0)), 80_000_000);
        assert_eq!(saw(AtEnd::Loop).bits_between(Time::from_secs(0.005), Time::from_secs(0.041)), 48_000);
        assert_eq!(saw(AtEnd::Stop).bits_between(Time::ZERO, Time::from_secs(40.0)), 80_000);
    }

    #[test]
    fn steps_hold_their_last_rate() {
        let steps = Schedule::steps(&[(Time::ZERO, mbps(5.0)), (Time::from_secs(2.0), mbps(1.5))]).unwrap();
        assert_eq!(steps.rate_at(Time::from_secs(1.999)), mbps(5.0));
        assert_eq!(steps.rate_at(Time::from_secs(2.0)), mbps(1.5));
        assert_eq!(steps.bits_between(Time::from_secs(1.0), Time::from_secs(4.0)), 8_000_000);
        assert_eq!(Schedule::steps(&[]), Err(ScheduleError::Empty));
        let backwards = [(Time::ZERO, mbps(1.0)), (Time::ZERO, mbps(2.0))];
        assert_eq!(Schedule::steps(&backwards), Err(ScheduleError::NoTime(0)));
    }

    #[test]
    fn a_measured_capacity_is_the_mean_of_the_window_before() {
        let told = saw(AtEnd::Loop).measured_over(Span::from_millis(20)).unwrap();
        let at = |millis| told.rate_at(Time::ZERO + Span::from_millis(millis));
        assert_eq!([at(20), at(39), at(40), at(60)], [mbps(4.0), mbps(4.0), mbps(0.0), mbps(4.0)]);
        assert_eq!(told.bits_between(Time::ZERO, Time::from_secs(4.0)), 8_000_000);
        let told = saw(AtEnd::Stop).measured_over(Span::from_millis(20)).unwrap();
        let at = |millis| told.rate_at(Time::ZERO + Span::from_millis(millis));
        assert_eq!(
            [at(0), at(20), at(40), at(60), at(99)],
            [mbps(4.0), mbps(4.0), mbps(0.0), mbps(0.0), mbps(0.0)]
        );
    }
}
