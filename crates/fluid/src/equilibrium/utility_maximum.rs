//! The maximum of the total utility of a network, by the prices of its links.

use super::max_min::{FlowLimit, water_filling};
use super::rank::routing;
use super::{AllocationProblem, Certificate, Equilibrium, NoEquilibrium, certify, uniqueness};
use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::NonnegativeConeT;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver};
use millpond_law::fluid::Marginal;
use nalgebra::{DMatrix, DVector};

/// Largest number of Newton steps; the error is squared by each step near the optimum.
const MAX_STEPS: usize = 200;
/// Largest number of final steps without the interior-point method.
const MAX_FINAL_STEPS: usize = 20;
/// The gap at which the final steps may begin.
const FINAL_GAP: f64 = 1e-4;
/// The gap at which the search ends.
const OPTIMAL_GAP: f64 = 1e-14;
/// The largest gap of an accepted result.
const ACCEPTED_GAP: f64 = 1e-8;
/// Largest relative excess of a load over the capacity that counts as feasible.
const EXCESS: f64 = 1e-10;
/// A price below this share of the path price of each of its flows is a rounding error of the interior-point method.
const NEGLIGIBLE: f64 = 1e-9;

/// Maximizes the sum of U(x) over the feasible rates. Prices are the multipliers of the capacity constraints.
///
/// The method is Newton's method on the dual problem, the minimum of D(p) over p >= 0. Its gradient is capacity minus
/// load, its Hessian R diag(-1/U'') R'. Each step is a quadratic program, solved by an interior-point method that also
/// finds the links with a price.
///
/// # Errors
/// A link without capacity, a flow without a limit, a utility that is not strictly concave, or no convergence.
pub fn maximize<U: Marginal>(
    network: &AllocationProblem,
    utilities: &[U],
) -> Result<Equilibrium, NoEquilibrium> {
    for (index, utility) in utilities.iter().enumerate() {
        check_concave(index, utility, smallest_capacity(network, index).min(utility.demand(0.0)))?;
    }
    let mut search = PriceSearch::start(network, utilities)?;
    search.repeat(MAX_STEPS, PriceSearch::step);
    for _ in 0..network.capacities.len() {
        search.repeat(MAX_FINAL_STEPS, PriceSearch::polish);
        if search.certificate().worst() < ACCEPTED_GAP {
            break;
        }
        search.release();
    }
    search.result()
}

/// The smallest capacity of a path.
fn smallest_capacity(network: &AllocationProblem, flow: usize) -> f64 {
    network.flows[flow].path.iter().map(|&link| network.capacities[link]).fold(f64::INFINITY, f64::min)
}

/// Checks that the marginal utility decreases over six decades below the flow's largest rate.
fn check_concave(flow: usize, utility: &impl Marginal, limit: f64) -> Result<(), NoEquilibrium> {
    const SAMPLES: i32 = 120;
    if limit.is_infinite() {
        return Err(NoEquilibrium::Unlimited { flow });
    }
    if !utility.is_concave() {
        return Err(NoEquilibrium::NotConcave { flow, rate: limit });
    }
    let rate = |sample: i32| limit * 10f64.powf(-f64::from(sample) * 6.0 / f64::from(SAMPLES));
    for sample in 1..=SAMPLES {
        let (less, more) = (rate(sample), rate(sample - 1));
        let (high, low) = (utility.marginal(less), utility.marginal(more));
        if high.is_nan() || low.is_nan() || low > high {
            return Err(NoEquilibrium::NotConcave { flow, rate: more });
        }
        if low == high {
            return Err(NoEquilibrium::NotUnique { flow, rate: more });
        }
    }
    Ok(())
}

/// The state of the search: prices, and the demands at these prices.
struct PriceSearch<'a, U> {
    network: &'a AllocationProblem,
    utilities: &'a [U],
    rates: Vec<f64>,
    prices: Vec<f64>,
    /// A link whose price is kept at zero for now.
    released: Option<usize>,
}

impl<'a, U: Marginal> PriceSearch<'a, U> {
    /// Starts with the largest price that any flow would pay for its max-min rate, at every link. No demand is then too
    /// large.
    fn start(network: &'a AllocationProblem, utilities: &'a [U]) -> Result<Self, NoEquilibrium> {
        let limit = |utility: &U| FlowLimit { weight: 1.0, max_rate: utility.demand(0.0) };
        let limits: Vec<FlowLimit> = utilities.iter().map(limit).collect();
        let fair = water_filling(network, &limits)?;
        let mut prices = vec![0.0_f64; network.capacities.len()];
        for (index, flow) in network.flows.iter().enumerate() {
            let pays = utilities[index].marginal(fair.rates[index]).max(0.0);
            for &link in &flow.path {
                prices[link] = prices[link].max(pays);
            }
        }
        let mut search = Self { network, utilities, rates: fair.rates, prices, released: None };
        search.set_rates_to_demand();
        Ok(search)
    }

