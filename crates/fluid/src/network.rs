//! A network to be put into equations: links, loops, relays, and what changes when.

use millpond_law::fluid::{
    FluidSender, InputSet, LinkLaws, Number, SenderInput, SenderLaws, State, Verdicts, sender_law,
};

/// A link, by its place in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub usize);

/// A loop, by its place in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopId(pub usize);

/// A protocol: its senders hear its own routers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtocolId(pub usize);

/// One link on the way of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Which link.
    pub link: LinkId,
    /// From the sender to this link's queue without other queues, in seconds; its word takes what is left of the
    /// loop's base round-trip time.
    pub forward: f64,
}

/// One loop, or several equal ones.
pub struct Loop {
    /// For series and errors.
    pub name: String,
    /// Whose routers it listens to.
    pub protocol: ProtocolId,
    /// Its law: a class of one.
    pub sender: Box<dyn SenderLaws>,
    /// Its links, in order.
    pub path: Vec<Hop>,
    /// Round-trip time without queues, in seconds.
    pub base_rtt: f64,
    /// How many equal flows it stands for.
    pub count: f64,
    /// When it starts, in seconds; none: it has always been there, at its initial state.
    pub start: Option<f64>,
    /// When it stops, in seconds; none: never.
    pub stop: Option<f64>,
    /// Whether a queue law's mark reaches it; otherwise the mark is a loss.
    pub ecn: bool,
    /// The loop of which it is a flow's part: [`Network::part_of`].
    pub share: Option<Share>,
}

/// A flow's part of a loop that several flows share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The loop, whose law decides what they send together.
    pub of: LoopId,
    /// In the turns that they take.
    pub weight: f64,
}

impl Loop {
    /// A single flow that starts at time zero, ECN-capable.
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

    /// The same with one more hop.
    #[must_use]
    pub fn over(mut self, link: LinkId, forward: f64) -> Self {
        self.path.push(Hop { link, forward });
        self
    }

    /// The same from this time on.
    #[must_use]
    pub fn from(self, start: f64) -> Self {
        Self { start: Some(start), ..self }
    }

    /// The same up to this time.
    #[must_use]
    pub fn until(self, stop: f64) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The same, as if it had always been there.
    #[must_use]
    pub fn always(self) -> Self {
        Self { start: None, ..self }
    }

    /// So many equal ones.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { count, ..self }
    }
}

/// The law of a flow's part of a shared loop: it has none.
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

/// The joint between two loops: what the first delivers waits for the second to send it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relay {
    /// The loop that ends here.
    pub upstream: LoopId,
    /// The loop that begins here.
    pub downstream: LoopId,
    /// From the sender of the first loop to here without queues, in seconds.
    pub forward: f64,
}

pub(crate) struct LinkSpec {
    pub(crate) name: String,
    pub(crate) capacity: f64,
    pub(crate) buffer: f64,
    pub(crate) queue: Option<(Box<dyn LinkLaws>, Verdicts)>,
    pub(crate) routers: Vec<(ProtocolId, Box<dyn LinkLaws>)>,
}

/// A new capacity from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapacityStep {
    pub(crate) time: f64,
    pub(crate) link: LinkId,
    pub(crate) capacity: f64,
}

/// The network: what [`Assembly::new`](crate::Assembly::new) makes equations of.
#[derive(Default)]
pub struct FluidNetwork {
    pub(crate) links: Vec<LinkSpec>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) relays: Vec<Relay>,
    pub(crate) steps: Vec<CapacityStep>,
}

impl FluidNetwork {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A link of this capacity in bit/s that buffers so many bits (infinite: all), with drop-tail alone.
    pub fn link(&mut self, name: &str, capacity: f64, buffer: f64) -> LinkId {
        let (queue, routers) = (None, Vec::new());
        self.links.push(LinkSpec { name: name.to_owned(), capacity, buffer, queue, routers });
        LinkId(self.links.len() - 1)
    }

    /// Gives a link a queue law.
    pub fn set_queue(&mut self, link: LinkId, law: Box<dyn LinkLaws>, verdicts: Verdicts) {
        self.links[link.0].queue = Some((law, verdicts));
    }

    /// Gives a link the router of a protocol.
    pub fn add_router(&mut self, link: LinkId, protocol: ProtocolId, law: Box<dyn LinkLaws>) {
        self.links[link.0].routers.push((protocol, law));
    }

    /// A link's capacity becomes this at this time.
    pub fn set_capacity_at(&mut self, time: f64, link: LinkId, capacity: f64) {
        self.steps.push(CapacityStep { time, link, capacity });
    }

    /// Adds a loop.
    pub fn add(&mut self, new: Loop) -> LoopId {
        self.loops.push(new);
        LoopId(self.loops.len() - 1)
    }

    /// A flow's part of a loop that several flows share, still to be added: it has no law of its own and sends what fair turns,
    /// by weight, leave it of what the shared loop's law permits. It begins at a relay, and shares its loop from its own
    /// start on, which is when its first bit comes there, until its stop; the shared loop starts with the first of its parts.
    pub fn part_of(&self, shared: LoopId, name: &str, weight: f64) -> Loop {
        let Loop { protocol, base_rtt, ecn, ref path, .. } = self.loops[shared.0];
        let share = Some(Share { of: shared, weight });
        let path = path.clone();
        Loop { path, ecn, share, ..Loop::new(name, protocol, sender_law(NoLaw), base_rtt) }
    }

    /// Joins two loops.
    pub fn join(&mut self, relay: Relay) {
        self.relays.push(relay);
    }

    /// Forward delays shorter than this become zero, the way back being as much longer: the accurate solver never
    /// steps beyond the shortest delay that there is.
    pub fn round_down_delays(&mut self, shortest: f64) {
        for hop in self.loops.iter_mut().flat_map(|l| &mut l.path).filter(|hop| hop.forward < shortest) {
            hop.forward = 0.0;
        }
    }
}
