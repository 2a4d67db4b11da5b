//! What a scenario says, typed and checked: names are resolved, defaults filled in, traces read.
//!
//! Values that only the lab can judge (protocol names, queues, parameters) stay as written, each with its
//! [`Place`](crate::Place), so that the lab can point at them through [`Scenario::fault`].

use crate::place::At;
use crate::schedule::Schedule;
use crate::source::Sources;
use crate::trace::TraceSource;
use millpond_units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

/// One scenario. Equality ignores where things were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// What it is about, in a few words.
    pub title: String,
    /// How much time is simulated.
    pub duration: Span,
    /// From which all randomness flows.
    pub seed: u64,
    /// What to record.
    pub measure: Measure,
    /// How the fluid world integrates.
    pub fluid: Method,
    /// Names of all nodes, in the order in which links first mention them.
    pub nodes: Vec<String>,
    /// Links.
    pub links: Vec<Link>,
    /// Flow groups.
    pub flows: Vec<FlowGroup>,
    /// What belongs to a protocol rather than to the network, by the name that flows use.
    pub protocols: BTreeMap<String, ProtocolEntry>,
    /// The texts it was read from.
    pub sources: Sources,
}

/// What to record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// Summaries leave out what happens before; series are recorded from the start.
    pub from: Time,
    /// Distance between two samples of a series.
    pub every: Span,
    /// Window of the short-term Jain index.
    pub jain_window: Span,
    /// A flow has converged when it stays within this fraction of its fair share.
    pub converged_within: f64,
}

/// How the equations of the fluid world are integrated.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Method {
    /// Steps as long as the tolerance allows; kinks and events are located.
    #[default]
    Adaptive,
    /// Steps of this length: for large networks.
    FixedStep(At<Span>),
}

/// A link: one direction, or two that share nothing but the name.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its unique name.
    pub name: At<String>,
    /// Index of the first node.
    pub from: usize,
    /// Index of the second node.
    pub to: usize,
    /// First node to second.
    pub forward: Direction,
    /// Second node to first; `None` if the link is simplex.
    pub backward: Option<Direction>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// How fast it serves.
    pub rate: Capacity,
    /// What its laws are told instead of the truth: a misconfigured router.
    pub told: Option<Capacity>,
    /// How long a packet travels after service.
    pub delay: Delay,
    /// May a packet overtake another when the delay falls or jitter strikes?
    pub reorder: bool,
    /// Each packet travels this much longer at most, uniformly drawn.
    pub jitter: Span,
    /// What is lost on the way.
    pub loss: Loss,
    /// How much may wait.
    pub buffer: Buffer,
    /// Its queue law; `None`: what the protocol that runs over it prefers.
    pub queue: Option<QueueSpec>,
    /// Who is served next.
    pub scheduler: Scheduler,
}

/// The rate of one direction over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Always the same.
    Constant(Rate),
    /// A new rate at each of these times, the first at zero.
    Steps(Vec<(Time, Rate)>),
    /// As recorded or generated.
    Trace(TraceSource),
}

/// The propagation delay of one direction over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Always the same.
    Constant(Span),
    /// A new delay at each of these times, the first at zero.
    Steps(Vec<(Time, Span)>),
}

/// Random loss, drawn for each packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Nothing is lost but what the queue drops.
    None,
    /// Each packet with this probability.
    Bernoulli(f64),
    /// A two-state chain that moves once per packet and begins in the good state.
    GilbertElliott {
        /// Probability of good to bad, per packet.
        good_to_bad: f64,
        /// Probability of bad to good, per packet.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// How much may wait at a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// Anything.
    Unlimited,
    /// So many bytes.
    Bytes(Bytes),
    /// So many packets of any size.
    Packets(u64),
    /// What the link's mean rate serves in this time.
    Time(Span),
    /// So many times the link's mean rate times the mean base round-trip time of the flows that cross it.
    Bdp(f64),
}

/// Which waiting packet is served next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    Fifo,
    /// Flows in turn, in proportion to their weights.
    Fair,
}

/// A queue law by name, its settings as written.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// Its registered name.
    pub name: At<String>,
    /// Its settings, in the order written.
    pub settings: Vec<Setting>,
}

/// A parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The parameter's name.
    pub name: At<String>,
    /// Its value, unchecked.
    pub value: At<Value>,
}

