//! The summary of a run, from its counters, histograms and series.

use super::counted_transfer::{CountedTransfer, completion, slowdown};
use crate::distributions::{milliseconds_of_histogram, packets_of_histogram, packets_of_list};
use crate::fairness::FairnessWindows;
use crate::groups::{group_of_flows, weighted_goodputs, with_loops};
use crate::run_key::RunKey;
use millpond_plan::packets::{PacketFlowPlan, PacketLinkPlan, PacketPlan};
use millpond_results::{
    About, EntityKind, Fairness, Flow, Group, Link, Loop, Relay, Run, Series, Summary, quantity,
};
use millpond_scenario::Scenario;
use millpond_sim::{FlowView, LoopCounters, LoopView};
use millpond_stats::{Histogram, jain_of_several, mean, min_over_max};
use millpond_units::Time;
use std::collections::BTreeMap;

/// A run at its end.
pub(super) struct FinishedPacketRun<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a PacketPlan,
    pub(super) series: Vec<Series>,
    pub(super) windows: &'a FairnessWindows,
    /// The series of the short-term Jain index, which becomes the last series of the run.
    pub(super) jain: Series,
}

impl FinishedPacketRun<'_> {
    /// The results of the run.
    pub(super) fn into_run(self, about: About) -> Run {
        let (summary, distributions, transfers) =
            (self.summary(&about), self.distributions(), self.transfers());
        let mut series = self.series;
        series.push(self.jain);
        Run {
            label: about.label,
            summary,
            series,
            distributions,
            scenario_toml: self.scenario.to_toml(),
            command: about.origin.command,
            transfers,
        }
    }

    /// The content of `summary.json`.
    fn summary(&self, about: &About) -> Summary {
        let mut flows = self.flows();
        let compete = flows.iter().zip(&self.plan.flows).filter(|(_, plan)| plan.competes);
        let goodputs = weighted_goodputs(compete.map(|(flow, plan)| (flow, plan.weight)), self.from());
        flows.extend(self.plan.sources.iter().map(|source| self.source(source)));
        let names = || self.scenario.flows.iter().map(|group| group.name.value.as_str());
        let transfers: Vec<Vec<CountedTransfer>> = names().map(|name| self.counted(name)).collect();
        let groups = names().zip(&transfers).map(|(name, own)| self.group(name, &flows, own)).collect();
        let RunKey { scenario_sha256, traces } = RunKey::of(self.scenario);
        Summary {
            scenario: self.scenario.title.clone(),
            world: about.world.name().to_owned(),
            seed: self.scenario.seed,
            version: about.origin.version.clone(),
            scenario_sha256,
            traces,
            simulated_s: self.plan.network.now().secs(),
            packet_hops: self.plan.network.packet_hops(),
            measured_from_s: self.from().secs(),
            warnings: self.warnings(),
            groups,
            flows,
            silences: self.silences(),
            links: self.plan.links.iter().map(|link| self.link(link)).collect(),
            relays: self.relays(),
            queueing_ms: milliseconds_of_histogram(&self.delays(None)),
            slowdown: slowdown(transfers.iter().flatten()),
            fairness: Fairness {
                jain: jain_of_several(&goodputs),
                min_over_max: min_over_max(&goodputs),
                short_term_jain: FairnessWindows::quartiles(&self.jain, self.from()),
            },
            live: None,
        }
    }

    /// The warnings of the plan, and those about laws whose window or pacing rate had no meaning.
    fn warnings(&self) -> Vec<String> {
        let planned = self.plan.warnings.iter().cloned();
        planned.chain(self.plan.flows.iter().flat_map(|flow| self.meaningless_permits(flow))).collect()
    }

    pub(super) fn from(&self) -> Time {
        self.scenario.measure.from
    }

    fn view(&self, flow: &PacketFlowPlan) -> FlowView<'_> {
        self.plan.network.flow(flow.id)
    }

    fn flows(&self) -> Vec<Flow> {
        let windows = self.samples(EntityKind::Flow, quantity::WINDOW);
        let within = self.scenario.measure.converged_within;
        let flow = |(index, flow): (usize, &PacketFlowPlan)| Flow {
            fair_share_bps: self.windows.mean_fair_share(index, self.from()),
            converged_s: self.windows.converged(index, flow.start, within),
            ..with_loops(self.flow(flow), self.loops(flow, &windows))
        };
        self.plan.flows.iter().enumerate().map(flow).collect()
    }

    /// The entries of a flow that come from its counters.
    fn flow(&self, flow: &PacketFlowPlan) -> Flow {
        let view = self.view(flow);
        let total =
            |count: fn(LoopCounters) -> u64| view.loops().map(|one| one.part(count(one.counters()))).sum();
        let (begin, stop) = (self.from().max(flow.start), stopped(view, self.plan.network.now()));
        let seconds = stop.since(begin).secs();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        Flow {
            name: flow.name.clone(),
            group: flow.group.clone(),
            protocol: flow.protocol.clone(),
            start_s: flow.start.secs(),
            stop_s: stop.secs(),
            goodput_bps: rate(view.delivered_measured().get()),
            send_rate_bps: rate(view.first().counters().sent_bytes),
            rpm: flow.is_ping.then(|| round_trips_per_minute(view.first().round_trip_times())).flatten(),
            queueing_ms: milliseconds_of_histogram(view.queueing_delays()),
            one_way_ms: Some(milliseconds_of_histogram(view.one_way_delays())),
            sent: view.first().counters().sent,
            delivered: view.queueing_delays().total(),
            retransmitted: total(|counts| counts.retransmitted),
            lost: total(|counts| counts.lost),
            marked: total(|counts| counts.marked),
            unread_headers: total(|counts| counts.unread_headers),
            completed_s: view.completed().map(Time::secs),
            closed_s: view.loops().find_map(|view| view.sender().closed()).map(Time::secs),
            ecn_stopped_s: view.loops().find_map(|view| view.sender().ecn_stopped()).map(Time::secs),
            ..Flow::default()
        }
    }

    fn loops(&self, flow: &PacketFlowPlan, windows: &BTreeMap<&str, Vec<f64>>) -> Vec<Loop> {
        let of = |(position, view): (usize, LoopView<'_>)| {
            let name = flow.loop_name(position);
            Loop {
                window_packets: windows.get(name.as_str()).map(|samples| mean(samples)),
                rtt_ms: milliseconds_of_histogram(view.round_trip_times()),
                protocol: flow.loop_protocols.get(position).cloned().flatten(),
                name,
            }
        };
        self.view(flow).loops().enumerate().map(of).collect()
    }

    fn group(&self, name: &str, flows: &[Flow], transfers: &[CountedTransfer]) -> Group {
        let members: Vec<&Flow> = flows.iter().filter(|flow| flow.group == name).collect();
        Group {
            transfers: transfers.len() as u64,
            completed: transfers.iter().filter(|one| one.took.is_some()).count() as u64,
            completion_ms: completion(transfers),
            slowdown: slowdown(transfers),
            playback: self.playback(name),
            one_way_ms: Some(milliseconds_of_histogram(&self.one_way_delays(name))),
            ..group_of_flows(name, &members, milliseconds_of_histogram(&self.delays(Some(name))), self.from())
        }
    }

    fn link(&self, link: &PacketLinkPlan) -> Link {
        let view = self.plan.network.link(link.id);
        let (from, now) = (self.from(), self.plan.network.now());
        let counters = view.counters();
        Link {
            name: link.name.clone(),
            direction: link.direction.clone(),
            capacity_bps: view.capacity_bits(from, now) as f64 / now.since(from).secs(),
            // A packet that was in service when the measurement began counts in full.
            utilization: view.utilization().min(1.0),
            queue_packets: packets_of_histogram(&view.queue_lengths()),
            queueing_ms: milliseconds_of_histogram(&view.queueing_delays()),
            arrivals: counters.arrivals,
            drops: counters.drops(),
            drops_total: view.totals().drops(),
            marks: counters.marks,
            foreign_headers: counters.foreign_headers,
        }
    }

    fn relays(&self) -> Vec<Relay> {
        let backlogs = self.samples(EntityKind::Relay, quantity::BACKLOG);
        let relay = |flow: &PacketFlowPlan, index: usize, pair: &[LoopView<'_>]| {
            let name = flow.relay_name(index)?;
            let queue_packets = packets_of_list(backlogs.get(name.as_str()).cloned().unwrap_or_default());
            let dropped = missing_bytes(&pair[0], &pair[1]).div_ceil(flow.packet.get().max(1));
            Some(Relay { name, queue_packets, dropped })
        };
        let of_flow = |flow: &PacketFlowPlan| {
            let loops: Vec<LoopView<'_>> = self.view(flow).loops().collect();
            let relays = loops.windows(2).enumerate().filter_map(|(index, pair)| relay(flow, index, pair));
            relays.collect::<Vec<_>>()
        };
        self.plan.flows.iter().flat_map(of_flow).collect()
    }

    /// The samples of a quantity in the measured time, by entity; entities without samples are left out.
    fn samples(&self, kind: EntityKind, quantity: &str) -> BTreeMap<&str, Vec<f64>> {
        let from = self.from().secs();
        let measured = |series: &Series| {
            // The times of a series ascend.
            let first = series.times.partition_point(|time| *time <= from);
            series.values.get(first..).unwrap_or_default().to_vec()
        };
        let chosen = self.series.iter().filter(|series| series.kind == kind && series.quantity == quantity);
        let named = chosen.map(|series| (series.entity.as_str(), measured(series)));
        named.filter(|(_, samples)| !samples.is_empty()).collect()
    }
}

/// Round trips per minute (draft-ietf-ippm-responsiveness): a minute over the mean of the round-trip times, without those
/// above the 95th percentile. None without a sample.
fn round_trips_per_minute(rtts: &Histogram) -> Option<f64> {
    const KEPT: f64 = 0.95;
    const MINUTE: f64 = 60e12;
    let mean = rtts.trimmed_mean(KEPT);
    (mean > 0.0).then(|| MINUTE / mean)
}

/// The end of a flow: its stop time, its completion or now, whichever comes first.
fn stopped(flow: FlowView<'_>, now: Time) -> Time {
    [flow.stop(), flow.completed()].into_iter().flatten().fold(now, Time::min)
}

/// Bytes that arrived at a relay, have not left it and are not in its queue.
fn missing_bytes(before: &LoopView<'_>, after: &LoopView<'_>) -> u64 {
    let kept = after.stream_bytes_sent() + after.backlog();
    before.arrived().saturating_sub(kept).get()
}
