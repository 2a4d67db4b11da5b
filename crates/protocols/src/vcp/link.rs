//! The VCP router: measures its load and signals it in two bits (section 3.1, SIGCOMM 2005).

use super::header::{ID, Load, VcpHeader};
use super::params::RouterParams;
use millpond_law::{Context, Ecn, Gauge, Hooks, Link, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Time};

/// Upper limit of the load, also used for a link without capacity.
const MOST_LOAD: f64 = 1000.0;

/// Weight of the newest interval's mean queue in the persistent queue (the authors' ns-2 code).
const QUEUE_GAIN: f64 = 0.25;

/// Eq. (1): `rho = (lambda + kappa_q q) / (gamma C t_rho)`, for the arrived bits and the persistent queue in bits.
pub(super) fn load_factor(params: &RouterParams, arrived: f64, queue: f64, capacity: f64) -> f64 {
    let room = params.target_utilization * capacity * params.interval.secs();
    ((arrived + params.queue_weight * queue) / room).min(MOST_LOAD)
}

/// The load in two bits.
pub(super) fn encode(params: &RouterParams, load_factor: f64) -> Load {
    match load_factor {
        rho if rho < params.high_load => Load::Low,
        rho if rho < 1.0 => Load::High,
        _ => Load::Over,
    }
}

/// The persistent queue after an interval with this mean queue, in bits.
pub(super) fn persisting(before: f64, mean: f64) -> f64 {
    before + QUEUE_GAIN * (mean - before)
}

/// Time average of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MeanQueue {
    /// Bit-seconds so far.
    area: f64,
    seen: Time,
}

impl MeanQueue {
    /// Adds the time since the last call, during which the queue held this size.
    fn see(&mut self, now: Time, bytes: Bytes) {
        self.area += bytes.as_f64() * 8.0 * now.since(self.seen).secs();
        self.seen = now;
    }
}

/// The VCP router's state at one link.
pub(super) struct VcpRouter {
    params: RouterParams,
    arrived: f64,
    mean_queue: MeanQueue,
    /// In bits.
    persistent_queue: f64,
    load_factor: f64,
    load: Load,
    unread: Unread,
}

impl VcpRouter {
    pub(super) fn new(params: RouterParams) -> Self {
        Self {
            params,
            arrived: 0.0,
            mean_queue: MeanQueue::default(),
            persistent_queue: 0.0,
            load_factor: 0.0,
            load: Load::Low,
            unread: Unread::default(),
        }
    }

    fn end_interval(&mut self, capacity: f64) {
        let mean = std::mem::take(&mut self.mean_queue.area) / self.params.interval.secs();
        self.persistent_queue = persisting(self.persistent_queue, mean);
        let arrived = std::mem::take(&mut self.arrived);
        self.load_factor = load_factor(&self.params, arrived, self.persistent_queue, capacity);
        self.load = encode(&self.params, self.load_factor);
    }
}

