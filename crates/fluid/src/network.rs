//! The description of a network before it becomes equations: links, loops, relays, and changes at given times.

use millpond_law::fluid::{
    FluidSender, InputSet, LinkLaws, Number, SenderInput, SenderLaws, State, Verdicts, sender_law,
};
use std::collections::BTreeMap;

/// Index of a link, in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub usize);

/// Index of a loop, in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopId(pub usize);

/// Index of a protocol. Senders receive feedback only from the routers of their own protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtocolId(pub usize);

/// One link on the path of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopHop {
    /// The link.
    pub link: LinkId,
    /// Delay from the sender to this link's queue with empty queues, in seconds. The signals of the link return after
    /// the rest of the loop's base round-trip time.
    pub forward: f64,
}

/// One loop, or several equal loops.
pub struct Loop {
    /// Name for series and error messages.
    pub name: String,
    /// The protocol whose routers give feedback to the sender.
    pub protocol: ProtocolId,
    /// The sender's law: an object with exactly one flow.
    pub sender: Box<dyn SenderLaws>,
    /// The links, in order.
    pub path: Vec<LoopHop>,
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// Number of equal flows that this loop represents.
    pub count: f64,
    /// Start time in seconds. None: active since before time zero, in its initial state.
    pub start: Option<f64>,
    /// Stop time in seconds. None: it never stops, or it begins at a relay. Such a loop stops after the loop before it, once the
    /// relay is empty.
    pub stop: Option<f64>,
    /// Whether packets are ECN-capable. If not, a mark of a queue law is a loss.
    pub ecn: bool,
    /// Set if this loop is one flow's share of another loop; see [`FluidNetwork::shared_flow`].
    pub share: Option<Share>,
}

/// One flow's share of a loop that several flows use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The shared loop, whose law determines the total rate.
    pub shared_loop: LoopId,
    /// Weight in fair sharing.
    pub weight: f64,
}

impl Loop {
    /// A single ECN-capable flow that starts at time zero.
    pub fn new(name: &str, protocol: ProtocolId, sender: Box<dyn SenderLaws>, base_rtt: f64) -> Self {
        Self {
            name: name.to_owned(),
            protocol,
            sender,
            path: Vec::new(),
            base_rtt,
            count: 1.0,
            start: Some(0.0),
            stop: None,
            ecn: true,
            share: None,
        }
    }

    /// The same loop with one more hop.
    #[must_use]
    pub fn over(mut self, link: LinkId, forward: f64) -> Self {
        self.path.push(LoopHop { link, forward });
        self
    }

    /// The same loop with this start time, in seconds.
    #[must_use]
    pub fn from(self, start: f64) -> Self {
        Self { start: Some(start), ..self }
    }

    /// The same loop with this stop time, in seconds.
    #[must_use]
    pub fn until(self, stop: f64) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The same loop, active since before time zero.
    #[must_use]
    pub fn always(self) -> Self {
        Self { start: None, ..self }
    }

    /// The same loop, representing `count` equal flows.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { count, ..self }
    }
}

/// The law of one flow's share of a shared loop: no states; the engine computes the rate.
struct NoLaw;

impl FluidSender for NoLaw {
    const INPUTS: InputSet = InputSet::NONE;

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::zero()
    }
}

/// The relay between two loops. Data that the first loop delivers wait here until the second loop sends them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relay {
    /// The loop that ends at this relay.
    pub upstream: LoopId,
    /// The loop that begins at this relay.
    pub downstream: LoopId,
    /// Delay from the sender of the upstream loop to the relay with empty queues, in seconds.
    pub forward: f64,
    /// The bound of its backlog together with what is under way to it.
    pub buffer: RelayBuffer,
}

/// The bound of what a relay has of one flow together with what is under way to it: the smaller of a size and of what the
/// downstream loop may send in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelayBuffer {
    /// In bits; may be infinite.
    pub size: f64,
    /// The time in seconds; may be infinite.
    pub delay: f64,
    /// The least bound by the time, in bits.
    pub least: f64,
}

impl RelayBuffer {
    /// No bound.
    pub const UNLIMITED: Self = Self::of_size(f64::INFINITY);

    /// A bound in bits.
    pub const fn of_size(size: f64) -> Self {
        Self { size, delay: f64::INFINITY, least: 0.0 }
    }

    /// Whether it is finite.
    pub fn is_limited(&self) -> bool {
        self.size.is_finite() || self.delay.is_finite()
    }

