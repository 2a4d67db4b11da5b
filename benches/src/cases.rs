//! The measured cases: networks of long flows, as measured with other simulators.

use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{HeaderId, Link, LinkFacts, Protocol, QueueLaw, SettingError, Settings, Value};
use millpond_protocols::Registry;
use millpond_sim::{
    Buffer, Builder, FlowSpec, LinkId, LinkSpec, LoopSpec, NodeId, PacketNetwork, Processing, Workload,
};
use millpond_units::{Bytes, Rate, Span, Time};
use std::error::Error;

/// The size of a full packet.
pub(crate) const PACKET: Bytes = Bytes::new(1000);

/// Trunks in series, and users with access links of their own: 10 Gbps, with the remaining delay. User i of n starts at
/// i/n seconds.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) protocol: &'static str,
    pub(crate) trunks: Vec<Trunk>,
    pub(crate) users: Vec<Users>,
    /// When measuring begins.
    pub(crate) warm_up: Time,
    pub(crate) duration: Span,
    /// Whether hosts and routers have a random processing time, as by default in a scenario.
    pub(crate) is_random: bool,
}

/// A shared link.
pub(crate) struct Trunk {
    pub(crate) rate: Rate,
    /// One way.
    pub(crate) delay: Span,
    /// In packets.
    pub(crate) buffer: u64,
    /// Packets above which every packet is marked.
    pub(crate) mark_above: Option<u64>,
    /// Name of the queue, with its default settings; drop-tail, or RED if packets are marked, without one.
    pub(crate) queue: Option<&'static str>,
}

/// Users of one kind.
pub(crate) struct Users {
    pub(crate) count: u32,
    pub(crate) rtt: Span,
    /// The number of trunks that they cross, from the first on.
    pub(crate) crosses: usize,
}

/// The window of a sender at its start, in packets.
pub(crate) const INITIAL_WINDOW: f64 = 2.0;

/// The rate of an access link.
const ACCESS: Rate = Rate::from_bps(10_000_000_000);

const fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

const fn seconds(seconds: u64) -> Span {
    Span::from_millis(seconds * 1000)
}

/// All cases.
pub(crate) fn all() -> [Case; 7] {
    let millis = Span::from_millis;
    [
        dumbbell(("S1", "NewReno, drop-tail 250", "newreno"), mbps(100), millis(20), 10, 250, seconds(100)),
        dumbbell(
            ("S2", "NewReno, drop-tail 1 BDP", "newreno"),
            mbps(1000),
            millis(50),
            100,
            6250,
            seconds(30),
        ),
        dumbbell(("S3", "XCP, a router at each link", "xcp"), mbps(155), millis(80), 50, 1550, seconds(60)),
        Case {
            trunks: vec![Trunk { mark_above: Some(120), ..trunk(mbps(500), millis(24), 3750) }],
            ..dumbbell(
                ("S5", "DCTCP, step mark at 120", "dctcp"),
                mbps(500),
                millis(60),
                1000,
                3750,
                seconds(50),
            )
        },
        two_bottlenecks(),
        with_queue("S7", "NewReno, FQ-CoDel", "fq-codel"),
        with_queue("S8", "NewReno, DualPI2", "dualpi2"),
    ]
}

/// A network that grows with the number of its flows: 1 Mbit/s for each, and a buffer of one bandwidth-delay product. All
/// have started after a second.
pub(crate) fn many(flows: u32) -> Case {
    let (rate, rtt) = (mbps(flows.into()), Span::from_millis(50));
    let buffer = rate.bytes_in(rtt).get() / PACKET.get();
    dumbbell(("many", "NewReno, 1 Mbit/s for each flow", "newreno"), rate, rtt, flows, buffer, seconds(4))
}

/// The network of S1 with another queue: what a queue costs beside drop-tail.
fn with_queue(name: &'static str, what: &'static str, queue: &'static str) -> Case {
    let (rate, rtt) = (mbps(100), Span::from_millis(20));
    Case {
        trunks: vec![Trunk { queue: Some(queue), ..trunk(rate, rtt * 2 / 5, 250) }],
        ..dumbbell((name, what, "newreno"), rate, rtt, 10, 250, seconds(100))
    }
}

const fn trunk(rate: Rate, delay: Span, buffer: u64) -> Trunk {
    Trunk { rate, delay, buffer, mark_above: None, queue: None }
}

