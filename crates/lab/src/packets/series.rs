//! Quantities over time: one sample of every series per tick.

use super::link_series::LinkSeries;
use super::sample_interval::{SampleInterval, mean_delay_ms, to_float};
use crate::recorded_series::{RecordedSeries, SampleTimes};
use millpond_law::{Gauge, HeaderId};
use millpond_plan::packets::{PacketFlowPlan, PacketPlan, TransferSourcePlan};
use millpond_results::{EntityKind, Series, quantity};
use millpond_sim::{FlowView, IntervalDelay, LoopView, RelayWait};
use millpond_units::Time;
use std::collections::BTreeMap;

/// The series of a run of the packet world while it is recorded.
#[derive(Default)]
pub(super) struct PacketSeriesRecorder {
    times: SampleTimes,
    /// For each entity number, its quantities so far.
    quantities: Vec<Vec<RecordedQuantity>>,
    /// The number of all series so far.
    series_count: usize,
    links: Vec<LinkSeries>,
    flows: Vec<FlowCounters>,
    /// At each relay at the last sample, by entity number of its next loop.
    waits: BTreeMap<usize, RelayWait>,
    sources: Vec<FlowCounters>,
    /// The time of the last sample.
    before: Time,
    /// The number of samples of the whole run.
    samples: usize,
}

/// A quantity of an entity that has a series.
struct RecordedQuantity {
    name: &'static str,
    /// The protocol, if it is a quantity of a router.
    header: HeaderId,
    /// The position of its series among those of all entities.
    position: usize,
    series: RecordedSeries,
}

/// Counters of a flow, or of all transfers of a source, in bytes.
#[derive(Clone, Copy, Default)]
struct FlowCounters {
    delivered: u64,
    sent: u64,
}

/// Counters and delay of a flow, or of all transfers of a source, in one interval.
struct FlowInterval {
    before: FlowCounters,
    after: FlowCounters,
    /// The start of the flow.
    start: Time,
    delay: IntervalDelay,
}

/// The entity that is being sampled.
struct SampledEntity<'a> {
    /// Its quantities so far.
    quantities: &'a mut Vec<RecordedQuantity>,
    /// The number of series of all entities.
    series_count: &'a mut usize,
    kind: EntityKind,
    name: EntityName<'a>,
    interval: &'a SampleInterval,
    /// Whether it has values until the end of the run.
    stays: bool,
    /// The number of its quantities that have been sampled.
    sampled: usize,
}

/// The name of an entity, which is needed only at its first sample.
enum EntityName<'a> {
    Known(&'a str),
    Loop(&'a PacketFlowPlan, usize),
    /// The relay behind the loop at this position.
    Relay(&'a PacketFlowPlan, usize),
}

impl EntityName<'_> {
    fn text(&self) -> String {
        match *self {
            Self::Known(name) => name.to_owned(),
            Self::Loop(flow, position) => flow.loop_name(position),
            Self::Relay(flow, position) => flow.relay_name(position).unwrap_or_default(),
        }
    }
}

impl SampledEntity<'_> {
    #[inline]
    fn push(&mut self, quantity: &'static str, unit: &'static str, value: f64) {
        self.push_named(quantity, HeaderId::NONE, |_| quantity.to_owned(), unit, value);
    }

    /// Adds a sample to the series of a quantity. `full_name` returns its name in the results; true: the first quantity of
    /// the entity with this name. The quantities of an entity mostly come in the same order at each sample, and then their
    /// names are the same texts in memory.
    #[inline(always)]
    fn push_named(
        &mut self,
        name: &'static str,
        header: HeaderId,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
        value: f64,
    ) {
        match self.quantities.get_mut(self.sampled) {
            Some(next) if std::ptr::eq(next.name, name) && next.header == header => {
                next.series.push(self.interval.sample, value);
                self.sampled += 1;
            }
            _ => self.push_elsewhere(name, header, full_name, unit, value),
        }
    }

    /// As [`Self::push_named`], by comparison of names. A quantity that is sampled for the first time gets a series.
    #[inline(never)]
    fn push_elsewhere(
        &mut self,
        name: &'static str,
        header: HeaderId,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
        value: f64,
    ) {
        let is_wanted = |quantity: &RecordedQuantity| quantity.header == header && quantity.name == name;
        let is_next = self.quantities.get(self.sampled).is_some_and(is_wanted);
        let known = if is_next { Some(self.sampled) } else { self.quantities.iter().position(is_wanted) };
        let position = known.unwrap_or_else(|| self.add_quantity(name, header, full_name, unit));
        self.quantities[position].series.push(self.interval.sample, value);
        self.sampled = position + 1;
    }

    /// Adds a series for a quantity that is sampled for the first time; returns its position among those of the entity.
    #[cold]
    fn add_quantity(
        &mut self,
        name: &'static str,
        header: HeaderId,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
    ) -> usize {
        let quantity = full_name(self.quantities.iter().all(|known| known.name != name));
        let mut series = RecordedSeries::new(self.kind, self.name.text(), quantity, unit.to_owned());
        if self.stays {
            series.reserve(self.interval.left);
        }
        self.quantities.push(RecordedQuantity { name, header, position: *self.series_count, series });
        *self.series_count += 1;
        self.quantities.len() - 1
    }
}

