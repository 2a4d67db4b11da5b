//! The ACP router: one desired rate for all flows, by a controller that estimates their number (section III-D).

use super::estimate;
use super::header::{AcpHeader, ID};
use super::params::{IdleEstimate, RouterParams, Users};
use crate::parts::linear_count::LinearCount;
use crate::parts::persistent_queue::PersistentQueue;
use millpond_law::fluid::Number;
use millpond_law::{Context, Gauge, Hooks, Link, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Rate, Span, Time};

/// Measurements of a control period, in bytes and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// C.
    capacity: f64,
    /// y(k).
    input: f64,
    /// q(k).
    queue: f64,
    /// d(k).
    mean_rtt: f64,
}

/// Eqs. (6) and (7): the desired rate p(k+1) in bytes/s. The period is the mean round-trip time, so only the queue is
/// divided by it.
fn next_rate(params: &RouterParams, rate: f64, users: f64, measured: &Measured) -> f64 {
    let spare = params.ki * (params.target_utilization * measured.capacity - measured.input);
    let drain = params.kq * measured.queue / measured.mean_rtt;
    (rate + (spare - drain) / users).clamp(0.0, measured.capacity)
}

/// Eqs. (8) and (9): the estimate N-hat(k+1) of the number of flows, from p(k) and y(k) in bytes/s.
fn next_users(params: &RouterParams, users: f64, rate: f64, input: f64) -> f64 {
    if is_frozen(params, input) {
        return users;
    }
    let unit = params.estimator_unit;
    estimate::next_users(users, rate / unit, input / unit, params.gamma)
}

/// The error that (8) corrects, for a rate and an input in bytes/s.
pub(super) fn users_gap<T: Number>(params: &RouterParams, users: T, rate: T, input: T) -> T {
    if is_frozen(params, input) {
        return T::zero();
    }
    estimate::users_error(users, rate / params.estimator_unit, input / params.estimator_unit)
}

/// Whether the estimate is constant because there is no traffic, as in the proof of Theorem 1.
fn is_frozen<T: Number>(params: &RouterParams, input: T) -> bool {
    params.idle_estimate == IdleEstimate::Stays && input <= T::zero()
}

/// Interval over which the minimum queue is taken: the router's estimate of the propagation delay (section III-D).
fn queue_interval(params: &RouterParams, mean_rtt: Span, delay: Span) -> Span {
    mean_rtt.saturating_sub(delay).max(params.min_interval)
}

/// Measurements of the packets of a control period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traffic {
    bytes: f64,
    /// Sum of the round-trip times that packets carried, in seconds.
    rtts: f64,
    samples: u32,
}

/// The flows that have sent within the last two to three intervals (`users = "counted"`).
struct FlowCount {
    before: LinearCount,
    present: LinearCount,
    /// When the present interval ends.
    end: Time,
    /// N.
    flows: f64,
}

/// The factor by which new flows lower the desired rate: `N / (N + k)`, so that the sum of the rates stays the same; one if there
/// were none before, or if flows leave.
pub(super) fn join_factor(before: f64, now: f64) -> f64 {
    if before >= HALF && now > before { before / now } else { 1.0 }
}

/// Numbers of flows below this one are none. In the fluid model the number changes where it differs by more than this.
pub(super) const HALF: f64 = 0.5;

/// Control periods in an interval of the count, so that a flow of a longer round-trip time than the mean does not count as new.
const COUNT_PERIODS: u64 = 8;

impl FlowCount {
    fn new(cx: &mut Context<'_>) -> Self {
        let count = LinearCount::new(u64::from(cx.random.bits()) << 32 | u64::from(cx.random.bits()));
        Self { before: count.clone(), present: count, end: Time::ZERO, flows: 0.0 }
    }

    /// A packet of this flow arrives. Returns the factor for the desired rate.
    fn add(&mut self, flow: u32) -> f64 {
        if self.present.has(flow) {
            return 1.0;
        }
        self.present.add(flow);
        if self.before.has(flow) {
            return 1.0;
        }
        self.flows += 1.0;
        join_factor(self.flows - 1.0, self.flows)
    }

    fn end_period(&mut self, now: Time, period: Span) {
        if now >= self.end {
            self.flows = self.before.union(&self.present).estimate();
            std::mem::swap(&mut self.before, &mut self.present);
            self.present.clear();
            self.end = now + period * COUNT_PERIODS;
        }
    }
}

