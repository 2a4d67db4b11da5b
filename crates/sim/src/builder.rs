//! Builds a network from nodes, links and flows, and checks that they fit together.

use crate::applications::{ApplicationSpec, ApplicationState};
use crate::delivery::Delivery;
use crate::endpoints::{Endpoints, LoopOwner, PathCapacity, add_routes};
use crate::event_kind::INDEX_LIMIT;
use crate::flow_spec::{AggregateSpec, FlowLoop, FlowSpec, LoopSpec, TransfersSpec, Workload};
use crate::flow_state::FlowState;
use crate::link::LinkSpec;
use crate::packet_network::{PacketNetwork, Parts};
use crate::schedule::Schedule;
use crate::stages::{FlowStage, FlowStreams, StreamRef, assign_streams, shared_stages};
use crate::transfers::{Pattern, Spawning};
use crate::{AggregateId, ApplicationId, FlowId, LinkId, NodeId, TransfersId};
use millpond_law::QueuedFlow;
use millpond_units::{Bytes, Rate, Span, Time};
use std::fmt;
use std::sync::Arc;

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A flow has no loop, or the number of its relays is not the number of its loops less one.
    Loops {
        /// The flow.
        flow: String,
    },
    /// A path of a flow is empty, or contains an unknown link.
    Path {
        /// The flow.
        flow: String,
    },
    /// Consecutive links of a path do not share a node, or the backward path does not return to the sender.
    Disconnected {
        /// The flow.
        flow: String,
    },
    /// A weight is not positive and finite.
    Weight {
        /// The flow.
        flow: String,
    },
    /// The first loop of a flow is a shared one, or a shared loop is unknown.
    Shared {
        /// The flow.
        flow: String,
    },
    /// More flows share a loop than a stream number of 16 bits can distinguish.
    TooManyStreams,
    /// More entities of one kind than an event target can distinguish.
    TooMany {
        /// The kind: `"links"`.
        kind: &'static str,
        /// How many there are.
        count: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loops { flow } => {
                write!(f, "flow {flow}: needs at least one loop, and one relay fewer than loops")
            }
            Self::Path { flow } => write!(f, "flow {flow}: a path is empty or contains an unknown link"),
            Self::Disconnected { flow } => write!(f, "flow {flow}: the links of its paths do not connect"),
            Self::Weight { flow } => write!(f, "flow {flow}: the weight must be positive"),
            Self::Shared { flow } => {
                write!(f, "flow {flow}: a shared loop is unknown or the first loop")
            }
            Self::TooManyStreams => write!(f, "more than {} flows share one loop", u16::MAX),
            Self::TooMany { kind, count } => {
                write!(f, "{count} {kind} are too many: a network has at most {}", INDEX_LIMIT - 1)
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Collects the parts of a [`PacketNetwork`].
///
/// ```
/// use millpond_sim::{Builder, LinkSpec};
/// use millpond_units::{Rate, Span};
///
/// let mut builder = Builder::new(1);
/// let (left, right) = (builder.node(), builder.node());
/// let (rate, delay) = (Rate::from_mbps(100.0), Span::from_millis(10));
/// let forward = builder.link(LinkSpec::plain("L ->", left, right, rate, delay));
/// let backward = builder.link(LinkSpec::plain("L <-", right, left, rate, delay));
/// // builder.flow(FlowSpec { .. }) with loops whose `forward` is [forward] and whose `backward` is [backward]
/// let network = builder.build()?;
/// assert_eq!(network.link(forward).name(), "L ->");
/// # Ok::<(), millpond_sim::BuildError>(())
/// ```
pub struct Builder {
    seed: u64,
    nodes: u32,
    links: Vec<LinkSpec>,
    aggregates: Vec<AggregateSpec>,
    flows: Vec<FlowSpec>,
    transfers: Vec<TransfersSpec>,
    applications: Vec<ApplicationSpec>,
}

impl Builder {
    /// An empty network. Its random streams derive from `seed` and the names of their owners.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            nodes: 0,
            links: Vec::new(),
            aggregates: Vec::new(),
            flows: Vec::new(),
            transfers: Vec::new(),
            applications: Vec::new(),
        }
    }

    /// Adds a node.
    pub fn node(&mut self) -> NodeId {
        self.nodes += 1;
        NodeId(self.nodes - 1)
    }

    /// Adds one direction of a link.
    pub fn link(&mut self, link: LinkSpec) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a loop that flows can share.
    pub fn aggregate(&mut self, aggregate: AggregateSpec) -> AggregateId {
        self.aggregates.push(aggregate);
        AggregateId(self.aggregates.len() as u32 - 1)
    }

    /// Adds a flow.
    pub fn flow(&mut self, flow: FlowSpec) -> FlowId {
        self.flows.push(flow);
        FlowId(self.flows.len() as u32 - 1)
    }

    /// Adds a source of transfers.
    pub fn transfers(&mut self, transfers: TransfersSpec) -> TransfersId {
        self.transfers.push(transfers);
        TransfersId(self.transfers.len() as u32 - 1)
    }

    /// Adds an application of flows that were added before.
    pub fn application(&mut self, application: ApplicationSpec) -> ApplicationId {
        self.applications.push(application);
        ApplicationId(self.applications.len() as u32 - 1)
    }

    /// Checks all parts and returns the network at time zero.
    pub fn build(self) -> Result<PacketNetwork, BuildError> {
        self.build_below(INDEX_LIMIT as usize)
    }

    /// The same where each kind of entities has fewer than `limit`.
    fn build_below(self, limit: usize) -> Result<PacketNetwork, BuildError> {
        for flow in &self.flows {
            let specs = flow.loops.iter().enumerate().map(|(number, flow_loop)| self.spec(flow_loop, number));
            let specs: Option<Vec<_>> = specs.collect();
            let specs = specs.ok_or_else(|| BuildError::Shared { flow: flow.name.clone() })?;
            self.check(&flow.name, &specs, flow.relays.len(), flow.weight)?;
        }
        for spec in &self.transfers {
            let loops = (spec.loops)();
            self.check(&spec.name, &loops.iter().collect::<Vec<_>>(), spec.relays.len(), spec.weight)?;
        }
        self.check_counts(limit)?;
        let streams = assign_streams(&self.flows, self.aggregates.len()).ok_or(BuildError::TooManyStreams)?;
        Ok(self.assemble(&streams))
    }

    fn assemble(self, streams: &[Vec<StreamRef>]) -> PacketNetwork {
        let Self { seed, links, aggregates, flows, transfers, applications, .. } = self;
        let stages = shared_stages(&flows, streams, aggregates.len());
        let sum = |stages: &Vec<FlowStage>| stages.iter().map(|stage| stage.weight).sum::<f64>();
        let shared = aggregates.iter().zip(&stages).map(|(aggregate, stages)| {
            QueuedFlow::new(&format!("aggregate {}", aggregate.name), sum(stages).max(f64::MIN_POSITIVE))
        });
        let queued: Vec<_> =
            flows.iter().map(|flow| QueuedFlow::new(&flow.name, flow.weight)).chain(shared).collect();
        let configured =
            links.iter().map(|link| link.configured_capacity.clone().unwrap_or(link.rate.clone())).collect();
        let sizes = Sizes::of(&flows, &aggregates);
        let mut parts = Parts {
            tails: links.iter().map(|link| link.from).collect(),
            endpoints: Endpoints::new(links.iter().map(|link| link.router(seed)), sizes.loops),
            links: Vec::with_capacity(links.len() + sizes.delays),
            routes: Vec::with_capacity(sizes.stops),
            declared_flows: flows.len(),
            flows: Vec::with_capacity(flows.len() + aggregates.len()),
            spawning: Spawning::new(seed),
            applications: Vec::new(),
        };
        parts.links.extend(links.into_iter().map(|link| link.build(seed, &queued)));
        let mut assembly = NetworkAssembly { seed, configured, parts };
        flows.into_iter().zip(streams).for_each(|(flow, streams)| assembly.add_flow(flow, streams));
        aggregates.into_iter().zip(stages).for_each(|(spec, stages)| assembly.add_aggregate(spec, &stages));
        transfers.into_iter().for_each(|spec| assembly.add_transfers(spec));
        applications.into_iter().for_each(|spec| assembly.add_application(spec));
        PacketNetwork::new(assembly.parts)
    }

    /// Checks that event targets can distinguish the entities of each kind: there are fewer than `limit`. The count of a
    /// later kind contains those of earlier ones, so that the most specific kind is reported.
    fn check_counts(&self, limit: usize) -> Result<(), BuildError> {
        let Sizes { loops, .. } = Sizes::of(&self.flows, &self.aggregates);
        let transferring: usize = self.transfers.iter().map(|spec| (spec.loops)().len()).sum();
        let counts = [
            ("applications", self.applications.len()),
            ("sources of transfers", self.transfers.len()),
            ("flows", self.flows.len() + self.aggregates.len()),
            ("loops", loops),
            // Each loop may have a delay element, which is a link.
            ("links and delays of flows", self.links.len() + loops + transferring),
        ];
        let exceeded = counts.into_iter().find(|&(_, count)| count >= limit);
        exceeded.map_or(Ok(()), |(kind, count)| Err(BuildError::TooMany { kind, count }))
    }

    /// The specification of the loop with this number of a flow; none if it is unknown or a shared first loop.
    fn spec<'a>(&'a self, flow_loop: &'a FlowLoop, number: usize) -> Option<&'a LoopSpec> {
        match flow_loop {
            FlowLoop::Own(spec) => Some(spec),
            FlowLoop::Shared(_) if number == 0 => None,
            FlowLoop::Shared(id) => self.aggregates.get(id.0 as usize).map(|aggregate| &aggregate.shared),
        }
    }

    fn check(&self, name: &str, loops: &[&LoopSpec], relays: usize, weight: f64) -> Result<(), BuildError> {
        let name = || name.to_owned();
        if loops.is_empty() || relays + 1 != loops.len() {
            return Err(BuildError::Loops { flow: name() });
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(BuildError::Weight { flow: name() });
        }
        let mut node = None;
        for spec in loops {
            let forward = self.path_nodes(&spec.forward, name)?;
            let backward = self.path_nodes(&spec.backward, name)?;
            if forward != (backward.1, backward.0) || node.is_some_and(|node| node != forward.0) {
                return Err(BuildError::Disconnected { flow: name() });
            }
            node = Some(forward.1);
        }
        Ok(())
    }

    /// First and last node of a path.
    fn path_nodes(&self, path: &[LinkId], flow: impl Fn() -> String) -> Result<(NodeId, NodeId), BuildError> {
        let links: Option<Vec<_>> = path.iter().map(|link| self.links.get(link.0 as usize)).collect();
        match links.as_deref() {
            None | Some([]) => Err(BuildError::Path { flow: flow() }),
            Some(links) if links.windows(2).any(|pair| pair[0].to != pair[1].from) => {
                Err(BuildError::Disconnected { flow: flow() })
            }
            Some([only]) => Ok((only.from, only.to)),
            Some([first, .., last]) => Ok((first.from, last.to)),
        }
    }
}

