//! The sender of one loop as differential equations.

use super::{DownstreamFeedback, Number, UpstreamFeedback};
use alloc::vec::Vec;

/// A state of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Name in plain words (`"rate factor"`).
    pub name: &'static str,
    /// Unit as printed: `"bit/s"`, `"s"`, `"1"`.
    pub unit: &'static str,
    /// Initial value.
    pub initial: f64,
    /// Lower bound: the engine holds the state there while its derivative is negative.
    pub lower: f64,
    /// Upper bound: the engine holds the state there while its derivative is positive.
    pub upper: f64,
}

impl State {
    /// A state without bounds.
    pub const fn new(name: &'static str, unit: &'static str, initial: f64) -> Self {
        Self { name, unit, initial, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }

    /// The same state with bounds; the initial value is moved between them.
    #[must_use]
    pub const fn within(self, lower: f64, upper: f64) -> Self {
        Self { initial: self.initial.max(lower).min(upper), lower, upper, ..self }
    }
}

/// The states of a law at an event, which may change them.
#[derive(Debug)]
pub struct LawState<'a> {
    /// The states, which follow their derivatives between events.
    pub x: &'a mut [f64],
    /// The discrete states, which are constant between events.
    pub discrete: &'a mut [u64],
}

/// A quantity with its name and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name in plain words.
    pub name: &'static str,
    /// Unit as printed.
    pub unit: &'static str,
}

/// How the signals of the links on a path become one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAggregation {
    /// The sum, for prices.
    Sum,
    /// The minimum, for permitted rates.
    Min,
    /// The maximum, for loads.
    Max,
    /// `1 - prod(1 - p)`, for marking probabilities.
    Marked,
}

/// One feedback that a sender receives from the links of its own protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Name in plain words.
    pub name: &'static str,
    /// Unit as printed.
    pub unit: &'static str,
    /// How the signals of the path's links become one value.
    pub over_path: PathAggregation,
}

/// The parts of [`SenderInput`] that a law uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSet {
    /// `queueing`, `queueing_slope` and `rtt()`.
    pub queueing: bool,
    /// `marked`.
    pub marked: bool,
    /// `lost`.
    pub lost: bool,
    /// `acked`.
    pub acked: bool,
    /// `present_queueing`.
    pub present_queueing: bool,
    /// `earlier_queueing`.
    pub earlier_queueing: bool,
}

impl InputSet {
    /// All inputs that are delayed by the return path.
    pub const ALL: Self = Self { queueing: true, marked: true, lost: true, acked: true, ..Self::NONE };
    /// Only the feedback of the protocol's own routers.
    pub const NONE: Self = Self {
        queueing: false,
        marked: false,
        lost: false,
        acked: false,
        present_queueing: false,
        earlier_queueing: false,
    };
    /// Only marks.
    pub const MARKS: Self = Self { marked: true, ..Self::NONE };
    /// Only queueing delay.
    pub const QUEUEING: Self = Self { queueing: true, ..Self::NONE };
}

/// The inputs of a sender. All inputs except `present_queueing` are delayed by the return path.
#[derive(Clone, Copy, Debug)]
pub struct SenderInput<'a, T> {
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// Smallest present capacity of the loop's links, in bit/s. Only for laws whose protocol card declares this knowledge.
    pub capacity: f64,
    /// Queueing delay of the path, in seconds.
    pub queueing: T,
    /// Time derivative of the queueing delay, in seconds per second.
    pub queueing_slope: T,
    /// Probability that a packet was marked by a queue law.
    pub marked: T,
    /// Probability that a packet was lost: dropped by a queue law or at a full buffer.
    pub lost: T,
    /// This sender's own rate one round trip ago, in bit/s: the rate at which data are acknowledged now as delivered or
    /// lost.
    pub acked: T,
    /// Present queueing delay of the path, in seconds. A real sender cannot observe it; an equation uses it to compute
    /// when the packets of a window leave the network.
    pub present_queueing: T,
    /// `queueing` as it was a time [`FluidSender::lag`] ago: what the sender has observed before, in seconds.
    pub earlier_queueing: T,
    /// The values of [`FluidSender::FEEDBACK`], in that order.
    pub feedback: &'a [T],
    /// The law's own discrete states, in the order of [`FluidSender::DISCRETE`]; at an event, their values before it.
    pub discrete: &'a [u64],
    /// The share of an increase of its rate that the law may take: one, or less if it has sent less than it permits, zero from nine
    /// tenths on. The engine applies it to the derivatives of laws without [`FluidSender::GROWS_UNUSED`]; at events a law
    /// does so itself.
    pub growth: f64,
    /// Feedback of the relay at the end of the loop, if there is one.
    pub downstream: Option<DownstreamFeedback<T>>,
    /// Feedback of the relay at the beginning of the loop, if there is one.
    pub upstream: Option<UpstreamFeedback<T>>,
}

