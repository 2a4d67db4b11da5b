//! Weighted max-min fairness by water filling.

use super::{AllocationProblem, Certificate, Equilibrium, FlowClass, NoEquilibrium, uniqueness};

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

/// Increases the rates of all flows in proportion to their weights. A flow stops at the first full link of its path, or
/// at its own limit.
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
    let mut filling = WaterFilling::new(network, limits);
    while let Some((level, stop)) = filling.next() {
        filling.fill(level, stop);
    }
    if let Some(flow) = filling.rates.iter().position(Option::is_none) {
        return Err(NoEquilibrium::Unlimited { flow });
    }
    Ok(filling.result())
}

/// The cause that stops flows next.
#[derive(Clone, Copy)]
enum Stop {
    Link(usize),
    Flow(usize),
}

/// The state of the algorithm.
struct WaterFilling<'a> {
    network: &'a AllocationProblem,
    limits: &'a [FlowLimit],
    rates: Vec<Option<f64>>,
    /// Capacity that is not used by stopped flows.
    left: Vec<f64>,
    /// The level at which each link became full.
    levels: Vec<Option<f64>>,
}

impl<'a> WaterFilling<'a> {
    fn new(network: &'a AllocationProblem, limits: &'a [FlowLimit]) -> Self {
        Self {
            network,
            limits,
            rates: vec![None; network.flows.len()],
            left: network.capacities.clone(),
            levels: vec![None; network.capacities.len()],
        }
    }

    fn rising(&self) -> impl Iterator<Item = (usize, &'a FlowClass)> {
        self.network.flows.iter().enumerate().filter(|(index, _)| self.rates[*index].is_none())
    }

    /// The lowest level at which a link becomes full or a flow reaches its limit, and which one.
    fn next(&self) -> Option<(f64, Stop)> {
        let mut weights = vec![0.0; self.left.len()];
        let mut stops = Vec::new();
        for (index, flow) in self.rising() {
            let FlowLimit { weight, max_rate } = self.limits[index];
            stops.push((max_rate / weight, Stop::Flow(index)));
            for &link in &flow.path {
                weights[link] += flow.count * weight;
            }
        }
        let links = weights.iter().enumerate().filter(|(_, weights)| **weights > 0.0);
        stops.extend(links.map(|(link, weights)| (self.left[link].max(0.0) / weights, Stop::Link(link))));
        // Links come last and win ties: a link that becomes full when a flow reaches its limit is a bottleneck.
        let lowest = stops.into_iter().reduce(|a, b| if b.0 <= a.0 { b } else { a })?;
        lowest.0.is_finite().then_some(lowest)
    }

    fn fill(&mut self, level: f64, stop: Stop) {
        let stopped: Vec<usize> = match stop {
            Stop::Flow(index) => vec![index],
            Stop::Link(link) => {
                self.levels[link] = Some(level);
                self.rising().filter(|(_, flow)| flow.path.contains(&link)).map(|(index, _)| index).collect()
            }
        };
        for index in stopped {
            let rate = level * self.limits[index].weight;
            self.rates[index] = Some(rate);
            for &link in &self.network.flows[index].path {
                self.left[link] -= rate * self.network.flows[index].count;
            }
        }
    }

    fn result(mut self) -> Equilibrium {
        let rates: Vec<f64> = self.rates.iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect();
        let loads = self.network.loads(&rates);
        self.mark_equal_levels(&rates, &loads);
        let bottlenecks: Vec<usize> = (0..loads.len()).filter(|&link| self.levels[link].is_some()).collect();
        let over =
            loads.iter().zip(&self.network.capacities).map(|(load, c)| load / c - 1.0).fold(0.0, f64::max);
        let responds: Vec<bool> =
            rates.iter().zip(self.limits).map(|(&rate, limit)| rate < limit.max_rate).collect();
        Equilibrium {
            uniqueness: uniqueness(self.network, &responds, &bottlenecks),
            prices: self.levels.iter().map(|level| level.unwrap_or(0.0)).collect(),
            certificate: Certificate { gap: 0.0, imbalance: over },
            rates,
            loads,
            bottlenecks,
        }
    }

    /// Marks further bottlenecks: links that became full at the same level as another link of the same flows.
    fn mark_equal_levels(&mut self, rates: &[f64], loads: &[f64]) {
        const SAME: f64 = 1e-12;
        for (link, load) in loads.iter().enumerate() {
            if self.levels[link].is_some() || *load < self.network.capacities[link] * (1.0 - SAME) {
                continue;
            }
            let users = self.network.flows.iter().zip(rates).zip(self.limits);
            let users = users.filter(|((flow, _), _)| flow.path.contains(&link));
            let highest = users.map(|((_, rate), limit)| (rate / limit.weight, *rate < limit.max_rate));
            self.levels[link] = highest
                .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                .and_then(|(level, free)| free.then_some(level));
        }
    }
}
