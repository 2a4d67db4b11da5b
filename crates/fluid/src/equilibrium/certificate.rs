//! The distance of an allocation from the optimum, without knowledge of the optimum.

use super::AllocationProblem;
use millpond_law::fluid::Marginal;

/// Two error bounds; both are zero exactly at the optimum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Duality gap divided by the total payment of all flows.
    pub gap: f64,
    /// Largest relative excess of a link's load over its capacity; or the relative unused capacity of a link with a
    /// price, times its share in the path price of its cheapest flow.
    pub imbalance: f64,
}

impl Certificate {
    /// The larger of the two errors.
    #[must_use]
    pub fn worst(self) -> f64 {
        self.gap.max(self.imbalance)
    }
}

/// Nodes and weights of Gauss-Legendre quadrature on [0, 1], order 10.
const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_02, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_6, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// The duality gap of these rates under these prices. With loads y and path prices q, D(p) - U(x) = Σ ∫ (U'(s) - q) ds
/// from x to the demand at q, plus Σ p (c - y). Every term is non-negative if x is feasible.
pub fn certify<U: Marginal>(
    network: &AllocationProblem,
    utilities: &[U],
    rates: &[f64],
    prices: &[f64],
) -> Certificate {
    let loads = network.loads(rates);
    let mut gap = 0.0;
    let mut paid = 0.0;
    let mut imbalance = 0.0_f64;
    for (link, ((load, capacity), price)) in loads.iter().zip(&network.capacities).zip(prices).enumerate() {
        gap += price * (capacity - load).abs();
        let part = if *price > 0.0 { price / network.least_path_price(link, prices) } else { 0.0 };
        imbalance = imbalance.max(load / capacity - 1.0).max((1.0 - load / capacity) * part);
    }
    for (index, flow) in network.flows.iter().enumerate() {
        let price = network.path_price(flow, prices);
        let rate = rates[index];
        gap += flow.count * regret(&utilities[index], price, rate);
        paid += flow.count * rate * utilities[index].marginal(rate).max(0.0);
    }
    Certificate { gap: if paid > 0.0 { gap / paid } else { gap }, imbalance }
}

/// The loss of utility minus payment of one flow that sends at `rate` instead of its demand.
fn regret(utility: &impl Marginal, price: f64, rate: f64) -> f64 {
    let width = utility.demand(price) - rate;
    GAUSS.iter().map(|(at, weight)| weight * (utility.marginal(rate + at * width) - price)).sum::<f64>()
        * width
}
