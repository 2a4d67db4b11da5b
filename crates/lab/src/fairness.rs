//! Fairness over short windows, and when each flow reaches its fair share.

use millpond_plan::fluid::FluidFlowPlan;
use millpond_plan::packets::PacketFlowPlan;
use millpond_results::metrics::{converged_from, quartiles};
use millpond_results::{EntityKind, Quartiles, Series, quantity};
use millpond_sim::Schedule;
use millpond_stats::{MaxMinFlow, connected_components, jain_of_several, max_min_shares, mean};
use millpond_units::Time;
use std::collections::BTreeMap;

/// The links, the weight and the demand of a flow.
pub(crate) struct FlowDemand<'a> {
    /// Indices of the links that it crosses.
    pub(crate) links: &'a [usize],
    /// Fair shares are in proportion to weights.
    pub(crate) weight: f64,
    /// The most that its application can use in bit/s; infinite if it has no limit.
    pub(crate) demand: f64,
}

impl<'a> FlowDemand<'a> {
    pub(crate) const fn max_min(&self) -> MaxMinFlow<'a> {
        MaxMinFlow { path: self.links, count: 1.0, weight: self.weight, max_rate: self.demand }
    }
}

impl<'a> FlowDemand<'a> {
    /// That of a flow of the packet world between two times, of which the first `delivered` bits had arrived at the earlier
    /// one. An application that pauses has what it has produced and what has not arrived.
    pub(crate) fn between(flow: &'a PacketFlowPlan, (from, to): (Time, Time), delivered: f64) -> Self {
        let mean = |schedule: &Schedule| match schedule.next_change(Time::ZERO) {
            None => schedule.rate_at(Time::ZERO).as_f64(),
            Some(_) => {
                let produced = schedule.bits_between(flow.start.min(to), to) as f64;
                (produced - delivered).max(0.0) / to.since(from).secs()
            }
        };
        let demand = flow.demand.as_deref().map_or(f64::INFINITY, mean);
        Self { links: &flow.links, weight: flow.weight, demand }
    }
}

impl<'a> From<&'a FluidFlowPlan> for FlowDemand<'a> {
    /// Applications of the fluid world have no rate of their own.
    fn from(flow: &'a FluidFlowPlan) -> Self {
        Self { links: &flow.links, weight: flow.weight, demand: f64::INFINITY }
    }
}

/// The goodputs and fair shares of all flows, one value per window.
pub(crate) struct FairnessWindows {
    /// The ends of the windows in seconds.
    ends: Vec<f64>,
    /// The weight of each flow.
    weights: Vec<f64>,
    /// For each flow its goodput in each window in bit/s; none if it did not run throughout the window.
    goodputs: Vec<Vec<Option<f64>>>,
    /// For each flow its fair share in each window in bit/s; not a number if it has none.
    fair: Vec<Vec<f64>>,
}

impl FairnessWindows {
    /// No window yet, of flows with these weights.
    pub(crate) fn new(weights: Vec<f64>) -> Self {
        let (goodputs, fair) = (vec![Vec::new(); weights.len()], vec![Vec::new(); weights.len()]);
        Self { ends: Vec::new(), weights, goodputs, fair }
    }

