//! The router of Pledge: it learns a window for its link, and divides it among the flows whose least offer is its own.

use super::factors::{
    FIRST_WINDOWS, Known, LateFactor, next_use_factor, use_window, window, without_standing_queue,
};
use super::header::{ID, Offer, PledgeHeader};
use super::label_count::LabelCount;
use super::params::{Per, RouterParams};
use super::shown_capacity::Departures;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Span, Time};

/// Shortest and longest interval over which labels and other traffic are counted.
const INTERVALS: (Span, Span) = (Span::from_millis(1), Span::from_millis(10_000));

/// Windows over which the mean rate is taken, so that each byte counts alike on a link whose rate varies for minutes.
const MEAN_WINDOWS: f64 = 1000.0;

/// Windows of which the least queue is a standing one: the memory of the late factor.
const STANDING_WINDOWS: f64 = 50.0;

/// Eqs. (3) and (7) are computed this often, and at once when what they divide by has changed.
const BETWEEN_UPDATES: Span = Span::from_millis(1);

/// A flow counts as one of this router's if it follows at least this share of the offer: where two routers offer nearly the
/// same, a flow would otherwise change between them with every fluctuation.
pub(super) const TIE: f64 = 0.95;

/// Least own share in (13), so that q follows the queue within a hundred windows.
const LEAST_OWN_SHARE: f64 = 0.1;

/// Eq. (7) without the division by N: what other traffic leaves of W / (T + q), in bytes/s. `loop_time` is T + q.
#[inline]
pub(super) fn own_rate(window: f64, loop_time: f64, others: &Others) -> f64 {
    let rate = window / loop_time;
    (rate - others.foreign.min(rate / 2.0) - others.elsewhere).max(0.0)
}

/// Eq. (7): the offered rate in bytes/s, a share of the rate that is left to own flows. Without a flow that follows this router,
/// one that would follow it next may have the spare rate beside its present one, which is at most `largest`.
#[inline]
pub(super) fn offered_rate(own: f64, largest: f64, flows: f64) -> f64 {
    if flows > 0.5 { own / flows.max(1.0) } else { own + largest }
}

/// Eq. (13): the mean wait q in seconds after a packet that is this share of a mean window. The rate of others times q is
/// subtracted from W, so that an error of q is an error of the queue times the others' share over the own one. With a memory
/// in inverse proportion to the own share the gain of this loop does not depend on it.
#[inline]
pub(super) fn next_mean_wait(mean_wait: f64, wait: f64, share: f64, own_share: f64) -> f64 {
    mean_wait + share * own_share.max(LEAST_OWN_SHARE) / FIRST_WINDOWS * (wait - mean_wait)
}

/// Rates in bytes/s of the traffic that does not follow this router's offer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Others {
    /// Pledge flows whose least offer is of another router, of the last interval and without those that are counted now.
    pub(super) elsewhere: f64,
    /// Packets without a header of Pledge.
    pub(super) foreign: f64,
    /// The largest rate that a flow follows.
    pub(super) largest: f64,
}

/// Bytes since the interval began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traffic {
    all: f64,
    elsewhere: f64,
    foreign: f64,
    largest: f64,
    /// Longest loop in seconds.
    longest: f64,
}

/// A packet whose service has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InService {
    bytes: f64,
    waited: Span,
    began: Time,
    /// Whether another packet was waiting behind it.
    is_followed: bool,
}

/// The router's state at one link.
pub(super) struct PledgeRouter {
    params: RouterParams,
    buffer: u64,
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
    in_service: Option<InService>,
    /// A packet has found no room during the present service.
    lacked_room: bool,
    departures: Departures,
    /// Least queue of the present fifty windows, in bytes, and how many windows have departed of them.
    standing: f64,
    standing_windows: f64,
    labels: LabelCount,
    /// Flows that follow other routers.
    limited_elsewhere: LabelCount,
    traffic: Traffic,
    others: Others,
    interval: (Time, Time),
    /// When (3) and (7) are due, and the number of flows of the last time.
    next_update: Time,
    divided_by: f64,
    window: f64,
    offer: Offer,
    /// q as headers carry it.
    signalled_wait: Span,
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
            buffer: facts.buffer.map_or(u64::MAX, |buffer| buffer.get()),
            known,
            late: LateFactor::INITIAL,
            use_factor: 1.0,
            mean_rate: 0.0,
            rate_samples: 0.0,
            mean_window: 0.0,
            mean_wait: 0.0,
            own_share: 1.0,
            in_service: None,
            lacked_room: false,
            departures: Departures::default(),
            standing: f64::INFINITY,
            standing_windows: 0.0,
            labels: LabelCount::new(),
            limited_elsewhere: LabelCount::new(),
            traffic: Traffic::default(),
            others: Others::default(),
            interval: (Time::ZERO, Time::ZERO + params.initial_rtt),
            next_update: Time::ZERO,
            divided_by: 0.0,
            window: 0.0,
            offer: Offer { rate: 0.0, router: 0 },
            signalled_wait: Span::ZERO,
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

