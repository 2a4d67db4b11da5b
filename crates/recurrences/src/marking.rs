//! The marking probability in equilibrium, Eqs. (8) and (22) of the LGCC paper: step `S` is for `S` flows.

use super::series;
use millpond_protocols::parts::logistic::Bases;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// The parameters of the equilibrium.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquilibriumMarking {
    /// The largest number of flows.
    pub(super) steps: u32,
    /// Base of the logarithm of a rate.
    phi1: f64,
    /// Base of the logarithm of the unmarked share.
    phi2: f64,
}

impl EquilibriumMarking {
    /// Series: the marking probability of `link`; for a parking lot of n links, each with a cross flow, the rate of the flow
    /// `long`, which is the root of `x = (1 - x)^n`, and the marking probability of each link.
    pub(super) fn series(&self) -> Vec<Series> {
        let bases = Bases::new(self.phi1, self.phi2);
        let marking = |flows: u32| if flows == 0 { 0.0 } else { bases.equilibrium_marking(flows.into()) };
        let markings = (0..=self.steps).map(marking).collect();
        let rates: Vec<f64> = (0..=self.steps).map(|links| long_flow(f64::from(links))).collect();
        let link_marking = |x: &f64| -libm::expm1(libm::log1p(-x) / bases.exponent());
        let parking_lot = rates.iter().map(link_marking).collect();
        vec![
            series(EntityKind::Link, "link", "marking probability", "1", markings),
            series(EntityKind::Flow, "long", "rate", "1", rates),
            series(EntityKind::Link, "parking lot", "marking probability", "1", parking_lot),
        ]
    }
}

/// The root of `x = (1 - x)^n` by bisection.
fn long_flow(links: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle < libm::pow(1.0 - middle, links) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_the_long_flow_is_the_product_of_those_of_the_cross_flows() {
        // The golden ratio's square for two links: x = (1 - x)^2.
        for (links, rate) in [(1.0, 0.5), (2.0, (3.0 - 5_f64.sqrt()) / 2.0), (0.0, 1.0)] {
            assert!((long_flow(links) - rate).abs() < 1e-12, "{links}");
        }
    }
}
