//! A scenario, typed and checked: names are resolved, defaults filled in, traces read.
//!
//! Protocol names, queues and parameters stay as written, each with its [`Place`](crate::Place). The crate that checks
//! them reports faults through [`Scenario::fault`].

use crate::applications::{AdaptiveVideo, VideoCall, WebPages};
use crate::distribution::{Lasting, Size};
use crate::place::{At, Place};
use crate::schedule::Schedule;
use crate::source::Sources;
use crate::trace::TraceSource;
use millpond_units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

/// One scenario. Equality ignores where things were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Its subject, in a few words.
    pub title: String,
    /// How much time is simulated.
    pub duration: Span,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What to record.
    pub measure: Measure,
    /// Processing times of sending hosts, in the packet world.
    pub hosts: Processing,
    /// Processing times of routers, in the packet world.
    pub routers: Processing,
    /// Loss detection and timers of all senders, in the packet world and in the live world.
    pub endpoint: Endpoint,
    /// How the fluid world integrates.
    pub fluid: FluidOptions,
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
    /// Start of the measurement: summaries leave out what happens before; series begin at the start of the run.
    pub from: Time,
    /// Time between two samples of a series.
    pub every: Span,
    /// Window of the short-term Jain index.
    pub jain_window: Span,
    /// A flow has converged when it stays within this fraction of its fair share.
    pub converged_within: f64,
}

/// The random processing time of hosts or of routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processing {
    /// Its upper bound. `None`: one service time, of a packet at the slowest link of the path (hosts) or at the next link
    /// (routers).
    pub jitter: Option<Span>,
}

impl Processing {
    /// The greatest upper bound.
    pub const LONGEST: Span = Span::from_millis(1000);
}

/// Loss detection and timers of a sender (RFC 9002).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Round-trip time before the first sample.
    pub initial_rtt: Span,
    /// Least allowance of a timeout for the variation of round-trip times.
    pub granularity: Span,
    /// Shortest probe timeout.
    pub min_probe_timeout: Span,
    /// Longest time between two probes.
    pub max_probe_timeout: Span,
    /// Packets that leave at a probe timeout.
    pub probes_per_timeout: u32,
    /// A packet is lost when one that was sent this many packets later is acknowledged.
    pub packet_threshold: u64,
    /// Mean number of packets from one skipped packet number to the next; none: none is skipped.
    pub skip_numbers: Option<u32>,
    /// Senders stop ECN when a packet has arrived without its ECN field.
    pub validate_ecn: bool,
    /// Tick of the clocks of senders; zero: they are exact.
    pub clock_tick: Span,
}

/// The options of the fluid world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidOptions {
    /// How the equations are integrated.
    pub method: Method,
    /// What the base RTT consists of.
    pub base_rtt: BaseRtt,
}

/// What the base RTT of a loop consists of in the fluid world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseRtt {
    /// Propagation, and what `rtt` adds.
    #[default]
    Propagation,
    /// The same and the service time of one packet at each link, and of one acknowledgement at each link of the return path.
    Service,
}

/// How the equations of the fluid world are integrated.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Method {
    /// Error control; discontinuities and events are located.
    #[default]
    Adaptive,
    /// Steps of this length, for large networks.
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
    /// The capacity.
    pub rate: Capacity,
    /// The capacity that its laws are configured with.
    pub configured: ConfiguredCapacity,
    /// How long a packet travels after service.
    pub delay: Delay,
    /// Whether a packet may overtake another when the delay decreases or with jitter.
    pub reorder: bool,
    /// Each packet travels longer by a time that is uniformly distributed up to this.
    pub jitter: Span,
    /// Random loss after service.
    pub loss: Loss,
    /// How its medium is shared, and what becomes of errors on it.
    pub link_layer: LinkLayer,
    /// How much may wait.
    pub buffer: Buffer,
    /// Its queue law; `None`: what the protocol that runs over it prefers.
    pub queue: Option<QueueSpec>,
    /// What its router does with explicit feedback.
    pub router: RouterConduct,
    /// Which packet is served next.
    pub scheduler: Scheduler,
}