/// One trunk, which has four fifths of the round-trip time.
fn dumbbell(
    (name, what, protocol): (&'static str, &'static str, &'static str),
    rate: Rate,
    rtt: Span,
    count: u32,
    buffer: u64,
    duration: Span,
) -> Case {
    Case {
        name,
        what,
        protocol,
        trunks: vec![trunk(rate, rtt * 2 / 5, buffer)],
        users: vec![Users { count, rtt, crosses: 1 }],
        warm_up: Time::ZERO + seconds(10),
        duration,
        is_random: true,
    }
}

/// The network of ACP's Table I.
fn two_bottlenecks() -> Case {
    let users = |count, rtt, crosses| Users { count, rtt: Span::from_millis(rtt), crosses };
    let delay = Span::from_millis(15);
    Case {
        name: "S6",
        what: "XCP, two bottlenecks",
        protocol: "xcp",
        trunks: vec![trunk(mbps(155), delay, 1550), trunk(mbps(80), delay, 800)],
        users: vec![users(10, 60, 1), users(50, 90, 2), users(10, 260, 2), users(10, 64, 2)],
        warm_up: Time::ZERO + seconds(50),
        duration: seconds(100),
        is_random: true,
    }
}

impl Case {
    /// The same for this long.
    pub(crate) fn lasting(self, duration: Span) -> Self {
        Self { duration, warm_up: self.warm_up.min(Time::ZERO + duration / 4), ..self }
    }

    /// The case as `key=value` words for another simulator: trunks as `rate/delay/buffer`, users as
    /// `number/access delay/trunks`; delays in ps, rates in bit/s, buffers and thresholds in packets, times in s. Fails if a
    /// trunk names its queue.
    pub(crate) fn describe(&self) -> Result<String, &'static str> {
        if self.trunks.iter().any(|trunk| trunk.queue.is_some()) {
            return Err("only a case whose trunks are drop-tail or mark in a step has a description");
        }
        let trunk = |trunk: &Trunk| format!("{}/{}/{}", trunk.rate.bps(), trunk.delay.picos(), trunk.buffer);
        let trunks: Vec<String> = self.trunks.iter().map(trunk).collect();
        let of_kind =
            |users: &Users| format!("{}/{}/{}", users.count, self.access_delay(users).picos(), users.crosses);
        let users: Vec<String> = self.users.iter().map(of_kind).collect();
        let mark_above = self.trunks.iter().find_map(|trunk| trunk.mark_above).unwrap_or_default();
        Ok([
            format!("protocol={} packet={}", self.protocol, PACKET.get()),
            format!("initial_window={INITIAL_WINDOW} access_rate={}", ACCESS.bps()),
            format!("trunks={} users={} mark_above={mark_above}", trunks.join(","), users.join(",")),
            format!("warm_up={} seconds={}", self.warm_up.secs(), self.duration.secs()),
        ]
        .join(" "))
    }

    /// One way over an access link.
    pub(crate) fn access_delay(&self, users: &Users) -> Span {
        let trunks: Span = self.trunks[..users.crosses].iter().map(|trunk| trunk.delay).sum();
        (users.rtt / 2 - trunks) / 2
    }

    /// Every user, in the order in which they start.
    pub(crate) fn each_user(&self) -> impl Iterator<Item = (Time, &Users)> {
        let count = self.users.iter().map(|users| u64::from(users.count)).sum::<u64>();
        let each = self.users.iter().flat_map(|users| (0..users.count).map(move |_| users));
        let start = move |place: u64| Time::from_picos(1_000_000_000_000 / count * place);
        (0..).map(start).zip(each)
    }

    /// Packets that keep the trunks busy if each user has as many in flight: an equal share of what the narrowest of
    /// its trunks serves in a round trip, and of half its buffer.
    pub(crate) fn full_window(&self, users: &Users) -> u64 {
        let share = |(place, trunk): (usize, &Trunk)| {
            let rivals = self.users.iter().filter(|other| other.crosses > place);
            let rivals: u64 = rivals.map(|other| u64::from(other.count)).sum();
            (trunk.rate.bytes_in(users.rtt).get() / PACKET.get() + trunk.buffer / 2).div_ceil(rivals)
        };
        self.trunks[..users.crosses].iter().enumerate().map(share).min().unwrap_or_default()
    }

    /// The case as a network at time zero.
    pub(crate) fn network(&self) -> Result<PacketNetwork, Box<dyn Error>> {
        let mut builder = Builder::new(1);
        let protocol = Registry::builtin().protocol(self.protocol).map_err(|unknown| unknown.name)?;
        let nodes: Vec<NodeId> = (0..=self.trunks.len()).map(|_| builder.node()).collect();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for (trunk, ends) in self.trunks.iter().zip(nodes.windows(2)) {
            let plain = |name, from, to| self.link(name, [from, to], trunk.rate, trunk.delay);
            there.push(builder.link(LinkSpec {
                buffer: Buffer::Packets(trunk.buffer),
                queue: queue(trunk)?,
                routers: routers(protocol, trunk.rate, Some(trunk.buffer))?,
                ..plain("trunk ->", ends[0], ends[1])
            }));
            back.push(builder.link(plain("trunk <-", ends[1], ends[0])));
        }
        for (number, (start, users)) in self.each_user().enumerate() {
            let (left, right) = (nodes[0], nodes[users.crosses]);
            let (source, sink) = (builder.node(), builder.node());
            let mut access = |from, to, routers| {
                let link = self.link("access", [from, to], ACCESS, self.access_delay(users));
                builder.link(LinkSpec { routers, ..link })
            };
            let up = access(source, left, routers(protocol, ACCESS, None)?);
            let down = access(right, sink, routers(protocol, ACCESS, None)?);
            let (back_up, back_down) = (access(sink, right, Vec::new()), access(left, source, Vec::new()));
            let forward = [&[up][..], &there[..users.crosses], &[down]].concat();
            let homewards: Vec<LinkId> = back[..users.crosses].iter().rev().copied().collect();
            let backward = [&[back_up][..], &homewards, &[back_down]].concat();
            builder.flow(FlowSpec {
                name: format!("{number}"),
                weight: 1.0,
                loops: vec![control_loop(protocol, [forward, backward], self.host_processing(users))?.into()],
                relays: Vec::new(),
                workload: Workload::Bulk,
                start,
                stop: None,
            });
        }
        Ok(builder.build()?)
    }

    fn link(&self, name: &str, [from, to]: [NodeId; 2], rate: Rate, delay: Span) -> LinkSpec {
        let processing = if self.is_random { Processing::ServiceTime(rate) } else { Processing::Immediate };
        LinkSpec { processing, ..LinkSpec::plain(name, from, to, rate, delay) }
    }

    /// The largest processing time of the hosts of a user.
    fn host_processing(&self, users: &Users) -> Span {
        let slowest = self.trunks[..users.crosses].iter().map(|trunk| trunk.rate).min().unwrap_or(ACCESS);
        if self.is_random { slowest.time_for(PACKET) } else { Span::ZERO }
    }
}