/// The ACP router's state at one link.
pub(super) struct AcpRouter {
    params: RouterParams,
    traffic: Traffic,
    queue: PersistentQueue,
    /// p in bytes/s.
    rate: f64,
    /// N-hat.
    users: f64,
    asked: Rate,
    is_congested: bool,
    /// d: the control period too.
    mean_rtt: Span,
    interval_end: Time,
    count: Option<FlowCount>,
    unread: Unread,
}

impl AcpRouter {
    pub(super) fn new(params: RouterParams) -> Self {
        Self {
            params,
            traffic: Traffic::default(),
            queue: PersistentQueue::default(),
            rate: 0.0,
            users: params.initial_users,
            unread: Unread::default(),
            count: None,
            asked: Rate::ZERO,
            is_congested: false,
            mean_rtt: params.initial_interval,
            interval_end: Time::ZERO + params.initial_interval,
        }
    }

    fn end_control_interval(&mut self, capacity: Rate) {
        let traffic = std::mem::take(&mut self.traffic);
        let input = traffic.bytes / self.mean_rtt.secs();
        // Without a round-trip time in this period the last mean is kept.
        if traffic.samples > 0 {
            let mean = Span::from_secs(traffic.rtts / f64::from(traffic.samples));
            self.mean_rtt = mean.max(self.params.min_interval);
        }
        let measured = Measured {
            capacity: capacity.bytes_per_sec(),
            input,
            queue: self.queue.bytes().as_f64(),
            mean_rtt: self.mean_rtt.secs(),
        };
        let users = self.count.as_ref().map_or(self.users, |count| count.flows.max(1.0));
        let rate = next_rate(&self.params, self.rate, users, &measured);
        self.users = next_users(&self.params, self.users, self.rate, input);
        self.rate = rate;
        self.asked = Rate::from_bps_f64(rate * 8.0);
        self.is_congested = input > self.params.congestion_threshold * measured.capacity;
    }
}

impl Link for AcpRouter {
    fn hooks(&self) -> Hooks {
        let flow = self.params.users == Users::Counted;
        Hooks { arrive: true, depart: true, tick: true, flow, ..Hooks::default() }
    }

