//! Loops in a chain, section VII-D of the LGCC paper. The carrying capacity of the last loop is that of its link, that of
//! every other loop is the rate of the next one. In each loop the same number of equal flows compete, with one state.

use super::{UpdateOrder, columns, series};
use millpond_protocols::parts::logistic::{Bases, next_marking};
use millpond_results::{EntityKind, Series};
use serde::Deserialize;
use std::f64::consts::E;

/// The upper bound of marking probabilities.
const MAX_MARKING: f64 = 0.999;
/// The lower bound of prices and rates under the logarithmic utility.
const MIN_VALUE: f64 = 1e-9;

/// The parameters of the chain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The number of loops.
    loops: u32,
    /// The number of flows in each loop.
    flows: u32,
    /// The number of steps.
    steps: u32,
    /// The update rule of senders.
    #[serde(default)]
    controller: Controller,
    /// The utility function of senders.
    #[serde(default)]
    utility: Utility,
    /// Step size of a rate.
    #[serde(default)]
    gamma: f64,
    /// Step size of a price.
    beta: f64,
    /// The unit of a price's step.
    #[serde(default)]
    price_step: PriceStep,
    /// The initial rate of each loop; with the logarithmic utility the chain starts in equilibrium.
    #[serde(default = "default_rate")]
    x0: f64,
    /// From the first of these steps until before the second, the last loop has half its capacity.
    cut: [u32; 2],
    /// Base of the logarithm of a rate.
    #[serde(default = "natural")]
    phi1: f64,
    /// Base of the logarithm of the unmarked share.
    #[serde(default = "natural")]
    phi2: f64,
    /// The step of a rate under the logarithmic utility.
    #[serde(default)]
    log_step: LogStep,
    /// The order of updates.
    #[serde(default)]
    order: UpdateOrder,
}

const fn default_rate() -> f64 {
    0.01
}

