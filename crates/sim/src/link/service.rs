//! The server of a link: exactly the scheduled rate, over any time.

use crate::schedule::{RateInterval, Schedule};
use millpond_units::{Bytes, PICOS, Rate, Time};
use std::sync::Arc;

/// Result of accepting a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServiceTimes {
    /// When its service ends.
    pub(crate) leaves: Time,
    /// When its service would have begun at the rate at its end: all time before is queueing.
    pub(crate) begins: Time,
}

/// The rate schedule, and the current position in it.
#[derive(Debug)]
pub(crate) struct Rates {
    schedule: Arc<Schedule>,
    cursor: usize,
}

impl Rates {
    pub(crate) fn new(schedule: Arc<Schedule>) -> Self {
        Self { schedule, cursor: 0 }
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    fn interval(&mut self, time: u64) -> RateInterval {
        self.schedule.interval(time, &mut self.cursor)
    }
}

/// Serves one packet after another at a scheduled rate.
///
/// A service ends at the first whole picosecond at which its work is done. The work that the server could have done in
/// the rest of that picosecond is credited to the next packet of the same busy period. So the n-th packet of a busy
/// period leaves when the integral of the rate reaches the work of n packets, rounded up once.
#[derive(Debug)]
pub(crate) struct Service {
    /// When the service of the last accepted packet ends, in picoseconds.
    free_at: u64,
    /// Work already done for the next packet, if its service starts at `free_at`.
    credit: u64,
    interval: RateInterval,
    /// Size of the last packet in bytes, and its work divided by the rate of `interval`.
    size: u32,
    quotient: u64,
    remainder: u64,
}

impl Service {
    pub(crate) fn new() -> Self {
        let interval = RateInterval { rate: 0, until: 0 };
        Self { free_at: 0, credit: 0, interval, size: 0, quotient: 0, remainder: 0 }
    }

    /// When all accepted packets have been served.
    pub(crate) fn free_at(&self) -> Time {
        Time::from_picos(self.free_at)
    }

    /// Accepts a packet at `now` behind those accepted before. Calls must be in order of time.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, size: u32, rates: &mut Rates) -> ServiceTimes {
        let now = now.picos();
        let start = if now <= self.free_at {
            self.free_at
        } else {
            self.credit = 0;
            now
        };
        if size != self.size || start >= self.interval.until {
            self.look_up(start, size, rates);
        }
        // The quotient is work / rate; ceil((work - credit) / rate) is the quotient or one more.
        let one_more = self.remainder > self.credit;
        let span = self.quotient + u64::from(one_more);
        if span >= self.interval.until - start {
            return self.accept_across_intervals(start, size, rates);
        }
        self.credit = if one_more {
            self.interval.rate - (self.remainder - self.credit)
        } else {
            self.credit - self.remainder
        };
        self.free_at = start + span;
        ServiceTimes { leaves: Time::from_picos(self.free_at), begins: Time::from_picos(start) }
    }

    /// Finds the interval that contains `start` and divides the work of `size` by its rate.
    #[cold]
    fn look_up(&mut self, start: u64, size: u32, rates: &mut Rates) {
        self.interval = rates.interval(start);
        self.size = size;
        (self.quotient, self.remainder) = match self.interval.rate {
            // An infinite rate takes no time.
            u64::MAX => (0, 0),
            // A zero rate takes forever; credit of a faster interval can be worth more than a picosecond here.
            rate if rate <= self.credit => (BEYOND, 0),
            rate => divide(work_of(size), rate),
        };
    }

    /// As [`Self::accept`] if the rate changes during the service.
    #[cold]
    fn accept_across_intervals(&mut self, start: u64, size: u32, rates: &mut Rates) -> ServiceTimes {
        let mut work = work_of(size).saturating_sub(u128::from(self.credit));
        let mut time = start;
        let mut interval = rates.interval(time);
        self.credit = 0;
        loop {
            let rate = u128::from(interval.rate);
            let possible = rate * u128::from(interval.until - time);
            if possible >= work {
                break;
            }
            if interval.until == u64::MAX {
                self.free_at = u64::MAX;
                return ServiceTimes { leaves: Time::NEVER, begins: Time::ZERO };
            }
            work -= possible;
            time = interval.until;
            interval = rates.interval(time);
        }
        let rate = u128::from(interval.rate).max(1);
        let span = work.div_ceil(rate);
        self.credit = (span * rate - work) as u64;
        self.free_at = time + span as u64;
        // Forces a look-up for the next packet.
        self.size = 0;
        let service = Rate::from_bps(interval.rate).time_for(Bytes::new(size.into())).picos();
        ServiceTimes {
            leaves: Time::from_picos(self.free_at),
            begins: Time::from_picos(self.free_at.saturating_sub(service)),
        }
    }
}

/// Longer than any interval: the service must be computed interval by interval.
const BEYOND: u64 = u64::MAX;

