//! Quantities over time: one sample of every series per tick.

use super::link_series::LinkSeries;
use super::rate_series::{FlowCounters, RateSeries};
use super::sample_interval::SampleInterval;
use crate::recorded_series::{RecordedSeries, SampleTimes};
use millpond_law::{Gauge, HeaderId};
use millpond_plan::packets::{PacketFlowPlan, PacketPlan, TransferSourcePlan};
use millpond_results::{EntityKind, Series, quantity};
use millpond_sim::{FlowView, LinkView, LoopView, RelayWait};
use millpond_units::Time;
use std::collections::BTreeMap;

/// The series of a run of the packet world while it is recorded.
#[derive(Clone, Default)]
pub(super) struct PacketSeriesRecorder {
    times: SampleTimes,
    /// The number of all series so far.
    series_count: usize,
    links: Vec<LinkSeries>,
    /// For each link, the quantities of its laws so far.
    link_laws: Vec<Vec<RecordedQuantity>>,
    flows: Vec<RateSeries>,
    /// For each loop of each flow, its quantities so far.
    loops: Vec<Vec<RecordedQuantity>>,
    /// At each relay at the last sample, by the position of its next loop among all loops.
    waits: BTreeMap<usize, RelayWait>,
    sources: Vec<RateSeries>,
    /// For each source, its other quantities so far.
    source_quantities: Vec<Vec<RecordedQuantity>>,
    /// The time of the last sample.
    before: Time,
    /// The number of samples of the whole run.
    samples: usize,
}

/// Who has a quantity. Two quantities of an entity with one name are the same if one of these has them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The entity itself.
    Entity,
    /// The law at the sender of a loop.
    SenderLaw,
    /// The law of a link that reads these headers.
    LinkLaw(HeaderId),
}

