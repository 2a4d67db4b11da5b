//! Nodes, links and applications in virtual time: no clock, no socket.

use bytes::{Bytes as Data, BytesMut};
use millpond_law::{Random, Settings};
use millpond_node::clock::Clock;
use millpond_node::connections::Connections;
use millpond_node::identity::{self, Identity, PublicKey};
use millpond_node::weight::Weight;
use millpond_node::{Abort, FlowId, Neighbour, Node, NodeConfig, NodeEvent};
use millpond_protocols::Registry;
use millpond_units::{Bytes, Rate, Span, Time};
use noq_proto::EcnCodepoint;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::SocketAddr;
use std::time::Instant;

/// A link in one direction: a rate, a queue that marks and drops, a delay, and faults.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    /// Bytes of queue from which packets are marked, with a probability that grows to one at the second size.
    pub(crate) marking: (f64, f64),
    pub(crate) buffer: f64,
    pub(crate) loss: f64,
    /// Probability that a packet is delayed by half a millisecond more.
    pub(crate) reordering: f64,
    free_at: Time,
    /// Packets that were given a CE mark, and those of them that were delivered.
    pub(crate) marked: u64,
    pub(crate) marked_bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) bytes: u64,
    pub(crate) longest_queue: Span,
}

impl Wire {
    pub(crate) fn new(mbps: f64, delay_ms: f64) -> Self {
        Self {
            rate: Rate::from_mbps(mbps),
            delay: Span::from_secs(delay_ms / 1000.0),
            marking: (12e3, 100e3),
            buffer: 500e3,
            loss: 0.0,
            reordering: 0.0,
            free_at: Time::ZERO,
            marked: 0,
            marked_bytes: 0,
            dropped: 0,
            bytes: 0,
            longest_queue: Span::ZERO,
        }
    }

    /// When a datagram arrives, and with which ECN field; none if it is dropped.
    fn carry(
        &mut self,
        now: Time,
        payload: usize,
        ecn: Option<EcnCodepoint>,
        random: &mut Random,
    ) -> Option<(Time, Option<EcnCodepoint>)> {
        let size = Bytes::new(payload as u64 + 28);
        let queue = self.rate.bytes_in(self.free_at.since(now)).as_f64();
        if queue + size.as_f64() > self.buffer || random.chance(self.loss) {
            self.dropped += 1;
            return None;
        }
        let (least, most) = self.marking;
        let is_marked = ecn.is_some() && random.chance(((queue - least) / (most - least)).clamp(0.0, 1.0));
        self.marked += u64::from(is_marked);
        self.marked_bytes += if is_marked { size.get() } else { 0 };
        self.bytes += size.get();
        self.longest_queue = self.longest_queue.max(self.free_at.since(now));
        self.free_at = self.free_at.max(now) + self.rate.time_for(size);
        let late = if random.chance(self.reordering) { Span::from_micros(500) } else { Span::ZERO };
        Some((self.free_at + self.delay + late, if is_marked { Some(EcnCodepoint::Ce) } else { ecn }))
    }
}

/// A datagram under way; ordered by arrival.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Time,
    number: u64,
    to: usize,
    from: usize,
    ecn: Option<u8>,
    bytes: Vec<u8>,
}

/// An application at one end of a flow: it sends a number of bytes, and receives what comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct App {
    pub(crate) to_send: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The received bytes were those of the pattern.
    pub(crate) is_wrong: bool,
    /// It keeps its direction open after it has sent everything.
    pub(crate) stays_open: bool,
    /// It reads nothing.
    pub(crate) is_stalled: bool,
    pub(crate) has_finished: bool,
    /// The other side has ended in order.
    pub(crate) saw_end: bool,
    pub(crate) is_closed: bool,
    pub(crate) aborted: Option<(Abort, Time)>,
    pub(crate) ended_at: Option<Time>,
}

/// The byte at an offset of every stream.
fn pattern(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl App {
    pub(crate) fn sending(bytes: u64) -> Self {
        Self { to_send: bytes, ..Self::default() }
    }
}

/// A node at its address.
pub(crate) struct Host {
    pub(crate) node: Option<Node>,
    pub(crate) config: NodeConfig,
    pub(crate) apps: BTreeMap<FlowId, App>,
    pub(crate) links_lost: Vec<(String, Time)>,
    pub(crate) not_connected: Vec<(Option<SocketAddr>, String, Option<PublicKey>)>,
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) hosts: Vec<Host>,
    pub(crate) wires: BTreeMap<(usize, usize), Wire>,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    numbers: u64,
    random: Random,
    clock: Clock,
    /// What the application at the exit sends back and does.
    pub(crate) answer: App,
    /// How late the timers of nodes are.
    pub(crate) wake_up_delay: Span,
}