/// The quantities of a law at the sender of a loop.
struct SampledSenderLaw<'a, 'b> {
    of_loop: &'a mut SampledEntity<'b>,
    /// Whether the window is recorded, as for each law that has one.
    has_window: bool,
}

impl Gauge for SampledSenderLaw<'_, '_> {
    /// A quantity with the name of one of every flow is another one.
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        let name = match name {
            quantity::WINDOW if self.has_window => return,
            quantity::GOODPUT => "goodput of the law",
            quantity::SEND_RATE => "send rate of the law",
            quantity::QUEUEING => "queueing delay of the law",
            quantity::RTT => "smoothed RTT of the law",
            quantity::BACKLOG => "backlog of the law",
            other => other,
        };
        self.of_loop.push(name, unit, value);
    }
}

/// Samples the quantities of one law of a link.
struct SampledLinkLaw<'a, 'b> {
    link: &'a mut SampledEntity<'b>,
    /// The protocol whose headers the law reads, if it is a router.
    header: HeaderId,
    protocols: &'a BTreeMap<HeaderId, &'static str>,
}

impl Gauge for SampledLinkLaw<'_, '_> {
    /// If two laws have a quantity of the same name, the second one gets the name of its protocol.
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        let full_name = |is_first: bool| match self.protocols.get(&self.header) {
            Some(protocol) if !is_first => format!("{name} of {protocol}"),
            _ => name.to_owned(),
        };
        self.link.push_named(name, self.header, full_name, unit, value);
    }
}

impl PacketSeriesRecorder {
    /// `samples`: the number of samples of the run.
    pub(super) fn new(plan: &PacketPlan, samples: usize) -> Self {
        let loops = |flow: &PacketFlowPlan| plan.network.flow(flow.id).loops().len();
        let loops: usize = plan.flows.iter().map(loops).sum();
        let entities = plan.links.len() + plan.flows.len() + loops + plan.sources.len();
        Self {
            quantities: (0..entities).map(|_| Vec::new()).collect(),
            links: plan.links.iter().map(|link| LinkSeries::new(&link.entity)).collect(),
            flows: vec![FlowCounters::default(); plan.flows.len()],
            sources: vec![FlowCounters::default(); plan.sources.len()],
            samples,
            ..Self::default()
        }
    }

    /// Samples every quantity; rates are means over the interval since the last sample.
    pub(super) fn sample(&mut self, plan: &PacketPlan) {
        let now = plan.network.now();
        self.times.push(now.secs());
        let sample = self.times.present();
        let interval = SampleInterval::new(self.before, now, sample, self.samples.saturating_sub(sample));
        let mut numbers = 0..;
        let mut number = || numbers.next().unwrap_or_default();
        for index in 0..plan.links.len() {
            self.sample_link(number(), index, plan, &interval);
        }
        for (index, flow) in plan.flows.iter().enumerate() {
            let view = plan.network.flow(flow.id);
            let flow_number = number();
            if self.has_rates(index, flow, view, now) {
                self.sample_flow(flow_number, index, flow, view, &interval);
            }
            let runs_at_end = view.completed().is_none() && flow.stop.is_none_or(|stop| stop >= now);
            for (position, loop_view) in view.loops().enumerate() {
                let loop_number = number();
                if flow.start < now && runs_at_end {
                    self.sample_loop(loop_number, flow, position, loop_view, &interval);
                }
            }
        }
        for (index, source) in plan.sources.iter().enumerate() {
            let number = number();
            if source.start < now {
                self.sample_source(number, index, source, plan, &interval);
            }
        }
        self.before = now;
    }

    /// Whether a flow has rates in the interval that ends now: it ran in a part of it, or data of it were sent or arrived.
    fn has_rates(&self, index: usize, flow: &PacketFlowPlan, view: FlowView<'_>, now: Time) -> bool {
        let FlowCounters { delivered, sent } = self.flows[index];
        let arrived = delivered < view.delivered().get();
        let is_open = view.completed().is_none();
        let ran = is_open && flow.stop.is_none_or(|stop| stop > self.before);
        let resent = is_open && sent < view.first().sender().counters().sent_bytes;
        flow.start < now && (ran || arrived || resent)
    }

    /// The measured time begins: the simulator has set its counters of the measured time to zero.
    pub(super) fn start_measuring(&mut self) {
        self.links.iter_mut().for_each(LinkSeries::start_measuring);
    }

    /// All series so far.
    pub(super) fn series(&self) -> Vec<Series> {
        let links = self.links.iter().cloned().flat_map(LinkSeries::into_series);
        let quantities = self.quantities.iter().flatten();
        let series = links.chain(quantities.map(|quantity| (quantity.position, quantity.series.clone())));
        in_order(series.collect(), &self.times)
    }

    /// All series.
    pub(super) fn into_series(self) -> Vec<Series> {
        let links = self.links.into_iter().flat_map(LinkSeries::into_series);
        let quantities = self.quantities.into_iter().flatten();
        let series = links.chain(quantities.map(|quantity| (quantity.position, quantity.series)));
        in_order(series.collect(), &self.times)
    }

