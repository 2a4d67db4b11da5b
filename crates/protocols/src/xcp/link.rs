//! The XCP router: an efficiency controller computes the change of the total traffic, a fairness controller allocates
//! it to packets (sections 3.4 and 3.5, SIGCOMM 2002; line numbers of draft-falk-xcp-spec-03, section 4).

use super::header::{ID, ThroughputChange, XcpHeader};
use super::params::RouterParams;
use crate::parts::persistent_queue::PersistentQueue;
use millpond_law::{Context, Gauge, Hooks, Link, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Rate, Span, Time};

/// Eq. (1) and line 9: the change of the total traffic in bit/s, for the spare capacity in bit/s, the persistent queue
/// in bits and the mean round-trip time in seconds.
fn aggregate_feedback(params: &RouterParams, spare: f64, queue: f64, mean_rtt: f64) -> f64 {
    params.alpha * spare - params.beta * queue / mean_rtt
}

/// Eq. (4) and line 10: the redistributed traffic in bit/s, in addition to the aggregate feedback.
fn shuffled_traffic(params: &RouterParams, input: f64, aggregate: f64) -> f64 {
    (params.gamma * input - aggregate.abs()).max(0.0)
}

/// Line 34: interval over which the minimum queue is taken, in seconds, for a current queueing delay of `delay`.
fn queue_interval(params: &RouterParams, mean_rtt: f64, delay: f64) -> Span {
    params.min_queue_interval.max(Span::from_secs((mean_rtt - delay) / 2.0))
}

/// Rounds to the nearest integer and saturates at the range of the type.
#[inline]
fn saturating_round(bps: f64) -> i64 {
    (bps + 0.5_f64.copysign(bps)) as i64
}

/// Measurements of the packets that arrived in a control interval (lines 1 to 6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traffic {
    /// Bits of all packets.
    bits: f64,
    /// Bits of packets that can carry feedback.
    controllable_bits: f64,
    /// Sum of size / throughput, in seconds; each flow adds about the length of the interval.
    time: f64,
    /// Sum of size / throughput times round-trip time.
    rtt_by_time: f64,
}

/// Feedback in bit/s that remains to be allocated, and its factor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pool {
    left: f64,
    /// Per second or per bit.
    factor: f64,
}

impl Pool {
    /// Lines 13 and 14: xi_p and xi_n of Eqs. (7) and (8), SIGCOMM 2002.
    fn new(amount: f64, among: f64) -> Self {
        if among > 0.0 { Self { left: amount, factor: amount / among } } else { Self::default() }
    }

    /// Lines 20 and 21.
    fn share(&self, of: f64) -> f64 {
        let share = self.factor * of;
        if share < self.left { share } else { self.left }
    }

    /// Lines 28 to 31.
    fn debit(&mut self, amount: f64) {
        if amount < self.left {
            self.left -= amount;
        } else {
            *self = Self::default();
        }
    }
}

/// The feedback that is allocated over a control interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pools {
    positive: Pool,
    negative: Pool,
}

impl Pools {
    /// Lines 20 to 31: the feedback of a packet of `bits` that takes `time` seconds at its flow's throughput, where
    /// upstream routers have left a change of `change`. If that is less than this router's share, the difference is
    /// deducted from both pools, so that other flows can use it.
    fn grant(&mut self, bits: f64, time: f64, change: f64) -> f64 {
        let (mut give, mut take) = (self.positive.share(time), self.negative.share(bits));
        let offer = give - take;
        let granted = if change < offer { change } else { offer };
        if change < offer {
            take = (take + (offer - change)).min(self.negative.left);
            give = change + take;
        }
        self.positive.debit(give);
        self.negative.debit(take);
        granted
    }
}

/// The XCP router's state at one link.
pub(super) struct XcpRouter {
    params: RouterParams,
    traffic: Traffic,
    pools: Pools,
    /// Lines 32 to 36.
    queue: PersistentQueue,
    /// Size of the packet whose service began last.
    in_service: Bytes,
    mean_rtt: f64,
    interval: Span,
    interval_end: Time,
    aggregate: f64,
    unread: Unread,
}