/// The rate of one direction over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Always the same.
    Constant(Rate),
    /// A new rate at each of these times, the first at zero.
    Steps(Vec<(Time, Rate)>),
    /// From a file.
    Trace(TraceSource),
}

/// The capacity that the laws of a link are configured with. The rate is delayed first, then rounded, then noise is added.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredCapacity {
    /// The rate.
    pub rate: ConfiguredRate,
    /// By how much it is late.
    pub delay: Span,
    /// The rates to which it is rounded.
    pub levels: Levels,
    /// The greatest relative error, in a range from zero to one. Errors are uniformly distributed.
    pub noise: f64,
}

/// The rates that a signal of the capacity can express.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levels {
    /// All.
    #[default]
    Exact,
    /// This many, evenly spaced up to the highest rate.
    Even(u64),
    /// Those of a Rate Signal of 7 bits.
    Scone,
}

/// The rate that the laws of a link are configured with.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfiguredRate {
    /// This percentage of the actual one.
    Percent(f64),
    /// Another one.
    Other(Capacity),
}

impl ConfiguredRate {
    /// The actual rate.
    pub const ACTUAL: Self = Self::Percent(100.0);
}

impl Default for ConfiguredCapacity {
    fn default() -> Self {
        Self { rate: ConfiguredRate::ACTUAL, delay: Span::ZERO, levels: Levels::Exact, noise: 0.0 }
    }
}

/// The propagation delay of one direction over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Always the same.
    Constant(Span),
    /// A new delay at each of these times, the first at zero.
    Steps(Vec<(Time, Span)>),
}

/// Random loss of packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// No random loss.
    None,
    /// Each packet with this probability.
    Bernoulli(f64),
    /// A two-state chain that moves once per packet and begins in the good state.
    GilbertElliott(GilbertElliott),
}

/// A Markov chain of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GilbertElliott {
    /// Probability of the transition from good to bad, per packet.
    pub good_to_bad: f64,
    /// Probability of the transition from bad to good, per packet.
    pub bad_to_good: f64,
    /// Loss probability in the good state.
    pub loss_good: f64,
    /// Loss probability in the bad state.
    pub loss_bad: f64,
}

/// How the medium of a link is shared, and what becomes of errors on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLayer {
    /// One packet after the other, each once.
    None,
    /// Retransmission with delivery in order.
    Radio(Radio),
    /// Each packet waits for a grant.
    Grants(Grants),
    /// Random access before each aggregate of packets.
    Contention(Contention),
}

/// Retransmission at the link layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Radio {
    /// Probability that an attempt fails.
    pub error: f64,
    /// Time from an attempt to the next one.
    pub retransmit_after: Span,
    /// The most attempts for a packet.
    pub attempts: u32,
}

/// An uplink with grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Time between two opportunities to send a request.
    pub every: Span,
    /// Time from the request to the earliest service.
    pub after: Span,
}

/// A medium with random access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// Constant time of an aggregate without its packets.
    pub access: Span,
    /// Length of a backoff slot.
    pub slot: Span,
    /// The most slots of a backoff.
    pub window: u32,
    /// The most packets of an aggregate.
    pub aggregate: u32,
    /// Other stations that always have data.
    pub stations: u32,
    /// How long one of them occupies the medium.
    pub busy: Span,
}

/// How much may wait at a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// No bound.
    Unlimited,
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets of any size.
    Packets(u64),
    /// What the link's mean rate serves in this time.
    Time(Span),
    /// A multiple of the bandwidth-delay product: the link's mean rate times the mean base round-trip time of the flows
    /// that cross it.
    Bdp(f64),
}

