//! The CLTCP router: a rate factor with logistic growth on the capacity that traffic and queue leave (section V-C).

use super::header::{CltcpHeader, ID, ScaledHeader};
use super::params::{RouterParams, Scaling};
use super::sender::LEAST_RATE;
use millpond_law::{Context, Gauge, Header, Hooks, Link, LinkFacts, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Rate, Time};

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

/// `tau <- tau + min(T2 / tau, 1) (sample - tau)`: the mean over about a round trip, all in seconds. The first sample is
/// taken as it is.
fn next_mean_rtt(mean_rtt: f64, sample: f64, interval: f64) -> f64 {
    if mean_rtt > 0.0 { mean_rtt + (interval / mean_rtt).min(1.0) * (sample - mean_rtt) } else { sample }
}

/// The times of this protocol's packets at the link.
#[derive(Clone, Copy, Debug)]
struct Arrivals {
    first: Time,
    last: Time,
}

/// A sender transmits a packet per second at least: without any for longer, the link has no sender.
const LONGEST_GAP: f64 = 1.0 / LEAST_RATE;

/// The CLTCP router's state at one link.
pub(super) struct CltcpRouter {
    params: RouterParams,
    packet_bits: f64,
    /// r in bit/s.
    factor: f64,
    signalled: Rate,
    /// Bits that arrived in this interval.
    bits: f64,
    /// tau in seconds with `scaling = "rtt"`; zero before the first report.
    mean_rtt: f64,
    /// With `scaling = "rtt"`; none before the first packet.
    arrivals: Option<Arrivals>,
    /// Round-trip times that packets of this interval reported: their sum in seconds, weighted by bits, and the weights.
    reported: [f64; 2],
    unread: Unread,
}

impl CltcpRouter {
    pub(super) fn new(params: RouterParams, facts: &LinkFacts) -> Self {
        let packet_bits = facts.packet.max(Bytes::new(1)).as_f64() * 8.0;
        let factor =
            params.bounded(params.initial_factor * packet_bits, facts.capacity.as_f64(), packet_bits);
        Self {
            params,
            packet_bits,
            factor,
            signalled: Rate::from_bps_f64(factor),
            bits: 0.0,
            mean_rtt: 0.0,
            arrivals: None,
            reported: [0.0; 2],
            unread: Unread::default(),
        }
    }

    /// Reads the header of an arriving packet.
    fn note_report(&mut self, now: Time, header: &Header, bits: f64) {
        if CltcpHeader::parse(header).is_some() {
            self.arrivals.get_or_insert(Arrivals { first: now, last: now }).last = now;
        }
        if let Some(rtt) = ScaledHeader::reported_rtt(header) {
            self.reported[0] += bits * rtt.secs();
            self.reported[1] += bits;
        }
    }

    /// tau in seconds: the mean of the reports or, as long as no packet has reported any, the time since the first packet,
    /// which the round-trip time of its sender exceeds.
    fn rtt(&self, now: Time) -> f64 {
        match self.arrivals {
            Some(Arrivals { first, .. }) if self.mean_rtt <= 0.0 => now.since(first).secs(),
            _ => self.mean_rtt,
        }
    }

    /// Whether the factor follows (49). With `scaling = "rtt"` it is constant at a link without senders: nobody receives
    /// it, so that no delay limits its growth.
    fn is_updated(&self, now: Time) -> bool {
        let gap = self.arrivals.map(|arrivals| now.since(arrivals.last).secs());
        self.params.scaling == Scaling::Fixed || gap.is_some_and(|gap| gap <= self.mean_rtt.max(LONGEST_GAP))
    }

