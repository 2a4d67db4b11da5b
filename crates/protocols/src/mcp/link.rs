//! The MCP router: measures its load, and signals requests for fairing to all flows (sections IV-A and IV-D).

use super::header::{ID, Load, McpHeader, StepCode};
use super::params::{PERIOD, Ranges, request_limit, step_share};
use super::requests::Requests;
use crate::parts::linear_count::LinearCount;
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

/// What remains of the number of flows after a period in which fewer were counted. A flow need not send in each period.
const KEPT_COUNT: f64 = 0.95;

/// The number of flows after a period in which `counted` have sent.
pub(super) fn next_count(count: f64, counted: f64) -> f64 {
    counted.max(KEPT_COUNT * count)
}

/// The step that a link requests from each of its flows: `sigma C / n`, in bit/s; none without flows or capacity.
pub(super) fn requested_step(share: f64, capacity: f64, flows: f64) -> StepCode {
    let is_known = flows >= 0.5 && capacity > 0.0;
    if is_known { StepCode::at_most(share * capacity / flows.max(1.0)) } else { StepCode::NONE }
}

/// The flows of a link, counted for the step that it requests.
struct FlowCount {
    /// sigma.
    share: f64,
    /// The flows of this period; none before the first.
    sketch: Option<LinearCount>,
    flows: f64,
    step: StepCode,
}

impl FlowCount {
    fn new(share: f64) -> Self {
        Self { share, sketch: None, flows: 0.0, step: StepCode::NONE }
    }

    fn begin(&mut self, cx: &mut Context<'_>) {
        let salt = u64::from(cx.random.bits()) << 32 | u64::from(cx.random.bits());
        self.sketch = Some(LinearCount::new(salt));
    }

    fn end_period(&mut self, capacity: f64) {
        let Some(sketch) = &mut self.sketch else { return };
        self.flows = next_count(self.flows, sketch.estimate());
        sketch.clear();
        if capacity > 0.0 {
            self.step = requested_step(self.share, capacity, self.flows);
        }
    }
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
    /// With `step_share`.
    count: Option<FlowCount>,
    requests: Requests,
    /// Number of flows whose requests are ignored.
    ignored: usize,
    unread: Unread,
}

