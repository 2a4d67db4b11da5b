//! Positions and names of all states and channels.

use super::Assembly;
use crate::network::ProtocolId;
use millpond_law::fluid::Quantity;

/// First index of each kind of engine state; the states of laws come before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offsets {
    pub(crate) queues: usize,
    pub(crate) backlogs: usize,
    /// Of each relay with a limited buffer, in the order of [`Assembly::credits`]; behind them, in the same order, what the loops
    /// before these relays have in queues.
    pub(crate) credits: usize,
}

/// First index of each kind of channel. A channel is a quantity that is read after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    /// Of each loop: sending rate of one flow, in bit/s.
    pub(crate) rate: usize,
    /// Of each loop: round-trip time with queues, in seconds.
    pub(crate) rtt: usize,
    /// Of each loop: rate that arrives at its end, in bit/s for one flow: the sending rate times the departing shares of its
    /// links. Its integral is that of the deliveries, which differ over several busy queues (`delivery`).
    pub(crate) delivered: usize,
    /// Of each link: queueing delay, in seconds.
    pub(crate) delay: usize,
    /// Of each link: time derivative of the queueing delay.
    pub(crate) slope: usize,
    /// Of each link: marking probability.
    pub(crate) marked: usize,
    /// Of each link: loss probability.
    pub(crate) lost: usize,
    /// Of each link: departing over admitted rate.
    pub(crate) passing: usize,
    /// Of each link: capacity, in bit/s.
    pub(crate) capacity: usize,
    /// Of each link: arriving rate, in bit/s.
    pub(crate) arriving: usize,
    /// Of each link: departing rate, in bit/s.
    pub(crate) departing: usize,
    /// Of each relay: backlog, in bits.
    pub(crate) backlog: usize,
    /// Of each relay: rate that the downstream loop's law permits regardless of the backlog, in bit/s; for one flow, or
    /// for all flows of a shared loop.
    pub(crate) permitted: usize,
    /// Of each relay: probability that arriving packets were marked in an upstream loop.
    pub(crate) upstream_marked: usize,
    /// Of each flow of a shared loop: one while it is active, otherwise zero.
    pub(crate) present: usize,
    /// Number of channels. The quantities that senders carry and the signals of links come last.
    pub(crate) count: usize,
}

impl Channels {
    pub(crate) fn new(loops: usize, links: usize, relays: usize, shared_flows: usize) -> Self {
        let (delay, per_link) = (3 * loops, |n: usize| 3 * loops + n * links);
        Self {
            rate: 0,
            rtt: loops,
            delivered: 2 * loops,
            delay,
            slope: per_link(1),
            marked: per_link(2),
            lost: per_link(3),
            passing: per_link(4),
            capacity: per_link(5),
            arriving: per_link(6),
            departing: per_link(7),
            backlog: per_link(8),
            permitted: per_link(8) + relays,
            upstream_marked: per_link(8) + 2 * relays,
            present: per_link(8) + 3 * relays,
            count: per_link(8) + 3 * relays + shared_flows,
        }
    }
}

/// The entity that a column of results belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    /// A loop, by its index in the network.
    Loop(usize),
    /// A link, by its index.
    Link(usize),
    /// A relay, by its index.
    Relay(usize),
}

/// Name of a column of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolutionColumn {
    /// The owner.
    pub entity: Entity,
    /// The quantity in plain words.
    pub quantity: &'static str,
    /// The unit as printed.
    pub unit: &'static str,
    /// For a quantity of a router at a link: its protocol.
    pub router: Option<ProtocolId>,
}

impl Assembly {
    /// The name of an entity. A relay has the name of its downstream loop.
    pub fn name(&self, entity: Entity) -> &str {
        match entity {
            Entity::Loop(l) => &self.loops[l].name,
            Entity::Link(l) => &self.links[l].name,
            Entity::Relay(r) => &self.loops[self.relays[r].downstream.0].name,
        }
    }