    fn end_interval(&mut self, now: Time, queue: &QueueView) {
        let interval = self.params.interval.secs();
        let input = std::mem::take(&mut self.bits) / interval;
        let [rtts, weight] = std::mem::take(&mut self.reported);
        if weight > 0.0 {
            self.mean_rtt = next_mean_rtt(self.mean_rtt, rtts / weight, interval);
        }
        let capacity = queue.configured_capacity.as_f64();
        // During an outage the factor is constant.
        if capacity > 0.0 && self.is_updated(now) {
            let excess = queue.bytes.as_f64() * 8.0 - self.params.target_queue * self.packet_bits;
            let params = self.params.at(self.rtt(now));
            let next = next_factor(&params, self.factor, &Measured { capacity, input, excess });
            self.factor = self.params.bounded(next, capacity, self.packet_bits);
            self.signalled = Rate::from_bps_f64(self.factor);
        }
    }
}

impl Link for CltcpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    /// Packets of other protocols are load as well.
    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        let bits = packet.bytes.as_f64() * 8.0;
        self.bits += bits;
        if self.params.scaling == Scaling::Rtt {
            self.note_report(cx.now, packet.header, bits);
        }
        Verdict::Keep
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        let protocol = packet.header.protocol();
        if let Some(header) = self.unread.note_own(ID, protocol, CltcpHeader::parse_mut(packet.header)) {
            header.lower_to(self.signalled);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.end_interval(cx.now, queue);
        }
        Some(cx.now + self.params.interval)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate factor", "bit/s", self.factor);
        if self.params.scaling == Scaling::Rtt {
            gauge.quantity("mean round-trip time", "s", self.mean_rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cltcp::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, PacketKind, Random, Settings, Value};
    use millpond_units::Span;

    /// 120 Mbit/s, in packets of 1000 bytes per second.
    const CAPACITY: f64 = 15_000.0;

    /// A link of this capacity with these packets of 1000 bytes in its queue.
    fn view(configured_capacity: Rate, packets: u64) -> QueueView {
        let bytes = PACKET * packets;
        QueueView { configured_capacity, bytes, link_bytes: bytes, packets, head_sojourn: Span::ZERO }
    }

    fn router(written: &[(&'static str, Value)]) -> CltcpRouter {
        let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(120.0), None, PACKET);
        CltcpRouter::new(RouterParams::read(&settings), &facts)
    }

    /// An interval of 100 ms with this input in packets/s and this queue in packets at its end; returns r in packets/s.
    fn end(router: &mut CltcpRouter, input: f64, packets: u64) -> f64 {
        router.bits = input * 0.1 * 8000.0;
        router.end_interval(Time::ZERO, &view(Rate::from_mbps(120.0), packets));
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
    fn the_initial_factor_is_not_above_the_limit_unless_the_link_begins_with_an_outage() {
        let params = RouterParams::read(&Settings::check(PARAMETERS, []).unwrap());
        let initial = |bps: u64| {
            let facts = LinkFacts::fifo(Rate::from_bps(bps), None, PACKET);
            CltcpRouter::new(params, &facts).factor / 8000.0
        };
        // 8, 50 and 1000 packets/s, and none.
        assert_eq!([64_000, 400_000, 8_000_000, 0].map(initial), [16.0, 100.0, 100.0, 100.0]);
    }

    #[test]
    fn after_any_overload_the_factor_can_grow_again() {
        let mut router = router(&[]);
        assert_eq!(end(&mut router, 1e9, 1_000_000), 1.0);
        assert!(end(&mut router, 0.0, 0) > 1.1);
    }

    #[test]
    fn all_packets_are_load_and_those_that_depart_carry_the_factor_of_the_last_interval() {
        let mut router = router(&[]);
        let mut random = Random::stream(1, "router");
        let queue = view(Rate::from_mbps(120.0), 100);
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let first = router.tick(&mut cx, &queue).unwrap();
        assert_eq!(
            (first, router.factor),
            (Time::ZERO + Span::from_millis(100), 800e3),
            "nothing was measured"
        );
        let mut header = Header::NONE;
        CltcpHeader::NEW.emit(&mut header);
        for kind in [PacketKind::Data, PacketKind::Ack] {
            let mut ecn = Ecn::NotCapable;
            let mut packet = PacketView { bytes: PACKET, kind, flow: 0, ecn: &mut ecn, header: &mut header };
            router.arrive(&mut cx, &mut packet, &queue);
        }
        cx.now = first;
        router.tick(&mut cx, &queue);
        // Two packets of 1500 in 100 ms.
        let theory = 800e3 * (0.1 * (1.0 - 2.0 / 1500.0_f64)).exp();
        assert!(near(router.factor, theory, 1e-12), "{} {theory}", router.factor);
        let (mut ecn, kind) = (Ecn::NotCapable, PacketKind::Data);
        let mut packet = PacketView { bytes: PACKET, kind, flow: 0, ecn: &mut ecn, header: &mut header };
        router.depart(&mut cx, &mut packet, &queue);
        let signalled = CltcpHeader::parse(&header).and_then(|header| header.factor()).unwrap();
        assert!((signalled.as_f64() - theory).abs() <= 1.0, "{signalled:?} {theory}");
    }

    #[test]
    fn a_link_without_capacity_keeps_its_factor() {
        let mut router = router(&[]);
        let none = view(Rate::ZERO, 500);
        router.bits = 1e6;
        router.end_interval(Time::ZERO, &none);
        assert_eq!((router.factor, router.bits), (800e3, 0.0));
    }

    /// A router of 120 Mbit/s with scaled gains, and the present time.
    struct Scaled {
        router: CltcpRouter,
        now: Time,
    }

    impl Scaled {
        fn new() -> Self {
            Self { router: router(&[("scaling", Value::text("rtt"))]), now: Time::ZERO }
        }

        /// An interval of 100 ms on an otherwise idle link, at whose start packets of 1000 bytes arrive with these reports;
        /// returns the logarithm of the factor's growth.
        fn interval(&mut self, reports: &[Span]) -> f64 {
            let before = self.router.factor;
            for rtt in reports {
                let mut header = Header::NONE;
                ScaledHeader::new(*rtt).emit(&mut header);
                self.router.note_report(self.now, &header, 8000.0);
            }
            self.now += Span::from_millis(100);
            let queue = view(Rate::from_mbps(120.0), 100);
            self.router.end_interval(self.now, &queue);
            (self.router.factor / before).ln()
        }
    }

    #[test]
    fn scaled_gains_use_the_mean_of_the_reports_weighted_by_bits() {
        let mut bench = Scaled::new();
        let [short, long] = [300, 2100].map(Span::from_millis);
        // beta = .45 / .9 s for two packets with .3 s and one with 2.1 s; the load is zero.
        assert!(near(bench.interval(&[short, long, short]), 0.05, 1e-9));
        assert!((bench.router.mean_rtt - 0.9).abs() < 1e-9);
        // The next sample, .3 s, has the weight .1 / .9: .8333 s.
        assert!(near(bench.interval(&[short]), 0.1 * 0.45 / 0.833_333, 1e-5));
        // Up to .45 s beta is that of the paper.
        (0..40).for_each(|_| _ = bench.interval(&[short]));
        assert!(near(bench.interval(&[short]), 0.1, 1e-9));
    }

    #[test]
    fn before_the_first_report_the_time_since_the_first_packet_is_the_lower_bound_of_the_round_trip_time() {
        let mut bench = Scaled::new();
        for n in 1..30 {
            let growth = bench.interval(&[Span::ZERO]);
            let elapsed = 0.1 * f64::from(n);
            assert!(near(growth, 0.1 * f64::min(1.0, 0.45 / elapsed), 1e-9), "{elapsed}: {growth}");
        }
    }

    #[test]
    fn at_a_link_without_senders_a_scaled_factor_is_constant() {
        let mut bench = Scaled::new();
        (0..100).for_each(|_| assert_eq!(bench.interval(&[]), 0.0));
        let rtt = [Span::from_millis(2000)];
        assert!(bench.interval(&rtt) > 0.0);
        // After two seconds without a packet.
        let grows = (0..100).filter(|_| bench.interval(&[]) > 0.0).count();
        assert_eq!(grows, 19);
    }
}
