//! Both forms as differential equations. Prices are in seconds: of the marks of queue `rem`, or queueing delay. Windows
//! are in packets; the packet senders' windows are at least one packet, here they may be smaller.

use super::params::{
    CONTROL, Control, DRAIN_EVERY, Gains, PHI, Params, ROUND_TRIP, RoundTrip, Utility, static_rate,
};
use millpond_law::Settings;
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, InputSet, LawState, LoopFacts, Marginal, Number, PriceSum,
    SenderInput, SenderLaws, State, exp, greatest, least, ln, ln_1p, sender_law,
};

/// Upper bound on the marking probability, for a finite price: six links that mark all but a hundredth.
const MOST_MARKED: f64 = 1.0 - 1e-12;

/// Lower bound on a rate in packets/s, a packet in 1000 s, for a finite marginal utility. The logarithm of a window whose rate is
/// lower grows at most with a time constant that is far above the resolution of times.
const LEAST_RATE: f64 = 1e-3;

/// `paganini-ecn`.
pub(super) struct MarksFluid {
    params: Params,
    /// x_max of (18) in bit/s; none: (24)-(25).
    max_rate: Option<f64>,
    log_phi: f64,
    /// Whether tau includes queueing.
    round_trip: RoundTrip,
}

/// `paganini-delay`.
pub(super) struct DelayFluid {
    params: Params,
    control: Control,
    /// Whether the queue is emptied periodically, so that all senders know their base round-trip time.
    drains: bool,
}

impl MarksFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            params: Params::read(settings),
            max_rate: static_rate(settings).map(|rate| rate.as_f64()),
            log_phi: libm::log(settings.get(PHI)),
            round_trip: settings.get(ROUND_TRIP),
        }
    }
}

impl DelayFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        let drains = !settings.get(DRAIN_EVERY).is_zero();
        Self { params: Params::read(settings), control: settings.get(CONTROL), drains }
    }
}

impl FluidModel for MarksFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (gains, log_phi) = (self.params.gains, self.log_phi);
        let source = Source::new(&self.params, facts);
        match (self.max_rate, self.round_trip) {
            (Some(max_rate), RoundTrip::Least) => {
                sender_law(StaticSource::<false> { gains, max_rate, log_phi })
            }
            (Some(max_rate), RoundTrip::Current) => {
                sender_law(StaticSource::<true> { gains, max_rate, log_phi })
            }
            (None, RoundTrip::Least) => sender_law(PrimalDual::<false> { source, log_phi }),
            (None, RoundTrip::Current) => sender_law(PrimalDual::<true> { source, log_phi }),
        }
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        let marginal: Box<dyn Marginal> = match self.max_rate {
            Some(max_rate) => {
                let slope = facts.base_rtt / self.params.gains.alpha;
                Box::new(Exponential { max_rate, slope: slope * self.log_phi })
            }
            None => Box::new(Source::new(&self.params, facts).logarithm(self.log_phi)),
        };
        Allocation::Utility { marginal, prices: PriceSum::Marked }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "the randomness of marks and the estimator's bias",
            "the estimator's lag, and the greatest price that its packets can represent",
            "the interval between changes of a window",
            "the cap on a window's change",
            "the least window of one packet",
            "the cut after a loss",
        ]
    }
}

impl FluidModel for DelayFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let source = Source::new(&self.params, facts);
        let distance = Distance { interval: self.params.interval.secs(), is_known: self.drains };
        match self.control {
            Control::Window => sender_law(DelayWindow { source, distance }),
            Control::Rate => sender_law(DelayRate { source, distance }),
        }
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        let marginal = Box::new(Source::new(&self.params, facts).logarithm(1.0));
        Allocation::Utility { marginal, prices: PriceSum::Plain }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "the interval between changes of a window",
            "the least window of one packet",
            "the cut after a loss",
        ]
    }
}

/// Parameters of all sources with states.
#[derive(Clone, Copy)]
struct Source {
    gains: Gains,
    utility: Utility,
    /// In packets.
    initial_window: f64,
    /// In bits.
    packet: f64,
}

impl Source {
    fn new(params: &Params, facts: &LoopFacts) -> Self {
        let utility = Utility { weight: params.utility.weight * facts.weight, ..params.utility };
        Self { gains: params.gains, utility, initial_window: params.initial_window, packet: facts.packet }
    }

