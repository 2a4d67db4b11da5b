//! The aggregation tree of the LGCC paper over time, Eqs. (14) and (16), and what its proof of Theorem 8.1 takes for a
//! Lyapunov function, Eq. (25). All flows and routers of a depth are equal.

use super::series;
use super::tree::AggregationTree;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descent {
    /// zeta.
    flows: u32,
    /// delta.
    depth: u32,
    /// K.
    capacity: f64,
    /// Step size of a rate, in 1/s.
    gamma: f64,
    /// Step size of a price, as (16) has it: 1/s for each unit of rate.
    beta: f64,
    /// Base of the logarithm of a rate.
    phi1: f64,
    /// Base of the logarithm of what is not marked.
    phi2: f64,
    /// Where the rates of each depth begin, over where they rest.
    rates: Vec<f64>,
    /// Where the prices of each depth begin.
    prices: Vec<f64>,
    /// The most that a price may be; (16) has no such bound.
    #[serde(default = "unity")]
    most_marking: f64,
    /// In seconds.
    duration: f64,
}

const fn unity() -> f64 {
    1.0
}

/// Steps per second of an inverse step size.
const STEPS: f64 = 500.0;
/// Every so many steps a point is kept.
const THINNED: usize = 25;

/// Of each depth: a rate over where it rests, and a price.
#[derive(Clone, Debug)]
struct State(Vec<f64>);

impl Descent {
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

    /// What a depth's states do; beyond a price of 1 there is no logarithm.
    fn derivative(&self, tree: &AggregationTree, x: &[f64]) -> Vec<f64> {
        let depth = self.depth as usize;
        let mut dx = vec![0.0; x.len()];
        for d in 0..depth {
            let (rate, rest) = (x[d], tree.rate_at_rest(d as u32 + 1));
            let next = if d + 1 == depth { 1.0 } else { x[d + 1] };
            let k = next * rest * f64::from(self.flows);
            dx[d] = rate * tree.growth(rate * rest, k, x[depth + d]) * self.gamma;
            dx[depth + d] = self.beta * (rate * rest * f64::from(self.flows) - k);
        }
        dx
    }

    /// A step of Runge and Kutta's classical method, prices then kept at or above zero.
    fn step(&self, tree: &AggregationTree, x: &[f64], h: f64) -> Vec<f64> {
        let moved = |by: &[f64], h: f64| -> Vec<f64> { x.iter().zip(by).map(|(x, by)| x + h * by).collect() };
        let one = self.derivative(tree, x);
        let two = self.derivative(tree, &moved(&one, 0.5 * h));
        let three = self.derivative(tree, &moved(&two, 0.5 * h));
        let four = self.derivative(tree, &moved(&three, h));
        let mean = one.iter().zip(&two).zip(three.iter().zip(&four));
        let mean: Vec<f64> = mean.map(|((a, b), (c, d))| (a + 2.0 * (b + c) + d) / 6.0).collect();
        let mut next = moved(&mean, h);
        next[self.depth as usize..].iter_mut().for_each(|price| *price = price.clamp(0.0, self.most_marking));
        next
    }

    /// Until the end, or until a price of 1.
    fn trajectory(&self, tree: &AggregationTree) -> Vec<State> {
        let h = 1.0 / (STEPS * self.fastest());
        let steps = (self.duration / h) as usize;
        let mut x: Vec<f64> = self.rates.iter().chain(&self.prices).copied().collect();
        let mut kept = vec![State(x.clone())];
        for n in 1..=steps {
            x = self.step(tree, &x, h);
            let left = x.iter().any(|x| !x.is_finite()) || x[self.depth as usize..].iter().any(|p| *p >= 1.0);
            if left {
                let inside = |(i, x): (usize, &f64)| if i < self.depth as usize { *x } else { x.min(1.0) };
                kept.push(State(x.iter().enumerate().map(inside).collect()));
                break;
            }
            if n % THINNED == 0 {
                kept.push(State(x.clone()));
            }
        }
        kept
    }

