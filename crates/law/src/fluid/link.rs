//! A law at a link as differential equations: a protocol's router, or a queue law.

use super::{Number, Quantity, Rest, State};

/// What a link's law sees at this moment.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a, T> {
    /// The capacity that it is told, in bit/s.
    pub capacity: f64,
    /// What arrives, of all protocols, in bit/s.
    pub arriving: T,
    /// What arrives of its own protocol, in bit/s.
    pub own: T,
    /// The queue, in bits: the engine's own.
    pub queue: T,
    /// What its own protocol's senders carry, each the sum over their flows.
    pub carried: &'a [T],
}

impl<T: Number> LinkInput<'_, T> {
    /// Arriving rate over capacity.
    pub fn load(&self) -> T {
        self.arriving / self.capacity
    }
}

/// A law at one link. All functions are pure; see [`FluidSender`](super::FluidSender) for guards and clocks.
///
/// A protocol's router says its `SIGNALS` to the senders of its own protocol; a queue law's only signal is the
/// probability with which it marks or drops.
pub trait FluidLink: Send + Sync + Sized + 'static {
    /// What it says.
    const SIGNALS: &'static [Quantity];
    /// Its switching functions, in words.
    const GUARDS: &'static [&'static str] = &[];

    /// Its states; none for a static law.
    fn states(&self) -> Vec<State>;

    /// The derivatives of the states, per second, bounds disregarded.
    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]);

    /// [`FluidLink::SIGNALS`], in that order.
    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]);

    /// What this link rests at when it is a bottleneck.
    fn rest(&self) -> Rest {
        Rest::default()
    }

    /// [`FluidLink::GUARDS`], in that order.
    fn guards<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _guards: &mut [T]) {}

    /// A guard has changed its sign: the states may jump.
    fn crossed(&self, _guard: usize, _is_rising: bool, _x: &mut [f64], _input: &LinkInput<'_, f64>) {}

    /// Seconds until the next [`tick`](Self::tick), asked at the start and at each tick; none: never.
    fn period(&self, _x: &[f64], _input: &LinkInput<'_, f64>) -> Option<f64> {
        None
    }

    /// The clock has struck: the states may jump.
    fn tick(&self, _x: &mut [f64], _input: &LinkInput<'_, f64>) {}
}