    /// `beta (U'(x) - q)`, of a rate in packets/s.
    fn drift<T: Number>(&self, rate: T, price: T) -> T {
        let rate = greatest(rate, T::from(LEAST_RATE));
        (self.utility.marginal(rate) - price) * self.gains.beta
    }

    fn xi(&self) -> State {
        State::new("xi, logarithm of the window without a price", "1", libm::log(self.initial_window))
    }

    /// U' in bit/s, for a price of the price in seconds times `scale`.
    fn logarithm(&self, scale: f64) -> Logarithm {
        let weight = self.utility.weight * self.packet * scale;
        Logarithm { weight, offset: self.utility.offset * self.packet }
    }
}

/// The inverse of Eq. (36): `q = -log_phi(1 - P)`.
fn read_price<T: Number>(marked: T, log_phi: f64) -> T {
    ln_1p(-least(marked, T::from(MOST_MARKED))) / -log_phi
}

/// tau of (18), (24) and (25): the smallest round-trip time, or the present one.
fn tau<T: Number, const QUEUES: bool>(input: &SenderInput<'_, T>) -> T {
    if QUEUES { input.rtt() } else { T::from(input.base_rtt) }
}

/// The inputs of these laws.
const fn inputs_used(queues: bool) -> InputSet {
    InputSet { queueing: queues, ..InputSet::MARKS }
}

/// Eq. (18): `x = x_max exp(-alpha q / (M tau))`.
struct StaticSource<const QUEUES: bool> {
    gains: Gains,
    max_rate: f64,
    log_phi: f64,
}

impl<const QUEUES: bool> FluidSender for StaticSource<QUEUES> {
    const INPUTS: InputSet = inputs_used(QUEUES);

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let price = read_price(input.marked, self.log_phi);
        exp(price * -self.gains.alpha / tau::<T, QUEUES>(input)) * self.max_rate
    }
}

/// Eq. (24): `xi' = beta (U'(x) - q) / tau`; Eq. (25): `w = exp(xi - alpha q / (M tau))`, `x = w / tau`.
struct PrimalDual<const QUEUES: bool> {
    source: Source,
    log_phi: f64,
}

impl<const QUEUES: bool> PrimalDual<QUEUES> {
    /// In packets/s.
    fn packets<T: Number>(&self, xi: T, price: T, tau: T) -> T {
        exp(xi - price * self.source.gains.alpha / tau) / tau
    }
}

impl<const QUEUES: bool> FluidSender for PrimalDual<QUEUES> {
    const INPUTS: InputSet = inputs_used(QUEUES);

    fn states(&self) -> Vec<State> {
        vec![self.source.xi()]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        self.derivative_and_rate(x, input, dx);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        let price = read_price(input.marked, self.log_phi);
        self.packets(x[0], price, tau::<T, QUEUES>(input)) * self.source.packet
    }

    #[inline(always)]
    fn derivative_and_rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) -> T {
        let (price, tau) = (read_price(input.marked, self.log_phi), tau::<T, QUEUES>(input));
        let rate = self.packets(x[0], price, tau);
        dx[0] = self.source.drift(rate, price) / tau;
        rate * self.source.packet
    }
}

/// A delay-based sender's estimate of its base round-trip time: the smallest round-trip time so far. A sender that
/// joins at a standing queue overestimates it until the queue is shorter. The state is this error in seconds, the
/// second state of either law. The price is the queueing delay minus the error.
#[derive(Clone, Copy)]
struct Distance {
    /// T_s: time constant with which a shorter queue is recognized.
    interval: f64,
    /// Whether there is no error.
    is_known: bool,
}

impl Distance {
    const GUARD: &'static str = "queueing delay in the base RTT estimate";

    fn error() -> State {
        State::new("queueing delay in the base RTT estimate", "s", 0.0).within(0.0, f64::INFINITY)
    }

    /// The error decreases while the queueing delay is below it.
    fn slope<T: Number>(self, error: T, input: &SenderInput<'_, T>) -> T {
        least(input.queueing - error, T::from(0.0)) / self.interval
    }