/// Numbers of what the flows need, so that large networks take no more memory than that.
#[derive(Default)]
struct Sizes {
    loops: usize,
    /// Entries of their routes.
    stops: usize,
    /// Loops with a delay element.
    delays: usize,
}

impl Sizes {
    fn of(flows: &[FlowSpec], aggregates: &[AggregateSpec]) -> Self {
        let of_flows = flows.iter().flat_map(|flow| &flow.loops).filter_map(|flow_loop| match flow_loop {
            FlowLoop::Own(spec) => Some(&**spec),
            FlowLoop::Shared(_) => None,
        });
        let mut sizes = Self::default();
        for spec in of_flows.chain(aggregates.iter().map(|aggregate| &aggregate.shared)) {
            let delay = usize::from(!spec.extra_delay.is_zero());
            sizes.loops += 1;
            sizes.stops += delay + spec.forward.len() + spec.backward.len() + 2;
            sizes.delays += delay;
        }
        sizes
    }
}

/// The network under construction.
struct NetworkAssembly {
    seed: u64,
    configured: Vec<Arc<Schedule>>,
    parts: Parts,
}

impl NetworkAssembly {
    /// Adds a flow and those of its loops that are not shared.
    fn add_flow(&mut self, flow: FlowSpec, streams: &[StreamRef]) {
        let index = self.parts.flows.len() as u32;
        let (weight, start, relays) = (flow.weight, flow.start, &flow.relays[..]);
        let flow_streams = FlowStreams { flow: index, weight, start, relays, streams };
        let mut payload = Bytes::ZERO;
        for (number, flow_loop) in flow.loops.into_iter().enumerate() {
            let FlowLoop::Own(spec) = flow_loop else { continue };
            if number == 0 {
                payload = spec.sender_config.packet.saturating_sub(spec.sender_config.overhead);
            }
            let (name, stages) = (format!("flow {} loop {number}", flow.name), [flow_streams.stage(number)]);
            let owner =
                LoopOwner { seed: self.seed, name: &name, flow: index, stages: &stages, shared: false };
            self.add_loop(&owner, *spec);
        }
        let streams = streams.to_vec();
        let state = FlowState::new(flow.name, streams, flow.workload, payload, flow.start, flow.stop);
        self.parts.flows.push(state);
    }