/// A quantity of an entity that has a series.
#[derive(Clone)]
struct RecordedQuantity {
    name: &'static str,
    owner: Owner,
    /// The position of its series among those of all entities.
    position: usize,
    series: RecordedSeries,
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

impl<'a> SampledEntity<'a> {
    /// An entity of which no quantity has been sampled at the end of `interval` yet. `stays`: it has values until the end of the
    /// run.
    fn new(
        (kind, name): (EntityKind, EntityName<'a>),
        quantities: &'a mut Vec<RecordedQuantity>,
        series_count: &'a mut usize,
        interval: &'a SampleInterval,
        stays: bool,
    ) -> Self {
        Self { quantities, series_count, kind, name, interval, stays, sampled: 0 }
    }

    #[inline]
    fn push(&mut self, quantity: &'static str, unit: &'static str, value: f64) {
        self.push_named(quantity, Owner::Entity, |_| quantity.to_owned(), unit, value);
    }

    /// Adds a sample to the series of a quantity. `full_name` returns its name in the results; true: the first quantity of
    /// the entity with this name. The quantities of an entity mostly come in the same order at each sample, and then their
    /// names are the same texts in memory.
    #[inline(always)]
    fn push_named(
        &mut self,
        name: &'static str,
        owner: Owner,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
        value: f64,
    ) {
        match self.quantities.get_mut(self.sampled) {
            Some(next) if std::ptr::eq(next.name, name) && next.owner == owner => {
                next.series.push(self.interval.sample, value);
                self.sampled += 1;
            }
            _ => self.push_elsewhere(name, owner, full_name, unit, value),
        }
    }

    /// As [`Self::push_named`], by comparison of names. A quantity that is sampled for the first time gets a series.
    #[inline(never)]
    fn push_elsewhere(
        &mut self,
        name: &'static str,
        owner: Owner,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
        value: f64,
    ) {
        let is_wanted = |quantity: &RecordedQuantity| quantity.owner == owner && quantity.name == name;
        let is_next = self.quantities.get(self.sampled).is_some_and(is_wanted);
        let known = if is_next { Some(self.sampled) } else { self.quantities.iter().position(is_wanted) };
        let position = known.unwrap_or_else(|| self.add_quantity(name, owner, full_name, unit));
        self.quantities[position].series.push(self.interval.sample, value);
        self.sampled = position + 1;
    }

    /// Adds a series for a quantity that is sampled for the first time; returns its position among those of the entity.
    #[cold]
    fn add_quantity(
        &mut self,
        name: &'static str,
        owner: Owner,
        full_name: impl FnOnce(bool) -> String,
        unit: &'static str,
    ) -> usize {
        let quantity = full_name(self.quantities.iter().all(|known| known.name != name));
        let mut series = RecordedSeries::new(self.kind, self.name.text(), quantity, unit.to_owned());
        if self.stays {
            series.reserve(self.interval.left);
        }
        self.quantities.push(RecordedQuantity { name, owner, position: *self.series_count, series });
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
    fn quantity(&mut self, name: &'static str, unit: &'static str, value: f64) {
        if name != quantity::WINDOW {
            self.of_loop.push_named(name, Owner::SenderLaw, |_| law_quantity(name).to_owned(), unit, value);
        } else if !self.has_window {
            self.of_loop.push(name, unit, value);
        }
    }
}

/// The name in the results of a quantity of a law at a sender. One with the name of a quantity of every flow is another one.
fn law_quantity(name: &'static str) -> &'static str {
    match name {
        quantity::GOODPUT => "goodput of the law",
        quantity::SEND_RATE => "send rate of the law",
        quantity::QUEUEING => "queueing delay of the law",
        quantity::RTT => "smoothed RTT of the law",
        quantity::BACKLOG => "backlog of the law",
        other => other,
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
        self.link.push_named(name, Owner::LinkLaw(self.header), full_name, unit, value);
    }
}

impl PacketSeriesRecorder {
    /// `samples`: the number of samples of the run.
    pub(super) fn new(plan: &PacketPlan, samples: usize) -> Self {
        let none = |count: usize| (0..count).map(|_| Vec::new()).collect();
        let loops = |flow: &PacketFlowPlan| plan.network.flow(flow.id).loops().len();
        let flow = |flow: &PacketFlowPlan| RateSeries::new(&flow.name, flow.start, flow.size.is_none());
        let source = |source: &TransferSourcePlan| RateSeries::new(&source.name, source.start, true);
        Self {
            links: plan.links.iter().map(|link| LinkSeries::new(&link.entity)).collect(),
            link_laws: none(plan.links.len()),
            flows: plan.flows.iter().map(flow).collect(),
            loops: none(plan.flows.iter().map(loops).sum()),
            sources: plan.sources.iter().map(source).collect(),
            source_quantities: none(plan.sources.len()),
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
        self.sample_links(plan, &interval);
        self.sample_flows(plan, &interval);
        self.sample_sources(plan, &interval);
        self.before = now;
    }

    /// Not inlined, as [`Self::sample_flows`], so that its loop keeps its values in registers.
    #[inline(never)]
    fn sample_links(&mut self, plan: &PacketPlan, interval: &SampleInterval) {
        let Self { links, link_laws, series_count, .. } = self;
        for ((series, quantities), planned) in links.iter_mut().zip(link_laws).zip(&plan.links) {
            let link = plan.network.link(planned.id);
            series.sample(&link, interval, series_count);
            if link.has_laws() {
                let entity = (EntityKind::Link, EntityName::Known(planned.entity.as_str()));
                let mut entity = SampledEntity::new(entity, quantities, series_count, interval, true);
                sample_laws(&mut entity, &link, &plan.protocols);
            }
        }
    }

    #[inline(never)]
    fn sample_flows(&mut self, plan: &PacketPlan, interval: &SampleInterval) {
        let Self { flows, loops, waits, series_count, .. } = self;
        let mut loops = loops.iter_mut().enumerate();
        for (rates, flow) in flows.iter_mut().zip(&plan.flows) {
            let view = plan.network.flow(flow.id);
            sample_rates(rates, flow, view, interval, series_count);
            let runs_at_end = view.completed().is_none() && flow.stop.is_none_or(|stop| stop >= interval.now);
            let is_sampled = flow.start < interval.now && runs_at_end;
            for (position, loop_view) in view.loops().enumerate() {
                let Some((number, quantities)) = loops.next() else { return };
                if !is_sampled {
                    continue;
                }
                let entity = (EntityKind::Flow, EntityName::Loop(flow, position));
                let stays = flow.size.is_none();
                let mut entity = SampledEntity::new(entity, quantities, series_count, interval, stays);
                sample_loop(&mut entity, flow, loop_view);
                let Some(before) = position.checked_sub(1) else { continue };
                let wait = loop_view.relay_wait();
                let earlier = waits.insert(number, wait).unwrap_or_default();
                (entity.kind, entity.name) = (EntityKind::Relay, EntityName::Relay(flow, before));
                sample_relay(&mut entity, flow, loop_view, wait.mean_ms_since(earlier));
            }
        }
    }

    fn sample_sources(&mut self, plan: &PacketPlan, interval: &SampleInterval) {
        let Self { sources, source_quantities, series_count, .. } = self;
        for ((rates, quantities), source) in sources.iter_mut().zip(source_quantities).zip(&plan.sources) {
            if source.start >= interval.now {
                continue;
            }
            let view = plan.network.transfers(source.id);
            let totals = view.totals();
            let after = FlowCounters { delivered: totals.delivered_bytes, sent: totals.sent_bytes };
            rates.sample(after, view.interval_delay(), interval, series_count);
            let entity = (EntityKind::Flow, EntityName::Known(&source.name));
            let mut entity = SampledEntity::new(entity, quantities, series_count, interval, true);
            entity.push(quantity::TRANSFERS, "1", view.running() as f64);
        }
    }

    /// The measured time begins: the simulator has set its counters of the measured time to zero.
    pub(super) fn start_measuring(&mut self) {
        self.links.iter_mut().for_each(LinkSeries::start_measuring);
    }

    /// All series so far.
    pub(super) fn series(&self) -> Vec<Series> {
        self.clone().into_series()
    }

    /// All series.
    pub(super) fn into_series(self) -> Vec<Series> {
        let links = self.links.into_iter().flat_map(LinkSeries::into_series);
        let rates = self.flows.into_iter().chain(self.sources).flat_map(RateSeries::into_series);
        let quantities = self.link_laws.into_iter().chain(self.loops).chain(self.source_quantities).flatten();
        let quantities = quantities.map(|quantity| (quantity.position, quantity.series));
        in_order(links.chain(rates).chain(quantities).collect(), &self.times)
    }
}

/// The series in the order of their positions.
fn in_order(mut series: Vec<(usize, RecordedSeries)>, times: &SampleTimes) -> Vec<Series> {
    series.sort_unstable_by_key(|(position, _)| *position);
    let times = times.shared();
    series.into_iter().map(|(_, series)| series.into_series(&times)).collect()
}

fn sample_laws(
    link: &mut SampledEntity<'_>,
    view: &LinkView<'_>,
    protocols: &BTreeMap<HeaderId, &'static str>,
) {
    for law in view.laws() {
        let header = law.header;
        law.observe(&mut SampledLinkLaw { link, header, protocols });
    }
}

/// Samples the rates of a flow if it has some in the interval: it ran in a part of it, or data of it were sent or arrived.
fn sample_rates(
    rates: &mut RateSeries,
    flow: &PacketFlowPlan,
    view: FlowView<'_>,
    interval: &SampleInterval,
    series_count: &mut usize,
) {
    let after =
        FlowCounters { delivered: view.delivered().get(), sent: view.first().sender().counters().sent_bytes };
    let before = rates.before();
    let is_open = view.completed().is_none();
    let ran = is_open && flow.stop.is_none_or(|stop| stop > interval.since);
    let arrived = before.delivered < after.delivered;
    let resent = is_open && before.sent < after.sent;
    if flow.start < interval.now && (ran || arrived || resent) {
        rates.sample(after, view.interval_delay(), interval, series_count);
    }
}

fn sample_loop(entity: &mut SampledEntity<'_>, flow: &PacketFlowPlan, view: LoopView<'_>) {
    let window = view.sender().window();
    if let Some(window) = window {
        entity.push(quantity::WINDOW, "packets", window.as_f64() / flow.packet.as_f64());
    }
    if let Some(rtt) = view.smoothed_rtt() {
        entity.push(quantity::RTT, "ms", rtt.millis());
    }
    let mut law = SampledSenderLaw { of_loop: entity, has_window: window.is_some() };
    view.sender().law().observe(&mut law);
}

/// Samples the relay before a loop; `mean_wait`: how long data waited there in the interval, in milliseconds.
fn sample_relay(entity: &mut SampledEntity<'_>, flow: &PacketFlowPlan, next: LoopView<'_>, mean_wait: f64) {
    entity.push(quantity::BACKLOG, "packets", next.backlog().as_f64() / flow.packet.as_f64());
    entity.push(quantity::QUEUEING, "ms", mean_wait);
}
