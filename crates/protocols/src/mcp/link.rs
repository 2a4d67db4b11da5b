//! The MCP router: measures its load, and signals requests for fairing to all flows (sections IV-A and IV-D).

use super::header::{ID, Load, McpHeader};
use super::params::{PERIOD, Ranges};
use crate::parts::interval;
use millpond_law::{
    Context, Gauge, Hooks, Link, PacketView, QueueView, SettingError, Settings, Unread, Verdict,
};
use millpond_units::{Bytes, Span, Time};

/// Upper limit of the utilization, also used for a link without capacity.
const MOST_UTILIZATION: f64 = 1000.0;

/// A request is signalled until the end of the period after the one in which it arrived.
pub(super) const PERIODS_OF_FAIRING: u8 = 2;

/// Eq. (1): `U = (N + Q) / (C T)`, for the arrived bits and the minimum queue in bits.
pub(super) fn utilization(arrived: f64, least_queue: f64, capacity: f64, period: f64) -> f64 {
    ((arrived + least_queue) / (capacity * period)).min(MOST_UTILIZATION)
}

/// The MCP router's state at one link.
pub(super) struct McpRouter {
    period: Span,
    ranges: Ranges,
    arrived: Bytes,
    least_queue: Bytes,
    utilization: f64,
    load: Load,
    /// Number of periods, including the current one, in which fairing is signalled.
    fairing: u8,
    unread: Unread,
}

impl McpRouter {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            period: interval::checked(PERIOD, settings.get(PERIOD))?,
            ranges: Ranges::read(settings)?,
            arrived: Bytes::ZERO,
            least_queue: Bytes::ZERO,
            utilization: 0.0,
            load: Load::Light,
            fairing: 0,
            unread: Unread::default(),
        })
    }

    fn end_period(&mut self, queue: &QueueView) {
        let (arrived, least) = (self.arrived.as_f64() * 8.0, self.least_queue.as_f64() * 8.0);
        self.utilization =
            utilization(arrived, least, queue.configured_capacity.as_f64(), self.period.secs());
        self.load = self.ranges.load(self.utilization);
        self.fairing = self.fairing.saturating_sub(1);
        (self.arrived, self.least_queue) = (Bytes::ZERO, queue.bytes);
    }

    /// Load and fairing are those of the moment when the router receives the packet (section IV-A3).
    fn write(&self, header: &mut McpHeader) {
        header.pass(self.load);
        if self.fairing > 0 && matches!(header.load(), Load::Medium | Load::Heavy) {
            header.set_fairing();
        }
    }
}

