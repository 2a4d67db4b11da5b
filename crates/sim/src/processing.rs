//! Random processing times of hosts and routers.
//!
//! Without them, senders and links are strictly periodic, and which packet meets a full queue depends on the phase of its
//! flow rather than on the protocol (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
//! Internetworking: Research and Experience 3(3), 1992). They remove the effect at one gateway by a random processing time
//! at the source, uniform between zero and the service time of a packet at the bottleneck. A busy link sends on a periodic
//! grid, however, so that packets that come from another busy link keep their phase; hence routers have one as well.

use millpond_law::Random;
use millpond_units::{PICOS, Rate, Span, Time};

/// A random processing time: uniform between zero and this bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processing {
    /// None.
    #[default]
    Immediate,
    /// Up to this time, for a packet of any size.
    UpTo(Span),
    /// Up to the service time of the packet at this rate.
    ServiceTime(Rate),
}

/// What delays packets by a processing time.
#[derive(Debug)]
pub(crate) struct Processor {
    /// The bound: a constant, and a time for each byte in picoseconds.
    constant: u64,
    per_byte: u64,
    random: Random,
}

impl Processor {
    /// One without processing time.
    pub(crate) fn immediate() -> Self {
        Self::new(Processing::Immediate, Random::stream(0, ""))
    }

    pub(crate) fn new(processing: Processing, random: Random) -> Self {
        let (constant, per_byte) = match processing {
            Processing::Immediate => (0, 0),
            Processing::UpTo(most) => (most.picos(), 0),
            Processing::ServiceTime(rate) => (0, (8 * PICOS).checked_div(rate.bps()).unwrap_or(0)),
        };
        Self { constant, per_byte, random }
    }

    /// When what is due at `now` has been processed; `bytes`: the size of the packet.
    #[inline]
    pub(crate) fn processed(&mut self, now: Time, bytes: u32) -> Time {
        let most = self.constant + self.per_byte * u64::from(bytes);
        if most == 0 {
            return now;
        }
        // 32 random bits resolve a service time of 1 s to a quarter of a nanosecond.
        let share = u128::from(most) * u128::from(self.random.bits());
        now + Span::from_picos((share >> 32) as u64)
    }
}

/// The pending timer event of one end of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// The deadline that it was set for.
    deadline: Time,
    /// When its event fires, not before the deadline.
    fires: Time,
}

impl Timer {
    /// No pending event.
    pub(crate) const NONE: Self = Self { deadline: Time::NEVER, fires: Time::NEVER };

    /// The deadline of the pending event; never if there is none.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Sets the timer if `deadline` is earlier than that of the pending event; a later deadline is checked when that fires.
    /// Returns the time of the new event, which is `fires` of the deadline.
    #[inline]
    pub(crate) fn set(&mut self, deadline: Time, fires: impl FnOnce(Time) -> Time) -> Option<Time> {
        if deadline >= self.deadline {
            return None;
        }
        *self = Self { deadline, fires: fires(deadline) };
        Some(self.fires)
    }

    /// Clears the timer if the event that fires now is its own, and not that of an earlier setting.
    #[inline]
    pub(crate) fn expires(&mut self, now: Time) -> bool {
        let own = self.fires == now;
        if own {
            *self = Self::NONE;
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(processing: Processing) -> Processor {
        Processor::new(processing, Random::stream(1, "router"))
    }

    #[test]
    fn the_processing_time_is_uniform_up_to_its_bound() {
        // 1250 bytes at 5 Mbit/s take 2 ms.
        let (service_time, n) = (Processing::ServiceTime(Rate::from_mbps(5.0)), 100_000);
        for processing in [Processing::UpTo(Span::from_millis(2)), service_time] {
            let mut processor = processor(processing);
            let mut sample = || processor.processed(Time::ZERO, 1250).since(Time::ZERO).millis();
            let samples: Vec<f64> = (0..n).map(|_| sample()).collect();
            let mean = samples.iter().sum::<f64>() / f64::from(n);
            let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / f64::from(n);
            // Mean 1 ms, variance 4/12 ms^2, fourth central moment 16/80 ms^4; five standard errors of each.
            assert!((mean - 1.0).abs() < 5.0 * (1.0 / 3.0 / f64::from(n)).sqrt());
            assert!((variance - 1.0 / 3.0).abs() < 5.0 * ((0.2 - 1.0 / 9.0) / f64::from(n)).sqrt());
            assert!(samples.iter().all(|sample| (0.0..2.0).contains(sample)));
        }
    }

    #[test]
    fn without_a_processing_time_no_sample_is_taken() {
        let (mut processor, now) = (processor(Processing::Immediate), Time::from_secs(3.0));
        assert_eq!(processor.processed(now, 1500), now);
        assert_eq!(processor.random.bits(), Random::stream(1, "router").bits());
    }

    #[test]
    fn an_event_of_an_earlier_setting_of_a_timer_has_no_effect() {
        let (early, late) = (Time::from_secs(1.0), Time::from_secs(2.0));
        let mut timer = Timer::NONE;
        assert_eq!(timer.set(late, |deadline| deadline + Span::from_millis(1)), Some(Time::from_secs(2.001)));
        assert_eq!(timer.set(late, |deadline| deadline), None);
        assert_eq!(timer.set(early, |deadline| deadline), Some(early));
        assert!(timer.expires(early) && !timer.expires(Time::from_secs(2.001)));
    }
}
