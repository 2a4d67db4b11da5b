//! Whether a network stays where it settles, and by what margin.
//!
//! Linearized about its equilibrium, a network is a [`System`]: pieces with a few states each, joined by delays. Everything
//! that a loop does passes a bottleneck, so its characteristic function shrinks to a small determinant over those,
//! det(I + L(s)), with L the return ratio (Paganini et al., Eqs. (13), (21)). Its zeros are located by the argument principle
//! and Newton's method ([`rightmost`]); its eigenloci along the imaginary axis give the [`margins`]. Independent of both,
//! [`generator_roots`] approximates the infinitesimal generator of the whole delay equation: a check for small systems.

mod boundary;
mod characteristic;
mod closed_loop;
mod contour;
mod crossovers;
mod cycles;
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
mod system;

pub use boundary::{BoundarySearch, StabilityBoundary, follow, stability_boundaries};
pub use characteristic::Characteristic;
pub use closed_loop::{ClosedLoop, FrequencyResponse};
pub use crossovers::{Crossover, loop_gain};
pub use generator::generator_roots;
pub use hull::{Hull, hull};
pub use limit_cycle::{LimitCycle, limit_cycle};
pub use linearized::Linearized;
pub use loci::{Locus, loci};
pub use margins::{Crossing, Margins, margins};
pub use nalgebra::Complex;
pub use noise::{NoiseKind, NoiseModel, NoiseOutput, NoiseSource, PacketGranularity, frequencies, variance};
pub use nyquist::Nyquist;
pub use roots::{Root, Spectrum, rightmost};
pub use system::{Block, Connection, System};

/// Why the roots of a system are not known.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown {
    /// No input of a link depends on its outputs: there is no loop to be stable.
    NoLoop,
    /// The loop gain does not vanish at high frequencies: infinitely many roots lie in the right half plane.
    Neutral {
        /// The gain that remains.
        gain: f64,
    },
    /// Roots lie so near a path of integration that they could not be counted.
    Uncounted {
        /// Where the path was.
        near: Complex<f64>,
    },
    /// Static pieces feed each other at the same instant in a circle.
    Circular,
}

impl std::fmt::Display for Unknown {
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
        }
    }
}

impl std::error::Error for Unknown {}

#[cfg(test)]
mod tests;
