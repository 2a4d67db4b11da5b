//! Weighted max-min fair shares of the flows of a run over time.

use crate::fairness::FlowDemand;
use millpond_plan::packets::{PacketFlowPlan, plan};
use millpond_protocols::Registry;
use millpond_results::{EntityKind, Run, Series, Times, quantity};
use millpond_scenario::Scenario;
use millpond_stats::max_min_shares;

/// The weighted max-min fair share of each flow in each interval of sampling, among the flows that run in it, at the capacities of
/// that interval; not a number where a flow does not run. Empty if the scenario has no plan in packets.
pub fn fair_shares(scenario: &Scenario, registry: &Registry, run: &Run) -> Vec<Series> {
    let Ok(plan) = plan(scenario, registry) else { return Vec::new() };
    let capacity = |entity: &str| {
        run.series.iter().find(|one| {
            one.kind == EntityKind::Link && one.quantity == quantity::CAPACITY && one.entity == entity
        })
    };
    let capacities: Option<Vec<&Series>> = plan.links.iter().map(|link| capacity(&link.entity)).collect();
    let Some(capacities) = capacities else { return Vec::new() };
    let times = capacities.first().map_or_else(Times::default, |series| series.times.clone());
    let stops: Vec<f64> = plan.flows.iter().map(|flow| stop(flow, run)).collect();
    let mut shares: Vec<Series> = plan.flows.iter().map(|flow| empty(&flow.name, &times)).collect();
    let (mut before, mut last) = (0.0, None);
    for (sample, time) in times.iter().enumerate() {
        let middle = f64::midpoint(before, *time);
        let runs = |index: usize| plan.flows[index].start.secs() <= middle && middle <= stops[index];
        let running: Vec<usize> = (0..plan.flows.len()).filter(|index| runs(*index)).collect();
        let offered: Vec<f64> =
            capacities.iter().map(|one| one.values.get(sample).copied().unwrap_or(f64::NAN)).collect();
        let known = last.take().filter(|(flows, links, _)| (flows, links) == (&running, &offered));
        let (running, offered, rates) = known.unwrap_or_else(|| {
            let rates = rates(&plan.flows, &running, &offered);
            (running, offered, rates)
        });
        for (flow, rate) in running.iter().zip(&rates) {
            shares[*flow].values[sample] = *rate;
        }
        (before, last) = (*time, Some((running, offered, rates)));
    }
    shares
}

/// The shares of the flows `running` at these capacities of the links in bit/s.
fn rates(flows: &[PacketFlowPlan], running: &[usize], capacities: &[f64]) -> Vec<f64> {
    let demands = running.iter().map(|&flow| FlowDemand::from(&flows[flow]).max_min());
    max_min_shares(capacities, &demands.collect::<Vec<_>>()).rates
}

/// When a flow stops, in seconds: at its stop, or with the run.
fn stop(flow: &PacketFlowPlan, run: &Run) -> f64 {
    let found = run.summary.flows.iter().find(|other| other.name == flow.name);
    found.map_or(f64::INFINITY, |flow| flow.stop_s)
}

fn empty(name: &str, times: &Times) -> Series {
    Series {
        kind: EntityKind::Flow,
        entity: name.to_owned(),
        quantity: quantity::FAIR_SHARE.to_owned(),
        unit: "bit/s".to_owned(),
        times: times.clone(),
        values: vec![f64::NAN; times.len()],
    }
}
