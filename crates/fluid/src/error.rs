//! What can go wrong, and what to try then.

use std::fmt;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The network has no meaning as equations.
    InvalidNetwork {
        /// Of which part.
        name: String,
        /// What is wrong and what would work.
        reason: String,
    },
    /// The steps that the tolerance asks for have become too small.
    Stalled {
        /// In seconds.
        time: f64,
        /// The state with the greatest error.
        state: String,
        /// In seconds.
        step: f64,
    },
    /// A quantity is infinite or not a number.
    NotFinite {
        /// In seconds.
        time: f64,
        /// Which.
        quantity: String,
    },
    /// A law is driven back at once from either side of a threshold.
    Chattering {
        /// In seconds.
        time: f64,
        /// The switching function and whose it is.
        guard: String,
    },
    /// Steps of one length go beyond what a sender hears.
    StepTooLong {
        /// In seconds.
        step: f64,
        /// The loop.
        name: String,
        /// The link whose word comes back sooner.
        link: String,
        /// In seconds.
        delay: f64,
        /// The longest step that no loop of the network forbids, in seconds.
        longest: f64,
    },
    /// A delay has more steps of one length than can be counted.
    StepTooShort {
        /// In seconds.
        step: f64,
        /// The longest delay, in seconds.
        delay: f64,
        /// The shortest step that is possible, in seconds.
        shortest: f64,
    },
    /// More steps than allowed.
    TooManySteps {
        /// In seconds.
        time: f64,
        /// How many were allowed.
        steps: u64,
        /// What ended most of them early.
        cause: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidNetwork { name, reason } => write!(f, "{name}: {reason}"),
            Self::Stalled { time, state, step } => write!(
                f,
                "at {time:.6} s the solver needs steps below {step:.1e} s for {state}: a threshold in its law that is not \
                 declared as a guard, or a loop that oscillates without bound; try a tolerance ten times as large, and \
                 `stability` at this operating point"
            ),
            Self::NotFinite { time, quantity } => write!(
                f,
                "at {time:.6} s {quantity} is infinite or not a number: its law was driven out of its domain; try \
                 bounds for its states, or a start nearer to the equilibrium"
            ),
            Self::Chattering { time, guard } => write!(
                f,
                "at {time:.6} s {guard} changes its sign to and fro without time passing: the law slides along this \
                 threshold, and its equations do not say how; give it a slope there instead of a jump, or run it in \
                 packets"
            ),
            Self::StepTooLong { step, name, link, delay, longest } => write!(
                f,
                "{name}: the word of {link} comes back after {delay} s, less than a step of {step} s: try {longest} s or less"
            ),
            Self::StepTooShort { step, delay, shortest } => write!(
                f,
                "the longest delay, {delay} s, has too many steps of {step} s: try {shortest:.1e} s or more"
            ),
            Self::TooManySteps { time, steps, cause } => write!(
                f,
                "{steps} steps have not brought the solution beyond {time:.6} s; most of them ended at {cause}; try a \
                 shorter duration, a longer smallest delay, or, for a large network, steps of one length (`[fluid] method = \
                 \"fixed-step\"`)"
            ),
        }
    }
}

impl std::error::Error for Error {}
