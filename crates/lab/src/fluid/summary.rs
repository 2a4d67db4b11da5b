//! The results of an integration, from its integrals, distributions and series.

use super::columns::{Columns, IntegrationSnapshot};
use super::distribution_sampler::{DistributionSampler, FlowDistributions};
use crate::distributions::{milliseconds_of_samples, packets_of_samples, queueing_of_samples};
use crate::fairness::FairnessWindows;
use crate::groups::{group_of_flows, weighted_goodputs, with_loops};
use crate::run_key::RunKey;
use millpond_fluid::{LoopId, SlidingThreshold};
use millpond_plan::fluid::{FluidFlowPlan, FluidLinkPlan, FluidPlan};
use millpond_results::{About, World};
use millpond_results::{
    Distribution, EntityKind, Fairness, Flow, Group, Link, Loop, Relay, Run, Series, Summary, Transfer,
    quantity,
};
use millpond_scenario::Scenario;
use millpond_stats::{WeightedSamples, jain_of_several, mean, min_over_max};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// For each group the number of equal flows by their first loop.
pub(super) type Classes<'a> = BTreeMap<&'a str, BTreeMap<LoopId, f64>>;

/// The classes of the flows of a plan.
pub(super) fn classes(plan: &FluidPlan) -> Classes<'_> {
    let mut classes = Classes::new();
    for flow in &plan.flows {
        if let Some(first) = flow.loops.first() {
            *classes.entry(&flow.group).or_default().entry(*first).or_default() += 1.0;
        }
    }
    classes
}

/// What a run says about a threshold along which it slid.
fn warning(threshold: &SlidingThreshold) -> String {
    let SlidingThreshold { guard, since } = threshold;
    format!(
        "the solution slides along the threshold of \"{guard}\" from {since:.3} s on: the law jumps there and is driven back \
         from both sides. It switches with a hysteresis of a thousandth, so faster oscillations are those of the hysteresis"
    )
}

/// An integration at its end.
pub(super) struct FinishedFluidRun<'a> {
    pub(super) plan: &'a FluidPlan,
    pub(super) scenario: &'a Scenario,
    pub(super) columns: &'a Columns,
    pub(super) sampler: &'a DistributionSampler<'a>,
    pub(super) windows: &'a FairnessWindows,
    pub(super) classes: Classes<'a>,
    /// At the beginning of the measured time.
    pub(super) begun: Rc<IntegrationSnapshot>,
    pub(super) now: Rc<IntegrationSnapshot>,
    /// The thresholds along which the solution slid.
    pub(super) sliding: Vec<SlidingThreshold>,
}

