//! Fairness over short windows, and when each flow reaches its fair share.

use millpond_plan::packets::{PlannedFlow, PlannedLink};
use millpond_results::metrics::{converged_from, quartiles};
use millpond_results::{Kind, Quartiles, Series, quantity};
use millpond_sim::PacketNetwork;
use millpond_stats::{MaxMinFlow, connected_components, jain, max_min_shares};
use millpond_units::{Rate, Time};
use std::collections::BTreeMap;

/// A flow that shares links.
pub(crate) struct Sharer<'a> {
    /// Which.
    pub(crate) links: &'a [usize],
    /// What its application asks for in bit/s, if that is limited; else infinite.
    pub(crate) demand: f64,
}

/// Goodputs of all flows, window after window.
pub(crate) struct Windows {
    begin: Time,
    delivered: Vec<u64>,
    ends: Vec<f64>,
    /// For each flow its goodput in each window in bit/s; none where it did not run throughout.
    goodputs: Vec<Vec<Option<f64>>>,
    /// For each flow its fair share in each window in bit/s; not a number where it has none.
    fair: Vec<Vec<f64>>,
}

impl Windows {
    pub(crate) fn new(flows: usize) -> Self {
        Self {
            begin: Time::ZERO,
            delivered: vec![0; flows],
            ends: Vec::new(),
            goodputs: vec![Vec::new(); flows],
            fair: vec![Vec::new(); flows],
        }
    }

    /// A window ends now.
    pub(super) fn close(&mut self, network: &PacketNetwork, links: &[PlannedLink], flows: &[PlannedFlow]) {
        let now = network.now();
        let seconds = now.since(self.begin).secs();
        let capacity =
            |link: &PlannedLink| network.link(link.id).capacity_bits(self.begin, now) as f64 / seconds;
        let capacities: Vec<f64> = links.iter().map(capacity).collect();
        let goodputs: Vec<Option<f64>> = flows
            .iter()
            .zip(&mut self.delivered)
            .map(|(flow, before)| goodput(network, flow, (self.begin, now), before))
            .collect();
        let sharers: Vec<Sharer<'_>> = flows
            .iter()
            .map(|flow| Sharer {
                links: &flow.links,
                demand: flow.demand.map_or(f64::INFINITY, Rate::as_f64),
            })
            .collect();
        self.add(now, &capacities, &sharers, goodputs);
    }

    /// A window ends now in which flows that share links of these mean capacities had these goodputs.
    pub(crate) fn add(
        &mut self,
        now: Time,
        capacities: &[f64],
        flows: &[Sharer<'_>],
        goodputs: Vec<Option<f64>>,
    ) {
        let fair = fair_shares(capacities, flows, &goodputs);
        self.goodputs.iter_mut().zip(goodputs).for_each(|(flow, goodput)| flow.push(goodput));
        self.fair.iter_mut().zip(fair).for_each(|(flow, share)| flow.push(share));
        self.ends.push(now.secs());
        self.begin = now;
    }

    /// Jain's index in each window: the series of the group `all`.
    pub(crate) fn jain(&self) -> Series {
        let index = |window: usize| {
            let present: Vec<f64> = self.goodputs.iter().filter_map(|flow| flow[window]).collect();
            if present.len() > 1 { jain(&present) } else { f64::NAN }
        };
        Series {
            kind: Kind::Group,
            entity: "all".to_owned(),
            quantity: quantity::JAIN.to_owned(),
            unit: "1".to_owned(),
            times: self.ends.clone(),
            values: (0..self.ends.len()).map(index).collect(),
        }
    }

    /// How Jain's index is spread over the windows that end after `from`; all 1 if none compares two flows.
    pub(crate) fn quartiles(jain: &Series, from: Time) -> Quartiles {
        let measured =
            jain.times.iter().zip(&jain.values).filter(|(end, value)| **end > from.secs() && !value.is_nan());
        let even = Quartiles { min: 1.0, p25: 1.0, p50: 1.0, p75: 1.0, max: 1.0 };
        quartiles(measured.map(|(_, value)| *value).collect()).unwrap_or(even)
    }

    /// From when on flow `index` stays within the fraction `within` of its fair shares.
    pub(crate) fn converged(&self, index: usize, start: Time, within: f64) -> Option<f64> {
        let values: Vec<f64> = self.goodputs[index].iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        converged_from(start.secs(), &self.ends, &values, &self.fair[index], within)
    }
}

/// The goodput of a flow between two times, if it ran throughout, and takes note of what has been delivered.
fn goodput(
    network: &PacketNetwork,
    flow: &PlannedFlow,
    (begin, now): (Time, Time),
    before: &mut u64,
) -> Option<f64> {
    let view = network.flow(flow.id);
    let delivered = view.delivered().get();
    let bits = (delivered - std::mem::replace(before, delivered)) as f64 * 8.0;
    let throughout =
        flow.start <= begin && flow.stop.is_none_or(|stop| stop >= now) && view.completed().is_none();
    throughout.then(|| bits / now.since(begin).secs())
}

/// What a window would give each flow that runs throughout it if they shared the links max-min fairly. Flows that
/// share links, directly or through others, are taken to leave the same part of their shares unused, which is
/// measured. Not a number for a flow that does not run or shares its links with nobody.
fn fair_shares(capacities: &[f64], flows: &[Sharer<'_>], goodputs: &[Option<f64>]) -> Vec<f64> {
    let running: Vec<usize> = (0..flows.len()).filter(|&flow| goodputs[flow].is_some()).collect();
    let paths: Vec<&[usize]> = running.iter().map(|&flow| flows[flow].links).collect();
    let demands = running.iter().map(|&flow| MaxMinFlow::single(flows[flow].links, flows[flow].demand));
    let shares = max_min_shares(capacities, &demands.collect::<Vec<_>>()).rates;
    let company = connected_components(capacities.len(), &paths);
    // Of each company: how many flows, their shares and their goodputs.
    let mut sums: BTreeMap<usize, (u32, f64, f64)> = BTreeMap::new();
    for (place, &flow) in running.iter().enumerate() {
        let (count, share, goodput) = sums.entry(company[place]).or_default();
        *count += 1;
        *share += shares[place];
        *goodput += goodputs[flow].unwrap_or_default();
    }
    let mut fair = vec![f64::NAN; flows.len()];
    for (place, &flow) in running.iter().enumerate() {
        match sums.get(&company[place]) {
            Some(&(2.., share, goodput)) if share > 0.0 => {
                fair[flow] = shares[place] * (goodput / share).min(1.0)
            }
            _ => {}
        }
    }
    fair
}