    /// Packets of other protocols count in y, although they do not follow the desired rate.
    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.queue.see(queue.bytes);
        self.traffic.bytes += packet.bytes.as_f64();
        let rtt = AcpHeader::parse(packet.header).map(|header| header.rtt());
        if rtt.is_some()
            && let Some(count) = &mut self.count
        {
            self.rate *= count.add(packet.flow);
            self.asked = Rate::from_bps_f64(self.rate * 8.0);
        }
        if let Some(rtt) = rtt
            && !rtt.is_zero()
        {
            self.traffic.rtts += rtt.min(self.params.max_rtt).secs();
            self.traffic.samples = self.traffic.samples.saturating_add(1);
        }
        Verdict::Keep
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        if let Some(mut header) =
            self.unread.note_own(ID, packet.header.protocol(), AcpHeader::parse(packet.header))
        {
            header.lower_to(self.asked);
            if self.is_congested {
                header.set_congested();
            }
            header.emit(packet.header);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        if cx.now >= self.queue.interval_end() {
            let delay = queue.configured_capacity.time_for(queue.bytes);
            let next = cx.now + queue_interval(&self.params, self.mean_rtt, delay);
            self.queue.end_interval(queue.bytes, next);
        }
        if self.params.users == Users::Counted && self.count.is_none() {
            self.count = Some(FlowCount::new(cx));
        }
        if cx.now >= self.interval_end {
            if let Some(count) = &mut self.count {
                count.end_period(cx.now, self.mean_rtt);
            }
            self.end_control_interval(queue.configured_capacity);
            self.interval_end = cx.now + self.mean_rtt;
        }
        Some(self.interval_end.min(self.queue.interval_end()))
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("desired rate", "bit/s", self.rate * 8.0);
        gauge.quantity("estimated users", "1", self.users);
        if let Some(count) = &self.count {
            gauge.quantity("counted flows", "1", count.flows);
        }
        gauge.quantity("control interval", "s", self.mean_rtt.secs());
        gauge.quantity("persistent queue", "B", self.queue.bytes().as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, Header, PacketKind, Random, Settings};
    use millpond_units::Bytes;

    /// 155 Mbit/s in bytes/s.
    const CAPACITY: f64 = 19.375e6;
    const RTT: Span = Span::from_millis(80);

    fn defaults() -> RouterParams {
        RouterParams::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    fn measured(input: f64, queue: f64) -> Measured {
        Measured { capacity: CAPACITY, input, queue, mean_rtt: 0.08 }
    }

    /// A router with `flows` users that adopt the desired rate immediately, for this number of control periods; returns
    /// rate, estimate and queue after each.
    fn settle(flows: f64, from: (f64, f64), periods: usize) -> Vec<(f64, f64, f64)> {
        let params = defaults();
        let ((mut rate, mut users), mut queue) = (from, 0.0);
        let step = |_| {
            let input = flows * rate;
            queue = f64::max(0.0, queue + (input - CAPACITY) * 0.08);
            let next = next_rate(&params, rate, users, &measured(input, queue));
            users = next_users(&params, users, rate, input);
            rate = next;
            (rate, users, queue)
        };
        (0..periods).map(step).collect()
    }

    #[test]
    fn the_rate_follows_equation_6_and_stays_between_zero_and_the_capacity() {
        let params = defaults();
        // .1587 * (.99 * 19.375 - 15) MB/s = .66355 MB/s; .3175 * 40 kB / 80 ms = .15875 MB/s; divided by four.
        let theory = 1e6 + (0.663_545 - 0.158_75) * 1e6 / 4.0;
        assert!(near(next_rate(&params, 1e6, 4.0, &measured(15e6, 40e3)), theory, 1e-5));
        assert_eq!(next_rate(&params, 1e6, 1.0, &measured(CAPACITY, 9e9)), 0.0);
        assert_eq!(next_rate(&params, CAPACITY, 1.0, &measured(0.0, 0.0)), CAPACITY);
    }

    #[test]
    fn a_counted_router_lowers_the_rate_for_each_new_flow_and_forgets_silent_ones() {
        let mut random = Random::stream(1, "router");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let mut count = FlowCount::new(&mut cx);
        count.end_period(Time::ZERO, RTT);
        // The product of 1, 1/2, 2/3 and 3/4; packets of known flows have no effect.
        let factor: f64 = [7, 8, 7, 9, 9, 10, 7].into_iter().map(|flow| count.add(flow)).product();
        assert!(near(factor, 0.25, 1e-12) && near(count.flows, 4.0, 1e-12), "{factor} {}", count.flows);
        // Flow 7 alone sends on. The other three are forgotten after two to three intervals of eight periods.
        let mut now = Time::ZERO;
        for period in 1..=24 {
            now += RTT;
            assert_eq!(count.add(7), 1.0);
            count.end_period(now, RTT);
            let flows = match period {
                ..24 => 4.0,
                _ => 1.0,
            };
            assert!(near(count.flows, flows, 2e-3), "{period}: {}", count.flows);
        }
        assert_eq!((join_factor(0.0, 5.0), join_factor(4.0, 3.0), join_factor(4.0, 5.0)), (1.0, 1.0, 0.8));
    }

    #[test]
    fn the_error_of_the_estimate_shrinks_by_a_tenth_per_period_at_any_rate() {
        // From an error of +20 or -40 to half a user: ln(40)/-ln(.9) = 35.01 and ln(80)/-ln(.9) = 41.6 periods.
        for (start, flows, periods) in [(30.0, 10.0, 36), (10.0, 50.0, 42)] {
            for rate in [10e3, 1e6] {
                let mut users = start;
                let within = |users: f64| (users - flows).abs() <= 0.5;
                let taken = (1..100).find(|_| {
                    users = next_users(&defaults(), users, rate, flows * rate);
                    within(users)
                });
                assert_eq!(taken, Some(periods), "{start} to {flows}");
            }
        }
    }

    #[test]
    fn at_a_rate_of_zero_the_estimate_is_constant_and_without_traffic_it_decays_to_one() {
        assert_eq!(next_users(&defaults(), 10.0, 0.0, 5e6), 10.0);
        assert!(near(next_users(&defaults(), 10.0, 1e6, 0.0), 9.0, 1e-9));
        assert_eq!(next_users(&defaults(), 1.0, 1e6, 0.0), 1.0);
    }

    #[test]
    fn in_megabits_the_estimator_converges_slowly_at_a_small_rate() {
        // gamma p^2 / (1 + p^2) of the error: .05 at 1 Mbit/s and .00099 at 0.1 Mbit/s.
        let params = RouterParams { estimator_unit: 125e3, ..defaults() };
        for (mbps, share) in [(1.0, 0.05), (0.1, 0.1 * 0.01 / 1.01)] {
            let rate = mbps * 125e3;
            let users = next_users(&params, 30.0, rate, 10.0 * rate);
            assert!(near(30.0 - users, 20.0 * share, 1e-9), "{users}");
        }
    }

    #[test]
    fn an_estimate_that_is_constant_without_traffic_follows_it_again() {
        let params = RouterParams { idle_estimate: IdleEstimate::Stays, ..defaults() };
        assert_eq!(next_users(&params, 10.0, 1e6, 0.0), 10.0);
        assert!(near(next_users(&params, 10.0, 1e6, 1e6), 9.1, 1e-6));
    }

    #[test]
    fn an_idle_link_desires_its_capacity_at_update_21() {
        let updates = settle(0.0, (0.0, 10.0), 80);
        // p(1) = ki .99 C / 10 = 2.435 Mbit/s.
        assert!(near(updates[0].0 * 8.0, 2.435e6, 1e-3));
        assert_eq!(updates.iter().position(|(rate, ..)| *rate == CAPACITY), Some(20));
        assert_eq!(updates[79].1, 1.0);
    }

    #[test]
    fn the_equilibrium_is_equal_shares_of_99_percent_with_an_empty_queue_and_the_exact_estimate() {
        for flows in [1.0, 10.0, 50.0, 300.0] {
            let (rate, users, queue) = settle(flows, (0.0, 10.0), 400)[399];
            assert!(near(rate * flows, 0.99 * CAPACITY, 1e-3), "{flows}: {rate}");
            assert!(near(users, flows, 1e-3) && queue == 0.0, "{flows}: {users} {queue}");
        }
    }

    #[test]
    fn a_link_whose_flows_are_limited_elsewhere_desires_its_capacity_and_estimates_one() {
        // y = .3 C for any desired rate: the estimate follows y/p, not the number of flows.
        let params = defaults();
        let (mut rate, mut users) = (CAPACITY / 20.0, 10.0);
        for _ in 0..400 {
            let next = next_rate(&params, rate, users, &measured(0.3 * CAPACITY, 0.0));
            users = next_users(&defaults(), users, rate, 0.3 * CAPACITY);
            rate = next;
        }
        assert_eq!((rate, users), (CAPACITY, 1.0));
    }

    #[test]
    fn the_queue_interval_is_the_propagation_delay() {
        let params = defaults();
        assert_eq!(queue_interval(&params, RTT, Span::from_millis(30)), Span::from_millis(50));
        assert_eq!(queue_interval(&params, RTT, Span::MAX), Span::from_millis(1));
    }

    /// A router at 155 Mbit/s with packets one at a time.
    struct Bench {
        router: AcpRouter,
        random: Random,
    }

    impl Bench {
        fn new() -> Self {
            Self::with(defaults())
        }

        fn with(params: RouterParams) -> Self {
            let mut bench = Self { router: AcpRouter::new(params), random: Random::stream(1, "router") };
            bench.tick(Time::ZERO, Bytes::ZERO);
            bench
        }

        fn view(queue: Bytes) -> QueueView {
            let configured_capacity = Rate::from_bps_f64(CAPACITY * 8.0);
            QueueView {
                configured_capacity,
                bytes: queue,
                link_bytes: queue,
                packets: queue.get() / 1000,
                head_sojourn: Span::ZERO,
            }
        }

        fn tick(&mut self, now: Time, queue: Bytes) -> Time {
            let next = self.router.tick(&mut Context { now, random: &mut self.random }, &Self::view(queue));
            next.unwrap()
        }

        /// Passes this number of packets with this round-trip time; returns the header of the last.
        fn pass(&mut self, packets: u32, rtt: Span) -> AcpHeader {
            self.pass_queue(packets, AcpHeader::new(rtt), Bytes::ZERO)
        }

        /// Passes this number of packets with this header, which arrive at this queue; returns the header of the last.
        fn pass_queue(&mut self, packets: u32, sent: AcpHeader, queue: Bytes) -> AcpHeader {
            let (mut header, mut ecn) = (Header::NONE, Ecn::NotCapable);
            let mut cx = Context { now: Time::ZERO, random: &mut self.random };
            for _ in 0..packets {
                sent.emit(&mut header);
                let mut packet = PacketView {
                    bytes: PACKET,
                    kind: PacketKind::Data,
                    flow: 0,
                    ecn: &mut ecn,
                    header: &mut header,
                };
                self.router.arrive(&mut cx, &mut packet, &Self::view(queue));
                self.router.depart(&mut cx, &mut packet, &Self::view(PACKET));
            }
            AcpHeader::parse(&header).unwrap()
        }
    }

    #[test]
    fn the_control_period_is_the_mean_carried_round_trip_time_and_initially_50_ms() {
        let mut bench = Bench::new();
        bench.pass(3, Span::ZERO);
        let end = bench.router.interval_end;
        assert_eq!(end, Time::from_secs(0.05));
        bench.tick(end, Bytes::ZERO);
        assert_eq!(bench.router.mean_rtt, Span::from_millis(50));
        bench.pass(1, Span::from_millis(60));
        bench.pass(3, Span::from_millis(100));
        bench.tick(bench.router.interval_end, Bytes::ZERO);
        assert_eq!(bench.router.mean_rtt, Span::from_millis(90));
        bench.tick(bench.router.interval_end, Bytes::ZERO);
        assert_eq!(
            bench.router.mean_rtt,
            Span::from_millis(90),
            "no packet carried a round-trip time: it is unchanged"
        );
    }

    /// Two updates by hand, after 50 and 80 ms, with the queue of 40 kB that all packets of the second period find.
    #[test]
    fn an_update_has_the_measurements_and_the_values_of_the_period_that_ends() {
        let (mut bench, standing) = (Bench::new(), Bytes::new(40_000));
        bench.pass_queue(100, AcpHeader::new(RTT), standing);
        let queue_end = bench.tick(Time::from_secs(0.05), standing);
        // y is that of 50 ms, and N-hat is constant because p(0) is zero.
        let first = 0.1587 * (0.99 * CAPACITY - 100e3 / 0.05) / 10.0;
        assert!(near(bench.router.rate, first, 1e-9) && bench.router.users == 10.0, "{}", bench.router.rate);
        bench.pass_queue(200, AcpHeader::new(Span::from_millis(120)), standing);
        bench.tick(queue_end, standing);
        assert_eq!(bench.router.queue.bytes(), standing);
        bench.tick(Time::from_secs(0.13), standing);
        // y is that of 80 ms, d the mean of these packets, N-hat(k) that before the update, and p(k) that of the packets.
        let input = 200e3 / 0.08;
        let second = first + (0.1587 * (0.99 * CAPACITY - input) - 0.3175 * 40e3 / 0.12) / 10.0;
        assert!(near(bench.router.rate, second, 1e-9), "{} {second}", bench.router.rate);
        let users = 10.0 + 0.1 * (input / first - 10.0);
        assert!(near(bench.router.users, users, 1e-9), "{} {users}", bench.router.users);
        assert_eq!(bench.router.interval_end, Time::from_secs(0.25));
    }

    #[test]
    fn the_control_period_is_within_its_bounds() {
        for (millis, period) in [(0.5, 1), (30.0, 30), (3000.0, 2000)] {
            let mut bench = Bench::with(RouterParams { max_rtt: Span::from_millis(2000), ..defaults() });
            bench.pass(2, Span::from_secs(millis / 1e3));
            bench.tick(bench.router.interval_end, Bytes::ZERO);
            assert_eq!(bench.router.mean_rtt, Span::from_millis(period), "{millis} ms");
        }
    }

    #[test]
    fn a_link_keeps_the_smaller_rate_and_the_congestion_of_the_links_before_it() {
        let mut bench = Bench::new();
        bench.pass(10, RTT);
        bench.tick(bench.router.interval_end, Bytes::ZERO);
        let mut sent = AcpHeader::new(RTT);
        sent.lower_to(Rate::from_bps(1000));
        sent.set_congested();
        assert_eq!(bench.pass_queue(1, sent, Bytes::ZERO), sent);
        let own = bench.pass(1, RTT);
        assert!(own.advice() > Some(Rate::from_bps(1_000_000)) && !own.is_congested(), "{own}");
    }

    #[test]
    fn a_link_signals_congestion_above_95_percent_of_its_capacity() {
        // 50 ms at 155 Mbit/s are 968.75 packets; 95 % of them 920.3.
        for (packets, congested) in [(920, false), (921, true)] {
            let mut bench = Bench::new();
            assert!(!bench.pass(packets, Span::ZERO).is_congested());
            bench.tick(bench.router.interval_end, Bytes::ZERO);
            assert_eq!(bench.pass(1, Span::ZERO).is_congested(), congested);
        }
    }

    #[test]
    fn a_queue_that_empties_once_in_its_interval_is_not_persistent() {
        let mut bench = Bench::new();
        let standing = Bytes::new(40_000);
        bench.tick(Time::from_secs(0.05), standing);
        bench.tick(Time::from_secs(0.10), standing);
        assert_eq!(bench.router.queue.bytes(), standing);
        bench.pass(1, RTT);
        bench.tick(Time::from_secs(0.20), standing);
        assert_eq!(bench.router.queue.bytes(), Bytes::ZERO);
    }
}