const fn natural() -> f64 {
    E
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Controller {
    /// Rates are integrated.
    #[default]
    PrimalDual,
    /// Rates are a function of the price.
    Dual,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Utility {
    /// LGCC's Eq. (12), which depends on the carrying capacity.
    #[default]
    Logistic,
    /// log x, which does not depend on a capacity.
    Log,
}

/// The step of a rate under the logarithmic utility, Eq. (18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LogStep {
    /// With the factor x and the utility that are missing in print: `x' = gamma x (1 / x - p)`.
    #[default]
    Corrected,
    /// As printed, `x' = gamma / p`: no value of `p` is an equilibrium.
    AsPrinted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PriceStep {
    /// beta times the excess, as in Eq. (16).
    Absolute,
    /// beta times the excess relative to the capacity, independent of the unit.
    #[default]
    Relative,
    /// Each loop has steps for its equilibrium at full capacity: gamma times its rate, beta divided by its capacity squared.
    PerLoop,
}

/// The rates and prices of all loops.
#[derive(Clone, Debug)]
struct ChainState {
    rates: Vec<f64>,
    prices: Vec<f64>,
}

impl LogStep {
    /// The rate after a step, at least [`MIN_VALUE`].
    fn next(self, x: f64, price: f64, gamma: f64) -> f64 {
        match self {
            Self::Corrected => (x + gamma * (1.0 - price * x)).max(MIN_VALUE),
            Self::AsPrinted => x + gamma / price,
        }
    }
}

impl Chain {
    pub(super) fn values(&self) -> u64 {
        u64::from(self.loops) * u64::from(self.steps)
    }

    /// The capacity of the last loop at step `n`.
    fn capacity(&self, n: u32) -> f64 {
        if (self.cut[0]..self.cut[1]).contains(&n) { 0.5 } else { 1.0 }
    }

    /// The equilibrium rate of a flow of loop `i` if the last loop has a capacity of 1: `flows^-(loops - i)`.
    fn fair_share(&self, i: usize) -> f64 {
        let hops = i32::try_from(self.loops).unwrap_or(i32::MAX).saturating_sub(i as i32);
        libm::pow(f64::from(self.flows), -f64::from(hops))
    }

    fn start(&self) -> ChainState {
        let shares = (0..self.loops as usize).map(|i| self.fair_share(i));
        match self.utility {
            Utility::Logistic => ChainState {
                rates: vec![self.x0; self.loops as usize],
                prices: vec![0.0; self.loops as usize],
            },
            Utility::Log => {
                ChainState { rates: shares.clone().collect(), prices: shares.map(f64::recip).collect() }
            }
        }
    }

    /// The next rate and price of loop `i`, whose carrying capacity is `k`.
    fn step(&self, i: usize, k: f64, x: f64, price: f64) -> (f64, f64) {
        let bases = Bases::new(self.phi1, self.phi2);
        let flows = f64::from(self.flows);
        let nominal = self.fair_share(i) * flows;
        let (gamma, beta) = match self.price_step {
            PriceStep::Absolute => (self.gamma, self.beta),
            PriceStep::Relative => (self.gamma, self.beta / k),
            PriceStep::PerLoop => (self.gamma * self.fair_share(i), self.beta / (nominal * nominal)),
        };
        let excess = beta * (flows * x - k);
        let new = match self.utility {
            Utility::Logistic => next_marking(price, excess).min(MAX_MARKING),
            Utility::Log => (price + excess).max(MIN_VALUE),
        };
        let effective_price = self.order.price(price, new);
        let rate = match (self.utility, self.controller) {
            (Utility::Logistic, Controller::PrimalDual) => bases.step(x, k, effective_price, gamma),
            (Utility::Logistic, Controller::Dual) => bases.rate_from_price(k, effective_price),
            (Utility::Log, Controller::PrimalDual) => self.log_step.next(x, effective_price, gamma),
            (Utility::Log, Controller::Dual) => effective_price.recip(),
        };
        (rate, new)
    }

    /// The state after step `n`. The carrying capacity of a loop is the previous rate of the next one.
    fn next(&self, n: u32, state: &ChainState) -> ChainState {
        let capacities = state.rates.iter().skip(1).copied().chain([self.capacity(n)]);
        let moves = state.rates.iter().zip(&state.prices).zip(capacities).enumerate();
        let (rates, prices) = moves.map(|(i, ((x, price), k))| self.step(i, k, *x, *price)).unzip();
        ChainState { rates, prices }
    }

    /// Series of the flows `loop1`, `loop2`, ...: the rate of one flow, and its ratio to the fair share at the present
    /// capacity. Series of the links with the same names: the price.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut states = vec![self.start()];
        for n in 1..=self.steps {
            let next = states.last().map(|state| self.next(n, state));
            states.extend(next);
        }
        let capacities: Vec<f64> = (0..=self.steps).map(|n| self.capacity(n)).collect();
        let rates = columns(&states.iter().map(|state| state.rates.clone()).collect::<Vec<_>>());
        let prices = columns(&states.iter().map(|state| state.prices.clone()).collect::<Vec<_>>());
        let of_loop = |(i, (rates, prices)): (usize, (Vec<f64>, Vec<f64>))| {
            let name = format!("loop{}", i + 1);
            let share = |(x, c): (&f64, &f64)| x / (c * self.fair_share(i));
            let shares = rates.iter().zip(&capacities).map(share).collect();
            [
                series(EntityKind::Flow, &name, "rate", "1", rates),
                series(EntityKind::Flow, &name, "share", "1", shares),
                series(EntityKind::Link, &name, "price", "1", prices),
            ]
        };
        rates.into_iter().zip(prices).enumerate().flat_map(of_loop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(flows: u32, controller: Controller, gamma: f64, beta: f64) -> Chain {
        Chain {
            loops: 5,
            flows,
            steps: 600,
            controller,
            utility: Utility::Logistic,
            log_step: LogStep::Corrected,
            gamma,
            beta,
            price_step: PriceStep::Relative,
            x0: 0.01,
            cut: [200, 400],
            phi1: E,
            phi2: E,
            order: UpdateOrder::PriceFirst,
        }
    }

    fn last(chain: &Chain, quantity: &str) -> Vec<f64> {
        let of = |s: Series| (s.quantity == quantity).then(|| s.values.last().copied().unwrap());
        chain.series().into_iter().filter_map(of).collect()
    }

    #[test]
    fn each_loop_has_an_equal_share_of_the_next_loop_in_equilibrium() {
        let rates = last(&chain(2, Controller::PrimalDual, 0.5, 0.0858), "rate");
        for (x, fair) in rates.iter().zip([1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0]) {
            assert!((x / fair - 1.0).abs() < 1e-4, "{rates:?}");
        }
        let prices = last(&chain(2, Controller::Dual, 0.0, 0.25), "price");
        assert!(prices.iter().all(|p| (p - 0.5).abs() < 1e-4), "{prices:?}");
        let single = last(&chain(1, Controller::PrimalDual, 0.5, 0.1716), "share");
        assert!(single.iter().all(|x| (x - 1.0).abs() < 1e-4), "{single:?}");
    }

    #[test]
    fn with_eq_18_as_printed_no_rate_ever_decreases() {
        let of = |beta| Chain {
            utility: Utility::Log,
            log_step: LogStep::AsPrinted,
            ..chain(2, Controller::PrimalDual, 0.01, beta)
        };
        for series in [0.1, 1.0, 10.0].into_iter().flat_map(|beta| of(beta).series()) {
            let is_monotonic = series.values.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(series.quantity != "rate" || is_monotonic, "{}", series.entity);
        }
    }

    /// The dual loop has the factor `1 - beta eta / (1 - p*)` per step, which is zero for two flows with equal bases at
    /// beta = 1/2.
    #[test]
    fn with_the_deadbeat_step_the_last_loop_converges_in_three_steps() {
        let shares = &chain(2, Controller::Dual, 0.0, 0.5).series()[13];
        assert_eq!((shares.entity.as_str(), shares.quantity.as_str()), ("loop5", "share"));
        let reached = shares.values[200..].iter().position(|x| (x - 1.0).abs() < 1e-3);
        assert!(reached.is_some_and(|n| n <= 3), "{reached:?}");
    }

    /// Primal-dual, two flows, equal bases, gamma 1/2: near the equilibrium both-old is stable for beta < 1/2, price-first
    /// for beta < 3. Far from it the limits are a little lower.
    #[test]
    fn the_largest_stable_step_depends_on_the_order_of_updates() {
        let oscillates = |order, beta| {
            let chain = chain(2, Controller::PrimalDual, 0.5, beta);
            let shares =
                Chain { steps: 4000, cut: [0, 0], x0: 0.45, order, ..chain }.series().remove(13).values;
            !shares[3900..].iter().all(|x| (x - 1.0).abs() < 1e-3)
        };
        assert!(!oscillates(UpdateOrder::BothOld, 0.4) && oscillates(UpdateOrder::BothOld, 0.52));
        assert!(!oscillates(UpdateOrder::PriceFirst, 2.5) && oscillates(UpdateOrder::PriceFirst, 3.1));
    }
}
