//! Quantities over time: rates are means over the interval; queues and internal quantities of laws are values at its end.

use super::columns::{ColumnIndex, Columns, IntegrationSnapshot, LawQuantity, RelayDelay};
use crate::recorded_series::{RecordedSeries, SampleTimes};
use millpond_fluid::{Entity, LoopId};
use millpond_plan::fluid::{FluidFlowPlan, FluidPlan};
use millpond_results::{EntityKind, Series, quantity};
use millpond_units::Time;

/// The source of the values of a series.
enum ProbeSource {
    /// A link's capacity.
    Capacity(usize),
    /// The capacity with which the laws of a link compute.
    ConfiguredCapacity(usize),
    /// The mean of a channel times a factor.
    Mean { channel: usize, factor: f64 },
    /// The value of a quantity at the end of the interval times a factor.
    Now { index: ColumnIndex, factor: f64 },
    /// The queueing delay of a flow, or of a relay.
    Queueing { loops: Vec<LoopDelay>, relays: Vec<RelayDelay> },
}

/// The queueing delay of a loop is its round-trip time less its base RTT.
struct LoopDelay {
    /// The channel of the round-trip time.
    rtt: usize,
    /// In seconds.
    base_rtt: f64,
}

/// The time in which an entity has values.
#[derive(Clone, Copy)]
struct Lifetime {
    start: Time,
    stop: Option<Time>,
    /// What the quantities of the entity are about.
    subject: Subject,
}

/// What the quantities of an entity are about.
#[derive(Clone, Copy)]
enum Subject {
    /// A link, or the rates and the delay of a flow. They have values in each interval of which the flow ran in a part, and in
    /// those in which bits of it arrived: the channel of its deliveries.
    Rates(Option<usize>),
    /// A loop or a relay. They have values at the end of each interval at which their flow runs.
    Loop,
}

/// A series with its source.
struct Probe {
    series: RecordedSeries,
    lifetime: Lifetime,
    source: ProbeSource,
}

/// The series of a run of the fluid world while it is recorded.
pub(super) struct FluidSeriesRecorder<'a> {
    plan: &'a FluidPlan,
    times: SampleTimes,
    probes: Vec<Probe>,
}

const ALWAYS: Lifetime = Lifetime { start: Time::ZERO, stop: None, subject: Subject::Rates(None) };

impl Lifetime {
    /// Whether the entity has values in the interval between two snapshots.
    fn contains(&self, before: &IntegrationSnapshot, now: &IntegrationSnapshot) -> bool {
        let Self { start, stop, subject } = *self;
        start < now.time
            && stop.is_none_or(|stop| match subject {
                Subject::Rates(delivered) => {
                    stop > before.time || delivered.is_some_and(|channel| now.since(before, channel) > 0.0)
                }
                Subject::Loop => stop >= now.time,
            })
    }
}

/// An entity with its kind.
#[derive(Clone, Copy)]
struct NamedEntity<'a>(EntityKind, &'a str);

impl<'a> FluidSeriesRecorder<'a> {
    pub(super) fn new(plan: &'a FluidPlan, columns: &Columns) -> Self {
        let mut recorder = Self { plan, times: SampleTimes::default(), probes: Vec::new() };
        recorder.prepare_links(columns);
        for flow in &plan.flows {
            recorder.prepare_flow(flow, columns);
        }
        recorder
    }

    fn probe(
        &mut self,
        NamedEntity(kind, entity): NamedEntity<'_>,
        quantity: &str,
        unit: &str,
        lifetime: Lifetime,
        source: ProbeSource,
    ) {
        let [entity, quantity, unit] = [entity, quantity, unit].map(str::to_owned);
        let series = RecordedSeries::new(kind, entity, quantity, unit);
        self.probes.push(Probe { series, lifetime, source });
    }

