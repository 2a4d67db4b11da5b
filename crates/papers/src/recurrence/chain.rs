//! Loops in a chain, section VII-D of the LGCC paper: the last sends into a capacity, each other into what the rate of
//! the next one is. In each loop the same number of flows compete; one state stands for them.

use super::{Order, columns, series};
use millpond_protocols::parts::logistic::{Bases, next_marking};
use millpond_results::{EntityKind, Series};
use serde::Deserialize;
use std::f64::consts::E;

/// Marking probabilities are capped here.
const MOST_MARKING: f64 = 0.999;
/// Prices and rates of the logarithmic utility stay above this.
const LEAST: f64 = 1e-9;

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// How many loops.
    loops: u32,
    /// How many flows compete in each.
    flows: u32,
    /// How many steps.
    steps: u32,
    /// What senders do.
    #[serde(default)]
    controller: Controller,
    /// What they want.
    #[serde(default)]
    utility: Utility,
    /// Step size of a rate.
    #[serde(default)]
    gamma: f64,
    /// Step size of a price.
    beta: f64,
    /// What a price moves by.
    #[serde(default)]
    price_step: PriceStep,
    /// The rate of each at the start; the logarithmic utility starts at rest.
    #[serde(default = "small")]
    x0: f64,
    /// From the first of these steps to before the second the last loop has half its capacity.
    cut: [u32; 2],
    /// Base of the logarithm of a rate.
    #[serde(default = "natural")]
    phi1: f64,
    /// Base of the logarithm of what is not marked.
    #[serde(default = "natural")]
    phi2: f64,
    /// What is read.
    #[serde(default)]
    order: Order,
}

const fn small() -> f64 {
    0.01
}