    /// The entity with this number, of which no quantity has been sampled at the end of `interval` yet. `stays`: it has values
    /// until the end of the run.
    fn entity<'a>(
        &'a mut self,
        number: usize,
        (kind, name): (EntityKind, EntityName<'a>),
        interval: &'a SampleInterval,
        stays: bool,
    ) -> SampledEntity<'a> {
        let (quantities, series_count) = (&mut self.quantities[number], &mut self.series_count);
        SampledEntity { quantities, series_count, kind, name, interval, stays, sampled: 0 }
    }

    fn sample_link(&mut self, number: usize, index: usize, plan: &PacketPlan, interval: &SampleInterval) {
        let link = plan.network.link(plan.links[index].id);
        self.links[index].sample(&link, interval, &mut self.series_count);
        let entity = (EntityKind::Link, EntityName::Known(plan.links[index].entity.as_str()));
        let entity = &mut self.entity(number, entity, interval, true);
        for law in link.laws() {
            let header = law.header;
            law.observe(&mut SampledLinkLaw { link: entity, header, protocols: &plan.protocols });
        }
    }

    fn sample_flow(
        &mut self,
        number: usize,
        index: usize,
        flow: &PacketFlowPlan,
        view: FlowView<'_>,
        interval: &SampleInterval,
    ) {
        let after = FlowCounters {
            delivered: view.delivered().get(),
            sent: view.first().sender().counters().sent_bytes,
        };
        let before = std::mem::replace(&mut self.flows[index], after);
        let rates = FlowInterval { before, after, start: view.start(), delay: view.interval_delay() };
        let entity = (EntityKind::Flow, EntityName::Known(&flow.name));
        push_rates(&mut self.entity(number, entity, interval, flow.size.is_none()), &rates);
    }

    fn sample_source(
        &mut self,
        number: usize,
        index: usize,
        source: &TransferSourcePlan,
        plan: &PacketPlan,
        interval: &SampleInterval,
    ) {
        let view = plan.network.transfers(source.id);
        let totals = view.totals();
        let after = FlowCounters { delivered: totals.delivered_bytes, sent: totals.sent_bytes };
        let before = std::mem::replace(&mut self.sources[index], after);
        let rates = FlowInterval { before, after, start: source.start, delay: view.interval_delay() };
        let entity = (EntityKind::Flow, EntityName::Known(&source.name));
        let entity = &mut self.entity(number, entity, interval, true);
        push_rates(entity, &rates);
        entity.push(quantity::TRANSFERS, "1", view.running() as f64);
    }

    fn sample_loop(
        &mut self,
        number: usize,
        flow: &PacketFlowPlan,
        position: usize,
        loop_view: LoopView<'_>,
        interval: &SampleInterval,
    ) {
        let packet = flow.packet.as_f64();
        let waits = position.checked_sub(1).map(|before| {
            let wait = loop_view.relay_wait();
            (before, wait, self.waits.insert(number, wait).unwrap_or_default())
        });
        let entity = (EntityKind::Flow, EntityName::Loop(flow, position));
        let entity = &mut self.entity(number, entity, interval, flow.size.is_none());
        let window = loop_view.sender().window();
        if let Some(window) = window {
            entity.push(quantity::WINDOW, "packets", window.as_f64() / packet);
        }
        if let Some(rtt) = loop_view.smoothed_rtt() {
            entity.push(quantity::RTT, "ms", rtt.millis());
        }
        let mut law = SampledSenderLaw { of_loop: entity, has_window: window.is_some() };
        loop_view.sender().law().observe(&mut law);
        if let Some((before, wait, earlier)) = waits {
            (entity.kind, entity.name) = (EntityKind::Relay, EntityName::Relay(flow, before));
            entity.push(quantity::BACKLOG, "packets", loop_view.backlog().as_f64() / packet);
            entity.push(quantity::QUEUEING, "ms", wait.mean_ms_since(earlier));
        }
    }
}

/// The series in the order of their positions.
fn in_order(mut series: Vec<(usize, RecordedSeries)>, times: &SampleTimes) -> Vec<Series> {
    series.sort_unstable_by_key(|(position, _)| *position);
    let times = times.shared();
    series.into_iter().map(|(_, series)| series.into_series(&times)).collect()
}

/// Goodput, sending rate and queueing delay. In the interval in which a flow starts, its rates are means over the part in
/// which it ran.
fn push_rates(entity: &mut SampledEntity<'_>, rates: &FlowInterval) {
    let FlowInterval { before, after, start, delay } = *rates;
    let SampleInterval { since, now, seconds, .. } = *entity.interval;
    let seconds = if start <= since { seconds } else { now.since(start).secs() };
    let rate = |bytes: u64| to_float(bytes) * 8.0 / seconds;
    entity.push(quantity::GOODPUT, "bit/s", rate(after.delivered - before.delivered));
    entity.push(quantity::SEND_RATE, "bit/s", rate(after.sent - before.sent));
    entity.push(quantity::QUEUEING, "ms", mean_delay_ms(delay));
}