    /// The packet in service has left, or the next one takes its place: its wait is known.
    fn end_service(&mut self, now: Time) {
        let Some(served) = self.in_service.take() else { return };
        let share = self.share(served.bytes);
        let (took, service) = (now.since(served.began).secs(), served.bytes / self.known.capacity.max(1.0));
        let mut wait = served.waited.secs();
        if served.is_followed {
            wait += (took - service).max(0.0);
        }
        self.mean_wait = next_mean_wait(self.mean_wait, wait, share, self.own_share);
        let is_late = wait > self.known.target;
        match self.params.per {
            Per::Byte => self.late.count(&self.params, share, is_late),
            Per::Time => {
                let busy = if served.is_followed { took } else { took.min(service) };
                let lacked_room = std::mem::take(&mut self.lacked_room);
                self.late.count(&self.params, busy / self.known.base_rtt, is_late || lacked_room);
                self.late.count(&self.params, (took - busy) / self.known.base_rtt, false);
            }
        }
        self.count_use(0.0, served.bytes, f64::INFINITY);
    }

    /// The use factor at which both terms of (3) are equal.
    #[inline]
    fn most_use(&self) -> f64 {
        self.late.value * self.known.in_time() / self.known.product().max(1.0)
    }

    /// Eq. (5) for the seconds without a packet, of which at most one round trip counts: a larger window shortens no more
    /// than that.
    pub(super) fn count_idle_time(&mut self, now: Time, idle: f64) {
        let wasted = self.known.capacity * idle.clamp(0.0, self.known.base_rtt);
        self.count_use(wasted, 0.0, self.most_use());
        self.next_update = now;
    }

    /// Eq. (6), once in fifty windows, of a round trip at least, when `served` bytes leave behind `bytes_left`.
    fn count_standing_queue(&mut self, bytes_left: f64, served: f64) {
        self.standing = self.standing.min(bytes_left);
        self.standing_windows += served / self.mean_window.max(self.known.product());
        if self.standing_windows < STANDING_WINDOWS {
            return;
        }
        if self.standing > 0.0 && self.known.product() > 0.0 {
            let next = without_standing_queue(&self.known, self.window, self.standing);
            self.use_factor = self.use_factor.min(next);
        }
        (self.standing, self.standing_windows) = (f64::INFINITY, 0.0);
    }

    fn end_interval(&mut self, now: Time) {
        let seconds = now.since(self.interval.0).secs().max(INTERVALS.0.secs());
        let traffic = std::mem::take(&mut self.traffic);
        let round_trips = seconds / self.known.base_rtt;
        self.rate_samples += round_trips;
        let weight = (round_trips / (FIRST_WINDOWS + self.rate_samples).min(MEAN_WINDOWS)).min(1.0);
        self.mean_rate += weight * (traffic.all / seconds - self.mean_rate);
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
        let length = Span::from_secs(traffic.longest.max(between_packets).min(INTERVALS.1.secs()));
        self.interval = (now, now + length.max(INTERVALS.0));
        self.next_update = now;
    }

    /// Eqs. (3) and (7), if they are due: a millisecond has passed, or the number of flows or the traffic of others has changed.
    #[inline]
    fn update_window(&mut self, now: Time) {
        let flows = self.labels.count();
        if now < self.next_update && flows == self.divided_by {
            return;
        }
        (self.next_update, self.divided_by) = (now + BETWEEN_UPDATES, flows);
        if self.mean_rate <= 0.0 {
            self.mean_rate = self.known.capacity;
        }
        self.mean_window = (self.mean_rate * self.known.base_rtt).max(self.known.packet);
        self.window = window(&self.known, self.late.value, self.use_factor);
        let loop_time = self.known.base_rtt + self.mean_wait;
        let own = own_rate(self.window, loop_time, &self.others);
        self.own_share = own * loop_time / self.window.max(1.0);
        self.offer.rate = offered_rate(own, self.others.largest, flows);
        self.signalled_wait = Span::from_secs(self.mean_wait);
    }

