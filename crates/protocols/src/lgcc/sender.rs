//! The LGCC sender: Algorithm 1.

use super::header::{ExcessEcho, LgccEcho, NextRate, PriceField};
use super::params::{Algorithm, Backpressure, EchoReading, Follow, Params, Upstream};
use super::price::with_price;
use super::upstream::{self, UpstreamMarking};
use crate::parts::capacity_estimate::CapacityEstimate;
use crate::parts::marking::{ALPHA, MarkingEstimate};
use crate::parts::send_rate::{Control, SendRate};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span, Time};

/// Smallest carrying capacity in bit/s, for a finite logarithm.
const LEAST_CAPACITY: f64 = 1.0;

/// The longest pause of a sender whose relay holds an excess, in probe intervals. Updates of the relay end the pause; a
/// packet after it replaces an update that was lost.
const PAUSE_IN_PROBES: u64 = 10;

/// The most steps at the end of an interval: after as many the distance of ln x from its target is below 1e-3 of what it was.
const MOST_STEPS: u64 = 50;

/// The LGCC sender's state. Rates are in bit/s.
pub(super) struct LgccSender {
    params: Params,
    packet: Bytes,
    weight: f64,
    /// Smallest capacity of this loop's links; none if not signalled.
    signalled_capacity: Option<Rate>,
    /// The latest echoed rate of the downstream loop, corrected by the relay's queue; none without a downstream loop.
    next: Option<Rate>,
    /// The smoothed RTT.
    rtt: Span,
    unread: Unread,
    /// The smoothed RTT over the base RTT.
    stretch: f64,
    /// Weight of the newest interval.
    alpha: f64,
    upstream: UpstreamMarking,
    estimate: CapacityEstimate,
    marking: MarkingEstimate,
    /// The price of the path in nats, as its field had it last; zero without a field.
    nats: f64,
    gamma: f64,
    target: f64,
    /// The share z of the carrying capacity, if the rate follows it (`follow = "share"`); none before the first base RTT.
    share: Option<f64>,
    x: SendRate,
    /// When the last step was taken; at first the time of the first acknowledgement.
    renewed_at: Option<Time>,
}

