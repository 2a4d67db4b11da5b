//! The router of Pledge: it learns a window for its link, and divides it among the flows whose least offer is its own.

use super::factors::{
    FIRST_WINDOWS, Known, LateFactor, next_use_factor, use_window, window, without_standing_queue,
};
use super::header::{ID, Offer, PledgeHeader, Signal};
use super::label_count::LabelCount;
use super::offers::{Others, TIE, next_mean_wait, offered_rate, own_rate};
use super::params::{Per, RouterParams};
use super::service::Service;
use super::shown_capacity::Departures;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Bytes, Rate, Span, Time};

/// Shortest and longest interval over which labels and other traffic are counted.
const INTERVALS: (Span, Span) = (Span::from_millis(1), Span::from_millis(10_000));

/// Windows over which the mean rate is taken, so that each byte counts alike on a link whose rate varies for minutes.
const MEAN_WINDOWS: f64 = 1000.0;

/// Windows of which the least queue is a standing one: the memory of the late factor.
const STANDING_WINDOWS: f64 = 50.0;

/// What has departed is counted, and Eqs. (3) and (7) are computed: after a millisecond in which at least this share of a mean
/// window has departed, after two in any case, and at once when the number of flows or the use factor has changed.
const BETWEEN_UPDATES: Span = Span::from_millis(1);
const SHARE_BETWEEN_UPDATES: f64 = 0.1;

/// The size of a packet as it is counted, so that a sum of many fits in 64 bits.
#[inline]
fn countable(bytes: Bytes) -> u64 {
    bytes.get().min(u32::MAX.into())
}

/// Before the first packet.
const NO_OFFER: Offer = Offer { rate: 0.0, router: 0 };

/// What has departed since the interval began, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traffic {
    all: f64,
    elsewhere: f64,
    foreign: f64,
    /// The largest rate of `elsewhere`, in bytes/s.
    largest: f64,
    /// Bytes of packets with a base round-trip time, the sum of these times, each times the bytes of its packet, and the longest
    /// one.
    with_rtt: u64,
    base_rtts: u128,
    longest: Span,
}

/// The router's state at one link.
pub(super) struct PledgeRouter {
    params: RouterParams,
    known: Known,
    late: LateFactor,
    use_factor: f64,
    /// In bytes/s; zero before the first packet.
    mean_rate: f64,
    /// Round trips over which it was taken so far.
    rate_samples: f64,
    /// B, in bytes.
    mean_window: f64,
    /// q, in seconds.
    mean_wait: f64,
    /// What other traffic leaves, as a share of W / (T + q).
    own_share: f64,
    service: Service,
    shown: Departures,
    /// Least queue of the present fifty windows, in bytes, and how many windows have departed of them.
    standing: u64,
    standing_windows: f64,
    labels: LabelCount,
    /// Flows that follow other routers.
    limited_elsewhere: LabelCount,
    traffic: Traffic,
    others: Others,
    interval: (Time, Time),
    /// When the next update is due, if as many bytes have departed by then, and the number of flows of the last one.
    next_update: Time,
    most_departed: u64,
    divided_by: f64,
    window: f64,
    offer: Offer,
    /// Offer and q as headers carry them.
    signal: Signal,
    has_samples: bool,
    unread: Unread,
}