    /// Counts a flow of Pledge.
    fn note_flow(&mut self, now: Time, header: &PledgeHeader, bytes: f64, share: f64) {
        let base_rtt = header.base_rtt().secs();
        if base_rtt > 0.0 {
            let weight = if self.has_samples { share / FIRST_WINDOWS } else { 1.0 };
            self.has_samples = true;
            self.known.base_rtt += weight * (base_rtt.max(INTERVALS.0.secs()) - self.known.base_rtt);
            self.traffic.longest = self.traffic.longest.max(base_rtt + self.mean_wait);
        }
        match header.followed() {
            Some(followed)
                if followed.router != self.offer.router && followed.rate < TIE * self.offer.rate =>
            {
                self.limited_elsewhere.insert(header.flow());
                self.traffic.elsewhere += bytes;
                self.traffic.largest = self.traffic.largest.max(followed.rate);
            }
            followed => self.count_flow(now, header.flow(), followed.map_or(0.0, |offer| offer.rate)),
        }
    }

    /// Counts a flow that this router limits. If another router did so in the last interval, its rate leaves that of the
    /// others at once: it would otherwise be in both terms of (7), which lets flows change between routers for ever.
    fn count_flow(&mut self, now: Time, flow: u32, rate: f64) {
        if self.limited_elsewhere.take(flow) {
            let bytes = rate * now.since(self.interval.0).secs();
            self.traffic.elsewhere = (self.traffic.elsewhere - bytes).max(0.0);
            self.others.elsewhere = (self.others.elsewhere - rate).max(0.0);
        }
        self.labels.insert(flow);
    }
}

