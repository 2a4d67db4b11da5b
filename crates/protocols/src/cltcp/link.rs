//! The CLTCP router: a rate factor with logistic growth on the capacity that traffic and queue leave (section V-C).

use super::header::{CltcpHeader, ID};
use super::params::RouterParams;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Rate, Time};

/// Smallest rate factor in packets/s: it must be able to grow again.
pub(super) const LEAST_FACTOR: f64 = 1.0;

/// Measurements of a sampling interval, in bits and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// C.
    capacity: f64,
    /// Sum of x(k).
    input: f64,
    /// q(k) - q0.
    excess: f64,
}

/// Eq. (49), as in (2): `r <- r exp(beta T2 (1 - (sum x + (q - q0) / T) / C))`.
fn next_factor(params: &RouterParams, factor: f64, measured: &Measured) -> f64 {
    let load = (measured.input + measured.excess / params.time_constant) / measured.capacity;
    factor * libm::exp(params.beta * params.interval.secs() * (1.0 - load))
}

/// The CLTCP router's state at one link.
pub(super) struct CltcpRouter {
    params: RouterParams,
    packet_bits: f64,
    /// r in bit/s.
    factor: f64,
    signalled: Rate,
    /// Bits that arrived in this interval.
    bits: f64,
    unread: Unread,
}

impl CltcpRouter {
    pub(super) fn new(params: RouterParams, facts: &LinkFacts) -> Self {
        let packet_bits = facts.packet.max(Bytes::new(1)).as_f64() * 8.0;
        let factor = params.initial_factor.max(LEAST_FACTOR) * packet_bits;
        Self {
            params,
            packet_bits,
            factor,
            signalled: Rate::from_bps_f64(factor),
            bits: 0.0,
            unread: Unread::default(),
        }
    }

    fn end_interval(&mut self, queue: &QueueView) {
        let input = std::mem::take(&mut self.bits) / self.params.interval.secs();
        let capacity = queue.configured_capacity.as_f64();
        // During an outage the factor is constant.
        if capacity > 0.0 {
            let excess = queue.bytes.as_f64() * 8.0 - self.params.target_queue * self.packet_bits;
            let next = next_factor(&self.params, self.factor, &Measured { capacity, input, excess });
            self.factor = next.min(self.params.cap * capacity).max(LEAST_FACTOR * self.packet_bits);
            self.signalled = Rate::from_bps_f64(self.factor);
        }
    }
}

impl Link for CltcpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    /// Packets of other protocols are load as well.
    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        self.bits += packet.bytes.as_f64() * 8.0;
        Verdict::Keep
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        if let Some(mut header) =
            self.unread.note_own(ID, packet.header.protocol(), CltcpHeader::parse(packet.header))
        {
            header.lower_to(self.signalled);
            header.emit(packet.header);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.end_interval(queue);
        }
        Some(cx.now + self.params.interval)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate factor", "bit/s", self.factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cltcp::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Settings, Value};
    use millpond_units::Span;

    /// 120 Mbit/s, in packets of 1000 bytes per second.
    const CAPACITY: f64 = 15_000.0;

    fn router(written: &[(&'static str, Value)]) -> CltcpRouter {
        let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
        let facts = LinkFacts { capacity: Rate::from_mbps(120.0), buffer: None, packet: PACKET };
        CltcpRouter::new(RouterParams::read(&settings).unwrap(), &facts)
    }

    /// An interval of 100 ms with this input in packets/s and this queue in packets at its end; returns r in packets/s.
    fn end(router: &mut CltcpRouter, input: f64, packets: u64) -> f64 {
        router.bits = input * 0.1 * 8000.0;
        router.end_interval(&QueueView {
            configured_capacity: Rate::from_mbps(120.0),
            bytes: PACKET * packets,
            packets,
            head_sojourn: Span::ZERO,
        });
        router.factor / 8000.0
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a / b - 1.0).abs() <= tolerance
    }

    #[test]
    fn the_factor_follows_equation_49_computed_by_hand() {
        // 100 exp(.1 (1 - (12000 + (400 - 100) / 2) / 15000)) = 100 exp(.019).
        assert!(near(end(&mut router(&[]), 12_000.0, 400), 101.918, 1e-5));
    }

    #[test]
    fn the_only_equilibrium_has_full_load_and_the_target_queue() {
        assert!(near(end(&mut router(&[]), CAPACITY, 100), 100.0, 1e-12));
        assert!(end(&mut router(&[]), CAPACITY, 110) < 100.0);
        assert!(end(&mut router(&[]), 0.99 * CAPACITY, 100) > 100.0);
        // A queue of 150 packets above the target counts as 75 packets/s of load.
        assert!(near(end(&mut router(&[]), CAPACITY - 75.0, 250), 100.0, 1e-12));
    }

    #[test]
    fn with_c_in_place_of_t_as_printed_in_46_a_queue_has_almost_no_effect() {
        // An excess of 750 packets is 2.5 % of load by (2), and 5 / 100 000 of a packet by (46).
        let mut printed = router(&[("time_constant", Value::text("15000s"))]);
        assert!(end(&mut printed, CAPACITY, 850) > 100.0 - 1e-4);
        assert!(end(&mut router(&[]), CAPACITY, 850) < 99.8);
    }

    #[test]
    fn on_an_idle_link_the_factor_grows_e_fold_per_second_up_to_its_limit() {
        // From 100 to 30000 packets/s with exponent .1 (1 + 50 / 15000) each: ln(300) / .100333 = 56.8 intervals.
        let mut router = router(&[]);
        let intervals = (1..100).find(|_| end(&mut router, 0.0, 0) >= 2.0 * CAPACITY);
        assert_eq!(intervals, Some(57));
        assert_eq!(end(&mut router, 0.0, 0), 2.0 * CAPACITY);
    }

    #[test]
    fn after_any_overload_the_factor_can_grow_again() {
        let mut router = router(&[]);
        assert_eq!(end(&mut router, 1e9, 1_000_000), 1.0);
        assert!(end(&mut router, 0.0, 0) > 1.1);
    }

    #[test]
    fn a_link_without_capacity_keeps_its_factor() {
        let mut router = router(&[]);
        let none = QueueView {
            configured_capacity: Rate::ZERO,
            bytes: PACKET * 500,
            packets: 500,
            head_sojourn: Span::ZERO,
        };
        router.bits = 1e6;
        router.end_interval(&none);
        assert_eq!((router.factor, router.bits), (800e3, 0.0));
    }
}