    /// Eq. (25), with its first integrand as it must be meant: `(phi - x*) / (phi gamma)`.
    fn lyapunov(&self, tree: &AggregationTree, State(x): &State) -> f64 {
        let depth = self.depth as usize;
        let rest = tree.marking_at_rest();
        // Of ln(1 - p): its integral is this, up to a constant.
        let integral = |p: f64| if p < 1.0 { -(1.0 - p) * libm::log1p(-p) - p } else { -1.0 };
        let of = |d: usize| {
            let (ratio, p) = (x[d], x[depth + d]);
            let routers = libm::pow(f64::from(self.flows), (depth - d - 1) as f64);
            let flows = routers * f64::from(self.flows);
            let rate = tree.rate_at_rest(d as u32 + 1) * (ratio - 1.0 - libm::log(ratio)) / self.gamma;
            let price = (p - rest) * libm::log1p(-rest) - (integral(p) - integral(rest));
            flows * rate + routers * price / (self.beta * libm::log(self.phi2))
        };
        (0..depth).map(of).sum()
    }

    /// Of `depth1`, ...: the rate of a flow over where it rests, and the price; of the group `tree` the largest price,
    /// the largest distance from rest, and (25) over what it was at the start.
    pub(super) fn series(&self) -> Vec<Series> {
        let tree = self.tree();
        let (depth, rest) = (self.depth as usize, tree.marking_at_rest());
        let states = self.trajectory(&tree);
        let tick = THINNED as f64 / (STEPS * self.fastest());
        let over_time = |kind, entity: &str, quantity, of: &dyn Fn(&State) -> f64| {
            let values = states.iter().map(of).collect();
            let all = series(kind, entity, quantity, "1", values);
            Series { times: all.times.iter().map(|n| n * tick).collect(), ..all }
        };
        let start = states.first().map_or(1.0, |state| self.lyapunov(&tree, state));
        let largest = |state: &State| state.0[depth..].iter().copied().fold(0.0, f64::max);
        let distance = |state: &State| {
            let of = |(i, x): (usize, &f64)| (x - if i < depth { 1.0 } else { rest }).abs();
            state.0.iter().enumerate().map(of).fold(0.0, f64::max)
        };
        let mut all = vec![
            over_time(EntityKind::Group, "tree", "largest marking probability", &largest),
            over_time(EntityKind::Group, "tree", "distance from rest", &distance),
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

    fn loops(depth: u32, beta: f64, rates: Vec<f64>) -> Descent {
        let prices = vec![0.5; depth as usize];
        Descent {
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

    fn of(all: &[Series], quantity: &str) -> Vec<f64> {
        all.iter().find(|one| one.quantity == quantity).unwrap().values.clone()
    }

    #[test]
    fn where_it_rests_it_stays_and_the_function_is_zero() {
        let still = loops(3, 1.0, vec![1.0; 3]);
        let tree = still.tree();
        assert!(still.derivative(&tree, &[1.0, 1.0, 1.0, 0.5, 0.5, 0.5]).iter().all(|dx| dx.abs() < 1e-12));
        assert!(still.lyapunov(&tree, &State(vec![1.0, 1.0, 1.0, 0.5, 0.5, 0.5])).abs() < 1e-12);
    }

    /// dV/dt <= sum (x - x*) (U'(x) - U'(x*)) where k stands still: a single loop.
    #[test]
    fn a_single_loop_comes_to_rest_and_never_rises() {
        let all = loops(1, 1.0, vec![0.1]).series();
        let v = of(&all, "Lyapunov function");
        assert!(v.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
        assert!(of(&all, "distance from rest").last().unwrap() < &1e-3);
    }

    #[test]
    fn a_chain_comes_to_rest_although_the_function_rises_on_the_way() {
        let all = Descent { prices: vec![0.5, 0.5, 0.0], ..loops(3, 4.0, vec![1.0; 3]) }.series();
        assert!(of(&all, "Lyapunov function").iter().copied().fold(0.0, f64::max) > 1.1);
        assert!(of(&all, "distance from rest").last().unwrap() < &1e-3);
    }
}