/// What the router at a link does with explicit feedback: the headers of protocols, and the ECN fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterConduct {
    /// The routers of the protocols that cross the link run there.
    #[default]
    TakesPart,
    /// No router of a protocol runs there.
    Absent,
    /// Packets cross the link in a tunnel: its laws read neither headers nor ECN fields.
    Tunnel,
    /// Arriving packets lose header and ECN field.
    Strips,
}

/// Which waiting packet is served next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    Fifo,
    /// Start-time fair queueing: flows in proportion to their weights.
    Fair,
    /// Deficit round robin: the same, with a quantum of one full packet times the weight.
    DeficitRoundRobin,
    /// Strict priority: the flow of the greatest weight first.
    Priority,
}

/// A queue law by name, its settings as written.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// Its registered name.
    pub name: At<String>,
    /// Its settings, in the order written.
    pub settings: Vec<WrittenSetting>,
}

/// A parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenSetting {
    /// The parameter's name.
    pub name: At<String>,
    /// Its value, unchecked.
    pub value: At<SettingValue>,
}

/// The value of a parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// `0.3`
    Number(f64),
    /// `"75KB"`, `"window"`
    Text(String),
    /// `true`
    Flag(bool),
    /// `{ acks = 4 }`: a unit with a number
    Count(String, f64),
}

/// Flows that differ only in number, start and random samples.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// Its unique name; its flows are called `name` if alone, else `name.0`, `name.1`, ...
    pub name: At<String>,
    /// How many flows.
    pub count: u32,
    /// The name of their protocol, or of an entry of [`Scenario::protocols`].
    pub protocol: At<String>,
    /// Whether `compare` keeps their protocol.
    pub pinned: bool,
    /// Their paths from sender to receiver: at least one, each of at least one hop. See [`Self::path`].
    pub paths: Vec<Vec<Hop>>,
    /// What the paths are drawn from, if they are random: those of the seed of the scenario. See [`Scenario::with_seed`].
    pub drawn: Option<DrawnPaths>,
    /// Their base round-trip times, if longer than the path's own.
    pub rtt: Option<Rtt>,
    /// When each starts.
    pub start: FlowStart,
    /// When each stops; `None`: at the end of the run, or when its data is delivered.
    pub stop: Option<Stop>,
    /// Size of a data packet on the wire.
    pub packet: Bytes,
    /// How much of it is not payload.
    pub overhead: Bytes,
    /// Size of an acknowledgement on the wire.
    pub ack: Bytes,
    /// Delayed acknowledgements; `None`: each packet is acknowledged at once.
    pub delayed_acks: Option<DelayedAcks>,
    /// Whether their senders do what their laws permit.
    pub sender: SenderConduct,
    /// Whether their receivers acknowledge what has arrived.
    pub receiver: ReceiverConduct,
    /// What the application sends.
    pub workload: Workload,
    /// Share under a fair scheduler, relative to other flows; see [`Self::share_weight`].
    pub weight: f64,
}

/// Paths between random hosts, each over a random one of the shortest paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnPaths {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// The nodes of the hosts: at least two, which reach each other.
    pub hosts: Vec<usize>,
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each flow runs from one random host to another.
    Random,
    /// Each host sends to one other host and receives from one.
    Permutation,
    /// The other hosts send to the first one.
    Incast,
}

/// Whether a sender does what its law permits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SenderConduct {
    /// It does.
    #[default]
    Honest,
    /// It has no congestion control.
    Unresponsive,
    /// It permits itself this many times as much.
    Greedy(f64),
}

/// Whether a receiver acknowledges what has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiverConduct {
    /// It does.
    #[default]
    Honest,
    /// It reports no CE mark.
    HidesMarks,
    /// It reports no gap, and also this many packets after the newest that has arrived.
    AcksEarly(u32),
}

/// A link in one of its directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Index of the link.
    pub link: usize,
    /// Whether it is [`Link::forward`] rather than [`Link::backward`].
    pub forward: bool,
}