/// A loop over these links in both directions.
pub(crate) fn control_loop(
    protocol: &dyn Protocol,
    [forward, backward]: [Vec<LinkId>; 2],
    host_processing: Span,
) -> Result<LoopSpec, SettingError> {
    let written = [("initial_window", Value::Number(INITIAL_WINDOW))];
    let settings = Settings::check(protocol.card().parameters, written)?;
    Ok(LoopSpec {
        sender: protocol.sender(&settings)?,
        receiver: protocol.receiver(&settings)?,
        sender_config: SenderConfig::new(PACKET, protocol.needs(&settings)),
        receiver_config: ReceiverConfig::default(),
        forward,
        backward,
        extra_delay: Span::ZERO,
        host_processing,
    })
}

/// The law of a trunk: the one that it names, one that marks, or drop-tail.
pub(crate) fn queue(trunk: &Trunk) -> Result<QueueLaw, Box<dyn Error>> {
    let facts = LinkFacts::fifo(trunk.rate, Some(PACKET * trunk.buffer), PACKET);
    if let Some(name) = trunk.queue {
        let queue = Registry::builtin().queue(name).map_err(|unknown| unknown.name)?;
        return Ok(queue.law(&Settings::check(queue.card().parameters, [])?, &facts)?);
    }
    let Some(packets) = trunk.mark_above else { return Ok(QueueLaw::DropTail) };
    let red = Registry::builtin().queue("red").map_err(|unknown| unknown.name)?;
    let presets = red.card().presets.iter().find(|(name, _)| *name == "dctcp-step");
    let step = presets.map_or(&[][..], |(_, values)| *values);
    let threshold = Value::Text(format!("{}B", packets * PACKET.get()).into());
    let written = step.iter().cloned().chain([("max_th", threshold)]);
    let settings = Settings::check(red.card().parameters, written)?;
    Ok(red.law(&settings, &facts)?)
}

type Routers = Vec<(HeaderId, Box<dyn Link>)>;

/// The protocol's router at a link that data cross, if it has one.
fn routers(protocol: &dyn Protocol, capacity: Rate, buffer: Option<u64>) -> Result<Routers, SettingError> {
    let settings = Settings::check(protocol.card().parameters, [])?;
    let facts = LinkFacts::fifo(capacity, buffer.map(|packets| PACKET * packets), PACKET);
    let router = protocol.link(&settings, &facts)?;
    Ok(router.into_iter().map(|router| (protocol.needs(&settings).header, router)).collect())
}
