//! Distributions of delays and queue lengths: samples weighted by time or by traffic.

use super::columns::{Columns, IntegrationSnapshot, RelayDelay};
use millpond_fluid::LoopId;
use millpond_plan::fluid::FluidPlan;
use millpond_stats::WeightedSamples;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The distributions of a link in the measured time.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkDistributions {
    /// Queue length in packets, weighted by time.
    pub(super) queue: WeightedSamples,
    /// Queueing delay in milliseconds, weighted by departing traffic.
    pub(super) delay: WeightedSamples,
    /// Marked bits.
    pub(super) marked: f64,
    /// Lost bits.
    pub(super) lost: f64,
    /// Bits lost before the measured time.
    pub(super) lost_before: f64,
}

/// The distributions of one flow of a class of equal flows in the measured time.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowDistributions {
    /// For each loop its round-trip time in milliseconds, weighted by sent traffic.
    pub(super) rtts: Vec<WeightedSamples>,
    /// End-to-end queueing delay in milliseconds, relays included, weighted by delivered traffic.
    pub(super) queueing: WeightedSamples,
    /// Marked bits, all loops.
    pub(super) marked: f64,
    /// Lost bits, all loops.
    pub(super) lost: f64,
    /// For each relay the length of its send queue in packets, weighted by time.
    pub(super) backlogs: Vec<WeightedSamples>,
}

/// The loops of a class of equal flows.
struct SampledFlows {
    loops: Vec<LoopId>,
    /// For each loop the delay of the relay at its beginning; none for the first one.
    relays: Vec<Option<RelayDelay>>,
    /// Packet size in bits.
    packet: f64,
}

/// Samples the distributions of all links and flows.
pub(super) struct DistributionSampler<'a> {
    plan: &'a FluidPlan,
    columns: &'a Columns,
    classes: Vec<SampledFlows>,
    before: Rc<IntegrationSnapshot>,
    /// Distributions are thinned when they have twice this number of samples.
    most: usize,
    /// For each link of the plan.
    pub(super) links: Vec<LinkDistributions>,
    /// By the first loop of the class.
    flows: BTreeMap<LoopId, FlowDistributions>,
}

impl<'a> DistributionSampler<'a> {
    pub(super) fn new(
        plan: &'a FluidPlan,
        columns: &'a Columns,
        begin: Rc<IntegrationSnapshot>,
        most: usize,
    ) -> Self {
        let mut classes: BTreeMap<LoopId, SampledFlows> = BTreeMap::new();
        for flow in &plan.flows {
            let Some(first) = flow.loops.first() else { continue };
            let packet = flow.packet.as_f64() * 8.0;
            let relay = |(number, LoopId(l)): (usize, &LoopId)| {
                let backlog = columns.backlog_state.get(l).filter(|_| number > 0)?;
                Some(RelayDelay::new(*backlog, columns.rate[*l]))
            };
            classes.entry(*first).or_insert_with(|| SampledFlows {
                loops: flow.loops.clone(),
                relays: flow.loops.iter().enumerate().map(relay).collect(),
                packet,
            });
        }
        Self {
            plan,
            columns,
            classes: classes.into_values().collect(),
            before: begin,
            most,
            links: vec![LinkDistributions::default(); plan.links.len()],
            flows: BTreeMap::new(),
        }
    }

    /// The distributions of the flows with this first loop; none before the first sample.
    pub(super) fn flow(&self, first: Option<&LoopId>) -> Option<&FlowDistributions> {
        self.flows.get(first?)
    }

    /// The measured time begins: samples so far are discarded.
    pub(super) fn start_measuring(&mut self) {
        for distributions in &mut self.links {
            *distributions = LinkDistributions {
                lost_before: distributions.lost_before + distributions.lost,
                ..LinkDistributions::default()
            };
        }
        self.flows.clear();
    }

    /// Adds one sample of everything; weights are integrals since the last sample.
    pub(super) fn sample(&mut self, now: Rc<IntegrationSnapshot>) {
        for (planned, distributions) in self.plan.links.iter().zip(&mut self.links) {
            let Some(id) = planned.id else { continue };
            distributions.queue.thin(self.most);
            distributions.delay.thin(self.most);
            sample_link(
                distributions,
                self.columns,
                id.0,
                planned.packet.as_f64() * 8.0,
                SampleInterval { before: &self.before, now: &now },
            );
        }
        for class in &mut self.classes {
            let Some(first) = class.loops.first() else { continue };
            let distributions = self.flows.entry(*first).or_default();
            distributions.rtts.iter_mut().for_each(|rtts| rtts.thin(self.most));
            distributions.queueing.thin(self.most);
            sample_flow(
                distributions,
                self.plan,
                self.columns,
                class,
                SampleInterval { before: &self.before, now: &now },
            );
        }
        self.before = now;
    }
}

/// Two consecutive snapshots.
#[derive(Clone, Copy)]
struct SampleInterval<'a> {
    before: &'a IntegrationSnapshot,
    now: &'a IntegrationSnapshot,
}

fn sample_link(
    distributions: &mut LinkDistributions,
    columns: &Columns,
    link: usize,
    packet: f64,
    SampleInterval { before, now }: SampleInterval<'_>,
) {
    let arrived = now.since(before, columns.arriving[link]);
    let departed = now.since(before, columns.departing[link]);
    let seconds = now.time.since(before.time).secs();
    distributions.queue.add(now.states[columns.queue_state[link]] / packet, seconds);
    distributions.delay.add(now.channels[columns.delay[link]] * 1e3, departed);
    let lost = arrived * now.channels[columns.lost[link]];
    distributions.lost += lost;
    distributions.marked += (arrived - lost) * now.channels[columns.marked[link]];
}

fn sample_flow(
    distributions: &mut FlowDistributions,
    plan: &FluidPlan,
    columns: &Columns,
    class: &mut SampledFlows,
    SampleInterval { before, now }: SampleInterval<'_>,
) {
    let mut queueing = 0.0;
    distributions.rtts.resize(class.loops.len(), WeightedSamples::default());
    distributions.backlogs.resize(class.loops.len() - 1, WeightedSamples::default());
    for ((number, &LoopId(l)), relay) in class.loops.iter().enumerate().zip(&mut class.relays) {
        let planned = &plan.loops[l];
        let sent = now.since(before, columns.rate[l]);
        let rtt = now.channels[columns.rtt[l]];
        queueing += rtt - planned.facts.base_rtt;
        distributions.rtts[number].add(rtt * 1e3, sent);
        if let Some(relay) = relay {
            queueing += relay.sample(before, now);
            distributions.backlogs[number - 1]
                .add(relay.backlog(now) / class.packet, now.time.since(before.time).secs());
        }
        let along = |indices: &[usize]| {
            let links = planned.links.iter().filter_map(|index| plan.links[*index].id);
            1.0 - links.map(|id| 1.0 - now.channels[indices[id.0]]).product::<f64>()
        };
        let lost = sent * along(&columns.lost);
        distributions.lost += lost;
        distributions.marked += (sent - lost) * along(&columns.marked);
    }
    let last = class.loops.last().map_or(0.0, |id| now.since(before, columns.delivered[id.0]));
    distributions.queueing.add(queueing.max(0.0) * 1e3, last);
}