impl PledgeRouter {
    pub(super) fn new(params: RouterParams, facts: &LinkFacts) -> Self {
        let known = Known {
            capacity: facts.capacity.bytes_per_sec(),
            base_rtt: params.initial_rtt.secs(),
            target: params.target.secs(),
            buffer: facts.buffer.map_or(f64::INFINITY, |buffer| buffer.as_f64()),
            packet: facts.packet.as_f64().max(1.0),
        };
        Self {
            params,
            known,
            late: LateFactor::INITIAL,
            use_factor: 1.0,
            mean_rate: 0.0,
            rate_samples: 0.0,
            mean_window: 0.0,
            mean_wait: 0.0,
            own_share: 1.0,
            service: Service::new(&params, known.capacity),
            shown: Departures::default(),
            standing: u64::MAX,
            standing_windows: 0.0,
            labels: LabelCount::new(),
            limited_elsewhere: LabelCount::new(),
            traffic: Traffic::default(),
            others: Others::default(),
            interval: (Time::ZERO, Time::ZERO + params.initial_rtt),
            next_update: Time::ZERO,
            most_departed: 0,
            divided_by: 0.0,
            window: 0.0,
            offer: NO_OFFER,
            signal: Signal::new(NO_OFFER, 0.0),
            has_samples: false,
            unread: Unread::default(),
        }
    }

    /// W, in bytes; zero before the first packet.
    pub(super) fn window(&self) -> f64 {
        self.window
    }

    /// These bytes as a share of a mean window, at most one.
    #[inline]
    pub(super) fn share(&self, bytes: f64) -> f64 {
        (bytes / self.mean_window).min(1.0)
    }

    /// Eq. (5) for these bytes.
    #[inline]
    fn count_use(&mut self, wasted: f64, served: f64, most: f64) {
        let window = use_window(&self.params, &self.known, self.mean_window);
        self.use_factor =
            next_use_factor(&self.params, self.use_factor, wasted / window, served / window, most);
    }

    /// Eqs. (4), (5) and (13) for what has departed.
    fn count_departed(&mut self) {
        let Some(departed) = self.service.take_departed() else { return };
        let bytes = departed.bytes as f64;
        let share = self.share(bytes);
        self.mean_wait = next_mean_wait(self.mean_wait, departed.mean_wait(), share, self.own_share);
        let of_window = |amount: u64| match self.params.per {
            Per::Byte => amount as f64 / self.mean_window,
            Per::Time => Span::from_picos(amount).secs() / self.known.base_rtt,
        };
        let (late, in_time) = (of_window(departed.late), of_window(departed.in_time));
        if late > 0.0 {
            self.late.count(&self.params, late, true);
        }
        self.late.count(&self.params, in_time, false);
        self.count_use(0.0, bytes, f64::INFINITY);
        self.standing_windows += bytes / self.mean_window.max(self.known.product());
        self.traffic.all += bytes;
    }

    /// The use factor at which both terms of (3) are equal.
    #[inline]
    fn most_use(&self) -> f64 {
        self.late.value * self.known.in_time() / self.known.product().max(1.0)
    }

    /// Eq. (5) for the seconds without a packet, of which at most one round trip counts: a larger window shortens no more
    /// than that.
    pub(super) fn count_idle_time(&mut self, idle: f64) {
        let wasted = self.known.capacity * idle.clamp(0.0, self.known.base_rtt);
        self.count_use(wasted, 0.0, self.most_use());
        self.next_update = Time::ZERO;
    }

    /// Eq. (6), once in fifty windows, of a round trip at least.
    fn end_standing_queue(&mut self) {
        if self.standing_windows < STANDING_WINDOWS {
            return;
        }
        if self.standing > 0 && self.known.product() > 0.0 {
            let next = without_standing_queue(&self.known, self.window, self.standing as f64);
            self.use_factor = self.use_factor.min(next);
        }
        (self.standing, self.standing_windows) = (u64::MAX, 0.0);
    }