const fn natural() -> f64 {
    E
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Controller {
    /// Rates move.
    #[default]
    PrimalDual,
    /// Rates jump to what the price stands for.
    Dual,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Utility {
    /// LGCC's (12), which knows the carrying capacity.
    #[default]
    Logistic,
    /// log x, which knows none: (18).
    Log,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PriceStep {
    /// beta times the excess, as (16) is printed.
    Absolute,
    /// beta times the excess over the capacity: whatever the unit.
    #[default]
    Relative,
    /// Each loop has steps for where it rests with the full capacity: gamma times its rate, beta over its capacity squared.
    PerLoop,
}

/// The rates and prices of all loops.
#[derive(Clone, Debug)]
struct State {
    rates: Vec<f64>,
    prices: Vec<f64>,
}

/// (18), with the x that it lacks: `x' = gamma x (U'(x) - q)`, `U = log x`.
fn log_step(x: f64, price: f64, gamma: f64) -> f64 {
    (x + gamma * (1.0 - price * x)).max(LEAST)
}

impl Chain {
    pub(super) fn values(&self) -> u64 {
        u64::from(self.loops) * u64::from(self.steps)
    }

    /// The capacity of the last loop that a step reads.
    fn capacity(&self, n: u32) -> f64 {
        if (self.cut[0]..self.cut[1]).contains(&n) { 0.5 } else { 1.0 }
    }

    /// Where loop `i` rests when the last has a capacity of 1: shares of shares.
    fn share(&self, i: usize) -> f64 {
        let hops = i32::try_from(self.loops).unwrap_or(i32::MAX).saturating_sub(i as i32);
        libm::pow(f64::from(self.flows), -f64::from(hops))
    }

    fn start(&self) -> State {
        let shares = (0..self.loops as usize).map(|i| self.share(i));
        match self.utility {
            Utility::Logistic => {
                State { rates: vec![self.x0; self.loops as usize], prices: vec![0.0; self.loops as usize] }
            }
            Utility::Log => {
                State { rates: shares.clone().collect(), prices: shares.map(f64::recip).collect() }
            }
        }
    }

    /// A step of loop `i`, whose carrying capacity is `k`: its rate and its price.
    fn step(&self, i: usize, k: f64, x: f64, price: f64) -> (f64, f64) {
        let bases = Bases::new(self.phi1, self.phi2);
        let flows = f64::from(self.flows);
        let nominal = self.share(i) * flows;
        let (gamma, beta) = match self.price_step {
            PriceStep::Absolute => (self.gamma, self.beta),
            PriceStep::Relative => (self.gamma, self.beta / k),
            PriceStep::PerLoop => (self.gamma * self.share(i), self.beta / (nominal * nominal)),
        };
        let excess = beta * (flows * x - k);
        let new = match self.utility {
            Utility::Logistic => next_marking(price, excess).min(MOST_MARKING),
            Utility::Log => (price + excess).max(LEAST),
        };
        let seen = self.order.seen(price, new);
        let rate = match (self.utility, self.controller) {
            (Utility::Logistic, Controller::PrimalDual) => bases.step(x, k, seen, gamma),
            (Utility::Logistic, Controller::Dual) => bases.rate_from_price(k, seen),
            (Utility::Log, Controller::PrimalDual) => log_step(x, seen, gamma),
            (Utility::Log, Controller::Dual) => seen.recip(),
        };
        (rate, new)
    }

    /// Each loop reads what the next one sent a step ago.
    fn next(&self, n: u32, state: &State) -> State {
        let capacities = state.rates.iter().skip(1).copied().chain([self.capacity(n)]);
        let moves = state.rates.iter().zip(&state.prices).zip(capacities).enumerate();
        let (rates, prices) = moves.map(|(i, ((x, price), k))| self.step(i, k, *x, *price)).unzip();
        State { rates, prices }
    }

    /// Of flows `loop1`, `loop2`, ...: the rate of one, and that over its fair share at the capacity of then; of links
    /// of the same names the price.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut states = vec![self.start()];
        for n in 1..=self.steps {
            let next = states.last().map(|state| self.next(n, state));
            states.extend(next);
        }
        let capacities: Vec<f64> = (0..=self.steps).map(|n| self.capacity(n)).collect();
        let rates = columns(&states.iter().map(|state| state.rates.clone()).collect::<Vec<_>>());
        let prices = columns(&states.iter().map(|state| state.prices.clone()).collect::<Vec<_>>());
        let of = |(i, (rates, prices)): (usize, (Vec<f64>, Vec<f64>))| {
            let name = format!("loop{}", i + 1);
            let share = |(x, c): (&f64, &f64)| x / (c * self.share(i));
            let shares = rates.iter().zip(&capacities).map(share).collect();
            [
                series(EntityKind::Flow, &name, "rate", "1", rates),
                series(EntityKind::Flow, &name, "share", "1", shares),
                series(EntityKind::Link, &name, "price", "1", prices),
            ]
        };
        rates.into_iter().zip(prices).enumerate().flat_map(of).collect()
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
            gamma,
            beta,
            price_step: PriceStep::Relative,
            x0: 0.01,
            cut: [200, 400],
            phi1: E,
            phi2: E,
            order: Order::PriceFirst,
        }
    }

    fn last(chain: &Chain, quantity: &str) -> Vec<f64> {
        let of = |s: Series| (s.quantity == quantity).then(|| s.values.last().copied().unwrap());
        chain.series().into_iter().filter_map(of).collect()
    }

    #[test]
    fn loops_rest_at_shares_of_shares() {
        let rates = last(&chain(2, Controller::PrimalDual, 0.5, 0.0858), "rate");
        for (x, fair) in rates.iter().zip([1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0]) {
            assert!((x / fair - 1.0).abs() < 1e-4, "{rates:?}");
        }
        let prices = last(&chain(2, Controller::Dual, 0.0, 0.25), "price");
        assert!(prices.iter().all(|p| (p - 0.5).abs() < 1e-4), "{prices:?}");
        let alone = last(&chain(1, Controller::PrimalDual, 0.5, 0.1716), "share");
        assert!(alone.iter().all(|x| (x - 1.0).abs() < 1e-4), "{alone:?}");
    }

    /// The dual loop of one price: `1 - beta eta / (1 - p*)`; 1/2 is the deadbeat step of two flows with equal bases.
    #[test]
    fn at_the_deadbeat_step_the_last_loop_is_there_at_once() {
        let shares = &chain(2, Controller::Dual, 0.0, 0.5).series()[13];
        assert_eq!((shares.entity.as_str(), shares.quantity.as_str()), ("loop5", "share"));
        let reached = shares.values[200..].iter().position(|x| (x - 1.0).abs() < 1e-3);
        assert!(reached.is_some_and(|n| n <= 3), "{reached:?}");
    }

    /// Primal-dual, two flows, equal bases, gamma 1/2: near its rest both-old is stable for beta < 1/2, price-first for
    /// beta < 3; from afar a little less.
    #[test]
    fn the_order_decides_where_the_loop_begins_to_swing() {
        let swings = |order, beta| {
            let chain = chain(2, Controller::PrimalDual, 0.5, beta);
            let shares =
                Chain { steps: 4000, cut: [0, 0], x0: 0.45, order, ..chain }.series().remove(13).values;
            !shares[3900..].iter().all(|x| (x - 1.0).abs() < 1e-3)
        };
        assert!(!swings(Order::BothOld, 0.4) && swings(Order::BothOld, 0.52));
        assert!(!swings(Order::PriceFirst, 2.5) && swings(Order::PriceFirst, 3.1));
    }
}
