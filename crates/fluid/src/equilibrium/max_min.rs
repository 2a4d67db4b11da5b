//! Weighted max-min fairness by water filling.

use super::{AllocationProblem, Certificate, Equilibrium, FlowClass, NoEquilibrium, uniqueness};

/// What one flow of a class may claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLimit {
    /// Rates rise in proportion to this.
    pub weight: f64,
    /// What the flow takes at most, whatever it is offered; infinite if nothing limits it elsewhere.
    pub max_rate: f64,
}

impl Default for FlowLimit {
    fn default() -> Self {
        Self { weight: 1.0, max_rate: f64::INFINITY }
    }
}

/// Raises the rates of all flows in proportion to their weights; whoever meets a full link, or its own limit, stops there.
///
/// The price of a bottleneck is the level at which it filled: the fair share per unit of weight, which is what CLTCP's `r`,
/// ACP's `p` and RCP's `R` converge to.
///
/// # Errors
/// A link without capacity, or a flow that nothing stops.
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
    Ok(filling.settled())
}

/// What stops the water next.
#[derive(Clone, Copy)]
enum Stop {
    Link(usize),
    Flow(usize),
}

/// The water as it rises.
struct WaterFilling<'a> {
    network: &'a AllocationProblem,
    limits: &'a [FlowLimit],
    rates: Vec<Option<f64>>,
    /// Capacity not taken by flows that have stopped.
    left: Vec<f64>,
    /// The level at which each link filled.
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

    /// The lowest level at which a link is full or a flow has enough.
    fn next(&self) -> Option<(f64, Stop)> {
        let mut pressure = vec![0.0; self.left.len()];
        let mut stops = Vec::new();
        for (index, flow) in self.rising() {
            let FlowLimit { weight, max_rate } = self.limits[index];
            stops.push((max_rate / weight, Stop::Flow(index)));
            for &link in &flow.path {
                pressure[link] += flow.count * weight;
            }
        }
        let links = pressure.iter().enumerate().filter(|(_, pressure)| **pressure > 0.0);
        stops.extend(links.map(|(link, pressure)| (self.left[link].max(0.0) / pressure, Stop::Link(link))));
        // A limit met at the very level at which a link fills leaves the link a bottleneck: links come last and win ties.
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

    fn settled(mut self) -> Equilibrium {
        let rates: Vec<f64> = self.rates.iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect();
        let loads = self.network.loads(&rates);
        self.full_together(&rates, &loads);
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

    /// Links that filled at the same moment as another one, and would stop the same flows, are bottlenecks as well.
    fn full_together(&mut self, rates: &[f64], loads: &[f64]) {
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