    fn end_interval(&mut self, now: Time) {
        let seconds = now.since(self.interval.0).secs().max(INTERVALS.0.secs());
        let traffic = std::mem::take(&mut self.traffic);
        let round_trips = seconds / self.known.base_rtt;
        self.rate_samples += round_trips;
        let weight = (round_trips / (FIRST_WINDOWS + self.rate_samples).min(MEAN_WINDOWS)).min(1.0);
        self.mean_rate += weight * (traffic.all / seconds - self.mean_rate);
        self.count_base_rtts(&traffic);
        self.set_mean_window();
        // A label that leaves the count was last seen one to two intervals ago: by then its rate is in here.
        self.others = Others {
            elsewhere: traffic.elsewhere / seconds,
            foreign: (self.others.foreign + traffic.foreign / seconds) / 2.0,
            largest: traffic.largest,
        };
        self.labels.end_interval();
        self.limited_elsewhere.end_interval();
        // Every flow sends a packet in it.
        let between_packets = 2.0 * self.known.packet / self.offer.rate.max(1.0);
        let longest = traffic.longest.secs() + self.mean_wait;
        let length = Span::from_secs(longest.max(between_packets).min(INTERVALS.1.secs()));
        self.interval = (now, now + length.max(INTERVALS.0));
    }

    /// T, a mean over ten windows.
    fn count_base_rtts(&mut self, traffic: &Traffic) {
        if traffic.with_rtt == 0 {
            return;
        }
        let share = self.share(traffic.with_rtt as f64 / FIRST_WINDOWS);
        let weight = if self.has_samples { share } else { 1.0 };
        self.has_samples = true;
        let picos = traffic.base_rtts as f64 / traffic.with_rtt as f64;
        self.known.base_rtt += weight * (picos * Span::from_picos(1).secs() - self.known.base_rtt);
    }

    /// B.
    fn set_mean_window(&mut self) {
        self.mean_window = (self.mean_rate * self.known.base_rtt).max(self.known.packet);
        self.most_departed = (SHARE_BETWEEN_UPDATES * self.mean_window) as u64;
    }

    /// See [`BETWEEN_UPDATES`].
    #[inline]
    fn is_update_due(&self, now: Time) -> bool {
        let passed = now >= self.next_update
            && (self.service.departed_bytes() >= self.most_departed
                || now >= self.next_update + BETWEEN_UPDATES);
        passed || self.labels.count() != self.divided_by
    }

    fn set_capacity(&mut self, capacity: f64) {
        if capacity != self.known.capacity {
            self.known.capacity = capacity;
            self.service.set_capacity(capacity);
        }
    }

    /// Counts what has departed, and ends what is over.
    #[inline(never)]
    fn update(&mut self, now: Time, configured_capacity: Rate) {
        self.set_capacity(configured_capacity.bytes_per_sec().max(self.shown.capacity()));
        self.count_departed();
        self.end_standing_queue();
        self.update_window();
        if now >= self.interval.1 {
            self.end_interval(now);
            self.update_window();
        }
        self.next_update = now + BETWEEN_UPDATES;
    }

    /// Eqs. (3) and (7).
    fn update_window(&mut self) {
        if self.mean_rate <= 0.0 {
            self.mean_rate = self.known.capacity;
            self.set_mean_window();
        }
        self.window = window(&self.known, self.late.value, self.use_factor);
        let loop_time = self.known.base_rtt + self.mean_wait;
        let own = own_rate(self.window, loop_time, &self.others);
        self.own_share = own * loop_time / self.window.max(1.0);
        self.divided_by = self.labels.count();
        self.offer.rate = offered_rate(own, self.others.largest, self.divided_by);
        self.signal = Signal::new(self.offer, self.mean_wait);
    }

    /// Counts a flow of Pledge.
    #[inline(always)]
    fn note_flow(&mut self, now: Time, header: &PledgeHeader, bytes: u64) {
        let (traffic, base_rtt) = (&mut self.traffic, header.base_rtt());
        if !base_rtt.is_zero() {
            traffic.longest = traffic.longest.max(base_rtt);
            traffic.with_rtt += bytes;
            traffic.base_rtts += u128::from(base_rtt.max(INTERVALS.0).picos()) * u128::from(bytes);
        }
        if !header.follows(self.offer.router)
            && let Some(followed) = header.followed()
            && followed.rate < TIE * self.offer.rate
        {
            self.limited_elsewhere.insert(header.flow());
            traffic.elsewhere += bytes as f64;
            traffic.largest = traffic.largest.max(followed.rate);
        } else {
            self.count_flow(now, header);
        }
    }