impl LgccSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        let probe_interval = params.probe_interval;
        Self {
            gamma: params.step_size.initial(),
            params,
            packet: Bytes::new(1),
            weight: 1.0,
            signalled_capacity: None,
            next: None,
            rtt: Span::ZERO,
            unread: Unread::default(),
            stretch: 1.0,
            alpha: settings.get(ALPHA),
            upstream: UpstreamMarking::default(),
            estimate: CapacityEstimate::read(settings),
            marking: MarkingEstimate::read(settings),
            nats: 0.0,
            target: 0.0,
            share: None,
            x: SendRate::read(settings).with_probe_interval(probe_interval),
            renewed_at: None,
        }
    }

    /// Eq. (10): the minimum of the downstream loop's rate and of this loop's link capacity times the weight. If the
    /// downstream loop's rate is a separate limit, it is left out here.
    fn carrying_capacity(&self) -> f64 {
        let links = self.signalled_capacity.map(|rate| rate.as_f64() * self.weight * self.upstream_weight());
        let next = self
            .next
            .map(Rate::as_f64)
            .filter(|_| self.params.backpressure == Backpressure::Product || links.is_none());
        let known = match (links, next) {
            (Some(links), Some(next)) => links.min(next),
            (Some(rate), None) | (None, Some(rate)) => rate,
            (None, None) => self.estimate.get(self.x.floor()),
        };
        known.max(LEAST_CAPACITY)
    }

    /// The marking probability: that of marks, smoothed, and the price of the path, which has no noise to smooth.
    fn marked(&self) -> f64 {
        with_price(self.marking.value(), self.nats)
    }

    /// The weight of Theorem 8.4 from the marks of upstream loops; one if they are ignored.
    fn upstream_weight(&self) -> f64 {
        match self.params.upstream {
            Upstream::Weights => {
                upstream::weight(&self.params.bases, self.marking.value(), self.upstream.value())
            }
            Upstream::Ignored => 1.0,
        }
    }

    /// Upper bound on x, regardless of weights: the capacity of this loop's links and, if `backpressure = minimum`, the
    /// downstream loop's rate. With windows, x is the rate without queueing.
    fn most(&self) -> f64 {
        let links = self.signalled_capacity.map_or(f64::INFINITY, Rate::as_f64);
        let stretch = if self.params.control == Control::Rate { 1.0 } else { self.stretch };
        let limit = self
            .next
            .filter(|_| self.params.backpressure == Backpressure::Minimum)
            .map(|next| next.as_f64() * stretch);
        links.min(limit.unwrap_or(f64::INFINITY)).max(LEAST_CAPACITY)
    }

    /// The carrying capacity and the marking probability that give the target; an upper bound below it applies without
    /// marks.
    fn bound(&self) -> (f64, f64) {
        let (k, marking, most) = (self.carrying_capacity(), self.marked(), self.most());
        if self.params.bases.rate_from_price(k, marking) > most { (most, 0.0) } else { (k, marking) }
    }

    /// Algorithm 1, lines 9 to 23, at the end of an interval.
    fn renew_rate(&mut self) {
        self.upstream.finish_interval(self.alpha);
        let ((k, marking), x) = (self.bound(), self.law_rate());
        self.target = self.params.bases.rate_from_price(k, marking);
        if self.params.step_size.is_near(x, self.target) {
            self.marking.end_start();
        }
        let next = match self.params.algorithm {
            Algorithm::PrimalDual => {
                self.gamma = self.params.step_size.at(x, self.target);
                self.params.bases.step(x, k, marking, self.gamma)
            }
            Algorithm::Dual => self.target,
        };
        match self.share {
            None => self.set_rate(next, next),
            Some(share) => {
                self.share = Some(self.next_share(share, next));
                self.follow_capacity();
            }
        }
    }

    /// The number of steps at the end of an interval: with a field for the price, one for each base RTT since the last step,
    /// so that a sender of few packets follows the price as fast as one of many; otherwise one.
    fn elapsed_intervals(&mut self, now: Time, base_rtt: Span) -> u64 {
        let elapsed = now.since(self.renewed_at.replace(now).unwrap_or(now));
        if !self.params.has_price_field {
            return 1;
        }
        (elapsed.picos() / base_rtt.picos().max(1)).clamp(1, MOST_STEPS)
    }

    /// The rate that the steps of (14) move, in bit/s: x; with a share, k z.
    fn law_rate(&self) -> f64 {
        self.share.map_or(self.x.get(), |share| share * self.carrying_capacity())
    }

    /// The share z after a step to this rate. Like the rate, it does not fall below that of the least rate.
    fn next_share(&self, share: f64, rate: f64) -> f64 {
        let k = self.carrying_capacity();
        (rate / k).max(share.min(self.x.floor() / k)).min(1.0)
    }

    /// With a share, `x = k z`, at most the upper bound. The first share is that of the initial rate.
    fn follow_capacity(&mut self) {
        if self.params.follow == Follow::Rate || self.x.get() == 0.0 {
            return;
        }
        let k = self.carrying_capacity();
        let share = *self.share.get_or_insert((self.x.get() / k).min(1.0));
        self.set_rate((k * share).min(self.most()), k * share);
    }

    /// Sets the rate, and the window for gaps of service at the rate of the law, which has no floor; both in bit/s.
    fn set_rate(&mut self, rate: f64, by_law: f64) {
        self.x.set_extra_window(self.window_for_gaps(by_law));
        self.x.set(rate);
    }

    /// What the window holds beyond the base RTT, so that packets are at the link after a gap of its scheduler: what the
    /// law sends in `service_gap`, if the loop's own links limit it.
    fn window_for_gaps(&self, by_law: f64) -> Bytes {
        if self.params.service_gap.is_zero() || !self.is_limited_by_links() {
            return Bytes::ZERO;
        }
        Rate::from_bps_f64(by_law).bytes_in(self.params.service_gap)
    }

    /// Whether the loop's own links are its carrying capacity, and not the downstream loop.
    fn is_limited_by_links(&self) -> bool {
        match (self.signalled_capacity, self.next) {
            (Some(links), Some(next)) => links <= next,
            (_, next) => next.is_none(),
        }
    }

    fn read_echo(&mut self, header: &Header) {
        match self.unread.note(LgccEcho::parse(header)).map(|echo| echo.next_rate()) {
            Some(NextRate::Limit(rate)) => {
                let excess =
                    if self.params.echo == EchoReading::Excess { ExcessEcho::parse(header) } else { None };
                self.next = Some(excess.map_or(rate, |echo| self.corrected(rate, &echo)));
            }
            Some(NextRate::NoLimit) => self.next = None,
            None => {}
        }
    }

    /// Reads the price of the path.
    fn read_price(&mut self, header: &Header) {
        if let Some(field) = self.unread.note(PriceField::parse_echoed(header)) {
            self.nats = field.nats();
        }
    }

    /// The carrying capacity that returns an excess of the relay's queue to zero with the time constant
    /// `D = drain T + drain_time`. A relay above its target needs few probes if it sends updates.
    fn corrected(&mut self, rate: Rate, echo: &ExcessEcho) -> Rate {
        let span = self.rtt.scale(self.params.drain) + self.params.drain_time;
        if self.params.sends_updates {
            let pause =
                if echo.holds_data() { self.params.probe_interval * PAUSE_IN_PROBES } else { Span::ZERO };
            self.x.set_longest_pause(pause);
        }
        Rate::from_bps_f64((rate.as_f64() - 8.0 * echo.excess() / span.secs().max(1e-6)).max(0.0))
    }
}

