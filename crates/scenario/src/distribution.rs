//! Distributions of sizes and durations.

use crate::lognormal::Lognormal;
use crate::size_table::SizeTable;
use millpond_units::{Bytes, Span};

/// How long a flow lasts.
#[derive(Clone, Debug, PartialEq)]
pub enum Lasting {
    /// Always this long.
    Constant(Span),
    /// Uniformly distributed.
    Uniform(Span, Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
    /// Pareto distributed.
    Pareto {
        /// Its mean.
        mean: Span,
        /// Its shape, above 1: the smaller, the heavier the tail.
        shape: f64,
    },
}

/// The size of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// Always the same.
    Constant(Bytes),
    /// Uniformly distributed.
    Uniform(Bytes, Bytes),
    /// Exponentially distributed with this mean.
    Exponential(Bytes),
    /// Pareto distributed.
    Pareto {
        /// Its mean.
        mean: Bytes,
        /// Its shape, above 1: the smaller, the heavier the tail.
        shape: f64,
    },
    /// Pareto distributed, with the smallest size instead of the mean.
    ParetoFrom {
        /// The smallest size.
        least: Bytes,
        /// Its shape, above 1.
        shape: f64,
    },
    /// Lognormal distributed, sampled again until it is within bounds.
    Lognormal {
        /// The median without the bounds.
        median: Bytes,
        /// The standard deviation of the logarithm without the bounds.
        sigma: f64,
        /// The least and the greatest size.
        within: (Bytes, Bytes),
    },
    /// Distributed as a table says.
    Table(SizeTable),
}

impl Size {
    /// The mean.
    pub fn mean(&self) -> Bytes {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Pareto { mean, .. } => *mean,
            Self::Uniform(least, most) => Bytes::from_f64((least.as_f64() + most.as_f64()) / 2.0),
            Self::ParetoFrom { least, shape } => Bytes::from_f64(least.as_f64() * shape / (shape - 1.0)),
            Self::Lognormal { median, sigma, within } => Lognormal::new(*median, *sigma).mean(*within),
            Self::Table(table) => table.mean(),
        }
    }
}

impl Lasting {
    /// A time of which most samples are at least a third.
    pub(crate) fn typical(&self) -> Span {
        match self {
            Self::Constant(span) | Self::Exponential(span) => *span,
            Self::Uniform(least, most) => (*least + *most) / 2,
            Self::Pareto { mean, shape } => mean.scale((shape - 1.0) / shape),
        }
    }
}
