//! The aggregation tree of the LGCC paper over time, Eqs. (14) and (16), and the function that its proof of Theorem 8.1
//! uses as Lyapunov function, Eq. (25). All flows and routers of a depth are equal.

use super::series;
use super::tree::AggregationTree;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// The parameters of the tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeOverTime {
    /// The flows per router, zeta.
    flows: u32,
    /// The depth of the tree, delta.
    depth: u32,
    /// The capacity behind the last router, K.
    capacity: f64,
    /// Step size of a rate, in 1/s.
    gamma: f64,
    /// Step size of a price in Eq. (16), in 1/s for each unit of rate.
    beta: f64,
    /// Base of the logarithm of a rate.
    phi1: f64,
    /// Base of the logarithm of the unmarked share.
    phi2: f64,
    /// The initial rates of each depth, relative to their equilibrium.
    rates: Vec<f64>,
    /// The initial prices of each depth.
    prices: Vec<f64>,
    /// The upper bound of prices; Eq. (16) has no such bound.
    #[serde(default = "unity")]
    most_marking: f64,
    /// The duration in seconds.
    duration: f64,
}

const fn unity() -> f64 {
    1.0
}

/// Integration steps per time constant, which is the inverse of the largest step size.
const STEPS: f64 = 500.0;
/// The number of integration steps per recorded point.
const THINNED: usize = 25;

/// The rates of all depths relative to their equilibrium, then the prices of all depths.
#[derive(Clone, Debug)]
struct TreeState(Vec<f64>);

impl TreeOverTime {
    pub(super) fn check(&self) -> Result<u64, String> {
        let depth = self.depth as usize;
        if self.rates.len() != depth || self.prices.len() != depth || self.rates.iter().any(|x| *x <= 0.0) {
            return Err("rates and prices: expected one for each depth, rates above zero".into());
        }
        let steps = (self.duration * STEPS * self.fastest()) as u64;
        Ok(self.tree().check()? + 3 * steps * u64::from(self.depth) / THINNED as u64)
    }

    /// The largest step size, in 1/s.
    fn fastest(&self) -> f64 {
        self.gamma.max(self.beta * self.capacity)
    }

    fn tree(&self) -> AggregationTree {
        AggregationTree::deflated(self.flows, self.depth, self.capacity, self.gamma, (self.phi1, self.phi2))
    }

    /// The derivatives of all states, Eqs. (14) and (16); prices must be below 1.
    fn derivative(&self, tree: &AggregationTree, x: &[f64]) -> Vec<f64> {
        let depth = self.depth as usize;
        let mut dx = vec![0.0; x.len()];
        for d in 0..depth {
            let (rate, equilibrium) = (x[d], tree.equilibrium_rate(d as u32 + 1));
            let next = if d + 1 == depth { 1.0 } else { x[d + 1] };
            let k = next * equilibrium * f64::from(self.flows);
            dx[d] = rate * tree.growth(rate * equilibrium, k, x[depth + d]) * self.gamma;
            dx[depth + d] = self.beta * (rate * equilibrium * f64::from(self.flows) - k);
        }
        dx
    }

    /// One step of the classical Runge-Kutta method; prices are then limited to their bounds.
    fn step(&self, tree: &AggregationTree, x: &[f64], h: f64) -> Vec<f64> {
        let advanced = |slope: &[f64], h: f64| -> Vec<f64> {
            x.iter().zip(slope).map(|(x, slope)| x + h * slope).collect()
        };
        let one = self.derivative(tree, x);
        let two = self.derivative(tree, &advanced(&one, 0.5 * h));
        let three = self.derivative(tree, &advanced(&two, 0.5 * h));
        let four = self.derivative(tree, &advanced(&three, h));
        let slopes = one.iter().zip(&two).zip(three.iter().zip(&four));
        let mean: Vec<f64> = slopes.map(|((a, b), (c, d))| (a + 2.0 * (b + c) + d) / 6.0).collect();
        let mut next = advanced(&mean, h);
        next[self.depth as usize..].iter_mut().for_each(|price| *price = price.clamp(0.0, self.most_marking));
        next
    }

    /// The recorded states until the end, or until a price reaches 1.
    fn trajectory(&self, tree: &AggregationTree) -> Vec<TreeState> {
        let h = 1.0 / (STEPS * self.fastest());
        let steps = (self.duration / h) as usize;
        let mut x: Vec<f64> = self.rates.iter().chain(&self.prices).copied().collect();
        let mut recorded = vec![TreeState(x.clone())];
        for n in 1..=steps {
            x = self.step(tree, &x, h);
            let diverged =
                x.iter().any(|x| !x.is_finite()) || x[self.depth as usize..].iter().any(|p| *p >= 1.0);
            if diverged {
                let bounded = |(i, x): (usize, &f64)| if i < self.depth as usize { *x } else { x.min(1.0) };
                recorded.push(TreeState(x.iter().enumerate().map(bounded).collect()));
                break;
            }
            if n % THINNED == 0 {
                recorded.push(TreeState(x.clone()));
            }
        }
        recorded
    }