    /// Adds a shared loop, and a flow without loops that represents all flows that share it.
    fn add_aggregate(&mut self, aggregate: AggregateSpec, stages: &[FlowStage]) {
        let (name, flow) = (format!("aggregate {}", aggregate.name), self.parts.flows.len() as u32);
        let owner = LoopOwner { seed: self.seed, name: &name, flow, stages, shared: true };
        self.add_loop(&owner, aggregate.shared);
        let nothing = (Vec::new(), Workload::Bulk, Bytes::ZERO);
        self.parts.flows.push(FlowState::new(name, nothing.0, nothing.1, nothing.2, Time::NEVER, None));
    }

    fn add_loop(&mut self, owner: &LoopOwner<'_>, spec: LoopSpec) {
        let start = owner.stages.iter().map(|stage| stage.start).min().unwrap_or(Time::ZERO);
        let configured = PathCapacity::of(&spec, &self.configured, start);
        let delay = self.delay_element(spec.extra_delay);
        let Parts { endpoints, routes, .. } = &mut self.parts;
        let loop_id = endpoints.senders.len() as u32;
        endpoints.put(owner, loop_id, spec, configured, |spec, host| {
            add_routes(routes, loop_id, delay, spec, host)
        });
    }

    fn add_transfers(&mut self, spec: TransfersSpec) {
        let pattern = (spec.loops)();
        let loops = pattern.iter().map(|one| Pattern {
            configured: PathCapacity::of(one, &self.configured, Time::ZERO),
            delay: self.delay_element(one.extra_delay),
            first_link: one.forward[0].0,
            knowledge: one.sender_config.needs.capacity,
        });
        let loops = loops.collect();
        self.parts.spawning.add(spec, loops);
    }

