//! The aggregation tree of Theorem 8.2 of the LGCC paper: `zeta` flows meet at each router and go on as one, `delta`
//! times; the last router sends into the capacity K. Its Jacobian is taken exactly, by dual numbers.

use super::series;
use millpond_law::fluid::{Dual64, Number};
use millpond_protocols::parts::logistic::{Bases, LogisticForm};
use millpond_results::{EntityKind, Series};
use nalgebra::{DMatrix, Schur};
use serde::Deserialize;

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationTree {
    /// zeta.
    flows: u32,
    /// delta.
    depth: u32,
    /// K.
    capacity: f64,
    /// Step size of a rate, per second, everywhere.
    gamma: f64,
    /// Step sizes of prices, as multiples of the most that (23) allows at their depth. A step of the series each.
    betas: Vec<f64>,
    /// (27), or (14).
    #[serde(default)]
    form: Growth,
    /// Base of the logarithm of a rate in (14).
    #[serde(default = "natural")]
    phi1: f64,
    /// Base of the logarithm of what is not marked in (14).
    #[serde(default = "natural")]
    phi2: f64,
}

const fn natural() -> f64 {
    std::f64::consts::E
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Growth {
    #[default]
    Plain,
    Deflated,
}

/// Larger trees are taken for a mistake.
const MOST_STATES: u64 = 300;

/// Of the algorithm that finds eigenvalues; what has none after that leaves its rows unmeasured.
const MOST_ITERATIONS: usize = 100_000;

/// An eigenvalue whose imaginary part is less than this share of its size is real.
const REAL: f64 = 1e-6;

impl AggregationTree {
    pub(super) fn check(&self) -> Result<u64, String> {
        let (zeta, delta) = (u64::from(self.flows), self.depth);
        let routers =
            zeta.checked_pow(delta).filter(|_| zeta >= 2 && delta >= 1).map(|all| (all - 1) / (zeta - 1));
        match routers.and_then(|routers| routers.checked_mul(zeta + 1)) {
            Some(states) if states <= MOST_STATES => Ok(states * states * self.betas.len() as u64),
            _ => {
                Err(format!("expected at least 2 flows, a depth of at least 1, at most {MOST_STATES} states"))
            }
        }
    }

    fn zeta(&self) -> f64 {
        f64::from(self.flows)
    }

    fn form(&self) -> LogisticForm {
        match self.form {
            Growth::Plain => LogisticForm::Plain,
            Growth::Deflated => LogisticForm::Deflated(Bases::new(self.phi1, self.phi2)),
        }
    }

    /// The tree of (14) without prices of its own.
    pub(super) fn deflated(
        flows: u32,
        depth: u32,
        capacity: f64,
        gamma: f64,
        (phi1, phi2): (f64, f64),
    ) -> Self {
        Self { flows, depth, capacity, gamma, betas: Vec::new(), form: Growth::Deflated, phi1, phi2 }
    }

    /// Eq. (30): of a flow of this depth.
    pub(super) fn rate_at_rest(&self, depth: u32) -> f64 {
        self.capacity * libm::pow(self.zeta(), f64::from(depth) - f64::from(self.depth) - 1.0)
    }

    /// Eq. (29), or (22).
    pub(super) fn marking_at_rest(&self) -> f64 {
        -libm::expm1(-libm::log(self.zeta()) / self.form().exponent())
    }

    /// (27) or (14) over gamma x.
    pub(super) fn growth(&self, rate: f64, k: f64, price: f64) -> f64 {
        self.form().growth(rate, k, price)
    }

    /// Eq. (23): the most that the theorem allows at this depth.
    fn most_beta(&self, depth: u32) -> f64 {
        let power = f64::from(self.depth) - f64::from(depth) - 2.0;
        self.gamma * libm::pow(self.zeta(), power) / (4.0 * self.capacity)
    }

    /// Routers of this depth: one at the last.
    fn routers(&self, depth: u32) -> usize {
        (self.flows as usize).pow(self.depth - depth)
    }

    /// Where the states of the routers of this depth begin: of each its flows, then its price.
    fn begin(&self, depth: u32) -> usize {
        (1..depth).map(|above| self.routers(above) * (self.flows as usize + 1)).sum()
    }

    fn states(&self) -> usize {
        self.begin(self.depth + 1)
    }

    /// The rest point: (29) and (30), or (22).
    fn rest(&self) -> Vec<f64> {
        let mut rest = Vec::new();
        for depth in 1..=self.depth {
            let rates = std::iter::repeat_n(self.rate_at_rest(depth), self.flows as usize);
            let router = rates.chain([self.marking_at_rest()]);
            (0..self.routers(depth)).for_each(|_| rest.extend(router.clone()));
        }
        rest
    }

    /// (27) or (14), and (28), of router `j` at a depth.
    fn router<T: Number>(&self, depth: u32, j: usize, beta: f64, x: &[T], dx: &mut [T]) {
        let zeta = self.flows as usize;
        let begin = self.begin(depth) + j * (zeta + 1);
        let goes_on = if depth == self.depth {
            T::from(self.capacity)
        } else {
            x[self.begin(depth + 1) + j / zeta * (zeta + 1) + j % zeta]
        };
        let price = x[begin + zeta];
        let mut sum = T::zero();
        for i in begin..begin + zeta {
            dx[i] = x[i] * self.form().growth(x[i], goes_on, price) * self.gamma;
            sum += x[i];
        }
        dx[begin + zeta] = (sum - goes_on) * (beta * self.most_beta(depth));
    }

    /// The eigenvalues at rest, with prices that move by so many times what (23) allows.
    fn eigenvalues(&self, beta: f64) -> Vec<(f64, f64)> {
        let rest = self.rest();
        let column = |state: usize| {
            let mut x: Vec<Dual64> = rest.iter().map(|&value| Dual64::from(value)).collect();
            x[state] = x[state].derivative();
            let mut dx = vec![Dual64::from(0.0); x.len()];
            for depth in 1..=self.depth {
                (0..self.routers(depth)).for_each(|j| self.router(depth, j, beta, &x, &mut dx));
            }
            dx.into_iter().map(|dx| dx.eps).collect::<Vec<_>>()
        };
        let entries: Vec<f64> = (0..self.states()).flat_map(column).collect();
        let jacobian = DMatrix::from_vec(self.states(), self.states(), entries);
        let schur = Schur::try_new(jacobian, f64::EPSILON, MOST_ITERATIONS);
        schur.map_or_else(Vec::new, |schur| {
            schur.complex_eigenvalues().iter().map(|root| (root.re, root.im)).collect()
        })
    }

    fn rings(&self, beta: f64) -> bool {
        self.eigenvalues(beta).iter().any(|(re, im)| im.abs() > REAL * libm::hypot(*re, *im))
    }

    /// The least step of the last router's price that rings, in 1/s, by bisection in its logarithm.
    fn ringing(&self) -> f64 {
        let last = Self { depth: 1, ..self.clone() };
        let (mut low, mut high) = (1e-6_f64, 1e6_f64);
        for _ in 0..60 {
            let middle = libm::sqrt(low * high);
            if last.rings(middle) { high = middle } else { low = middle }
        }
        low * last.most_beta(1)
    }

    /// Of the group `tree`, for each beta: the largest real part and the largest imaginary part of an eigenvalue; and
    /// what the last router may have without ringing.
    pub(super) fn series(&self) -> Vec<Series> {
        let all: Vec<_> = self.betas.iter().map(|&beta| self.eigenvalues(beta)).collect();
        let most = |part: fn(&(f64, f64)) -> f64| {
            all.iter().map(|roots| roots.iter().map(part).fold(f64::NEG_INFINITY, f64::max)).collect()
        };
        vec![
            series(EntityKind::Group, "tree", "largest real part", "1/s", most(|root| root.0)),
            series(EntityKind::Group, "tree", "largest imaginary part", "rad/s", most(|root| root.1)),
            series(EntityKind::Group, "tree", "states", "1", vec![self.states() as f64]),
            series(EntityKind::Group, "tree", "least beta that rings", "1/s", vec![self.ringing()]),
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
            form: Growth::Plain,
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
            assert_eq!(tree(flows, depth).rest().len(), states);
        }
    }

    /// The rest point is one: nothing moves there.
    #[test]
    fn at_rest_nothing_moves() {
        for form in [Growth::Plain, Growth::Deflated] {
            let tree = AggregationTree { form, phi1: 10.0, phi2: 5.0, ..tree(3, 2) };
            let (x, mut dx) = (tree.rest(), vec![f64::NAN; tree.states()]);
            for depth in 1..=2 {
                (0..tree.routers(depth)).for_each(|j| tree.router(depth, j, 1.0, &x, &mut dx));
            }
            assert!(dx.iter().all(|dx| dx.abs() < 1e-12), "{dx:?}");
        }
    }

    /// `-g / zeta`, and `(-g +- sqrt(g^2 - 4 K zeta^(d + 2 - delta) g b)) / (2 zeta)` at each depth.
    #[test]
    fn the_eigenvalues_are_those_of_each_router_apart() {
        let tree = tree(3, 2);
        for beta in [0.5, 3.0] {
            let found = tree.eigenvalues(beta);
            for depth in 1..=2_u32 {
                // With b = beta times (23) the root is 1 - beta whatever the depth.
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
