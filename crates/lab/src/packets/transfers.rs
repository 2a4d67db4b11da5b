//! Distributions and transfers of a run, taken at its end.

use super::summary::End;
use crate::distributions::{milliseconds_of_histogram, milliseconds_of_list, queueing_of_histogram};
use millpond_plan::packets::{PlannedFlow, PlannedSource};
use millpond_results::{Distribution, Flow, Kind, Milliseconds, Transfer};
use millpond_sim::Histogram;
use millpond_units::Time;

impl End<'_> {
    /// Queueing delays: of each direction of each link, of each group of flows, of all flows.
    pub(super) fn distributions(&self) -> Vec<Distribution> {
        let links = self.links.iter().filter_map(|link| {
            queueing_of_histogram(Kind::Link, &link.entity, &self.network.link(link.id).queueing_delays())
        });
        let groups = self.scenario.flows.iter().map(|group| group.name.value.as_str());
        let groups =
            groups.filter_map(|name| queueing_of_histogram(Kind::Group, name, &self.delays(Some(name))));
        links.chain(groups).chain(queueing_of_histogram(Kind::Group, "all", &self.delays(None))).collect()
    }

    /// Queueing delays from end to end of all packets, or of those of a group.
    pub(super) fn delays(&self, group: Option<&str>) -> Histogram {
        let belongs = |name: &str| group.is_none_or(|group| group == name);
        let flows = self.flows.iter().filter(|flow| belongs(&flow.group));
        let mut all = Histogram::of_delays();
        flows.for_each(|flow| all.merge(self.network.flow(flow.id).queueing_delays()));
        let sources = self.sources.iter().filter(|source| belongs(&source.group));
        sources.for_each(|source| all.merge(&self.network.transfers(source.id).queueing_delays()));
        all
    }

    /// Every flow as a transfer, and every transfer that was spawned.
    pub(super) fn transfers(&self) -> Vec<Transfer> {
        let flows = self.flows.iter().map(|flow| self.whole(flow));
        flows.chain(self.sources.iter().flat_map(|source| self.spawned(source))).collect()
    }

    fn whole(&self, flow: &PlannedFlow) -> Transfer {
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
    }

    fn spawned(&self, source: &PlannedSource) -> impl Iterator<Item = Transfer> {
        let all = self.network.transfers(source.id).all();
        all.into_iter().enumerate().map(move |(number, one)| Transfer {
            name: format!("{}/{number}", source.name),
            group: source.group.clone(),
            protocol: source.protocol.clone(),
            size_bytes: Some(one.size.get()),
            delivered_bytes: one.delivered.get(),
            start_s: one.arrived.secs(),
            completed_s: one.completed.map(Time::secs),
        })
    }

    /// A source of transfers, as one flow.
    pub(super) fn source(&self, source: &PlannedSource) -> Flow {
        let view = self.network.transfers(source.id);
        let counters = view.counters();
        let (begin, stop) = (self.from().max(source.start), self.last(source));
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
            rtt_ms: milliseconds_of_histogram(&view.round_trip_times()),
            queueing_ms: milliseconds_of_histogram(&queueing),
            sent: counters.sent,
            delivered: queueing.total(),
            retransmitted: counters.retransmitted,
            lost: counters.lost,
            marked: counters.marked,
            ..Flow::default()
        }
    }

    /// When a source's last transfer was complete, if no more will come; else now.
    fn last(&self, source: &PlannedSource) -> Time {
        let now = self.network.now();
        let view = self.network.transfers(source.id);
        match source.stop {
            Some(stop) if view.running() == 0 => {
                view.all().iter().filter_map(|one| one.completed).fold(stop, Time::max).min(now)
            }
            _ => now,
        }
    }

    /// How many transfers a group has, how many are complete, and how long those took. Of what it spawned, only what
    /// came while it was measured.
    pub(super) fn completion(&self, group: &str) -> (u64, u64, Option<Milliseconds>) {
        let mine = |of: &str| of == group;
        let flows = self.flows.iter().filter(|flow| mine(&flow.group) && flow.size.is_some());
        let flows = flows.map(|flow| (flow.start, self.network.flow(flow.id).completed()));
        let sources = self.sources.iter().filter(|source| mine(&source.group));
        let spawned = sources.flat_map(|source| self.network.transfers(source.id).all());
        let spawned = spawned.filter(|one| one.arrived >= self.from());
        let all = flows.chain(spawned.map(|one| (one.arrived, one.completed)));
        let took: Vec<Option<f64>> =
            all.map(|(start, end)| end.map(|end| end.since(start).millis())).collect();
        let complete: Vec<f64> = took.iter().flatten().copied().collect();
        (took.len() as u64, complete.len() as u64, milliseconds_of_list(complete))
    }
}
