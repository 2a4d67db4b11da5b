//! Pacing: when the next packet may leave, exact to the picosecond and without drift.

use millpond_units::{Bytes, PICOS, Rate, Time};

/// Bit-picoseconds per second: work that a rate of 1 bit/s does in a second.
type Work = u64;

/// Lets packets out no closer than a rate allows.
///
/// What has been sent is work that the rate must do before the next packet may leave. If the rate changes, what is
/// left of the work is done at the new rate: the waiting packet is re-timed. The fraction of a picosecond by which
/// a release is rounded up is credited to the next, so that the long-run rate is exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    rate: Option<Rate>,
    left: Work,
    as_of: Time,
    release: Time,
}

impl Pacer {
    /// When the next packet may leave.
    #[inline]
    pub(crate) fn release(&self) -> Time {
        self.release
    }

    /// From `now` on packets are paced at `rate`; none: they are not paced.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Option<Rate>) {
        if now < self.release {
            self.left = self.left.saturating_sub(self.done_by(now));
            self.as_of = now;
        } else {
            self.left = 0;
        }
        self.rate = rate;
        self.schedule();
    }

    /// A packet left.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, bytes: Bytes) {
        let Some(rate) = self.rate else { return };
        let work = bytes.bits().saturating_mul(PICOS);
        if now < self.release {
            self.left = self.left.saturating_add(work);
        } else {
            let surplus = if now == self.release { self.surplus(rate) } else { 0 };
            self.left = work.saturating_sub(surplus);
            self.as_of = now;
        }
        self.schedule();
    }

    /// Work done beyond what was asked for at the moment of release, which was rounded up.
    #[inline]
    fn surplus(&self, rate: Rate) -> Work {
        let done = self.release.since(self.as_of).picos().wrapping_mul(rate.bps());
        done.wrapping_sub(self.left).min(rate.bps().saturating_sub(1))
    }

    /// Work done between the last change and `now`.
    fn done_by(&self, now: Time) -> Work {
        let rate = self.rate.map_or(0, Rate::bps);
        let done = u128::from(now.since(self.as_of).picos()) * u128::from(rate);
        u64::try_from(done).unwrap_or(u64::MAX)
    }

    #[inline]
    fn schedule(&mut self) {
        self.release = match self.rate {
            None => self.as_of,
            Some(rate) if rate.is_zero() => Time::NEVER,
            Some(rate) => Time::from_picos(self.as_of.picos().saturating_add(self.left.div_ceil(rate.bps()))),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Span;

    const PACKET: Bytes = Bytes::new(1000);

    fn paced(rate: Rate) -> Pacer {
        let mut pacer = Pacer::default();
        pacer.set_rate(Time::ZERO, Some(rate));
        pacer
    }

    #[test]
    fn a_million_packets_leave_at_exactly_the_rate() {
        // 8000 bits at 7 Mbit/s take 1142857142.857... ps each.
        let mut pacer = paced(Rate::from_mbps(7.0));
        let (mut last, mut least) = (Time::ZERO, Span::MAX);
        pacer.on_sent(Time::ZERO, PACKET);
        for _ in 0..1_000_000 {
            let now = pacer.release();
            least = least.min(now.since(last));
            last = now;
            pacer.on_sent(now, PACKET);
        }
        let exact = Rate::from_mbps(7.0).time_for(PACKET * 1_000_000);
        assert!(last.picos().abs_diff(exact.picos()) <= 1, "{last} instead of {exact}");
        assert!(least >= Span::from_picos(1_142_857_142));
    }

    #[test]
    fn a_change_of_rate_re_times_the_waiting_packet() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        assert_eq!(pacer.release(), Time::from_secs(0.001));
        // Half the work is done; the other half takes twice, then a quarter as long.
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::from_mbps(4.0)));
        assert_eq!(pacer.release(), Time::from_secs(0.0015));
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::from_mbps(16.0)));
        assert_eq!(pacer.release(), Time::from_secs(0.00075));
    }

    #[test]
    fn a_rate_of_zero_holds_the_packet_until_there_is_a_rate_again() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::ZERO));
        assert_eq!(pacer.release(), Time::NEVER);
        pacer.set_rate(Time::from_secs(1.0), Some(Rate::from_mbps(8.0)));
        assert_eq!(pacer.release(), Time::from_secs(1.0005));
        assert_eq!(paced(Rate::ZERO).release(), Time::NEVER);
    }

    #[test]
    fn a_late_packet_is_not_made_up_for() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        pacer.on_sent(Time::from_secs(5.0), PACKET);
        assert_eq!(pacer.release(), Time::from_secs(5.001));
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Time::from_secs(1.0), PACKET);
        assert!(pacer.release() <= Time::from_secs(1.0));
        pacer.set_rate(Time::from_secs(1.0), Some(Rate::from_bps(8)));
        assert!(pacer.release() <= Time::from_secs(1.0));
    }
}