    /// The estimate of q, in seconds: zero while the estimate of the base round-trip time decreases with the queue.
    fn price<T: Number>(error: T, input: &SenderInput<'_, T>) -> T {
        greatest(input.queueing - error, T::from(0.0))
    }

    /// The derivative of the estimate of q.
    fn price_slope<T: Number>(error: T, input: &SenderInput<'_, T>) -> T {
        if input.queueing >= error { input.queueing_slope } else { T::zero() }
    }

    /// After one interval, a sender that joined at a queue has a fixed error; one that joined at an empty queue has
    /// none.
    fn period(self, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        (x[1] == 0.0 && input.queueing > 0.0).then_some(self.interval)
    }
}

/// Eq. (39): `xi' = beta (U'(x) - q) / (d + q)`; Eq. (40): `x = exp(xi) / d (d / (d + q))^(alpha / M)`. U'(x) - q has the
/// estimate of q. d + q is measured, and d in (40) is constant. As in (41), a rate follows the derivative of the estimate
/// of q: where that differs from the derivative of d + q, xi compensates for the difference.
struct DelayRate {
    source: Source,
    distance: Distance,
}

impl DelayRate {
    /// In packets/s.
    fn packets<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        let stretch = ln(input.rtt() / input.base_rtt);
        exp(x[0] - stretch * self.source.gains.alpha) / input.base_rtt
    }
}

impl FluidSender for DelayRate {
    const INPUTS: InputSet = InputSet::QUEUEING;
    const GUARDS: &'static [&'static str] = &[Distance::GUARD];

    fn states(&self) -> Vec<State> {
        vec![self.source.xi(), Distance::error()]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let drift = self.source.drift(self.packets(x, input), Distance::price(x[1], input));
        let unpriced = input.queueing_slope - Distance::price_slope(x[1], input);
        dx[0] = (drift + unpriced * self.source.gains.alpha) / input.rtt();
        dx[1] = self.distance.slope(x[1], input);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.packets(x, input) * self.source.packet
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.queueing - x[1];
    }

    fn ticks(&self) -> bool {
        !self.distance.is_known
    }

    fn period(&self, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        self.distance.period(x, input)
    }

    fn tick(&self, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        state.x[1] = input.queueing;
    }
}

/// Eq. (43) in continuous time: `w' = w (beta (U'(x) - q) - alpha q' / M) / tau`, `x = w / tau`, `tau = d + q`, with
/// the estimate of q.
struct DelayWindow {
    source: Source,
    distance: Distance,
}

impl FluidSender for DelayWindow {
    const INPUTS: InputSet = InputSet::QUEUEING;
    const GUARDS: &'static [&'static str] = &[Distance::GUARD];

    fn states(&self) -> Vec<State> {
        let window = State::new("window", "packets", self.source.initial_window);
        vec![window.within(1e-6, f64::INFINITY), Distance::error()]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let rtt = input.rtt();
        let drift = self.source.drift(x[0] / rtt, Distance::price(x[1], input));
        let price_slope = Distance::price_slope(x[1], input);
        dx[0] = x[0] * (drift - price_slope * self.source.gains.alpha) / rtt;
        dx[1] = self.distance.slope(x[1], input);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt() * self.source.packet
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.queueing - x[1];
    }

    fn ticks(&self) -> bool {
        !self.distance.is_known
    }

    fn period(&self, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        self.distance.period(x, input)
    }

    fn tick(&self, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        state.x[1] = input.queueing;
    }
}

/// `U'(x) = K / (x + offset)`.
struct Logarithm {
    weight: f64,
    offset: f64,
}

impl Marginal for Logarithm {
    fn marginal(&self, rate: f64) -> f64 {
        self.weight / (rate + self.offset)
    }

    fn demand(&self, price: f64) -> f64 {
        (self.weight / price.max(0.0) - self.offset).max(0.0)
    }
}

/// `U'(x) = M d / alpha ln(x_max / x)`, of which (18) is the demand.
struct Exponential {
    max_rate: f64,
    /// M d / alpha.
    slope: f64,
}

impl Marginal for Exponential {
    fn marginal(&self, rate: f64) -> f64 {
        self.slope * libm::log(self.max_rate / rate)
    }

