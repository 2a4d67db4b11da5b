//! A network put together: flows of one law in one class, links of one law in one set, and who hears whom when.

mod build;
mod check;
mod layout;

pub(crate) use layout::{Channels, Offsets};
pub use layout::{Column, Entity};

use crate::network::{CapacityStep, Relay};
use millpond_law::fluid::{LinkLaws, SenderLaws, State, Verdicts};

/// Flows under one law, called together.
pub(crate) struct SenderClass {
    pub(crate) law: Box<dyn SenderLaws>,
    /// Which loops, in the order of the law's own.
    pub(crate) loops: Vec<usize>,
    /// Where their states begin, and how many each has.
    pub(crate) first_state: usize,
    pub(crate) width: usize,
    /// Where what they carry begins among the channels.
    pub(crate) first_carried: usize,
    pub(crate) protocol: usize,
}

/// What the laws of a set are to their links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The router of this protocol.
    LinkLawStates(usize),
    /// The queue law.
    Queue(Verdicts),
}

/// Links under one law, called together.
pub(crate) struct LinkClass {
    pub(crate) law: Box<dyn LinkLaws>,
    /// Which links, in the order of the law's own.
    pub(crate) links: Vec<usize>,
    pub(crate) first_state: usize,
    pub(crate) width: usize,
    /// Where their signals begin among the channels.
    pub(crate) first_signal: usize,
    pub(crate) role: Role,
    /// How many quantities the senders of its protocol carry.
    pub(crate) carried: usize,
}

impl LinkClass {
    /// The protocol whose router it is; none for a queue law, which sees all traffic as its own.
    pub(crate) fn protocol(&self) -> Option<usize> {
        match self.role {
            Role::LinkLawStates(protocol) => Some(protocol),
            Role::Queue(_) => None,
        }
    }

    /// For a queue law: whether it marks (or else drops).
    pub(crate) fn verdicts(&self) -> Option<Verdicts> {
        match self.role {
            Role::LinkLawStates(_) => None,
            Role::Queue(verdicts) => Some(verdicts),
        }
    }
}

/// What the engine itself knows of a link.
pub(crate) struct LinkData {
    pub(crate) name: String,
    /// At the start, in bit/s.
    pub(crate) capacity: f64,
    /// In bits.
    pub(crate) buffer: f64,
    /// Set and place in it of its queue law.
    pub(crate) queue: Option<(usize, usize)>,
    /// Protocol, set and place in it of each router.
    pub(crate) routers: Vec<(usize, usize, usize)>,
}

/// What the engine itself knows of a loop.
pub(crate) struct LoopData {
    pub(crate) name: String,
    pub(crate) protocol: usize,
    pub(crate) class: usize,
    /// In its class.
    pub(crate) place: usize,
    pub(crate) base_rtt: f64,
    pub(crate) count: f64,
    pub(crate) start: Option<f64>,
    pub(crate) stop: Option<f64>,
    pub(crate) ecn: bool,
    /// Its hops are these of [`Assembly::hops`].
    pub(crate) hops: std::ops::Range<usize>,
    /// The relay at its end.
    pub(crate) end_relay: Option<usize>,
    /// The relay whose backlog it sends.
    pub(crate) start_relay: Option<usize>,
    /// The place among [`Assembly::shared`] of what it is to flows that share a loop.
    pub(crate) part: LoopRole,
}

/// What a loop is to flows that share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoopRole {
    /// It is one flow's own, or that of each of some equal flows.
    #[default]
    Own,
    /// It is the shared loop: its law decides what all send.
    Whole(usize),
    /// It is one flow's part of it, or that of each of some equal flows.
    SharedFlow(usize),
}

/// A loop that several flows share.
pub(crate) struct SharedLoop {
    /// The loop whose law decides.
    pub(crate) whole: usize,
    pub(crate) members: Vec<SharedFlow>,
}