impl<T: Number> SenderInput<'_, T> {
    /// Round-trip time with queues, in seconds.
    pub fn rtt(&self) -> T {
        self.queueing + self.base_rtt
    }
}

/// The equations of one loop's sender. All functions are pure; `x` are the states in the order of
/// [`FluidSender::states`].
///
/// A law that contains `min`, `max` or a threshold declares the switching function in `GUARDS`. The engine then ends a
/// step where its sign changes; otherwise the solver loses its order there. A law in discrete time (one decision per
/// round trip) implements [`ticks`](Self::ticks), [`period`](Self::period) and [`tick`](Self::tick). A law with modes declares
/// them in `DISCRETE`: whole numbers that only [`crossed`](Self::crossed) and `tick` change. Analyses treat them as constants.
pub trait FluidSender: Send + Sync + Sized + 'static {
    /// Feedback from the links of its own protocol; none by default.
    const FEEDBACK: &'static [Feedback] = &[];
    /// Quantities beside the rate that its packets carry to those links, summed there over flows; none by default.
    const CARRIED: &'static [Quantity] = &[];
    /// Names of its switching functions.
    const GUARDS: &'static [&'static str] = &[];
    /// Names and units of its discrete states, such as modes and counts; none by default.
    const DISCRETE: &'static [Quantity] = &[];
    /// The inputs that it uses beside the feedback. Other inputs may be NaN. The engine does not store the history of
    /// inputs that no law uses.
    const INPUTS: InputSet = InputSet::ALL;
    /// Whether [`map_signals`](Self::map_signals) differs from a copy.
    const MAPS_SIGNALS: bool = false;
    /// Whether the law raises its rate also while it has less to send than it permits: whether the sender of packets ignores
    /// [`Ack::window_unused`](crate::Ack::window_unused).
    const GROWS_UNUSED: bool = false;

    /// The states; empty for a static law.
    fn states(&self) -> Vec<State>;

    /// Writes the initial values of [`FluidSender::DISCRETE`], in that order; all are zero before.
    fn initial_discrete(&self, _discrete: &mut [u64]) {}

    /// The derivatives of the states per second, without regard to bounds.
    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]);

    /// The lag of `earlier_queueing` in seconds, at least zero and at most [`longest_lag`](Self::longest_lag). It may depend on
    /// the states: an interval between two measurements depends on the rate. Only for laws that use this input.
    ///
    /// In an equilibrium the queueing delay is constant, so that a change of the lag alone has no effect; linearizations use the
    /// lag of the equilibrium.
    fn lag(&self, _x: &[f64], _base_rtt: f64) -> f64 {
        0.0
    }

    /// The longest lag in seconds: the engine stores the history for it.
    fn longest_lag(&self, _base_rtt: f64) -> f64 {
        0.0
    }

    /// The sending rate, in bit/s.
    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T;

    /// Writes the derivatives and returns the rate; for a law in which both share intermediate results.
    fn derivative_and_rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) -> T {
        self.derivative(x, input, dx);
        self.rate(x, input)
    }

    /// The values of [`FluidSender::CARRIED`], in that order, for one flow.
    fn carried<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _carried: &mut [T]) {}

    /// Converts the signals of one link into feedback for this flow before the path is aggregated. Example: XCP's feedback
    /// of a hop depends on the flow's own rate and round-trip time. `input.feedback` is empty here.
    fn map_signals<T: Number>(
        &self,
        _x: &[T],
        _input: &SenderInput<'_, T>,
        signals: &[T],
        feedback: &mut [T],
    ) {
        feedback.copy_from_slice(signals);
    }

    /// The values of [`FluidSender::GUARDS`], in that order.
    fn guards<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _guards: &mut [T]) {}

    /// Called when a guard has changed its sign; the states may jump.
    fn crossed(
        &self,
        _guard: usize,
        _is_rising: bool,
        _state: &mut LawState<'_>,
        _input: &SenderInput<'_, f64>,
    ) {
    }

    /// Whether [`period`](Self::period) returns a time for any states and inputs; otherwise it is not evaluated. Fixed steps
    /// refuse such laws.
    fn ticks(&self) -> bool {
        false
    }

    /// Seconds until the next [`tick`](Self::tick), evaluated at the start and after each tick; none if there is no next
    /// tick.
    fn period(&self, _x: &[f64], _input: &SenderInput<'_, f64>) -> Option<f64> {
        None
    }

    /// Called when the period has passed; the states may jump.
    fn tick(&self, _state: &mut LawState<'_>, _input: &SenderInput<'_, f64>) {}
}
