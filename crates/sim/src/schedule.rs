//! A rate over time: constant, in steps, or a long table of a trace.

use millpond_units::{PICOS, Rate, Span, Time};
use std::sync::Arc;

/// What follows the end of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// The table repeats.
    Loop,
    /// The last rate continues.
    Hold,
    /// The rate is zero.
    Stop,
}

/// Why a schedule cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// It has no interval.
    Empty,
    /// The interval with this index has zero length.
    ZeroLength(usize),
    /// It is longer than the range of [`Time`].
    TooLong,
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "a rate over time needs at least one interval"),
            Self::ZeroLength(index) => write!(f, "interval {index} of a schedule has zero length"),
            Self::TooLong => write!(f, "a schedule is longer than 213 days"),
        }
    }
}

impl std::error::Error for ScheduleError {}

/// A piecewise constant rate. Work is counted in bit·ps/s (1 bit/s for one second does 10^12 of it), so that every
/// integral is a whole number.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule(Course);

#[derive(Clone, Debug, PartialEq)]
enum Course {
    /// One rate, in bit/s.
    Constant(u64),
    /// Boxed, because most links have a constant rate.
    Table(Box<Table>),
}

/// Consecutive intervals.
#[derive(Clone, Debug, PartialEq)]
struct Table {
    /// Start of each interval in picoseconds, ascending from zero.
    starts: Vec<u64>,
    rates: Vec<u64>,
    /// Work from time zero to the start of each interval, and to the end of the table.
    work: Vec<u128>,
    length: u64,
    end: AtEnd,
}

/// An interval of a [`Schedule`]: its rate in bit/s, and its end in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateInterval {
    pub(crate) rate: u64,
    pub(crate) until: u64,
}

impl Schedule {
    /// A constant rate.
    pub fn constant(rate: Rate) -> Self {
        Self(Course::Constant(rate.bps()))
    }

    /// Rates from given times on, ascending. The first applies from time zero, the last without end.
    pub fn steps(steps: &[(Time, Rate)]) -> Result<Self, ScheduleError> {
        let last = steps.last().ok_or(ScheduleError::Empty)?;
        let mut intervals = Vec::with_capacity(steps.len());
        let mut start = Time::ZERO;
        for (index, pair) in steps.windows(2).enumerate() {
            if pair[1].0 <= start {
                return Err(ScheduleError::ZeroLength(index));
            }
            intervals.push((pair[1].0.since(start), pair[0].1));
            start = pair[1].0;
        }
        intervals.push((Span::from_picos(1), last.1));
        Self::table(&intervals, AtEnd::Hold)
    }

    /// Consecutive intervals, each with its length. A single one that lasts or repeats is a constant rate.
    pub fn table(intervals: &[(Span, Rate)], end: AtEnd) -> Result<Self, ScheduleError> {
        if intervals.is_empty() {
            return Err(ScheduleError::Empty);
        }
        let (mut starts, mut rates, mut work) = (Vec::new(), Vec::new(), vec![0]);
        let (mut length, mut sum) = (0_u64, 0_u128);
        for (index, &(span, rate)) in intervals.iter().enumerate() {
            if span.is_zero() {
                return Err(ScheduleError::ZeroLength(index));
            }
            starts.push(length);
            rates.push(rate.bps());
            length = length.checked_add(span.picos()).ok_or(ScheduleError::TooLong)?;
            sum += u128::from(span.picos()) * u128::from(rate.bps());
            work.push(sum);
        }
        if let ([(_, rate)], AtEnd::Loop | AtEnd::Hold) = (intervals, end) {
            return Ok(Self::constant(*rate));
        }
        // Repeating a table without service would never end.
        let end = if sum == 0 { AtEnd::Stop } else { end };
        Ok(Self(Course::Table(Box::new(Table { starts, rates, work, length, end }))))
    }

    /// The rate at `time`.
    pub fn rate_at(&self, time: Time) -> Rate {
        let mut cursor = 0;
        Rate::from_bps(self.interval(time.picos(), &mut cursor).rate)
    }

    /// The highest rate of the schedule.
    pub fn peak(&self) -> Rate {
        let bps = match &self.0 {
            Course::Constant(rate) => *rate,
            Course::Table(table) => table.rates.iter().copied().max().unwrap_or(0),
        };
        Rate::from_bps(bps)
    }

    /// Number of bits served between two times, rounded down.
    #[inline]
    pub fn bits_between(&self, from: Time, to: Time) -> u64 {
        let work = match &self.0 {
            Course::Constant(rate) => u128::from(to.since(from).picos()) * u128::from(*rate),
            Course::Table(table) => {
                table.work_until(to.picos()).saturating_sub(table.work_until(from.picos()))
            }
        };
        // Of a short time the work fits in 64 bits, whose division is much faster.
        match u64::try_from(work) {
            Ok(work) => work / PICOS,
            Err(_) => u64::try_from(work / u128::from(PICOS)).unwrap_or(u64::MAX),
        }
    }