/// Some equal flows that share a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SharedFlow {
    /// The loop that is their part.
    pub(crate) part: usize,
    /// The relay at which it begins.
    pub(crate) relay: usize,
    /// How many.
    pub(crate) count: f64,
    /// Of each.
    pub(crate) weight: f64,
    /// Where it is said whether they are there, among [`Channels::present`].
    pub(crate) slot: usize,
}

/// One loop at one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HopData {
    pub(crate) link: usize,
    pub(crate) forward: f64,
    pub(crate) backward: f64,
    /// Set and place in it of the loop's own router here.
    pub(crate) router: Option<(usize, usize)>,
    /// The first signal of that router among the channels, and how many.
    pub(crate) first_signal: usize,
    pub(crate) signals: usize,
}

/// A network as equations.
pub struct Assembly {
    pub(crate) classes: Vec<SenderClass>,
    pub(crate) sets: Vec<LinkClass>,
    pub(crate) links: Vec<LinkData>,
    pub(crate) loops: Vec<LoopData>,
    pub(crate) hops: Vec<HopData>,
    pub(crate) relays: Vec<Relay>,
    pub(crate) shared: Vec<SharedLoop>,
    pub(crate) steps: Vec<CapacityStep>,
    pub(crate) offsets: Offsets,
    pub(crate) channels: Channels,
    /// Of each state, in the order of the state vector.
    pub(crate) states: Vec<State>,
}

impl Assembly {
    /// How many states: those of all laws, a queue for each link, a backlog for each relay.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The initial state.
    pub fn initial(&self) -> Vec<f64> {
        self.states.iter().map(|state| state.initial).collect()
    }

    /// Hops of a loop.
    pub(crate) fn hops_of(&self, l: usize) -> &[HopData] {
        &self.hops[self.loops[l].hops.clone()]
    }

    /// Set and place of each law at a link, the queue law first.
    pub(crate) fn laws_of(&self, link: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let data = &self.links[link];
        data.queue.into_iter().chain(data.routers.iter().map(|(_, set, place)| (*set, *place)))
    }

    /// The shortest delay that is not zero: no step goes beyond it.
    pub(crate) fn shortest_delay(&self) -> f64 {
        self.delays().filter(|delay| *delay > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// The longest delay: no history is needed before it.
    pub(crate) fn longest_delay(&self) -> f64 {
        self.delays().fold(0.0, f64::max)
    }

    /// Every delay of the network.
    pub(crate) fn delays(&self) -> impl Iterator<Item = f64> + '_ {
        let hops = self.hops.iter().flat_map(|hop| [hop.forward, hop.backward]);
        let relays = self.relays.iter().flat_map(|r| [r.forward, self.return_delay(r)]);
        self.loops.iter().map(|l| l.base_rtt).chain(hops).chain(relays)
    }

    /// The loop whose law decides what this one sends: itself, unless it is a part of a shared one.
    pub(crate) fn controlling_loop(&self, l: usize) -> usize {
        match self.loops[l].part {
            LoopRole::SharedFlow(shared) => self.shared[shared].whole,
            _ => l,
        }
    }

    /// The flows of a shared loop; none of any other.
    pub(crate) fn flows_of(&self, l: usize) -> &[SharedFlow] {
        match self.loops[l].part {
            LoopRole::Whole(shared) => &self.shared[shared].members,
            _ => &[],
        }
    }

    /// Its rate is part of another loop's, which links see.
    pub(crate) fn is_shared_flow(&self, l: usize) -> bool {
        matches!(self.loops[l].part, LoopRole::SharedFlow(_))
    }

    /// When the last loop starts, in seconds.
    pub fn last_start(&self) -> f64 {
        self.loops.iter().filter_map(|l| l.start).fold(0.0, f64::max)
    }

    /// From a relay back to the sender of the loop that ends there.
    pub(crate) fn return_delay(&self, relay: &Relay) -> f64 {
        self.loops[relay.upstream.0].base_rtt - relay.forward
    }
}
