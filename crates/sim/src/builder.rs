//! Nodes, links and flows become a network, or an error that says what does not fit.

use crate::endpoints::{Ends, Owner, Told, lay_routes};
use crate::event_queue::TARGETS;
use crate::flow_spec::{AggregateSpec, FlowSpec, Leg, LoopSpec, TransfersSpec, Workload};
use crate::flow_state::FlowState;
use crate::link::LinkSpec;
use crate::schedule::Schedule;
use crate::simulation::{KINDS, Network, Parts};
use crate::spawn::{Pattern, Spawning};
use crate::stages::{Place, Seat, Taker, seats, shared_places};
use crate::{AggregateId, FlowId, LinkId, NodeId, TransfersId};
use millpond_units::{Bytes, Rate, Span, Time};
use std::fmt;
use std::sync::Arc;

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A flow has no loop, or not one relay less than loops.
    Loops {
        /// The flow.
        flow: String,
    },
    /// A path of a flow has no link, or a link that does not exist.
    Path {
        /// The flow.
        flow: String,
    },
    /// A path of a flow goes over a link that does not begin where the one before it ended, or does not lead back.
    Gap {
        /// The flow.
        flow: String,
    },
    /// A weight is not a positive number.
    Weight {
        /// The flow.
        flow: String,
    },
    /// A flow begins with a loop that it shares, or shares one that does not exist.
    Shared {
        /// The flow.
        flow: String,
    },
    /// More flows share a loop than its packets can tell apart.
    Crowded,
    /// More links or loops than events can tell apart.
    TooLarge,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loops { flow } => {
                write!(f, "flow {flow} needs a loop, and a relay with_stream_ids two loops")
            }
            Self::Path { flow } => write!(f, "flow {flow} needs links that exist, one at least each way"),
            Self::Gap { flow } => write!(f, "the paths of flow {flow} do not connect"),
            Self::Weight { flow } => write!(f, "the weight of flow {flow} must be positive"),
            Self::Shared { flow } => {
                write!(f, "flow {flow} can share loops that exist, its first one with nobody")
            }
            Self::Crowded => write!(f, "more than {} flows share one loop", u16::MAX),
            Self::TooLarge => write!(f, "more than {} links or loops", TARGETS / KINDS),
        }
    }
}

impl std::error::Error for BuildError {}

/// Collects the parts of a [`Network`].
///
/// ```
/// use millpond_sim::{Builder, LinkSpec};
/// use millpond_units::{Rate, Span};
///
/// let mut builder = Builder::new(1);
/// let (left, right) = (builder.node(), builder.node());
/// let (rate, delay) = (Rate::from_mbps(100.0), Span::from_millis(10));
/// let there = builder.link(LinkSpec::plain("L ->", left, right, rate, delay));
/// let back = builder.link(LinkSpec::plain("L <-", right, left, rate, delay));
/// // builder.flow(FlowSpec { .. }) with loops whose `forward` is [there] and whose `backward` is [back]
/// let network = builder.build()?;
/// assert_eq!(network.link(there).name(), "L ->");
/// # Ok::<(), millpond_sim::BuildError>(())
/// ```
pub struct Builder {
    seed: u64,
    nodes: u32,
    links: Vec<LinkSpec>,
    aggregates: Vec<AggregateSpec>,
    flows: Vec<FlowSpec>,
    transfers: Vec<TransfersSpec>,
}

impl Builder {
    /// An empty network; all its random streams come from `seed` and their owners' names.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            nodes: 0,
            links: Vec::new(),
            aggregates: Vec::new(),
            flows: Vec::new(),
            transfers: Vec::new(),
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

    /// Adds a loop for flows to share.
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

    /// The network at time zero.
    pub fn build(self) -> Result<Network, BuildError> {
        for flow in &self.flows {
            let specs = flow.loops.iter().enumerate().map(|(number, leg)| self.spec(leg, number));
            let specs: Option<Vec<_>> = specs.collect();
            let specs = specs.ok_or_else(|| BuildError::Shared { flow: flow.name.clone() })?;
            self.check(&flow.name, &specs, flow.relays.len(), flow.weight)?;
        }
        for spec in &self.transfers {
            let loops = (spec.loops)();
            self.check(&spec.name, &loops.iter().collect::<Vec<_>>(), spec.relays.len(), spec.weight)?;
        }
        let seats = seats(&self.flows, self.aggregates.len()).ok_or(BuildError::Crowded)?;
        let loops = seats.iter().flatten().map(|seat| seat.loop_id as usize + 1).max().unwrap_or(0);
        if self.links.len() + loops >= (TARGETS / KINDS) as usize {
            return Err(BuildError::TooLarge);
        }
        Ok(self.assemble(&seats))
    }

