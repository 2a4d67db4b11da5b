//! Where each state and each channel lies, and what it is called.

use super::Assembly;

/// Where the engine's own states begin; those of the laws come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offsets {
    pub(crate) queues: usize,
    pub(crate) backlogs: usize,
}

/// Where each kind of channel begins. A channel is a quantity that somebody else sees after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    /// Of each loop: what one of its flows sends, in bit/s.
    pub(crate) rate: usize,
    /// Of each loop: its round-trip time with queues, in seconds.
    pub(crate) rtt: usize,
    /// Of each loop: what reaches its end, in bit/s, one flow.
    pub(crate) delivered: usize,
    /// Of each link: queueing delay in seconds.
    pub(crate) delay: usize,
    /// Of each link: its slope.
    pub(crate) slope: usize,
    /// Of each link: probability of a mark.
    pub(crate) marked: usize,
    /// Of each link: probability of a loss.
    pub(crate) lost: usize,
    /// Of each link: departing over arriving rate.
    pub(crate) passing: usize,
    /// Of each link: arriving rate in bit/s.
    pub(crate) arriving: usize,
    /// Of each link: departing rate in bit/s.
    pub(crate) departing: usize,
    /// Of each relay: backlog in bits.
    pub(crate) backlog: usize,
    /// Of each relay: what the loop behind it may send, whether or not the relay has it, in bit/s, one flow; a shared loop,
    /// for all.
    pub(crate) permitted: usize,
    /// Of each relay: probability that what comes there has been marked on the way.
    pub(crate) upstream_marked: usize,
    /// Of each part of a shared loop: one while its flow is there, otherwise zero.
    pub(crate) present: usize,
    /// All of them: what the laws carry and say comes last.
    pub(crate) count: usize,
}

impl Channels {
    pub(crate) fn new(loops: usize, links: usize, relays: usize, members: usize) -> Self {
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
            arriving: per_link(5),
            departing: per_link(6),
            backlog: per_link(7),
            permitted: per_link(7) + relays,
            upstream_marked: per_link(7) + 2 * relays,
            present: per_link(7) + 3 * relays,
            count: per_link(7) + 3 * relays + members,
        }
    }
}

/// What a column of results speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    /// A loop, by its place in the network.
    Loop(usize),
    /// A link.
    Link(usize),
    /// A relay.
    Relay(usize),
}

/// The name of a column of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Of whom.
    pub entity: Entity,
    /// What, in plain words.
    pub quantity: &'static str,
    /// As printed.
    pub unit: &'static str,
}

impl Assembly {
    /// The name of an entity: a relay is named after the loop that begins there.
    pub fn name(&self, entity: Entity) -> &str {
        match entity {
            Entity::Loop(l) => &self.loops[l].name,
            Entity::Link(l) => &self.links[l].name,
            Entity::Relay(r) => &self.loops[self.relays[r].downstream.0].name,
        }
    }

    /// Who owns each state, in the order of the state vector.
    pub(crate) fn owners(&self) -> Vec<Entity> {
        let laws = self.classes.iter().flat_map(|class| {
            class.loops.iter().flat_map(|l| std::iter::repeat_n(Entity::Loop(*l), class.width))
        });
        let routers = self
            .sets
            .iter()
            .flat_map(|set| set.links.iter().flat_map(|l| std::iter::repeat_n(Entity::Link(*l), set.width)));
        let links = (0..self.links.len()).map(Entity::Link);
        laws.chain(routers).chain(links).chain((0..self.relays.len()).map(Entity::Relay)).collect()
    }

    /// Names of all states, in the order of the state vector.
    pub fn state_columns(&self) -> Vec<Column> {
        let named = self.owners().into_iter().zip(&self.states);
        named.map(|(entity, s)| Column { entity, quantity: s.name, unit: s.unit }).collect()
    }

    /// Names of all channels: what senders send and links say, seen at its place.
    pub fn channel_columns(&self) -> Vec<Column> {
        let column = |entity, quantity, unit| Column { entity, quantity, unit };
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
            ("arriving rate", "bit/s"),
            ("departing rate", "bit/s"),
        ] {
            columns.extend((0..self.links.len()).map(|l| column(Entity::Link(l), quantity, unit)));
        }
        for (quantity, unit) in [("backlog", "bit"), ("permitted rate", "bit/s"), ("marked before", "1")] {
            columns.extend((0..self.relays.len()).map(|r| column(Entity::Relay(r), quantity, unit)));
        }
        let mut parts: Vec<_> = self.shared.iter().flat_map(|shared| &shared.members).collect();
        parts.sort_by_key(|member| member.slot);
        columns.extend(parts.iter().map(|member| column(Entity::Loop(member.part), "presence", "1")));
        for class in &self.classes {
            for l in &class.loops {
                columns.extend(class.law.carried().iter().map(|q| column(Entity::Loop(*l), q.name, q.unit)));
            }
        }
        for set in &self.sets {
            for l in &set.links {
                columns
                    .extend(set.law.signal_names().iter().map(|q| column(Entity::Link(*l), q.name, q.unit)));
            }
        }
        columns
    }
}
