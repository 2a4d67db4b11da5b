//! The ABC router: changes accelerates into brakes (section 3.1, NSDI 2020).

use super::params::RouterParams;
use millpond_law::fluid::{Number, least, positive};
use millpond_law::{Context, Ecn, Gauge, Hooks, Link, PacketKind, PacketView, QueueView, Settings, Verdict};
use millpond_units::{Bytes, PICOS, Span, Time};

/// The ABC router's state at one link.
pub(super) struct AbcRouter {
    params: RouterParams,
    dequeued: SlidingRate,
    tokens: f64,
    target: f64,
    fraction: f64,
}

/// Eq. (1): the target rate in bit/s, for a capacity `mu` in bit/s and a queueing delay in seconds.
pub(super) fn target_rate<T: Number>(params: &RouterParams, mu: f64, delay: T) -> T {
    let excess = positive(delay - params.delay_threshold);
    positive(-excess * (mu / params.delta) + params.eta * mu)
}

/// Eq. (2): the share of packets that remain accelerates. Each releases two packets, so a share of one half keeps the
/// rate that leaves the queue.
pub(super) fn accelerate_fraction<T: Number>(target: T, dequeue_rate: T) -> T {
    if dequeue_rate > 0.0 { least(target * 0.5 / dequeue_rate, T::one()) } else { T::one() }
}

impl AbcRouter {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = RouterParams::read(settings);
        let dequeued = SlidingRate::new(params.rate_window);
        Self { params, dequeued, tokens: 0.0, target: 0.0, fraction: 1.0 }
    }

    /// Algorithm 1: a token bucket instead of random samples, so that marks are spread evenly.
    fn mark(&mut self, ecn: &mut Ecn) {
        self.tokens = (self.tokens + self.fraction).min(self.params.token_limit);
        if *ecn != Ecn::Ect1 {
            return;
        }
        if self.tokens > 1.0 {
            self.tokens -= 1.0;
        } else {
            *ecn = Ecn::Ect0;
        }
    }
}

impl Link for AbcRouter {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.dequeued.count(cx.now, packet.bytes);
        if packet.kind == PacketKind::Data {
            self.target =
                target_rate(&self.params, queue.configured_capacity.as_f64(), queue.head_sojourn.secs());
            self.fraction = accelerate_fraction(self.target, self.dequeued.bps(cx.now));
            self.mark(packet.ecn);
        }
        Verdict::Keep
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("accelerate fraction", "1", self.fraction);
        gauge.quantity("target rate", "bit/s", self.target);
        gauge.quantity("dequeue rate", "bit/s", self.dequeued.bps(self.dequeued.slot_start()));
    }
}

/// Slots of a sliding window, which advances by one slot at a time.
const SLOTS: usize = 16;

/// Mean length of the window of [`SlidingRate`], in slots: its newest slot is half full on average.
pub(super) fn mean_window(params: &RouterParams) -> Span {
    params.rate_window * (2 * SLOTS as u64 - 1) / (2 * SLOTS as u64)
}

/// A rate over the last `SLOTS - 1` to `SLOTS` slots of time; zero before the first packet.
struct SlidingRate {
    slot: Span,
    bytes: [Bytes; SLOTS],
    sum: Bytes,
    newest: usize,
    slot_end: Time,
}

impl SlidingRate {
    fn new(window: Span) -> Self {
        let slot = (window / SLOTS as u64).max(Span::from_picos(1));
        Self { slot, bytes: [Bytes::ZERO; SLOTS], sum: Bytes::ZERO, newest: 0, slot_end: Time::ZERO + slot }
    }

    fn count(&mut self, now: Time, bytes: Bytes) {
        self.move_on(now);
        self.bytes[self.newest] += bytes;
        self.sum += bytes;
    }

    /// Start of the newest slot.
    fn slot_start(&self) -> Time {
        Time::ZERO + self.slot_end.since(Time::ZERO).saturating_sub(self.slot)
    }

    /// The rate in bit/s at a time not before the last counted packet.
    fn bps(&self, now: Time) -> f64 {
        let span = self.slot * (SLOTS as u64 - 1) + now.since(self.slot_start());
        self.sum.as_f64() * 8.0 * PICOS as f64 / span.picos() as f64
    }