    /// Sets each rate to the demand at its path price.
    fn set_rates_to_demand(&mut self) {
        let demand = |(flow, utility): (_, &U)| utility.demand(self.network.path_price(flow, &self.prices));
        self.rates = self.network.flows.iter().zip(self.utilities).map(demand).collect();
    }

    fn certificate(&self) -> Certificate {
        certify(self.network, self.utilities, &self.rates, &self.prices)
    }

    /// Whether each flow responds to prices: its rate is below its own limit.
    fn responds(&self) -> Vec<bool> {
        self.rates.iter().zip(self.utilities).map(|(rate, utility)| *rate < utility.demand(0.0)).collect()
    }

    /// The unused capacity of each link, which is the gradient of the dual.
    fn unused_capacity(&self) -> DVector<f64> {
        let loads = self.network.loads(&self.rates);
        DVector::from_iterator(loads.len(), self.network.capacities.iter().zip(&loads).map(|(c, y)| c - y))
    }

    /// Makes up to this number of steps and keeps the best prices; ends early if they no longer improve.
    fn repeat(&mut self, steps: usize, step: impl Fn(&mut Self)) {
        const PATIENCE: usize = 5;
        let mut best = (self.certificate().worst(), self.prices.clone());
        let mut idle = 0;
        for _ in 0..steps {
            step(self);
            let worst = self.certificate().worst();
            if worst < best.0 || !best.0.is_finite() {
                best = (worst, self.prices.clone());
                idle = 0;
            }
            idle += 1;
            if best.0 < OPTIMAL_GAP || (best.0 < FINAL_GAP && idle > PATIENCE) {
                break;
            }
        }
        self.prices = best.1;
        self.set_rates_to_demand();
    }

    fn step(&mut self) {
        let links: Vec<usize> = (0..self.prices.len()).collect();
        let (balanced, size) = self.curvature(&links);
        let slope = self.unused_capacity().component_mul(&size);
        if let Some(rise) = quadratic_program(&balanced, &slope, self.floors(&size)) {
            self.advance(&rise.component_mul(&size));
        }
    }

    /// Lower bounds of a step: no price becomes negative, and the path price of a flow with infinite demand at price
    /// zero decreases by at most three quarters.
    fn floors(&self, size: &DVector<f64>) -> (CscMatrix<f64>, Vec<f64>) {
        const AT_MOST: f64 = 0.75;
        let mut bounds: Vec<f64> =
            self.prices.iter().zip(size.iter()).map(|(price, size)| price / size).collect();
        let links = bounds.len();
        let (mut rows, mut columns, mut values) =
            ((0..links).collect(), (0..links).collect(), vec![-1.0; links]);
        for (flow, utility) in self.network.flows.iter().zip(self.utilities) {
            if utility.demand(0.0).is_finite() {
                continue;
            }
            let largest = flow.path.iter().map(|&link| size[link]).fold(f64::MIN_POSITIVE, f64::max);
            Vec::extend(&mut rows, flow.path.iter().map(|_| bounds.len()));
            Vec::extend(&mut columns, flow.path.iter().copied());
            values.extend(flow.path.iter().map(|&link| -size[link] / largest));
            bounds.push(AT_MOST * self.network.path_price(flow, &self.prices) / largest);
        }
        (CscMatrix::new_from_triplets(bounds.len(), links, rows, columns, values), bounds)
    }

    /// Newton's method on the links with a price, without bounds, for the last digits.
    fn polish(&mut self) {
        const SINGULAR: f64 = 1e-9;
        let unused_capacity = self.unused_capacity();
        let is_overfull = |link: usize| -unused_capacity[link] > EXCESS * self.network.capacities[link];
        let links: Vec<usize> = (0..self.prices.len())
            .filter(|&link| self.prices[link] > 0.0 || is_overfull(link))
            .filter(|link| Some(*link) != self.released)
            .collect();
        if links.is_empty() {
            return;
        }
        let (balanced, size) = self.curvature(&links);
        let slope = DVector::from_iterator(links.len(), links.iter().map(|&link| unused_capacity[link]))
            .component_mul(&size);
        if balanced.iter().any(|entry| !entry.is_finite()) {
            return;
        }
        if let Ok(fall) = balanced.svd(true, true).solve(&slope, SINGULAR) {
            for (row, &link) in links.iter().enumerate() {
                let pays_elsewhere = self.network.least_path_price(link, &self.prices) > self.prices[link];
                let floor = if pays_elsewhere { 0.0 } else { self.prices[link] / 2.0 };
                self.prices[link] = (self.prices[link] - fall[row] * size[row]).max(floor);
            }
        }
        self.set_rates_to_demand();
    }

