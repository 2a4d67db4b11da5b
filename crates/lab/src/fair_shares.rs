//! Weighted max-min fair shares of the flows of a run over time.

use crate::fairness::FlowDemand;
use millpond_plan::packets::{PacketFlowPlan, plan};
use millpond_protocols::Registry;
use millpond_results::{EntityKind, Run, Series, Times, quantity};
use millpond_scenario::Scenario;
use millpond_stats::max_min_shares;
use millpond_units::Time;

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
    let mut flows: Vec<FlowOfRun<'_>> = plan.flows.iter().map(|flow| FlowOfRun::new(flow, run)).collect();
    let mut shares: Vec<Series> = plan.flows.iter().map(|flow| empty(&flow.name, &times)).collect();
    let (mut before, mut last) = (0.0, None);
    for (sample, time) in times.iter().enumerate() {
        let middle = f64::midpoint(before, *time);
        let running = (0..flows.len()).filter(|index| flows[*index].runs(middle)).collect();
        let offered = capacities.iter().map(|one| one.values.get(sample).copied().unwrap_or(f64::NAN));
        let interval = (Time::from_secs(before), Time::from_secs(*time));
        let conditions = Conditions::new(running, offered.collect(), &flows, interval);
        let known = last.take().filter(|(known, _)| *known == conditions);
        let rates = known.map_or_else(|| conditions.rates(&flows), |(_, rates)| rates);
        for (flow, rate) in conditions.running.iter().zip(&rates) {
            shares[*flow].values[sample] = *rate;
        }
        flows.iter_mut().for_each(|flow| flow.deliver(sample, (before, *time)));
        (before, last) = (*time, Some((conditions, rates)));
    }
    shares
}

/// A flow, what it delivers in the run, and when it stops.
struct FlowOfRun<'a> {
    flow: &'a PacketFlowPlan,
    goodputs: &'a [f64],
    /// In seconds.
    stop: f64,
    /// Bits delivered so far.
    delivered: f64,
}

impl<'a> FlowOfRun<'a> {
    fn new(flow: &'a PacketFlowPlan, run: &'a Run) -> Self {
        let is_goodput = |one: &&Series| {
            one.kind == EntityKind::Flow && one.quantity == quantity::GOODPUT && one.entity == flow.name
        };
        let goodputs = run.series.iter().find(is_goodput).map_or(&[][..], |series| &series.values);
        Self { flow, goodputs, stop: stop(flow, run), delivered: 0.0 }
    }

    /// Whether it runs at a time in seconds.
    fn runs(&self, time: f64) -> bool {
        self.flow.start.secs() <= time && time <= self.stop
    }

    /// Adds what it has delivered in an interval between two times in seconds.
    fn deliver(&mut self, sample: usize, (from, to): (f64, f64)) {
        let seconds = to.min(self.stop) - from.max(self.flow.start.secs());
        let goodput = self.goodputs.get(sample).filter(|goodput| goodput.is_finite() && seconds > 0.0);
        self.delivered += goodput.map_or(0.0, |goodput| goodput * seconds);
    }
}

/// What the shares in an interval depend on.
#[derive(PartialEq)]
struct Conditions {
    /// The flows that run.
    running: Vec<usize>,
    /// Of the links, in bit/s.
    capacities: Vec<f64>,
    /// Of the flows that run, in bit/s.
    demands: Vec<f64>,
}

impl Conditions {
    fn new(
        running: Vec<usize>,
        capacities: Vec<f64>,
        flows: &[FlowOfRun<'_>],
        interval: (Time, Time),
    ) -> Self {
        let demand = |index: &usize| {
            let of_run = &flows[*index];
            FlowDemand::between(of_run.flow, interval, of_run.delivered).demand
        };
        let demands = running.iter().map(demand).collect();
        Self { running, capacities, demands }
    }

    /// The shares of the flows that run, in bit/s.
    fn rates(&self, flows: &[FlowOfRun<'_>]) -> Vec<f64> {
        let demand = |(index, demand): (&usize, &f64)| {
            let flow = flows[*index].flow;
            FlowDemand { links: &flow.links, weight: flow.weight, demand: *demand }.max_min()
        };
        let demands: Vec<_> = self.running.iter().zip(&self.demands).map(demand).collect();
        max_min_shares(&self.capacities, &demands).rates
    }
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