    /// The owner of each state, in the order of the state vector.
    pub(crate) fn owners(&self) -> Vec<Entity> {
        let laws = self.sender_classes.iter().flat_map(|class| {
            class.loops.iter().flat_map(|l| std::iter::repeat_n(Entity::Loop(*l), class.width))
        });
        let routers = self
            .link_sets
            .iter()
            .flat_map(|set| set.links.iter().flat_map(|l| std::iter::repeat_n(Entity::Link(*l), set.width)));
        let links = (0..self.links.len()).map(Entity::Link);
        let limited = || self.credits.iter().copied();
        let relays = (0..self.relays.len()).chain(limited()).chain(limited()).map(Entity::Relay);
        laws.chain(routers).chain(links).chain(relays).collect()
    }

    /// Names of all states, in the order of the state vector.
    pub fn state_columns(&self) -> Vec<SolutionColumn> {
        let mut columns: Vec<_> = self
            .owners()
            .into_iter()
            .zip(&self.states)
            .map(|(entity, s)| SolutionColumn { entity, quantity: s.name, unit: s.unit, router: None })
            .collect();
        for set in &self.link_sets {
            let states = set.first_state..set.first_state + set.width * set.links.len();
            columns[states].iter_mut().for_each(|column| column.router = set.protocol().map(ProtocolId));
        }
        columns
    }

    /// Names of all discrete states of laws, in the order of [`Integration::discrete`](crate::Integration::discrete).
    pub fn discrete_columns(&self) -> Vec<SolutionColumn> {
        let column =
            |entity, q: &Quantity, router| SolutionColumn { entity, quantity: q.name, unit: q.unit, router };
        let mut columns = Vec::new();
        for class in &self.sender_classes {
            for l in &class.loops {
                columns.extend(class.law.discrete().iter().map(|q| column(Entity::Loop(*l), q, None)));
            }
        }
        for set in &self.link_sets {
            let router = set.protocol().map(ProtocolId);
            for l in &set.links {
                columns.extend(set.law.discrete().iter().map(|q| column(Entity::Link(*l), q, router)));
            }
        }
        columns
    }

    /// Names of all channels, undelayed.
    pub fn channel_columns(&self) -> Vec<SolutionColumn> {
        let column = |entity, quantity, unit| SolutionColumn { entity, quantity, unit, router: None };
        let mut columns = Vec::with_capacity(self.channels.count);
        for (quantity, unit) in
            [("sending rate", "bit/s"), ("round-trip time", "s"), ("delivered rate", "bit/s")]
        {
            columns.extend((0..self.loops.len()).map(|l| column(Entity::Loop(l), quantity, unit)));
        }
        for (quantity, unit) in [
            ("queueing delay", "s"),
            ("queueing delay slope", "1"),
            ("marking probability", "1"),
            ("loss probability", "1"),
            ("departing over arriving", "1"),
            ("capacity", "bit/s"),
            ("arriving rate", "bit/s"),
            ("departing rate", "bit/s"),
        ] {
            columns.extend((0..self.links.len()).map(|l| column(Entity::Link(l), quantity, unit)));
        }
        for (quantity, unit) in [("backlog", "bit"), ("permitted rate", "bit/s"), ("marked before", "1")] {
            columns.extend((0..self.relays.len()).map(|r| column(Entity::Relay(r), quantity, unit)));
        }
        let mut parts: Vec<_> = self.shared_loops.iter().flat_map(|shared| &shared.flows).collect();
        parts.sort_by_key(|flow| flow.presence);
        columns.extend(parts.iter().map(|flow| column(Entity::Loop(flow.loop_id), "presence", "1")));
        for class in &self.sender_classes {
            for l in &class.loops {
                columns.extend(class.law.carried().iter().map(|q| column(Entity::Loop(*l), q.name, q.unit)));
            }
        }
        for set in &self.link_sets {
            for l in &set.links {
                columns.extend(set.law.signal_names().iter().map(|q| SolutionColumn {
                    router: set.protocol().map(ProtocolId),
                    ..column(Entity::Link(*l), q.name, q.unit)
                }));
            }
        }
        columns
    }
}
