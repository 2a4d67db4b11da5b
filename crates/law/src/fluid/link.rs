//! A law at a link as differential equations: the router of a protocol, or a queue law.

use super::{LawState, LinkEquilibrium, Number, Quantity, State};
use alloc::vec::Vec;

/// The inputs of a law at a link, without delay.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a, T> {
    /// Capacity of the link, in bit/s.
    pub capacity: f64,
    /// Arriving rate of all protocols, in bit/s.
    pub arriving: T,
    /// Arriving rate of the law's own protocol, in bit/s. For a queue law: of all protocols.
    pub own_arriving: T,
    /// Queue length in bits, a state of the engine.
    pub queue: T,
    /// The quantities that senders of the law's own protocol carry, each summed over their flows.
    pub carried: &'a [T],
    /// The law's own discrete states, in the order of [`FluidLink::DISCRETE`]; at an event, their values before it.
    pub discrete: &'a [u64],
}

impl<T: Number> LinkInput<'_, T> {
    /// Arriving rate over capacity.
    pub fn load(&self) -> T {
        self.arriving / self.capacity
    }
}

/// The equations of one law at one link. All functions are pure; see [`FluidSender`](super::FluidSender) for guards,
/// ticks and discrete states.
///
/// The router of a protocol emits its `SIGNALS` to the senders of the same protocol. A queue law has one signal: the
/// probability with which it marks or drops.
pub trait FluidLink: Send + Sync + Sized + 'static {
    /// The signals that it emits.
    const SIGNALS: &'static [Quantity];
    /// Names of its switching functions.
    const GUARDS: &'static [&'static str] = &[];
    /// Names and units of its discrete states, such as modes and counts; none by default.
    const DISCRETE: &'static [Quantity] = &[];

    /// The states; empty for a static law.
    fn states(&self) -> Vec<State>;

    /// Writes the initial values of [`FluidLink::DISCRETE`], in that order; all are zero before.
    fn initial_discrete(&self, _discrete: &mut [u64]) {}

    /// The derivatives of the states per second, without regard to bounds.
    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]);

    /// The values of [`FluidLink::SIGNALS`], in that order.
    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]);

    /// The equilibrium of this link if it is a bottleneck.
    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium::default()
    }

    /// The values of [`FluidLink::GUARDS`], in that order.
    fn guards<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _guards: &mut [T]) {}

    /// Called when a guard has changed its sign; the states may jump.
    fn crossed(
        &self,
        _guard: usize,
        _is_rising: bool,
        _state: &mut LawState<'_>,
        _input: &LinkInput<'_, f64>,
    ) {
    }

    /// Whether [`period`](Self::period) returns a time for any states and inputs; otherwise it is not evaluated. Fixed steps
    /// refuse such laws.
    fn ticks(&self) -> bool {
        false
    }

    /// Seconds until the next [`tick`](Self::tick), evaluated at the start and after each tick; none if there is no next
    /// tick.
    fn period(&self, _x: &[f64], _input: &LinkInput<'_, f64>) -> Option<f64> {
        None
    }

    /// Called when the period has passed; the states may jump.
    fn tick(&self, _state: &mut LawState<'_>, _input: &LinkInput<'_, f64>) {}
}
