//! State of the sender and receiver of each loop in the simulation, and the routes between them.

use crate::LinkId;
use crate::delivery::DeliveredStream;
use crate::event_kind::{EventKind, index_of, target};
use crate::event_queue::EventTarget;
use crate::flow_spec::LoopSpec;
use crate::processing::{Processing, Processor, Timer};
use crate::schedule::Schedule;
use crate::stages::{FlowStage, StreamRef, delivered_streams, stream_configs};
use crate::stats::{ArrivalMeter, LoopCounters, SendingMeter};
use millpond_endpoint::{ReceiverEnd, SenderConfig, SenderEnd};
use millpond_law::{Ecn, Knowledge, Random, Sender};
use millpond_units::{Rate, Span, Time};
use std::sync::Arc;

/// State of the sender of a loop.
pub(crate) struct SenderState {
    pub(crate) end: SenderEnd,
    pub(crate) timer: Timer,
    pub(crate) route: u32,
    /// Index of the first link of its route, which may be a delay element.
    pub(crate) entry: u32,
    /// Its flow, or the flow that represents all that share it.
    pub(crate) flow: u32,
    /// Index of the processor of its host.
    pub(crate) host: u32,
    /// For each of its streams, the loop and stream that deliver it here; empty at a source.
    pub(crate) upstream_streams: Vec<StreamRef>,
    /// The first link of its loop.
    pub(crate) first_link: u32,
    /// The capacities that its law receives.
    pub(crate) configured: PathCapacity,
    pub(crate) knowledge: Knowledge,
    pub(crate) meter: SendingMeter,
}

/// State of the receiver of a loop.
pub(crate) struct ReceiverState {
    pub(crate) end: ReceiverEnd,
    pub(crate) timer: Timer,
    pub(crate) route: u32,
    /// Index of the first link of its route.
    pub(crate) entry: u32,
    pub(crate) flow: u32,
    /// ECN field of its acknowledgements. Those of ECN-capable flows are ECN-capable, so that queues mark instead of drop them.
    pub(crate) ack_ecn: Ecn,
    /// Delivery of stream 0.
    pub(crate) first: DeliveredStream,
    /// Delivery of the other streams of a shared loop.
    pub(crate) others: Vec<DeliveredStream>,
    /// Counters of the loop at the start of the measurement.
    pub(crate) before: LoopCounters,
}

impl ReceiverState {
    /// Delivery of one stream.
    #[inline]
    pub(crate) fn stream(&self, stream_id: u16) -> &DeliveredStream {
        let other = || self.others.get(usize::from(stream_id).wrapping_sub(1)).unwrap_or(&self.first);
        if self.others.is_empty() { &self.first } else { other() }
    }

    #[inline]
    pub(crate) fn stream_mut(&mut self, stream_id: u16) -> &mut DeliveredStream {
        if self.others.is_empty() {
            return &mut self.first;
        }
        self.others.get_mut(usize::from(stream_id).wrapping_sub(1)).unwrap_or(&mut self.first)
    }

    /// Starts the measurement; `before`: counters of the loop now.
    pub(crate) fn start_measuring(&mut self, before: LoopCounters) {
        self.before = before;
        let Self { end, first, others, .. } = self;
        for (stream_id, stream) in (0..).zip(std::iter::once(first).chain(others)) {
            stream.arrivals = ArrivalMeter::since(end.delivered_of(stream_id));
        }
    }

    /// Starts a new interval of the delay statistics.
    pub(crate) fn start_interval(&mut self) {
        let streams = std::iter::once(&mut self.first).chain(&mut self.others);
        streams.for_each(|stream| stream.arrivals.start_interval());
    }
}

/// A loop whose sender receives the capacity of a link live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CapacityReceiver {
    pub(crate) link: u32,
    pub(crate) loop_id: u32,
}

/// One entry of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteStop {
    /// The event of an arrival: at a link, or at an end of a loop.
    pub(crate) arrival: EventTarget,
    /// Index of the processor that delays arrivals.
    pub(crate) processor: u32,
    /// When the last packet reached it, processing included: packets of a flow stay in order.
    pub(crate) last: Time,
}

/// Where a route begins.
#[derive(Clone, Copy)]
pub(crate) struct RouteStart {
    /// Index of its first entry in the list of all routes.
    first: u32,
    /// Index of the link there.
    entry: u32,
}

