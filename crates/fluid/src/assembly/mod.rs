//! A network as equations: flows grouped into classes by law, links grouped into sets by law, hops with their delays,
//! and the position of every state and channel.

mod build;
mod check;
mod layout;

pub(crate) use layout::{Channels, Offsets};
pub use layout::{Entity, SolutionColumn};

use crate::network::{CapacityStep, ConfiguredCapacity, LoopId, Relay};
use millpond_law::fluid::{LinkLaws, SenderLaws, State, Verdicts};
use std::ops::Range;

/// Number of consecutive flows of a class that the fixed-step scheme advances together, such that their data fit into the
/// cache.
pub(crate) const FLOWS_IN_BLOCK: usize = 256;

/// Flows under one law, evaluated together.
pub(crate) struct SenderClass {
    pub(crate) law: Box<dyn SenderLaws>,
    /// The loops, in the order of the law object's flows.
    pub(crate) loops: Vec<usize>,
    /// Index of the first state; `width` states per flow.
    pub(crate) first_state: usize,
    pub(crate) width: usize,
    /// Index of the first discrete state.
    pub(crate) first_discrete: usize,
    /// Index of the first carried quantity among the channels.
    pub(crate) first_carried: usize,
    pub(crate) protocol: usize,
}

/// The range of block number `place` of consecutive blocks of equal width.
fn block(first: usize, width: usize, place: usize) -> Range<usize> {
    let first = first + place * width;
    first..first + width
}

impl SenderClass {
    /// The range of one flow's states.
    pub(crate) fn states_of(&self, place: usize) -> Range<usize> {
        block(self.first_state, self.width, place)
    }

    /// The range of one flow's discrete states.
    pub(crate) fn discrete_of(&self, place: usize) -> Range<usize> {
        block(self.first_discrete, self.law.discrete().len(), place)
    }
}

/// The role of a law at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The router of this protocol.
    Router(usize),
    /// The queue law.
    Queue(Verdicts),
}

/// Links under one law, evaluated together.
pub(crate) struct LinkSet {
    pub(crate) law: Box<dyn LinkLaws>,
    /// The links, in the order of the law object's links.
    pub(crate) links: Vec<usize>,
    pub(crate) first_state: usize,
    pub(crate) width: usize,
    /// Index of the first discrete state.
    pub(crate) first_discrete: usize,
    /// Index of the first signal among the channels.
    pub(crate) first_signal: usize,
    pub(crate) role: Role,
    /// Number of quantities that the senders of its protocol carry.
    pub(crate) carried: usize,
}

impl LinkSet {
    /// The range of one link's states.
    pub(crate) fn states_of(&self, place: usize) -> Range<usize> {
        block(self.first_state, self.width, place)
    }

    /// The range of one link's discrete states.
    pub(crate) fn discrete_of(&self, place: usize) -> Range<usize> {
        block(self.first_discrete, self.law.discrete().len(), place)
    }

    /// The protocol of a router. None for a queue law, which treats all traffic as its own.
    pub(crate) fn protocol(&self) -> Option<usize> {
        match self.role {
            Role::Router(protocol) => Some(protocol),
            Role::Queue(_) => None,
        }
    }

    /// For a queue law: whether it marks or drops.
    pub(crate) fn verdicts(&self) -> Option<Verdicts> {
        match self.role {
            Role::Router(_) => None,
            Role::Queue(verdicts) => Some(verdicts),
        }
    }
}

/// Where a law at a link is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkLaw {
    /// Index of its link set.
    pub(crate) set: usize,
    /// Position in the set.
    pub(crate) place: usize,
}

/// The router of a protocol at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouterData {
    pub(crate) protocol: usize,
    pub(crate) law: LinkLaw,
}

/// The engine's own data of a link.
pub(crate) struct LinkData {
    pub(crate) name: String,
    /// Initial capacity, in bit/s.
    pub(crate) capacity: f64,
    /// The capacity with which laws compute.
    pub(crate) configured: ConfiguredCapacity,
    /// Buffer, in bits.
    pub(crate) buffer: f64,
    pub(crate) queue: Option<LinkLaw>,
    pub(crate) routers: Vec<RouterData>,
}

