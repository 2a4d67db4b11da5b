//! Both forms as differential equations. Prices are in seconds: of the marks of queue `rem`, or queueing delay. Windows
//! are in packets; those of the packet world are at least one, here they may be less.

use super::law::{Gains, Utility};
use super::params::{Control, Params, control};
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, Hears, LoopFacts, Marginal, Number, PriceSum, SenderInput, Senders,
    State, greatest, least, sender_piece,
};
use millpond_law::{SettingError, Settings};

/// Marks stand for a finite price: of six links that mark all but a hundredth.
const MOST_MARKED: f64 = 1.0 - 1e-12;

/// In packets/s: a rate that a price has made nothing of wants more of it by a finite amount.
const LEAST_RATE: f64 = 1e-9;

/// `paganini-ecn`.
pub(super) struct MarksFluid {
    params: Params,
    /// x_max of (18) in bit/s; none: (24)-(25).
    max_rate: Option<f64>,
    log_phi: f64,
}

/// `paganini-delay`.
pub(super) struct DelayFluid {
    params: Params,
    control: Control,
}

impl MarksFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let is_static = settings.word("law") == "dual";
        Ok(Self {
            params: Params::read(settings)?,
            max_rate: is_static.then(|| settings.rate("max_rate").as_f64()),
            log_phi: libm::log(settings.number("phi")),
        })
    }
}

impl DelayFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { params: Params::read(settings)?, control: control(settings) })
    }
}

impl FluidModel for MarksFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn Senders> {
        let (gains, log_phi) = (self.params.gains, self.log_phi);
        match self.max_rate {
            Some(max_rate) => sender_piece(Static { gains, max_rate, log_phi }),
            None => sender_piece(PrimalDual { source: Source::new(&self.params, facts), log_phi }),
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
}

impl FluidModel for DelayFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn Senders> {
        let source = Source::new(&self.params, facts);
        match self.control {
            Control::Window => sender_piece(DelayWindow(source)),
            Control::Rate => sender_piece(DelayRate(source)),
        }
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        let marginal = Box::new(Source::new(&self.params, facts).logarithm(1.0));
        Allocation::Utility { marginal, prices: PriceSum::Plain }
    }
}

/// What all moving sources have.
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
    fn pull<T: Number>(&self, rate: T, price: T) -> T {
        let rate = greatest(rate, T::from(LEAST_RATE));
        (self.utility.marginal(rate) - price) * self.gains.beta
    }

    fn xi(&self) -> State {
        State::new("xi, logarithm of the window without a price", "1", libm::log(self.initial_window))
    }

    /// U' in bit/s, of a price that is the one in seconds times `scale`.
    fn logarithm(&self, scale: f64) -> Logarithm {
        let weight = self.utility.weight * self.packet * scale;
        Logarithm { weight, offset: self.utility.offset * self.packet }
    }
}

/// Eq. (36) undone: `q = -log_phi(1 - P)`.
fn read_price<T: Number>(marked: T, log_phi: f64) -> T {
    (-least(marked, T::from(MOST_MARKED))).ln_1p() / -log_phi
}

/// Eq. (18): `x = x_max exp(-alpha q / (M d))`.
struct Static {
    gains: Gains,
    max_rate: f64,
    log_phi: f64,
}

impl FluidSender for Static {
    const HEARS: Hears = Hears::MARKS;

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let price = read_price(input.marked, self.log_phi);
        (price * (-self.gains.alpha / input.base_rtt)).exp() * self.max_rate
    }
}

/// Eq. (24): `xi' = beta (U'(x) - q) / d`; Eq. (25): `w = exp(xi - alpha q / (M d))`, `x = w / d`.
struct PrimalDual {
    source: Source,
    log_phi: f64,
}

impl PrimalDual {
    /// In packets/s.
    fn packets<T: Number>(&self, xi: T, price: T, base_rtt: f64) -> T {
        (xi - price * (self.source.gains.alpha / base_rtt)).exp() / base_rtt
    }
}

impl FluidSender for PrimalDual {
    const HEARS: Hears = Hears::MARKS;

    fn states(&self) -> Vec<State> {
        vec![self.source.xi()]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        self.move_and_send(x, input, dx);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        let price = read_price(input.marked, self.log_phi);
        self.packets(x[0], price, input.base_rtt) * self.source.packet
    }

    fn move_and_send<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) -> T {
        let price = read_price(input.marked, self.log_phi);
        let rate = self.packets(x[0], price, input.base_rtt);
        dx[0] = self.source.pull(rate, price) / input.base_rtt;
        rate * self.source.packet
    }
}

/// Eq. (39): `xi' = beta (U'(x) - q) / (d + q)`; Eq. (40): `x = exp(xi) / d (d / (d + q))^(alpha / M)`.
struct DelayRate(Source);

impl DelayRate {
    /// In packets/s.
    fn packets<T: Number>(&self, xi: T, input: &SenderInput<'_, T>) -> T {
        let stretch = (input.rtt() / input.base_rtt).ln();
        (xi - stretch * self.0.gains.alpha).exp() / input.base_rtt
    }
}

impl FluidSender for DelayRate {
    const HEARS: Hears = Hears::QUEUEING;