impl Link for PledgeRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, ..Hooks::default() }
    }

    fn arrive(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if queue.packets == 0 {
            self.known.capacity = queue.configured_capacity.bytes_per_sec();
            if let Some(served) = self.in_service {
                let idle = cx.now.since(served.began).secs() - served.bytes / self.known.capacity.max(1.0);
                self.count_idle_time(cx.now, idle);
            }
        } else if queue.bytes.get().saturating_add(packet.bytes.get()) > self.buffer {
            // It finds no room.
            match self.params.per {
                Per::Byte => self.late.count(&self.params, self.share(packet.bytes.as_f64()), true),
                Per::Time => self.lacked_room = true,
            }
        }
        Verdict::Keep
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        self.end_service(cx.now);
        let bytes = packet.bytes.as_f64();
        self.in_service = Some(InService {
            bytes,
            waited: queue.head_sojourn,
            began: cx.now,
            is_followed: queue.packets > 1,
        });
        if self.offer.router == 0 {
            self.offer.router = cx.random.bits().max(1);
        }
        let shown = self.departures.count(cx.now, bytes);
        self.known.capacity = queue.configured_capacity.bytes_per_sec().max(shown);
        self.update_window(cx.now);
        let share = self.share(bytes);
        self.count_standing_queue(queue.bytes.saturating_sub(packet.bytes).as_f64(), bytes);
        self.traffic.all += bytes;
        let protocol = packet.header.protocol();
        match self.unread.note_own(ID, protocol, PledgeHeader::within(packet.header)) {
            None => self.traffic.foreign += bytes,
            Some(header) => {
                self.note_flow(cx.now, header, bytes, share);
                header.pass(self.offer, self.signalled_wait, queue.head_sojourn);
            }
        }
        if cx.now >= self.interval.1 {
            self.end_interval(cx.now);
        }
        Verdict::Keep
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
    use millpond_units::{Bytes, Rate};

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
            Self::with_buffer(None)
        }

        /// The promise is one per time.
        fn per_time(buffer: Option<Bytes>) -> Self {
            let mut bench = Self::with_buffer(buffer);
            bench.router.params.per = Per::Time;
            bench
        }

        fn with_buffer(buffer: Option<Bytes>) -> Self {
            let params = RouterParams::read(&Settings::check(PARAMETERS, []).unwrap());
            let facts = LinkFacts::fifo(Rate::from_mbps(8.0), buffer, PACKET);
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

        fn arrive(&mut self, packets: u64) {
            let (mut header, view) = (Header::NONE, self.view(packets, Span::ZERO));
            self.pass(&mut header, &view, PledgeRouter::arrive);
        }

        /// A packet departs that has waited for `sojourn`; `packets` are queued with it.
        fn depart(
            &mut self,
            sent: Option<PledgeHeader>,
            packets: u64,
            sojourn: Span,
        ) -> Option<PledgeHeader> {
            let mut header = Header::NONE;
            if let Some(sent) = sent {
                sent.emit(&mut header);
            }
            let view = self.view(packets, sojourn);
            self.pass(&mut header, &view, PledgeRouter::depart);
            PledgeHeader::parse(&header)
        }

        /// Gives a packet with this header to one of the router's callbacks.
        fn pass(
            &mut self,
            header: &mut Header,
            view: &QueueView,
            callback: fn(&mut PledgeRouter, &mut Context<'_>, &mut PacketView<'_>, &QueueView) -> Verdict,
        ) {
            let mut ecn = Ecn::NotCapable;
            let mut packet =
                PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header };
            let mut cx = Context { now: self.now, random: &mut self.random };
            callback(&mut self.router, &mut cx, &mut packet, view);
        }

        /// A saturated millisecond: a packet that has waited for `sojourn`, and others behind it.
        fn busy(&mut self, sent: PledgeHeader, sojourn: Span) -> PledgeHeader {
            self.now += Span::from_millis(1);
            self.depart(Some(sent), 3, sojourn).unwrap()
        }
    }

    fn new_flow(label: u32) -> PledgeHeader {
        PledgeHeader::new(label, RTT, None)
    }

    fn rate(header: &PledgeHeader) -> f64 {
        header.offer().unwrap().rate
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    #[test]
    fn the_offered_rate_is_equation_7() {
        let others = Others { elsewhere: 2e5, foreign: 1e5, largest: 3e5 };
        // 60 kB in 60 ms: 1 MB/s, less .1 and .2.
        assert!(near(own_rate(60e3, 0.06, &others), 0.7e6, 1e-12));
        assert!(near(offered_rate(0.7e6, others.largest, 2.0), 0.35e6, 1e-12));
        assert!(near(offered_rate(0.7e6, others.largest, 0.0), 0.7e6 + 0.3e6, 1e-12));
        let flood = Others { foreign: 9e6, ..Others::default() };
        assert!(near(own_rate(60e3, 0.06, &flood), 0.5e6, 1e-12), "half of the window is kept");
        assert_eq!(own_rate(60e3, 0.06, &Others { elsewhere: 9e6, ..others }), 0.0);
    }

    /// The mean waits during `windows` of ten packets, in seconds from their equilibrium: a second at first. The queue answers to the
    /// mean wait three windows later, multiplied by the share of others over the own one.
    fn deviations(own_share: f64, memory_of_share: f64, windows: usize) -> Vec<f64> {
        const PER_WINDOW: usize = 10;
        let (gain, mut means) = ((1.0 - own_share) / own_share, vec![1.0; 3 * PER_WINDOW]);
        for packet in 0..windows * PER_WINDOW {
            let wait = -gain * means[packet];
            let last = means[means.len() - 1];
            means.push(next_mean_wait(last, wait, 1.0 / PER_WINDOW as f64, memory_of_share));
        }
        means
    }

    #[test]
    fn the_mean_wait_settles_without_oscillation_whatever_the_own_share_is() {
        for own_share in [1.0, 0.5, 0.2, 0.1] {
            let means = deviations(own_share, own_share, 200);
            assert!(means.windows(2).all(|pair| 0.0 <= pair[1] && pair[1] <= pair[0]), "{own_share}");
            assert!(means[means.len() - 1] < 1e-3, "{own_share}");
        }
        // With a memory of ten windows for every share it oscillates at a fifth, and grows at a tenth: the product of gain and
        // delay is 0.3 times 4 and 9, above 1 / e and above pi / 2.
        assert!(deviations(0.2, 1.0, 200).iter().any(|mean| *mean < -0.1));
        assert!(deviations(0.1, 1.0, 200).iter().any(|mean| mean.abs() > 10.0));
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
    fn the_offer_is_computed_once_in_a_millisecond_and_at_once_for_a_new_flow() {
        let mut bench = Bench::new();
        bench.busy(new_flow(1), Span::ZERO);
        let first = rate(&bench.busy(new_flow(1), Span::ZERO));
        bench.router.use_factor = 0.5;
        bench.now += Span::from_micros(500);
        let mut depart = |flow| rate(&bench.depart(Some(new_flow(flow)), 3, Span::ZERO).unwrap());
        assert_eq!([depart(1), depart(2)], [first, first]);
        let shared = depart(1);
        assert!(near(shared, first / 4.0, 0.02), "{shared} of {first}");
    }

    #[test]
    fn a_flow_limited_elsewhere_keeps_its_rate_and_the_rest_is_offered_to_the_others() {
        let mut bench = Bench::new();
        let own = bench.busy(new_flow(1), Span::ZERO).offer().unwrap();
        let limited = PledgeHeader::new(2, RTT, Some(Offer { rate: 0.2e6, router: own.router ^ 1 }));
        let mut offered = own.rate;
        // One packet in five: 0.2 MB/s of it.
        for packet in 0..2000 {
            let sent = if packet % 5 == 0 {
                limited
            } else {
                PledgeHeader::new(1, RTT, Some(Offer { rate: offered, router: own.router }))
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
        let liar = PledgeHeader::new(2, RTT, Some(Offer { rate: 0.0, router: own.router ^ 1 }));
        let (mut offered, mut credit, mut of_liar) = (own.rate, 0.0, 0);
        for _ in 0..4000 {
            // Of the packets of a millisecond, the liar has as many as it was offered, at most all.
            credit += (offered / 1e6).min(1.0);
            let is_liar = credit >= 1.0;
            credit -= f64::from(u8::from(is_liar));
            of_liar += i32::from(is_liar);
            let honest = PledgeHeader::new(1, RTT, Some(Offer { rate: offered, router: own.router }));
            offered = rate(&bench.busy(if is_liar { liar } else { honest }, Span::ZERO));
        }
        assert!((1700..2200).contains(&of_liar), "{of_liar} of 4000");
    }

    #[test]
    fn a_flow_that_is_counted_again_leaves_the_rate_of_the_others_at_once() {
        let mut bench = Bench::new();
        let own = bench.busy(new_flow(1), Span::ZERO).offer().unwrap();
        let following = |flow, rate, router| PledgeHeader::new(flow, RTT, Some(Offer { rate, router }));
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
        let limited = PledgeHeader::new(2, RTT, Some(Offer { rate: 0.2e6, router: router ^ 1 }));
        let mut offered = 0.0;
        for _ in 0..200 {
            bench.now += Span::from_millis(4);
            bench.arrive(0);
            bench.now += Span::from_millis(1);
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
        let mut bench = Bench::per_time(None);
        bench.busy(new_flow(1), Span::ZERO);
        (bench.router.late.value, bench.router.late.windows) = (0.8, 1e6);
        // A packet is in service for 200 ms, four round trips, while others wait.
        bench.now += Span::from_millis(199);
        bench.busy(new_flow(1), Span::ZERO);
        let lowered = bench.router.late.value;
        assert!(near(lowered, 0.8 * (1.0 - 0.02 * 4.0 * 0.95), 1e-9), "{lowered}");
        // Served within a millisecond, then the link is idle for 499 ms.
        bench.router.in_service =
            bench.router.in_service.map(|served| InService { is_followed: false, ..served });
        bench.now += Span::from_millis(499);
        bench.busy(new_flow(1), Span::ZERO);
        assert!(near(bench.router.late.value, lowered * (1.0 + 0.02 * 10.0 * 0.05), 1e-4));
    }

    #[test]
    fn per_time_a_service_during_which_a_packet_finds_no_room_is_late() {
        let mut bench = Bench::per_time(Some(PACKET * 10));
        bench.busy(new_flow(1), Span::ZERO);
        bench.arrive(10);
        let before = bench.router.late.value;
        bench.busy(new_flow(1), Span::ZERO);
        assert!(bench.router.late.value < before);
        let after = bench.router.late.value;
        bench.busy(new_flow(1), Span::ZERO);
        assert!(bench.router.late.value > after);
    }

    #[test]
    fn a_packet_without_room_is_late() {
        let mut bench = Bench::with_buffer(Some(PACKET * 10));
        bench.busy(new_flow(1), Span::ZERO);
        let before = bench.router.late.value;
        bench.arrive(9);
        assert_eq!(bench.router.late.value, before);
        bench.arrive(10);
        assert!(bench.router.late.value < before);
    }

    #[test]
    fn idle_time_raises_the_use_factor_by_at_most_one_round_trip() {
        let after = |idle: Span| {
            let mut bench = Bench::new();
            bench.busy(new_flow(1), Span::ZERO);
            bench.router.in_service =
                bench.router.in_service.map(|served| InService { is_followed: false, ..served });
            bench.now += Span::from_millis(1) + idle;
            bench.arrive(0);
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
