//! What a law says of its own equilibrium.

/// How a protocol shares the network when nothing moves any more.
pub enum Allocation {
    /// Max-min fair: the least rate over weight is as great as it can be, then the second least, ...
    MaxMin {
        /// Of this flow.
        weight: f64,
    },
    /// Each flow maximizes its utility less what its path costs: `U'(x) = price`.
    Utility {
        /// U'.
        marginal: Box<dyn Marginal>,
        /// How the price of a path comes about.
        prices: PriceSum,
    },
    /// No closed form: find the rest point of the equations.
    Numeric {
        /// Why, in half a sentence.
        reason: &'static str,
    },
}

/// How the prices of a path add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSum {
    /// They are prices: they add.
    Plain,
    /// They are marking probabilities `p`: of them `-ln(1 - p)` is the price that adds (LGCC's product law).
    Marked,
}

/// The derivative of a utility function, and its inverse.
pub trait Marginal: Send + Sync {
    /// `U'(x)` at a rate in bit/s.
    fn marginal(&self, rate: f64) -> f64;

    /// The rate in bit/s at which `U'` is this price: at a price of zero the most that it ever sends, which may be
    /// infinite.
    fn demand(&self, price: f64) -> f64;

    /// Does `U'` fall everywhere? A utility that is not concave has no unique optimum and is refused.
    fn is_concave(&self) -> bool {
        true
    }
}

/// What a link rests at when it is a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Arriving rate over capacity.
    pub utilization: f64,
    /// Queue in bits, where the link's law alone decides it.
    pub queue: Option<f64>,
    /// Where a queue law's probability jumps, from the shortest queue up.
    pub jumps: [Option<Jump>; 2],
    /// Of a queue that rests on its edge, exactly as much arriving as leaves: whether small disturbances are judged as
    /// those of a queue that stays empty. Otherwise they are as if it never were.
    pub stays_empty: bool,
}

/// A probability that jumps when the queue passes a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The threshold, in bits.
    pub queue: f64,
    /// The probability just below.
    pub below: f64,
    /// And just above.
    pub above: f64,
}

impl Default for Rest {
    fn default() -> Self {
        Self { utilization: 1.0, queue: None, jumps: [None; 2], stays_empty: false }
    }
}