/// Where the two routes of a loop begin.
#[derive(Clone, Copy)]
pub(crate) struct LoopRoutes {
    forward: RouteStart,
    backward: RouteStart,
}

/// Senders and receivers of all loops, indexed by loop, and what processes packets.
pub(crate) struct Endpoints {
    pub(crate) senders: Vec<SenderState>,
    pub(crate) receivers: Vec<ReceiverState>,
    /// First one without processing time, then the router before each link, then the host of each sender. They are apart
    /// from links and senders, so that more of them fit in the cache.
    pub(crate) processors: Vec<Processor>,
    /// By how much hosts may act late, beyond their processing time, without a shift of their pacing schedules.
    lateness: Span,
}

/// Index of the processor without processing time.
const IMMEDIATE: u32 = 0;

/// Index of the processor of the router before a link.
fn router_of(link: LinkId) -> u32 {
    link.0 + 1
}

/// The capacities that a sender's law receives.
#[derive(Clone, Copy)]
pub(crate) struct PathCapacity {
    pub(crate) at_start: Rate,
    /// Smallest nominal capacity of the links after the first.
    pub(crate) beyond_first_link: Rate,
}

impl PathCapacity {
    /// Capacities of a loop that starts at `start`. The nominal capacity of a link is the highest of its configured rates.
    /// For a sender with live knowledge, the current rate of its first link replaces the nominal one.
    pub(crate) fn of(spec: &LoopSpec, configured: &[Arc<Schedule>], start: Time) -> Self {
        let schedule = |link: &LinkId| &configured[link.0 as usize];
        let beyond_first_link =
            spec.forward.iter().skip(1).map(|link| schedule(link).peak()).min().unwrap_or(Rate::MAX);
        let first = spec.forward.first().map(schedule);
        let first = match spec.sender_config.needs.capacity {
            Knowledge::Live => first.map(|schedule| schedule.rate_at(start)),
            Knowledge::AtStart | Knowledge::Nothing => first.map(|schedule| schedule.peak()),
        };
        Self { at_start: first.unwrap_or(Rate::MAX).min(beyond_first_link), beyond_first_link }
    }

    /// The same for a loop that starts when its first link has this capacity.
    pub(crate) fn with_first_capacity(self, capacity: Rate) -> Self {
        Self { at_start: capacity.min(self.beyond_first_link), ..self }
    }
}

/// The owner of a loop under construction.
pub(crate) struct LoopOwner<'a> {
    pub(crate) seed: u64,
    /// Prefix of the names of its random streams.
    pub(crate) name: &'a str,
    /// Its flow, or the flow that represents all that share it.
    pub(crate) flow: u32,
    /// The stages of the flows that use it, one for each stream.
    pub(crate) stages: &'a [FlowStage],
    pub(crate) shared: bool,
}

impl LoopOwner<'_> {
    fn random(&self, end: &str) -> Random {
        Random::stream(self.seed, &format!("{} {end}", self.name))
    }

    fn sender(&self, config: SenderConfig, law: Box<dyn Sender>) -> SenderEnd {
        let (streams, random) = (stream_configs(self.stages, config.packet), self.random("sender"));
        if self.shared {
            return SenderEnd::with_streams(config, streams, law, random);
        }
        let credit = streams.first().map_or(config.credit, |only| only.credit);
        SenderEnd::new(SenderConfig { credit, ..config }, law, random)
    }
}

impl Endpoints {
    /// No loops yet, but memory for so many.
    pub(crate) fn new(routers: impl ExactSizeIterator<Item = Processor>, loops: usize) -> Self {
        let mut processors = Vec::with_capacity(1 + routers.len() + loops);
        processors.extend(std::iter::once(Processor::immediate()).chain(routers));
        let (senders, receivers) = (Vec::with_capacity(loops), Vec::with_capacity(loops));
        Self { senders, receivers, processors, lateness: Span::ZERO }
    }

    /// Lets the senders of all loops, later ones included, act this late without a shift of their pacing schedules.
    pub(crate) fn allow_lateness(&mut self, lateness: Span) {
        self.lateness = lateness;
        self.senders.iter_mut().for_each(|sender| sender.end.allow_lateness(lateness));
    }

