//! The marking probability at rest, Eqs. (8) and (22) of the LGCC paper: step `S` is for `S` flows.

use super::series;
use millpond_protocols::parts::logistic::Bases;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquilibriumMarking {
    /// The most flows.
    pub(super) steps: u32,
    /// Base of the logarithm of a rate.
    phi1: f64,
    /// Base of the logarithm of what is not marked.
    phi2: f64,
}

impl EquilibriumMarking {
    /// The marking probability of `link`, and the rate of `flow` over n links in a row, each with a flow of its own: the
    /// root of `x = (1 - x)^n`.
    pub(super) fn series(&self) -> Vec<Series> {
        let bases = Bases::new(self.phi1, self.phi2);
        let marking = |flows: u32| if flows == 0 { 0.0 } else { bases.equilibrium_marking(flows.into()) };
        let markings = (0..=self.steps).map(marking).collect();
        let rates: Vec<f64> = (0..=self.steps).map(|links| long_flow(f64::from(links))).collect();
        let link = |x: &f64| -libm::expm1(libm::log1p(-x) / bases.exponent());
        let of_links = rates.iter().map(link).collect();
        vec![
            series(EntityKind::Link, "link", "marking probability", "1", markings),
            series(EntityKind::Flow, "long", "rate", "1", rates),
            series(EntityKind::Link, "of a row", "marking probability", "1", of_links),
        ]
    }
}

/// `x = (1 - x)^n` by bisection: the right side falls.
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
    fn over_n_links_the_long_flow_has_the_product_of_the_short_ones() {
        // The golden ratio's square for two links: x = (1 - x)^2.
        for (links, rate) in [(1.0, 0.5), (2.0, (3.0 - 5_f64.sqrt()) / 2.0), (0.0, 1.0)] {
            assert!((long_flow(links) - rate).abs() < 1e-12, "{links}");
        }
    }
}
