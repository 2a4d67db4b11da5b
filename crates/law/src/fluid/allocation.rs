//! The equilibrium of a law in closed form.

use alloc::boxed::Box;

/// The rates that a protocol gives to its flows at equilibrium.
pub enum Allocation {
    /// Weighted max-min fairness: the smallest rate over weight is maximal, then the second smallest, and so on.
    MaxMin {
        /// Weight of this flow.
        weight: f64,
    },
    /// Each flow maximizes its utility minus the price of its path: `U'(x) = price`.
    Utility {
        /// U'.
        marginal: Box<dyn Marginal>,
        /// How the prices of links add up over a path.
        prices: PriceSum,
    },
    /// No closed form: the equilibrium is found numerically.
    Numeric {
        /// The reason, as a clause.
        reason: &'static str,
    },
}

/// How the prices of links add up over a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSum {
    /// The prices add.
    Plain,
    /// The prices are marking probabilities `p`; the sum is over `-ln(1 - p)` (product law of LGCC).
    Marked,
}

/// The derivative of a utility function, and its inverse.
pub trait Marginal: Send + Sync {
    /// `U'(x)` at a rate in bit/s.
    fn marginal(&self, rate: f64) -> f64;

    /// The rate in bit/s at which `U'` equals this price. At a price of zero: the largest rate that the flow ever sends,
    /// which may be infinite.
    fn demand(&self, price: f64) -> f64;

    /// Whether `U'` decreases everywhere. A utility that is not concave may have several optima and is rejected.
    fn is_concave(&self) -> bool {
        true
    }
}

/// The equilibrium of a link that is a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEquilibrium {
    /// Arriving rate over capacity.
    pub utilization: f64,
    /// Queue length in bits, if the law of the link alone determines it.
    pub queue: Option<f64>,
    /// Jumps of the queue law's probability, in increasing order of queue length.
    pub jumps: [Option<Jump>; 2],
    /// How to linearize an empty queue at which arrivals equal the capacity: true if the queue remains empty under small
    /// disturbances, false if it follows them in both directions.
    pub linearized_as_empty: bool,
}

/// A jump of a probability at a threshold of the queue length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The threshold, in bits.
    pub queue: f64,
    /// The probability just below the threshold.
    pub below: f64,
    /// The probability just above the threshold.
    pub above: f64,
}

impl Default for LinkEquilibrium {
    fn default() -> Self {
        Self { utilization: 1.0, queue: None, jumps: [None; 2], linearized_as_empty: false }
    }
}
