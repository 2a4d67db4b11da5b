//! Logistic growth as differential equations, which LGC and LGCC share: they differ in what the carrying capacity is.

use super::logistic::Form;
use super::marking::{ALPHA, Length};
use super::send_rate::{Control, INITIAL_WINDOW};
use super::step_size::StepSize;
use millpond_law::Settings;
use millpond_law::fluid::{Allocation, LoopFacts, Marginal, Number, PriceSum, SenderInput, State, greatest};

/// The settings of a sender.
#[derive(Clone, Copy)]
pub(crate) struct Growth {
    form: Form,
    /// Jumps to where (4) or (14) rest, as (15) says, rather than move there?
    jumps: bool,
    step_size: StepSize,
    alpha: f64,
    interval: Length,
    control: Control,
    /// In packets.
    initial_window: f64,
}

/// A sender of one loop, its carrying capacity given.
pub(crate) struct Grower {
    growth: Growth,
    /// In bits.
    packet: f64,
    /// The least rate, in bit/s.
    floor: f64,
}

/// Names of [`Grower::guards`].
pub(crate) const GUARDS: [&str; 2] = ["distance from the target less g1", "distance from the target less g2"];

impl Growth {
    pub(crate) fn read(settings: &Settings, form: Form, jumps: bool) -> Self {
        Self {
            form,
            jumps,
            step_size: StepSize::read(settings),
            alpha: settings.number(ALPHA.name),
            interval: Length::read(settings),
            control: Control::read(settings),
            initial_window: settings.number(INITIAL_WINDOW.name),
        }
    }

    pub(crate) fn sender(&self, facts: &LoopFacts) -> Grower {
        let floor = self.initial_window * facts.packet / facts.base_rtt;
        Grower { growth: *self, packet: facts.packet, floor }
    }

    /// Section VI-D: `U'(x) = -log_phi1(x / k)` is the price `-log_phi2(1 - p)`.
    pub(crate) fn allocation(&self, capacity: f64) -> Allocation {
        match self.control {
            Control::Rate => {
                let marginal = Box::new(Logistic { capacity, exponent: self.form.exponent() });
                Allocation::Utility { marginal, prices: PriceSum::Marked }
            }
            Control::Window | Control::PacedWindow => Allocation::Numeric {
                reason: "what windows hold beyond the pipe is the queue, so that marks depend on the pipe, too",
            },
        }
    }
}

impl Grower {
    /// The marking probability, the rate unless the law jumps, and what [`Self::lags`] needs.
    pub(crate) fn states(&self) -> Vec<State> {
        let marking = State::new("marking probability", "1", 0.0).within(0.0, 1.0);
        let rate = State::new("rate", "bit/s", self.floor).within(self.floor, f64::INFINITY);
        let counted = State::new("share of marks counted", "1", 0.0).within(0.0, 1.0);
        let (rate, counted) = ((!self.growth.jumps).then_some(rate), self.lags().then_some(counted));
        [Some(marking), rate, counted].into_iter().flatten().collect()
    }

    /// Marks are counted for an interval and a rate is held for one: later by an interval in the mean, which is a lag of
    /// one for a rate. A window has its own: in packets the queue follows it at once, here it follows with a lag of
    /// the round-trip time, since `x = W / rtt` fills it.
    fn lags(&self) -> bool {
        self.growth.control == Control::Rate
    }

    /// Line 8 of Algorithm 1: `p' = alpha (m - p)` per interval; a loss counts as a mark. Line 19: `x' = gamma x growth`
    /// per interval.
    pub(crate) fn derivative<T: Number>(&self, x: &[T], k: T, input: &SenderInput<'_, T>, dx: &mut [T]) {
        let Growth { form, step_size, alpha, interval, .. } = &self.growth;
        let pace = interval.per_second(input, self.packet);
        let mut counted = input.marked + input.lost - input.marked * input.lost;
        if let (true, Some(last)) = (self.lags(), x.len().checked_sub(1)) {
            dx[last] = (counted - x[last]) * pace;
            counted = x[last];
        }
        dx[0] = (counted - x[0]) * pace * *alpha;
        if !self.growth.jumps {
            let gamma = step_size.at(x[1], form.rest(k, x[0]));
            dx[1] = x[1] * gamma * form.growth(x[1], k, x[0]) * pace;
        }
    }

    /// x as the law has it, in bit/s.
    fn own_rate<T: Number>(&self, x: &[T], k: T) -> T {
        if self.growth.jumps { greatest(self.growth.form.rest(k, x[0]), T::from(self.floor)) } else { x[1] }
    }

    /// What is sent: x, or a window of x times the base RTT per RTT.
    pub(crate) fn rate<T: Number>(&self, x: &[T], k: T, input: &SenderInput<'_, T>) -> T {
        let rate = self.own_rate(x, k);
        match self.growth.control {
            Control::Rate => rate,
            Control::Window | Control::PacedWindow => rate / input.rtt() * input.base_rtt,
        }
    }

    pub(crate) fn guards<T: Number>(&self, x: &[T], k: T, guards: &mut [T]) {
        let target = self.growth.form.rest(k, x[0]);
        let distance = (self.own_rate(x, k) - target).abs() / target;
        for (guard, threshold) in guards.iter_mut().zip(self.growth.step_size.thresholds()) {
            *guard = distance - threshold;
        }
    }

    /// The least rate, in bit/s.
    pub(crate) fn floor(&self) -> f64 {
        self.floor
    }
}

/// `U'(x) = -ln(x / k) / eta`, as a price that `-ln(1 - p)` is: `x = k (1 - p)^eta`, at most k.
struct Logistic {
    capacity: f64,
    exponent: f64,
}

impl Marginal for Logistic {
    fn marginal(&self, rate: f64) -> f64 {
        libm::log(self.capacity / rate) / self.exponent
    }

    fn demand(&self, price: f64) -> f64 {
        self.capacity * libm::exp(-price * self.exponent)
    }
}