    /// Adds an application: it receives the data of its flows.
    fn add_application(&mut self, spec: ApplicationSpec) {
        let Parts { endpoints, flows, applications, .. } = &mut self.parts;
        let application = applications.len() as u32;
        let known = || spec.flows.iter().filter_map(|id| flows.get(id.0 as usize)).map(FlowState::streams);
        for (connection, streams) in (0..).zip(known()) {
            if let Some(last) = streams.last() {
                let receiver = &mut endpoints.receivers[last.loop_id as usize];
                receiver.stream_mut(last.stream_id).delivery = Delivery::Watched { application, connection };
            }
        }
        let sources = known().filter_map(|streams| streams.first().copied()).collect();
        let ApplicationSpec { start: scheduled, until, application, .. } = spec;
        applications.push(ApplicationState { sources, until, application, scheduled, supplied: Vec::new() });
    }

    /// A link of infinite rate that adds `delay`; none if `delay` is zero.
    fn delay_element(&mut self, delay: Span) -> Option<u32> {
        if delay.is_zero() {
            return None;
        }
        let spec = LinkSpec::plain(String::new(), NodeId(0), NodeId(0), Rate::MAX, delay);
        self.parts.links.push(spec.build(self.seed, &[]));
        Some(self.parts.links.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applications::{Application, Connections};
    use crate::transfers::Transfer;
    use millpond_endpoint::{ReceiverConfig, RelayBuffer, SenderConfig};
    use millpond_law::{Ack, Congestion, Context, Needs, Permit, PlainReceiver, Sender};

    struct Idle;

    impl Sender for Idle {
        fn on_ack(&mut self, _: &mut Context<'_>, _: &Ack) {}
        fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
        fn permit(&self) -> Permit {
            Permit::default()
        }
    }

    impl Application for Idle {
        fn on_time(&mut self, _: Time, _: &mut dyn Connections) {}
        fn on_arrival(&mut self, _: Time, _: usize, _: Bytes, _: &mut dyn Connections) {}
        fn next(&self) -> Time {
            Time::NEVER
        }
        fn transfers(&self) -> &[Transfer] {
            &[]
        }
    }

    fn one_loop([there, back]: [LinkId; 2]) -> LoopSpec {
        LoopSpec {
            sender: Box::new(Idle),
            receiver: Box::new(PlainReceiver),
            sender_config: SenderConfig::new(Bytes::new(1000), Needs::default()),
            receiver_config: ReceiverConfig::default(),
            forward: vec![there],
            backward: vec![back],
            extra_delay: Span::ZERO,
            host_processing: Span::ZERO,
        }
    }

    /// A network of two links, and the links of the paths from left to right and from right to left.
    fn duplex() -> (Builder, [LinkId; 2], [LinkId; 2]) {
        let mut builder = Builder::new(1);
        let (left, right) = (builder.node(), builder.node());
        let mut link = |name, from, to| {
            builder.link(LinkSpec::plain(name, from, to, Rate::from_mbps(8.0), Span::from_millis(1)))
        };
        let (there, back) = (link("->", left, right), link("<-", right, left));
        (builder, [there, back], [back, there])
    }

    fn flow(loops: Vec<FlowLoop>) -> FlowSpec {
        FlowSpec {
            name: "f".into(),
            weight: 1.0,
            relays: vec![RelayBuffer::Size(Bytes::new(10_000)); loops.len() - 1],
            loops,
            workload: Workload::Bulk,
            start: Time::ZERO,
            stop: None,
        }
    }

    /// The kind and the count that `build_below(limit)` refuses.
    fn refused(builder: Builder, limit: usize) -> Option<(&'static str, usize)> {
        match builder.build_below(limit) {
            Ok(_) => None,
            Err(BuildError::TooMany { kind, count }) => Some((kind, count)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn more_entities_of_a_kind_than_targets_are_refused() {
        type Loops = fn([LinkId; 2], [LinkId; 2]) -> Vec<FlowLoop>;
        let with_flows = |loops: &[Loops]| {
            let (mut builder, right, left) = duplex();
            for loops in loops {
                builder.flow(flow(loops(right, left)));
            }
            builder
        };
        let single = |right, _| vec![one_loop(right).into()];
        let chain = |right, left| vec![one_loop(right).into(), one_loop(left).into()];
        assert_eq!(refused(with_flows(&[single]), 4), None);
        assert_eq!(refused(with_flows(&[single]), 3), Some(("links and delays of flows", 3)));
        assert_eq!(refused(with_flows(&[single, single]), 2), Some(("flows", 2)));
        assert_eq!(refused(with_flows(&[chain]), 2), Some(("loops", 2)));
    }

    #[test]
    fn shared_loops_count_as_flows_and_loops_also_where_no_flow_uses_them() {
        let (mut builder, right, left) = duplex();
        builder.flow(flow(vec![one_loop(right).into()]));
        builder.aggregate(AggregateSpec { name: "shared".into(), shared: one_loop(left) });
        assert_eq!(refused(builder, 4), Some(("links and delays of flows", 4)));
    }

    #[test]
    fn more_applications_and_sources_of_transfers_than_targets_are_refused() {
        let (mut builder, right, _) = duplex();
        for _ in 0..2 {
            builder.transfers(TransfersSpec {
                name: "t".into(),
                weight: 1.0,
                loops: Box::new(move || vec![one_loop(right)]),
                relays: Vec::new(),
                arrivals: Box::new(std::iter::empty()),
            });
        }
        assert_eq!(refused(builder, 2), Some(("sources of transfers", 2)));
        let (mut builder, ..) = duplex();
        for _ in 0..2 {
            let (start, until) = (Time::ZERO, Time::NEVER);
            builder.application(ApplicationSpec {
                flows: Vec::new(),
                start,
                until,
                application: Box::new(Idle),
            });
        }
        assert_eq!(refused(builder, 2), Some(("applications", 2)));
    }

    #[test]
    fn a_refusal_states_count_and_limit() {
        let refused = BuildError::TooMany { kind: "links", count: INDEX_LIMIT as usize };
        assert_eq!(refused.to_string(), "16777216 links are too many: a network has at most 16777215");
    }

    #[test]
    fn the_lists_of_a_network_have_room_for_its_parts_and_no_more() {
        let (mut builder, right, left) = duplex();
        let delayed = LoopSpec { extra_delay: Span::from_millis(3), ..one_loop(left) };
        let shared = builder.aggregate(AggregateSpec { name: "shared".into(), shared: delayed });
        builder.flow(flow(vec![one_loop(right).into(), FlowLoop::Shared(shared)]));
        let delayed = LoopSpec { extra_delay: Span::from_millis(2), ..one_loop(right) };
        builder.flow(flow(vec![delayed.into(), one_loop(left).into()]));
        let PacketNetwork { links, routes, endpoints, flows, .. } = builder.build().unwrap();
        let Endpoints { senders, receivers, processors, .. } = endpoints;
        assert_eq!((links.len(), links.capacity()), (4, 4));
        assert_eq!((routes.len(), routes.capacity()), (18, 18));
        assert_eq!((senders.len(), senders.capacity(), receivers.capacity()), (4, 4, 4));
        assert_eq!((processors.len(), processors.capacity()), (7, 7));
        assert_eq!((flows.len(), flows.capacity()), (3, 3));
    }

    #[test]
    fn more_flows_in_a_shared_loop_than_streams_are_refused() {
        let (mut builder, right, left) = duplex();
        let shared = builder.aggregate(AggregateSpec { name: "shared".into(), shared: one_loop(left) });
        for _ in 0..=u16::MAX {
            builder.flow(flow(vec![one_loop(right).into(), FlowLoop::Shared(shared)]));
        }
        assert_eq!(builder.build().err(), Some(BuildError::TooManyStreams));
    }
}
