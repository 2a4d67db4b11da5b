//! Flows of LGC that join and leave one link, Eqs. (5) and (6) of the LGCC paper, rates and capacity normalized to 1.

use super::{UpdateOrder, columns, series};
use millpond_protocols::parts::logistic::{next_marking, plain_step};
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// The parameters of the competition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Competition {
    /// The number of flows.
    flows: u32,
    /// The number of steps.
    steps: u32,
    /// The rate at which a flow joins.
    x0: f64,
    /// Flow `i` joins at step `i` times this.
    join_every: u32,
    /// The step at which the first flow leaves; by default it never leaves.
    #[serde(default = "never")]
    leave_from: u32,
    /// The number of steps between two flows that leave; the last flow stays.
    #[serde(default = "one_step")]
    leave_every: u32,
    /// Step size of a rate.
    #[serde(default = "unity")]
    gamma: f64,
    /// Step size of the price.
    #[serde(default = "unity")]
    beta: f64,
    /// Weights of the flows for Eq. (11), which normalizes them; an empty list selects Eq. (5).
    #[serde(default)]
    weights: Vec<f64>,
    /// The order of updates.
    #[serde(default)]
    order: UpdateOrder,
}

const fn never() -> u32 {
    u32::MAX
}

const fn one_step() -> u32 {
    1
}

const fn unity() -> f64 {
    1.0
}

impl Competition {
    pub(super) fn check(&self) -> Result<u64, String> {
        let positive = self.weights.iter().all(|&weight| weight > 0.0 && weight.is_finite());
        if !positive || !self.weights.is_empty() && self.weights.len() != self.flows as usize {
            return Err("weights: expected one above zero for each flow".into());
        }
        Ok(u64::from(self.flows) * u64::from(self.steps))
    }

    /// Eq. (11): the marking probability divided by the normalized weight of flow `i`; unchanged without weights.
    fn weighted_marking(&self, i: usize, marking: f64) -> f64 {
        self.weights.get(i).map_or(marking, |weight| marking / weight * self.weights.iter().sum::<f64>())
    }

    /// Whether flow `i` is active at step `n`.
    fn is_active(&self, i: u32, n: u32) -> bool {
        let (i, n) = (u64::from(i), u64::from(n));
        let leaves = u64::from(self.leave_from) + i * u64::from(self.leave_every);
        let stays = self.leave_from == never() || i + 1 == u64::from(self.flows);
        n >= i * u64::from(self.join_every) && (stays || n < leaves)
    }

    /// Sets the rates of flows that join at step `n` to x0, and those of inactive flows to zero.
    fn apply_joins_and_leaves(&self, n: u32, rates: &mut [f64]) {
        for (i, rate) in (0_u32..).zip(rates) {
            if !self.is_active(i, n) {
                *rate = 0.0;
            } else if n == i * self.join_every {
                *rate = self.x0;
            }
        }
    }

    /// Series: the normalized rates of flows `1`, `2`, ..., their sum for the group `all`, and the marking probability of
    /// `link`.
    pub(super) fn series(&self) -> Vec<Series> {
        let (mut rates, mut marking) = (vec![0.0; self.flows as usize], 0.0);
        self.apply_joins_and_leaves(0, &mut rates);
        let (mut history, mut markings) = (vec![rates.clone()], vec![marking]);
        for n in 1..=self.steps {
            let new = next_marking(marking, self.beta * (rates.iter().sum::<f64>() - 1.0));
            let effective_marking = self.order.price(marking, new);
            for (i, x) in rates.iter_mut().enumerate() {
                *x = plain_step(*x, 1.0, self.weighted_marking(i, effective_marking), self.gamma);
            }
            self.apply_joins_and_leaves(n, &mut rates);
            marking = new;
            history.push(rates.clone());
            markings.push(marking);
        }
        let sums = history.iter().map(|rates| rates.iter().sum()).collect();
        let flow = |(i, values)| series(EntityKind::Flow, i + 1, "rate", "1", values);
        let mut all: Vec<_> = columns(&history).into_iter().enumerate().map(flow).collect();
        all.push(series(EntityKind::Group, "all", "rate", "1", sums));
        all.push(series(EntityKind::Link, "link", "marking probability", "1", markings));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fig4(order: UpdateOrder) -> Competition {
        Competition {
            flows: 5,
            steps: 300,
            x0: 0.01,
            join_every: 20,
            leave_from: 150,
            leave_every: 20,
            gamma: 1.0,
            beta: 1.0,
            weights: Vec::new(),
            order,
        }
    }

    fn at(series: &[Series], n: usize) -> Vec<f64> {
        series[..5].iter().map(|flow| flow.values[n]).collect()
    }

    /// With the price first, the pair (sum of rates, price) has the characteristic polynomial
    /// z^2 - (2 - 1/S - 1) z + 1 - 1/S.
    #[test]
    fn each_stage_converges_to_equal_shares_with_the_price_first() {
        let series = fig4(UpdateOrder::PriceFirst).series();
        for (n, flows) in [(19, 1), (149, 5), (299, 1)] {
            let active = at(&series, n).into_iter().filter(|x| (x - 1.0 / f64::from(flows)).abs() < 1e-4);
            assert_eq!(active.count(), flows as usize, "{n}");
            let marking = series[6].values[n];
            assert!((marking - (1.0 - 1.0 / f64::from(flows))).abs() < 1e-4, "{n}: {marking}");
        }
        assert_eq!(at(&series, 20)[1], 0.01);
        assert_eq!(at(&series, 150)[0], 0.0);
    }

    /// Near the equilibrium, the difference of two flows is multiplied by `1 - x` per step: by 4/5 with five flows.
    #[test]
    fn differences_of_rates_shrink_by_one_minus_the_share_per_step() {
        let series = fig4(UpdateOrder::PriceFirst).series();
        let gap = |n: usize| (at(&series, n)[4] - at(&series, n)[0]).abs();
        assert!((gap(130) / gap(129) - 0.8).abs() < 1e-3, "{}", gap(130) / gap(129));
    }

    #[test]
    fn with_both_old_two_flows_oscillate() {
        let both_old = Competition { flows: 2, leave_from: never(), ..fig4(UpdateOrder::BothOld) };
        let sums = &both_old.series()[2].values;
        let amplitude = sums[250..].iter().fold(0.0_f64, |largest, sum| largest.max((sum - 1.0).abs()));
        assert!(amplitude > 0.1, "{amplitude}");
    }

    /// `x = 1 - (S - 1) (1/w) / sum(1/w)`, which is the weighted max-min share of two flows only.
    #[test]
    fn weights_give_the_shares_of_equation_11_which_may_be_zero() {
        for (weights, shares) in [
            (vec![3.0, 1.0], vec![0.75, 0.25]),
            (vec![1.0, 1.0, 2.0], vec![0.2, 0.2, 0.6]),
            (vec![1.0, 2.0, 3.0], vec![0.0, 0.4, 0.6]),
        ] {
            let flows = weights.len() as u32;
            let law =
                Competition { flows, weights, steps: 5000, join_every: 0, leave_from: never(), ..slow() };
            for (found, share) in law.series().iter().zip(&shares) {
                let last = found.values.last().copied().unwrap();
                assert!((last - share).abs() < 1e-4, "{last} {share}");
            }
        }
    }

    fn slow() -> Competition {
        Competition { gamma: 0.1, beta: 0.02, ..fig4(UpdateOrder::PriceFirst) }
    }
}