    fn prepare_links(&mut self, columns: &Columns) {
        for (place, link) in self.plan.links.iter().enumerate() {
            let Some(id) = link.id else { continue };
            let entity = NamedEntity(EntityKind::Link, link.entity.as_str());
            let per_packet = 1.0 / (link.packet.as_f64() * 8.0);
            self.probe(entity, quantity::CAPACITY, "bit/s", ALWAYS, ProbeSource::Capacity(place));
            if link.configured_capacity != link.capacity {
                let configured = ProbeSource::ConfiguredCapacity(place);
                self.probe(entity, quantity::CONFIGURED_CAPACITY, "bit/s", ALWAYS, configured);
            }
            let served = ProbeSource::Mean { channel: columns.departing[id.0], factor: 1.0 };
            self.probe(entity, quantity::THROUGHPUT, "bit/s", ALWAYS, served);
            let queue = now(ColumnIndex::State(columns.queue_state[id.0]), per_packet);
            self.probe(entity, quantity::QUEUE, "packets", ALWAYS, queue);
            let delay = ProbeSource::Mean { channel: columns.delay[id.0], factor: 1e3 };
            self.probe(entity, quantity::QUEUEING, "ms", ALWAYS, delay);
            for law in columns.law_quantities.get(&Entity::Link(id.0)).into_iter().flatten() {
                self.probe(entity, &law.quantity, law.unit, ALWAYS, now(law.index, 1.0));
            }
        }
    }

    fn prepare_flow(&mut self, flow: &FluidFlowPlan, columns: &Columns) {
        let entity = NamedEntity(EntityKind::Flow, flow.name.as_str());
        let (Some(first), Some(last)) = (flow.loops.first(), flow.loops.last()) else { return };
        let subject = Subject::Rates(Some(columns.delivered[last.0]));
        let lifetime = Lifetime { start: flow.start, stop: flow.stop, subject };
        let goodput = ProbeSource::Mean { channel: columns.delivered[last.0], factor: flow.payload };
        self.probe(entity, quantity::GOODPUT, "bit/s", lifetime, goodput);
        let sent = ProbeSource::Mean { channel: columns.rate[first.0], factor: 1.0 };
        self.probe(entity, quantity::SEND_RATE, "bit/s", lifetime, sent);
        let delay = |id: &LoopId| LoopDelay {
            rtt: columns.rtt[id.0],
            base_rtt: self.plan.loops[id.0].facts.base_rtt,
        };
        let loops = flow.loops.iter().map(delay).collect();
        let relay = |id: &LoopId| {
            let backlog = *columns.backlog_state.get(&id.0)?;
            Some(RelayDelay::new(backlog, columns.rate[id.0]))
        };
        let relays = flow.loops.iter().skip(1).filter_map(relay).collect();
        self.probe(entity, quantity::QUEUEING, "ms", lifetime, ProbeSource::Queueing { loops, relays });
        for (position, id) in flow.loops.iter().enumerate() {
            self.prepare_loop(flow, columns, position, *id);
        }
    }

