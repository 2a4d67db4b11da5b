//! Distributions and transfers of a run.

use super::counted_transfer::CountedTransfer;
use super::summary::FinishedPacketRun;
use crate::distributions::{milliseconds_of_histogram, queueing_of_histogram};
use crate::groups::if_sampled;
use millpond_plan::packets::{ApplicationPlan, PacketFlowPlan, TransferSourcePlan};
use millpond_results::metrics::spread;
use millpond_results::{Distribution, EntityKind, Flow, Playback, Transfer};
use millpond_stats::Histogram;
use millpond_units::{Span, Time};

impl FinishedPacketRun<'_> {
    /// Distributions of queueing delay: of each direction of each link, each group of flows, and all flows.
    pub(super) fn distributions(&self) -> Vec<Distribution> {
        let links = self.plan.links.iter().filter_map(|link| {
            queueing_of_histogram(
                EntityKind::Link,
                &link.entity,
                &self.plan.network.link(link.id).queueing_delays(),
            )
        });
        let groups = self.scenario.flows.iter().map(|group| group.name.value.as_str());
        let groups = groups
            .filter_map(|name| queueing_of_histogram(EntityKind::Group, name, &self.delays(Some(name))));
        links
            .chain(groups)
            .chain(queueing_of_histogram(EntityKind::Group, "all", &self.delays(None)))
            .collect()
    }

    /// The histogram of the end-to-end queueing delays of all packets, or of the packets of a group.
    pub(super) fn delays(&self, group: Option<&str>) -> Histogram {
        let belongs = |name: &str| group.is_none_or(|group| group == name);
        let flows = self.plan.flows.iter().filter(|flow| belongs(&flow.group));
        let mut all = Histogram::of_delays();
        flows.for_each(|flow| all.merge(self.plan.network.flow(flow.id).queueing_delays()));
        let sources = self.plan.sources.iter().filter(|source| belongs(&source.group));
        sources.for_each(|source| all.merge(&self.plan.network.transfers(source.id).queueing_delays()));
        all
    }

    /// The histogram of the one-way delays of all packets of a group.
    pub(super) fn one_way_delays(&self, group: &str) -> Histogram {
        let mut all = Histogram::of_delays();
        let flows = self.plan.flows.iter().filter(|flow| flow.group == group);
        flows.for_each(|flow| all.merge(self.plan.network.flow(flow.id).one_way_delays()));
        let sources = self.plan.sources.iter().filter(|source| source.group == group);
        sources.for_each(|source| all.merge(&self.plan.network.transfers(source.id).one_way_delays()));
        all
    }

    /// Every declared flow as a transfer, then every spawned transfer, then those of applications.
    pub(super) fn transfers(&self) -> Vec<Transfer> {
        let flows = self.plan.flows.iter().map(|flow| self.declared(flow));
        let spawned = self.plan.sources.iter().flat_map(|source| self.spawned(source));
        flows
            .chain(spawned)
            .chain(self.plan.applications.iter().flat_map(|one| self.requested(one)))
            .collect()
    }

    fn declared(&self, flow: &PacketFlowPlan) -> Transfer {
        let view = self.plan.network.flow(flow.id);
        Transfer {
            name: flow.name.clone(),
            group: flow.group.clone(),
            protocol: flow.protocol.clone(),
            size_bytes: flow.size.map(|size| size.get()),
            delivered_bytes: view.delivered().get(),
            start_s: flow.start.secs(),
            completed_s: view.completed().map(Time::secs),
            shortest_ms: flow.shortest_completion.map(Span::millis),
        }
    }

    fn spawned(&self, source: &TransferSourcePlan) -> impl Iterator<Item = Transfer> {
        let all = self.plan.network.transfers(source.id).all();
        let TransferSourcePlan { name, group, protocol, .. } = source;
        all.into_iter().enumerate().map(move |(number, one)| Transfer {
            shortest_ms: source.shortest(one.size).map(Span::millis),
            ..part_of(name, number, group, protocol, &one)
        })
    }

    /// The pages, segments or frames of an application.
    fn requested(&self, application: &ApplicationPlan) -> impl Iterator<Item = Transfer> {
        let ApplicationPlan { id, name, group, protocol } = application;
        let all = self.plan.network.application_transfers(*id).iter().enumerate();
        all.map(move |(number, one)| part_of(name, number, group, protocol, one))
    }

    /// What the viewers of a group saw, if its flows carry adaptive video.
    pub(super) fn playback(&self, group: &str) -> Option<Playback> {
        let applications = self.plan.applications.iter().filter(|application| application.group == group);
        let seen: Vec<millpond_sim::Playback> =
            applications.filter_map(|application| self.plan.network.playback(application.id)).collect();
        let over = |value: &dyn Fn(&millpond_sim::Playback) -> Option<f64>| {
            spread(&seen.iter().filter_map(value).collect::<Vec<_>>())
        };
        (!seen.is_empty()).then(|| Playback {
            bitrate_bps: over(&|one| one.bitrate),
            rebuffering_s: over(&|one| Some(one.rebuffering.secs())),
            switches: over(&|one| Some(one.switches as f64)),
            startup_s: over(&|one| one.startup.map(Span::secs)),
        })
    }

    /// The transfers of a source as one flow.
    pub(super) fn source(&self, source: &TransferSourcePlan) -> Flow {
        let view = self.plan.network.transfers(source.id);
        let counters = view.counters();
        let (begin, stop) = (self.from().max(source.start), self.last_completion(source));
        let seconds = stop.since(begin).secs();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let queueing = view.queueing_delays();
        Flow {
            name: source.name.clone(),
            group: source.group.clone(),
            protocol: source.protocol.clone(),
            start_s: source.start.secs(),
            stop_s: stop.secs(),
            goodput_bps: rate(counters.delivered_bytes),
            send_rate_bps: rate(counters.sent_bytes),
            rtt_ms: if_sampled(milliseconds_of_histogram(&view.round_trip_times())),
            queueing_ms: milliseconds_of_histogram(&queueing),
            one_way_ms: Some(milliseconds_of_histogram(&view.one_way_delays())),
            sent: counters.sent,
            delivered: queueing.total(),
            retransmitted: counters.retransmitted,
            lost: counters.lost,
            marked: counters.marked,
            ..Flow::default()
        }
    }

    /// The completion of a source's last transfer, if the source has stopped; else now.
    fn last_completion(&self, source: &TransferSourcePlan) -> Time {
        let now = self.plan.network.now();
        let view = self.plan.network.transfers(source.id);
        match source.stop {
            Some(stop) if view.running() == 0 => {
                view.all().iter().filter_map(|one| one.completed).fold(stop, Time::max).min(now)
            }
            _ => now,
        }
    }

    /// The transfers of a group. Spawned transfers and those of applications count if they arrived in the measured time.
    pub(super) fn counted(&self, group: &str) -> Vec<CountedTransfer> {
        let network = &self.plan.network;
        let flows = self.plan.flows.iter().filter(|flow| flow.group == group && flow.size.is_some());
        let flows = flows.map(|flow| CountedTransfer {
            took: network.flow(flow.id).completed().map(|end| end.since(flow.start)),
            shortest: flow.shortest_completion,
        });
        let sources = self.plan.sources.iter().filter(|source| source.group == group);
        let spawned = sources.flat_map(|source| {
            let all = self.measured(network.transfers(source.id).all());
            all.map(|one| CountedTransfer { shortest: source.shortest(one.size), ..one.into() })
        });
        let applications = self.plan.applications.iter().filter(|application| application.group == group);
        let requested = applications
            .flat_map(|one| self.measured(network.application_transfers(one.id).to_vec()).map(Into::into));
        flows.chain(spawned).chain(requested).collect()
    }

    /// Those that arrived in the measured time.
    fn measured(&self, all: Vec<millpond_sim::Transfer>) -> impl Iterator<Item = millpond_sim::Transfer> {
        let from = self.from();
        all.into_iter().filter(move |one| one.arrived >= from)
    }
}

/// Part `number` of a source of transfers or of an application.
fn part_of(name: &str, number: usize, group: &str, protocol: &str, one: &millpond_sim::Transfer) -> Transfer {
    Transfer {
        name: format!("{name}/{number}"),
        group: group.to_owned(),
        protocol: protocol.to_owned(),
        size_bytes: Some(one.size.get()),
        delivered_bytes: one.delivered.get(),
        start_s: one.arrived.secs(),
        completed_s: one.completed.map(Time::secs),
        shortest_ms: None,
    }
}