    fn states(&self) -> Vec<State> {
        vec![self.0.xi()]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = self.0.pull(self.packets(x[0], input), input.queueing) / input.rtt();
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.packets(x[0], input) * self.0.packet
    }
}

/// Eq. (43) in continuous time: `w' = w (beta (U'(x) - q) - alpha q' / M) / tau`, `x = w / tau`, `tau = d + q`.
struct DelayWindow(Source);

impl FluidSender for DelayWindow {
    const HEARS: Hears = Hears::QUEUEING;

    fn states(&self) -> Vec<State> {
        vec![State::new("window", "packets", self.0.initial_window).within(1e-6, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let rtt = input.rtt();
        let pull = self.0.pull(x[0] / rtt, input.queueing);
        dx[0] = x[0] * (pull - input.queueing_slope * self.0.gains.alpha) / rtt;
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt() * self.0.packet
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
    use crate::testing::fluid::{PACKET, answer_to_marks, flow, inputs, marginal, near, one_loop};
    use millpond_law::{Parameter, Value};

    const D: f64 = 0.04;

    fn settings(of: &'static [Parameter], written: &[(&'static str, Value)]) -> Settings {
        Settings::check(of, written.iter().cloned()).unwrap()
    }

    fn marks(written: &[(&'static str, Value)]) -> MarksFluid {
        MarksFluid::read(&settings(MARKS, written)).unwrap()
    }

    fn delay(written: &[(&'static str, Value)]) -> DelayFluid {
        DelayFluid::read(&settings(DELAY, written)).unwrap()
    }

    /// Marks that stand for this price, phi = 1e6.
    fn marked(price: f64) -> f64 {
        1.0 - libm::pow(1e6, -price)
    }

    #[test]
    fn the_static_law_backs_off_exponentially_and_its_demand_is_its_rate() {
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
    fn a_price_answers_with_the_gain_of_equation_15() {
        // dx/dq = -alpha x / (M d); dq/dP = 1 / ((1 - P) ln phi).
        for (written, x) in [(vec![("law", Value::text("dual"))], vec![]), (vec![], vec![3.0])] {
            let model = marks(&written);
            let senders = model.sender(&one_loop(D));
            let p = marked(0.02);
            let (_, rate) = flow(&*senders, &x, &inputs(&*senders, D, |i| i.marked[0] = p));
            let theory = -0.37 * rate / D / ((1.0 - p) * libm::log(1e6));
            assert!(near(answer_to_marks(&*senders, &x, D, p), theory));
        }
    }

    #[test]
    fn the_primal_dual_law_starts_with_the_ramp_and_rests_where_utility_and_price_agree() {
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
    fn in_equilibrium_the_rate_is_k_over_price_whatever_the_round_trip() {
        let utility = marginal(marks(&[]).allocation(&one_loop(0.2)));
        assert!((utility.demand(0.0067368421 * libm::log(1e6)) / PACKET - 7421.875).abs() < 1e-3);
        assert_eq!(utility.demand(0.0), f64::INFINITY);
        let shifted = marginal(marks(&[("utility", Value::text("shifted-log"))]).allocation(&one_loop(0.2)));
        // K / offset = .5 s is the price at which nothing is sent.
        assert!(near(shifted.marginal(0.0), 0.5 * libm::log(1e6)));
        assert_eq!(shifted.demand(shifted.marginal(0.0) * 1.01), 0.0);
    }

    #[test]
    fn both_delay_forms_rest_where_k_packets_wait() {
        let (queueing, rtt) = (0.025, 0.065);
        let rate = 50.0 / queueing;
        let at = |inputs: &mut millpond_law::fluid::SenderInputs| inputs.queueing[0] = queueing;
        let windows = delay(&[]).sender(&one_loop(D));
        let (dx, sent) = flow(&*windows, &[rate * rtt], &inputs(&*windows, D, at));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9);
        let rates = delay(&[("control", Value::text("rate"))]).sender(&one_loop(D));
        let xi = libm::log(rate * D) + 0.37 * libm::log(rtt / D);
        let (dx, sent) = flow(&*rates, &[xi], &inputs(&*rates, D, at));
        assert!(near(sent / PACKET, rate) && dx[0].abs() < 1e-9, "{sent} {dx:?}");
    }

    #[test]
    fn a_window_takes_what_the_packet_law_takes_in_a_short_interval() {
        use crate::paganini::law::{Delays, next_window};
        let written = [("interval", Value::text("10us"))];
        let params = Params::read(&settings(DELAY, &written)).unwrap();
        let (price, slope) = (0.01, 0.5);
        let delays = Delays { price, last_price: price - slope * 1e-5, rtt: D + price };
        let step = (next_window(&params, 100.0, delays) - 100.0) / 1e-5;
        let senders = delay(&written).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| (i.queueing[0], i.queueing_slope[0]) = (price, slope));
        let (dx, _) = flow(&*senders, &[100.0], &seen);
        assert!((dx[0] / step - 1.0).abs() < 1e-6, "{} {step}", dx[0]);
    }

    #[test]
    fn marks_on_every_packet_have_a_finite_price() {
        let senders = marks(&[]).sender(&one_loop(D));
        let (dx, rate) = flow(&*senders, &[0.0], &inputs(&*senders, D, |i| i.marked[0] = 1.0));
        assert!(dx[0].is_finite() && rate > 0.0);
    }
}