    /// The credit of a sender that has sent nothing: the size, or zero if only the time limits it.
    pub(crate) fn reference(&self) -> f64 {
        if self.size.is_finite() { self.size } else { 0.0 }
    }

    /// The bound in bits if the downstream loop may send this rate in bit/s.
    pub(crate) fn bits(&self, permitted: f64) -> f64 {
        let by_time =
            if self.delay.is_finite() { (self.delay * permitted).max(self.least) } else { self.delay };
        self.size.min(by_time)
    }
}

pub(crate) struct FluidLinkSpec {
    pub(crate) name: String,
    pub(crate) capacity: f64,
    pub(crate) configured: ConfiguredCapacity,
    pub(crate) buffer: f64,
    pub(crate) queue: Option<(Box<dyn LinkLaws>, Verdicts)>,
    pub(crate) routers: Vec<(ProtocolId, Box<dyn LinkLaws>)>,
}

/// The capacity with which the laws of a link and of its senders compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfiguredCapacity {
    /// This share of the actual capacity at all times.
    Share(f64),
    /// This capacity in bit/s, until [`FluidNetwork::set_configured_capacity_at`] changes it.
    Separate(f64),
}

impl ConfiguredCapacity {
    /// In bit/s, on a link of this actual capacity, before a separate one has changed.
    pub(crate) fn initial(self, actual: f64) -> f64 {
        match self {
            Self::Share(share) => share * actual,
            Self::Separate(configured) => configured,
        }
    }

    /// In bit/s after the actual capacity has changed to this value.
    pub(crate) fn after_change(self, actual: f64, configured: f64) -> f64 {
        match self {
            Self::Share(share) => share * actual,
            Self::Separate(_) => configured,
        }
    }
}

/// Which of a link's capacities changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CapacityKind {
    Actual,
    Configured,
}

/// A capacity in bit/s that applies from a time on, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapacityStep {
    pub(crate) time: f64,
    pub(crate) link: LinkId,
    pub(crate) kind: CapacityKind,
    pub(crate) capacity: f64,
}

/// A network from which [`Assembly::new`](crate::Assembly::new) makes equations.
#[derive(Default)]
pub struct FluidNetwork {
    pub(crate) links: Vec<FluidLinkSpec>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) relays: Vec<Relay>,
    pub(crate) steps: Vec<CapacityStep>,
}

impl FluidNetwork {
    /// An empty network.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a link with a capacity in bit/s and a drop-tail buffer in bits, which may be infinite.
    pub fn link(&mut self, name: &str, capacity: f64, buffer: f64) -> LinkId {
        let (queue, routers) = (None, Vec::new());
        let configured = ConfiguredCapacity::Share(1.0);
        self.links.push(FluidLinkSpec {
            name: name.to_owned(),
            capacity,
            configured,
            buffer,
            queue,
            routers,
        });
        LinkId(self.links.len() - 1)
    }

    /// Sets the queue law of a link.
    pub fn set_queue(&mut self, link: LinkId, law: Box<dyn LinkLaws>, verdicts: Verdicts) {
        self.links[link.0].queue = Some((law, verdicts));
    }

    /// Adds a protocol's router to a link.
    pub fn add_router(&mut self, link: LinkId, protocol: ProtocolId, law: Box<dyn LinkLaws>) {
        self.links[link.0].routers.push((protocol, law));
    }

    /// Changes the capacity of a link to this value in bit/s at this time in seconds.
    pub fn set_capacity_at(&mut self, time: f64, link: LinkId, capacity: f64) {
        self.steps.push(CapacityStep { time, link, kind: CapacityKind::Actual, capacity });
    }

    /// Sets the capacity with which the laws of a link compute. Without this call it is the actual one.
    pub fn set_configured_capacity(&mut self, link: LinkId, configured: ConfiguredCapacity) {
        self.links[link.0].configured = configured;
    }

    /// Changes a separate configured capacity of a link to this value in bit/s at this time in seconds.
    pub fn set_configured_capacity_at(&mut self, time: f64, link: LinkId, capacity: f64) {
        self.steps.push(CapacityStep { time, link, kind: CapacityKind::Configured, capacity });
    }

    /// Adds a loop.
    pub fn add(&mut self, new: Loop) -> LoopId {
        self.loops.push(new);
        LoopId(self.loops.len() - 1)
    }

