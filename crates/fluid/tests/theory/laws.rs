//! Laws with known solutions.

use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Loop, ProtocolId};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, LinkInput, Number, PathAggregation, Quantity, SenderInput, State,
    link_law, sender_law,
};

pub(crate) const P: ProtocolId = ProtocolId(0);

/// With a small error and every discontinuity as the end of a step.
pub(crate) const EXACT: Accuracy = Accuracy {
    tolerance: 1e-9,
    longest_step: f64::INFINITY,
    track_discontinuities: true,
    hysteresis: true,
    max_steps: 1_000_000,
};

/// Equilibrium rate, such that disturbances do not make rates negative.
pub(crate) const BASE: f64 = 1000.0;

/// `x' = -a f`, where `f` is the sum of the links' signals; sends `BASE + x`.
pub(crate) struct Follow {
    pub(crate) a: f64,
    pub(crate) initial: f64,
}

impl FluidSender for Follow {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "excess", unit: "1", over_path: PathAggregation::Sum }];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", self.initial)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = -input.feedback[0] * self.a;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] + BASE
    }
}

/// Sends at a constant rate and uses no inputs.
pub(crate) struct Steady(pub(crate) f64);

impl FluidSender for Steady {
    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::from(self.0)
    }
}

/// The rate is the state, which changes at this rate. `GROWS`: also while the rate is not used.
pub(crate) struct Ramp<const GROWS: bool> {
    pub(crate) initial: f64,
    pub(crate) slope: f64,
}

impl<const GROWS: bool> FluidSender for Ramp<GROWS> {
    const GROWS_UNUSED: bool = GROWS;

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", self.initial)]
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::from(self.slope);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// Emits the arriving rate minus this rate.
pub(crate) struct Excess(pub(crate) f64);

impl FluidLink for Excess {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "excess", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = input.arriving - self.0;
    }
}

/// `x' = -a x(t - 1)`, `x = 1` before: half of the delay forward, half on the return path.
pub(crate) fn scalar(a: f64) -> Assembly {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e9, f64::INFINITY);
    network.add_router(link, P, link_law(Excess(BASE)));
    let sender = sender_law(Follow { a, initial: 1.0 });
    network.add(Loop::new("f", P, sender, 1.0).over(link, 0.5).always());
    Assembly::new(network).unwrap()
}

/// x of [`scalar`] at the end.
pub(crate) fn scalar_at(a: f64, until: f64, accuracy: Accuracy) -> f64 {
    *scalar(a).run(until, until, accuracy).unwrap().of(Entity::Loop(0), "x").last().unwrap()
}

/// The solution of [`scalar`], a polynomial in each unit of time (method of steps):
/// `sum over k of (-a)^k (t - k + 1)^k / k!` for all k with `t > k - 1`.
pub(crate) fn scalar_exactly(a: f64, t: f64) -> f64 {
    let (mut sum, mut factor, mut k) = (1.0, 1.0, 1.0);
    while t > k - 1.0 {
        factor *= -a / k;
        sum += factor * (t - k + 1.0_f64).powf(k);
        k += 1.0;
    }
    sum
}

/// `x' = rate (1 - p) - x / 2`, where `p` is the price of the path; sends `x`, at most `2 demand`.
pub(crate) struct Spring {
    pub(crate) rate: f64,
    pub(crate) demand: f64,
}

impl FluidSender for Spring {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "price", unit: "1", over_path: PathAggregation::Sum }];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", self.demand).within(0.0, 2.0 * self.demand)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = (-input.feedback[0] + 1.0) * self.rate - (x[0] - self.demand) * 0.5;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// `p' = gain (y - target)` with p >= 0.
pub(crate) struct Price {
    pub(crate) target: f64,
    pub(crate) gain: f64,
}

impl FluidLink for Price {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "price", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("price", "1", 0.0).within(0.0, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[0] = (input.arriving - self.target) * self.gain;
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }
}