impl McpRouter {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            period: settings.get(PERIOD),
            ranges: Ranges::read(settings)?,
            arrived: Bytes::ZERO,
            least_queue: Bytes::ZERO,
            utilization: 0.0,
            load: Load::Light,
            fairing: 0,
            count: step_share(settings).map(FlowCount::new),
            requests: Requests::new(request_limit(settings)),
            ignored: 0,
            unread: Unread::default(),
        })
    }

    fn end_period(&mut self, now: Time, queue: &QueueView) {
        let before = self.load;
        let (arrived, least) = (self.arrived.as_f64() * 8.0, self.least_queue.as_f64() * 8.0);
        self.utilization =
            utilization(arrived, least, queue.configured_capacity.as_f64(), self.period.secs());
        self.load = self.ranges.load(self.utilization);
        self.fairing = self.fairing.saturating_sub(1);
        (self.arrived, self.least_queue) = (Bytes::ZERO, queue.bytes);
        if let Some(count) = &mut self.count {
            count.end_period(queue.configured_capacity.as_f64());
        }
        self.requests.end_period(now, self.period, before != Load::Over && self.load == Load::Over);
        self.ignored = self.requests.ignored(now);
    }

    /// Reads the request of a packet, and withdraws it if the flow is ignored.
    fn read_request(&mut self, now: Time, flow: u32, header: &mut McpHeader) {
        if header.requests_fairing() {
            if self.requests.serve(now, flow) {
                self.fairing = PERIODS_OF_FAIRING;
            } else {
                header.withdraw_request();
            }
        }
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
        let flow = self.count.is_some() || self.requests.are_limited();
        Hooks { arrive: true, tick: true, flow, ..Hooks::default() }
    }

    /// Between arrivals the queue only shrinks: its minimum is just before an arrival or at the end of the period.
    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.arrived += packet.bytes;
        self.least_queue = self.least_queue.min(queue.bytes);
        let header = McpHeader::parse(packet.header);
        if let Some(mut header) = self.unread.note_own(ID, packet.header.protocol(), header) {
            self.read_request(cx.now, packet.flow, &mut header);
            self.write(&mut header);
            let mut step = StepCode::NONE;
            if let Some(count) = &mut self.count {
                count.sketch.iter_mut().for_each(|sketch| sketch.add(packet.flow));
                step = count.step;
            }
            header.rewrite(packet.header, step);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.least_queue = self.least_queue.min(queue.bytes);
            self.end_period(cx.now, queue);
        } else if let Some(count) = &mut self.count {
            count.begin(cx);
        }
        Some(cx.now + self.period)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("signalled utilization", "1", self.utilization);
        gauge.quantity("fairing", "1", f64::from(u8::from(self.fairing > 0)));
        if let Some(count) = &self.count {
            gauge.quantity("counted flows", "1", count.flows);
            gauge.quantity("requested step", "bit/s", count.step.bps().unwrap_or(0.0));
        }
        if self.requests.are_limited() {
            gauge.quantity("ignored requesters", "1", self.ignored as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, Header, PacketKind, Random, Value};
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
            Self::with(&[])
        }

        fn with(written: &[(&'static str, Value)]) -> Self {
            let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
            let router = McpRouter::new(&settings).unwrap();
            let mut bench = Self { router, random: Random::stream(1, "router"), now: Time::ZERO };
            bench.tick(0);
            bench
        }

        fn queue(packets: u64) -> QueueView {
            QueueView {
                configured_capacity: Rate::from_mbps(8.0),
                bytes: PACKET * packets,
                link_bytes: PACKET * packets,
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
            let mut header = Header::new(ID, &[sent]);
            self.pass_flow(0, &mut header, queued, meanwhile);
            header.bytes()[0]
        }

        /// Passes a packet of this flow with this header.
        fn pass_flow(
            &mut self,
            flow: u32,
            header: &mut Header,
            queued: u64,
            meanwhile: impl FnOnce(&mut Self),
        ) {
            let (mut ecn, kind) = (Ecn::NotCapable, PacketKind::Data);
            let mut packet = PacketView { bytes: PACKET, kind, flow, ecn: &mut ecn, header };
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.router.arrive(&mut cx, &mut packet, &Self::queue(queued));
            meanwhile(self);
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.router.depart(&mut cx, &mut packet, &Self::queue(queued + 1));
        }

        fn gauge(&self, name: &str) -> f64 {
            let mut gauges: Vec<(&'static str, &'static str, f64)> = Vec::new();
            self.router.observe(&mut gauges);
            gauges.into_iter().find(|(known, ..)| *known == name).unwrap().2
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
        // After the last arrival the queue shrinks until the end of the period.
        bench.pass(0, 90);
        bench.tick(30);
        assert!((bench.router.utilization - 31.0 / 200.0).abs() < 1e-12);
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

    /// The second byte of a packet of this flow.
    fn code(bench: &mut Bench, flow: u32) -> u8 {
        let mut header = Header::new(ID, &[0, 255]);
        bench.pass_flow(flow, &mut header, 0, |_| ());
        header.bytes()[1]
    }

    #[test]
    fn a_router_requests_an_equal_part_of_its_step_from_each_flow_and_forgets_flows_slowly() {
        let mut bench = Bench::with(&[("step_share", Value::Number(0.03))]);
        assert!(bench.router.hooks().flow);
        assert_eq!(code(&mut bench, 1), 255, "no flow has been counted yet");
        (0..10).for_each(|flow| _ = code(&mut bench, flow % 3));
        bench.tick(0);
        // 8 Mbit/s * .03 / 3 = 80 kbit/s; linear counting of three flows without a collision gives 3.0011.
        assert_eq!(code(&mut bench, 0), StepCode::at_most(80e3 / 1.001).0);
        assert!((bench.gauge("counted flows") - 3.0011).abs() < 1e-4);
        // Two flows less: a factor of .95 per period, 14 periods to half.
        (0..14).for_each(|_| {
            code(&mut bench, 0);
            bench.tick(0);
        });
        assert!((bench.gauge("counted flows") - 3.0011 * 0.95_f64.powi(14)).abs() < 1e-4);
        // One flow remains, and no step is above the whole.
        (0..100).for_each(|_| {
            code(&mut bench, 0);
            bench.tick(0);
        });
        assert_eq!(code(&mut bench, 0), StepCode::at_most(240e3).0);
    }

    #[test]
    fn a_flow_that_requests_for_too_long_is_ignored_and_its_request_is_withdrawn() {
        let mut bench = Bench::with(&[("request_limit", Value::Number(2.0))]);
        let pass = |bench: &mut Bench, flow: u32, bits: u8| {
            let mut header = Header::new(ID, &[bits]);
            bench.pass_flow(flow, &mut header, 0, |_| ());
            header.bytes()[0]
        };
        for arrivals in [120, 200, 120, 200] {
            assert_eq!(pass(&mut bench, 1, 0b0011) & 0b0011, 0b0011);
            bench.period(arrivals, 0);
        }
        bench.period(120, 0);
        bench.period(120, 0);
        assert_eq!(pass(&mut bench, 1, 0b0011), 0b0100, "no fairing for anybody");
        assert_eq!((pass(&mut bench, 2, 0b0000), bench.gauge("ignored requesters")), (0b0100, 1.0));
        assert_eq!(pass(&mut bench, 2, 0b0011), 0b0111, "other flows are served");
        assert_eq!(pass(&mut bench, 1, 0b0011), 0b0110, "and then it takes part");
    }

    #[test]
    fn the_step_is_sigma_c_over_n_by_hand() {
        // 200 Mbit/s * .03 / 600 = 10 kbit/s = 2^13.288: 106 eighths.
        assert_eq!(requested_step(0.03, 200e6, 600.0), StepCode(106));
        assert_eq!(requested_step(0.03, 200e6, 0.0), StepCode::NONE);
        assert_eq!(requested_step(0.03, 0.0, 600.0), StepCode::NONE);
        assert_eq!((next_count(100.0, 50.0), next_count(100.0, 99.0)), (95.0, 99.0));
    }
}
