//! Takes down quantities over time: one sample of every series at each tick.

use millpond_law::Gauge;
use millpond_plan::packets::{Plan, PlannedFlow, PlannedLink, PlannedSource};
use millpond_results::{Kind, Series, quantity};
use millpond_sim::{FlowView, IntervalDelay, LinkView, LoopView, PacketNetwork};
use millpond_units::Time;
use std::collections::BTreeMap;

/// All series of a run, under way.
#[derive(Default)]
pub(super) struct Recorder {
    series: Vec<Series>,
    /// Where the series of an entity's quantity is.
    places: BTreeMap<(usize, &'static str), usize>,
    links: Vec<LinkBefore>,
    flows: Vec<FlowBefore>,
    sources: Vec<FlowBefore>,
    before: Time,
}

/// Counters of a link at the last sample.
#[derive(Clone, Copy, Default)]
struct LinkBefore {
    served_bytes: u64,
    /// Packets times picoseconds.
    queue_time: u128,
}

/// Counters of a flow, or of all transfers of a source, at the last sample.
#[derive(Clone, Copy, Default)]
struct FlowBefore {
    delivered: u64,
    sent: u64,
}

/// The entity that is being sampled.
struct Entity<'a> {
    recorder: &'a mut Recorder,
    /// Its number among all entities; the same at every sample.
    number: usize,
    kind: Kind,
    name: &'a str,
    now: Time,
}

impl Entity<'_> {
    fn push(&mut self, quantity: &'static str, unit: &'static str, value: f64) {
        let Recorder { places, series, .. } = self.recorder;
        let place = *places.entry((self.number, quantity)).or_insert_with(|| {
            let (entity, quantity, unit) = (self.name.to_owned(), quantity.to_owned(), unit.to_owned());
            series.push(Series {
                kind: self.kind,
                entity,
                quantity,
                unit,
                times: Vec::new(),
                values: Vec::new(),
            });
            series.len() - 1
        });
        series[place].times.push(self.now.secs());
        series[place].values.push(value);
    }
}

impl Gauge for Entity<'_> {
    /// A law's own quantity; the window is taken down for every law already.
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        if name != quantity::WINDOW {
            self.push(name, unit, value);
        }
    }
}