    fn move_on(&mut self, now: Time) {
        if now.since(self.slot_end) >= self.slot * SLOTS as u64 {
            (self.bytes, self.sum, self.slot_end) = ([Bytes::ZERO; SLOTS], Bytes::ZERO, now + self.slot);
        }
        while now >= self.slot_end && self.slot_end != Time::NEVER {
            self.newest = (self.newest + 1) % SLOTS;
            self.sum = self.sum.saturating_sub(std::mem::take(&mut self.bytes[self.newest]));
            self.slot_end += self.slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abc::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Header, Random, Value};
    use millpond_units::Rate;

    /// The setting of the LGCC paper's section X-D.
    fn five_g() -> Settings {
        let written = [("delta", Value::text("300ms")), ("delay_threshold", Value::text("1ms"))];
        Settings::check(PARAMETERS, written).unwrap()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn the_target_is_eta_of_the_capacity_less_the_rate_that_drains_the_excess_in_delta() {
        let params = RouterParams::read(&five_g());
        assert!(near(target_rate(&params, 100e6, 0.001), 98e6));
        // An excess of 30 ms, a tenth of delta: a tenth of the capacity less.
        assert!(near(target_rate(&params, 100e6, 0.031), 88e6));
        assert_eq!(target_rate(&params, 100e6, 10.0), 0.0);
        assert_eq!(target_rate(&params, 0.0, 0.0), 0.0);
    }

    #[test]
    fn half_of_the_packets_are_accelerates_if_the_target_is_the_dequeue_rate() {
        assert_eq!(accelerate_fraction(80e6, 80e6), 0.5);
        assert_eq!(accelerate_fraction(80e6, 20e6), 1.0);
        assert_eq!(accelerate_fraction(0.0, 80e6), 0.0);
        assert_eq!(accelerate_fraction(80e6, 0.0), 1.0);
    }

    /// Sends packets of 1000 B through a router at 8 Mbit/s, one per millisecond, each with these bits and this
    /// queueing delay; counts those that leave as accelerates.
    fn accelerates(capacity: f64, delay: u64, ecn: Ecn, packets: u64) -> u64 {
        let mut router = AbcRouter::new(&five_g());
        let mut random = Random::stream(1, "router");
        let queue = QueueView {
            configured_capacity: Rate::from_mbps(capacity),
            bytes: PACKET,
            link_bytes: PACKET,
            packets: 1,
            head_sojourn: Span::from_millis(delay),
        };
        let mut passed = 0;
        for i in 0..packets {
            let (mut ecn, mut header) = (ecn, Header::NONE);
            let mut packet = PacketView {
                bytes: PACKET,
                kind: PacketKind::Data,
                flow: 0,
                ecn: &mut ecn,
                header: &mut header,
            };
            let now = Time::ZERO + Span::from_millis(1000 + i);
            let verdict = router.depart(&mut Context { now, random: &mut random }, &mut packet, &queue);
            assert_eq!(verdict, Verdict::Keep);
            passed += u64::from(ecn == Ecn::Ect1);
        }
        passed
    }

    #[test]
    fn the_fraction_f_of_many_packets_remains_accelerates() {
        // eta / 2 = .49 on a full link; .44 with 31 ms of delay; all packets at a load of a quarter.
        for (capacity, delay, fraction) in [(8.0, 0, 0.49), (8.0, 31, 0.44), (32.0, 0, 1.0), (0.0, 0, 0.0)] {
            let passed = accelerates(capacity, delay, Ecn::Ect1, 10_000);
            // The window of 20 ms holds one packet more or less, by its start: within a twentieth.
            assert!(
                (passed as f64 / 1e4 - fraction).abs() <= 0.05 * fraction,
                "{capacity} {delay}: {passed}"
            );
        }
    }

    #[test]
    fn a_brake_and_a_congestion_mark_are_unchanged() {
        for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::NotCapable] {
            assert_eq!(accelerates(1000.0, 0, ecn, 100), 0);
        }
    }

    #[test]
    fn a_sliding_rate_is_the_traffic_within_the_window() {
        let mut rate = SlidingRate::new(Span::from_millis(16));
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        for millis in 100..200 {
            rate.count(at(millis), PACKET);
        }
        // 16 slots of 1000 B, the newest just begun: 16 kB in 15 ms at one end of a slot, in 16 at the other.
        assert!(near(rate.bps(at(199)), 128e3 / 0.015) && near(rate.bps(at(200)), 128e3 / 0.016));
        rate.count(at(207), Bytes::ZERO);
        assert!(near(rate.bps(at(207)), 64e3 / 0.015), "half the window later, half is left");
        rate.count(at(1000), Bytes::ZERO);
        assert_eq!(rate.bps(at(1000)), 0.0);
    }
}