    /// Eq. (25) with the corrected first integrand `(phi - x*) / (phi gamma)`.
    fn lyapunov(&self, tree: &AggregationTree, TreeState(x): &TreeState) -> f64 {
        let depth = self.depth as usize;
        let equilibrium = tree.equilibrium_marking();
        // The integral of ln(1 - p), up to a constant.
        let integral = |p: f64| if p < 1.0 { -(1.0 - p) * libm::log1p(-p) - p } else { -1.0 };
        let of_depth = |d: usize| {
            let (ratio, p) = (x[d], x[depth + d]);
            let routers = libm::pow(f64::from(self.flows), (depth - d - 1) as f64);
            let flows = routers * f64::from(self.flows);
            let rate = tree.equilibrium_rate(d as u32 + 1) * (ratio - 1.0 - libm::log(ratio)) / self.gamma;
            let price = (p - equilibrium) * libm::log1p(-equilibrium) - (integral(p) - integral(equilibrium));
            flows * rate + routers * price / (self.beta * libm::log(self.phi2))
        };
        (0..depth).map(of_depth).sum()
    }

    /// Series of `depth1`, ...: the rate of a flow relative to its equilibrium, and the price. Series of the group `tree`:
    /// the largest price, the largest distance from the equilibrium, and Eq. (25) relative to its initial value.
    pub(super) fn series(&self) -> Vec<Series> {
        let tree = self.tree();
        let (depth, equilibrium) = (self.depth as usize, tree.equilibrium_marking());
        let states = self.trajectory(&tree);
        let interval = THINNED as f64 / (STEPS * self.fastest());
        let over_time = |kind, entity: &str, quantity, value: &dyn Fn(&TreeState) -> f64| {
            let values = states.iter().map(value).collect();
            let all = series(kind, entity, quantity, "1", values);
            Series { times: all.times.iter().map(|n| n * interval).collect(), ..all }
        };
        let start = states.first().map_or(1.0, |state| self.lyapunov(&tree, state));
        let largest = |state: &TreeState| state.0[depth..].iter().copied().fold(0.0, f64::max);
        let distance = |state: &TreeState| {
            let of_state = |(i, x): (usize, &f64)| (x - if i < depth { 1.0 } else { equilibrium }).abs();
            state.0.iter().enumerate().map(of_state).fold(0.0, f64::max)
        };
        let mut all = vec![
            over_time(EntityKind::Group, "tree", "largest marking probability", &largest),
            over_time(EntityKind::Group, "tree", "distance from equilibrium", &distance),
            over_time(EntityKind::Group, "tree", "Lyapunov function", &|s| self.lyapunov(&tree, s) / start),
        ];
        for d in 0..depth {
            let name = format!("depth{}", d + 1);
            all.push(over_time(EntityKind::Flow, &name, "share", &|state| state.0[d]));
            all.push(over_time(EntityKind::Link, &name, "marking probability", &|state| state.0[depth + d]));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::E;

    fn loops(depth: u32, beta: f64, rates: Vec<f64>) -> TreeOverTime {
        let prices = vec![0.5; depth as usize];
        TreeOverTime {
            flows: 2,
            depth,
            capacity: 1.0,
            gamma: 1.0,
            beta,
            phi1: E,
            phi2: E,
            rates,
            prices,
            most_marking: 1.0,
            duration: 40.0,
        }
    }

    fn values(all: &[Series], quantity: &str) -> Vec<f64> {
        all.iter().find(|one| one.quantity == quantity).unwrap().values.clone()
    }

    #[test]
    fn in_equilibrium_the_derivatives_and_the_function_are_zero() {
        let tree_in_equilibrium = loops(3, 1.0, vec![1.0; 3]);
        let tree = tree_in_equilibrium.tree();
        assert!(
            tree_in_equilibrium
                .derivative(&tree, &[1.0, 1.0, 1.0, 0.5, 0.5, 0.5])
                .iter()
                .all(|dx| dx.abs() < 1e-12)
        );
        assert!(
            tree_in_equilibrium.lyapunov(&tree, &TreeState(vec![1.0, 1.0, 1.0, 0.5, 0.5, 0.5])).abs() < 1e-12
        );
    }

    /// If k is constant, as with a single loop, dV/dt <= sum (x - x*) (U'(x) - U'(x*)).
    #[test]
    fn a_single_loop_converges_and_the_function_never_increases() {
        let all = loops(1, 1.0, vec![0.1]).series();
        let v = values(&all, "Lyapunov function");
        assert!(v.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
        assert!(values(&all, "distance from equilibrium").last().unwrap() < &1e-3);
    }

    #[test]
    fn a_chain_converges_although_the_function_increases_temporarily() {
        let all = TreeOverTime { prices: vec![0.5, 0.5, 0.0], ..loops(3, 4.0, vec![1.0; 3]) }.series();
        assert!(values(&all, "Lyapunov function").iter().copied().fold(0.0, f64::max) > 1.1);
        assert!(values(&all, "distance from equilibrium").last().unwrap() < &1e-3);
    }
}