impl Recorder {
    /// Nothing sampled yet.
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            links: vec![LinkBefore::default(); plan.links.len()],
            flows: vec![FlowBefore::default(); plan.flows.len()],
            sources: vec![FlowBefore::default(); plan.sources.len()],
            ..Self::default()
        }
    }

    /// One sample of everything; what is counted is counted since the last one.
    pub(super) fn sample(
        &mut self,
        network: &PacketNetwork,
        (links, flows, sources): (&[PlannedLink], &[PlannedFlow], &[PlannedSource]),
    ) {
        let now = network.now();
        let mut numbers = 0..;
        let mut number = || numbers.next().unwrap_or_default();
        for (index, link) in links.iter().enumerate() {
            self.sample_link(number(), index, &link.entity, network.link(link.id), now);
        }
        for (index, flow) in flows.iter().enumerate() {
            let view = network.flow(flow.id);
            let running = flow.start < now && view.completed().is_none();
            let flow_number = number();
            if running || flow.start < now && self.flows[index].delivered < view.delivered().get() {
                self.sample_flow(flow_number, index, &flow.name, view, now);
            }
            for (position, one) in view.loops().enumerate() {
                let loop_number = number();
                if running {
                    self.sample_loop(loop_number, flow, position, one, now);
                }
            }
        }
        for (index, source) in sources.iter().enumerate() {
            let number = number();
            if source.start < now {
                self.sample_source(number, index, source, network);
            }
        }
        self.before = now;
    }

    /// The measurement begins anew: counters of the measurement start at zero.
    pub(super) fn start_over(&mut self) {
        self.links.iter_mut().for_each(|link| link.queue_time = 0);
    }

    /// Everything recorded.
    pub(super) fn into_series(self) -> Vec<Series> {
        self.series
    }

    fn sample_link(&mut self, number: usize, index: usize, name: &str, link: LinkView<'_>, now: Time) {
        let (before, since) = (self.links[index], self.before);
        let span = now.since(since);
        let served_bytes = link.totals().served_bytes;
        let queue_time = link.queue_lengths().sum();
        self.links[index] = LinkBefore { served_bytes, queue_time };
        let entity = &mut Entity { recorder: self, number, kind: Kind::Link, name, now };
        entity.push(quantity::CAPACITY, "bit/s", link.capacity_bits(since, now) as f64 / span.secs());
        entity.push(
            quantity::THROUGHPUT,
            "bit/s",
            (served_bytes - before.served_bytes) as f64 * 8.0 / span.secs(),
        );
        let waited = queue_time.saturating_sub(before.queue_time);
        entity.push(quantity::QUEUE, "packets", waited as f64 / span.picos() as f64);
        let delay = link.interval_delay();
        entity.push(quantity::QUEUEING, "ms", if delay.packets > 0 { delay.mean.millis() } else { f64::NAN });
        link.observe(entity);
    }

    fn sample_flow(&mut self, number: usize, index: usize, name: &str, flow: FlowView<'_>, now: Time) {
        let after = FlowBefore { delivered: flow.delivered().get(), sent: flow.first().totals().sent_bytes };
        let before = std::mem::replace(&mut self.flows[index], after);
        self.push_rates((number, name), flow.start(), (before, after), flow.interval_delay(), now);
    }

    fn sample_source(
        &mut self,
        number: usize,
        index: usize,
        source: &PlannedSource,
        network: &PacketNetwork,
    ) {
        let (view, now) = (network.transfers(source.id), network.now());
        let totals = view.totals();
        let after = FlowBefore { delivered: totals.delivered_bytes, sent: totals.sent_bytes };
        let before = std::mem::replace(&mut self.sources[index], after);
        let entity = (number, source.name.as_str());
        self.push_rates(entity, source.start, (before, after), view.interval_delay(), now);
        let entity = &mut Entity { recorder: self, number, kind: Kind::Flow, name: &source.name, now };
        entity.push(quantity::TRANSFERS, "1", view.running() as f64);
    }

    fn push_rates(
        &mut self,
        (number, name): (usize, &str),
        start: Time,
        (before, after): (FlowBefore, FlowBefore),
        delay: IntervalDelay,
        now: Time,
    ) {
        // In the interval in which it starts, a flow's rates are over the part in which it ran.
        let seconds = now.since(self.before.max(start)).secs();
        let entity = &mut Entity { recorder: self, number, kind: Kind::Flow, name, now };
        entity.push(quantity::GOODPUT, "bit/s", (after.delivered - before.delivered) as f64 * 8.0 / seconds);
        entity.push(quantity::SEND_RATE, "bit/s", (after.sent - before.sent) as f64 * 8.0 / seconds);
        entity.push(quantity::QUEUEING, "ms", if delay.packets > 0 { delay.mean.millis() } else { f64::NAN });
    }

    fn sample_loop(
        &mut self,
        number: usize,
        flow: &PlannedFlow,
        position: usize,
        one: LoopView<'_>,
        now: Time,
    ) {
        let name = flow.loop_name(position);
        let packet = flow.packet.as_f64();
        let entity = &mut Entity { recorder: self, number, kind: Kind::Flow, name: &name, now };
        if let Some(window) = one.sender().window() {
            entity.push(quantity::WINDOW, "packets", window.as_f64() / packet);
        }
        if let Some(rtt) = one.smoothed_rtt() {
            entity.push(quantity::RTT, "ms", rtt.millis());
        }
        one.sender().law().observe(entity);
        if let Some(relay) = position.checked_sub(1).and_then(|before| flow.relay_name(before)) {
            (entity.kind, entity.name) = (Kind::Relay, &relay);
            entity.push(quantity::BACKLOG, "packets", one.backlog().as_f64() / packet);
        }
    }
}