    fn assemble(self, seats: &[Vec<Seat>]) -> Network {
        let Self { seed, links, aggregates, flows, transfers, .. } = self;
        let places = shared_places(&flows, seats, aggregates.len());
        let sum = |places: &Vec<Place>| places.iter().map(|place| place.weight).sum::<f64>();
        let shared = places.iter().map(|places| sum(places).max(f64::MIN_POSITIVE));
        let weights: Vec<f64> = flows.iter().map(|flow| flow.weight).chain(shared).collect();
        let told = links.iter().map(|link| link.told.clone().unwrap_or(link.rate.clone())).collect();
        let parts = Parts {
            real_links: links.len(),
            links: links.into_iter().map(|link| link.build(seed, &weights)).collect(),
            routes: Vec::new(),
            ends: Ends::default(),
            declared_flows: flows.len(),
            flows: Vec::new(),
            spawning: Spawning::new(seed),
        };
        let mut assembly = Assembly { seed, told, parts };
        flows.into_iter().zip(seats).for_each(|(flow, seats)| assembly.add_flow(flow, seats));
        aggregates.into_iter().zip(places).for_each(|(spec, places)| assembly.add_aggregate(spec, &places));
        transfers.into_iter().for_each(|spec| assembly.add_transfers(spec));
        Network::new(assembly.parts)
    }

    /// The loop that a flow takes as its loop of this number.
    fn spec<'a>(&'a self, leg: &'a Leg, number: usize) -> Option<&'a LoopSpec> {
        match leg {
            Leg::Own(spec) => Some(spec),
            Leg::Shared(_) if number == 0 => None,
            Leg::Shared(id) => self.aggregates.get(id.0 as usize).map(|aggregate| &aggregate.shared),
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
        let mut here = None;
        for spec in loops {
            let there = self.ends_of(&spec.forward, name)?;
            let back = self.ends_of(&spec.backward, name)?;
            if there != (back.1, back.0) || here.is_some_and(|here| here != there.0) {
                return Err(BuildError::Gap { flow: name() });
            }
            here = Some(there.1);
        }
        Ok(())
    }

    /// Where a path begins and ends.
    fn ends_of(&self, path: &[LinkId], flow: impl Fn() -> String) -> Result<(NodeId, NodeId), BuildError> {
        let links: Option<Vec<_>> = path.iter().map(|link| self.links.get(link.0 as usize)).collect();
        match links.as_deref() {
            None | Some([]) => Err(BuildError::Path { flow: flow() }),
            Some(links) if links.windows(2).any(|pair| pair[0].to != pair[1].from) => {
                Err(BuildError::Gap { flow: flow() })
            }
            Some([only]) => Ok((only.from, only.to)),
            Some([first, .., last]) => Ok((first.from, last.to)),
        }
    }
}

/// The network under construction.
struct Assembly {
    seed: u64,
    told: Vec<Arc<Schedule>>,
    parts: Parts,
}

impl Assembly {
    /// Adds a flow with the loops that are its own.
    fn add_flow(&mut self, flow: FlowSpec, seats: &[Seat]) {
        let index = self.parts.flows.len() as u32;
        let (weight, start, relays) = (flow.weight, flow.start, &flow.relays[..]);
        let taker = Taker { flow: index, weight, start, relays, seats };
        let mut payload = Bytes::ZERO;
        for (number, leg) in flow.loops.into_iter().enumerate() {
            let Leg::Own(spec) = leg else { continue };
            if number == 0 {
                payload = spec.sending.packet.saturating_sub(spec.sending.overhead);
            }
            let (name, places) = (format!("flow {} loop {number}", flow.name), [taker.place(number)]);
            let owner = Owner { seed: self.seed, name: &name, flow: index, places: &places, shared: false };
            self.add_loop(&owner, spec);
        }
        let seats = seats.to_vec();
        let state = FlowState::new(flow.name, seats, flow.workload, payload, flow.start, flow.stop);
        self.parts.flows.push(state);
    }

    /// Adds a shared loop, and a flow without loops that stands for those who share it.
    fn add_aggregate(&mut self, aggregate: AggregateSpec, places: &[Place]) {
        let (name, flow) = (format!("aggregate {}", aggregate.name), self.parts.flows.len() as u32);
        let owner = Owner { seed: self.seed, name: &name, flow, places, shared: true };
        self.add_loop(&owner, aggregate.shared);
        let nothing = (Vec::new(), Workload::Bulk, Bytes::ZERO);
        self.parts.flows.push(FlowState::new(name, nothing.0, nothing.1, nothing.2, Time::NEVER, None));
    }

    fn add_loop(&mut self, owner: &Owner<'_>, spec: LoopSpec) {
        let start = owner.places.iter().map(|place| place.start).min().unwrap_or(Time::ZERO);
        let told = Told::of(&spec, &self.told, start);
        let delay = self.delay_element(spec.extra_delay);
        let Parts { ends, routes, .. } = &mut self.parts;
        let loop_id = ends.senders.len() as u32;
        ends.put(owner, loop_id, spec, told, |spec| lay_routes(routes, loop_id, delay, spec));
    }

    fn add_transfers(&mut self, spec: TransfersSpec) {
        let pattern = (spec.loops)();
        let loops = pattern.iter().map(|one| Pattern {
            told: Told::of(one, &self.told, Time::ZERO),
            delay: self.delay_element(one.extra_delay),
            first_link: one.forward[0].0,
            knowledge: one.sending.needs.capacity,
        });
        let loops = loops.collect();
        self.parts.spawning.add(spec, loops);
    }

    /// A private line of infinite rate, if there is any delay to make.
    fn delay_element(&mut self, delay: Span) -> Option<u32> {
        if delay.is_zero() {
            return None;
        }
        let spec = LinkSpec::plain(String::new(), NodeId(0), NodeId(0), Rate::MAX, delay);
        self.parts.links.push(spec.build(self.seed, &[]));
        Some(self.parts.links.len() as u32 - 1)
    }
}