    /// Time and rate of the next change after `time`; none if there is none.
    pub fn next_change(&self, time: Time) -> Option<(Time, Rate)> {
        let Course::Table(table) = &self.0 else { return None };
        let mut cursor = 0;
        let now = table.interval(time.picos(), &mut cursor);
        let mut until = now.until;
        for _ in 0..=table.rates.len() {
            if until == u64::MAX {
                return None;
            }
            let next = table.interval(until, &mut cursor);
            if next.rate != now.rate {
                return Some((Time::from_picos(until), Rate::from_bps(next.rate)));
            }
            until = next.until;
        }
        None
    }

    /// The times between `from` and `to` in which the rate is zero, ascending.
    pub(crate) fn outages(&self, from: Time, to: Time) -> Vec<(Time, Time)> {
        let (mut outages, mut cursor, mut now) = (Vec::<(Time, Time)>::new(), 0, from.picos());
        while now < to.picos() {
            let interval = self.interval(now, &mut cursor);
            let end = Time::from_picos(interval.until.min(to.picos()));
            if interval.rate == 0 {
                match outages.last_mut() {
                    Some(last) if last.1.picos() == now => last.1 = end,
                    _ => outages.push((Time::from_picos(now), end)),
                }
            }
            now = end.picos();
        }
        outages
    }

    /// The interval that contains `time`. `cursor` stores its index, which makes the search for later times fast.
    #[inline]
    pub(crate) fn interval(&self, time: u64, cursor: &mut usize) -> RateInterval {
        match &self.0 {
            Course::Constant(rate) => RateInterval { rate: *rate, until: u64::MAX },
            Course::Table(table) => table.interval(time, cursor),
        }
    }

    /// Work from time zero to `time`.
    #[cfg(test)]
    pub(crate) fn work_until(&self, time: u64) -> u128 {
        match &self.0 {
            Course::Constant(rate) => u128::from(time) * u128::from(*rate),
            Course::Table(table) => table.work_until(time),
        }
    }
}

impl Table {
    /// As [`Schedule::interval`].
    fn interval(&self, time: u64, cursor: &mut usize) -> RateInterval {
        let last = self.rates.len() - 1;
        let (repetition_start, within) = match self.end {
            AtEnd::Loop => (time / self.length * self.length, time % self.length),
            AtEnd::Stop if time >= self.length => return RateInterval { rate: 0, until: u64::MAX },
            _ => (0, time),
        };
        let contains = |index: usize| {
            self.starts[index] <= within && self.starts.get(index + 1).is_none_or(|&next| within < next)
        };
        if !contains(*cursor) {
            *cursor = if *cursor < last && contains(*cursor + 1) {
                *cursor + 1
            } else {
                self.starts.partition_point(|&start| start <= within) - 1
            };
        }
        let until = match (*cursor == last, self.end) {
            (true, AtEnd::Hold) => u64::MAX,
            (true, _) => repetition_start.saturating_add(self.length),
            (false, _) => repetition_start.saturating_add(self.starts[*cursor + 1]),
        };
        RateInterval { rate: self.rates[*cursor], until }
    }

    /// Work from time zero to `time`.
    fn work_until(&self, time: u64) -> u128 {
        let total = self.work[self.rates.len()];
        let (repetitions, within) = match self.end {
            AtEnd::Loop => (time / self.length, time % self.length),
            AtEnd::Stop => (0, time.min(self.length)),
            AtEnd::Hold => (0, time),
        };
        let index = self.starts.partition_point(|&start| start <= within) - 1;
        let rest = u128::from(within - self.starts[index]) * u128::from(self.rates[index]);
        total * u128::from(repetitions) + self.work[index] + rest
    }
}

/// The configured capacity of a link.
#[derive(Debug)]
pub(crate) struct ConfiguredCapacity {
    schedule: Arc<Schedule>,
    /// Whether it is another one than the actual capacity at any time.
    is_other: bool,
    cursor: usize,
    interval: RateInterval,
}

impl ConfiguredCapacity {
    /// `schedule`, or the `actual` capacity.
    pub(crate) fn new(schedule: Option<Arc<Schedule>>, actual: &Arc<Schedule>) -> Self {
        let schedule = schedule.unwrap_or_else(|| actual.clone());
        let mut cursor = 0;
        let interval = schedule.interval(0, &mut cursor);
        Self { is_other: schedule != *actual, schedule, cursor, interval }
    }

    /// Its bits between two times; none if it is the actual capacity at all times.
    #[inline]
    pub(crate) fn other_bits_between(&self, from: Time, to: Time) -> Option<u64> {
        self.is_other.then(|| self.schedule.bits_between(from, to))
    }

