//! Errors of assembly and integration, each with a remedy.

use std::fmt;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The network cannot be expressed as equations.
    InvalidNetwork {
        /// The loop, link or relay.
        name: String,
        /// The cause and the remedy.
        reason: String,
    },
    /// The step size required by the tolerance is too small.
    Stalled {
        /// Time in seconds.
        time: f64,
        /// The state with the largest error.
        state: String,
        /// Step in seconds.
        step: f64,
    },
    /// A quantity is infinite or not a number.
    NotFinite {
        /// Time in seconds.
        time: f64,
        /// Which state or channel.
        quantity: String,
    },
    /// A guard with a hysteresis changes its sign too often within the shortest delay.
    Chattering {
        /// Time in seconds.
        time: f64,
        /// The switching function and its owner.
        guard: String,
    },
    /// A fixed step is longer than a feedback delay.
    StepTooLong {
        /// Step in seconds.
        step: f64,
        /// The loop.
        name: String,
        /// The link with the shortest feedback delay.
        link: String,
        /// Feedback delay in seconds.
        delay: f64,
        /// The longest step that all loops permit, in seconds, rounded down to four digits.
        longest: f64,
    },
    /// A delay has more fixed steps than the scheme can count.
    StepTooShort {
        /// Step in seconds.
        step: f64,
        /// The longest delay, in seconds.
        delay: f64,
        /// The shortest possible step, in seconds.
        shortest: f64,
    },
    /// No step is longer than the shortest delay, which requires more steps than the limit.
    DelayTooShort {
        /// The shortest delay, in seconds.
        delay: f64,
        /// The time to integrate, in seconds.
        duration: f64,
        /// The limit on the number of steps.
        steps: u64,
    },
    /// A time has more fixed steps than the limit.
    TooManyFixedSteps {
        /// Step in seconds.
        step: f64,
        /// The time to integrate, in seconds.
        duration: f64,
        /// The limit on the number of steps.
        steps: u64,
    },
    /// The limit on the number of steps was exceeded.
    TooManySteps {
        /// Time in seconds.
        time: f64,
        /// The limit.
        steps: u64,
        /// The most frequent reason for the end of a step.
        cause: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidNetwork { name, reason } => write!(f, "{name}: {reason}"),
            Self::Stalled { time, state, step } => write!(
                f,
                "at {time:.6} s the solver needs steps below {step:.1e} s for {state}: its law contains a threshold that is \
                 not declared as a guard, or a loop oscillates with growing amplitude; ask `stability` for this operating \
                 point, or use the packet world"
            ),
            Self::NotFinite { time, quantity } => write!(
                f,
                "at {time:.6} s {quantity} is infinite or not a number: its law was evaluated outside its domain; try \
                 bounds for its states, or initial states closer to the equilibrium"
            ),
            Self::Chattering { time, guard } => write!(
                f,
                "at {time:.6} s {guard} changes its sign again and again without progress in time, also with a hysteresis: \
                 this switching function jumps at each switch, or its law crosses the hysteresis too often within the \
                 shortest delay; declare a continuous one, or use the packet world"
            ),
            Self::StepTooLong { step, name, link, delay, longest } => write!(
                f,
                "{name}: the feedback of {link} arrives after {delay} s, which is less than a step of {step} s: try \
                 {longest} s or less"
            ),
            Self::StepTooShort { step, delay, shortest } => write!(
                f,
                "the longest delay, {delay} s, is too long for steps of {step} s: try {shortest:.1e} s or more"
            ),
            Self::DelayTooShort { delay, duration, steps } => write!(
                f,
                "no step of the solver is longer than the shortest delay, {delay:.3e} s: {duration} s take at least {:.1e} steps, \
                 and at most {steps:.0e} are made; try a shorter duration, a longer smallest delay, `[fluid] base_rtt = \"service\"`, \
                 or the packet world",
                duration / delay
            ),
            Self::TooManyFixedSteps { step, duration, steps } => write!(
                f,
                "{duration} s take {:.1e} steps of {step:.3e} s, and at most {steps:.0e} are made: try a longer step or a \
                 shorter duration",
                duration / step
            ),
            Self::TooManySteps { time, steps, cause } => write!(
                f,
                "the solver reached only {time:.6} s in {steps} steps, most of which were limited by {cause}; try a \
                 shorter duration, a longer smallest delay, or, for a large network, fixed steps (`[fluid] method = \
                 \"fixed-step\"`)"
            ),
        }
    }
}

impl std::error::Error for Error {}