/// The base round-trip times of the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rtt {
    /// The same for all.
    Constant(Span),
    /// Uniformly distributed, one for each flow.
    Uniform(Span, Span),
}

/// When the flows of a group start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowStart {
    /// All at once.
    At(Time),
    /// Each at its own time, uniformly distributed.
    Uniform(Time, Time),
    /// Flow `i` at `first + i * interval`.
    Every {
        /// Start of flow 0.
        first: Time,
        /// Time to the next.
        interval: Span,
    },
    /// One after the other, with exponentially distributed gaps.
    Poisson {
        /// Start of the process.
        first: Time,
        /// The mean gap.
        mean: Span,
    },
}

/// When a flow stops.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// At a time of the run, as for [`FlowStart`].
    At(FlowStart),
    /// This long after its start.
    After(Lasting),
}

/// One acknowledgement for several packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayedAcks {
    /// An acknowledgement is sent when this many packets wait for it ...
    pub packets: u32,
    /// ... or when the first of them has waited this long.
    pub after: Span,
    /// Gaps, duplicates and marks are acknowledged at once.
    pub urgent: bool,
}

/// What an application sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// As much as possible.
    Bulk,
    /// One transfer of this many payload bytes.
    Sized(Size),
    /// Payload at this rate at these times.
    Produced(Rate, Activity),
    /// One packet in each such time, without congestion control.
    Ping(Span),
    /// Transfers that start one after the other, each a flow of its own.
    Transfers {
        /// The payload of each.
        size: Size,
        /// The time from one to the next.
        gap: Gap,
    },
    /// The flows of the group are the connections of one browser.
    Pages(WebPages),
    /// Each flow carries a video that its viewer requests in segments.
    Video(AdaptiveVideo),
    /// Each flow carries the frames of a live encoder.
    Call(VideoCall),
}

/// When an application produces.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    /// Always.
    Always,
    /// Alternating on and off periods of random length, beginning with on.
    Turns {
        /// How long it produces.
        on: Lasting,
        /// How long it does not.
        off: Lasting,
    },
    /// From the first to the second time of each pair. Pairs ascend and do not touch.
    Bursts(Vec<(Time, Time)>),
}

/// The time from one transfer to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Always the same; the first comes at the start.
    Every(Span),
    /// Exponentially distributed with this mean: a Poisson process from the start on.
    Poisson(Span),
}

/// Settings of a protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolEntry {
    /// The registered protocol; other than the entry's own name if a scenario compares variants of one.
    pub protocol: At<String>,
    /// Where its flows are divided into loops.
    pub relays: Relays,
    /// The bound of each relay's send queue together with what is under way to it. A time is what the next loop may
    /// send in it. A BDP is that of the loop before the relay: the mean rate of its slowest link, its base round-trip time.
    /// The bound is then also at most what the next loop may send in as many base RTTs of that loop and 8 of its own.
    pub relay_buffer: Buffer,
    /// The relays from which flows share one loop if they continue over the same links, up to the same relay or the end.
    pub aggregate: Relays,
    /// The protocols of single loops, by the relay where the first of them begins: a registered protocol, another entry or a
    /// variant. The protocol runs in all loops from there to the next relay in this map. Loops before the first of these
    /// relays run the protocol of this entry.
    pub loops: BTreeMap<String, At<String>>,
    /// The queue at links that name none.
    pub queue: Option<QueueSpec>,
    /// How acknowledgements return the rate of its feedback; none: exactly.
    pub rate_code: Option<RateCode>,
    /// Its parameters as written.
    pub params: Vec<WrittenSetting>,
}

impl ProtocolEntry {
    /// The key of its parameters.
    pub(crate) const PARAMS: &str = "params";
}

/// A code of a rate in acknowledgements: levels at equal ratios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCode {
    /// The size of the code.
    pub bits: u32,
    /// How a rate becomes one of the levels.
    pub rounding: Rounding,
    /// The least level.
    pub least: Rate,
    /// The greatest level, above the least.
    pub greatest: Rate,
}

