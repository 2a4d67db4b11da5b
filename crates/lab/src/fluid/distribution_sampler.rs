//! How delays and queues are spread: looked at often, weighted by time or by traffic.

use super::columns::{Columns, Totals};
use millpond_fluid::LoopId;
use millpond_plan::fluid::Plan;
use millpond_stats::WeightedSamples;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One link while measured.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkBeats {
    /// In packets, by time.
    pub(super) queue: WeightedSamples,
    /// In milliseconds, by what departs.
    pub(super) delay: WeightedSamples,
    /// In bits.
    pub(super) marked: f64,
    pub(super) lost: f64,
    /// Before the measurement began.
    pub(super) lost_before: f64,
}

/// One class of equal flows while measured: what one of them sees.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowBeats {
    /// Of its first loop, in milliseconds, by what it sends.
    pub(super) rtt: WeightedSamples,
    /// From end to end, relays included, in milliseconds, by what is delivered.
    pub(super) queueing: WeightedSamples,
    /// In bits, all loops.
    pub(super) marked: f64,
    pub(super) lost: f64,
    /// By relay, in packets, by time.
    pub(super) backlogs: Vec<WeightedSamples>,
}

/// A class of equal flows.
struct Chain {
    loops: Vec<LoopId>,
    packet: f64,
}

/// All of them.
pub(super) struct Beats<'a> {
    plan: &'a Plan,
    columns: &'a Columns,
    chains: Vec<Chain>,
    before: Rc<Totals>,
    /// Distributions are thinned beyond twice so many values.
    most: usize,
    /// Of each link of the plan.
    pub(super) links: Vec<LinkBeats>,
    /// By the first loop of the class.
    flows: BTreeMap<LoopId, FlowBeats>,
}

impl<'a> Beats<'a> {
    pub(super) fn new(plan: &'a Plan, columns: &'a Columns, begin: Rc<Totals>, most: usize) -> Self {
        let mut chains: BTreeMap<LoopId, Chain> = BTreeMap::new();
        for flow in &plan.flows {
            let Some(first) = flow.loops.first() else { continue };
            let packet = flow.packet.as_f64() * 8.0;
            chains.entry(*first).or_insert_with(|| Chain { loops: flow.loops.clone(), packet });
        }
        Self {
            plan,
            columns,
            chains: chains.into_values().collect(),
            before: begin,
            most,
            links: vec![LinkBeats::default(); plan.links.len()],
            flows: BTreeMap::new(),
        }
    }

    /// What the flows with this first loop have seen; nothing if they have not sent.
    pub(super) fn flow(&self, first: Option<&LoopId>) -> Option<&FlowBeats> {
        self.flows.get(first?)
    }

    /// The measurement begins anew.
    pub(super) fn start_over(&mut self) {
        for beats in &mut self.links {
            *beats = LinkBeats { lost_before: beats.lost_before + beats.lost, ..LinkBeats::default() };
        }
        self.flows.clear();
    }

    /// A look.
    pub(super) fn take(&mut self, now: Rc<Totals>) {
        for (planned, beats) in self.plan.links.iter().zip(&mut self.links) {
            let Some(id) = planned.id else { continue };
            beats.queue.thin(self.most);
            beats.delay.thin(self.most);
            look_at_link(beats, self.columns, id.0, planned.packet.as_f64() * 8.0, (&self.before, &now));
        }
        for chain in &self.chains {
            let Some(first) = chain.loops.first() else { continue };
            let beats = self.flows.entry(*first).or_default();
            beats.rtt.thin(self.most);
            beats.queueing.thin(self.most);
            look_at_flow(beats, self.plan, self.columns, chain, (&self.before, &now));
        }
        self.before = now;
    }
}

fn look_at_link(
    beats: &mut LinkBeats,
    columns: &Columns,
    link: usize,
    packet: f64,
    (before, now): (&Totals, &Totals),
) {
    let arrived = now.since(before, columns.arriving[link]);
    let departed = now.since(before, columns.departing[link]);
    let seconds = now.time.since(before.time).secs();
    beats.queue.add(now.states[columns.queue_state[link]] / packet, seconds);
    beats.delay.add(now.channels[columns.delay[link]] * 1e3, departed);
    let lost = arrived * now.channels[columns.lost[link]];
    beats.lost += lost;
    beats.marked += (arrived - lost) * now.channels[columns.marked[link]];
}

fn look_at_flow(
    beats: &mut FlowBeats,
    plan: &Plan,
    columns: &Columns,
    chain: &Chain,
    (before, now): (&Totals, &Totals),
) {
    let mut queueing = 0.0;
    beats.backlogs.resize(chain.loops.len() - 1, WeightedSamples::default());
    for (number, &LoopId(l)) in chain.loops.iter().enumerate() {
        let planned = &plan.loops[l];
        let sent = now.since(before, columns.rate[l]);
        let rtt = now.channels[columns.rtt[l]];
        queueing += rtt - planned.facts.base_rtt;
        if number == 0 {
            beats.rtt.add(rtt * 1e3, sent);
        } else if let Some(place) = columns.backlog_state.get(&l) {
            let (backlog, rate) = (now.states[*place], now.channels[columns.rate[l]]);
            queueing += if backlog > 0.0 && rate > 0.0 { backlog / rate } else { 0.0 };
            beats.backlogs[number - 1].add(backlog / chain.packet, now.time.since(before.time).secs());
        }
        let along = |places: &[usize]| {
            let links = planned.links.iter().filter_map(|place| plan.links[*place].id);
            1.0 - links.map(|id| 1.0 - now.channels[places[id.0]]).product::<f64>()
        };
        let lost = sent * along(&columns.lost);
        beats.lost += lost;
        beats.marked += (sent - lost) * along(&columns.marked);
    }
    let last = chain.loops.last().map_or(0.0, |id| now.since(before, columns.delivered[id.0]));
    beats.queueing.add(queueing.max(0.0) * 1e3, last);
}