impl FinishedFluidRun<'_> {
    /// The results of the integration.
    pub(super) fn into_run(self, about: About, mut series: Vec<Series>) -> Run {
        let jain = self.windows.jain();
        let windows = windows(&series, self.scenario.measure.from.secs());
        let summary = self.summary(&about, &jain, &windows);
        series.push(jain);
        Run {
            label: about.label,
            transfers: summary.flows.iter().zip(&self.plan.flows).map(|(f, p)| self.transfer(f, p)).collect(),
            summary,
            distributions: self.distributions(),
            series,
            scenario_toml: self.scenario.to_toml(),
            command: about.origin.command,
        }
    }

    fn summary(&self, about: &About, jain_series: &Series, windows: &BTreeMap<&str, f64>) -> Summary {
        let flows: Vec<Flow> =
            self.plan.flows.iter().enumerate().map(|(i, f)| self.flow(i, f, windows)).collect();
        let weights = self.plan.flows.iter().map(|flow| flow.weight);
        let goodputs = weighted_goodputs(flows.iter().zip(weights), self.begun.time);
        let RunKey { scenario_sha256, traces } = RunKey::of(self.scenario);
        Summary {
            scenario: self.scenario.title.clone(),
            world: World::Fluid.name().to_owned(),
            seed: self.scenario.seed,
            version: about.origin.version.clone(),
            scenario_sha256,
            traces,
            simulated_s: self.now.time.secs(),
            packet_hops: 0,
            measured_from_s: self.begun.time.secs(),
            warnings: self.warnings(),
            groups: self.groups(&flows),
            silences: Vec::new(),
            links: self.plan.links.iter().enumerate().map(|(i, link)| self.link(i, link)).collect(),
            relays: self.plan.flows.iter().flat_map(|flow| self.relays(flow)).collect(),
            queueing_ms: milliseconds_of_samples(&self.delays(None)),
            slowdown: None,
            fairness: Fairness {
                jain: jain_of_several(&goodputs),
                min_over_max: min_over_max(&goodputs),
                short_term_jain: FairnessWindows::quartiles(jain_series, self.begun.time),
            },
            live: None,
            flows,
        }
    }

    fn warnings(&self) -> Vec<String> {
        let planned = self.plan.warnings.iter().cloned();
        planned.chain(self.sliding.iter().map(warning)).chain(self.growing_relays()).collect()
    }

    /// What a run says of relays without a bound that received more than they sent.
    fn growing_relays(&self) -> Vec<String> {
        /// Of what they sent. Less may be the change of a queue that is steady in the mean.
        const SHARE: f64 = 0.01;
        let relays = self.plan.flows.iter().flat_map(FluidFlowPlan::relay_ends);
        let seconds = self.now.time.since(self.begun.time).secs();
        let is_unlimited = |[before, after]: [LoopId; 2]| {
            let relay = self.plan.assembly.relay_between(before, after);
            relay.is_some_and(|relay| !relay.buffer.is_limited())
        };
        let mut known = BTreeSet::new();
        let warning = |(relay, [before, after]): (String, [LoopId; 2])| {
            let arrived = self.measured(Some(self.columns.delivered[before.0]));
            let sent = self.measured(Some(self.columns.rate[after.0]));
            let grows = arrived > sent * (1.0 + SHARE) && is_unlimited([before, after]);
            (grows && known.insert(before)).then(|| {
                format!(
                    "the relay {relay} received {:.2} Mbit/s more than it sent, so that its queue grew: relay_buffer = \"unlimited\" \
                     does not stop the loop before it",
                    (arrived - sent) / seconds * 1e-6,
                )
            })
        };
        relays.filter_map(warning).collect()
    }

    fn groups(&self, flows: &[Flow]) -> Vec<Group> {
        let mut members: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
        flows.iter().for_each(|flow| members.entry(&flow.group).or_default().push(flow));
        let of = |name: &str| members.get(name).map_or(&[][..], Vec::as_slice);
        let names = self.scenario.flows.iter().map(|group| group.name.value.as_str());
        names.map(|name| self.group(name, of(name))).collect()
    }

    fn distributions_of(&self, flow: &FluidFlowPlan) -> FlowDistributions {
        self.sampler.flow(flow.loops.first()).cloned().unwrap_or_default()
    }

    /// The integral of a channel over the measured time; zero if there is no channel.
    fn measured(&self, channel: Option<usize>) -> f64 {
        channel.map_or(0.0, |channel| self.now.since(&self.begun, channel))
    }

    fn flow(&self, index: usize, flow: &FluidFlowPlan, windows: &BTreeMap<&str, f64>) -> Flow {
        let (begin, end) = (self.begun.time.max(flow.start), self.now.time);
        let stop = flow.stop.map_or(end, |stop| stop.min(end));
        let seconds = stop.since(begin).secs();
        let rate = |bits: f64| if seconds > 0.0 { bits / seconds } else { 0.0 };
        let sent = self.measured(flow.loops.first().map(|id| self.columns.rate[id.0]));
        let delivered = self.measured(flow.loops.last().map(|id| self.columns.delivered[id.0]));
        let distributions = self.distributions_of(flow);
        let packets = |bits: f64| (bits / (flow.packet.as_f64() * 8.0)).round() as u64;
        let loops = distributions.rtts.iter().enumerate().map(|(position, rtt)| {
            let name = flow.loop_name(position);
            let window_packets = windows.get(name.as_str()).copied();
            Loop {
                name,
                protocol: flow.loop_protocols.get(position).cloned().flatten(),
                window_packets,
                rtt_ms: milliseconds_of_samples(rtt),
            }
        });
        let of_flow = Flow {
            name: flow.name.clone(),
            group: flow.group.clone(),
            protocol: flow.protocol.clone(),
            start_s: flow.start.secs(),
            stop_s: stop.secs(),
            goodput_bps: rate(delivered * flow.payload),
            send_rate_bps: rate(sent),
            fair_share_bps: self.windows.mean_fair_share(index, self.begun.time),
            queueing_ms: milliseconds_of_samples(&distributions.queueing),
            sent: packets(sent),
            delivered: packets(delivered),
            lost: packets(distributions.lost),
            marked: packets(distributions.marked),
            converged_s: self.windows.converged(index, flow.start, self.scenario.measure.converged_within),
            ..Flow::default()
        };
        with_loops(of_flow, loops.collect())
    }

    fn group(&self, name: &str, members: &[&Flow]) -> Group {
        group_of_flows(name, members, milliseconds_of_samples(&self.delays(Some(name))), self.begun.time)
    }

    fn link(&self, index: usize, link: &FluidLinkPlan) -> Link {
        let capacity = link.mean_capacity(self.begun.time, self.now.time);
        let seconds = self.now.time.since(self.begun.time).secs();
        let channel = |places: &[usize]| link.id.map(|id| places[id.0]);
        let distributions = &self.sampler.links[index];
        let packets = |bits: f64| (bits / (link.packet.as_f64() * 8.0)).round() as u64;
        Link {
            name: link.name.clone(),
            direction: link.direction.clone(),
            capacity_bps: capacity,
            utilization: (self.measured(channel(&self.columns.departing)) / (capacity * seconds)).min(1.0),
            queue_packets: packets_of_samples(&distributions.queue),
            queueing_ms: milliseconds_of_samples(&distributions.delay),
            arrivals: packets(self.measured(channel(&self.columns.arriving))),
            drops: packets(distributions.lost),
            drops_total: packets(distributions.lost_before + distributions.lost),
            marks: packets(distributions.marked),
            foreign_headers: 0,
        }
    }

    fn relays(&self, flow: &FluidFlowPlan) -> Vec<Relay> {
        let distributions = self.distributions_of(flow).backlogs.into_iter().enumerate();
        let relay = |(index, backlog): (usize, WeightedSamples)| {
            Some(Relay {
                name: flow.relay_name(index)?,
                queue_packets: packets_of_samples(&backlog),
                dropped: 0,
            })
        };
        distributions.filter_map(relay).collect()
    }

    /// The end-to-end queueing delays of all flows, or of the flows of a group, in milliseconds.
    fn delays(&self, group: Option<&str>) -> WeightedSamples {
        let mut classes: Vec<_> = match group {
            Some(group) => self.classes.get(group).into_iter().flatten().collect(),
            None => self.classes.values().flatten().collect(),
        };
        classes.sort_by_key(|(first, _)| **first);
        let mut all = WeightedSamples::default();
        for (first, count) in classes {
            self.sampler
                .flow(Some(first))
                .into_iter()
                .for_each(|distributions| all.merge(&distributions.queueing, *count));
        }
        all
    }

    fn distributions(&self) -> Vec<Distribution> {
        let links = self.plan.links.iter().zip(&self.sampler.links);
        let links = links.filter_map(|(link, distributions)| {
            queueing_of_samples(EntityKind::Link, &link.entity, &distributions.delay)
        });
        let groups = self.scenario.flows.iter().map(|group| group.name.value.as_str());
        let groups =
            groups.filter_map(|name| queueing_of_samples(EntityKind::Group, name, &self.delays(Some(name))));
        links.chain(groups).chain(queueing_of_samples(EntityKind::Group, "all", &self.delays(None))).collect()
    }

    fn transfer(&self, flow: &Flow, planned: &FluidFlowPlan) -> Transfer {
        let last = planned.loops.last().map(|id| self.columns.delivered[id.0]);
        let bits = last.map_or(0.0, |channel| self.now.integrals[channel]) * planned.payload;
        Transfer {
            name: flow.name.clone(),
            group: flow.group.clone(),
            protocol: flow.protocol.clone(),
            size_bytes: None,
            delivered_bytes: (bits / 8.0).round() as u64,
            start_s: flow.start_s,
            completed_s: None,
            shortest_ms: None,
        }
    }
}

/// The mean window in packets over the measured time of each loop that has a window, by entity.
fn windows(series: &[Series], from: f64) -> BTreeMap<&str, f64> {
    let of = |series: &&Series| series.quantity == quantity::WINDOW && series.unit == "packets";
    let mean = |series: &Series| {
        let samples = series.times.iter().zip(&series.values).filter(|(time, _)| **time > from);
        let values: Vec<f64> = samples.map(|(_, value)| *value).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    series.iter().filter(of).filter_map(|s| Some((s.entity.as_str(), mean(s)?))).collect()
}
