//! The aggregation tree of Theorem 8.2 of the LGCC paper: at each of `delta` depths, `zeta` flows are aggregated to one by
//! each router; the last router sends into the capacity K. The Jacobian is exact, by dual numbers.

use super::series;
use millpond_law::fluid::{Dual64, Number};
use millpond_protocols::parts::logistic::{Bases, LogisticForm};
use millpond_results::{EntityKind, Series};
use nalgebra::{DMatrix, Schur};
use serde::Deserialize;

/// The parameters of the tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationTree {
    /// The flows per router, zeta.
    flows: u32,
    /// The depth of the tree, delta.
    depth: u32,
    /// The capacity behind the last router, K.
    capacity: f64,
    /// Step size of rates at all depths, in 1/s.
    gamma: f64,
    /// Step sizes of prices, as multiples of the limit of Eq. (23) at their depth. Each is one step of the series.
    betas: Vec<f64>,
    /// Eq. (27), or Eq. (14).
    #[serde(default)]
    form: RateGrowth,
    /// Base of the logarithm of a rate in (14).
    #[serde(default = "natural")]
    phi1: f64,
    /// Base of the logarithm of the unmarked share in (14).
    #[serde(default = "natural")]
    phi2: f64,
}

const fn natural() -> f64 {
    std::f64::consts::E
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RateGrowth {
    #[default]
    Plain,
    Deflated,
}

/// The largest number of states.
const MAX_STATES: u64 = 300;

/// The maximum number of iterations for eigenvalues; if they do not converge, there are no values.
const MAX_ITERATIONS: usize = 100_000;

/// An eigenvalue counts as real if its imaginary part is below this share of its magnitude.
const REAL_TOLERANCE: f64 = 1e-6;

impl AggregationTree {
    pub(super) fn check(&self) -> Result<u64, String> {
        let (zeta, delta) = (u64::from(self.flows), self.depth);
        let routers =
            zeta.checked_pow(delta).filter(|_| zeta >= 2 && delta >= 1).map(|all| (all - 1) / (zeta - 1));
        match routers.and_then(|routers| routers.checked_mul(zeta + 1)) {
            Some(states) if states <= MAX_STATES => Ok(states * states * self.betas.len() as u64),
            _ => {
                Err(format!("expected at least 2 flows, a depth of at least 1, at most {MAX_STATES} states"))
            }
        }
    }

    fn zeta(&self) -> f64 {
        f64::from(self.flows)
    }

    fn form(&self) -> LogisticForm {
        match self.form {
            RateGrowth::Plain => LogisticForm::Plain,
            RateGrowth::Deflated => LogisticForm::Deflated(Bases::new(self.phi1, self.phi2)),
        }
    }

    /// The tree of Eq. (14) without step sizes of prices.
    pub(super) fn deflated(
        flows: u32,
        depth: u32,
        capacity: f64,
        gamma: f64,
        (phi1, phi2): (f64, f64),
    ) -> Self {
        Self { flows, depth, capacity, gamma, betas: Vec::new(), form: RateGrowth::Deflated, phi1, phi2 }
    }

    /// Eq. (30): the equilibrium rate of a flow of this depth.
    pub(super) fn equilibrium_rate(&self, depth: u32) -> f64 {
        self.capacity * libm::pow(self.zeta(), f64::from(depth) - f64::from(self.depth) - 1.0)
    }

    /// Eq. (29) or (22): the marking probability in equilibrium.
    pub(super) fn equilibrium_marking(&self) -> f64 {
        -libm::expm1(-libm::log(self.zeta()) / self.form().exponent())
    }

    /// The right-hand side of Eq. (27) or (14), divided by gamma x.
    pub(super) fn growth(&self, rate: f64, k: f64, price: f64) -> f64 {
        self.form().growth(rate, k, price)
    }

    /// Eq. (23): the largest step size of a price that the theorem allows at this depth, in 1/s.
    fn max_beta(&self, depth: u32) -> f64 {
        let power = f64::from(self.depth) - f64::from(depth) - 2.0;
        self.gamma * libm::pow(self.zeta(), power) / (4.0 * self.capacity)
    }

    /// The number of routers of this depth.
    fn routers(&self, depth: u32) -> usize {
        (self.flows as usize).pow(self.depth - depth)
    }

    /// The index of the first state of this depth. A router has the states of its flows, then its price.
    fn first_state(&self, depth: u32) -> usize {
        (1..depth).map(|above| self.routers(above) * (self.flows as usize + 1)).sum()
    }

    fn states(&self) -> usize {
        self.first_state(self.depth + 1)
    }

    /// The states in equilibrium: Eqs. (29) and (30), or (22).
    fn equilibrium(&self) -> Vec<f64> {
        let mut states = Vec::new();
        for depth in 1..=self.depth {
            let rates = std::iter::repeat_n(self.equilibrium_rate(depth), self.flows as usize);
            let router = rates.chain([self.equilibrium_marking()]);
            (0..self.routers(depth)).for_each(|_| states.extend(router.clone()));
        }
        states
    }

    /// The derivatives of router `j` at a depth: Eq. (27) or (14) of its flows, and Eq. (28) of its price.
    fn router_derivatives<T: Number>(&self, depth: u32, j: usize, beta: f64, x: &[T], dx: &mut [T]) {
        let zeta = self.flows as usize;
        let begin = self.first_state(depth) + j * (zeta + 1);
        let next_rate = if depth == self.depth {
            T::from(self.capacity)
        } else {
            x[self.first_state(depth + 1) + j / zeta * (zeta + 1) + j % zeta]
        };
        let price = x[begin + zeta];
        let mut sum = T::zero();
        for i in begin..begin + zeta {
            dx[i] = x[i] * self.form().growth(x[i], next_rate, price) * self.gamma;
            sum += x[i];
        }
        dx[begin + zeta] = (sum - next_rate) * (beta * self.max_beta(depth));
    }

    /// The eigenvalues in equilibrium as (real, imaginary) parts, for step sizes of `beta` times the limit of Eq. (23).
    fn eigenvalues(&self, beta: f64) -> Vec<(f64, f64)> {
        let equilibrium = self.equilibrium();
        let column = |state: usize| {
            let mut x: Vec<Dual64> = equilibrium.iter().map(|&value| Dual64::from(value)).collect();
            x[state] = x[state].derivative();
            let mut dx = vec![Dual64::from(0.0); x.len()];
            for depth in 1..=self.depth {
                (0..self.routers(depth)).for_each(|j| self.router_derivatives(depth, j, beta, &x, &mut dx));
            }
            dx.into_iter().map(|dx| dx.eps).collect::<Vec<_>>()
        };
        let entries: Vec<f64> = (0..self.states()).flat_map(column).collect();
        let jacobian = DMatrix::from_vec(self.states(), self.states(), entries);
        let schur = Schur::try_new(jacobian, f64::EPSILON, MAX_ITERATIONS);
        schur.map_or_else(Vec::new, |schur| {
            schur.complex_eigenvalues().iter().map(|root| (root.re, root.im)).collect()
        })
    }

    /// Whether an eigenvalue is not real, so that transients oscillate.
    fn is_oscillatory(&self, beta: f64) -> bool {
        self.eigenvalues(beta).iter().any(|(re, im)| im.abs() > REAL_TOLERANCE * libm::hypot(*re, *im))
    }

    /// The smallest step size of the last router's price with oscillatory transients, in 1/s, by bisection of its logarithm.
    fn least_oscillatory_beta(&self) -> f64 {
        let last = Self { depth: 1, ..self.clone() };
        let (mut low, mut high) = (1e-6_f64, 1e6_f64);
        for _ in 0..60 {
            let middle = libm::sqrt(low * high);
            if last.is_oscillatory(middle) { high = middle } else { low = middle }
        }
        low * last.max_beta(1)
    }

    /// Series of the group `tree`: for each beta the largest real and imaginary part of an eigenvalue; the number of states;
    /// and the smallest step size of the last router with complex eigenvalues.
    pub(super) fn series(&self) -> Vec<Series> {
        let all: Vec<_> = self.betas.iter().map(|&beta| self.eigenvalues(beta)).collect();
        let largest = |part: fn(&(f64, f64)) -> f64| {
            all.iter().map(|roots| roots.iter().map(part).fold(f64::NEG_INFINITY, f64::max)).collect()
        };
        vec![
            series(EntityKind::Group, "tree", "largest real part", "1/s", largest(|root| root.0)),
            series(EntityKind::Group, "tree", "largest imaginary part", "rad/s", largest(|root| root.1)),
            series(EntityKind::Group, "tree", "states", "1", vec![self.states() as f64]),
            series(
                EntityKind::Group,
                "tree",
                "least beta with complex eigenvalues",
                "1/s",
                vec![self.least_oscillatory_beta()],
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(flows: u32, depth: u32) -> AggregationTree {
        AggregationTree {
            flows,
            depth,
            capacity: 1.0,
            gamma: 1.0,
            betas: vec![0.5, 2.0],
            form: RateGrowth::Plain,
            phi1: natural(),
            phi2: natural(),
        }
    }

    #[test]
    fn the_tree_has_the_states_that_the_paper_counts() {
        for (flows, depth, states) in
            [(2, 1, 3), (2, 2, 9), (2, 3, 21), (2, 4, 45), (3, 2, 16), (3, 3, 52), (5, 2, 36)]
        {
            assert_eq!(tree(flows, depth).states(), states, "{flows} {depth}");
            assert_eq!(tree(flows, depth).equilibrium().len(), states);
        }
    }

    /// The closed forms are an equilibrium of the equations.
    #[test]
    fn the_derivatives_are_zero_in_equilibrium() {
        for form in [RateGrowth::Plain, RateGrowth::Deflated] {
            let tree = AggregationTree { form, phi1: 10.0, phi2: 5.0, ..tree(3, 2) };
            let (x, mut dx) = (tree.equilibrium(), vec![f64::NAN; tree.states()]);
            for depth in 1..=2 {
                (0..tree.routers(depth)).for_each(|j| tree.router_derivatives(depth, j, 1.0, &x, &mut dx));
            }
            assert!(dx.iter().all(|dx| dx.abs() < 1e-12), "{dx:?}");
        }
    }

    /// `-g / zeta`, and `(-g +- sqrt(g^2 - 4 K zeta^(d + 2 - delta) g b)) / (2 zeta)` at each depth.
    #[test]
    fn the_eigenvalues_are_those_of_the_single_routers() {
        let tree = tree(3, 2);
        for beta in [0.5, 3.0] {
            let found = tree.eigenvalues(beta);
            for depth in 1..=2_u32 {
                // With b = beta times (23) the root is 1 - beta at every depth.
                let square: f64 = 1.0 - beta;
                let (re, im) = if square >= 0.0 { (square.sqrt(), 0.0) } else { (0.0, (-square).sqrt()) };
                for (re, im) in [(-1.0 + re, im), (-1.0 - re, -im)].map(|(re, im)| (re / 6.0, im / 6.0)) {
                    let near = |root: &(f64, f64)| (root.0 - re).abs() + (root.1 - im).abs() < 1e-6;
                    assert!(found.iter().any(near), "depth {depth}, {re} {im}: {found:?}");
                }
            }
            assert!(found.iter().any(|root| (root.0 + 1.0 / 3.0).abs() < 1e-9 && root.1 == 0.0));
        }
    }
}