    /// One flow's share of the loop `shared`, which the caller still has to add.
    ///
    /// The share has no law. Its rate is its weighted fair share of the rate that the law of the shared loop permits.
    /// It begins at a relay. Its start time is the arrival of its first bit at that relay. The shared loop starts with
    /// the first of its flows.
    pub fn shared_flow(&self, shared: LoopId, name: &str, weight: f64) -> Loop {
        let Loop { protocol, base_rtt, ecn, ref path, .. } = self.loops[shared.0];
        let share = Some(Share { shared_loop: shared, weight });
        let path = path.clone();
        Loop { path, ecn, share, ..Loop::new(name, protocol, sender_law(NoLaw), base_rtt) }
    }

    /// Adds a relay between two loops.
    pub fn add_relay(&mut self, relay: Relay) {
        self.relays.push(relay);
    }

    /// Sets forward delays to zero that are shorter than the shortest base round-trip time divided by `parts`, and lengthens the
    /// return path accordingly. The accurate solver's steps are limited by the shortest delay that is not zero. The shortest
    /// round-trip time is that of the loops to which links and relays connect a loop, so that all others have no effect on it.
    pub fn round_down_delays(&mut self, parts: f64) {
        let shortest = self.shortest_connected_rtts();
        for (l, shortest) in self.loops.iter_mut().zip(shortest) {
            for hop in l.path.iter_mut().filter(|hop| hop.forward < shortest / parts) {
                hop.forward = 0.0;
            }
        }
    }

    /// For each loop, in seconds, the shortest base round-trip time of all loops to which links and relays connect it.
    fn shortest_connected_rtts(&self) -> Vec<f64> {
        let mut shortest: Vec<f64> = self.loops.iter().map(|l| l.base_rtt).collect();
        let mut of_links: BTreeMap<LinkId, f64> = BTreeMap::new();
        loop {
            let before = shortest.clone();
            for (l, rtt) in self.loops.iter().zip(&shortest) {
                for hop in &l.path {
                    let of_link = of_links.entry(hop.link).or_insert(f64::INFINITY);
                    *of_link = of_link.min(*rtt);
                }
            }
            for (l, rtt) in self.loops.iter().zip(&mut shortest) {
                *rtt = l.path.iter().filter_map(|hop| of_links.get(&hop.link)).fold(*rtt, |a, b| a.min(*b));
            }
            for Relay { upstream, downstream, .. } in &self.relays {
                let ends = [upstream, downstream].map(|id| shortest.get(id.0).copied());
                let rtt = ends.into_iter().flatten().fold(f64::INFINITY, f64::min);
                for id in [upstream, downstream] {
                    shortest.get_mut(id.0).into_iter().for_each(|known| *known = rtt);
                }
            }
            if !shortest.iter().zip(&before).any(|(now, before)| now < before) {
                return shortest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops over these links, with these base round-trip times and the delay of one second to their links.
    fn network(loops: &[(&[usize], f64)]) -> FluidNetwork {
        let mut network = FluidNetwork::new();
        for link in 0..4 {
            network.link(&link.to_string(), 1.0, 1.0);
        }
        for (links, base_rtt) in loops {
            let mut new = Loop::new("", ProtocolId(0), sender_law(NoLaw), *base_rtt);
            for link in *links {
                new = new.over(LinkId(*link), 1.0);
            }
            network.add(new);
        }
        network
    }

    fn rounded_down(mut network: FluidNetwork) -> Vec<bool> {
        network.round_down_delays(100.0);
        network.loops.iter().map(|l| l.path.iter().all(|hop| hop.forward == 0.0)).collect()
    }

    #[test]
    fn a_delay_is_rounded_down_by_the_shortest_round_trip_time_of_connected_loops() {
        // A hundredth of 200 s is more than the delay, a hundredth of 50 s less.
        assert_eq!(rounded_down(network(&[(&[0], 200.0), (&[1], 50.0)])), [true, false]);
        assert_eq!(rounded_down(network(&[(&[0], 200.0), (&[0, 1], 300.0), (&[1], 50.0)])), [false; 3]);
        let mut chain = network(&[(&[0], 200.0), (&[1], 50.0), (&[2], 200.0)]);
        let buffer = RelayBuffer::UNLIMITED;
        chain.add_relay(Relay { upstream: LoopId(0), downstream: LoopId(1), forward: 2.0, buffer });
        // Of the loops of an invalid relay one does not exist.
        chain.add_relay(Relay { upstream: LoopId(2), downstream: LoopId(9), forward: 2.0, buffer });
        assert_eq!(rounded_down(chain), [false, false, true]);
    }
}
