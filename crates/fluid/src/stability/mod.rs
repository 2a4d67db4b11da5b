//! Stability of an equilibrium, and its margins.
//!
//! A network linearized about its equilibrium is a [`System`]: blocks with a few states each, connected by delays.
//! Every loop contains a bottleneck, so the characteristic function reduces to a small determinant over the
//! bottlenecks, det(I + L(s)), where L is the return ratio (Paganini et al., Eqs. (13), (21)). Its zeros are located by
//! the argument principle and Newton's method ([`rightmost`]). Its eigenloci along the imaginary axis give the
//! [`margins`]. As an independent check of small systems, [`generator_roots`] approximates the infinitesimal generator
//! of the whole delay equation.

mod boundary;
mod chain_gain;
mod characteristic;
mod closed_loop;
mod contour;
mod crossovers;
mod cycles;
mod differences;
mod generator;
mod hull;
mod limit_cycle;
mod linearized;
mod loci;
mod margins;
mod matrix;
mod noise;
mod nyquist;
mod roots;
mod sender_groups;
mod sides;
mod system;

pub use boundary::{BoundarySearch, Growth, StabilityBoundary, search_boundaries, stability_boundaries};
pub use chain_gain::{ChainGain, HopGain, chain_gain};
pub use characteristic::Characteristic;
pub use closed_loop::{ClosedLoop, FrequencyResponse};
pub use crossovers::{Crossover, loop_gain};
pub use differences::{groups_without_links, roots_of_differences};
pub use generator::generator_roots;
pub use hull::{Hull, hull};
pub use limit_cycle::{LimitCycle, limit_cycle};
pub use linearized::Linearized;
pub use loci::{Locus, loci};
pub use margins::{Crossing, Margins, margins};
pub use nalgebra::Complex;
pub use noise::{NoiseKind, NoiseModel, NoiseOutput, NoiseSource, PacketGranularity, frequencies, variance};
pub use nyquist::{AxisCrossing, Nyquist};
pub use roots::{Root, Spectrum, decays, rightmost};
pub use sides::{OneSided, Side, Sides, Threshold, one_sided};
pub use system::{Block, BlockInput, BlockOutput, Connection, System};

/// Why the roots of a system are unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum RootError {
    /// No link input depends on a link output: there is no loop.
    NoLoop,
    /// The loop gain does not vanish at high frequencies: there are infinitely many roots in the right half plane.
    Neutral {
        /// The gain at high frequencies.
        gain: f64,
    },
    /// Roots are too close to an integration path to be counted.
    Uncounted {
        /// A point of the path.
        near: Complex<f64>,
    },
    /// Static blocks form an algebraic loop.
    Circular,
    /// The search for the roots reached its limit of work.
    TooManySamples {
        /// The limit.
        samples: u64,
    },
    /// The eigenloci reached their limit of work.
    TooManyPoints {
        /// The limit.
        points: u64,
    },
}

impl std::fmt::Display for RootError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoLoop => write!(
                f,
                "no bottleneck affects the flows that cross it: there is no loop that could be unstable"
            ),
            Self::Neutral { gain } => write!(
                f,
                "unstable at every high frequency: the loop gain tends to {gain:.2} instead of zero, because neither sender \
                 nor link has a state"
            ),
            Self::Uncounted { near } => {
                write!(f, "roots near {near:.4} could not be separated; change a parameter slightly")
            }
            Self::Circular => write!(f, "static laws form an algebraic loop without delay"),
            Self::TooManySamples { samples } => write!(
                f,
                "the roots were not found with {samples} samples of the characteristic function, the limit for a network of \
                 this size: fewer flows or relays, or delays that differ less, need fewer samples"
            ),
            Self::TooManyPoints { points } => write!(
                f,
                "the eigenloci were not resolved with {points} points, the limit for a network of this size: a loop whose \
                 delay is much longer than its other time constants has this many turns"
            ),
        }
    }
}

impl std::error::Error for RootError {}

#[cfg(test)]
mod tests;
