//! The sender of one loop as differential equations.

use super::{Forwarded, NextLoop, Number};

/// A state of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// In plain words (`"rate factor"`).
    pub name: &'static str,
    /// As printed: `"bit/s"`, `"s"`, `"1"`.
    pub unit: &'static str,
    /// Where it starts.
    pub initial: f64,
    /// It never falls below this: the engine holds it there while its derivative points outwards.
    pub lower: f64,
    /// It never grows above this.
    pub upper: f64,
}

impl State {
    /// A state without bounds.
    pub const fn new(name: &'static str, unit: &'static str, initial: f64) -> Self {
        Self { name, unit, initial, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }

    /// The same between bounds; it starts within them.
    #[must_use]
    pub const fn within(self, lower: f64, upper: f64) -> Self {
        Self { initial: self.initial.max(lower).min(upper), lower, upper, ..self }
    }
}

/// A named quantity with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// In plain words.
    pub name: &'static str,
    /// As printed.
    pub unit: &'static str,
}

/// How what the links of a path say becomes one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Prices add.
    Sum,
    /// The least permission counts.
    Min,
    /// The worst load counts.
    Max,
    /// Marks add as `1 - prod(1 - p)`.
    Marked,
}

/// One feedback that a sender gets from the links of its own protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// In plain words.
    pub name: &'static str,
    /// As printed.
    pub unit: &'static str,
    /// How the hops of the path add up.
    pub over_path: Aggregate,
}

/// Which parts of its input a law reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hears {
    /// `queueing`, `queueing_slope` and `rtt()`.
    pub queueing: bool,
    /// `marked`.
    pub marks: bool,
    /// `lost`.
    pub losses: bool,
    /// `acked`.
    pub itself: bool,
    /// `ahead`.
    pub ahead: bool,
}

impl Hears {
    /// Everything that comes back to it.
    pub const ALL: Self = Self { queueing: true, marks: true, losses: true, itself: true, ahead: false };
    /// The feedback of its own routers alone.
    pub const NOTHING: Self =
        Self { queueing: false, marks: false, losses: false, itself: false, ahead: false };
    /// Marks alone.
    pub const MARKS: Self = Self { marks: true, ..Self::NOTHING };
    /// Queueing delay alone.
    pub const QUEUEING: Self = Self { queueing: true, ..Self::NOTHING };
}

/// What a sender sees at this moment: everything but what is ahead has come the way back.
#[derive(Clone, Copy, Debug)]
pub struct SenderInput<'a, T> {
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// The least capacity of the loop's links now, in bit/s: only for laws whose card says that they are told it.
    pub capacity: f64,
    /// Queueing delay of the path, in seconds.
    pub queueing: T,
    /// Its slope: seconds per second.
    pub queueing_slope: T,
    /// Probability that a packet bears a mark of a queue law.
    pub marked: T,
    /// Probability that a packet was lost: dropped by a queue law or at a full buffer.
    pub lost: T,
    /// This sender's own rate one round trip ago, in bit/s: what is acknowledged now, delivered or lost.
    pub acked: T,
    /// Queueing delay of the path as it is now, in seconds. No sender knows it, but its packets wait for it: what a window
    /// lets go is a matter of the network.
    pub ahead: T,
    /// [`FluidSender::FEEDBACK`], in that order.
    pub feedback: &'a [T],
    /// The loop behind the relay at its end, if there is one.
    pub next: Option<NextLoop<T>>,
    /// What the relay at its beginning hands on, if there is one.
    pub forwarded: Option<Forwarded<T>>,
}

impl<T: Number> SenderInput<'_, T> {
    /// Round-trip time with queues, in seconds.
    pub fn rtt(&self) -> T {
        self.queueing + self.base_rtt
    }
}

/// The sender of one loop. All functions are pure; `x` are the states in the order of [`FluidSender::states`].
///
/// A law with `min`, `max` or a threshold inside names the switching function in `GUARDS`, so that the engine ends a
/// step exactly where its sign changes; without that the order of the solver is lost there. A law in discrete time
/// (a decision per round trip) gives [`period`](Self::period) and [`tick`](Self::tick) and keeps its mode as a state.
pub trait FluidSender: Send + Sync + Sized + 'static {
    /// What it hears from its own protocol's links; by default nothing.
    const FEEDBACK: &'static [Feedback] = &[];
    /// What its packets carry to those links beside its rate, summed there over flows; by default nothing.
    const CARRIED: &'static [Quantity] = &[];
    /// Its switching functions, in words.
    const GUARDS: &'static [&'static str] = &[];
    /// What it reads of its input beside the feedback; what it does not may be handed to it as not a number. A large
    /// network neither remembers nor looks up what nobody hears.
    const HEARS: Hears = Hears::ALL;
    /// Whether [`hop`](Self::hop) does more than to copy a link's signals.
    const MAPS_HOPS: bool = false;

    /// Its states; none for a static law.
    fn states(&self) -> Vec<State>;

    /// The derivatives of the states, per second, bounds disregarded.
    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]);

    /// What it sends, in bit/s.
    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T;

    /// Both at once, for a law whose two share their work.
    fn move_and_send<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) -> T {
        self.derivative(x, input, dx);
        self.rate(x, input)
    }

    /// [`FluidSender::CARRIED`], in that order, per flow.
    fn carried<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _carried: &mut [T]) {}

    /// What one link's signals mean to this flow, before the path is aggregated: XCP's feedback of a hop depends on
    /// the flow's own rate and round-trip time. `input.feedback` is empty here.
    fn hop<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, signals: &[T], feedback: &mut [T]) {
        feedback.copy_from_slice(signals);
    }

    /// [`FluidSender::GUARDS`], in that order.
    fn guards<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _guards: &mut [T]) {}

    /// A guard has changed its sign: the states may jump.
    fn crossed(&self, _guard: usize, _is_rising: bool, _x: &mut [f64], _input: &SenderInput<'_, f64>) {}

    /// Seconds until the next [`tick`](Self::tick), asked at the start and at each tick; none: never.
    fn period(&self, _x: &[f64], _input: &SenderInput<'_, f64>) -> Option<f64> {
        None
    }

    /// The clock has struck: the states may jump.
    fn tick(&self, _x: &mut [f64], _input: &SenderInput<'_, f64>) {}
}