    fn demand(&self, price: f64) -> f64 {
        self.max_rate * libm::exp(-price / self.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paganini::params::{DELAY, MARKS};
    use crate::testing::fluid::{PACKET, flow, inputs, marginal, near, one_loop, slope_by_marking};
    use millpond_law::Value;
    use millpond_law::key::Keys;

    const D: f64 = 0.04;

    fn settings(of: Keys, written: &[(&'static str, Value)]) -> Settings {
        Settings::check(of, written.iter().cloned()).unwrap()
    }

    fn marks(written: &[(&'static str, Value)]) -> MarksFluid {
        MarksFluid::read(&settings(MARKS, written))
    }

    fn delay(written: &[(&'static str, Value)]) -> DelayFluid {
        DelayFluid::read(&settings(DELAY, written))
    }

    /// The marking probability for this price, phi = 1e6.
    fn marked(price: f64) -> f64 {
        1.0 - libm::pow(1e6, -price)
    }

    #[test]
    fn the_static_rate_decreases_exponentially_with_the_price_and_equals_the_demand() {
        let model = marks(&[("law", Value::text("dual")), ("alpha", Value::Number(1.0))]);
        let senders = model.sender(&one_loop(0.1));
        // q = .1386 s on a path of .1 s: exp(-1.386) = 1/4 of 100 Mbit/s.
        let price = 0.1 * libm::log(4.0);
        let (_, rate) = flow(&*senders, &[], &inputs(&*senders, 0.1, |i| i.marked[0] = marked(price)));
        assert!(near(rate, 25e6), "{rate}");
        let utility = marginal(model.allocation(&one_loop(0.1)));
        let path = price * libm::log(1e6);
        assert!(near(utility.demand(path), 25e6) && near(utility.marginal(25e6), path));
        assert!(near(utility.demand(0.0), 100e6));
    }

    #[test]
    fn the_gain_of_the_rate_by_the_price_is_that_of_equation_15() {
        // dx/dq = -alpha x / (M d); dq/dP = 1 / ((1 - P) ln phi).
        for (written, x) in [(vec![("law", Value::text("dual"))], vec![]), (vec![], vec![3.0])] {
            let model = marks(&written);
            let senders = model.sender(&one_loop(D));
            let p = marked(0.02);
            let (_, rate) = flow(&*senders, &x, &inputs(&*senders, D, |i| i.marked[0] = p));
            let theory = -0.37 * rate / D / ((1.0 - p) * libm::log(1e6));
            assert!(near(slope_by_marking(&*senders, &x, D, p), theory));
        }
    }

    #[test]
    fn the_primal_dual_law_starts_with_the_ramp_and_has_its_equilibrium_where_utility_and_price_agree() {
        let senders = marks(&[]).sender(&one_loop(D));
        let start = senders.states(0)[0].initial;
        let (dx, rate) = flow(&*senders, &[start], &inputs(&*senders, D, |_| {}));
        assert!(near(rate, PACKET / D));
        // beta K / tau = 1475 packets/s^2 at 40 ms.
        assert!(near(dx[0] * rate / PACKET, 1475.0), "{}", dx[0] * rate / PACKET);
        // Stage 1 of Fig. 5: q = 6.7368 ms, w = 296.88.
        let (price, window) = (0.0067368421, 296.875_f64);
        let xi = libm::log(window) + 0.37 * price / D;
        let (dx, rate) = flow(&*senders, &[xi], &inputs(&*senders, D, |i| i.marked[0] = marked(price)));
        assert!((rate / PACKET - 7421.875).abs() < 1e-3 && dx[0].abs() < 1e-6, "{rate} {dx:?}");
    }

    #[test]
    fn in_equilibrium_the_rate_is_k_over_price_at_any_round_trip_time() {
        let utility = marginal(marks(&[]).allocation(&one_loop(0.2)));
        assert!((utility.demand(0.0067368421 * libm::log(1e6)) / PACKET - 7421.875).abs() < 1e-3);
        assert_eq!(utility.demand(0.0), f64::INFINITY);
        let shifted = marginal(marks(&[("utility", Value::text("shifted-log"))]).allocation(&one_loop(0.2)));
        // K / offset = .5 s is the price at which the rate is zero.
        assert!(near(shifted.marginal(0.0), 0.5 * libm::log(1e6)));
        assert_eq!(shifted.demand(shifted.marginal(0.0) * 1.01), 0.0);
    }

    #[test]
    fn a_weight_multiplies_k_in_both_forms() {
        let facts = LoopFacts { weight: 2.0, ..one_loop(D) };
        let forms: [Box<dyn FluidModel>; 2] = [Box::new(marks(&[])), Box::new(delay(&[]))];
        for (model, scale) in forms.into_iter().zip([libm::log(1e6), 1.0]) {
            // K / x with K = 100 packets.
            let price = marginal(model.allocation(&facts)).marginal(1e4 * PACKET) / scale;
            assert!(near(price, 0.01), "{price}");
        }
        let windows = delay(&[]).sender(&facts);
        let seen = inputs(&*windows, D, |i| i.queueing[0] = 0.025);
        let (dx, _) = flow(&*windows, &[100.0 / 0.025 * 0.065, 0.0], &seen);
        assert!(dx[0].abs() < 1e-9, "{dx:?}");
    }

    #[test]
    fn both_delay_forms_have_k_queued_packets_at_equilibrium() {
        let (queueing, rtt) = (0.025, 0.065);
        let rate = 50.0 / queueing;
        let at = |inputs: &mut millpond_law::fluid::SenderInputs| inputs.queueing[0] = queueing;
        let windows = delay(&[]).sender(&one_loop(D));
        let (dx, sent) = flow(&*windows, &[rate * rtt, 0.0], &inputs(&*windows, D, at));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9);
        let rates = delay(&[("control", Value::text("rate"))]).sender(&one_loop(D));
        let xi = libm::log(rate * D) + 0.37 * libm::log(rtt / D);
        let (dx, sent) = flow(&*rates, &[xi, 0.0], &inputs(&*rates, D, at));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9, "{sent} {dx:?}");
    }

    #[test]
    fn a_sender_that_joined_at_a_queue_has_a_larger_share_until_the_queue_is_shorter() {
        // x = K / (q - delta): with q = 25 ms, of which 10 ms were present on joining.
        let (queueing, error, rtt) = (0.025, 0.01, 0.065);
        let rate = 50.0 / (queueing - error);
        let windows = delay(&[]).sender(&one_loop(D));
        let seen = |queueing: f64| inputs(&*windows, D, |i| i.queueing[0] = queueing);
        let (dx, sent) = flow(&*windows, &[rate * rtt, error], &seen(queueing));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9 && dx[1] == 0.0, "{sent} {dx:?}");
        let rates = delay(&[("control", Value::text("rate"))]).sender(&one_loop(D));
        let xi = libm::log(rate * D) + 0.37 * libm::log(rtt / D);
        let (dx, sent) = flow(&*rates, &[xi, error], &seen(queueing));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9 && dx[1] == 0.0, "{sent} {dx:?}");
        let (dx, _) = flow(&*windows, &[rate * rtt, error], &seen(0.008));
        assert!(near(dx[1], -0.002 / 0.01), "{dx:?}");
    }

    /// A sender subtracts its base round-trip time from each sample. While each sample is the smallest so far, the price is
    /// zero and does not change: a window grows by beta K, and a rate by beta K / tau, per second.
    #[test]
    fn a_queue_below_the_base_rtt_estimate_is_no_price_and_its_decrease_is_no_decrease_of_the_price() {
        let (error, slope) = (0.03, -0.5);
        let with = |senders: &dyn SenderLaws, queueing: f64| {
            inputs(senders, D, |i| (i.queueing[0], i.queueing_slope[0]) = (queueing, slope))
        };
        let windows = delay(&[]).sender(&one_loop(D));
        let (dx, _) = flow(&*windows, &[100.0, error], &with(&*windows, 0.02));
        assert!(near(dx[0], 1.18 * 50.0), "{dx:?}");
        // Above the estimate the queue counts: alpha times the derivative, and the price of 10 ms.
        let (dx, _) = flow(&*windows, &[100.0, error], &with(&*windows, 0.04));
        assert!(near(dx[0], 100.0 / 0.08 * (1.18 * (50.0 * 0.08 / 100.0 - 0.01) + 0.37 * 0.5)), "{dx:?}");

        let rates = delay(&[("control", Value::text("rate"))]).sender(&one_loop(D));
        for (queueing, price, moving) in [(0.02, 0.0, 0.0), (0.04, 0.01, slope)] {
            let (dx, before) = flow(&*rates, &[5.0, error], &with(&*rates, queueing));
            let step = 1e-7;
            let later = [5.0 + dx[0] * step, error + dx[1] * step];
            let (_, after) = flow(&*rates, &later, &with(&*rates, queueing + slope * step));
            let x = before / PACKET;
            let theory = x / (D + queueing) * (1.18 * (50.0 / x - price) - 0.37 * moving);
            assert!(((after - before) / PACKET / step / theory - 1.0).abs() < 1e-5, "{queueing}");
        }
    }

    #[test]
    fn a_queue_on_joining_increases_the_base_rtt_estimate_unless_it_is_drained() {
        for control in ["window", "rate"] {
            let chosen = ("control", Value::text(control));
            let senders = delay(std::slice::from_ref(&chosen)).sender(&one_loop(D));
            let start: Vec<f64> = senders.states(0).iter().map(|state| state.initial).collect();
            let with_queue = inputs(&*senders, D, |i| i.queueing[0] = 0.02);
            assert_eq!(senders.period(0, &start, &with_queue.flow(0)), Some(0.01));
            let mut x = start.clone();
            senders.tick(0, &mut LawState { x: &mut x, discrete: &mut [] }, &with_queue.flow(0));
            assert_eq!((x[1], senders.period(0, &x, &with_queue.flow(0))), (0.02, None));
            let sends = |x: &[f64]| flow(&*senders, x, &with_queue).1;
            assert!(near(sends(&x), sends(&start)));
            let nothing = inputs(&*senders, D, |_| {});
            assert_eq!(senders.period(0, &start, &nothing.flow(0)), None);
            let drained = delay(&[chosen, ("drain_every", Value::text("10s"))]).sender(&one_loop(D));
            assert!(senders.ticks(0) && !drained.ticks(0));
        }
    }

    #[test]
    fn a_window_changes_as_in_the_packet_law_with_a_short_interval() {
        use crate::paganini::law::{Delays, next_window};
        let written = [("interval", Value::text("10us"))];
        let params = Params::read(&settings(DELAY, &written));
        let (price, slope) = (0.01, 0.5);
        let delays = Delays { price, last_price: price - slope * 1e-5, rtt: D + price };
        let step = (next_window(&params, 100.0, delays) - 100.0) / 1e-5;
        let senders = delay(&written).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| (i.queueing[0], i.queueing_slope[0]) = (price, slope));
        let (dx, _) = flow(&*senders, &[100.0, 0.0], &seen);
        assert!((dx[0] / step - 1.0).abs() < 1e-6, "{} {step}", dx[0]);
    }

    #[test]
    fn tau_includes_queueing_if_it_is_the_current_round_trip_time() {
        const CURRENT: (&str, Value) = ("round_trip", Value::text("current"));
        const DUAL: (&str, Value) = ("law", Value::text("dual"));
        let (price, queueing) = (0.02, 0.01);
        let at = |written: &[(&'static str, Value)], x: &[f64], base_rtt: f64, queueing: f64| {
            let senders = marks(written).sender(&one_loop(base_rtt));
            let seen = inputs(&*senders, base_rtt, |i| {
                (i.marked[0], i.queueing[0]) = (marked(price), queueing);
            });
            flow(&*senders, x, &seen)
        };
        // The queue counts as base round-trip time, and has no effect on a law that knows d.
        assert_eq!(at(&[DUAL, CURRENT], &[], D, queueing), at(&[DUAL], &[], D + queueing, 0.0));
        assert_eq!(at(&[CURRENT], &[3.0], D, queueing), at(&[], &[3.0], D + queueing, 0.0));
        assert_eq!(at(&[], &[3.0], D, queueing), at(&[], &[3.0], D, 0.0));
    }

    #[test]
    fn marks_on_every_packet_have_a_finite_price() {
        let senders = marks(&[]).sender(&one_loop(D));
        let (dx, rate) = flow(&*senders, &[0.0], &inputs(&*senders, D, |i| i.marked[0] = 1.0));
        assert!(dx[0].is_finite() && rate > 0.0);
    }
}