    /// Creates the two ends of a loop. A new `loop_id` adds them with new routes; a known one replaces the ends of a loop
    /// with the same path whose flow is finished. Pending timer events of the old ends then apply to the new ones.
    pub(crate) fn put(
        &mut self,
        owner: &LoopOwner<'_>,
        loop_id: u32,
        spec: LoopSpec,
        configured: PathCapacity,
        add_routes: impl FnOnce(&LoopSpec, u32) -> LoopRoutes,
    ) {
        let old = self.senders.get(loop_id as usize).zip(self.receivers.get(loop_id as usize));
        let is_new = old.is_none();
        let (sender_timer, receiver_timer) =
            old.map_or((Timer::NONE, Timer::NONE), |(sender, receiver)| (sender.timer, receiver.timer));
        let host = old.map_or(self.processors.len() as u32, |(sender, _)| sender.host);
        let routes = match old {
            Some((sender, receiver)) => LoopRoutes {
                forward: RouteStart { first: sender.route, entry: sender.entry },
                backward: RouteStart { first: receiver.route, entry: receiver.entry },
            },
            None => add_routes(&spec, host),
        };
        let mut streams = delivered_streams(owner.stages, spec.sender_config.packet);
        let processor = Processor::new(Processing::UpTo(spec.host_processing), owner.random("host"));
        let timer_slack = spec.host_processing + self.lateness;
        let sender_config = SenderConfig { timer_slack, ..spec.sender_config };
        let sender = SenderState {
            end: owner.sender(sender_config, spec.sender),
            timer: sender_timer,
            route: routes.forward.first,
            entry: routes.forward.entry,
            flow: owner.flow,
            host,
            upstream_streams: owner.stages.iter().filter_map(|stage| stage.upstream).collect(),
            first_link: spec.forward[0].0,
            configured,
            knowledge: spec.sender_config.needs.capacity,
            meter: SendingMeter::default(),
        };
        let receiver = ReceiverState {
            end: ReceiverEnd::with_streams(
                spec.receiver_config,
                owner.stages.len() as u16,
                spec.receiver,
                owner.random("receiver"),
            ),
            timer: receiver_timer,
            route: routes.backward.first,
            entry: routes.backward.entry,
            flow: owner.flow,
            ack_ecn: if spec.sender_config.needs.ecn.is_some() { Ecn::Ect0 } else { Ecn::NotCapable },
            first: streams.next().unwrap_or_default(),
            others: streams.collect(),
            before: LoopCounters::default(),
        };
        if is_new {
            self.senders.push(sender);
            self.processors.push(processor);
            self.receivers.push(receiver);
        } else {
            self.senders[loop_id as usize] = sender;
            self.processors[host as usize] = processor;
            self.receivers[loop_id as usize] = receiver;
        }
    }

    /// The loops that receive the capacity of their first link live, sorted by link.
    pub(crate) fn capacity_receivers(&self) -> Vec<CapacityReceiver> {
        let live = self.senders.iter().enumerate().filter(|(_, sender)| sender.knowledge == Knowledge::Live);
        let mut receivers: Vec<_> = live
            .map(|(index, sender)| CapacityReceiver { link: sender.first_link, loop_id: index as u32 })
            .collect();
        receivers.sort_unstable();
        receivers
    }
}

/// Appends the forward and the backward route of a loop to `routes`; returns where each begins. Data first crosses the
/// delay element `delay`, if there is one; `host`: index of the processor of its sender.
pub(crate) fn add_routes(
    routes: &mut Vec<RouteStop>,
    loop_id: u32,
    delay: Option<u32>,
    spec: &LoopSpec,
    host: u32,
) -> LoopRoutes {
    let stop = |arrival, processor| RouteStop { arrival, processor, last: Time::ZERO };
    let link = |link: &LinkId| stop(target(EventKind::Link, link.0), router_of(*link));
    let forward = routes.len();
    routes.extend(delay.map(|delay| stop(target(EventKind::Link, delay), IMMEDIATE)));
    routes.extend(spec.forward.iter().map(link));
    routes.push(stop(target(EventKind::Data, loop_id), IMMEDIATE));
    let backward = routes.len();
    routes.extend(spec.backward.iter().map(link));
    routes.push(stop(target(EventKind::Ack, loop_id), host));
    let start = |first: usize| RouteStart { first: first as u32, entry: index_of(routes[first].arrival) };
    LoopRoutes { forward: start(forward), backward: start(backward) }
}