    /// Counts a flow that this router limits.
    #[inline(always)]
    fn count_flow(&mut self, now: Time, header: &PledgeHeader) {
        if !self.limited_elsewhere.is_empty() {
            self.leave_others(now, header);
        }
        self.labels.insert(header.flow());
    }

    /// If another router limited this flow in the last interval, its rate leaves that of the others at once: it would otherwise be
    /// in both terms of (7), which lets flows change between routers for ever.
    #[inline(never)]
    fn leave_others(&mut self, now: Time, header: &PledgeHeader) {
        if self.limited_elsewhere.take(header.flow()) {
            let rate = header.followed().map_or(0.0, |offer| offer.rate);
            let bytes = rate * now.since(self.interval.0).secs();
            self.traffic.elsewhere = (self.traffic.elsewhere - bytes).max(0.0);
            self.others.elsewhere = (self.others.elsewhere - rate).max(0.0);
        }
    }

    /// The service of a packet begins at its arrival.
    #[inline(never)]
    fn end_idle_time(&mut self, now: Time, configured_capacity: Rate) {
        self.set_capacity(configured_capacity.bytes_per_sec());
        let idle = self.service.idle_time(now);
        if !idle.is_zero() {
            self.count_idle_time(idle.secs());
        }
    }

    /// The service of a packet begins.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> Verdict {
        let bytes = countable(packet.bytes);
        self.service.begin(cx.now, bytes, queue);
        self.shown.count(cx.now, bytes);
        if self.is_update_due(cx.now) {
            if self.offer.router == 0 {
                self.offer.router = cx.random.bits().max(1);
            }
            self.update(cx.now, queue.configured_capacity);
        }
        self.standing = self.standing.min(queue.bytes.get().saturating_sub(bytes));
        let protocol = packet.header.protocol();
        match self.unread.note_own(ID, protocol, PledgeHeader::within(packet.header)) {
            None => self.traffic.foreign += bytes as f64,
            Some(header) => {
                self.note_flow(cx.now, header, bytes);
                header.pass(&self.signal, queue.head_sojourn);
            }
        }
        Verdict::Keep
    }
}

