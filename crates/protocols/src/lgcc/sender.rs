//! The sender of LGCC: Algorithm 1.

use super::header::{LgccEcho, NextRate};
use super::params::{Algorithm, Params};
use super::upstream::{self, UpstreamMarking};
use crate::parts::capacity_estimate::CapacityEstimate;
use crate::parts::marking::{ALPHA, MarkingEstimate};
use crate::parts::send_rate::SendRate;
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate};

/// A carrying capacity in bit/s is at least this: its logarithm is needed.
const LEAST_CAPACITY: f64 = 1.0;

/// See the module. Rates are in bit/s.
pub(super) struct LgccSender {
    params: Params,
    packet: Bytes,
    weight: f64,
    /// The least capacity of this loop's links, if told.
    told: Option<Rate>,
    /// The last rate echoed by the next loop, if there is a next loop.
    next: Option<Rate>,
    unread: Unread,
    /// The smoothed RTT over the base RTT.
    stretch: f64,
    /// Weight of the newest interval.
    alpha: f64,
    upstream: UpstreamMarking,
    estimate: CapacityEstimate,
    marking: MarkingEstimate,
    gamma: f64,
    target: f64,
    x: SendRate,
}

impl LgccSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        Self {
            gamma: params.step_size.initial(),
            params,
            packet: Bytes::new(1),
            weight: 1.0,
            told: None,
            next: None,
            unread: Unread::default(),
            stretch: 1.0,
            alpha: settings.get(ALPHA),
            upstream: UpstreamMarking::default(),
            estimate: CapacityEstimate::read(settings),
            marking: MarkingEstimate::read(settings),
            target: 0.0,
            x: SendRate::read(settings),
        }
    }

    /// Eq. (10): the least of the next loop's rate and the loop's link capacities, the latter times the weight. Where
    /// the next loop's rate is a limit of its own, it is left out here.
    fn carrying_capacity(&self) -> f64 {
        let links = self.told.map(|rate| rate.as_f64() * self.weight * self.upstream_weight());
        let next = self.next.map(Rate::as_f64).filter(|_| !self.params.minimum || links.is_none());
        let known = match (links, next) {
            (Some(links), Some(next)) => links.min(next),
            (Some(rate), None) | (None, Some(rate)) => rate,
            (None, None) => self.estimate.get(self.x.floor()),
        };
        known.max(LEAST_CAPACITY)
    }

    /// What Theorem 8.4 makes of the marks of earlier loops, if they are to weigh.
    fn upstream_weight(&self) -> f64 {
        match self.params.upstream {
            true => upstream::weight(&self.params.bases, self.marking.value(), self.upstream.value()),
            false => 1.0,
        }
    }

    /// What no weight may exceed: the loop's own links and, as a limit, the rate of the next loop. With windows, x is
    /// what would be sent without queueing.
    fn most(&self) -> f64 {
        let links = self.told.map_or(f64::INFINITY, Rate::as_f64);
        let stretch = if self.params.windowed { self.stretch } else { 1.0 };
        let limit = self.next.filter(|_| self.params.minimum).map(|next| next.as_f64() * stretch);
        links.min(limit.unwrap_or(f64::INFINITY)).max(LEAST_CAPACITY)
    }

    /// The carrying capacity and the marking probability that give the target; a bound below it stands without marks.
    fn bound(&self) -> (f64, f64) {
        let (k, marking, most) = (self.carrying_capacity(), self.marking.value(), self.most());
        if self.params.bases.rate_from_price(k, marking) > most { (most, 0.0) } else { (k, marking) }
    }

    /// Algorithm 1, lines 9 to 23, at the end of an interval.
    fn renew_rate(&mut self) {
        self.upstream.finish_interval(self.alpha);
        let ((k, marking), x) = (self.bound(), self.x.get());
        self.target = self.params.bases.rate_from_price(k, marking);
        match self.params.algorithm {
            Algorithm::PrimalDual => {
                self.gamma = self.params.step_size.at(x, self.target);
                self.x.set(self.params.bases.step(x, k, marking, self.gamma));
            }
            Algorithm::Dual => self.x.set(self.target),
        }
    }

    fn read_echo(&mut self, ack: &Ack) {
        match self.unread.note(LgccEcho::parse(&ack.header)).map(|echo| echo.next_rate()) {
            Some(NextRate::Limit(rate)) => self.next = Some(rate),
            Some(NextRate::NoLimit) => self.next = None,
            None => {}
        }
    }
}

