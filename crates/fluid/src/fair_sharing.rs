//! Weighted fair sharing of the rate of one loop among several flows.
//!
//! ```text
//!   backlog of flow 1 ==|            level * weight
//!   backlog of flow 2 ==|===========================> the shared loop
//!   flow 3, no backlog->|            its inflow
//! ```

use crate::assembly::{Assembly, SharedFlow};
use crate::discrete_state::Held;
use millpond_law::fluid::{Number, greatest, least};

/// Equal flows that share a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShareRequest<T> {
    /// Number of flows.
    pub(crate) count: f64,
    /// Weight of each flow.
    pub(crate) weight: f64,
    /// Inflow of each flow in bit/s if its backlog is empty; none while it has a backlog.
    pub(crate) inflow_if_empty: Option<T>,
    /// The rate of each flow in bit/s for which the relay after it has room; none without a bound.
    pub(crate) credit: Option<T>,
}

/// Rates of one flow of a shared loop, in bit/s.
pub(crate) struct SharedRates<T> {
    /// The rate that its share permits.
    pub(crate) permitted: T,
    /// The rate at which it sends.
    pub(crate) sent: T,
}

impl<T: Number> ShareRequest<T> {
    /// The rates of one flow at this level.
    pub(crate) fn rates(&self, level: T) -> SharedRates<T> {
        let share = level * self.weight;
        let permitted = self.credit.map_or(share, |credit| least(share, credit));
        SharedRates {
            permitted,
            sent: self.inflow_if_empty.map_or(permitted, |inflow| least(permitted, inflow)),
        }
    }

    /// The greatest rate that a flow can use.
    fn limit(&self) -> Option<T> {
        match (self.inflow_if_empty, self.credit) {
            (Some(inflow), Some(credit)) => Some(least(inflow, credit)),
            (limit, None) | (None, limit) => limit,
        }
    }

    fn total_weight(&self) -> f64 {
        self.count * self.weight
    }
}

impl Assembly {
    /// The share request of some flows of a shared loop. `delivered` gives the rate at the end of a loop in bit/s.
    pub(crate) fn share_request<T: Number>(
        &self,
        flow: &SharedFlow,
        held: &[Held],
        delivered: impl Fn(usize) -> T,
    ) -> ShareRequest<T> {
        let is_empty = held[self.offsets.backlogs + flow.relay] == Held::Lower;
        let inflow_if_empty = is_empty.then(|| delivered(self.relays[flow.relay].upstream.0));
        ShareRequest { count: flow.count, weight: flow.weight, inflow_if_empty, credit: None }
    }
}

/// The level of weighted fair sharing: the rate per unit of weight at which the rates of all flows add up to `rate`.
///
/// A flow with an empty backlog and an inflow below its share leaves the rest to the other flows. If the total inflow
/// is below `rate`, the level exceeds the largest inflow per weight by the unused rate per weight.
pub(crate) fn fair_level<T: Number>(rate: T, requests: &[ShareRequest<T>]) -> T {
    let per_weight = |request: &ShareRequest<T>| request.limit().map(|limit| limit / request.weight);
    let mut limits: Vec<(T, f64)> =
        requests.iter().filter_map(|t| Some((per_weight(t)?, t.total_weight()))).collect();
    limits.sort_by(|a, b| a.0.re().total_cmp(&b.0.re()));
    let (mut left, mut weight) = (rate, requests.iter().map(ShareRequest::total_weight).sum::<f64>());
    let total_weight = weight;
    let has_backlog = requests.iter().any(|request| request.limit().is_none());
    let mut largest = T::zero();
    for (inflow, flows_weight) in limits {
        if inflow * weight > left {
            return left / weight;
        }
        left -= inflow * flows_weight;
        weight -= flows_weight;
        largest = inflow;
    }
    if has_backlog { left / weight } else { largest + greatest(left, T::zero()) / total_weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::fluid::Dual64;

    fn request(count: f64, weight: f64, inflow_if_empty: Option<f64>) -> ShareRequest<f64> {
        ShareRequest { count, weight, inflow_if_empty, credit: None }
    }

    fn sent(rate: f64, requests: &[ShareRequest<f64>]) -> Vec<f64> {
        let level = fair_level(rate, requests);
        requests.iter().map(|request| request.rates(level).sent).collect()
    }

    #[test]
    fn flows_with_a_backlog_share_a_rate_by_weight() {
        let requests = [request(2.0, 1.0, None), request(1.0, 2.0, None)];
        assert_eq!(sent(8.0, &requests), [2.0, 4.0]);
        assert_eq!(sent(0.0, &requests), [0.0, 0.0]);
    }

    #[test]
    fn the_unused_share_of_a_flow_without_backlog_is_divided_among_the_others() {
        let requests = [request(1.0, 1.0, Some(1.0)), request(1.0, 1.0, Some(9.0)), request(1.0, 1.0, None)];
        // The first flow uses 1 of 9; the other two get 4 each, with or without a backlog.
        assert_eq!(sent(9.0, &requests), [1.0, 4.0, 4.0]);
        // The first flow's inflow exceeds its third of 1.5 as well.
        assert_eq!(sent(1.5, &requests), [0.5, 0.5, 0.5]);
    }

    /// Flows of which one has a backlog in this relay, and no room in the next one for more than 1.
    #[test]
    fn a_flow_without_credit_leaves_the_rest_to_the_others() {
        let limited = ShareRequest { credit: Some(1.0), ..request(2.0, 1.0, None) };
        assert_eq!(sent(9.0, &[limited, request(1.0, 1.0, None)]), [1.0, 7.0]);
        assert_eq!(sent(1.5, &[limited, request(1.0, 1.0, None)]), [0.5, 0.5]);
        let both = ShareRequest { credit: Some(1.0), ..request(1.0, 1.0, Some(0.5)) };
        assert_eq!(sent(9.0, &[both, request(1.0, 1.0, Some(20.0))]), [0.5, 8.5]);
    }

    /// A flow begins to have a backlog where its permitted rate falls below its inflow.
    #[test]
    fn the_flow_with_the_largest_inflow_per_weight_is_the_first_to_get_a_backlog() {
        let requests = [request(1.0, 1.0, Some(3.0)), request(2.0, 2.0, Some(4.0))];
        assert_eq!(sent(11.0, &requests), [3.0, 4.0]);
        let level = |rate| fair_level(rate, &requests);
        assert_eq!((level(16.0), level(11.0)), (3.0 + 5.0 / 5.0, 3.0));
        assert!(level(11.0 - 1e-9) < 3.0, "the inflow exceeds the rate: the first flow gets a backlog");
    }

    #[test]
    fn a_level_has_the_exact_derivative() {
        let dual = |re: f64, eps: f64| Dual64::new(re, eps);
        let requests = [
            ShareRequest { count: 1.0, weight: 1.0, inflow_if_empty: Some(dual(1.0, 1.0)), credit: None },
            ShareRequest { count: 2.0, weight: 2.0, inflow_if_empty: None, credit: None },
        ];
        // (9 - 1) / 4; the derivative by the inflow of the first flow is -1/4.
        let level = fair_level(dual(9.0, 0.0), &requests);
        assert_eq!((level.re, level.eps), (2.0, -0.25));
    }
}
