//! COBALT at one link.

use super::params::Params;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Verdict};
use millpond_units::{Bytes, Time};

/// Service times of a full packet up to which a sojourn time is no standing queue.
const LEAST_PACKETS: u64 = 4;

/// COBALT's state.
pub(super) struct CobaltLink {
    params: Params,
    /// Limit of the buffer; none if it is unlimited.
    buffer: Option<Bytes>,
    /// Size of a full packet.
    packet: Bytes,
    /// Whether the delay is above the target.
    dropping: bool,
    /// Signals of CoDel so far, less those that it has taken back since.
    count: u64,
    /// Time of the next signal, or of the next decrease of `count`.
    next: Time,
    /// BLUE's drop probability.
    blue: f64,
    /// Last change of BLUE's probability.
    blue_changed: Time,
}

impl CobaltLink {
    pub(super) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self::with(params, facts.buffer, facts.packet)
    }

    fn with(params: Params, buffer: Option<Bytes>, packet: Bytes) -> Self {
        Self {
            params,
            buffer,
            packet,
            dropping: false,
            count: 0,
            next: Time::ZERO,
            blue: 0.0,
            blue_changed: Time::ZERO,
        }
    }

    /// interval / sqrt(count) after `from`; an interval for a count of zero or one.
    fn control_law(&self, from: Time) -> Time {
        from + self.params.interval.scale(1.0 / libm::sqrt(self.count.max(1) as f64))
    }

    /// Changes BLUE's probability, at most once in the time `target`.
    fn change_blue(&mut self, now: Time, change: f64) {
        if now.since(self.blue_changed) > self.params.target {
            self.blue = (self.blue + change).clamp(0.0, 1.0);
            self.blue_changed = now;
        }
    }

    /// An arriving packet finds the buffer full.
    fn buffer_full(&mut self, now: Time) {
        self.change_blue(now, self.params.increase);
        (self.dropping, self.next) = (true, now);
        self.count = self.count.max(1);
    }

    /// The queue becomes empty.
    fn queue_empty(&mut self, now: Time) {
        if self.blue > 0.0 {
            self.change_blue(now, -self.params.decrease);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.forget_one();
        }
    }

    fn forget_one(&mut self) {
        self.count -= 1;
        self.next = self.control_law(self.next);
    }

    /// Whether CoDel signals with this packet.
    fn is_signal(&mut self, now: Time, is_above: bool) -> bool {
        let is_due = self.count > 0 && now >= self.next;
        if is_above && !self.dropping {
            self.next = self.control_law(now);
        }
        self.dropping = is_above;
        if is_above {
            self.count = self.count.max(1);
        }
        if is_due && self.dropping {
            self.count += 1;
            self.next = self.control_law(self.next);
            return true;
        }
        while !self.dropping && self.count > 0 && now >= self.next {
            self.forget_one();
        }
        false
    }

    /// Whether this sojourn time is above the target and above four service times of a full packet.
    fn is_above(&self, queue: &QueueView) -> bool {
        let service = queue.configured_capacity.time_for(self.packet);
        queue.head_sojourn > self.params.target && queue.head_sojourn > service * LEAST_PACKETS
    }
}

impl Link for CobaltLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if self.buffer.is_some_and(|buffer| buffer.saturating_sub(queue.bytes) < packet.bytes) {
            self.buffer_full(cx.now);
        }
        Verdict::Keep
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let is_above = self.is_above(queue);
        let is_signal = self.is_signal(cx.now, is_above);
        if self.count == 0 {
            self.next = cx.now + self.params.interval;
        }
        if queue.packets <= 1 {
            self.queue_empty(cx.now);
        }
        let is_marked = is_signal && self.params.ecn && packet.ecn.is_capable();
        if is_marked {
            // Marks that are overdue are not made up for.
            self.next = self.next.max(cx.now);
        }
        if is_signal && !is_marked || cx.random.chance(self.blue) {
            return Verdict::Drop;
        }
        if is_marked { Verdict::Mark } else { Verdict::Keep }
    }

    fn for_flow(&self) -> Option<Box<dyn Link>> {
        Some(Box::new(Self::with(self.params, self.buffer, self.packet)))
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("marking", "1", f64::from(self.dropping));
        gauge.quantity("drop probability of BLUE", "1", self.blue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::{self, cobalt::Cobalt};
    use crate::testing::{LinkBench, PACKET};
    use millpond_units::{Rate, Span};

    const LONG: Span = Span::from_millis(20);
    const SHORT: Span = Span::from_millis(4);

    fn bench() -> LinkBench<CobaltLink> {
        let settings = queues::settings(&Cobalt, []).unwrap();
        let buffer = Some(PACKET * 100);
        let facts = LinkFacts::fifo(Rate::from_mbps(8.0), buffer, PACKET);
        LinkBench::new(CobaltLink::new(Params::read(&settings), &facts))
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn signals_come_an_interval_over_the_root_of_their_count_apart() {
        let mut bench = bench();
        let departures = (0..600_000).step_by(10);
        let marks: Vec<u64> =
            departures.filter(|t| bench.depart(at(*t), 100, LONG) == Verdict::Mark).collect();
        assert_eq!(marks[0], 100_000, "the first signal follows a whole interval above the target");
        let mut expected = marks[0] as f64;
        for (count, mark) in (2..).zip(&marks[1..]) {
            expected += 100_000.0 / f64::from(count).sqrt();
            assert!((*mark as f64 - expected).abs() <= 10.0, "signal {count}: {mark}, not {expected}");
        }
    }

    #[test]
    fn the_count_decreases_step_by_step_below_the_target() {
        // CoDel resets its count; COBALT decrements it at the intervals at which it would have incremented it.
        let mut bench = bench();
        (0..600_000).step_by(10).for_each(|t| {
            bench.depart(at(t), 100, LONG);
        });
        let count = bench.law.count;
        (600_000..700_000).step_by(10).for_each(|t| {
            bench.depart(at(t), 100, SHORT);
        });
        let after = bench.law.count;
        // In an interval about sqrt(count) signals: 100 ms over 100 ms / sqrt(count).
        let expected = count as f64 - (count as f64).sqrt();
        assert!((after as f64 - expected).abs() <= 1.0, "{count} to {after}, not {expected}");
        (700_000..2_000_000).step_by(10).for_each(|t| {
            bench.depart(at(t), 100, SHORT);
        });
        assert_eq!(bench.law.count, 0);
    }

    #[test]
    fn a_full_buffer_raises_the_drop_probability_once_per_target() {
        let mut bench = bench();
        // 100 ms with an arrival each 100 us: an increase of 1/256 after each 5.1 ms.
        (0..=1000).for_each(|n| {
            bench.arrive(at(n * 100), 100);
        });
        let changes = 100_000 / 5100;
        assert_eq!(bench.law.blue, f64::from(changes) / 256.0);
        assert!(bench.law.dropping && bench.law.count == 1);
    }

    #[test]
    fn blue_drops_capable_packets_too_and_fades_while_the_queue_is_empty() {
        let mut bench = bench();
        bench.law.blue = 0.25;
        let drops = (0..10_000).filter(|t| bench.depart(at(*t), 9, SHORT) == Verdict::Drop).count();
        // Binomial with a deviation of 43: five of them.
        assert!(drops.abs_diff(2500) < 217, "{drops}");
        (10..1010).for_each(|n| {
            bench.depart(at(n * 6000), 1, Span::ZERO);
        });
        assert!((bench.law.blue - (0.25 - 1000.0 / 4096.0)).abs() < 2.0 / 4096.0, "{}", bench.law.blue);
    }
}
