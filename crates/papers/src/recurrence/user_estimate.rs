//! ACP's estimate of the number of users, Eq. (8) of its paper, while the rate that the link asks for stands still.

use super::series;
use millpond_protocols::acp::estimate::next_users;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// See the module. A step is a control period.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserEstimate {
    /// How many control periods.
    steps: u32,
    /// N-hat at the start.
    initial: f64,
    /// How many users send at the rate asked for.
    users: f64,
    /// How many send less, being held back elsewhere.
    #[serde(default)]
    held_back: f64,
    /// What each of these sends, as a share of the rate asked for.
    #[serde(default)]
    share: f64,
    /// The rate asked for, in the unit that (8) takes.
    rate: f64,
    /// The share of an error that a period mends.
    gamma: f64,
}

impl UserEstimate {
    pub(super) fn values(&self) -> u64 {
        3 * u64::from(self.steps)
    }

    /// Of `link`: the estimate, how far it is from the number of users, and by what that shrank in the last period.
    pub(super) fn series(&self) -> Vec<Series> {
        let all = self.users + self.held_back;
        let input = (self.users + self.held_back * self.share) * self.rate;
        let next = |users: &f64| Some(next_users(*users, self.rate, input, self.gamma));
        let estimates: Vec<f64> =
            std::iter::successors(Some(self.initial), next).take(self.steps as usize + 1).collect();
        let errors: Vec<f64> = estimates.iter().map(|users| users - all).collect();
        let factors = errors.windows(2).map(|pair| pair[1] / pair[0]).collect();
        vec![
            series(EntityKind::Link, "link", "estimated users", "1", estimates),
            series(EntityKind::Link, "link", "error", "1", errors),
            series(EntityKind::Link, "link", "left of the error", "1", factors),
        ]
    }
}
