//! LGCC as differential equations, loop by loop: Eq. (14) or (15) with the smoothed marks of the loop, and the carrying
//! capacity (10): the minimum of the loop's links and the feedback from the downstream loop.

use super::params::{
    Algorithm, Backpressure, ECHO, EchoReading, Follow, Params, Upstream, Weights, knowledge, price,
};
use super::price::PriceParams;
use super::price_fluid::PriceFluid;
use super::sharing::LoopShare;
use super::upstream::{MIN_BOTTLENECK_MARKING, fluid_weight};
use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::LogisticForm;
use crate::parts::logistic_fluid::{self, Aim, Grower, LogisticGrowth};
use crate::parts::send_rate::Control;
use millpond_law::fluid::{
    Allocation, DownstreamFeedback, Feedback, FluidModel, FluidSender, LinkLaws, LoopFacts, Number,
    PathAggregation, PriceSum, SenderInput, SenderLaws, State, greatest, least, link_law, positive,
    sender_law,
};
use millpond_law::{Knowledge, LinkFacts, SettingError, Settings};

/// Smallest carrying capacity, in bit/s.
const LEAST_CAPACITY: f64 = 1.0;

/// What the equations leave out; the first one and the last two only where parameters use it.
const LEFT_OUT: [&str; 5] = [
    "bursts of a window that is not paced, which the slower link of the next loop queues and marks",
    "the randomness of marks",
    "timeouts",
    "demands below a share of a shared loop",
    "target queues of relays that adapt to idle time (idle_target): they have their full size",
];

/// [`LEFT_OUT`] without the demands of flows.
const WITHOUT_DEMANDS: [&str; 4] = [LEFT_OUT[0], LEFT_OUT[1], LEFT_OUT[2], LEFT_OUT[4]];

/// The fluid model of LGCC.
pub(super) struct LgccFluid {
    growth: LogisticGrowth,
    params: Params,
    has_signalled_capacity: bool,
    probe_gain: f64,
    /// Of the links, if packets have a field for their price.
    price: Option<PriceParams>,
}

impl LgccFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let params = Params::read(settings);
        if params.echo == EchoReading::WindowRate {
            let why = "the fluid model has the sending rate of the downstream loop, not the x of its window: \
                       set echo = \"sent\", or control = \"rate\"";
            return Err(ECHO.error(why));
        }
        Ok(Self {
            growth: LogisticGrowth::read(
                settings,
                LogisticForm::Deflated(params.bases),
                params.algorithm == Algorithm::Dual,
            )
            .following_capacity(params.follow == Follow::Share)
            .with_gaps(params.probe_interval.secs(), params.service_gap.secs()),
            has_signalled_capacity: knowledge(settings) != Knowledge::Nothing,
            probe_gain: settings.get(PROBE_GAIN),
            price: price(settings)?,
            params,
        })
    }
}

impl FluidModel for LgccFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        match self.price {
            None => sender_law(self.source::<false>(facts)),
            Some(_) => sender_law(self.source::<true>(facts)),
        }
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        self.price.map(|price| link_law(PriceFluid(price)))
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        match (self.params.upstream, self.params.backpressure) {
            (Upstream::Weights, _) | (_, Backpressure::Minimum) => Allocation::Numeric {
                reason: "weights and limits of Theorem 8.4 depend on the other loops of the chain",
            },
            (Upstream::Ignored, Backpressure::Product) if self.price.is_some() => {
                let marginal = self.growth.marginal(facts.capacity * facts.weight);
                Allocation::Utility { marginal, prices: PriceSum::Plain }
            }
            (Upstream::Ignored, Backpressure::Product) => {
                self.growth.allocation(facts.capacity * facts.weight)
            }
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        let demands = self.params.weights == Weights::Rate;
        let first = usize::from(self.params.control != Control::Window);
        match (demands, self.params.idle_target > 0.0) {
            (false, false) => &LEFT_OUT[first..3],
            (true, false) => &LEFT_OUT[first..4],
            (true, true) => &LEFT_OUT[first..],
            (false, true) => &WITHOUT_DEMANDS[first..],
        }
    }
}