impl XcpRouter {
    pub(super) fn new(params: RouterParams) -> Self {
        Self {
            params,
            traffic: Traffic::default(),
            pools: Pools::default(),
            queue: PersistentQueue::default(),
            in_service: Bytes::ZERO,
            mean_rtt: params.initial_interval.secs(),
            interval: params.initial_interval,
            interval_end: Time::ZERO,
            aggregate: 0.0,
            unread: Unread::default(),
        }
    }

    /// Lines 7 to 18.
    fn end_control_interval(&mut self, now: Time, capacity: f64) {
        let traffic = std::mem::take(&mut self.traffic);
        let known = traffic.time > 0.0;
        self.mean_rtt =
            if known { traffic.rtt_by_time / traffic.time } else { self.params.initial_interval.secs() };
        let input = traffic.bits / self.interval.secs();
        self.aggregate = aggregate_feedback(
            &self.params,
            capacity - input,
            self.queue.bytes().as_f64() * 8.0,
            self.mean_rtt,
        );
        let shuffled = shuffled_traffic(&self.params, input, self.aggregate);
        self.pools = Pools {
            positive: Pool::new(shuffled + self.aggregate.max(0.0), traffic.time),
            negative: Pool::new(shuffled - self.aggregate.min(0.0), traffic.controllable_bits),
        };
        self.interval = Span::from_secs(self.mean_rtt).max(self.params.min_interval);
        self.interval_end = now + self.interval;
    }
}

impl Link for XcpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    /// Lines 1 to 6. Packets of other protocols count as load, but cannot carry feedback.
    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        let bits = packet.bytes.as_f64() * 8.0;
        self.traffic.bits += bits;
        let header = XcpHeader::parse(packet.header);
        if let Some(sample) = header.and_then(|h| FlowSample::new(h.rtt(), h.throughput(), bits)) {
            self.traffic.controllable_bits += bits;
            self.traffic.time += sample.time;
            self.traffic.rtt_by_time += sample.time * sample.rtt.min(self.params.max_rtt).secs();
        }
        Verdict::Keep
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.in_service = packet.bytes;
        self.queue.see(queue.bytes.saturating_sub(self.in_service));
        let protocol = packet.header.protocol();
        if let Some(header) = self.unread.note_own(ID, protocol, XcpHeader::within(packet.header)) {
            let bits = packet.bytes.as_f64() * 8.0;
            let change = match header.change() {
                ThroughputChange::Unlimited => f64::INFINITY,
                ThroughputChange::Limited(bps) => bps as f64,
            };
            // A sender without a round-trip time sample cannot use feedback.
            let granted = FlowSample::new(header.rtt(), header.throughput(), bits)
                .map_or_else(|| change.min(0.0), |sample| self.pools.grant(bits, sample.time, change));
            header.set_change(ThroughputChange::Limited(saturating_round(granted)));
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        let capacity = queue.configured_capacity;
        if cx.now >= self.queue.interval_end() {
            let delay = capacity.time_for(queue.bytes).secs();
            let next = cx.now + queue_interval(&self.params, self.mean_rtt, delay);
            self.queue.end_interval(queue.bytes.saturating_sub(self.in_service), next);
        }
        if cx.now >= self.interval_end {
            self.end_control_interval(cx.now, capacity.as_f64());
        }
        Some(self.interval_end.min(self.queue.interval_end()))
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("aggregate feedback", "bit/s", self.aggregate);
        gauge.quantity("control interval", "s", self.interval.secs());
        gauge.quantity("persistent queue", "B", self.queue.bytes().as_f64());
    }
}

/// A packet that carries a throughput.
struct FlowSample {
    rtt: Span,
    /// Size over the flow's throughput, in seconds.
    time: f64,
}