/// Picoseconds that the work takes, rounded down, and the remaining work.
fn divide(work: u128, rate: u64) -> (u64, u64) {
    // The work of packets below two megabytes fits 64 bits.
    if let Ok(work) = u64::try_from(work) {
        return (work / rate, work % rate);
    }
    let rate = u128::from(rate);
    u64::try_from(work / rate).map_or((BEYOND, 0), |picos| (picos, (work % rate) as u64))
}

/// Work in bit·ps/s.
fn work_of(size: u32) -> u128 {
    8 * u128::from(size) * u128::from(PICOS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::AtEnd;
    use millpond_units::Span;
    use proptest::prelude::*;

    struct Server(Service, Rates);

    impl Server {
        fn accept(&mut self, now: Time, size: u32) -> ServiceTimes {
            self.0.accept(now, size, &mut self.1)
        }
    }

    fn server(schedule: Schedule) -> Server {
        Server(Service::new(), Rates::new(Arc::new(schedule)))
    }

    #[test]
    fn a_constant_rate_does_not_drift() {
        // 1 byte at 3 bit/s takes 8/3 s; three take 8 s exactly, and three million take 8 million seconds.
        let mut service = server(Schedule::constant(Rate::from_bps(3)));
        let leave: Vec<u64> = (0..3).map(|_| service.accept(Time::ZERO, 1).leaves.picos()).collect();
        assert_eq!(leave, [2_666_666_666_667, 5_333_333_333_334, 8_000_000_000_000]);
        let last = (3..3_000_000).map(|_| service.accept(Time::ZERO, 1).leaves).last();
        assert_eq!(last, Some(Time::from_secs(8e6)));
    }

    #[test]
    fn an_infinite_rate_takes_no_time_and_a_zero_rate_takes_forever() {
        let mut service = server(Schedule::constant(Rate::MAX));
        for picos in [0, 0, 7] {
            let now = Time::from_picos(picos);
            assert_eq!(service.accept(now, 1500).leaves, now);
        }
        let mut service = server(Schedule::constant(Rate::ZERO));
        assert_eq!(service.accept(Time::ZERO, 1500).leaves, Time::NEVER);
        assert_eq!(service.accept(Time::ZERO, 1500).leaves, Time::NEVER);
    }

    #[test]
    fn a_repeating_table_without_service_terminates() {
        let outage = [(Span::from_millis(1), Rate::ZERO), (Span::from_millis(2), Rate::ZERO)];
        let mut service = server(Schedule::table(&outage, AtEnd::Loop).unwrap());
        assert_eq!(service.accept(Time::ZERO, 1500).leaves, Time::NEVER);
    }

    #[test]
    fn an_outage_during_a_service_delays_the_packet() {
        let outage = [(Time::ZERO, 8), (Time::from_secs(0.5), 0), (Time::from_secs(9.5), 8)];
        let steps = outage.map(|(time, bps)| (time, Rate::from_bps(bps)));
        let mut service = server(Schedule::steps(&steps).unwrap());
        assert_eq!(service.accept(Time::ZERO, 1).leaves, Time::from_secs(10.0));
    }

    prop_compose! {
        fn any_schedule()(
            intervals in prop::collection::vec((1_u64..3_000_000_000, 0_u64..40_000_000_000), 1..12),
            end in prop::sample::select(vec![AtEnd::Loop, AtEnd::Hold, AtEnd::Stop]),
        ) -> Schedule {
            let interval = |(span, bps)| (Span::from_picos(span), Rate::from_bps(bps));
            Schedule::table(&intervals.into_iter().map(interval).collect::<Vec<_>>(), end).unwrap()
        }
    }

    proptest! {
        /// In a busy period that began at b, packet n leaves at the first picosecond t at which the integral of the rate
        /// from b to t reaches the work of the packets served in it: exactly, so the error is below 1 ps.
        #[test]
        fn served_bits_are_the_integral_of_the_rate_while_busy(
            schedule in any_schedule(),
            arrivals in prop::collection::vec(
                (0_u64..2_000_000_000, prop_oneof![1_u32..2000, 2_000_000..3_000_000_u32]), 1..60),
        ) {
            let schedule = Arc::new(schedule);
            let mut service = Server(Service::new(), Rates::new(schedule.clone()));
            let (mut now, mut free_at, mut begun, mut work) = (0, 0, 0, 0);
            for (gap, size) in arrivals {
                now += gap;
                let leaves = service.accept(Time::from_picos(now), size).leaves.picos();
                if now > free_at {
                    (begun, work) = (now, 0);
                }
                work += work_of(size);
                let done = |time: u64| schedule.work_until(time) - schedule.work_until(begun);
                if leaves == u64::MAX {
                    prop_assert!(done(u64::MAX - 1) < work);
                    break;
                }
                prop_assert!(done(leaves) >= work, "left before its work was done");
                prop_assert!(done(leaves - 1) < work, "left later than it had to");
                free_at = leaves;
            }
        }
    }
}