/// `PRICED`: packets have a field for the price of their path.
struct Source<const PRICED: bool> {
    grower: Grower,
    params: Params,
    /// In bits.
    cushion: f64,
    has_signalled_capacity: bool,
    probe_gain: f64,
    weight: f64,
}

impl LgccFluid {
    fn source<const PRICED: bool>(&self, facts: &LoopFacts) -> Source<PRICED> {
        Source {
            grower: self.growth.sender(facts),
            cushion: self.params.cushion * facts.packet,
            params: self.params.clone(),
            has_signalled_capacity: self.has_signalled_capacity,
            probe_gain: self.probe_gain,
            weight: facts.weight,
        }
    }
}

impl<const PRICED: bool> Source<PRICED> {
    /// The relay's echo (section VI-A, with the readings of ERRATA.md): the carrying capacity which, reduced by the
    /// marks of the virtual queue, is this loop's share of the downstream loop.
    fn echo<T: Number>(&self, next: &DownstreamFeedback<T>, input: &SenderInput<'_, T>) -> T {
        let share = LoopShare::of(&self.params, &next.sharing);
        let fair = next.rate * share.share;
        let (drain, drain_time) = (self.params.drain, self.params.drain_time.secs());
        let wanted = match self.params.echo {
            EchoReading::Sent => positive(fair - self.excess(fair, next) / (next.rtt * drain + drain_time)),
            EchoReading::Excess => {
                positive(fair - self.excess(fair, next) / (input.rtt() * drain + drain_time))
            }
            EchoReading::Pace | EchoReading::WindowRate => fair,
        };
        wanted / share.deflation
    }

    /// B - B*: the relay's queue, and if it counts that of the next loop, less its target at this rate; in bits.
    fn excess<T: Number>(&self, rate: T, next: &DownstreamFeedback<T>) -> T {
        let target = rate * self.params.cushion_time.secs() + self.cushion;
        let beyond =
            if self.params.counts_next_queue { rate * (next.rtt - next.base_rtt) } else { T::zero() };
        next.backlog + beyond - target
    }

    /// Weight of the flow, or of all flows that share this loop.
    fn weight<T: Number>(&self, input: &SenderInput<'_, T>) -> f64 {
        input.upstream.and_then(|upstream| upstream.weight).unwrap_or(self.weight)
    }

    /// Capacity of the loop's own links in bit/s, by weight. Without configured capacity: an estimate with the present
    /// delivered rate.
    fn links<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        if !self.has_signalled_capacity {
            let delivered = input.acked * (-input.lost + 1.0);
            return delivered * self.probe_gain + self.grower.floor();
        }
        let links = T::from(input.capacity * self.weight(input));
        match self.params.upstream {
            Upstream::Weights => links * fluid_weight(x[0], self.marked_before(x)),
            Upstream::Ignored => links,
        }
    }

    /// Eq. (10). Where the downstream loop's rate is a separate limit, it is left out here.
    fn carrying_capacity<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        let next = input
            .downstream
            .as_ref()
            .filter(|_| self.params.backpressure == Backpressure::Product || !self.has_signalled_capacity);
        let k = match next {
            None => self.links(x, input),
            Some(next) if self.has_signalled_capacity => least(self.echo(next, input), self.links(x, input)),
            Some(next) => self.echo(next, input),
        };
        greatest(k, T::from(LEAST_CAPACITY))
    }

    /// Upper bound on x, regardless of weights: the capacity of this loop's links and, if `backpressure = minimum`, the
    /// downstream loop's rate. With windows, x is the rate without queueing.
    fn most<T: Number>(&self, input: &SenderInput<'_, T>) -> T {
        let nothing = T::from(f64::INFINITY);
        let links = if self.has_signalled_capacity && self.weight(input) > 1.0 {
            T::from(input.capacity)
        } else {
            nothing
        };
        let next = input.downstream.as_ref().filter(|_| self.params.backpressure == Backpressure::Minimum);
        let stretch =
            if self.params.control == Control::Rate { T::one() } else { input.rtt() / input.base_rtt };
        let limit =
            next.map_or(nothing, |next| greatest(self.echo(next, input) * stretch, T::from(LEAST_CAPACITY)));
        least(links, limit)
    }

    fn aim<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> Aim<T> {
        let is_limited_by_links = input
            .downstream
            .as_ref()
            .is_none_or(|next| self.has_signalled_capacity && self.echo(next, input) >= input.capacity);
        Aim {
            capacity: self.carrying_capacity(x, input),
            most: self.most(input),
            price: PRICED.then(|| input.feedback[0]),
            is_limited_by_links,
        }
    }

    /// The inputs including the marks of the relay's virtual queue.
    fn marked<'a, T: Number>(&self, input: &SenderInput<'a, T>) -> SenderInput<'a, T> {
        let virtually =
            input.downstream.as_ref().map_or(0.0, |next| LoopShare::of(&self.params, &next.sharing).marking);
        SenderInput { marked: -(-input.marked + 1.0) * (1.0 - virtually) + 1.0, ..*input }
    }

    /// Whether marks of upstream loops set the flow's weight.
    fn has_upstream_weight(&self) -> bool {
        self.params.upstream == Upstream::Weights
    }

    /// Index of the first state for upstream marks.
    fn own<T>(&self, x: &[T]) -> usize {
        x.len() - if self.has_upstream_weight() { 1 + self.grower.lags() } else { 0 }
    }

    /// p^u of Theorem 8.4, smoothed.
    fn marked_before<T: Number>(&self, x: &[T]) -> T {
        x[self.own(x)]
    }
}