    /// Adds a window that ends at `now`: mean capacities of the links and goodputs of the flows in bit/s; a flow that did
    /// not run throughout the window has no goodput.
    pub(crate) fn add(
        &mut self,
        now: Time,
        capacities: &[f64],
        flows: &[FlowDemand<'_>],
        goodputs: Vec<Option<f64>>,
    ) {
        let fair = utilized_fair_shares(capacities, flows, &goodputs);
        self.goodputs.iter_mut().zip(goodputs).for_each(|(flow, goodput)| flow.push(goodput));
        self.fair.iter_mut().zip(fair).for_each(|(flow, share)| flow.push(share));
        self.ends.push(now.secs());
    }

    /// Jain's index of the goodputs over the weights in each window: the series of the group `all`.
    pub(crate) fn jain(&self) -> Series {
        let index = |window: usize| {
            let weighted = self.goodputs.iter().zip(&self.weights);
            let present: Vec<f64> =
                weighted.filter_map(|(flow, weight)| Some(flow[window]? / weight)).collect();
            jain_of_several(&present).unwrap_or(f64::NAN)
        };
        Series {
            kind: EntityKind::Group,
            entity: "all".to_owned(),
            quantity: quantity::JAIN.to_owned(),
            unit: "1".to_owned(),
            times: self.ends.clone().into(),
            values: (0..self.ends.len()).map(index).collect(),
        }
    }

    /// The quartiles of Jain's index over the windows that end after `from`; 1 if no window has two flows.
    pub(crate) fn quartiles(jain: &Series, from: Time) -> Quartiles {
        let measured =
            jain.times.iter().zip(&jain.values).filter(|(end, value)| **end > from.secs() && !value.is_nan());
        let even = Quartiles { min: 1.0, p25: 1.0, p50: 1.0, p75: 1.0, max: 1.0 };
        quartiles(measured.map(|(_, value)| *value).collect()).unwrap_or(even)
    }

    /// The mean of the fair shares of flow `index` over the windows that end after `from`, in bit/s; none if it has none.
    pub(crate) fn mean_fair_share(&self, index: usize, from: Time) -> Option<f64> {
        let shares = self.ends.iter().zip(&self.fair[index]);
        let measured = shares.filter(|(end, share)| **end > from.secs() && !share.is_nan());
        let measured: Vec<f64> = measured.map(|(_, share)| *share).collect();
        (!measured.is_empty()).then(|| mean(&measured))
    }

    /// The time in seconds from which on flow `index`, which starts at `start`, stays within the fraction `within` of its
    /// fair shares.
    pub(crate) fn converged(&self, index: usize, start: Time, within: f64) -> Option<f64> {
        let values: Vec<f64> = self.goodputs[index].iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        converged_from(start.secs(), &self.ends, &values, &self.fair[index], within)
    }
}

/// The sums over a connected component of flows.
#[derive(Default)]
struct ComponentSums {
    flows: u32,
    /// Of the max-min shares in bit/s.
    share: f64,
    /// Of the goodputs in bit/s.
    goodput: f64,
}

/// The fair share of each flow in a window, in bit/s: its weighted max-min share among the flows that run throughout the
/// window, times the utilization of those shares within its connected component. Flows are connected if they share a link,
/// directly or through other flows. Not a number for a flow that does not run or is the only one of its component.
fn utilized_fair_shares(capacities: &[f64], flows: &[FlowDemand<'_>], goodputs: &[Option<f64>]) -> Vec<f64> {
    let running: Vec<usize> = (0..flows.len()).filter(|&flow| goodputs[flow].is_some()).collect();
    let paths: Vec<&[usize]> = running.iter().map(|&flow| flows[flow].links).collect();
    let demands: Vec<MaxMinFlow<'_>> = running.iter().map(|&flow| flows[flow].max_min()).collect();
    let shares = max_min_shares(capacities, &demands).rates;
    let component = connected_components(capacities.len(), &paths);
    let mut sums: BTreeMap<usize, ComponentSums> = BTreeMap::new();
    for (place, &flow) in running.iter().enumerate() {
        let sum = sums.entry(component[place]).or_default();
        sum.flows += 1;
        sum.share += shares[place];
        sum.goodput += goodputs[flow].unwrap_or_default();
    }
    let mut fair = vec![f64::NAN; flows.len()];
    for (place, &flow) in running.iter().enumerate() {
        if let Some(sum) = sums.get(&component[place]).filter(|sum| sum.flows > 1 && sum.share > 0.0) {
            fair[flow] = shares[place] * (sum.goodput / sum.share).min(1.0);
        }
    }
    fair
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLIMITED: FlowDemand<'_> = FlowDemand { links: &[0], weight: 1.0, demand: f64::INFINITY };

    /// Windows of a second with these goodputs of two flows on a link of 10 bit/s.
    fn windows(goodputs: &[[f64; 2]]) -> FairnessWindows {
        let mut windows = FairnessWindows::new(vec![1.0; 2]);
        for (end, goodputs) in (1..).zip(goodputs) {
            let now = Time::from_secs(f64::from(end));
            windows.add(now, &[10.0], &[UNLIMITED, UNLIMITED], goodputs.map(Some).to_vec());
        }
        windows
    }

    /// 4 of 10 bit/s are used: each fair share is 2. What leaves a queue beyond the capacity is no fair share.
    #[test]
    fn fair_shares_have_the_utilization_of_their_links_but_at_most_one() {
        let shares =
            |goodputs: [f64; 2]| utilized_fair_shares(&[10.0], &[UNLIMITED, UNLIMITED], &goodputs.map(Some));
        assert_eq!(shares([3.0, 1.0]), [2.0, 2.0]);
        assert_eq!(shares([8.0, 4.0]), [5.0, 5.0]);
    }

    /// Windows that end at 1, 2 and 3 s have the indices 1, 0.5 and 0.8.
    #[test]
    fn a_window_that_ends_when_the_measured_time_begins_is_not_measured() {
        let windows = windows(&[[4.0, 4.0], [6.0, 0.0], [6.0, 2.0]]);
        let jain = windows.jain();
        assert_eq!(jain.values, [1.0, 0.5, 0.8]);
        let from = Time::from_secs(1.0);
        let found = FairnessWindows::quartiles(&jain, from);
        assert_eq!((found.min, found.max), (0.5, 0.8));
        assert!((found.p50 - 0.65).abs() < 1e-12);
        // Shares of 4, 3 and 4, of which the first one does not count.
        assert_eq!(windows.mean_fair_share(0, from), Some(3.5));
    }
}
