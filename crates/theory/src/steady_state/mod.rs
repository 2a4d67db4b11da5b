//! What the laws of a scenario do in the steady state: the one type that all analyses share, with its sentence and its JSON
//! schema.

mod json;
mod period;
mod sentence;

pub use json::{EquilibriumRangeJson, FlowPeriodJson, SteadyStateJson, steady_state_json};
pub use period::{FlowPeriod, PeriodRange};
pub use sentence::{continuum_clause, period_sentence, steady_state_sentence};

use millpond_fluid::stability::Root;

/// What the laws of a scenario do in the steady state.
#[derive(Clone, Debug, PartialEq)]
pub enum SteadyState {
    /// All rates are constant.
    FixedPoint(FixedPoint),
    /// There are infinitely many equilibria, and the initial state decides which one is reached.
    Continuum {
        /// Why, as a clause.
        reason: String,
        /// What may vary in it, flow by flow; empty if that is unknown.
        ranges: Vec<EquilibriumRange>,
    },
    /// Rates and queues oscillate because of the design of a law or of a queue.
    LimitCycle(Oscillation),
    /// Losses at a full buffer reduce windows, which then grow until the buffer is full again.
    Sawtooth(Oscillation),
    /// There is no equilibrium, or none was found.
    None {
        /// Why, in a sentence.
        reason: String,
    },
}

/// A quantity of each flow of a class that may have any value of a range in equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumRange {
    /// Name of the flow or of its class.
    pub flow: String,
    /// The number of flows of the class.
    pub flows: f64,
    /// The quantity, with its unit in the plural.
    pub quantity: &'static str,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// The dimension of a continuum: the number of flows with a range.
#[must_use]
pub fn dimension(ranges: &[EquilibriumRange]) -> usize {
    // A number of flows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let flows = |range: &EquilibriumRange| range.flows.round() as usize;
    ranges.iter().map(flows).sum()
}

/// The stability of a single equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub enum FixedPoint {
    /// All disturbances decay exponentially.
    Stable,
    /// All disturbances decay, one of them more slowly than an exponential.
    SlowlyStable {
        /// Why, as a clause.
        reason: String,
    },
    /// A disturbance grows; its characteristic root, if it was found.
    Unstable(Option<Root>),
    /// It lies on a threshold of its laws, which trajectories cross again and again.
    OnThreshold {
        /// Whether disturbances decay in a simulation.
        is_stable: bool,
        /// The threshold and the trajectory, in a sentence.
        reason: String,
    },
    /// A flow receives no feedback: it sends at its own limit.
    WithoutFeedback {
        /// Name of the flow.
        flow: String,
    },
    /// The characteristic roots could not be computed, or they do not show whether disturbances decay.
    Unknown {
        /// Why, in a sentence.
        reason: String,
    },
}

/// A limit cycle or a sawtooth.
#[derive(Clone, Debug, PartialEq)]
pub struct Oscillation {
    /// Why it oscillates, as a clause.
    pub reason: String,
    /// The period of each class of flows between two reductions in closed form, where its law has one.
    pub periods: Vec<FlowPeriod>,
    /// The period of the fluid equations in seconds, from the describing function of a jump.
    pub fluid_period: Option<f64>,
}

impl SteadyState {
    /// Its kind, as in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FixedPoint(_) => "fixed point",
            Self::Continuum { .. } => "continuum",
            Self::LimitCycle(_) => "limit cycle",
            Self::Sawtooth(_) => "sawtooth",
            Self::None { .. } => "none",
        }
    }

    /// Whether disturbances of a fixed point decay; none if it is no fixed point, or if that is unknown.
    #[must_use]
    pub const fn is_stable(&self) -> Option<bool> {
        match self {
            Self::FixedPoint(FixedPoint::Stable | FixedPoint::SlowlyStable { .. }) => Some(true),
            Self::FixedPoint(FixedPoint::Unstable(_)) => Some(false),
            Self::FixedPoint(FixedPoint::OnThreshold { is_stable, .. }) => Some(*is_stable),
            _ => None,
        }
    }

    /// The oscillation of a limit cycle or a sawtooth.
    #[must_use]
    pub const fn oscillation(&self) -> Option<&Oscillation> {
        match self {
            Self::LimitCycle(oscillation) | Self::Sawtooth(oscillation) => Some(oscillation),
            _ => None,
        }
    }
}

impl Oscillation {
    /// The range of the periods in closed form; none if no law has one.
    #[must_use]
    pub fn period(&self) -> Option<PeriodRange> {
        PeriodRange::of(&self.periods)
    }
}