/// The value of a parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `0.3`
    Number(f64),
    /// `"75KB"`, `"window"`
    Text(String),
    /// `true`
    Flag(bool),
    /// `{ acks = 4 }`: a word with a number
    Count(String, f64),
}

/// Flows that differ only in number, start and random draws.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// Its unique name; its flows are called `name` if alone, else `name.0`, `name.1`, ...
    pub name: At<String>,
    /// How many flows.
    pub count: u32,
    /// The name of their protocol, or of an entry of [`Scenario::protocols`].
    pub protocol: At<String>,
    /// `compare` leaves their protocol alone.
    pub pinned: bool,
    /// The links they take, sender to receiver: at least one path, each of at least one hop. See [`Self::path`].
    pub paths: Vec<Vec<Hop>>,
    /// Their base round-trip times, if the path's own is to be lengthened.
    pub rtt: Option<Rtt>,
    /// When each starts.
    pub start: Start,
    /// When each stops; `None`: with the run, or when its data is delivered.
    pub stop: Option<Stop>,
    /// Size of a data packet on the wire.
    pub packet: Bytes,
    /// How much of it is not payload.
    pub overhead: Bytes,
    /// Size of an acknowledgement on the wire.
    pub ack: Bytes,
    /// How long acknowledgements may wait; `None`: each packet is acknowledged at once.
    pub delayed_acks: Option<DelayedAcks>,
    /// What the application asks for.
    pub workload: Workload,
    /// Share under a fair scheduler, relative to other flows.
    pub weight: f64,
}

/// A link taken in one of its directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index of the link.
    pub link: usize,
    /// Along [`Link::forward`], or along [`Link::backward`]?
    pub forward: bool,
}

/// The base round-trip times of the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rtt {
    /// The same for all.
    Constant(Span),
    /// Uniformly drawn for each.
    Uniform(Span, Span),
}

/// When the flows of a group start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// All at once.
    At(Time),
    /// Each at its own instant, uniformly drawn.
    Uniform(Time, Time),
    /// Flow `i` at `first + i * interval`.
    Every {
        /// Start of flow 0.
        first: Time,
        /// Distance to the next.
        interval: Span,
    },
    /// One after the other, gaps exponentially drawn.
    Poisson {
        /// Arrivals are possible from here on.
        first: Time,
        /// The mean gap.
        mean: Span,
    },
}

/// When a flow stops asking for more.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// All at once, one after the other, or drawn: as for [`Start`].
    At(Start),
    /// So long after its start.
    After(Lasting),
}

/// How long a flow lasts.
#[derive(Clone, Debug, PartialEq)]
pub enum Lasting {
    /// Always this long.
    Constant(Span),
    /// Uniformly drawn.
    Uniform(Span, Span),
    /// Exponentially drawn, with this mean.
    Exponential(Span),
    /// Drawn from a Pareto distribution.
    Pareto {
        /// Its mean.
        mean: Span,
        /// Its shape, above 1: the smaller, the heavier the tail.
        shape: f64,
    },
}

/// One acknowledgement for several packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAcks {
    /// An acknowledgement leaves when so many packets wait for it ...
    pub packets: u32,
    /// ... or when the first of them has waited so long.
    pub after: Span,
}

/// What an application asks of its flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// As much as possible.
    Bulk,
    /// One transfer of this many payload bytes.
    Sized(Size),
    /// Payload at this rate, and no more, at these times.
    Produced(Rate, Activity),
    /// Transfers that come one by one, each a flow of its own.
    Transfers {
        /// How much each has to send.
        size: Size,
        /// How long after the one before it comes.
        gap: Gap,
    },
}

/// When an application produces.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    /// All the time.
    Always,
    /// On and off in turn, each time as long as drawn, beginning with on.
    Turns {
        /// How long it produces.
        on: Lasting,
        /// How long it does not.
        off: Lasting,
    },
    /// From the one moment until the other of each pair, ascending and apart.
    Bursts(Vec<(Time, Time)>),
}

/// The time from one transfer to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Always the same; the first comes at the start.
    Every(Span),
    /// Exponentially drawn, with this mean: a Poisson process, which counts from the start.
    Poisson(Span),
}