/// The engine's own data of a loop.
pub(crate) struct LoopData {
    pub(crate) name: String,
    pub(crate) protocol: usize,
    pub(crate) class: usize,
    /// Position in its class.
    pub(crate) place: usize,
    pub(crate) base_rtt: f64,
    pub(crate) count: f64,
    pub(crate) start: Option<f64>,
    /// If it begins at a relay, the stop time of the first loop of its chain; it sends what the relay holds after that.
    pub(crate) stop: Option<f64>,
    pub(crate) ecn: bool,
    /// The range of its hops in [`Assembly::hops`].
    pub(crate) hops: Range<usize>,
    /// The relay at its end.
    pub(crate) end_relay: Option<usize>,
    /// The relay at its beginning, whose backlog it sends.
    pub(crate) start_relay: Option<usize>,
    /// Its role in the sharing of loops; indices refer to [`Assembly::shared_loops`].
    pub(crate) role: LoopRole,
}

/// The role of a loop in the sharing of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoopRole {
    /// It is not shared; it belongs to one flow, or to each of several equal flows.
    #[default]
    Unshared,
    /// It is shared: its law determines the total rate of several flows.
    Shared(usize),
    /// It is one flow's share of a shared loop, or that of each of several equal flows.
    FlowOf(usize),
}

/// A loop that several flows share.
pub(crate) struct SharedLoop {
    /// The loop whose law determines the total rate.
    pub(crate) loop_id: usize,
    pub(crate) flows: Vec<SharedFlow>,
}

/// Equal flows that share a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SharedFlow {
    /// The loop that represents their share.
    pub(crate) loop_id: usize,
    /// The relay at which the share begins.
    pub(crate) relay: usize,
    /// Number of flows.
    pub(crate) count: f64,
    /// Weight of each flow.
    pub(crate) weight: f64,
    /// Index of their presence indicator among [`Channels::present`].
    pub(crate) presence: usize,
}

/// One loop at one link. Delays are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HopData {
    pub(crate) link: usize,
    pub(crate) forward: f64,
    pub(crate) backward: f64,
    /// The loop's own router here.
    pub(crate) router: Option<LinkLaw>,
    /// Index of the router's first signal among the channels, and the number of signals.
    pub(crate) first_signal: usize,
    pub(crate) signals: usize,
}

/// A network as equations.
pub struct Assembly {
    pub(crate) sender_classes: Vec<SenderClass>,
    pub(crate) link_sets: Vec<LinkSet>,
    pub(crate) links: Vec<LinkData>,
    pub(crate) loops: Vec<LoopData>,
    pub(crate) hops: Vec<HopData>,
    pub(crate) relays: Vec<Relay>,
    /// The relays with a limited buffer.
    pub(crate) credits: Vec<usize>,
    /// In seconds, the shortest delay from a link to the relay at the end of a loop.
    shortest_to_relay: f64,
    pub(crate) shared_loops: Vec<SharedLoop>,
    pub(crate) steps: Vec<CapacityStep>,
    pub(crate) offsets: Offsets,
    pub(crate) channels: Channels,
    /// In the order of the state vector.
    pub(crate) states: Vec<State>,
    /// Number of discrete states of laws.
    pub(crate) discrete: usize,
}

impl Assembly {
    /// Number of states: those of all laws, a queue for each link, a backlog for each relay, and two for each relay with a limited
    /// buffer: its credit, and what the loop before it has in queues.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The initial states.
    pub fn initial(&self) -> Vec<f64> {
        self.states.iter().map(|state| state.initial).collect()
    }

    /// The initial discrete states of all laws.
    pub(crate) fn initial_discrete(&self) -> Vec<u64> {
        let mut discrete = vec![0; self.discrete];
        for class in &self.sender_classes {
            for place in 0..class.loops.len() {
                class.law.initial_discrete(place, &mut discrete[class.discrete_of(place)]);
            }
        }
        for set in &self.link_sets {
            for place in 0..set.links.len() {
                set.law.initial_discrete(place, &mut discrete[set.discrete_of(place)]);
            }
        }
        discrete
    }

    /// The hops of a loop.
    pub(crate) fn hops_of(&self, loop_index: usize) -> &[HopData] {
        &self.hops[self.loops[loop_index].hops.clone()]
    }