    fn prepare_loop(&mut self, flow: &FluidFlowPlan, columns: &Columns, position: usize, id: LoopId) {
        let lifetime = Lifetime { start: flow.start, stop: flow.stop, subject: Subject::Loop };
        let name = flow.loop_name(position);
        let entity = NamedEntity(EntityKind::Flow, name.as_str());
        let per_packet = 1.0 / (flow.packet.as_f64() * 8.0);
        let rtt = ProbeSource::Mean { channel: columns.rtt[id.0], factor: 1e3 };
        self.probe(entity, quantity::RTT, "ms", lifetime, rtt);
        // The law of a shared loop controls the rates of its flows.
        let controlling = self.plan.loops[id.0].shared.unwrap_or(id);
        let quantities = columns.law_quantities.get(&Entity::Loop(controlling.0));
        for LawQuantity { quantity, unit, index } in quantities.into_iter().flatten() {
            let (unit, factor) = match (quantity.as_ref(), *unit) {
                (quantity::WINDOW, "bit") => ("packets", per_packet),
                (_, unit) => (unit, 1.0),
            };
            self.probe(entity, quantity, unit, lifetime, now(*index, factor));
        }
        let relay = position.checked_sub(1).and_then(|before| flow.relay_name(before));
        if let (Some(relay), Some(index)) = (relay, columns.backlog_state.get(&id.0)) {
            let backlog = now(ColumnIndex::State(*index), per_packet);
            self.probe(
                NamedEntity(EntityKind::Relay, &relay),
                quantity::BACKLOG,
                "packets",
                lifetime,
                backlog,
            );
            let waiting = RelayDelay::new(*index, columns.rate[id.0]);
            let queueing = ProbeSource::Queueing { loops: Vec::new(), relays: vec![waiting] };
            self.probe(NamedEntity(EntityKind::Relay, &relay), quantity::QUEUEING, "ms", lifetime, queueing);
        }
    }

    /// Samples every quantity over the interval between two snapshots.
    pub(super) fn sample(&mut self, before: &IntegrationSnapshot, now: &IntegrationSnapshot) {
        self.times.push(now.time.secs());
        let sample = self.times.present();
        for probe in &mut self.probes {
            if !probe.lifetime.contains(before, now) {
                continue;
            }
            let start = probe.lifetime.start;
            // In the interval in which a flow starts, its rates are means over the part in which it ran.
            let share = now.time.since(before.time).secs() / now.time.since(before.time.max(start)).secs();
            let value = match &mut probe.source {
                ProbeSource::Capacity(link) => self.plan.links[*link].mean_capacity(before.time, now.time),
                ProbeSource::ConfiguredCapacity(link) => {
                    self.plan.links[*link].mean_configured_capacity(before.time, now.time)
                }
                ProbeSource::Mean { channel, factor } if probe.series.unit == "bit/s" => {
                    now.mean_since(before, *channel) * *factor * share
                }
                ProbeSource::Mean { channel, factor } => now.mean_since(before, *channel) * *factor,
                ProbeSource::Now { index: ColumnIndex::State(index), factor } => now.states[*index] * *factor,
                ProbeSource::Now { index: ColumnIndex::Discrete(index), factor } => {
                    now.discrete[*index] as f64 * *factor
                }
                ProbeSource::Now { index: ColumnIndex::Channel(index), factor } => {
                    now.channels[*index] * *factor
                }
                ProbeSource::Queueing { loops, relays } => queueing_delay(loops, relays, before, now) * 1e3,
            };
            probe.series.push(sample, value);
        }
    }

    /// All series that have samples so far.
    pub(super) fn series(&self) -> Vec<Series> {
        let recorded = self.probes.iter().map(|probe| &probe.series);
        let times = self.times.shared();
        recorded
            .filter(|series| !series.is_empty())
            .map(|series| series.clone().into_series(&times))
            .collect()
    }

    /// All series that have samples.
    pub(super) fn into_series(self) -> Vec<Series> {
        let recorded = self.probes.into_iter().map(|probe| probe.series);
        let times = self.times.shared();
        recorded.filter(|series| !series.is_empty()).map(|series| series.into_series(&times)).collect()
    }
}

fn now(index: ColumnIndex, factor: f64) -> ProbeSource {
    ProbeSource::Now { index, factor }
}

/// The queueing delay of a flow in seconds: the mean over the interval for loops, the value at its end for relays.
fn queueing_delay(
    loops: &[LoopDelay],
    relays: &mut [RelayDelay],
    before: &IntegrationSnapshot,
    now: &IntegrationSnapshot,
) -> f64 {
    let queues: f64 = loops.iter().map(|of| now.mean_since(before, of.rtt) - of.base_rtt).sum();
    queues.max(0.0) + relays.iter_mut().map(|relay| relay.sample(before, now)).sum::<f64>()
}