impl Sender for LgccSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.weight = start.weight;
        self.told = start.capacity;
        self.x.start(start.packet);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.x.learn(ack.min_rtt);
        self.stretch = ack.smoothed_rtt.secs().max(1e-9) / ack.min_rtt.secs().max(1e-9);
        self.read_echo(ack);
        if self.told.is_none() {
            self.estimate.on_ack(ack);
        }
        if self.marking.on_ack(cx.now, ack) {
            self.renew_rate();
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            Cause::Loss => self.marking.on_loss(congestion.bytes, self.packet),
            Cause::NoFeedback => self.x.restart(),
            Cause::Ecn | Cause::Timeout => {}
        }
    }

    /// The flows that share this loop weigh so much together.
    fn on_weight(&mut self, _cx: &mut Context<'_>, weight: f64) {
        self.weight = weight;
    }

    fn on_forwarded(&mut self, _cx: &mut Context<'_>, marked: bool) {
        self.upstream.on_forwarded(marked);
    }

    fn on_capacity(&mut self, _cx: &mut Context<'_>, capacity: Rate) {
        self.told = Some(capacity);
    }

    #[inline]
    fn permit(&self) -> Permit {
        self.x.permit()
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate", "bit/s", self.x.get());
        gauge.quantity("target rate", "bit/s", self.target);
        gauge.quantity("marking probability", "1", self.marking.value());
        gauge.quantity("carrying capacity", "bit/s", self.carrying_capacity());
        gauge.quantity("step size", "1", self.gamma);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::parts::logistic::Bases;
    use millpond_law::{Episode, Header, Random, Value};
    use millpond_units::{Span, Time};

    const PACKET: Bytes = Bytes::new(1500);
    const RTT: Span = Span::from_millis(2);

    /// A sender, and a clock that steps by one base RTT per acknowledgement: each ends an interval.
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
            bench.tell(|sender, cx| sender.on_start(cx, &start));
            bench.ack(0, None);
            bench
        }

        fn told(mbps: f64) -> Self {
            Self::new(&[], start(Some(mbps)))
        }

        fn tell(&mut self, event: impl FnOnce(&mut LgccSender, &mut Context<'_>)) {
            event(&mut self.sender, &mut Context { now: self.now, random: &mut self.random });
        }

        /// One interval in which `marked` of 100 packets came back marked.
        fn ack(&mut self, marked: u64, next: Option<NextRate>) -> f64 {
            let mut header = Header::NONE;
            if let Some(next) = next {
                LgccEcho::new(next).emit(&mut header);
            }
            self.interval(100, marked, header)
        }

        fn interval(&mut self, packets: u64, marked: u64, header: Header) -> f64 {
            let ack = Ack { packets, ce_packets: marked, header, ..Ack::plain(PACKET, RTT, Bytes::ZERO) };
            self.tell(|sender, cx| sender.on_ack(cx, &ack));
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
        Start { packet: PACKET, capacity: mbps.map(Rate::from_mbps), weight: 1.0 }
    }

    fn limit(mbps: f64) -> Option<NextRate> {
        Some(NextRate::Limit(Rate::from_mbps(mbps)))
    }

    #[test]
    fn a_lone_flow_takes_the_told_capacity_as_its_rate() {
        let mut bench = Bench::told(600.0);
        assert_eq!(bench.mbps(), 6.0, "one packet per base RTT");
        // k/100: ln(ln 100 / ln(1/.95)) / -ln .8697 = 32.2 steps of the logarithm, and one or two for ln(1 + y) < y.
        let taken = bench.intervals_until(600.0, 0.05, 0);
        assert!((33..=36).contains(&taken), "{taken}");
        bench.intervals_until(600.0, 1e-6, 0);
        // 600 Mbit/s in 2 ms are 100 packets.
        assert_eq!(bench.sender.permit().window, Some(Bytes::new(150_000)));
        assert_eq!(bench.sender.permit().pace, None);
    }

    #[test]
    fn the_carrying_capacity_is_the_least_of_the_next_loop_and_the_links() {
        let mut bench = Bench::told(500.0);
        for (next, expected) in
            [(limit(200.0), 200.0), (limit(900.0), 500.0), (Some(NextRate::NoLimit), 500.0), (None, 500.0)]
        {
            bench.ack(0, next);
            assert!((bench.sender.carrying_capacity() / 1e6 - expected).abs() < 1e-3, "{next:?}");
        }
        bench.ack(0, limit(200.0));
        bench.ack(0, None);
        assert!((bench.sender.carrying_capacity() / 1e6 - 200.0).abs() < 1e-3, "no echo: the last one holds");
        bench.tell(|sender, cx| sender.on_capacity(cx, Rate::from_mbps(150.0)));
        assert_eq!(bench.sender.carrying_capacity(), 150e6);
    }

    #[test]
    fn at_the_equilibrium_marking_of_five_flows_each_takes_a_fifth() {
        let emp = Bases::new(10.0, 5.0).equilibrium_marking(5.0);
        let mut bench = Bench::told(500.0);
        let marked = (100.0 * emp).round() as u64;
        bench.intervals_until(500.0 / 5.0, 0.03, marked);
        for _ in 0..500 {
            bench.ack(marked, None);
        }
        // 68 of 100 marked packets stand for 1 - .68 = .32, and .32^1.4307 = .1959.
        assert!((bench.mbps() - 500.0 * 0.1959).abs() < 0.1, "{}", bench.mbps());
    }

    #[test]
    fn weights_scale_the_share_of_the_links_and_not_the_next_loops_rate() {
        let mut bench = Bench::new(&[], Start { weight: 0.5, ..start(Some(500.0)) });
        assert_eq!(bench.sender.carrying_capacity(), 250e6);
        bench.ack(0, limit(200.0));
        assert!((bench.sender.carrying_capacity() / 1e6 - 200.0).abs() < 1e-3);
    }

    #[test]
    fn several_flows_on_one_sender_weigh_as_much_as_they_are_and_never_exceed_the_link() {
        let mut bench = Bench::told(500.0);
        bench.tell(|sender, cx| sender.on_weight(cx, 3.0));
        bench.intervals_until(500.0, 1e-6, 0);
        // Beside one flow of its like, (3 + 1) (1 - p)^eta = 1: three quarters.
        let quarter = Bases::new(10.0, 5.0).equilibrium_marking(4.0);
        (0..2000).for_each(|_| {
            bench.interval(10_000, (1e4 * quarter).round() as u64, Header::NONE);
        });
        assert!((bench.mbps() - 375.0).abs() < 0.1, "{}", bench.mbps());
    }

    #[test]
    fn as_a_limit_the_next_loops_rate_is_not_deflated_again() {
        let told = start(Some(500.0));
        let product = Bench::new(&[], told);
        let minimum = Bench::new(&[("backpressure", Value::text("minimum"))], told);
        // Half of the packets marked leave 0.5^1.4307 = 0.371: 185.5 of 500 Mbit/s, 37.1 of 100.
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

    #[test]
    fn marks_of_earlier_loops_weigh_if_they_are_to() {
        for (reading, expected) in [("ignored", 0.371), ("weights", 0.371 / 2.0)] {
            let mut bench = Bench::new(&[("upstream", Value::text(reading))], start(Some(500.0)));
            for _ in 0..1000 {
                for marked in [true, false] {
                    bench.tell(|sender, cx| sender.on_forwarded(cx, marked));
                }
                bench.ack(50, None);
            }
            assert!((bench.mbps() / 500.0 - expected).abs() < 1e-3, "{reading}: {}", bench.mbps());
        }
    }

    /// Flows whose windows share a link of this rate, 2 ms of round trip and RED of Eq. (17) with max_th = 75 KB: where they come to rest.
    fn marking_at_rest(flows: usize, mbps: f64) -> f64 {
        // Of packets so small that rounding windows up to whole ones does not show.
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
    fn windows_over_red_rest_where_marks_queue_and_rates_agree() {
        // The queue is what the windows hold beyond the pipe, so S (1 - p)^eta = 1 + p max_th / (c T). Five flows at
        // 500 Mbit/s have the "0.6" of Fig. 12 with phi = 10, 5; a slower link needs a little less.
        for (flows, mbps, expected) in
            [(5, 500.0, 0.5978), (5, 400.0, 0.5818), (5, 300.0, 0.5575), (2, 500.0, 0.3068)]
        {
            let marking = marking_at_rest(flows, mbps);
            assert!((marking - expected).abs() < 1e-3, "{flows} flows, {mbps}: {marking}");
        }
    }

    #[test]
    fn the_dual_algorithm_jumps() {
        let mut bench = Bench::new(&[("algorithm", Value::text("dual"))], start(Some(500.0)));
        assert_eq!(bench.ack(0, None), 500.0);
        bench.tell(|sender, cx| sender.on_capacity(cx, Rate::from_mbps(150.0)));
        assert_eq!(bench.ack(0, None), 150.0);
    }

    #[test]
    fn without_any_told_capacity_the_next_loop_is_the_only_bound() {
        let mut bench = Bench::new(&[], start(None));
        bench.ack(0, limit(900.0));
        assert!((bench.sender.carrying_capacity() / 1e6 - 900.0).abs() < 1e-3);
    }

    #[test]
    fn without_any_bound_it_is_twice_what_was_delivered_and_the_floor() {
        let mut bench = Bench::new(&[], start(None));
        let span = Span::from_millis(2);
        let sample = Ack {
            delivered: Rate::from_mbps(100.0).bytes_in(span),
            delivery_span: span,
            ..Ack::plain(PACKET, RTT, Bytes::ZERO)
        };
        bench.tell(|sender, cx| sender.on_ack(cx, &sample));
        assert!((bench.sender.carrying_capacity() - (2.0 * 100e6 + 6e6)).abs() < 1.0);
    }

    #[test]
    fn silence_sends_the_rate_back_to_its_floor() {
        let mut bench = Bench::told(500.0);
        bench.intervals_until(500.0, 0.05, 0);
        let silence = Congestion {
            cause: Cause::NoFeedback,
            episode: Episode::New,
            bytes: PACKET,
            in_flight: Bytes::ZERO,
            prior_in_flight: PACKET,
        };
        bench.tell(|sender, cx| sender.on_congestion(cx, &silence));
        assert_eq!(bench.mbps(), 6.0);
    }

    #[test]
    fn an_outage_and_a_link_that_marks_everything_leave_the_floor() {
        let mut bench = Bench::told(500.0);
        bench.tell(|sender, cx| sender.on_capacity(cx, Rate::ZERO));
        for _ in 0..1000 {
            bench.ack(100, limit(0.0));
        }
        assert_eq!(bench.mbps(), 6.0);
        let mut gauge: Vec<(&'static str, &'static str, f64)> = Vec::new();
        bench.sender.observe(&mut gauge);
        assert!(gauge.iter().all(|(_, _, value)| value.is_finite()), "{gauge:?}");
    }
}