    /// The laws at a link; the queue law comes first.
    pub(crate) fn laws_of(&self, link: usize) -> impl Iterator<Item = LinkLaw> + '_ {
        let data = &self.links[link];
        data.queue.into_iter().chain(data.routers.iter().map(|router| router.law))
    }

    /// The shortest delay above zero, in seconds: the limit on a solver step.
    pub(crate) fn shortest_delay(&self) -> f64 {
        self.delays().filter(|delay| *delay > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// The longest delay, in seconds: the length of history that is needed.
    pub(crate) fn longest_delay(&self) -> f64 {
        self.delays().fold(0.0, f64::max)
    }

    /// All delays of the network, in seconds.
    pub(crate) fn delays(&self) -> impl Iterator<Item = f64> + '_ {
        let hops = self.hops.iter().flat_map(|hop| [hop.forward, hop.backward]);
        let relays = self.relays.iter().flat_map(|r| [r.forward, self.return_delay(r)]);
        let to_relays = self.relays.iter().flat_map(|r| self.onward_delays(r.upstream.0));
        self.loops.iter().map(|l| l.base_rtt).chain(hops).chain(relays).chain(to_relays)
    }

    /// For each hop of a loop the delay in seconds from its link to the end of the loop. What a link serves is a part of the inflow
    /// of a relay at the end, and no step of the solver is longer than this delay: one that is too short to matter is lengthened
    /// to a hundredth of the shortest base round-trip time.
    pub(crate) fn onward_delays(&self, loop_index: usize) -> impl Iterator<Item = f64> + '_ {
        let through = self.forward_delay(loop_index);
        let least = self.loops[loop_index].end_relay.map_or(0.0, |_| self.shortest_to_relay);
        self.hops_of(loop_index).iter().map(move |hop| (through - hop.forward).max(least))
    }

    /// The present lag of a loop's law in seconds, at these states of the network.
    pub(crate) fn lag(&self, loop_index: usize, x: &[f64]) -> f64 {
        let data = &self.loops[loop_index];
        let class = &self.sender_classes[data.class];
        let x = &x[class.states_of(data.place)];
        let longest = class.law.longest_lag(data.place, data.base_rtt);
        class.law.lag(data.place, x, data.base_rtt).clamp(0.0, longest.max(0.0))
    }

    /// The longest lag of all laws in seconds, for which history is needed besides that of the longest delay.
    pub(crate) fn longest_lag(&self) -> f64 {
        let longest = |l: &LoopData| self.sender_classes[l.class].law.longest_lag(l.place, l.base_rtt);
        self.loops.iter().map(longest).fold(0.0, f64::max)
    }

    /// The loop whose law determines the rate of this one: the shared loop for a flow's share, otherwise the loop
    /// itself.
    pub(crate) fn controlling_loop(&self, loop_index: usize) -> usize {
        match self.loops[loop_index].role {
            LoopRole::FlowOf(shared) => self.shared_loops[shared].loop_id,
            _ => loop_index,
        }
    }

    /// The flows of a shared loop; empty for other loops.
    pub(crate) fn flows_of(&self, loop_index: usize) -> &[SharedFlow] {
        match self.loops[loop_index].role {
            LoopRole::Shared(shared) => &self.shared_loops[shared].flows,
            _ => &[],
        }
    }

    /// Whether this loop is one flow's share of a shared loop. Links see its traffic as part of the shared loop.
    pub(crate) fn is_shared_flow(&self, loop_index: usize) -> bool {
        matches!(self.loops[loop_index].role, LoopRole::FlowOf(_))
    }

    /// The relay between these loops.
    pub fn relay_between(&self, upstream: LoopId, downstream: LoopId) -> Option<&Relay> {
        self.relays.iter().find(|relay| relay.upstream == upstream && relay.downstream == downstream)
    }

    /// The latest start time, in seconds.
    pub fn last_start(&self) -> f64 {
        self.loops.iter().filter_map(|l| l.start).fold(0.0, f64::max)
    }

    /// Delay in seconds from a relay back to the sender of its upstream loop.
    pub(crate) fn return_delay(&self, relay: &Relay) -> f64 {
        self.loops[relay.upstream.0].base_rtt - relay.forward
    }
}