impl<const PRICED: bool> FluidSender for Source<PRICED> {
    const GROWS_UNUSED: bool = true;
    const FEEDBACK: &'static [Feedback] =
        if PRICED { &[Feedback { name: "price", unit: "1", over_path: PathAggregation::Sum }] } else { &[] };
    const GUARDS: &'static [&'static str] = &[
        logistic_fluid::GUARDS[0],
        logistic_fluid::GUARDS[1],
        logistic_fluid::GUARDS[2],
        "next loop's rate less the links'",
        "marking probability less what is scarce",
        "pacing rate less the rate of the window",
    ];

    fn states(&self) -> Vec<State> {
        let share = |name| State::new(name, "1", 0.0);
        let upstream = std::iter::once(share("upstream marking probability").within(0.0, 1.0));
        let lags = ["share of upstream marks counted", "share of upstream marks in force"].map(share);
        let upstream =
            upstream.chain(lags.into_iter().take(self.grower.lags())).filter(|_| self.has_upstream_weight());
        self.grower.states().into_iter().chain(upstream).collect()
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let own = self.own(x);
        self.grower.derivative(&x[..own], self.aim(x, input), &self.marked(input), &mut dx[..own]);
        if self.has_upstream_weight() {
            let marked = input.upstream.map_or(T::zero(), |upstream| upstream.marked);
            let (estimate, lags) = (x[own], &x[own + 1..]);
            dx[own] = self.grower.smoothed(marked, (estimate, lags), input, &mut dx[own + 1..]);
        }
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.grower.rate(&x[..self.own(x)], self.aim(x, input), input)
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        self.grower.guards(&x[..self.own(x)], self.aim(x, input), guards);
        guards[3] =
            input.downstream.as_ref().map_or(T::one(), |next| self.echo(next, input) - self.links(x, input));
        guards[4] = if self.has_upstream_weight() { x[0] - MIN_BOTTLENECK_MARKING } else { T::one() };
        guards[5] = self.grower.pacing_guard(&x[..self.own(x)], self.aim(x, input), input);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::lgcc::sharing::tests::sharing;
    use crate::parts::logistic::Bases;
    use crate::testing::fluid::{PACKET, flow, inputs, marginal, near, one_loop};
    use millpond_law::fluid::{SenderInputs, UpstreamFeedback};
    use millpond_law::{Sharing, Value};

    const D: f64 = 0.02;

    fn model(written: &[(&'static str, Value)]) -> LgccFluid {
        LgccFluid::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap()).unwrap()
    }

    /// The downstream loop sends half of 8 Mbit/s over 10 ms.
    fn next(backlog_packets: f64) -> Vec<Option<DownstreamFeedback<f64>>> {
        let sharing = Sharing::ALONE;
        vec![Some(DownstreamFeedback {
            rate: 4e6,
            backlog: backlog_packets * PACKET,
            rtt: 0.01,
            base_rtt: 0.008,
            sharing,
        })]
    }

    #[test]
    fn in_an_interval_the_rate_changes_by_line_19() {
        let senders = model(&[]).sender(&one_loop(D));
        let (dx, _) = flow(&*senders, &[0.4, 5e6, 0.4], &inputs(&*senders, D, |_| {}));
        let step = Bases::new(10.0, 5.0).step(5e6, 8e6, 0.4, 0.3) - 5e6;
        assert!(near(dx[1] * D, step), "{} {step}", dx[1] * D);
    }

    #[test]
    fn with_a_share_the_logarithm_of_the_share_takes_the_step_and_the_rate_follows_the_capacity() {
        let written = [("follow", Value::text("share")), ("control", Value::text("rate"))];
        let senders = model(&written).sender(&one_loop(D));
        let x = [0.4, libm::log(5.0 / 8.0), 0.4, 0.4];
        let (dx, rate) = flow(&*senders, &x, &inputs(&*senders, D, |_| {}));
        let step = Bases::new(10.0, 5.0).step(5e6, 8e6, 0.4, 0.3) - 5e6;
        assert!(near(dx[1] * D * 5e6, step), "{} {step}", dx[1] * D * 5e6);
        assert!(near(rate, 5e6), "{rate}");
        // The next loop sends 4 Mbit/s: five eighths of it.
        let (_, rate) = flow(&*senders, &x, &inputs(&*senders, D, |i| i.downstream = next(2.0)));
        assert!(near(rate, 2.5e6), "{rate}");
    }

    #[test]
    fn five_flows_have_a_fifth_each_at_equilibrium_and_the_dual_law_immediately() {
        let bases = Bases::new(10.0, 5.0);
        let p = bases.equilibrium_marking(5.0);
        let primal = model(&[("control", Value::text("rate"))]);
        let senders = primal.sender(&one_loop(D));
        let (dx, _) = flow(&*senders, &[p, 1.6e6, p, p], &inputs(&*senders, D, |i| i.marked[0] = p));
        assert!(dx.iter().all(|dx| dx.abs() < 1e-6), "{dx:?}");
        let dual = model(&[("algorithm", Value::text("dual")), ("control", Value::text("rate"))]);
        let senders = dual.sender(&one_loop(D));
        assert_eq!(senders.states(0).len(), 3);
        let (_, rate) = flow(&*senders, &[p, p, p], &inputs(&*senders, D, |_| {}));
        assert!(near(rate, 1.6e6), "{rate}");
        let utility = marginal(primal.allocation(&one_loop(D)));
        assert!(near(utility.demand(-libm::log1p(-p)), 1.6e6));
        assert!(matches!(model(&[]).allocation(&one_loop(D)), Allocation::Numeric { .. }));
    }

    #[test]
    fn a_price_of_the_path_deflates_the_capacity_without_a_state() {
        let written = [("price", Value::text("field")), ("control", Value::text("rate"))];
        let model = model(&written);
        let senders = model.sender(&one_loop(D));
        let priced = |nats: f64| inputs(&*senders, D, |i| i.feedback[0] = nats);
        // Five flows: eta n = ln 5. With 36 % of marks as well, (1 - .36)^1.4307 of that.
        let bases = Bases::new(10.0, 5.0);
        let nats = libm::log(5.0) / bases.exponent();
        for (marking, x) in [(0.0, 1.6e6), (0.36, 1.6e6 * libm::pow(0.64, bases.exponent()))] {
            let (dx, _) = flow(&*senders, &[marking, x, marking, marking], &priced(nats));
            assert!((dx[1] / x).abs() < 1e-6, "{dx:?}");
        }
        let (dx, _) = flow(&*senders, &[0.0, 1.6e6, 0.0, 0.0], &priced(0.0));
        assert!(dx[1] > 0.0);
        let utility = marginal(model.allocation(&one_loop(D)));
        assert!(near(utility.demand(nats), 1.6e6) && near(utility.marginal(1.6e6), nats));
        assert_eq!(model.link(&crate::testing::fluid::one_link()).unwrap().signal_names().len(), 1);
    }

    #[test]
    fn the_carrying_capacity_is_the_downstream_rate_corrected_by_the_backlog() {
        // Without marks the dual law sends k: 4 Mbit/s, and two packets in eight round trips of 10 ms for each packet
        // of deviation from the cushion of two.
        let dual = [("algorithm", Value::text("dual"))];
        let senders = model(&dual).sender(&one_loop(D));
        for (backlog, k) in [(2.0, 4e6), (0.0, 4.2e6), (12.0, 3e6), (1e6, 4e6)] {
            let (_, rate) =
                flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.downstream = next(backlog)));
            // With a backlog that no reduction can drain the rate is the minimum: a packet per base RTT.
            let expected = if backlog > 1e3 { PACKET / D } else { k };
            assert!(near(rate, expected), "{backlog}: {rate}");
        }
        let paced = [
            ("algorithm", Value::text("dual")),
            ("control", Value::text("rate")),
            ("echo", Value::text("x")),
        ];
        let senders = model(&paced).sender(&one_loop(D));
        let (_, rate) = flow(&*senders, &[0.0; 3], &inputs(&*senders, D, |i| i.downstream = next(1e6)));
        assert!(near(rate, 4e6), "x is echoed for any backlog");
    }

    #[test]
    fn an_excess_is_returned_by_the_sender_over_its_own_round_trip_and_a_constant_time() {
        // D = 20 ms + 30 ms. The target is two packets and 4 Mbit/s in 10 ms; 2 ms of the next loop's RTT are its queue.
        let written = [
            ("algorithm", Value::text("dual")),
            ("echo", Value::text("excess")),
            ("drain", Value::Number(1.0)),
            ("drain_time", Value::text("30ms")),
            ("cushion_time", Value::text("10ms")),
            ("backlog", Value::text("relay-and-loop")),
        ];
        let senders = model(&written).sender(&one_loop(D));
        for (backlog, excess) in [(2.0, -40_000.0 + 8_000.0), (5.0, 3.0 * PACKET - 32_000.0)] {
            let (_, rate) =
                flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.downstream = next(backlog)));
            assert!(near(rate, 4e6 - excess / 0.05), "{backlog}: {rate}");
        }
    }

    #[test]
    fn a_paced_window_for_gaps_of_service_is_limited_by_the_pace_until_the_queue_is_as_long_as_the_gap() {
        let written = [
            ("algorithm", Value::text("dual")),
            ("control", Value::text("paced-window")),
            ("service_gap", Value::text("60ms")),
        ];
        let senders = model(&written).sender(&one_loop(D));
        // W = 8 Mbit/s times 80 ms: with a round trip of 20 or 80 ms the pace counts, with 160 ms half of it.
        for (rtt, rate) in [(D, 8e6), (0.08, 8e6), (0.16, 4e6)] {
            let found = flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.queueing[0] = rtt - D)).1;
            assert!(near(found, rate), "{rtt}: {found}");
        }
        // Limited by the next loop, it has no window for gaps.
        let behind = |i: &mut SenderInputs| {
            i.queueing[0] = D;
            i.downstream = next(2.0);
        };
        assert!(near(flow(&*senders, &[0.0; 2], &inputs(&*senders, D, behind)).1, 2e6));
    }

    #[test]
    fn without_a_configured_capacity_the_estimate_is_twice_the_delivered_rate() {
        let written = [("algorithm", Value::text("dual")), ("capacity", Value::text("estimated"))];
        let senders = model(&written).sender(&one_loop(D));
        let (_, rate) = flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.acked[0] = 1e6));
        assert!(near(rate, 2e6 + PACKET / D), "{rate}");
    }

    /// A downstream loop of 4 Mbit/s whose relay holds the cushion, shared by loops of these weights, this loop first.
    fn shared(weights: &[f64]) -> Vec<Option<DownstreamFeedback<f64>>> {
        vec![Some(DownstreamFeedback { sharing: sharing(weights), ..next(2.0)[0].unwrap() })]
    }

    /// The equilibrium of the dual law, with the marks that it causes itself.
    fn equilibrium_rate(written: &[(&'static str, Value)], change: impl Fn(&mut SenderInputs)) -> f64 {
        let dual = [("algorithm", Value::text("dual")), ("control", Value::text("paced-window"))];
        let senders =
            model(&[&dual[..], written].concat()).sender(&LoopFacts { chained: true, ..one_loop(D) });
        let inputs = inputs(&*senders, D, change);
        let mut x: Vec<f64> = senders.states(0).iter().map(|state| state.initial).collect();
        for _ in 0..4000 {
            let (dx, _) = flow(&*senders, &x, &inputs);
            x.iter_mut().zip(dx).for_each(|(x, dx)| *x += dx * D / 4.0);
        }
        flow(&*senders, &x, &inputs).1
    }

    #[test]
    fn loops_that_share_the_downstream_loop_get_their_shares_by_marks_of_the_virtual_queue() {
        // A half; a quarter and three quarters; by Eq. (11), zero (the minimum) for the smallest of the weights 1, 2, 3.
        for (weights, share) in [(&[1.0, 1.0][..], 0.5), (&[1.0, 3.0], 0.25), (&[3.0, 1.0], 0.75)] {
            let found = equilibrium_rate(&[], |i| i.downstream = shared(weights));
            assert!((found / 4e6 - share).abs() < 1e-9, "{weights:?}: {found}");
        }
        let price = [("weights", Value::text("price"))];
        for (weights, share) in [(&[3.0, 1.0, 2.0], 7.0 / 11.0), (&[1.0, 2.0, 3.0], 0.0)] {
            let found = equilibrium_rate(&price, |i| i.downstream = shared(weights));
            assert!((found - (share * 4e6_f64).max(PACKET / D)).abs() < 1.0, "{weights:?}: {found}");
        }
    }

    #[test]
    fn a_shared_sender_has_the_weight_of_its_flows_and_never_exceeds_the_link() {
        let three = |marked: f64| {
            move |i: &mut SenderInputs| {
                i.marked[0] = marked;
                i.upstream = vec![Some(UpstreamFeedback { marked: 0.0, weight: Some(3.0) })];
            }
        };
        assert!(near(equilibrium_rate(&[], three(0.0)), 8e6));
        // Together with one equal flow, (3 + 1) (1 - p)^eta = 1: three quarters.
        let quarter = Bases::new(10.0, 5.0).equilibrium_marking(4.0);
        assert!((equilibrium_rate(&[], three(quarter)) / 6e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn as_a_limit_the_downstream_rate_is_not_deflated_again() {
        // With half of the packets marked, .5^1.4307 = .3710 of the reduced capacity remains: of 4 Mbit/s, or of 8.
        let left = libm::pow(0.5, libm::log(10.0) / libm::log(5.0));
        let half = |rate: f64| {
            move |i: &mut SenderInputs| {
                i.marked[0] = 0.5;
                i.downstream = vec![Some(DownstreamFeedback { rate, ..next(2.0)[0].unwrap() })];
            }
        };
        let minimum = [("backpressure", Value::text("minimum"))];
        for (written, rate, expected) in [
            (&[][..], 2e6, 2e6 * left),
            (&minimum, 2e6, 2e6),
            (&[], 8e6, 8e6 * left),
            (&minimum, 8e6, 8e6 * left),
        ] {
            let found = equilibrium_rate(written, half(rate));
            assert!((found / expected - 1.0).abs() < 1e-9, "{written:?} {rate}: {found}");
        }
    }

    #[test]
    fn marks_of_upstream_loops_set_the_weight_if_enabled() {
        let left = libm::pow(0.5, libm::log(10.0) / libm::log(5.0));
        let marked = |i: &mut SenderInputs| {
            i.marked[0] = 0.5;
            i.upstream = vec![Some(UpstreamFeedback { marked: 0.75, weight: None })];
        };
        // Two of three queues with a marking probability of one half are upstream: a third of the weight of a flow that
        // begins here.
        for (reading, share) in [("ignored", 1.0), ("weights", 1.0 / 3.0)] {
            let found = equilibrium_rate(&[("upstream", Value::text(reading))], marked);
            assert!((found / (8e6 * left * share) - 1.0).abs() < 1e-9, "{reading}: {found}");
        }
    }

    #[test]
    fn options_without_equations_are_rejected_by_name() {
        let settings = Settings::check(PARAMETERS, [("echo", Value::text("x"))]).unwrap();
        let fault = LgccFluid::read(&settings).err().unwrap();
        assert!(fault.to_string().contains("echo"), "{fault}");
    }
}
