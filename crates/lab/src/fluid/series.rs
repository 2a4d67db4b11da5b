//! Series: rates as means over the interval, queues and what laws know as they are at its end.

use super::columns::{Columns, Own, Place, Totals};
use millpond_fluid::{Entity, LoopId};
use millpond_plan::fluid::{Plan, PlannedFlow};
use millpond_results::{Kind, Series, quantity};
use millpond_units::Time;

/// Where the values of a series come from.
enum Source {
    /// A link's capacity.
    Capacity(usize),
    /// The mean of a channel, times this.
    Mean(usize, f64),
    /// A quantity as it is, times this.
    Now(Place, f64),
    /// What the flow's packets wait: channels of round-trip times with what they are without queues, and relays'
    /// backlogs with the channels of the rates that clear them.
    Waiting(Vec<(usize, f64)>, Vec<(usize, usize)>),
}

/// A series under way.
struct Probe {
    series: Series,
    /// Nothing is recorded before or after.
    life: (Time, Option<Time>),
    source: Source,
}

/// All series.
pub(super) struct Recorder<'a> {
    plan: &'a Plan,
    probes: Vec<Probe>,
}

const ALWAYS: (Time, Option<Time>) = (Time::ZERO, None);

impl<'a> Recorder<'a> {
    pub(super) fn new(plan: &'a Plan, columns: &Columns) -> Self {
        let mut recorder = Self { plan, probes: Vec::new() };
        recorder.prepare_links(columns);
        for flow in &plan.flows {
            recorder.prepare_flow(flow, columns);
        }
        recorder
    }

    fn probe(
        &mut self,
        (kind, entity): (Kind, &str),
        (quantity, unit): (&str, &str),
        life: (Time, Option<Time>),
        source: Source,
    ) {
        let [entity, quantity, unit] = [entity, quantity, unit].map(str::to_owned);
        let series = Series { kind, entity, quantity, unit, times: Vec::new(), values: Vec::new() };
        self.probes.push(Probe { series, life, source });
    }

    fn prepare_links(&mut self, columns: &Columns) {
        for (place, link) in self.plan.links.iter().enumerate() {
            let Some(id) = link.id else { continue };
            let entity = (Kind::Link, link.entity.as_str());
            let per_packet = 1.0 / (link.packet.as_f64() * 8.0);
            self.probe(entity, (quantity::CAPACITY, "bit/s"), ALWAYS, Source::Capacity(place));
            let served = Source::Mean(columns.departing[id.0], 1.0);
            self.probe(entity, (quantity::THROUGHPUT, "bit/s"), ALWAYS, served);
            let queue = Source::Now(Place::State(columns.queue_state[id.0]), per_packet);
            self.probe(entity, (quantity::QUEUE, "packets"), ALWAYS, queue);
            let delay = Source::Mean(columns.delay[id.0], 1e3);
            self.probe(entity, (quantity::QUEUEING, "ms"), ALWAYS, delay);
            for own in columns.own.get(&Entity::Link(id.0)).into_iter().flatten() {
                self.probe(entity, (own.quantity, own.unit), ALWAYS, Source::Now(own.place, 1.0));
            }
        }
    }

    fn prepare_flow(&mut self, flow: &PlannedFlow, columns: &Columns) {
        let (life, entity) = ((flow.start, flow.stop), (Kind::Flow, flow.name.as_str()));
        let (Some(first), Some(last)) = (flow.loops.first(), flow.loops.last()) else { return };
        let goodput = Source::Mean(columns.delivered[last.0], flow.payload);
        self.probe(entity, (quantity::GOODPUT, "bit/s"), life, goodput);
        self.probe(entity, (quantity::SEND_RATE, "bit/s"), life, Source::Mean(columns.rate[first.0], 1.0));
        let base = |id: &LoopId| self.plan.loops[id.0].facts.base_rtt;
        let loops = flow.loops.iter().map(|id| (columns.rtt[id.0], base(id))).collect();
        let relay = |id: &LoopId| Some((*columns.backlog_state.get(&id.0)?, columns.rate[id.0]));
        let relays = flow.loops.iter().skip(1).filter_map(relay).collect();
        self.probe(entity, (quantity::QUEUEING, "ms"), life, Source::Waiting(loops, relays));
        for (position, id) in flow.loops.iter().enumerate() {
            self.prepare_loop(flow, columns, position, *id);
        }
    }

    fn prepare_loop(&mut self, flow: &PlannedFlow, columns: &Columns, position: usize, id: LoopId) {
        let (life, name) = ((flow.start, flow.stop), flow.loop_name(position));
        let entity = (Kind::Flow, name.as_str());
        let per_packet = 1.0 / (flow.packet.as_f64() * 8.0);
        self.probe(entity, (quantity::RTT, "ms"), life, Source::Mean(columns.rtt[id.0], 1e3));
        let decider = self.plan.loops[id.0].shared.unwrap_or(id);
        for Own { quantity, unit, place } in columns.own.get(&Entity::Loop(decider.0)).into_iter().flatten() {
            let (unit, scale) = match (*quantity, *unit) {
                (quantity::WINDOW, "bit") => ("packets", per_packet),
                (_, unit) => (unit, 1.0),
            };
            self.probe(entity, (quantity, unit), life, Source::Now(*place, scale));
        }
        let relay = position.checked_sub(1).and_then(|before| flow.relay_name(before));
        if let (Some(relay), Some(place)) = (relay, columns.backlog_state.get(&id.0)) {
            let backlog = Source::Now(Place::State(*place), per_packet);
            self.probe((Kind::Relay, &relay), (quantity::BACKLOG, "packets"), life, backlog);
        }
    }

    /// One sample of everything between two moments.
    pub(super) fn sample(&mut self, before: &Totals, now: &Totals) {
        for probe in &mut self.probes {
            let (start, stop) = probe.life;
            if start >= now.time || stop.is_some_and(|stop| stop <= before.time) {
                continue;
            }
            // In the interval in which a flow starts, its rates are over the part in which it ran.
            let share = now.time.since(before.time).secs() / now.time.since(before.time.max(start)).secs();
            let value = match &probe.source {
                Source::Capacity(link) => self.plan.links[*link].mean_capacity(before.time, now.time),
                Source::Mean(channel, scale) if probe.series.unit == "bit/s" => {
                    now.mean_since(before, *channel) * scale * share
                }
                Source::Mean(channel, scale) => now.mean_since(before, *channel) * scale,
                Source::Now(Place::State(place), scale) => now.states[*place] * scale,
                Source::Now(Place::Channel(place), scale) => now.channels[*place] * scale,
                Source::Waiting(loops, relays) => waiting(loops, relays, (before, now)) * 1e3,
            };
            probe.series.times.push(now.time.secs());
            probe.series.values.push(value);
        }
    }

    /// Everything recorded.
    pub(super) fn into_series(self) -> Vec<Series> {
        let recorded = self.probes.into_iter().map(|probe| probe.series);
        recorded.filter(|series| !series.times.is_empty()).collect()
    }
}

/// What a flow's packets wait, in seconds.
fn waiting(loops: &[(usize, f64)], relays: &[(usize, usize)], (before, now): (&Totals, &Totals)) -> f64 {
    let queues: f64 = loops.iter().map(|(rtt, base)| now.mean_since(before, *rtt) - base).sum();
    let backlogs = relays.iter().map(|(backlog, rate)| (now.states[*backlog], now.channels[*rate]));
    let relays: f64 =
        backlogs.filter(|(backlog, rate)| *backlog > 0.0 && *rate > 0.0).map(|(b, r)| b / r).sum();
    queues.max(0.0) + relays
}