impl Link for PledgeRouter {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if queue.head_sojourn.is_zero() {
            self.end_idle_time(cx.now, queue.configured_capacity);
        }
        self.serve(cx, packet, queue)
    }

    fn refuse(&mut self, bytes: Bytes) {
        self.service.refuse(countable(bytes));
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("late factor", "1", self.late.value);
        gauge.quantity("use factor", "1", self.use_factor);
        gauge.quantity("window", "B", self.window);
        gauge.quantity("offered rate", "bit/s", self.offer.rate * 8.0);
        gauge.quantity("flows", "1", self.labels.count());
        gauge.quantity("mean wait", "s", self.mean_wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, Header, PacketKind, Random, Settings};

    const RTT: Span = Span::from_millis(50);

    /// A router at 8 Mbit/s, 1000 packets of 1000 bytes per second, with packets at given times.
    struct Bench {
        router: PledgeRouter,
        random: Random,
        now: Time,
        capacity: f64,
    }

    impl Bench {
        fn new() -> Self {
            Self::with(Per::Byte)
        }

        fn with(per: Per) -> Self {
            let params =
                RouterParams { per, ..RouterParams::read(&Settings::check(PARAMETERS, []).unwrap()) };
            let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
            let router = PledgeRouter::new(params, &facts);
            Self { router, random: Random::stream(1, "router"), now: Time::ZERO, capacity: 8e6 }
        }

        fn view(&self, packets: u64, sojourn: Span) -> QueueView {
            QueueView {
                configured_capacity: Rate::from_bps_f64(self.capacity),
                bytes: PACKET * packets,
                link_bytes: PACKET * packets,
                packets,
                head_sojourn: sojourn,
            }
        }

        /// A packet departs that has waited for `sojourn`; `packets` are queued with it.
        fn depart(
            &mut self,
            sent: Option<PledgeHeader>,
            packets: u64,
            sojourn: Span,
        ) -> Option<PledgeHeader> {
            let (mut ecn, mut header) = (Ecn::NotCapable, Header::NONE);
            if let Some(sent) = sent {
                sent.emit(&mut header);
            }
            let view = self.view(packets, sojourn);
            let (kind, flow) = (PacketKind::Data, 0);
            let mut packet = PacketView { bytes: PACKET, kind, flow, ecn: &mut ecn, header: &mut header };
            let cx = &mut Context { now: self.now, random: &mut self.random };
            self.router.depart(cx, &mut packet, &view);
            PledgeHeader::parse(&header)
        }

        /// A saturated millisecond: a packet that has waited for `sojourn`, and others behind it.
        fn busy(&mut self, sent: PledgeHeader, sojourn: Span) -> PledgeHeader {
            self.now += Span::from_millis(1);
            self.depart(Some(sent), 3, sojourn).unwrap()
        }
    }

    fn new_flow(label: u32) -> PledgeHeader {
        PledgeHeader::sent(label, RTT, None)
    }

    fn rate(header: &PledgeHeader) -> f64 {
        header.offer().unwrap().rate
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    #[test]
    fn a_joining_flow_divides_the_offer_with_its_first_packet() {
        let mut bench = Bench::new();
        let alone = rate(&bench.busy(new_flow(1), Span::ZERO));
        // 50 packets in 50 ms, and one.
        assert!(near(alone, 1.02e6, 1e-3), "{alone}");
        bench.busy(new_flow(2), Span::ZERO);
        let shared = rate(&bench.busy(new_flow(1), Span::ZERO));
        assert!(near(shared, 0.51e6, 0.01), "{shared}");
    }

    #[test]
    fn the_offer_is_computed_after_a_tenth_of_a_window_or_two_milliseconds_and_at_once_for_a_new_flow() {
        let mut bench = Bench::new();
        bench.busy(new_flow(1), Span::from_millis(1));
        let first = rate(&bench.busy(new_flow(1), Span::from_millis(1)));
        bench.router.use_factor = 0.5;
        let depart = |bench: &mut Bench, flow, micros| {
            bench.now += Span::from_micros(micros);
            rate(&bench.depart(Some(new_flow(flow)), 3, Span::from_millis(1)).unwrap())
        };
        assert_eq!([depart(&mut bench, 1, 500), depart(&mut bench, 2, 0)], [first, first]);
        let shared = depart(&mut bench, 1, 0);
        assert!(near(shared, first / 4.0, 0.02), "{shared} of {first}");
        // A mean window has 50 packets.
        for (packets, micros, is_due) in
            [(5, 190, false), (4, 300, false), (5, 250, true), (1, 1990, false), (1, 2000, true)]
        {
            bench.router.update(bench.now, Rate::from_mbps(8.0));
            bench.router.use_factor /= 2.0;
            let before = bench.router.offer.rate;
            (0..packets).for_each(|_| {
                depart(&mut bench, 1, micros);
            });
            assert_eq!(bench.router.offer.rate != before, is_due, "{packets} packets each {micros} us");
        }
    }

    #[test]
    fn base_round_trip_times_of_a_flow_that_starts_late_are_known_after_one() {
        let mut bench = Bench::new();
        bench.now = Time::from_secs(1.0);
        for _ in 0..250 {
            bench.busy(PledgeHeader::sent(1, Span::from_millis(200), None), Span::from_millis(1));
        }
        assert!(near(bench.router.known.base_rtt, 0.2, 1e-6), "{}", bench.router.known.base_rtt);
    }

    #[test]
    fn a_flow_limited_elsewhere_keeps_its_rate_and_the_rest_is_offered_to_the_others() {
        let mut bench = Bench::new();
        let own = bench.busy(new_flow(1), Span::ZERO).offer().unwrap();
        let limited = PledgeHeader::sent(2, RTT, Some(Offer { rate: 0.2e6, router: own.router ^ 1 }));
        let mut offered = own.rate;
        // One packet in five: 0.2 MB/s of it.
        for packet in 0..2000 {
            let sent = if packet % 5 == 0 {
                limited
            } else {
                PledgeHeader::sent(1, RTT, Some(Offer { rate: offered, router: own.router }))
            };
            offered = rate(&bench.busy(sent, Span::ZERO));
        }
        let whole = bench.router.window / bench.router.known.base_rtt;
        assert!(near(offered, whole - 0.2e6, 0.02), "{offered} of {whole}");
        assert!(near(bench.router.labels.count(), 1.0, 1e-3));
    }

    #[test]
    fn a_sender_with_a_new_label_in_each_packet_counts_as_a_flow_for_each_packet_of_two_intervals() {
        let mut bench = Bench::new();
        let mut offered = 0.0;
        // One packet in ten is forged; an interval has 50 packets.
        for packet in 0..1000 {
            let label = if packet % 10 == 0 { 1000 + packet } else { 1 };
            offered = rate(&bench.busy(new_flow(label), Span::ZERO));
        }
        // Five to ten labels beside the honest one.
        let shares = bench.router.window / bench.router.known.base_rtt / offered;
        assert!((5.5..11.5).contains(&shares), "{shares}");
    }

    #[test]
    fn a_sender_that_claims_to_be_limited_elsewhere_gains_no_more_than_its_share() {
        // Claims a rate of zero, and follows the offers all the same: both flows have half in the mean. Without a count of
        // its own the offer is `W / T - y`, with y the offer of the interval before, so that it alternates.
        let mut bench = Bench::new();
        let own = bench.busy(new_flow(1), Span::ZERO).offer().unwrap();
        let liar = PledgeHeader::sent(2, RTT, Some(Offer { rate: 0.0, router: own.router ^ 1 }));
        let (mut offered, mut credit, mut of_liar) = (own.rate, 0.0, 0);
        for _ in 0..4000 {
            // Of the packets of a millisecond, the liar has as many as it was offered, at most all.
            credit += (offered / 1e6).min(1.0);
            let is_liar = credit >= 1.0;
            credit -= f64::from(u8::from(is_liar));
            of_liar += i32::from(is_liar);
            let honest = PledgeHeader::sent(1, RTT, Some(Offer { rate: offered, router: own.router }));
            offered = rate(&bench.busy(if is_liar { liar } else { honest }, Span::ZERO));
        }
        assert!((1700..2200).contains(&of_liar), "{of_liar} of 4000");
    }

    #[test]
    fn a_flow_that_is_counted_again_leaves_the_rate_of_the_others_at_once() {
        let mut bench = Bench::new();
        let own = bench.busy(new_flow(1), Span::ZERO).offer().unwrap();
        let following = |flow, rate, router| PledgeHeader::sent(flow, RTT, Some(Offer { rate, router }));
        // One packet in five is of a flow that is limited elsewhere.
        for packet in 0..500 {
            bench.busy(following(1, own.rate, own.router), Span::ZERO);
            if packet % 4 == 0 {
                bench.busy(following(2, 0.2e6, own.router ^ 1), Span::ZERO);
            }
        }
        assert!(near(bench.router.others.elsewhere, 0.2e6, 0.05), "{}", bench.router.others.elsewhere);
        bench.busy(following(2, 0.2e6, own.router), Span::ZERO);
        assert!(bench.router.others.elsewhere < 0.02e6, "{}", bench.router.others.elsewhere);
        assert!(bench.router.traffic.elsewhere < 2000.0, "{}", bench.router.traffic.elsewhere);
        // It was removed once: what another flow adds afterwards stays.
        bench.router.others.elsewhere = 3e5;
        bench.busy(following(2, 0.2e6, own.router), Span::ZERO);
        assert_eq!(bench.router.others.elsewhere, 3e5);
    }

    #[test]
    fn a_link_that_limits_no_flow_offers_the_spare_rate_beside_the_largest_share() {
        let mut bench = Bench::new();
        let router = bench.busy(new_flow(9), Span::ZERO).offer().unwrap().router;
        let limited = PledgeHeader::sent(2, RTT, Some(Offer { rate: 0.2e6, router: router ^ 1 }));
        let mut offered = 0.0;
        for _ in 0..200 {
            bench.now += Span::from_millis(5);
            offered = rate(&bench.depart(Some(limited), 1, Span::ZERO).unwrap());
        }
        let whole = bench.router.window / bench.router.known.base_rtt;
        assert!(near(offered, whole - 0.2e6 + 0.2e6, 0.02), "{offered} of {whole}");
    }

    #[test]
    fn packets_that_wait_longer_than_the_target_lower_the_late_factor_and_others_raise_it() {
        let mut bench = Bench::new();
        (0..100).for_each(|_| {
            bench.busy(new_flow(1), Span::from_millis(51));
        });
        let lowered = bench.router.late.value;
        // The first steps are a tenth per window of 50 packets, the ratio of the means of both bounds 100 packets.
        assert!((0.8..0.95).contains(&lowered), "{lowered}");
        (0..100).for_each(|_| {
            bench.busy(new_flow(1), Span::from_millis(49));
        });
        assert!(bench.router.late.value > lowered);
    }

    #[test]
    fn an_interruption_of_the_service_during_a_packet_counts_as_its_wait() {
        let mut bench = Bench::new();
        (0..100).for_each(|_| {
            bench.busy(new_flow(1), Span::from_millis(30));
        });
        let before = bench.router.late.value;
        // The next one begins 45 ms later: the packet before it waited for 30 + 44 ms.
        bench.now += Span::from_millis(44);
        bench.busy(new_flow(1), Span::from_millis(30));
        assert!(bench.router.late.value < before);
    }

    #[test]
    fn per_time_an_interruption_counts_for_its_length_and_idle_time_is_in_time() {
        let mut bench = Bench::with(Per::Time);
        bench.busy(new_flow(1), Span::ZERO);
        (bench.router.late.value, bench.router.late.windows) = (0.8, 1e6);
        // A packet is in service for 200 ms, four round trips, while others wait.
        bench.now += Span::from_millis(200);
        bench.depart(Some(new_flow(1)), 1, Span::from_millis(1));
        let lowered = bench.router.late.value;
        assert!(near(lowered, 0.8 * (1.0 - 0.02 * 4.0 * 0.95), 1e-9), "{lowered}");
        // Served within a millisecond, then the link is idle for 499 ms.
        bench.now += Span::from_millis(499);
        bench.busy(new_flow(1), Span::ZERO);
        assert!(near(bench.router.late.value, lowered * (1.0 + 0.02 * 10.0 * 0.05), 1e-4));
    }

    #[test]
    fn per_time_a_service_during_which_a_packet_finds_no_room_is_late() {
        let mut bench = Bench::with(Per::Time);
        // Each update counts the services of two packets.
        let mut next = |refuses: bool| {
            if refuses {
                bench.router.refuse(PACKET);
            }
            let before = bench.router.late.value;
            for _ in 0..2 {
                bench.busy(new_flow(1), Span::from_millis(1));
            }
            bench.router.late.value - before
        };
        next(false);
        next(false);
        assert!(next(true) < 0.0);
        assert!(next(false) > 0.0);
    }

    #[test]
    fn a_packet_without_room_is_late() {
        let after = |refused: u64| {
            let mut bench = Bench::new();
            for _ in 0..3 {
                bench.busy(new_flow(1), Span::from_millis(1));
            }
            bench.router.refuse(PACKET * refused);
            for _ in 0..2 {
                bench.busy(new_flow(1), Span::from_millis(1));
            }
            bench.router.late.value
        };
        // The first step is a tenth for a window of 50 packets.
        assert!(near(after(0) - after(5), 0.95 * 0.1 * 5.0 / 50.0, 0.1), "{}", after(0) - after(5));
    }

    #[test]
    fn idle_time_raises_the_use_factor_by_at_most_one_round_trip() {
        let after = |idle: Span| {
            let mut bench = Bench::new();
            bench.depart(Some(new_flow(1)), 1, Span::ZERO);
            bench.now += Span::from_millis(1) + idle;
            bench.depart(Some(new_flow(1)), 1, Span::ZERO);
            bench.router.use_factor
        };
        // (1 - spare) eta_u times the share of a window of 50 ms.
        assert!(near(after(Span::from_millis(25)) - 1.0, 0.05 * 0.99 * 0.5, 0.01));
        assert!(near(after(Span::from_millis(500)) - 1.0, 0.05 * 0.99, 0.01));
    }

    #[test]
    fn a_standing_queue_of_fifty_windows_is_taken_from_the_window() {
        let mut bench = Bench::new();
        bench.router.use_factor = 1.5;
        // Never fewer than 20 packets behind: 75 kB less 20 kB of 50 kB. Fifty windows are 2500 packets.
        for _ in 0..2600 {
            bench.now += Span::from_millis(1);
            bench.depart(Some(new_flow(1)), 21, Span::from_millis(20));
        }
        assert!((1.03..1.1).contains(&bench.router.use_factor), "{}", bench.router.use_factor);
    }

    #[test]
    fn on_a_link_that_was_slow_fifty_windows_last_for_fifty_round_trips() {
        let mut bench = Bench::new();
        bench.busy(new_flow(1), Span::ZERO);
        (bench.router.mean_rate, bench.router.use_factor) = (1e3, 1.5);
        bench.router.set_mean_window();
        // A mean window is a packet: two round trips of saturated service are a hundred of them.
        for _ in 0..100 {
            bench.now += Span::from_millis(1);
            bench.depart(Some(new_flow(1)), 21, Span::from_millis(20));
        }
        // Eq. (5) alone, at its greatest gain: two windows, of which one percent was to be idle.
        let expected = 1.5 * f64::exp(-0.01 * 2.0 / core::f64::consts::E);
        assert!(near(bench.router.use_factor, expected, 2e-3), "{}", bench.router.use_factor);
    }

    #[test]
    fn a_capacity_that_is_signalled_too_low_is_corrected_by_the_departures() {
        let mut bench = Bench::new();
        bench.capacity = 4e6;
        let mut offered = 0.0;
        for _ in 0..100 {
            offered = rate(&bench.busy(new_flow(1), Span::ZERO));
        }
        // 19 of 20 packets in 20 ms at 1 MB/s, for 0.5 MB/s signalled, and a packet in 50 ms.
        assert!(near(offered, 0.95e6 * bench.router.use_factor + 20e3, 0.002), "{offered}");
    }

    #[test]
    fn headers_receive_the_mean_wait_and_foreign_packets_are_only_counted() {
        let mut bench = Bench::new();
        (0..3000).for_each(|_| {
            bench.busy(new_flow(1), Span::from_millis(8));
        });
        let waits = bench.busy(new_flow(1), Span::from_millis(8)).waits();
        assert!(near(waits.secs(), 0.008, 0.01), "{waits}");
        let before = bench.router.traffic.foreign;
        bench.now += Span::from_millis(1);
        assert_eq!(bench.depart(None, 3, Span::ZERO).map(|_| ()), None);
        assert_eq!(bench.router.traffic.foreign, before + 1000.0);
        assert_eq!(bench.router.unread(), 0);
    }
}