/// The size of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// Always the same.
    Constant(Bytes),
    /// Uniformly drawn.
    Uniform(Bytes, Bytes),
    /// Exponentially drawn, with this mean.
    Exponential(Bytes),
    /// Drawn from a Pareto distribution.
    Pareto {
        /// Its mean.
        mean: Bytes,
        /// Its shape, above 1: the smaller, the heavier the tail.
        shape: f64,
    },
    /// The same, given otherwise.
    ParetoFrom {
        /// The smallest size.
        least: Bytes,
        /// Its shape, above 1.
        shape: f64,
    },
}

/// What belongs to a protocol rather than to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolEntry {
    /// The registered protocol; other than the entry's own name if a scenario compares variants of one.
    pub protocol: At<String>,
    /// Where its flows are cut into loops.
    pub relays: Relays,
    /// The bound of each relay's send queue together with what is on the way to it. A time or BDP is that of the loop
    /// before the relay: the mean rate of its slowest link, its base round-trip time.
    pub relay_buffer: Buffer,
    /// The relays at which flows that go on over the same links, up to the same relay or to the end, share one loop.
    pub aggregate: Relays,
    /// The queue at links that name none.
    pub queue: Option<QueueSpec>,
    /// Its parameters as written.
    pub params: Vec<Setting>,
}

/// The nodes at which a flow is cut into loops, or shares one.
#[derive(Clone, Debug, PartialEq)]
pub enum Relays {
    /// These, where a flow's path crosses them; empty: none.
    Nodes(Vec<At<String>>),
    /// Every node between sender and receiver.
    All,
}

impl Relays {
    /// Is the node with this name one of them?
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Nodes(names) => names.iter().any(|node| node.value == name),
        }
    }
}

impl Capacity {
    /// What the link serves over time.
    pub fn schedule(&self) -> Schedule {
        match self {
            Self::Constant(rate) => Schedule::constant(*rate),
            Self::Steps(steps) => Schedule::stepped(steps.clone()),
            Self::Trace(source) => source.schedule(),
        }
    }

    /// What the link's laws are told: the same, but a trace's delivery opportunities as their mean over a
    /// trailing window.
    pub fn told(&self) -> Schedule {
        match self {
            Self::Trace(source) => source.told(),
            _ => self.schedule(),
        }
    }
}

impl Direction {
    /// What its laws are told of its capacity.
    pub fn told(&self) -> Schedule {
        self.told.as_ref().unwrap_or(&self.rate).told()
    }
}

impl FlowGroup {
    /// The path of the group's flow `index`: flows take the group's paths in turn.
    pub fn path(&self, index: usize) -> &[Hop] {
        self.paths.get(index % self.paths.len().max(1)).map_or(&[], Vec::as_slice)
    }
}

impl Workload {
    /// The payload rate that it asks for while it asks for any, if it is limited to one.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Produced(rate, _) => Some(*rate),
            Self::Bulk | Self::Sized(_) | Self::Transfers { .. } => None,
        }
    }
}

impl Size {
    /// The mean.
    pub fn mean(&self) -> Bytes {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Pareto { mean, .. } => *mean,
            Self::Uniform(least, most) => Bytes::from_f64((least.as_f64() + most.as_f64()) / 2.0),
            Self::ParetoFrom { least, shape } => Bytes::from_f64(least.as_f64() * shape / (shape - 1.0)),
        }
    }
}

impl Lasting {
    /// A time that most draws are no less than a third of.
    pub(crate) fn typical(&self) -> Span {
        match self {
            Self::Constant(span) | Self::Exponential(span) => *span,
            Self::Uniform(least, most) => (*least + *most) / 2,
            Self::Pareto { mean, shape } => mean.scale((shape - 1.0) / shape),
        }
    }
}

impl Gap {
    /// The mean.
    pub const fn mean(self) -> Span {
        match self {
            Self::Every(mean) | Self::Poisson(mean) => mean,
        }
    }
}

impl Delay {
    /// The delay when the run begins.
    pub fn initial(&self) -> Span {
        match self {
            Self::Constant(delay) => *delay,
            Self::Steps(steps) => steps.first().map_or(Span::ZERO, |&(_, delay)| delay),
        }
    }
}

impl Link {
    /// The direction that a hop takes; the forward one of a simplex link.
    pub fn direction(&self, forward: bool) -> &Direction {
        match &self.backward {
            Some(backward) if !forward => backward,
            _ => &self.forward,
        }
    }
}
