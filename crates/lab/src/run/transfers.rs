//! Distributions and transfers of a run, taken at its end.

use super::distribution::{merged, queueing};
use super::summary::End;
use crate::results::{Distribution, Kind, Transfer};
use millpond_units::Time;

impl End<'_> {
    /// Queueing delays: of each direction of each link, of each group of flows, of all flows.
    pub(super) fn distributions(&self) -> Vec<Distribution> {
        let links = self.links.iter().filter_map(|link| {
            queueing(Kind::Link, &link.entity, &self.network.link(link.id).queueing_delays())
        });
        let members = |name: &str| {
            let flows = self.flows.iter().filter(|flow| flow.group == name);
            merged(flows.map(|flow| self.network.flow(flow.id).queueing_delays()))
        };
        let groups = self
            .scenario
            .flows
            .iter()
            .filter_map(|group| queueing(Kind::Group, &group.name.value, &members(&group.name.value)));
        let all = merged(self.flows.iter().map(|flow| self.network.flow(flow.id).queueing_delays()));
        links.chain(groups).chain(queueing(Kind::Group, "all", &all)).collect()
    }

    /// Every flow as a transfer.
    pub(super) fn transfers(&self) -> Vec<Transfer> {
        let transfer = |flow: &crate::plan::PlannedFlow| {
            let view = self.network.flow(flow.id);
            Transfer {
                name: flow.name.clone(),
                group: flow.group.clone(),
                protocol: flow.protocol.clone(),
                size_bytes: flow.size.map(|size| size.get()),
                delivered_bytes: view.delivered().get(),
                start_s: flow.start.secs(),
                completed_s: view.completed().map(Time::secs),
            }
        };
        self.flows.iter().map(transfer).collect()
    }
}