    /// The configured capacity at `now`; successive calls must not go back in time.
    #[inline]
    pub(crate) fn at(&mut self, now: Time) -> Rate {
        if now.picos() >= self.interval.until {
            self.interval = self.schedule.interval(now.picos(), &mut self.cursor);
        }
        Rate::from_bps(self.interval.rate)
    }

    /// The configured capacity at any time.
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

    #[test]
    fn outages_are_the_times_at_rate_zero_clipped_to_the_asked_interval() {
        let at = Time::from_secs;
        let steps = [(at(0.0), 1), (at(2.0), 0), (at(3.0), 0), (at(5.0), 4), (at(8.0), 0)];
        let steps = steps.map(|(time, mbps)| (time, Rate::from_mbps(f64::from(mbps))));
        let schedule = Schedule::steps(&steps).unwrap();
        assert_eq!(schedule.outages(at(0.0), at(10.0)), [(at(2.0), at(5.0)), (at(8.0), at(10.0))]);
        assert_eq!(schedule.outages(at(4.0), at(8.0)), [(at(4.0), at(5.0))]);
        assert_eq!(schedule.outages(at(5.0), at(8.0)), []);
    }

    fn mbps(rate: f64) -> Rate {
        Rate::from_mbps(rate)
    }

    fn saw(end: AtEnd) -> Schedule {
        Schedule::table(&[(Span::from_millis(10), mbps(8.0)), (Span::from_millis(30), mbps(0.0))], end)
            .unwrap()
    }

    #[test]
    fn the_peak_is_the_highest_rate_of_the_schedule() {
        let step = |seconds, mbps| (Time::from_secs(seconds), Rate::from_mbps(mbps));
        let steps = [step(0.0, 400.0), step(1.0, 500.0), step(2.0, 150.0)];
        assert_eq!(Schedule::steps(&steps).unwrap().peak(), Rate::from_mbps(500.0));
        assert_eq!(Schedule::constant(Rate::from_mbps(3.0)).peak(), Rate::from_mbps(3.0));
    }

    #[test]
    fn a_table_repeats_holds_or_stops_at_its_end() {
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
    fn the_integral_of_the_rate_is_exact_over_repetitions() {
        // 8 Mbit/s for 10 ms of every 40 ms: 80 kbit per repetition.
        assert_eq!(saw(AtEnd::Loop).bits_between(Time::ZERO, Time::from_secs(40.0)), 80_000_000);
        assert_eq!(saw(AtEnd::Loop).bits_between(Time::from_secs(0.005), Time::from_secs(0.041)), 48_000);
        assert_eq!(saw(AtEnd::Stop).bits_between(Time::ZERO, Time::from_secs(40.0)), 80_000);
    }

    #[test]
    fn a_single_interval_that_lasts_or_repeats_is_a_constant_rate() {
        let single = |end| Schedule::table(&[(Span::from_millis(10), mbps(8.0))], end).unwrap();
        let constant = Schedule::constant(mbps(8.0));
        assert_eq!((single(AtEnd::Loop), single(AtEnd::Hold)), (constant.clone(), constant));
        assert_eq!(single(AtEnd::Stop).bits_between(Time::ZERO, Time::from_secs(1.0)), 80_000);
    }

    #[test]
    fn a_constant_rate_has_the_same_integral_over_any_time() {
        let constant = Schedule::constant(mbps(10_000.0));
        let hour = Time::from_secs(3600.0);
        // The work of a millisecond fits in 64 bits, that of an hour does not.
        assert_eq!(constant.bits_between(hour, hour + Span::from_millis(1)), 10_000_000);
        assert_eq!(constant.bits_between(Time::ZERO, hour), 36_000_000_000_000);
        // 0.999 bits are rounded down, and time does not run backwards.
        assert_eq!(
            Schedule::constant(Rate::from_bps(3)).bits_between(hour, hour + Span::from_millis(333)),
            0
        );
        assert_eq!(constant.bits_between(hour, Time::ZERO), 0);
    }

    #[test]
    fn steps_hold_their_last_rate() {
        let steps = Schedule::steps(&[(Time::ZERO, mbps(5.0)), (Time::from_secs(2.0), mbps(1.5))]).unwrap();
        assert_eq!(steps.rate_at(Time::from_secs(1.999)), mbps(5.0));
        assert_eq!(steps.rate_at(Time::from_secs(2.0)), mbps(1.5));
        assert_eq!(steps.bits_between(Time::from_secs(1.0), Time::from_secs(4.0)), 8_000_000);
        assert_eq!(Schedule::steps(&[]), Err(ScheduleError::Empty));
        let backwards = [(Time::ZERO, mbps(1.0)), (Time::ZERO, mbps(2.0))];
        assert_eq!(Schedule::steps(&backwards), Err(ScheduleError::ZeroLength(0)));
    }
}
