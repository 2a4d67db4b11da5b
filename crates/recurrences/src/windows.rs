//! Windows that share a full link, one step per round trip.

use super::{columns, series};
use millpond_results::{EntityKind, Series, quantity};
use serde::Deserialize;

/// Two or more windows whose sum is the bandwidth-delay product.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// The initial windows in packets; their sum is the bandwidth-delay product.
    windows: Vec<f64>,
    /// The number of steps.
    steps: u32,
    /// Step size, if the law has one.
    #[serde(default)]
    gamma: f64,
    /// Base of the logarithm, if the law has one.
    #[serde(default)]
    phi1: f64,
}

/// The change of windows in one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// ABC, section III of the LGCC paper.
    Abc,
    /// Logistic growth, Eq. (5).
    Logistic,
    /// Deflated logistic growth, Eq. (14).
    LogisticDeflated,
}

impl Windows {
    pub(super) fn values(&self) -> u64 {
        self.windows.len() as u64 * u64::from(self.steps)
    }

    /// Series of the windows: flows `1`, `2`, ...
    pub(super) fn series(&self, law: Law) -> Vec<Series> {
        let mut history = vec![self.windows.clone()];
        for _ in 0..self.steps {
            let next = history.last().map(|windows| self.step(law, windows));
            history.extend(next);
        }
        let flow = |(i, values)| series(EntityKind::Flow, i + 1, quantity::WINDOW, "packets", values);
        columns(&history).into_iter().enumerate().map(flow).collect()
    }

    fn step(&self, law: Law, windows: &[f64]) -> Vec<f64> {
        let bdp: f64 = windows.iter().sum();
        match law {
            Law::Abc => windows.iter().map(|&w| abc_step(w, abc_share(windows.len(), bdp))).collect(),
            Law::Logistic => self.step_with_constant_sum(windows, |w| 1.0 - w / bdp),
            Law::LogisticDeflated => {
                self.step_with_constant_sum(windows, |w| -libm::log(w / bdp) / libm::log(self.phi1))
            }
        }
    }

    /// `x[n+1] = x[n] + gamma x[n] (growth(x[n]) - q[n])` with the price `q[n]` that keeps the sum constant: the queue is in
    /// equilibrium, the shares are not.
    fn step_with_constant_sum(&self, windows: &[f64], growth: impl Fn(f64) -> f64) -> Vec<f64> {
        let sum: f64 = windows.iter().sum();
        let price = windows.iter().map(|&w| w * growth(w)).sum::<f64>() / sum;
        windows.iter().map(|&w| w + self.gamma * w * (growth(w) - price)).collect()
    }
}

/// The share of accelerates that keeps the link full: `f* = (BDP - n) / (2 BDP)`, section III.
fn abc_share(flows: usize, bdp: f64) -> f64 {
    (bdp - flows as f64) / (2.0 * bdp)
}

/// `w' = 2 f w + 1`, section III.
fn abc_step(window: f64, share: f64) -> f64 {
    2.0 * share * window + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(law: Law, gamma: f64) -> Vec<f64> {
        let windows = vec![198.0, 2.0];
        Windows { windows, steps: 600, gamma, phi1: 10.0 }.series(law)[1].values.clone()
    }

    fn reaches(values: &[f64], level: f64) -> usize {
        values.iter().position(|&w| w >= level).unwrap()
    }

    #[test]
    fn abc_follows_the_solution_of_its_recurrence() {
        assert_eq!(abc_share(2, 200.0), 0.495);
        for (n, w) in second(Law::Abc, 0.0).iter().enumerate() {
            assert!((w - (100.0 - 98.0 * 0.99_f64.powi(n as i32))).abs() < 1e-9, "step {n}: {w}");
        }
    }

    #[test]
    fn logistic_growth_on_a_full_link_takes_the_number_of_steps_of_theory() {
        for (law, gamma, to_40, to_95) in [
            (Law::LogisticDeflated, 0.3, 10, 30),
            (Law::LogisticDeflated, 0.1, 29, 88),
            (Law::Logistic, 0.3, 14, 31),
            (Law::Logistic, 0.2, 20, 46),
        ] {
            let values = second(law, gamma);
            assert_eq!((reaches(&values, 40.0), reaches(&values, 95.0)), (to_40, to_95), "{law:?} {gamma}");
        }
    }

    #[test]
    fn no_step_changes_the_sum_of_the_windows() {
        for law in [Law::Abc, Law::Logistic, Law::LogisticDeflated] {
            let windows = vec![150.0, 30.0, 20.0];
            let series = Windows { windows, steps: 100, gamma: 0.3, phi1: 10.0 }.series(law);
            for n in 0..=100 {
                let sum: f64 = series.iter().map(|s| s.values[n]).sum();
                assert!((sum - 200.0).abs() < 1e-9, "{law:?} step {n}: {sum}");
            }
        }
    }
}
