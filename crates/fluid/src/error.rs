//! What can go wrong, and what to try then.

use std::fmt;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The network has no meaning as equations.
    Network {
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
    Chatters {
        /// In seconds.
        time: f64,
        /// The switching function and whose it is.
        guard: String,
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
            Self::Network { name, reason } => write!(f, "{name}: {reason}"),
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
            Self::Chatters { time, guard } => write!(
                f,
                "at {time:.6} s {guard} changes its sign to and fro without time passing: the law slides along this \
                 threshold, and its equations do not say how; give it a slope there instead of a jump, or run it in \
                 packets"
            ),
            Self::TooManySteps { time, steps, cause } => write!(
                f,
                "{steps} steps have not brought the solution beyond {time:.6} s; most of them ended at {cause}; try a \
                 shorter duration, a longer smallest delay (`snap_delays`), or the scheme for large networks, whose \
                 step is fixed"
            ),
        }
    }
}

impl std::error::Error for Error {}