impl Default for RateCode {
    /// That of SCONE's Rate Signals (draft-ietf-scone-protocol).
    fn default() -> Self {
        let (least, greatest) = (Rate::from_bps(100_000), Rate::from_bps(199_526_231_496));
        Self { bits: 7, rounding: Rounding::Nearest, least, greatest }
    }
}

/// How a rate becomes one of the levels of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest level on the logarithmic scale.
    Nearest,
    /// At random to one of the adjacent levels, so that the mean is the rate.
    Dithered,
}

impl ProtocolEntry {
    /// The entry of a registered protocol that a scenario does not configure.
    pub fn unconfigured(protocol: &str) -> Self {
        Self {
            protocol: At::new(protocol.to_owned(), Place::default()),
            relays: Relays::Nodes(Vec::new()),
            relay_buffer: Buffer::Bdp(2.0),
            aggregate: Relays::Nodes(Vec::new()),
            loops: BTreeMap::new(),
            queue: None,
            rate_code: None,
            params: Vec::new(),
        }
    }
}

/// The nodes at which a flow is divided into loops, or shares one.
#[derive(Clone, Debug, PartialEq)]
pub enum Relays {
    /// These, where a flow's path crosses them; empty: none.
    Nodes(Vec<At<String>>),
    /// Every node between sender and receiver.
    All,
}

impl Relays {
    /// Whether no node is one of them.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Nodes(names) if names.is_empty())
    }

    /// Whether the node with this name is one of them.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Nodes(names) => names.iter().any(|node| node.value == name),
        }
    }
}

impl Capacity {
    /// The capacity over time.
    pub fn schedule(&self) -> Schedule {
        match self {
            Self::Constant(rate) => Schedule::constant(*rate),
            Self::Steps(steps) => Schedule::stepped(steps.clone()),
            Self::Trace(source) => source.schedule(),
        }
    }

    /// The capacity as the link's laws receive it: as [`Self::schedule`], but a trace's delivery opportunities as their
    /// mean over a trailing window.
    pub fn configured_schedule(&self) -> Schedule {
        match self {
            Self::Trace(source) => source.configured_schedule(),
            _ => self.schedule(),
        }
    }
}

impl FlowGroup {
    /// The path of the group's flow `index`: path number `index` modulo the number of paths.
    pub fn path(&self, index: usize) -> &[Hop] {
        self.paths.get(index % self.paths.len().max(1)).map_or(&[], Vec::as_slice)
    }
}

impl FlowGroup {
    /// Whether the senders have the ECN field of their protocol, but neither its laws nor its relays: those without congestion
    /// control, and pings.
    pub fn is_uncontrolled(&self) -> bool {
        self.sender == SenderConduct::Unresponsive || matches!(self.workload, Workload::Ping(_))
    }

    /// The weight of each flow in weighted fair shares. It is one if a link of its paths has strict priority: the weight is
    /// then an order, and no share.
    pub fn share_weight(&self, links: &[Link]) -> f64 {
        let has_priority =
            |hop: &Hop| links[hop.link].direction(hop.forward).scheduler == Scheduler::Priority;
        if self.paths.iter().flatten().any(has_priority) { 1.0 } else { self.weight }
    }

    /// The payload rate of each flow while its application produces, if it is limited.
    pub fn demand(&self) -> Option<Rate> {
        match self.workload {
            Workload::Ping(every) => Some(self.packet.saturating_sub(self.overhead).per(every)),
            _ => self.workload.rate(),
        }
    }
}

impl Workload {
    /// The payload rate while the application produces, if it is limited.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Produced(rate, _) => Some(*rate),
            _ => None,
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

    /// The same direction, to change it.
    pub fn direction_mut(&mut self, forward: bool) -> &mut Direction {
        match &mut self.backward {
            Some(backward) if !forward => backward,
            _ => &mut self.forward,
        }
    }
}
