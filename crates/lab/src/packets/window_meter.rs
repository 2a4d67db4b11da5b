//! Goodputs and mean capacities of each window of short-term fairness.

use crate::fairness::{FairnessWindows, FlowDemand};
use millpond_plan::packets::{PacketFlowPlan, PacketLinkPlan, PacketPlan};
use millpond_units::Time;

/// Measures the windows of short-term fairness one after the other.
pub(super) struct WindowMeter {
    /// The beginning of the window.
    begin: Time,
    /// For each flow the payload in bytes that had been delivered when the window began.
    delivered: Vec<u64>,
}

impl WindowMeter {
    pub(super) fn new(plan: &PacketPlan) -> Self {
        Self { begin: Time::ZERO, delivered: vec![0; plan.flows.len()] }
    }

    /// Adds the window that ends now to `windows`.
    pub(super) fn close(&mut self, plan: &PacketPlan, windows: &mut FairnessWindows) {
        let (begin, now) = (self.begin, plan.network.now());
        let seconds = now.since(begin).secs();
        let capacity =
            |link: &PacketLinkPlan| plan.network.link(link.id).capacity_bits(begin, now) as f64 / seconds;
        let flows = plan.flows.iter().zip(&self.delivered);
        let demands: Vec<FlowDemand<'_>> =
            flows.map(|(flow, bytes)| FlowDemand::between(flow, (begin, now), 8.0 * *bytes as f64)).collect();
        let goodputs = plan.flows.iter().enumerate().map(|(index, flow)| self.goodput(plan, index, flow));
        let goodputs: Vec<Option<f64>> = goodputs.collect();
        let capacities: Vec<f64> = plan.links.iter().map(capacity).collect();
        windows.add(now, &capacities, &demands, goodputs);
        self.begin = now;
    }

    /// The goodput of flow number `index` in bit/s, if it ran throughout the window. Pings and the flows of applications
    /// have none, because they do not compete for capacity.
    fn goodput(&mut self, plan: &PacketPlan, index: usize, flow: &PacketFlowPlan) -> Option<f64> {
        let (view, now) = (plan.network.flow(flow.id), plan.network.now());
        let delivered = view.delivered().get();
        let before = std::mem::replace(&mut self.delivered[index], delivered);
        let bits = (delivered - before) as f64 * 8.0;
        let counts = flow.competes
            && flow.start <= self.begin
            && flow.stop.is_none_or(|stop| stop >= now)
            && view.completed().is_none();
        counts.then(|| bits / now.since(self.begin).secs())
    }
}
