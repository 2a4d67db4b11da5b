//! Additive increase, multiplicative decrease in the model of Chiu and Jain: appendix of the MCP paper.

use super::series;
use millpond_protocols::mcp::{fairness, fairness_bound};
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// A new user whose load is one increase, and other users that share the target load equally.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aimd {
    /// The number of users, including the new one.
    users: u32,
    /// The target load C, in bit/s.
    target: f64,
    /// The additive increase x, in bit/s.
    increase: f64,
    /// The factor of the multiplicative decrease, y.
    decrease: f64,
    /// The number of peaks of the total load that are recorded, including the start.
    peaks: u32,
}

/// The number of steps without a peak after which the iteration ends.
const MAX_STEPS_TO_PEAK: u32 = 1_000_000;

impl Aimd {
    pub(super) fn check(&self) -> Result<u64, String> {
        let positive = self.users >= 2 && self.increase > 0.0 && self.target > 0.0 && self.target.is_finite();
        let decreases = (0.0..1.0).contains(&self.decrease);
        if !positive || !decreases {
            return Err(
                "expected at least 2 users, an increase and a target above zero, a decrease from 0 to 1"
                    .into(),
            );
        }
        Ok(u64::from(self.users) * u64::from(self.peaks))
    }

    /// Eqs. (3) and (4): one step of all users, which depends on the load before the step.
    fn step(&self, loads: &mut [f64]) {
        let over = loads.iter().sum::<f64>() > self.target;
        loads
            .iter_mut()
            .for_each(|load| *load = if over { *load * self.decrease } else { *load + self.increase });
    }

    /// Series of the group `all` at each peak: the fairness, Eq. (2), and the number of steps since the previous peak.
    pub(super) fn series(&self) -> Vec<Series> {
        let share = self.target / f64::from(self.users.max(2) - 1);
        let mut loads = vec![share; self.users as usize];
        loads.iter_mut().take(1).for_each(|load| *load = self.increase);
        let (mut values, mut cycles) = (vec![fairness(&loads)], vec![0.0]);
        let mut steps = 0;
        while values.len() < self.peaks as usize && steps < MAX_STEPS_TO_PEAK {
            self.step(&mut loads);
            steps += 1;
            if loads.iter().sum::<f64>() > self.target {
                values.push(fairness(&loads));
                cycles.push(f64::from(std::mem::take(&mut steps)));
            }
        }
        vec![
            series(EntityKind::Group, "all", "fairness", "1", values),
            series(EntityKind::Group, "all", "cycle", "steps", cycles),
        ]
    }
}

/// The bound of fairness, Eq. (12), from `F(t_0) = 0`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairnessBound {
    /// The number of cycles.
    pub(super) steps: u32,
}

impl FairnessBound {
    /// The series of the bound after each cycle, for the group `all`.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut values = vec![0.0];
        for cycle in 1..=self.steps {
            let next = values.last().map(|&previous| fairness_bound(previous, cycle));
            values.extend(next);
        }
        vec![series(EntityKind::Group, "all", "fairness", "1", values)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_after_k_cycles_is_two_to_the_k_minus_one_over_two_to_the_k_plus_one() {
        let bound = FairnessBound { steps: 20 }.series();
        for (k, fairness) in bound[0].values.iter().enumerate() {
            let power = 2_f64.powi(k as i32);
            assert!((fairness - (power - 1.0) / (power + 1.0)).abs() < 1e-12, "{k}: {fairness}");
        }
    }

    #[test]
    fn a_cycle_has_half_the_target_over_the_increase_of_all_users_steps() {
        // m = C / (2 n x) of Eq. (5) is 62.5 for ten users; the decrease is one step more.
        let ten = Aimd { users: 10, target: 100e6, increase: 80e3, decrease: 0.5, peaks: 8 };
        let cycles = &ten.series()[1].values;
        assert!(cycles[1..].iter().all(|&steps| (63.0..=65.0).contains(&steps)), "{cycles:?}");
    }
}
