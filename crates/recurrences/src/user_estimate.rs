//! ACP's estimate of the number of users, Eq. (8) of its paper, for a constant rate signalled by the link.

use super::series;
use millpond_protocols::acp::estimate::next_users;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;

/// The parameters of the estimate. A step is a control period.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserEstimate {
    /// The number of control periods.
    steps: u32,
    /// The initial estimate, N-hat.
    initial: f64,
    /// The number of users that send at the signalled rate.
    users: f64,
    /// The number of users that send less because of another bottleneck.
    #[serde(default)]
    held_back: f64,
    /// The rate of each of these, as a share of the signalled rate.
    #[serde(default)]
    share: f64,
    /// The signalled rate, in the unit of Eq. (8).
    rate: f64,
    /// The share of the error that is corrected per period.
    gamma: f64,
}

impl UserEstimate {
    pub(super) fn values(&self) -> u64 {
        3 * u64::from(self.steps)
    }

    /// Series of `link`: the estimate, its error, and the ratio of the error to that of the previous period.
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
            series(EntityKind::Link, "link", "error ratio", "1", factors),
        ]
    }
}
