//! Nodes, links and flows become a network, or an error that says what does not fit.

use crate::events::TARGETS;
use crate::flow::{FlowSpec, LoopSpec};
use crate::link::{Link, LinkSpec};
use crate::network::{Ends, KINDS, Network, Receiving, Sending, Side};
use crate::schedule::Schedule;
use crate::workload::FlowState;
use crate::{FlowId, LinkId, NodeId};
use millpond_endpoint::{ReceiverEnd, Relay, SenderConfig, SenderEnd};
use millpond_law::{Ecn, Knowledge, Random};
use millpond_units::{Rate, Span, Time};
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
    /// More links or loops than events can tell apart.
    TooLarge,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loops { flow } => write!(f, "flow {flow} needs a loop, and a relay between two loops"),
            Self::Path { flow } => write!(f, "flow {flow} needs links that exist, one at least each way"),
            Self::Gap { flow } => write!(f, "the paths of flow {flow} do not connect"),
            Self::Weight { flow } => write!(f, "the weight of flow {flow} must be positive"),
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
    flows: Vec<FlowSpec>,
}

impl Builder {
    /// An empty network; all its random streams come from `seed` and their owners' names.
    pub fn new(seed: u64) -> Self {
        Self { seed, nodes: 0, links: Vec::new(), flows: Vec::new() }
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

    /// Adds a flow.
    pub fn flow(&mut self, flow: FlowSpec) -> FlowId {
        self.flows.push(flow);
        FlowId(self.flows.len() as u32 - 1)
    }

    /// The network at time zero.
    pub fn build(self) -> Result<Network, BuildError> {
        self.flows.iter().try_for_each(|flow| self.check(flow))?;
        let loops: usize = self.flows.iter().map(|flow| flow.loops.len()).sum();
        if self.links.len() + loops >= (TARGETS / KINDS) as usize {
            return Err(BuildError::TooLarge);
        }
        let weights: Vec<f64> = self.flows.iter().map(|flow| flow.weight).collect();
        let told: Vec<_> =
            self.links.iter().map(|link| link.told.clone().unwrap_or(link.rate.clone())).collect();
        let mut assembly = Assembly {
            seed: self.seed,
            real_links: self.links.len(),
            links: self.links.into_iter().map(|link| link.build(self.seed, &weights)).collect(),
            routes: Vec::new(),
            ends: Ends::default(),
            flows: Vec::new(),
        };
        for flow in self.flows {
            let capacities = flow.loops.iter().map(|spec| Told::of(spec, &told, flow.start)).collect();
            assembly.add_flow(flow, capacities);
        }
        Ok(assembly.finish())
    }

    fn check(&self, flow: &FlowSpec) -> Result<(), BuildError> {
        let name = || flow.name.clone();
        if flow.loops.is_empty() || flow.relays.len() + 1 != flow.loops.len() {
            return Err(BuildError::Loops { flow: name() });
        }
        if !(flow.weight > 0.0 && flow.weight.is_finite()) {
            return Err(BuildError::Weight { flow: name() });
        }
        let mut here = None;
        for spec in &flow.loops {
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

/// What a sender is told of its loop's capacity.
struct Told {
    at_start: Rate,
    /// The least nominal capacity of the links that it does not feed itself.
    beyond: Rate,
}

impl Told {
    /// A link's nominal capacity is the highest that it is told to have. Of the link that it feeds itself a sender
    /// with live knowledge knows the present one.
    fn of(spec: &LoopSpec, told: &[Arc<Schedule>], start: Time) -> Self {
        let schedule = |link: &LinkId| &told[link.0 as usize];
        let beyond = spec.forward.iter().skip(1).map(|link| schedule(link).peak()).min().unwrap_or(Rate::MAX);
        let fed = spec.forward.first().map(schedule);
        let fed = match spec.sending.needs.capacity {
            Knowledge::Live => fed.map(|schedule| schedule.rate_at(start)),
            Knowledge::AtStart | Knowledge::Nothing => fed.map(|schedule| schedule.peak()),
        };
        Self { at_start: fed.unwrap_or(Rate::MAX).min(beyond), beyond }
    }
}

/// The network under construction.
struct Assembly {
    seed: u64,
    links: Vec<Link>,
    real_links: usize,
    routes: Vec<u32>,
    ends: Ends,
    flows: Vec<FlowState>,
}

impl Assembly {
    fn add_flow(&mut self, flow: FlowSpec, told: Vec<Told>) {
        let first = self.ends.senders.len() as u32;
        let source = flow.loops[0].sending;
        for (number, (spec, told)) in flow.loops.into_iter().zip(told).enumerate() {
            let relay = flow.relays.get(number).map(|limit| Relay::new(*limit, spec.sending.packet));
            self.add_loop(&flow.name, number, spec, told, relay);
        }
        let loops = first..self.ends.senders.len() as u32;
        let payload = source.packet.saturating_sub(source.overhead);
        self.flows.push(FlowState::new(flow.name, loops, flow.workload, payload, flow.start, flow.stop));
    }

    fn add_loop(&mut self, flow: &str, number: usize, spec: LoopSpec, told: Told, relay: Option<Relay>) {
        let (index, loop_id) = (self.flows.len() as u32, self.ends.senders.len() as u32);
        let stream = |end: &str| Random::stream(self.seed, &format!("flow {flow} loop {number} {end}"));
        let (to_sender, to_receiver) = (stream("sender"), stream("receiver"));
        let delay = self.delay_element(spec.extra_delay);
        let forward = delay.into_iter().chain(spec.forward.iter().map(|link| link.0));
        let credit = relay.as_ref().map_or(spec.sending.credit, |relay| relay.limit().get());
        self.ends.senders.push(Sending {
            end: SenderEnd::new(SenderConfig { credit, ..spec.sending }, spec.sender, to_sender),
            armed: Time::NEVER,
            route: route(&mut self.routes, forward, Side::Receiver.stop(loop_id)),
            flow: index,
            follows_relay: number > 0,
            first_link: spec.forward[0].0,
            capacity: told.at_start,
            beyond: told.beyond,
            knowledge: spec.sending.needs.capacity,
            meter: Default::default(),
        });
        let backward = spec.backward.iter().map(|link| link.0);
        self.ends.receivers.push(Receiving {
            end: ReceiverEnd::new(spec.receiving, spec.receiver, to_receiver),
            armed: Time::NEVER,
            route: route(&mut self.routes, backward, Side::Sender.stop(loop_id)),
            flow: index,
            ack_ecn: if spec.sending.needs.ecn.is_some() { Ecn::Ect0 } else { Ecn::NotCapable },
            relay,
            meter: Default::default(),
        });
    }

    /// A private line of infinite rate, if there is any delay to make.
    fn delay_element(&mut self, delay: Span) -> Option<u32> {
        if delay.is_zero() {
            return None;
        }
        let spec = LinkSpec::plain(String::new(), NodeId(0), NodeId(0), Rate::MAX, delay);
        self.links.push(spec.build(self.seed, &[]));
        Some(self.links.len() as u32 - 1)
    }

    fn finish(self) -> Network {
        Network::new(self.links, self.real_links, self.routes, self.ends, self.flows)
    }
}

/// Adds a path and its end to the stops of all paths; returns where it begins.
fn route(routes: &mut Vec<u32>, links: impl Iterator<Item = u32>, end: u32) -> u32 {
    let begin = routes.len() as u32;
    routes.extend(links);
    routes.push(end);
    begin
}