impl Link for McpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, tick: true, ..Hooks::default() }
    }

    /// Between arrivals the queue only shrinks: its minimum is just before an arrival or at the end of the period.
    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.arrived += packet.bytes;
        self.least_queue = self.least_queue.min(queue.bytes);
        let header = McpHeader::parse(packet.header);
        if header.is_some_and(|header| header.requests_fairing()) {
            self.fairing = PERIODS_OF_FAIRING;
        }
        if let Some(mut header) = self.unread.note_own(ID, packet.header.protocol(), header) {
            self.write(&mut header);
            header.emit(packet.header);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.least_queue = self.least_queue.min(queue.bytes);
            self.end_period(queue);
        }
        Some(cx.now + self.period)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("signalled utilization", "1", self.utilization);
        gauge.quantity("fairing", "1", f64::from(u8::from(self.fairing > 0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, Header, PacketKind, Random};
    use millpond_units::Rate;

    #[test]
    fn the_utilization_is_equation_1_by_hand() {
        // 20 Mbit/s for 200 ms are 4 Mbit.
        assert!((utilization(3e6, 0.5e6, 20e6, 0.2) - 0.875).abs() < 1e-12);
        assert_eq!(utilization(1.0, 0.0, 0.0, 0.2), MOST_UTILIZATION);
        assert_eq!(utilization(0.0, 0.0, 0.0, 0.2), MOST_UTILIZATION);
    }

    /// A router of 8 Mbit/s, whose capacity is 200 packets per period.
    struct Bench {
        router: McpRouter,
        random: Random,
        now: Time,
    }

    impl Bench {
        fn new() -> Self {
            let router = McpRouter::new(&Settings::check(PARAMETERS, []).unwrap()).unwrap();
            let mut bench = Self { router, random: Random::stream(1, "router"), now: Time::ZERO };
            bench.tick(0);
            bench
        }

        fn queue(packets: u64) -> QueueView {
            QueueView {
                configured_capacity: Rate::from_mbps(8.0),
                bytes: PACKET * packets,
                packets,
                head_sojourn: Span::ZERO,
            }
        }

        fn tick(&mut self, queued: u64) {
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.now = self.router.tick(&mut cx, &Self::queue(queued)).unwrap();
        }

        /// Passes a packet with these four bits; returns its bits.
        fn pass(&mut self, sent: u8, queued: u64) -> u8 {
            self.pass_after(sent, queued, |_| ())
        }

        /// The same for a packet that waits while something happens.
        fn pass_after(&mut self, sent: u8, queued: u64, meanwhile: impl FnOnce(&mut Self)) -> u8 {
            let (mut ecn, mut header) = (Ecn::NotCapable, Header::new(ID, &[sent]));
            let mut packet =
                PacketView { bytes: PACKET, kind: PacketKind::Data, ecn: &mut ecn, header: &mut header };
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.router.arrive(&mut cx, &mut packet, &Self::queue(queued));
            meanwhile(self);
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.router.depart(&mut cx, &mut packet, &Self::queue(queued + 1));
            header.bytes()[0]
        }

        /// A period with this number of arrivals and of queued packets.
        fn period(&mut self, arrivals: u64, queued: u64) {
            (0..arrivals).for_each(|_| _ = self.pass(0, queued));
            self.tick(queued);
        }
    }

    #[test]
    fn the_load_is_the_arrivals_and_the_minimum_queue_of_the_last_period() {
        let mut bench = Bench::new();
        assert_eq!(bench.pass(0, 0), 0b0000, "no load is measured before the first period ends");
        for (arrivals, queued, load) in [(95, 0, 0b00), (96, 0, 0b01), (100, 76, 0b10), (100, 96, 0b11)] {
            bench.tick(queued);
            bench.period(arrivals, queued);
            assert_eq!(bench.pass(0, queued) >> 2, load, "{arrivals} and {queued}");
        }
    }

    #[test]
    fn the_minimum_queue_counts_and_not_the_last() {
        let mut bench = Bench::new();
        bench.tick(50);
        bench.pass(0, 10);
        bench.pass(0, 90);
        bench.tick(90);
        assert!((bench.router.utilization - 12.0 / 200.0).abs() < 1e-12);
    }

    #[test]
    fn a_packet_carries_the_load_and_the_fairing_of_its_arrival_however_long_it_waits() {
        let mut bench = Bench::new();
        bench.period(120, 0);
        let bits = bench.pass_after(0b0000, 0, |bench| {
            bench.pass(0b0011, 0);
            bench.period(200, 0);
        });
        assert_eq!(bits, 0b0100, "medium load, before the request and the overload");
    }

    #[test]
    fn a_request_is_signalled_to_all_flows_until_the_end_of_the_next_period() {
        let mut bench = Bench::new();
        bench.period(120, 0);
        assert_eq!(bench.pass(0b0000, 0), 0b0100);
        assert_eq!(bench.pass(0b0011, 0), 0b0111);
        assert_eq!(bench.pass(0b0000, 0), 0b0110);
        bench.period(120, 0);
        assert_eq!(bench.pass(0b0000, 0), 0b0110, "the next period");
        bench.period(120, 0);
        assert_eq!(bench.pass(0b0000, 0), 0b0100, "the one after it");
    }

    #[test]
    fn the_fairing_signal_is_not_relayed_and_light_load_or_overload_does_not_signal_it() {
        let mut bench = Bench::new();
        bench.period(120, 0);
        assert_eq!(bench.pass(0b0010, 0), 0b0110);
        assert_eq!(bench.pass(0b0000, 0), 0b0100, "no chain reaction");
        for (arrivals, load) in [(10, 0b0000), (200, 0b1100)] {
            bench.period(arrivals, 0);
            bench.pass(0b0011, 0);
            assert_eq!(bench.pass(0b0000, 0), load);
        }
        bench.period(10, 0);
        bench.pass(0b0011, 0);
        assert_eq!(bench.pass(0b1000, 0), 0b1010, "a more loaded upstream link applies");
    }
}
