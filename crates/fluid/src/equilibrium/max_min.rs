//! Weighted max-min fairness by water filling.

use super::{AllocationProblem, Certificate, Equilibrium, FlowClass, NoEquilibrium, uniqueness};
use millpond_stats::{MaxMinFlow, MaxMinShares, max_min_shares};

/// Weight and limit of one flow of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLimit {
    /// Rates increase in proportion to the weight.
    pub weight: f64,
    /// Largest rate of the flow; infinite if it has no limit of its own.
    pub max_rate: f64,
}

impl Default for FlowLimit {
    fn default() -> Self {
        Self { weight: 1.0, max_rate: f64::INFINITY }
    }
}

impl FlowLimit {
    fn apply(self, class: &FlowClass) -> MaxMinFlow<'_> {
        MaxMinFlow { path: &class.path, count: class.count, weight: self.weight, max_rate: self.max_rate }
    }
}

/// The weighted max-min allocation by progressive filling; see [`max_min_shares`].
///
/// The price of a bottleneck is the level at which it became full: the fair share per unit of weight. CLTCP's `r`,
/// ACP's `p` and RCP's `R` converge to it.
///
/// # Errors
/// A link without capacity, or a flow without a limit.
pub fn water_filling(
    network: &AllocationProblem,
    limits: &[FlowLimit],
) -> Result<Equilibrium, NoEquilibrium> {
    if let Some(link) = network.capacities.iter().position(|&capacity| capacity.is_nan() || capacity <= 0.0) {
        return Err(NoEquilibrium::NoCapacity { link });
    }
    let classes = network.flows.iter().zip(limits);
    let flows: Vec<MaxMinFlow<'_>> = classes.map(|(class, limit)| limit.apply(class)).collect();
    let shares = max_min_shares(&network.capacities, &flows);
    match shares.rates.iter().position(|rate| rate.is_infinite()) {
        Some(flow) => Err(NoEquilibrium::Unlimited { flow }),
        None => Ok(equilibrium(network, limits, shares)),
    }
}

fn equilibrium(network: &AllocationProblem, limits: &[FlowLimit], shares: MaxMinShares) -> Equilibrium {
    let loads = network.loads(&shares.rates);
    let levels = bottleneck_levels(network, limits, &shares, &loads);
    let bottlenecks: Vec<usize> = (0..loads.len()).filter(|&link| levels[link].is_some()).collect();
    let excess = loads.iter().zip(&network.capacities).map(|(load, c)| load / c - 1.0).fold(0.0, f64::max);
    let responds: Vec<bool> =
        shares.rates.iter().zip(limits).map(|(&rate, limit)| rate < limit.max_rate).collect();
    Equilibrium {
        uniqueness: uniqueness(network, &responds, &bottlenecks),
        prices: levels.iter().map(|level| level.unwrap_or(0.0)).collect(),
        certificate: Certificate { gap: 0.0, imbalance: excess },
        rates: shares.rates,
        loads,
        bottlenecks,
    }
}

/// The level of each bottleneck: of the links that stopped flows, and of further links that became full at the same level
/// as another link of the same flows.
fn bottleneck_levels(
    network: &AllocationProblem,
    limits: &[FlowLimit],
    shares: &MaxMinShares,
    loads: &[f64],
) -> Vec<Option<f64>> {
    const SAME: f64 = 1e-12;
    let highest_level = |link: usize| {
        let users = network.flows.iter().zip(&shares.rates).zip(limits);
        let users = users.filter(|((flow, _), _)| flow.path.contains(&link));
        let levels = users.map(|((_, rate), limit)| (rate / limit.weight, *rate < limit.max_rate));
        let highest = levels.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        highest.and_then(|(level, is_free)| is_free.then_some(level))
    };
    let is_full = |link: usize| loads[link] >= network.capacities[link] * (1.0 - SAME);
    let level = |(link, level): (usize, &Option<f64>)| {
        level.or_else(|| if is_full(link) { highest_level(link) } else { None })
    };
    shares.levels.iter().enumerate().map(level).collect()
}