pub(crate) fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 4433))
}

fn host_of(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(address) => usize::from(address.ip().octets()[3]) - 1,
        SocketAddr::V6(_) => unreachable!("all addresses are IPv4"),
    }
}

pub(crate) fn settings(
    protocol: &'static str,
    written: &[(&'static str, &'static str)],
) -> (&'static dyn millpond_law::Protocol, Settings) {
    let protocol = Registry::builtin().protocol(protocol).unwrap();
    let values = written.iter().map(|(name, value)| (*name, millpond_law::Value::read(value)));
    (protocol, Settings::check(protocol.card().parameters, values).unwrap())
}

impl World {
    /// A chain of nodes; wire `i` joins hosts `i` and `i + 1`, with the same properties in both directions.
    pub(crate) fn chain(
        wires: &[Wire],
        protocol: &'static str,
        written: &[(&'static str, &'static str)],
    ) -> Self {
        Self::chain_with(wires, protocol, written, |_, _| {})
    }

    /// A chain whose nodes have changed configurations: `change` receives the place of each.
    #[allow(clippy::disallowed_methods, reason = "any instant is a start: results do not depend on it")]
    pub(crate) fn chain_with(
        wires: &[Wire],
        protocol: &'static str,
        written: &[(&'static str, &'static str)],
        change: impl Fn(usize, &mut NodeConfig),
    ) -> Self {
        let identities: Vec<Identity> =
            (0..=wires.len()).map(|_| Identity::read(&identity::generate().unwrap()).unwrap()).collect();
        let clock = Clock::new(Instant::now());
        let (protocol, settings) = settings(protocol, written);
        let config = |place: usize| {
            let mut config = NodeConfig {
                identity: identities[place].clone(),
                next: identities
                    .get(place + 1)
                    .map(|next| Neighbour { address: address(place + 1), key: next.public() }),
                previous: place
                    .checked_sub(1)
                    .map(|previous| identities[previous].public())
                    .into_iter()
                    .collect(),
                protocol,
                settings: settings.clone(),
                packet: Bytes::new(1500),
                overhead: Bytes::new(28),
                hold: Span::from_millis(20),
                slack: Span::from_millis(1),
                capacity: None,
                idle_timeout: Span::from_millis(3000),
                stream_window: Bytes::new(1 << 20),
                most_flows: 200,
                connections: Connections::Shared,
                seed: place as u64,
            };
            change(place, &mut config);
            config
        };
        let hosts = (0..=wires.len())
            .map(|place| Host {
                node: Some(Node::new(config(place), clock).unwrap()),
                config: config(place),
                apps: BTreeMap::new(),
                links_lost: Vec::new(),
                not_connected: Vec::new(),
            })
            .collect();
        let directions = wires.iter().enumerate().flat_map(|(place, wire)| {
            [((place, place + 1), wire.clone()), ((place + 1, place), wire.clone())]
        });
        let mut world = Self {
            now: Time::ZERO,
            hosts,
            wires: directions.collect(),
            under_way: BinaryHeap::new(),
            numbers: 0,
            random: Random::stream(1, "world"),
            clock,
            answer: App::default(),
            wake_up_delay: Span::ZERO,
        };
        world.run(1.0);
        assert!(
            world.hosts.iter().all(|host| host.node.as_ref().unwrap().is_ready()),
            "all nodes are joined"
        );
        world
    }

    pub(crate) fn node(&self, host: usize) -> &Node {
        self.hosts[host].node.as_ref().unwrap()
    }

    /// Begins a flow at the enter.
    pub(crate) fn open(&mut self, app: App) -> FlowId {
        self.open_weighted(app, Weight::default())
    }

    /// Begins a flow of this weight.
    pub(crate) fn open_weighted(&mut self, app: App, weight: Weight) -> FlowId {
        let host = &mut self.hosts[0];
        let flow = host.node.as_mut().unwrap().open(self.now, "target.example:80", weight).unwrap();
        host.apps.insert(flow, app);
        flow
    }

    /// A node disappears without a word, as a killed process does.
    pub(crate) fn kill(&mut self, host: usize) {
        self.hosts[host].node = None;
    }

    /// It starts again.
    pub(crate) fn restart(&mut self, host: usize) {
        self.hosts[host].node = Some(Node::new(self.hosts[host].config.clone(), self.clock).unwrap());
    }

    /// It starts again with a changed configuration.
    pub(crate) fn restart_with(&mut self, host: usize, change: impl FnOnce(&mut NodeConfig)) {
        change(&mut self.hosts[host].config);
        self.restart(host);
    }