impl Sender for LgccSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.weight = start.weight;
        self.signalled_capacity = start.capacity;
        self.x.start(start.packet);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.x.set_base_rtt(ack.min_rtt);
        self.rtt = ack.smoothed_rtt;
        self.stretch = ack.smoothed_rtt.secs().max(1e-9) / ack.min_rtt.secs().max(1e-9);
        self.read_echo(&ack.header);
        if self.params.has_price_field {
            self.renewed_at.get_or_insert(cx.now);
            self.read_price(&ack.header);
        }
        if self.signalled_capacity.is_none() {
            self.estimate.on_ack(ack);
        }
        self.follow_capacity();
        if self.marking.on_ack(cx.now, ack) {
            for _ in 0..self.elapsed_intervals(cx.now, ack.min_rtt) {
                self.renew_rate();
            }
        }
    }

    fn on_update(&mut self, _cx: &mut Context<'_>, header: &Header) -> bool {
        if !self.params.sends_updates || ExcessEcho::parse(header).is_none() {
            return false;
        }
        self.read_echo(header);
        self.follow_capacity();
        true
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Loss => self.marking.on_loss(congestion.bytes, self.packet),
            Cause::NoFeedback => self.x.restart(),
            Cause::Ecn | Cause::Timeout => {}
        }
    }

    /// Sets the total weight of the flows that share this loop.
    fn on_weight(&mut self, _cx: &mut Context<'_>, weight: f64) {
        self.weight = weight;
    }

    fn on_forwarded(&mut self, _cx: &mut Context<'_>, marked: bool) {
        self.upstream.on_forwarded(marked);
    }

    fn on_capacity(&mut self, _cx: &mut Context<'_>, capacity: Rate) {
        self.signalled_capacity = Some(capacity);
        self.follow_capacity();
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.x.permit()
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        if self.params.has_price_field {
            PriceField::default().emit(header);
        }
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate", "bit/s", self.x.get());
        gauge.quantity("target rate", "bit/s", self.target);
        gauge.quantity("marking probability", "1", self.marked());
        gauge.quantity("carrying capacity", "bit/s", self.carrying_capacity());
        gauge.quantity("step size", "1", self.gamma);
        if let Some(share) = self.share {
            gauge.quantity("share of the carrying capacity", "1", share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::parts::logistic::Bases;
    use millpond_law::{Episode, Random, Value};

    const PACKET: Bytes = Bytes::new(1500);
    const RTT: Span = Span::from_millis(2);

    /// A sender with a clock that advances by one base RTT per acknowledgement, so that each ends an interval.
    struct Bench {
        sender: LgccSender,
        random: Random,
        now: Time,
    }

    impl Bench {
        fn new(written: &[(&'static str, Value)], start: Start) -> Self {
            let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
            let mut bench = Self {
                sender: LgccSender::new(&settings),
                random: Random::stream(1, "sender"),
                now: Time::ZERO,
            };
            bench.apply(|sender, cx| sender.on_start(cx, &start));
            bench.ack(0, None);
            bench
        }

        fn with_capacity(mbps: f64) -> Self {
            Self::new(&[], start(Some(mbps)))
        }

        fn apply(&mut self, event: impl FnOnce(&mut LgccSender, &mut Context<'_>)) {
            event(&mut self.sender, &mut Context { now: self.now, random: &mut self.random });
        }

        /// One interval in which `marked` of 100 acknowledged packets are marked.
        fn ack(&mut self, marked: u64, next: Option<NextRate>) -> f64 {
            let mut header = Header::NONE;
            if let Some(next) = next {
                LgccEcho::new(next).emit(&mut header);
            }
            self.interval(100, marked, header)
        }

        /// One interval without marks in which the field of the path has this price in nats.
        fn priced(&mut self, nats: f64) -> f64 {
            let (mut header, mut price) = (Header::NONE, PriceField::default());
            price.add(nats);
            LgccEcho::new(NextRate::NoLimit).emit(&mut header);
            price.append(&mut header);
            self.interval(100, 0, header)
        }

        fn interval(&mut self, packets: u64, marked: u64, header: Header) -> f64 {
            let ack = Ack { packets, ce_packets: marked, header, ..Ack::plain(PACKET, RTT, Bytes::ZERO) };
            self.apply(|sender, cx| sender.on_ack(cx, &ack));
            self.now += RTT;
            self.mbps()
        }

        fn mbps(&self) -> f64 {
            self.sender.x.get() / 1e6
        }

        fn intervals_until(&mut self, mbps: f64, share: f64, marked: u64) -> usize {
            let near = |rate: f64| (rate - mbps).abs() <= share * mbps;
            (1..10_000).find(|_| near(self.ack(marked, None))).unwrap()
        }
    }

    fn start(mbps: Option<f64>) -> Start {
        Start { capacity: mbps.map(Rate::from_mbps), ..Start::plain(PACKET) }
    }

    fn limit(mbps: f64) -> Option<NextRate> {
        Some(NextRate::Limit(Rate::from_mbps(mbps)))
    }

    #[test]
    fn a_single_flow_converges_to_the_signalled_capacity() {
        let mut bench = Bench::with_capacity(600.0);
        assert_eq!(bench.mbps(), 6.0, "one packet per base RTT");
        // k/100: ln(ln 100 / ln(1/.95)) / -ln .8697 = 32.2 steps of the logarithm, and one or two for ln(1 + y) < y.
        let taken = bench.intervals_until(600.0, 0.05, 0);
        assert!((33..=36).contains(&taken), "{taken}");
        bench.intervals_until(600.0, 1e-6, 0);
        // 600 Mbit/s in 2 ms are 100 packets.
        assert_eq!(bench.sender.permit().window, Some(Bytes::new(150_000)));
        assert_eq!(bench.sender.permit().pace, None);
    }

    /// Algorithm 1 line 8 with the weight 1/20 leaves .05 of a first interval in which all packets are marked, a mean of two
    /// intervals 1/2. A flow that has reached its target without marks is no longer at its start.
    #[test]
    fn the_first_marks_are_averaged_until_the_rate_has_come_near_its_target() {
        let after_first_mark = |intervals: usize, first: &'static str| {
            let mut bench = Bench::new(&[("first_marks", Value::text(first))], start(Some(600.0)));
            (0..intervals).for_each(|_| {
                bench.ack(0, None);
            });
            bench.ack(100, None);
            bench.sender.marking.value()
        };
        assert_eq!(after_first_mark(10, "averaged"), 0.5);
        assert_eq!(after_first_mark(10, "smoothed"), 0.05);
        // The rate is within 5 % of 600 Mbit/s after 33 to 36 intervals, as above.
        assert_eq!(after_first_mark(32, "averaged"), 0.5);
        assert_eq!(after_first_mark(37, "averaged"), 0.05);
        assert_eq!(after_first_mark(10_000, "averaged"), 0.05);
    }

    #[test]
    fn the_carrying_capacity_is_the_minimum_of_the_downstream_loop_and_the_links() {
        let mut bench = Bench::with_capacity(500.0);
        for (next, expected) in
            [(limit(900.0), 500.0), (limit(200.0), 200.0), (Some(NextRate::NoLimit), 500.0), (None, 500.0)]
        {
            bench.ack(0, next);
            assert!((bench.sender.carrying_capacity() / 1e6 - expected).abs() < 1e-3, "{next:?}");
        }
        bench.ack(0, limit(200.0));
        bench.ack(0, None);
        assert!(
            (bench.sender.carrying_capacity() / 1e6 - 200.0).abs() < 1e-3,
            "without an echo the latest one applies"
        );
        bench.apply(|sender, cx| sender.on_capacity(cx, Rate::from_mbps(150.0)));
        assert_eq!(bench.sender.carrying_capacity(), 150e6);
    }

    #[test]
    fn at_the_equilibrium_marking_of_five_flows_each_takes_a_fifth() {
        let emp = Bases::new(10.0, 5.0).equilibrium_marking(5.0);
        let mut bench = Bench::with_capacity(500.0);
        let marked = (100.0 * emp).round() as u64;
        bench.intervals_until(500.0 / 5.0, 0.03, marked);
        for _ in 0..500 {
            bench.ack(marked, None);
        }
        // 68 of 100 packets marked: 1 - .68 = .32, and .32^1.4307 = .1959.
        assert!((bench.mbps() - 500.0 * 0.1959).abs() < 0.1, "{}", bench.mbps());
    }

    /// With `S` flows `eta n = ln S`: five of them send a fifth each, n = ln 5 / 1.4307. The price acts without the smoothing
    /// of marks.
    #[test]
    fn at_the_price_of_five_flows_each_takes_a_fifth_and_the_price_acts_at_once() {
        let field = [("price", Value::text("field")), ("gamma_conv", Value::Number(0.3))];
        let mut bench = Bench::new(&field, start(Some(500.0)));
        let nats = libm::log(5.0) / Bases::new(10.0, 5.0).exponent();
        (0..200).for_each(|_| {
            bench.priced(nats);
        });
        // The field rounds to 1/4096 nat, .035 % of the rate.
        assert!((bench.mbps() - 100.0).abs() < 0.04, "{}", bench.mbps());
        // One step from there without a price: ln x moves by about a share of .3 / ln 10 of ln 5.
        let step = Bases::new(10.0, 5.0).step(bench.mbps(), 500.0, 0.0, 0.3);
        assert!((bench.priced(0.0) - step).abs() < 1e-9);
        assert_eq!(
            bench.sender.unread(),
            2,
            "the first acknowledgement of the bench has neither echo nor price"
        );
        let mut header = Header::NONE;
        bench.apply(|sender, cx| sender.stamp(cx, &mut header));
        assert_eq!(header.bytes(), [0, 0]);
    }

    /// With packets every six base RTTs, a sender takes six steps at each acknowledgement.
    #[test]
    fn a_sender_of_few_packets_makes_up_for_intervals_without_acknowledgement() {
        let after_ten_steps = |written: &[(&'static str, Value)], pause: u64| {
            let mut bench = Bench::new(written, start(Some(500.0)));
            for _ in 0..10 / pause {
                bench.now += RTT * (pause - 1);
                bench.priced(0.5);
            }
            bench.mbps()
        };
        let field = [("price", Value::text("field"))];
        assert_eq!(after_ten_steps(&field, 5), after_ten_steps(&field, 1));
        let marks = [("price", Value::text("marks"))];
        assert!(after_ten_steps(&marks, 5) < 0.5 * after_ten_steps(&marks, 1));
    }

    #[test]
    fn weights_scale_the_share_of_the_links_and_not_the_downstream_rate() {
        let mut bench = Bench::new(&[], Start { weight: 0.5, ..start(Some(500.0)) });
        assert_eq!(bench.sender.carrying_capacity(), 250e6);
        bench.ack(0, limit(200.0));
        assert!((bench.sender.carrying_capacity() / 1e6 - 200.0).abs() < 1e-3);
    }

    #[test]
    fn flows_that_share_a_sender_have_their_total_weight_and_never_exceed_the_link() {
        let mut bench = Bench::with_capacity(500.0);
        bench.apply(|sender, cx| sender.on_weight(cx, 3.0));
        bench.intervals_until(500.0, 1e-6, 0);
        // With one other flow of weight one, (3 + 1) (1 - p)^eta = 1: three quarters.
        let quarter = Bases::new(10.0, 5.0).equilibrium_marking(4.0);
        (0..2000).for_each(|_| {
            bench.interval(10_000, (1e4 * quarter).round() as u64, Header::NONE);
        });
        assert!((bench.mbps() - 375.0).abs() < 0.1, "{}", bench.mbps());
    }

    #[test]
    fn as_a_limit_the_downstream_rate_is_not_deflated_again() {
        let start = start(Some(500.0));
        let product = Bench::new(&[], start);
        let minimum = Bench::new(&[("backpressure", Value::text("minimum"))], start);
        // With half of the packets marked, 0.5^1.4307 = 0.371 remains: 185.5 of 500 Mbit/s, 37.1 of 100.
        for (mut bench, expected) in [(product, 37.1), (minimum, 100.0)] {
            (0..1000).for_each(|_| {
                bench.ack(50, limit(100.0));
            });
            assert!((bench.mbps() - expected).abs() < 0.1, "{}", bench.mbps());
            (0..1000).for_each(|_| {
                bench.ack(50, limit(500.0));
            });
            assert!((bench.mbps() - 185.5).abs() < 0.1, "{}", bench.mbps());
        }
    }

    /// With a smoothed RTT of two base RTTs, a window of 2 x T is sent at x.
    #[test]
    fn a_limit_is_a_sending_rate_and_the_x_of_a_window_is_larger_by_the_queueing() {
        for (control, expected) in [("window", 200.0), ("paced-window", 200.0), ("rate", 100.0)] {
            let written = [("backpressure", Value::text("minimum")), ("control", Value::text(control))];
            let mut bench = Bench::new(&written, start(Some(500.0)));
            let mut header = Header::NONE;
            LgccEcho::new(NextRate::Limit(Rate::from_mbps(100.0))).emit(&mut header);
            for _ in 0..1000 {
                let ack = Ack { smoothed_rtt: RTT * 2, header, ..Ack::plain(PACKET, RTT, Bytes::ZERO) };
                bench.apply(|sender, cx| sender.on_ack(cx, &ack));
                bench.now += RTT;
            }
            assert!((bench.mbps() - expected).abs() < 0.1, "{control}: {}", bench.mbps());
        }
    }

    #[test]
    fn a_lost_packet_counts_as_a_marked_one() {
        let mut bench = Bench::new(&[("first_marks", Value::text("smoothed"))], start(Some(500.0)));
        let loss = Congestion {
            cause: Cause::Loss,
            episode: Episode::New,
            bytes: PACKET * 100,
            in_flight: Bytes::ZERO,
            prior_in_flight: PACKET * 100,
        };
        bench.apply(|sender, cx| sender.on_congestion(cx, &loss));
        bench.ack(0, None);
        // 100 of 300 packets, with those of the bench's first acknowledgement, and a weight of a twentieth.
        assert!(
            (bench.sender.marking.value() - 0.05 / 3.0).abs() < 1e-12,
            "{}",
            bench.sender.marking.value()
        );
    }

    #[test]
    fn marks_of_upstream_loops_set_the_weight_if_enabled() {
        for (reading, expected) in [("ignored", 0.371), ("weights", 0.371 / 2.0)] {
            let mut bench = Bench::new(&[("upstream", Value::text(reading))], start(Some(500.0)));
            for _ in 0..1000 {
                for marked in [true, false] {
                    bench.apply(|sender, cx| sender.on_forwarded(cx, marked));
                }
                bench.ack(50, None);
            }
            assert!((bench.mbps() / 500.0 - expected).abs() < 1e-3, "{reading}: {}", bench.mbps());
        }
    }

    /// Equilibrium marking of window flows that share a link of this rate: RTT 2 ms, RED of Eq. (17), max_th = 75 KB.
    fn marking_at_equilibrium(flows: usize, mbps: f64) -> f64 {
        // The packets are small, so that rounding windows up to whole packets has no effect.
        let start = Start { packet: Bytes::new(10), ..start(Some(mbps)) };
        let mut benches: Vec<_> = (0..flows).map(|_| Bench::new(&[], start)).collect();
        let bdp = Rate::from_mbps(mbps).bytes_in(RTT).as_f64();
        for _ in 0..2000 {
            let window = |bench: &Bench| bench.sender.permit().window.unwrap().as_f64();
            let queue = benches.iter().map(window).sum::<f64>() - bdp;
            let marked = ((queue / 75e3).clamp(0.0, 1.0) * 1e4).round() as u64;
            benches.iter_mut().for_each(|bench| {
                bench.interval(10_000, marked, Header::NONE);
            });
        }
        let fair = benches[0].mbps();
        assert!(benches.iter().all(|bench| (bench.mbps() - fair).abs() < 0.01 * fair));
        benches[0].sender.marking.value()
    }

    #[test]
    fn windows_over_red_settle_where_marks_queue_and_rates_agree() {
        // The queue is the windows minus the bandwidth-delay product: S (1 - p)^eta = 1 + p max_th / (c T). Five flows at
        // 500 Mbit/s have the "0.6" of Fig. 12 with phi = 10, 5; a slower link needs a little less.
        for (flows, mbps, expected) in
            [(5, 500.0, 0.5978), (5, 400.0, 0.5818), (5, 300.0, 0.5575), (2, 500.0, 0.3068)]
        {
            let marking = marking_at_equilibrium(flows, mbps);
            assert!((marking - expected).abs() < 1e-3, "{flows} flows, {mbps}: {marking}");
        }
    }

    #[test]
    fn the_dual_algorithm_sets_its_target_at_once() {
        let mut bench = Bench::new(&[("algorithm", Value::text("dual"))], start(Some(500.0)));
        assert_eq!(bench.ack(0, None), 500.0);
        bench.apply(|sender, cx| sender.on_capacity(cx, Rate::from_mbps(150.0)));
        assert_eq!(bench.ack(0, None), 150.0);
    }

    #[test]
    fn without_a_signalled_capacity_the_downstream_loop_is_the_only_bound() {
        let mut bench = Bench::new(&[], start(None));
        bench.ack(0, limit(900.0));
        assert!((bench.sender.carrying_capacity() / 1e6 - 900.0).abs() < 1e-3);
    }

    #[test]
    fn without_any_bound_the_capacity_is_twice_the_delivered_rate_plus_the_floor() {
        let mut bench = Bench::new(&[], start(None));
        let span = Span::from_millis(2);
        let sample = Ack {
            delivered: Rate::from_mbps(100.0).bytes_in(span),
            delivery_span: span,
            ..Ack::plain(PACKET, RTT, Bytes::ZERO)
        };
        bench.apply(|sender, cx| sender.on_ack(cx, &sample));
        assert!((bench.sender.carrying_capacity() - (2.0 * 100e6 + 6e6)).abs() < 1.0);
    }

    #[test]
    fn persistent_congestion_resets_the_rate_to_its_floor() {
        let mut bench = Bench::with_capacity(500.0);
        bench.intervals_until(500.0, 0.05, 0);
        let no_feedback = Congestion {
            cause: Cause::NoFeedback,
            episode: Episode::New,
            bytes: PACKET,
            in_flight: Bytes::ZERO,
            prior_in_flight: PACKET,
        };
        bench.apply(|sender, cx| sender.on_congestion(cx, &no_feedback));
        assert_eq!(bench.mbps(), 6.0);
    }

    fn following(mbps: f64) -> Bench {
        Bench::new(&[("follow", Value::text("share"))], start(Some(mbps)))
    }

    #[test]
    fn at_a_constant_carrying_capacity_the_share_and_the_rate_take_the_same_steps() {
        let (mut rate, mut share) = (Bench::with_capacity(600.0), following(600.0));
        for interval in 0..300 {
            let marked = [0, 37, 100, 4][interval / 20 % 4];
            let (x, kz) = (rate.ack(marked, None), share.ack(marked, None));
            assert!((x / kz - 1.0).abs() < 1e-9, "{interval}: {x} {kz}");
        }
    }

    #[test]
    fn a_rate_that_follows_the_carrying_capacity_changes_with_it_at_once_and_in_proportion() {
        let mut bench = following(500.0);
        bench.intervals_until(500.0, 1e-6, 0);
        bench.apply(|sender, cx| sender.on_capacity(cx, Rate::from_mbps(150.0)));
        assert!((bench.mbps() - 150.0).abs() < 1e-3, "{}", bench.mbps());
        // An acknowledgement within an interval is enough: the clock of the bench stands.
        let mut header = Header::NONE;
        LgccEcho::new(NextRate::Limit(Rate::from_mbps(40.0))).emit(&mut header);
        let ack = Ack { header, ..Ack::plain(PACKET, RTT, Bytes::ZERO) };
        bench.apply(|sender, cx| sender.on_ack(cx, &ack));
        assert!((bench.mbps() - 40.0).abs() < 1e-2, "{}", bench.mbps());
        let share = bench.sender.share.unwrap();
        bench.apply(|sender, cx| sender.on_capacity(cx, Rate::ZERO));
        assert_eq!((bench.mbps(), bench.sender.share), (6.0, Some(share)), "an outage leaves the share");
    }

    #[test]
    fn silence_resets_a_rate_that_follows_but_not_its_share() {
        let mut bench = following(500.0);
        bench.intervals_until(500.0, 1e-3, 0);
        bench.sender.x.restart();
        assert_eq!(bench.mbps(), 6.0);
        assert!(bench.ack(0, None) > 499.0);
    }

    fn excess(mbps: f64, bytes: f64) -> Header {
        let mut header = Header::NONE;
        ExcessEcho::new(Rate::from_mbps(mbps), bytes, bytes > 0.0).emit(&mut header);
        header
    }

    const EXCESS: [(&str, Value); 6] = [
        ("algorithm", Value::text("dual")),
        ("echo", Value::text("excess")),
        ("drain", Value::Number(4.0)),
        ("drain_time", Value::text("12ms")),
        ("probe_interval", Value::text("100ms")),
        ("updates", Value::Flag(true)),
    ];

    #[test]
    fn the_sender_divides_an_excess_by_its_own_round_trips_and_a_constant_time() {
        // D = 4 * 2 ms + 12 ms; 50 kB in 20 ms are 20 Mbit/s.
        let mut bench = Bench::new(&EXCESS, start(Some(500.0)));
        assert!((bench.interval(100, 0, excess(100.0, 50_000.0)) - 80.0).abs() < 2e-3);
        assert!((bench.interval(100, 0, excess(100.0, -50_000.0)) - 120.0).abs() < 2e-3);
    }

    #[test]
    fn while_its_relay_holds_an_excess_a_sender_probes_ten_times_less_and_an_update_ends_this() {
        let mut bench = Bench::new(&EXCESS, start(Some(500.0)));
        // The initial rate is a packet per base RTT; the least rate a packet in 100 ms, then in a second.
        assert!((bench.interval(100, 0, excess(0.0, -1.0)) - 0.12).abs() < 1e-9);
        assert!((bench.interval(100, 0, excess(0.0, 1e6)) - 0.012).abs() < 1e-9);
        let update = excess(40.0, 0.0);
        bench.apply(|sender, cx| assert!(!sender.on_update(cx, &Header::NONE)));
        bench.sender.share = Some(1.0);
        bench.sender.params.follow = Follow::Share;
        bench.apply(|sender, cx| assert!(sender.on_update(cx, &update)));
        assert!((bench.mbps() - 40.0).abs() < 1e-3, "{}", bench.mbps());
    }

    #[test]
    fn a_window_holds_a_gap_of_service_if_the_links_of_the_loop_limit_it() {
        let written = [("algorithm", Value::text("dual")), ("service_gap", Value::text("8ms"))];
        let mut bench = Bench::new(&written, start(Some(600.0)));
        bench.ack(0, None);
        // 100 packets in the base RTT of 2 ms, 400 in 8 ms.
        assert_eq!(bench.sender.permit().window, Some(PACKET * 500));
        bench.ack(0, limit(300.0));
        assert_eq!(bench.sender.permit().window, Some(PACKET * 50));
        bench.ack(0, limit(900.0));
        assert_eq!(bench.sender.permit().window, Some(PACKET * 500));
    }

    #[test]
    fn after_an_outage_or_with_every_packet_marked_the_rate_is_the_floor() {
        let mut bench = Bench::with_capacity(500.0);
        bench.apply(|sender, cx| sender.on_capacity(cx, Rate::ZERO));
        for _ in 0..1000 {
            bench.ack(100, limit(0.0));
        }
        assert_eq!(bench.mbps(), 6.0);
        let mut gauge: Vec<(&'static str, &'static str, f64)> = Vec::new();
        bench.sender.observe(&mut gauge);
        assert!(gauge.iter().all(|(_, _, value)| value.is_finite()), "{gauge:?}");
    }
}
