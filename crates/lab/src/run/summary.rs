//! The numbers of a run, taken at its end.

use super::distribution::{merged, milliseconds, packets};
use super::fairness::Windows;
use crate::metrics::{jain, min_over_max, quantile, spread};
use crate::plan::{PlannedFlow, PlannedLink};
use crate::results::{
    Fairness, Flow, Group, Kind, Link, Milliseconds, Packets, Relay, Series, Summary, quantity,
};
use millpond_scenario::Scenario;
use millpond_sim::{FlowView, LoopView, Network};
use millpond_units::Time;

/// A run at its end.
pub(super) struct End<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) network: &'a Network,
    pub(super) links: &'a [PlannedLink],
    pub(super) flows: &'a [PlannedFlow],
    pub(super) warnings: &'a [String],
    pub(super) series: &'a [Series],
    pub(super) windows: &'a Windows,
    pub(super) jain: &'a Series,
}

impl End<'_> {
    /// `summary.json`.
    pub(super) fn summary(&self) -> Summary {
        let fair = self.windows.fair_shares();
        let flows: Vec<Flow> =
            self.flows.iter().enumerate().map(|(index, flow)| self.flow(index, flow, &fair)).collect();
        let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
        Summary {
            scenario: self.scenario.title.clone(),
            world: "packets".to_owned(),
            seed: self.scenario.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            simulated_s: self.network.now().secs(),
            packet_hops: self.network.packet_hops(),
            measured_from_s: self.from().secs(),
            warnings: self.warnings.to_vec(),
            groups: self.scenario.flows.iter().map(|group| self.group(&group.name.value, &flows)).collect(),
            flows,
            links: self.links.iter().map(|link| self.link(link)).collect(),
            relays: self.flows.iter().flat_map(|flow| self.relays(flow)).collect(),
            queueing_ms: self.queueing(|_| true),
            fairness: Fairness {
                jain: jain(&goodputs),
                min_over_max: min_over_max(&goodputs),
                short_term_jain: Windows::quartiles(self.jain, self.from()),
            },
        }
    }

    fn from(&self) -> Time {
        self.scenario.measure.from
    }

    fn view(&self, flow: &PlannedFlow) -> FlowView<'_> {
        self.network.flow(flow.id)
    }

    fn flow(&self, index: usize, flow: &PlannedFlow, fair: &[f64]) -> Flow {
        let view = self.view(flow);
        let total = |of: fn(&LoopView<'_>) -> u64| view.loops().map(|one| of(&one)).sum();
        let (begin, stop) = (self.from().max(flow.start), stopped(view, self.network.now()));
        let seconds = stop.since(begin).secs();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let within = self.scenario.measure.converged_within;
        Flow {
            name: flow.name.clone(),
            group: flow.group.clone(),
            protocol: flow.protocol.clone(),
            start_s: flow.start.secs(),
            stop_s: stop.secs(),
            goodput_bps: rate(view.delivered_measured().get()),
            send_rate_bps: rate(view.first().counters().sent_bytes),
            window_packets: self.mean_window(flow),
            rtt_ms: milliseconds(view.first().round_trip_times()),
            queueing_ms: milliseconds(view.queueing_delays()),
            sent: view.first().counters().sent,
            delivered: view.queueing_delays().total(),
            retransmitted: total(|one| one.counters().retransmitted),
            lost: total(|one| one.counters().lost),
            marked: total(|one| one.counters().marked),
            completed_s: view.completed().map(Time::secs),
            converged_s: self.windows.converged(index, flow.start, fair, within),
        }
    }

    fn group(&self, name: &str, flows: &[Flow]) -> Group {
        let members: Vec<&Flow> = flows.iter().filter(|flow| flow.group == name).collect();
        let goodputs: Vec<f64> = members.iter().map(|flow| flow.goodput_bps).collect();
        let windows: Vec<f64> = members.iter().filter_map(|flow| flow.window_packets).collect();
        let completion = |flow: &&Flow| flow.completed_s.map(|end| (end - flow.start_s) * 1e3);
        Group {
            name: name.to_owned(),
            flows: members.len() as u64,
            goodput_bps: spread(&goodputs),
            window_packets: (!windows.is_empty()).then(|| spread(&windows).mean),
            jain: jain(&goodputs),
            min_over_max: min_over_max(&goodputs),
            queueing_ms: self.queueing(|flow| flow.group == name),
            completion_ms: times(members.iter().filter_map(completion).collect()),
        }
    }

    fn link(&self, link: &PlannedLink) -> Link {
        let view = self.network.link(link.id);
        let (from, now) = (self.from(), self.network.now());
        let counters = view.counters();
        Link {
            name: link.name.clone(),
            direction: link.direction.clone(),
            capacity_bps: view.capacity_bits(from, now) as f64 / now.since(from).secs(),
            // A packet that was in service when the measurement began counts whole.
            utilization: view.utilization().min(1.0),
            queue_packets: packets(&view.queue_lengths()),
            queueing_ms: milliseconds(&view.queueing_delays()),
            arrivals: counters.arrivals,
            drops: counters.drops(),
            marks: counters.marks,
            foreign_headers: counters.foreign_headers,
        }
    }

    fn relays(&self, flow: &PlannedFlow) -> Vec<Relay> {
        let loops: Vec<LoopView<'_>> = self.view(flow).loops().collect();
        let relay = |(index, pair): (usize, &[LoopView<'_>])| {
            let name = flow.relay_name(index)?;
            let dropped = vanished(&pair[0], &pair[1]).div_ceil(flow.packet.get().max(1));
            let queue_packets = lengths(self.samples(Kind::Relay, &name, quantity::BACKLOG));
            Some(Relay { name, queue_packets, dropped })
        };
        loops.windows(2).enumerate().filter_map(relay).collect()
    }

    fn queueing(&self, counts: impl Fn(&PlannedFlow) -> bool) -> Milliseconds {
        let chosen = self.flows.iter().filter(|flow| counts(flow));
        milliseconds(&merged(chosen.map(|flow| self.view(flow).queueing_delays())))
    }

    fn mean_window(&self, flow: &PlannedFlow) -> Option<f64> {
        let samples = self.samples(Kind::Flow, &flow.loop_name(0), quantity::WINDOW);
        (!samples.is_empty()).then(|| spread(&samples).mean)
    }

    /// What was sampled while measuring.
    fn samples(&self, kind: Kind, entity: &str, quantity: &str) -> Vec<f64> {
        let is_it = |s: &&Series| s.kind == kind && s.entity == entity && s.quantity == quantity;
        let Some(series) = self.series.iter().find(is_it) else { return Vec::new() };
        let samples = series.times.iter().zip(&series.values);
        samples.filter(|(time, _)| **time > self.from().secs()).map(|(_, value)| *value).collect()
    }
}

/// When a flow stopped: when it was told to, when it was complete, or now.
fn stopped(flow: FlowView<'_>, now: Time) -> Time {
    [flow.stop(), flow.completed()].into_iter().flatten().fold(now, Time::min)
}

/// Bytes that arrived at a relay and neither left it nor wait in it.
fn vanished(before: &LoopView<'_>, after: &LoopView<'_>) -> u64 {
    let kept = after.sender().handed_out() + after.backlog();
    before.totals().delivered_bytes.saturating_sub(kept.get())
}

/// A distribution over evenly spaced samples of a queue.
fn lengths(mut samples: Vec<f64>) -> Packets {
    samples.sort_by(f64::total_cmp);
    let at = |share| quantile(&samples, share).unwrap_or_default();
    Packets { mean: spread(&samples).mean, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1.0) }
}

/// A distribution of a few times; none of none.
fn times(mut samples: Vec<f64>) -> Option<Milliseconds> {
    samples.sort_by(f64::total_cmp);
    let at = |share| quantile(&samples, share);
    let (mean, min) = (spread(&samples).mean, at(0.0)?);
    Some(Milliseconds { min, mean, p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)?, max: at(1.0)? })
}