    /// Runs for a number of seconds.
    pub(crate) fn run(&mut self, seconds: f64) {
        let end = self.now + Span::from_secs(seconds);
        let mut same_instant = 0;
        loop {
            (0..self.hosts.len()).for_each(|host| self.drive(host));
            let arrival = self.under_way.peek().map_or(Time::NEVER, |Reverse(datagram)| datagram.at);
            let timers = self.hosts.iter().flat_map(|host| &host.node).map(Node::deadline);
            let timer = timers.fold(Time::NEVER, Time::min);
            let due = if timer == Time::NEVER { timer } else { timer.max(self.now) + self.wake_up_delay };
            let next = arrival.min(due);
            if next > end {
                self.now = end;
                return;
            }
            // Whole nanoseconds, as real clocks have.
            let next = Time::from_picos(next.picos().div_ceil(1000) * 1000);
            same_instant = if next > self.now { 0 } else { same_instant + 1 };
            assert!(same_instant < 1000, "time stands still at {}", self.now.secs());
            self.now = self.now.max(next);
            self.deliver();
            for host in &mut self.hosts {
                if let Some(node) = host.node.as_mut().filter(|node| node.deadline() <= self.now) {
                    node.on_deadline(self.now);
                }
            }
        }
    }

    fn deliver(&mut self) {
        while self.under_way.peek().is_some_and(|Reverse(datagram)| datagram.at <= self.now) {
            let Some(Reverse(datagram)) = self.under_way.pop() else { return };
            if let Some(node) = &mut self.hosts[datagram.to].node {
                let ecn = datagram.ecn.and_then(EcnCodepoint::from_bits);
                let bytes = BytesMut::from(&datagram.bytes[..]);
                node.on_datagram(self.now, address(datagram.from), None, ecn, bytes);
                self.drive(datagram.to);
            }
        }
    }

    /// Applications, then all datagrams that leave now.
    fn drive(&mut self, place: usize) {
        let now = self.now;
        loop {
            let host = &mut self.hosts[place];
            let Some(node) = &mut host.node else { return };
            while let Some(event) = node.next_event() {
                match event {
                    NodeEvent::Open { flow, target } => {
                        assert_eq!(target, "target.example:80");
                        node.connected(now, flow);
                        host.apps.insert(flow, self.answer.clone());
                    }
                    NodeEvent::Closed(flow) => {
                        let app = host.apps.get_mut(&flow).unwrap();
                        (app.is_closed, app.ended_at) = (true, Some(now));
                    }
                    NodeEvent::Aborted(flow, reason) => {
                        if let Some(app) = host.apps.get_mut(&flow) {
                            app.aborted = Some((reason, now));
                        }
                    }
                    NodeEvent::LinkLost(_, reason) => host.links_lost.push((reason, now)),
                    NodeEvent::NotConnected { next, reason, refused } => {
                        host.not_connected.push((next, reason, refused));
                    }
                    NodeEvent::Connected(_) | NodeEvent::Readable(_) | NodeEvent::LinkUp(..) => {}
                }
            }
            for (flow, app) in host.apps.iter_mut().filter(|(_, app)| !app.is_closed && app.aborted.is_none())
            {
                run_app(now, node, *flow, app);
            }
            let mut buffer = Vec::new();
            let Some(transmit) = node.transmit(now, &mut buffer) else { return };
            let to = host_of(transmit.destination);
            let wire = self.wires.get_mut(&(place, to)).unwrap();
            if let Some((at, ecn)) = wire.carry(now, transmit.size, transmit.ecn, &mut self.random) {
                self.numbers += 1;
                self.under_way.push(Reverse(UnderWay {
                    at,
                    number: self.numbers,
                    to,
                    from: place,
                    ecn: ecn.map(|ecn| ecn as u8),
                    bytes: buffer[..transmit.size].to_vec(),
                }));
            }
        }
    }
}

fn run_app(now: Time, node: &mut Node, flow: FlowId, app: &mut App) {
    while !app.is_stalled {
        let Some(data) = node.front(flow) else { break };
        for byte in &data {
            app.is_wrong |= *byte != pattern(app.received);
            app.received += 1;
        }
        node.took(flow, data.len());
    }
    loop {
        let bytes = (node.room(flow) as u64).min(app.to_send - app.sent);
        if bytes == 0 {
            break;
        }
        let data: Vec<u8> = (app.sent..app.sent + bytes).map(pattern).collect();
        node.offer(now, flow, Data::from(data));
        app.sent += bytes;
    }
    if app.sent == app.to_send && !app.stays_open && !app.has_finished {
        app.has_finished = true;
        node.finish(flow);
    }
    if node.is_ended(flow) && !app.saw_end {
        app.saw_end = true;
        node.on_shut_down(flow);
    }
}