impl FlowSample {
    #[inline]
    fn new(rtt: Span, throughput: Rate, bits: f64) -> Option<Self> {
        let known = !rtt.is_zero() && !throughput.is_zero();
        known.then(|| Self { rtt, time: bits / throughput.as_f64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::PACKET;
    use crate::xcp::params::PARAMETERS;
    use millpond_law::{Ecn, Header, PacketKind, Random, Settings};

    const RTT: Span = Span::from_millis(100);
    const CAPACITY: f64 = 80e6;

    fn defaults() -> RouterParams {
        RouterParams::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs().max(1.0)
    }

    /// A router at 80 Mbit/s with a queue of fixed length, whose flows send evenly and apply their feedback.
    struct Bench {
        router: XcpRouter,
        random: Random,
        now: Time,
        queue: Bytes,
    }

    impl Bench {
        fn new(queue: Bytes) -> Self {
            let router = XcpRouter::new(defaults());
            let mut bench = Self { router, random: Random::stream(1, "router"), now: Time::ZERO, queue };
            bench.tick();
            bench
        }

        fn view(&self) -> QueueView {
            let packets = self.queue.get() / PACKET.get();
            QueueView {
                configured_capacity: Rate::from_bps_f64(CAPACITY),
                bytes: self.queue,
                link_bytes: self.queue,
                packets,
                head_sojourn: Span::ZERO,
            }
        }

        fn tick(&mut self) {
            let view = self.view();
            self.router.tick(&mut Context { now: self.now, random: &mut self.random }, &view);
        }

        /// Advances to the end of the control or queue interval, whichever is first.
        fn tick_when_due(&mut self) {
            self.now = self.router.interval_end.min(self.router.queue.interval_end());
            self.tick();
        }

        /// Passes a packet of a flow with this throughput and requested change; returns its feedback.
        fn pass(&mut self, bytes: Bytes, bps: f64, change: ThroughputChange) -> f64 {
            let mut written = XcpHeader::new(RTT, Rate::from_bps_f64(bps));
            written.set_change(change);
            let (mut header, mut ecn) = (Header::NONE, Ecn::NotCapable);
            written.emit(&mut header);
            let mut packet =
                PacketView { bytes, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
            // The queue at departure includes the packet itself.
            let view = QueueView { bytes: self.queue + bytes, ..self.view() };
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.router.arrive(&mut cx, &mut packet, &view);
            self.router.depart(&mut cx, &mut packet, &view);
            match XcpHeader::parse(&header).unwrap().change() {
                ThroughputChange::Limited(change) => change as f64,
                ThroughputChange::Unlimited => panic!("the router wrote no feedback"),
            }
        }

        /// One control interval in which every flow sends packets of its own size; returns the total feedback of each.
        fn interval(&mut self, flows: &[(f64, Bytes)], change: ThroughputChange) -> Vec<f64> {
            let end = self.router.interval_end;
            let length = end.since(self.now).secs();
            let feedback = flows
                .iter()
                .map(|(bps, bytes)| {
                    let packets = (bps * length / bytes.bits() as f64).round() as u64;
                    (0..packets).map(|_| self.pass(*bytes, *bps, change)).sum()
                })
                .collect();
            while self.now < end {
                self.tick_when_due();
            }
            feedback
        }
    }

    #[test]
    fn aggregate_feedback_is_equation_1_by_hand() {
        let params = defaults();
        // .4 of 10 Mbit/s spare; .226 of 80 kbit of queue in 100 ms.
        assert!(near(aggregate_feedback(&params, 10e6, 0.0, 0.1), 4e6, 1e-12));
        assert!(near(aggregate_feedback(&params, 0.0, 80e3, 0.1), -180_800.0, 1e-12));
        // A tenth of 80 Mbit/s is redistributed, unless the aggregate changes by more.
        assert!(near(shuffled_traffic(&params, 80e6, -3e6), 5e6, 1e-12));
        assert_eq!(shuffled_traffic(&params, 80e6, 9e6), 0.0);
    }

    #[test]
    fn the_feedback_of_all_flows_sums_to_the_aggregate_with_equal_increases() {
        let mut bench = Bench::new(Bytes::ZERO);
        // 40 of 80 Mbit/s are used, by packets of two sizes.
        let flows = [(30e6, PACKET), (10e6, PACKET / 2)];
        bench.interval(&flows, ThroughputChange::Unlimited);
        bench.interval(&flows, ThroughputChange::Unlimited);
        let feedback = bench.interval(&flows, ThroughputChange::Unlimited);
        assert!(near(bench.router.aggregate, 0.4 * 40e6, 0.01));
        assert!(near(feedback.iter().sum(), 16e6, 0.01), "{feedback:?}");
        assert!(near(feedback[0], feedback[1], 0.01), "{feedback:?}");
    }

    #[test]
    fn on_a_full_link_each_interval_redistributes_a_tenth_of_the_traffic_evenly() {
        // gamma: x_i <- (1 - gamma) x_i + gamma mean, the geometric approach of AIMD (section 3.5.2).
        let mut bench = Bench::new(Bytes::ZERO);
        let mut rates = [72e6, 8e6];
        let flows = |rates: [f64; 2]| rates.map(|bps| (bps, Bytes::new(100)));
        bench.interval(&flows(rates), ThroughputChange::Unlimited);
        bench.interval(&flows(rates), ThroughputChange::Unlimited);
        for _ in 0..20 {
            let feedback = bench.interval(&flows(rates), ThroughputChange::Unlimited);
            let theory = rates.map(|x| 0.1 * (40e6 - x));
            for i in 0..2 {
                assert!((feedback[i] - theory[i]).abs() < 0.05e6, "{feedback:?}");
                rates[i] += feedback[i];
            }
            // Allocation uses the previous interval's measurements: measure the new rates first.
            bench.interval(&flows(rates), ThroughputChange::Limited(0));
        }
        assert!(near(rates[0] + rates[1], 80e6, 0.01), "{rates:?}");
        assert!((rates[0] - rates[1]).abs() < 64e6 * 0.15, "0.9^20 = .12 of 64 Mbit/s: {rates:?}");
    }

    #[test]
    fn feedback_that_a_flow_cannot_use_is_deducted_from_the_pools() {
        // Lines 26 and 27: a flow limited to zero upstream is deducted from both pools by the same amount.
        let mut pools = Pools { positive: Pool::new(100.0, 10.0), negative: Pool::new(60.0, 30.0) };
        assert_eq!(pools.grant(10.0, 4.0, 0.0), 0.0);
        // Feedback 40 - 20 = 20; both pools are reduced by 20 + 20 = 40.
        assert_eq!((pools.positive.left, pools.negative.left), (60.0, 20.0));
        // A packet without an upstream limit gets its share: 40 - 20.
        assert_eq!(pools.grant(10.0, 4.0, f64::INFINITY), 20.0);
        assert_eq!((pools.positive.left, pools.negative.left), (20.0, 0.0));
        // The negative pool is empty, and only the rest of the positive pool is allocated.
        assert_eq!(pools.grant(10.0, 4.0, f64::INFINITY), 20.0);
        assert_eq!(pools.grant(10.0, 4.0, f64::INFINITY), 0.0);
    }

    #[test]
    fn the_feedback_of_a_packet_is_never_increased() {
        let mut bench = Bench::new(Bytes::ZERO);
        let flows = [(20e6, PACKET)];
        bench.interval(&flows, ThroughputChange::Unlimited);
        for change in [-5000, 0, 7] {
            assert!(bench.pass(PACKET, 20e6, ThroughputChange::Limited(change)) <= change as f64);
        }
    }

    #[test]
    fn a_persistent_queue_is_drained_and_a_transient_one_is_not() {
        // A full link with a standing queue of 100 packets: -beta Q / d in bit/s.
        let mut bench = Bench::new(PACKET * 100);
        let flows = [(CAPACITY, PACKET)];
        (0..5).for_each(|_| drop(bench.interval(&flows, ThroughputChange::Unlimited)));
        assert!(near(bench.router.aggregate, -0.226 * 800e3 / 0.1, 0.02), "{}", bench.router.aggregate);
        // The queue is empty once in each queue interval.
        for _ in 0..5 {
            let long = std::mem::replace(&mut bench.queue, Bytes::ZERO);
            bench.pass(PACKET, CAPACITY, ThroughputChange::Unlimited);
            bench.queue = long;
            bench.tick_when_due();
        }
        assert_eq!(bench.router.queue.bytes(), Bytes::ZERO);
    }

    /// Line 32 takes the least queue at departures. Between two of them, on a slow link, no packet waits behind the one in service.
    #[test]
    fn a_packet_whose_service_lasts_longer_than_a_queue_interval_is_no_persistent_queue() {
        let mut bench = Bench::new(Bytes::ZERO);
        bench.pass(PACKET, CAPACITY, ThroughputChange::Unlimited);
        for (queue, persistent) in [(PACKET, Bytes::ZERO), (PACKET * 3, PACKET * 2)] {
            bench.queue = queue;
            let end = bench.router.queue.interval_end();
            while bench.router.queue.interval_end().since(end) < Span::from_millis(100) {
                bench.tick_when_due();
            }
            assert_eq!(bench.router.queue.bytes(), persistent);
        }
    }

    #[test]
    fn the_queue_interval_is_half_of_the_round_trip_time_without_queueing() {
        let params = defaults();
        assert_eq!(queue_interval(&params, 0.1, 0.04), Span::from_millis(30));
        assert_eq!(queue_interval(&params, 0.1, 0.2), Span::from_millis(2));
    }

    #[test]
    fn the_control_interval_is_the_mean_round_trip_time_of_flows_not_of_packets() {
        let mut bench = Bench::new(Bytes::ZERO);
        bench.interval(&[(60e6, PACKET), (2e6, PACKET)], ThroughputChange::Unlimited);
        assert!(near(bench.router.interval.secs(), 0.1, 1e-9));
        // Two flows at 30 and 1 Mbit/s, 20 and 60 ms: the mean is 40 ms, regardless of their rates.
        bench.router.traffic = Traffic::default();
        for (bps, millis, packets) in [(30e6, 20, 375), (1e6, 60, 12)] {
            let header = XcpHeader::new(Span::from_millis(millis), Rate::from_bps_f64(bps));
            let (mut bytes, mut ecn) = (Header::NONE, Ecn::NotCapable);
            header.emit(&mut bytes);
            let view = bench.view();
            for _ in 0..packets {
                let mut packet = PacketView {
                    bytes: PACKET,
                    kind: PacketKind::Data,
                    flow: 0,
                    ecn: &mut ecn,
                    header: &mut bytes,
                };
                let mut cx = Context { now: bench.now, random: &mut bench.random };
                bench.router.arrive(&mut cx, &mut packet, &view);
            }
        }
        bench.router.end_control_interval(bench.now, CAPACITY);
        assert!(near(bench.router.mean_rtt, 0.04, 0.03), "{}", bench.router.mean_rtt);
    }

    #[test]
    fn a_packet_without_a_round_trip_time_gets_no_feedback_and_leaves_the_pools_unchanged() {
        let mut bench = Bench::new(Bytes::ZERO);
        let flows = [(20e6, PACKET)];
        bench.interval(&flows, ThroughputChange::Unlimited);
        let before = bench.router.pools;
        assert_eq!(bench.pass(PACKET, 0.0, ThroughputChange::Unlimited), 0.0);
        assert_eq!(bench.pass(PACKET, 0.0, ThroughputChange::Limited(-7)), -7.0);
        assert_eq!(bench.router.pools, before);
    }
}