    /// The Hessian of the dual for these links, scaled to equal diagonal entries so that small links are as accurate as
    /// large ones; and the scales.
    fn curvature(&self, links: &[usize]) -> (DMatrix<f64>, DVector<f64>) {
        let routing = routing(self.network, &self.responds(), links);
        let flows = self.network.flows.iter().zip(self.utilities).zip(&self.rates);
        let softness = flows.map(|((flow, utility), rate)| -flow.count / curvature(utility, *rate));
        let softness = DVector::from_iterator(self.rates.len(), softness);
        let matrix: DMatrix<f64> = &routing * DMatrix::from_diagonal(&softness) * routing.transpose();
        let size = |row: usize| {
            let bend = matrix[(row, row)];
            if bend > 0.0 { 1.0 / bend.sqrt() } else { self.prices[links[row]].max(f64::MIN_POSITIVE) }
        };
        let size = DVector::from_iterator(links.len(), (0..links.len()).map(size));
        (DMatrix::from_fn(links.len(), links.len(), |a, b| matrix[(a, b)] * size[a] * size[b]), size)
    }

    /// Line search: the longest of 1, 1/2, 1/4, ... of the step at which the dual still decreases, or has hardly begun
    /// to increase.
    fn advance(&mut self, rise: &DVector<f64>) {
        const SLIGHT: f64 = 0.1;
        const HALVINGS: i32 = 40;
        let steepness = self.unused_capacity().dot(rise).abs();
        let before = self.prices.clone();
        for halving in 0..HALVINGS {
            let length = 0.5f64.powi(halving);
            let along = |(price, rise): (&f64, &f64)| (price + length * rise).max(0.0);
            self.prices = before.iter().zip(rise.iter()).map(along).collect();
            self.drop_negligible_prices();
            self.set_rates_to_demand();
            if self.unused_capacity().dot(rise) <= SLIGHT * steepness {
                return;
            }
        }
    }

    fn drop_negligible_prices(&mut self) {
        for link in 0..self.prices.len() {
            if self.prices[link] <= NEGLIGIBLE * self.network.least_path_price(link, &self.prices) {
                self.prices[link] = 0.0;
            }
        }
    }

    /// Sets the price of one link to zero: the link with the largest unused capacity whose flows all have another price
    /// on their path. If that is wrong, the link becomes overloaded and gets a price again.
    fn release(&mut self) {
        const FULL: f64 = 1e-7;
        let unused_capacity = self.unused_capacity();
        let emptiness = |link: &usize| unused_capacity[*link] / self.network.capacities[*link];
        let may_go = |link: &usize| {
            let price = self.prices[*link];
            price > 0.0
                && emptiness(link) > FULL
                && self.network.least_path_price(*link, &self.prices) > price
        };
        let links = (0..self.prices.len()).filter(may_go);
        self.released = links.max_by(|a, b| emptiness(a).total_cmp(&emptiness(b)));
        if let Some(link) = self.released {
            self.prices[link] = 0.0;
        }
        self.set_rates_to_demand();
    }

    fn result(mut self) -> Result<Equilibrium, NoEquilibrium> {
        self.set_rates_to_demand();
        let certificate = self.certificate();
        if certificate.worst() > ACCEPTED_GAP || certificate.worst().is_nan() {
            return Err(NoEquilibrium::NotConverged { remaining: certificate.worst() });
        }
        let bottlenecks: Vec<usize> =
            (0..self.prices.len()).filter(|&link| self.prices[link] > 0.0).collect();
        Ok(Equilibrium {
            uniqueness: uniqueness(self.network, &self.responds(), &bottlenecks),
            loads: self.network.loads(&self.rates),
            rates: self.rates,
            prices: self.prices,
            bottlenecks,
            certificate,
        })
    }
}

/// The minimizer z of z'Hz / 2 + slope'z under Az <= b.
fn quadratic_program(
    h: &DMatrix<f64>,
    slope: &DVector<f64>,
    (a, b): (CscMatrix<f64>, Vec<f64>),
) -> Option<DVector<f64>> {
    let size = slope.len();
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for column in 0..size {
        for row in (0..=column).filter(|&row| h[(row, column)] != 0.0) {
            rows.push(row);
            columns.push(column);
            values.push(h[(row, column)]);
        }
    }
    let upper = CscMatrix::new_from_triplets(size, size, rows, columns, values);
    let tight = 1e-13;
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(tight)
        .tol_gap_rel(tight)
        .tol_feas(tight)
        .build()
        .ok()?;
    let cones = [NonnegativeConeT(b.len())];
    let mut solver = DefaultSolver::new(&upper, slope.as_slice(), &a, &b, &cones, settings).ok()?;
    solver.solve();
    let solution = DVector::from_vec(solver.solution.x);
    solution.iter().all(|z| z.is_finite()).then_some(solution)
}

/// U''(x) with about five digits. It affects the rate of convergence but not the result.
fn curvature(utility: &impl Marginal, rate: f64) -> f64 {
    const STEP: f64 = 1e-5;
    let step = rate * STEP;
    (utility.marginal(rate + step) - utility.marginal(rate - step)) / (2.0 * step)
}
