//! Logistic growth as differential equations, which LGC and LGCC share: they differ in what the carrying capacity is.

use super::logistic::Form;
use super::marking::{ALPHA, Length};
use super::send_rate::{Control, INITIAL_WINDOW};
use super::step_size::StepSize;
use millpond_law::Settings;
use millpond_law::fluid::{
    Allocation, LoopFacts, Marginal, Number, PriceSum, SenderInput, State, greatest, positive,
};

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
    chained: bool,
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
        Grower { growth: *self, packet: facts.packet, floor, chained: facts.chained }
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
    /// The marking probability, the rate unless the law jumps, and marks on their way to it. These need no bounds: what lags
    /// behind a share is one.
    pub(crate) fn states(&self) -> Vec<State> {
        let share = |name| State::new(name, "1", 0.0);
        let rate = State::new("rate", "bit/s", self.floor).within(self.floor, f64::INFINITY);
        let rate = (!self.growth.jumps).then_some(rate);
        let marking = share("marking probability").within(0.0, 1.0);
        let lags = ["share of marks counted", "share of marks in force"].map(share);
        std::iter::once(marking).chain(rate).chain(lags.into_iter().take(self.lags())).collect()
    }

    fn is_paced(&self) -> bool {
        self.growth.control == Control::Rate
    }

    /// How many lags of half an interval there are between marks and the estimate. Marks are counted for an interval, and a
    /// pace that follows is held for one. A window acts as soon as it is set, and a round ends with the word of its own
    /// packets; of other intervals packets show that half of one is left (lgcc/stability).
    fn lags(&self) -> usize {
        match self.growth.interval {
            _ if self.is_paced() => 2,
            Length::Round => 0,
            _ => 1,
        }
    }

    /// Line 8 of Algorithm 1: `p' = alpha (m - p)` per interval; a loss counts as a mark. Line 19: `x' = gamma x growth`
    /// per interval.
    pub(crate) fn derivative<T: Number>(&self, x: &[T], k: T, input: &SenderInput<'_, T>, dx: &mut [T]) {
        let Growth { alpha, interval, .. } = &self.growth;
        let pace = interval.per_second(input, self.packet);
        let mut marks = input.marked + input.lost - input.marked * input.lost;
        for lag in x.len() - self.lags()..x.len() {
            dx[lag] = (marks - x[lag]) * pace * 2.0;
            marks = x[lag];
        }
        dx[0] = (marks - x[0]) * pace * *alpha;
        if !self.growth.jumps {
            dx[1] = self.slope(x, k, input);
        }
    }

    /// x', the carrying capacity standing still where the law jumps.
    fn slope<T: Number>(&self, x: &[T], k: T, input: &SenderInput<'_, T>) -> T {
        let Growth { form, jumps, step_size, alpha, interval, .. } = &self.growth;
        let pace = interval.per_second(input, self.packet);
        if *jumps {
            let marking = (x[x.len() - 1] - x[0]) * pace * *alpha;
            return -form.rest(k, x[0]) * marking * form.exponent() / (-x[0] + 1.0);
        }
        let gamma = step_size.at(x[1], form.rest(k, x[0]));
        x[1] * gamma * form.growth(x[1], k, x[0]) * pace
    }

    /// x as the law has it, in bit/s.
    fn own_rate<T: Number>(&self, x: &[T], k: T) -> T {
        if self.growth.jumps { greatest(self.growth.form.rest(k, x[0]), T::from(self.floor)) } else { x[1] }
    }

    /// What is sent: x; or a window W of x times the base RTT T, by its acknowledgements: what they make room for, W / RTT of
    /// a base RTT ago, and W' beside it. So the queue is what windows exceed the pipe by, as it is in packets. The RTT
    /// told is of then; the W of then is W - T W'.
    ///
    /// Of a chain it is W / RTT alone: there x' follows what the next loop sends, which is what this one sends while the
    /// relay is dry, and a jump in W' would come back as one, again and again.
    pub(crate) fn rate<T: Number>(&self, x: &[T], k: T, input: &SenderInput<'_, T>) -> T {
        let rate = self.own_rate(x, k);
        match self.growth.control {
            Control::Rate => rate,
            Control::Window | Control::PacedWindow if self.chained => rate / input.rtt() * input.base_rtt,
            Control::Window | Control::PacedWindow => {
                let slope = self.slope(x, k, input);
                let stays = rate <= T::from(self.floor) && slope < T::zero();
                let grows = if stays { T::zero() } else { slope };
                let (window, rtt) = (rate * input.base_rtt, input.rtt());
                let grows = grows * input.base_rtt;
                positive((window - grows * input.base_rtt) / rtt + grows)
            }
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
