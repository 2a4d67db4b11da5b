//! Nodes, links and flows become a network, or an error that says what does not fit.

use crate::ends::{Ends, Owner, Told, lay_routes};
use crate::events::TARGETS;
use crate::flow::{FlowSpec, LoopSpec, TransfersSpec};
use crate::link::LinkSpec;
use crate::network::{KINDS, Network, Parts};
use crate::schedule::Schedule;
use crate::spawning::{Pattern, Spawning};
use crate::workload::FlowState;
use crate::{FlowId, LinkId, NodeId, TransfersId};
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
    transfers: Vec<TransfersSpec>,
}

impl Builder {
    /// An empty network; all its random streams come from `seed` and their owners' names.
    pub fn new(seed: u64) -> Self {
        Self { seed, nodes: 0, links: Vec::new(), flows: Vec::new(), transfers: Vec::new() }
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

    /// Adds a source of transfers.
    pub fn transfers(&mut self, transfers: TransfersSpec) -> TransfersId {
        self.transfers.push(transfers);
        TransfersId(self.transfers.len() as u32 - 1)
    }

    /// The network at time zero.
    pub fn build(self) -> Result<Network, BuildError> {
        for flow in &self.flows {
            self.check(&flow.name, &flow.loops, flow.relays.len(), flow.weight)?;
        }
        for spec in &self.transfers {
            self.check(&spec.name, &(spec.loops)(), spec.relays.len(), spec.weight)?;
        }
        let loops: usize = self.flows.iter().map(|flow| flow.loops.len()).sum();
        if self.links.len() + loops >= (TARGETS / KINDS) as usize {
            return Err(BuildError::TooLarge);
        }
        let weights: Vec<f64> = self.flows.iter().map(|flow| flow.weight).collect();
        let told = self.links.iter().map(|link| link.told.clone().unwrap_or(link.rate.clone())).collect();
        let parts = Parts {
            real_links: self.links.len(),
            links: self.links.into_iter().map(|link| link.build(self.seed, &weights)).collect(),
            routes: Vec::new(),
            ends: Ends::default(),
            flows: Vec::new(),
            spawning: Spawning::new(self.seed),
        };
        let mut assembly = Assembly { seed: self.seed, told, parts };
        self.flows.into_iter().for_each(|flow| assembly.add_flow(flow));
        self.transfers.into_iter().for_each(|spec| assembly.add_transfers(spec));
        Ok(Network::new(assembly.parts))
    }

    fn check(&self, name: &str, loops: &[LoopSpec], relays: usize, weight: f64) -> Result<(), BuildError> {
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
    fn add_flow(&mut self, flow: FlowSpec) {
        let (index, first) = (self.parts.flows.len() as u32, self.parts.ends.senders.len() as u32);
        let source = flow.loops[0].sending;
        let owner = Owner { seed: self.seed, name: &flow.name, flow: index };
        let loops = first..first + flow.loops.len() as u32;
        for ((number, spec), loop_id) in flow.loops.into_iter().enumerate().zip(loops.clone()) {
            let told = Told::of(&spec, &self.told, flow.start);
            let delay = self.delay_element(spec.extra_delay);
            let Parts { ends, routes, .. } = &mut self.parts;
            let relay = flow.relays.get(number).copied();
            ends.put(&owner, (number, loop_id), spec, (told, relay), |spec| {
                lay_routes(routes, loop_id, delay, spec)
            });
        }
        let payload = source.packet.saturating_sub(source.overhead);
        let state = FlowState::new(flow.name, loops, flow.workload, payload, flow.start, flow.stop);
        self.parts.flows.push(state);
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