impl Link for VcpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.mean_queue.see(cx.now, queue.bytes);
        self.arrived += packet.bytes.as_f64() * 8.0;
        Verdict::Keep
    }

    /// Overwrites the load of less loaded links.
    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.mean_queue.see(cx.now, queue.bytes);
        let received = self
            .unread
            .note_own(ID, packet.header.protocol(), VcpHeader::parse(packet.header))
            .and_then(|_| Load::of(*packet.ecn));
        if received.is_none_or(|received| received >= self.load) {
            return Verdict::Keep;
        }
        if self.load == Load::Over {
            return Verdict::Mark;
        }
        *packet.ecn = Ecn::Ect0;
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        self.mean_queue.see(cx.now, queue.bytes);
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.end_interval(queue.configured_capacity.as_f64());
        }
        Some(cx.now + self.params.interval)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("load factor", "1", self.load_factor);
        gauge.quantity("persistent queue", "B", self.persistent_queue / 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::PACKET;
    use crate::vcp::params::PARAMETERS;
    use millpond_law::{Header, PacketKind, Random, Settings};
    use millpond_units::{Rate, Span};

    fn params() -> RouterParams {
        RouterParams::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    #[test]
    fn the_load_is_equation_1_by_hand() {
        let params = params();
        // .98 of 10 Mbit/s for 200 ms are 1.96 Mbit.
        assert!((load_factor(&params, 0.98e6, 0.0, 10e6) - 0.5).abs() < 1e-12);
        assert!((load_factor(&params, 0.98e6, 1.96e6, 10e6) - 1.0).abs() < 1e-12);
        assert_eq!(load_factor(&params, 1.0, 0.0, 0.0), MOST_LOAD);
        assert_eq!(load_factor(&params, 0.0, 0.0, 0.0), MOST_LOAD);
    }

    #[test]
    fn low_load_ends_at_four_fifths_and_overload_begins_at_one() {
        let params = params();
        let loads = [0.0, 0.799, 0.8, 0.999, 1.0, 7.0].map(|rho| encode(&params, rho));
        assert_eq!(loads, [Load::Low, Load::Low, Load::High, Load::High, Load::Over, Load::Over]);
    }

    /// A router of 8 Mbit/s at which one packet of 1000 bytes arrives and departs every `gap`, with `queue` packets in
    /// the queue, for this number of intervals.
    fn loaded(gap: Span, queue: u64, intervals: u32) -> VcpRouter {
        let mut router = VcpRouter::new(params());
        let mut random = Random::stream(1, "router");
        let view = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET * queue,
            link_bytes: PACKET * queue,
            packets: queue,
            head_sojourn: Span::ZERO,
        };
        let (mut now, mut tick) = (Time::ZERO, Time::ZERO);
        for _ in 0..=intervals {
            while now < tick {
                let (mut ecn, mut header) = (Ecn::Ect1, Header::NONE);
                let mut packet = PacketView {
                    bytes: PACKET,
                    kind: PacketKind::Data,
                    flow: 0,
                    ecn: &mut ecn,
                    header: &mut header,
                };
                router.arrive(&mut Context { now, random: &mut random }, &mut packet, &view);
                router.depart(&mut Context { now, random: &mut random }, &mut packet, &view);
                now += gap;
            }
            now = tick;
            tick = router.tick(&mut Context { now, random: &mut random }, &view).unwrap();
        }
        router
    }

    #[test]
    fn arrivals_and_queue_are_measured_over_the_interval() {
        // Half of the packets that 8 Mbit/s carry: 100 of 200, of a target of 196.
        let router = loaded(Span::from_millis(2), 0, 3);
        assert!((router.load_factor - 100.0 / 196.0).abs() < 1e-9, "{}", router.load_factor);
        // 100 queued packets: the mean is 100 at once; the persistent queue approaches it by a quarter per interval.
        let router = loaded(Span::from_millis(2), 100, 4);
        let persistent = 100.0 * (1.0 - 0.75_f64.powi(4));
        let theory = (100.0 + 0.5 * persistent) / 196.0;
        assert!((router.load_factor - theory).abs() < 1e-6, "{} {theory}", router.load_factor);
    }

    /// The ECN bits of a packet with these bits after a router of this load.
    fn passes(load: Load, ecn: Ecn, own: bool) -> (Verdict, Ecn) {
        let mut router = VcpRouter::new(params());
        router.load = load;
        let (mut ecn, mut header, mut random) = (ecn, Header::NONE, Random::stream(1, "router"));
        if own {
            VcpHeader::new(None).emit(&mut header);
        }
        let mut packet =
            PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let view = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET,
            link_bytes: PACKET,
            packets: 1,
            head_sojourn: Span::ZERO,
        };
        let verdict =
            router.depart(&mut Context { now: Time::ZERO, random: &mut random }, &mut packet, &view);
        (verdict, ecn)
    }

    #[test]
    fn the_most_loaded_link_of_the_path_sets_the_bits() {
        assert_eq!(passes(Load::Low, Ecn::Ect1, true), (Verdict::Keep, Ecn::Ect1));
        assert_eq!(passes(Load::High, Ecn::Ect1, true), (Verdict::Keep, Ecn::Ect0));
        assert_eq!(passes(Load::Low, Ecn::Ect0, true), (Verdict::Keep, Ecn::Ect0));
        assert_eq!(passes(Load::Over, Ecn::Ect0, true).0, Verdict::Mark);
        assert_eq!(passes(Load::High, Ecn::Ce, true), (Verdict::Keep, Ecn::Ce));
    }

    #[test]
    fn bits_of_other_protocols_are_unchanged() {
        assert_eq!(passes(Load::High, Ecn::Ect1, false), (Verdict::Keep, Ecn::Ect1));
        assert_eq!(passes(Load::Over, Ecn::Ect1, false), (Verdict::Keep, Ecn::Ect1));
        assert_eq!(passes(Load::Over, Ecn::NotCapable, true), (Verdict::Keep, Ecn::NotCapable));
    }
}
