//! The event loop of a node: one thread, `ppoll` with nanoseconds, no runtime.

mod capacity;
mod connect;
mod signals;
mod socket;
mod status;
mod strangers;
mod udp;

use crate::clock::{Clock, duration};
use crate::config::{Config, ConfigError, Forward, weight_of};
use crate::flow::{Abort, FlowId};
use crate::node::{Node, NodeError, NodeEvent};
use crate::proxy::{Proxy, Step};
use crate::weight::Weight;
use capacity::CapacityReader;
use connect::Connector;
use millpond_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signals::{Signal, Signals, drain};
use socket::{LocalSocket, Outcome, Stage};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Instant;
use strangers::{AcceptPause, LONGEST_WITHOUT_FLOW, MOST_WITHOUT_FLOW, RareLine};
use udp::Udp;

/// Datagrams that leave before the sockets are looked at again.
const MOST_DATAGRAMS: usize = 64;
/// Calls that receive datagrams before the sockets are looked at again.
const MOST_RECEIVES: usize = 8;
/// A second in nanoseconds.
const NANOS: u64 = 1_000_000_000;

/// Why a node stopped.
#[derive(Debug)]
pub enum RunError {
    /// The configuration.
    Config(ConfigError),
    /// The core.
    Node(NodeError),
    /// A socket, in one sentence.
    Socket(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Node(error) => write!(f, "{error}"),
            Self::Socket(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for RunError {}

/// The message about an address that cannot be bound.
fn bind_error(key: &str, address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            format!(
                "{key}: no permission for {address}: ports below 1024 need the capability CAP_NET_BIND_SERVICE"
            )
        }
        ErrorKind::AddrInUse => format!("{key}: {address} is in use by another program"),
        ErrorKind::AddrNotAvailable => format!("{key}: {address} is not an address of this host"),
        _ => format!("{key}: cannot bind {address}: {error}"),
    }
}

/// What a listening socket accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Service {
    Forward(String, Weight),
    Proxy(Proxy),
    Status,
}

/// A listening socket.
struct Listener {
    socket: TcpListener,
    service: Service,
}

impl Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A node with its sockets.
pub struct Driver {
    path: PathBuf,
    config: Config,
    node: Node,
    clock: Clock,
    udp: Udp,
    listeners: Vec<Listener>,
    sockets: BTreeMap<u64, LocalSocket>,
    by_flow: BTreeMap<FlowId, u64>,
    sockets_made: u64,
    /// Sockets that need no report of the kernel to go on.
    ready: BTreeSet<u64>,
    connector: Connector,
    connected: UnixStream,
    signals: Signals,
    is_draining: bool,
    capacity: CapacityReader,
    accept_pause: AcceptPause,
    /// Lines about connections that are not accepted, or make room for others.
    accept_log: RareLine,
    room_log: RareLine,
    dial_log: RareLine,
    handshake_log: RareLine,
    refused_log: RareLine,
    buffer: Vec<u8>,
    /// When the node last looked at its sockets.
    looked_at: Time,
    /// The UDP socket had more datagrams than are processed at a time.
    has_input: bool,
}

impl Driver {
    /// Binds all sockets of a node. On an error nothing is left behind.
    pub fn new(path: &Path, config: Config) -> Result<Self, RunError> {
        let clock = Clock::new(now());
        let node = Node::new(config.node.clone(), clock).map_err(RunError::Node)?;
        let udp = Udp::bind(config.listen).map_err(RunError::Socket)?;
        let listeners = listeners(&config).map_err(RunError::Socket)?;
        let system = |error: io::Error| RunError::Socket(format!("cannot begin: {error}"));
        let (wake, connected) = UnixStream::pair().map_err(system)?;
        connected.set_nonblocking(true).map_err(system)?;
        let signals = Signals::new().map_err(system)?;
        Ok(Self {
            path: path.to_owned(),
            node,
            clock,
            udp,
            listeners,
            sockets: BTreeMap::new(),
            by_flow: BTreeMap::new(),
            sockets_made: 0,
            ready: BTreeSet::new(),
            connector: Connector::new(wake),
            connected,
            signals,
            is_draining: false,
            capacity: CapacityReader::new(config.capacity_source.clone()),
            accept_pause: AcceptPause::default(),
            accept_log: RareLine::default(),
            room_log: RareLine::default(),
            dial_log: RareLine::default(),
            handshake_log: RareLine::default(),
            refused_log: RareLine::default(),
            buffer: vec![0; 65_536],
            looked_at: Time::ZERO,
            has_input: false,
            config,
        })
    }

    fn now(&self) -> Time {
        self.clock.time(now())
    }

    /// Runs until a signal ends the node.
    pub fn run(&mut self) -> Result<(), RunError> {
        // Timers of the kernel are late by their slack, 50 us unless set.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        tracing::info!(role = ?self.config.role, listen = %self.config.listen, key = %self.config.node.identity.public(), "node started");
        loop {
            let has_more = self.work();
            if self.is_draining && self.node.flow_count() == 0 && self.sockets.is_empty() {
                tracing::info!("drained");
                self.shut_down();
                return Ok(());
            }
            if !has_more && !self.has_input {
                self.coalesce();
            }
            let reports = self.wait(has_more).map_err(RunError::Socket)?;
            let signals = if reports.signals { self.signals.received() } else { Vec::new() };
            for signal in signals {
                match signal {
                    Signal::End => {
                        self.shut_down();
                        return Ok(());
                    }
                    Signal::Reload => self.reload(),
                    Signal::Drain => self.drain(),
                }
            }
            self.on_reports(&reports);
        }
    }

    /// Sleeps if the node has worked within its interval of coalescing: one look at the sockets then serves several
    /// datagrams and timers. A node that had nothing to do for as long works at once.
    fn coalesce(&mut self) {
        let (now, next) = (self.now(), self.looked_at + self.config.coalesce);
        if now < next {
            std::thread::sleep(duration(next.since(now)));
        }
        self.looked_at = self.now();
    }

    /// Does all that can be done without waiting; true if datagrams are left to send.
    fn work(&mut self) -> bool {
        let now = self.now();
        if self.node.deadline() <= now {
            self.node.on_deadline(now);
        }
        self.read_capacity(now);
        self.end_without_flow(now);
        self.on_attempts(now);
        self.on_events(now);
        self.serve_ready(now);
        self.udp.flush();
        let mut buffer = Vec::new();
        for _ in 0..MOST_DATAGRAMS {
            if self.udp.is_blocked() {
                return false;
            }
            let Some(transmit) = self.node.transmit(self.now(), &mut buffer) else {
                let now = self.now();
                self.on_events(now);
                self.serve_ready(now);
                return false;
            };
            self.udp.send(transmit, &buffer);
        }
        true
    }

    /// Waits until a socket is ready, a timer expires or a signal comes; returns the sockets that are ready.
    fn wait(&mut self, has_more: bool) -> Result<Reports, String> {
        let timeout = if has_more { Timespec::default() } else { self.timeout() };
        let udp = if self.udp.is_blocked() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut fds = vec![PollFd::from_borrowed_fd(self.udp.as_fd(), udp)];
        fds.push(PollFd::from_borrowed_fd(self.connected.as_fd(), PollFlags::IN));
        fds.push(PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN));
        fds.extend(self.capacity.output().map(|output| PollFd::from_borrowed_fd(output, PollFlags::IN)));
        let first_listener = fds.len();
        let listeners = if self.accept_pause.is_over(self.now()) { &self.listeners[..] } else { &[] };
        let fd_of = |listener| PollFd::from_borrowed_fd(Listener::as_fd(listener), PollFlags::IN);
        fds.extend(listeners.iter().map(fd_of));
        let first_socket = fds.len();
        let waited =
            self.sockets.iter().filter_map(|(id, socket)| Some((*id, socket, socket.interest(&self.node)?)));
        let waited: Vec<(u64, &LocalSocket, PollFlags)> = waited.collect();
        fds.extend(
            waited.iter().map(|(_, socket, flags)| PollFd::from_borrowed_fd(socket.stream().as_fd(), *flags)),
        );
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("cannot wait for sockets: {error}")),
        }
        let reported = |place: usize| fds.get(place).map_or(PollFlags::empty(), PollFd::revents);
        let is_ready = |place: usize| !reported(place).is_empty();
        Ok(Reports {
            udp: is_ready(0),
            connected: is_ready(1),
            signals: is_ready(2),
            listeners: (0..first_socket - first_listener)
                .filter(|place| is_ready(first_listener + place))
                .collect(),
            sockets: waited
                .iter()
                .enumerate()
                .map(|(place, (id, ..))| (*id, reported(first_socket + place)))
                .filter(|(_, flags)| !flags.is_empty())
                .collect(),
        })
    }

    fn timeout(&self) -> Timespec {
        let now = self.now();
        let oldest =
            self.oldest_without_flow().map_or(Time::NEVER, |(_, since)| since + LONGEST_WITHOUT_FLOW);
        let due =
            self.node.deadline().min(self.capacity.deadline()).min(self.accept_pause.end(now)).min(oldest);
        let left = due.since(now).min(Span::from_millis(60_000));
        let nanos = if due <= now { 0 } else { left.picos().div_ceil(1000) };
        Timespec { tv_sec: (nanos / NANOS).cast_signed(), tv_nsec: (nanos % NANOS).cast_signed() }
    }

    fn on_reports(&mut self, reports: &Reports) {
        self.has_input = reports.udp && self.receive();
        if reports.connected {
            drain(&mut self.connected);
        }
        let now = self.now();
        for place in &reports.listeners {
            self.accept(now, *place);
        }
        for (id, flags) in &reports.sockets {
            if let Some(socket) = self.sockets.get_mut(id) {
                socket.on_reported(*flags);
                self.serve(now, *id, flags.contains(PollFlags::ERR));
            }
        }
    }

    /// Processes received datagrams; true if there may be more.
    fn receive(&mut self) -> bool {
        for _ in 0..MOST_RECEIVES {
            let datagrams = self.udp.receive();
            let is_all = datagrams.len() < udp::BUFFERS;
            for datagram in datagrams {
                let now = self.now();
                self.node.on_datagram(now, datagram.from, datagram.to, datagram.ecn, datagram.bytes);
            }
            if is_all {
                return false;
            }
        }
        true
    }

    /// Accepts what has come to a listening socket.
    fn accept(&mut self, now: Time, place: usize) {
        while let Some(listener) = self.listeners.get(place) {
            let (accepted, service) = (listener.socket.accept(), listener.service.clone());
            match accepted {
                Ok((stream, from)) => self.begin(now, stream, from, service),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    self.accept_pause.begin(now);
                    if self.accept_log.is_due(now) {
                        tracing::warn!(%error, "cannot accept connections; trying again ten times a second");
                    }
                    return;
                }
            }
        }
    }

    /// Begins to serve an accepted connection.
    fn begin(&mut self, now: Time, stream: TcpStream, from: SocketAddr, service: Service) {
        let stage = match service {
            Service::Forward(..) => Stage::Data,
            Service::Proxy(proxy) => Stage::Proxy(proxy),
            Service::Status => Stage::Status,
        };
        self.make_room(now);
        let Ok(socket) = LocalSocket::new(stream, stage, None, now) else { return };
        let id = self.add(socket);
        if let Service::Forward(target, weight) = service {
            match self.node.open(now, &target, weight) {
                Ok(flow) => self.join(id, flow),
                Err(reason) => {
                    tracing::warn!(%from, %target, %reason, "flow refused");
                    self.sockets.remove(&id);
                }
            }
        }
    }

    /// The connection that has been without a flow for longest, and since when.
    fn oldest_without_flow(&self) -> Option<(u64, Time)> {
        let mut without_flow = self.sockets.iter().filter(|(_, socket)| socket.flow.is_none());
        without_flow.next().map(|(id, socket)| (*id, socket.since))
    }

    /// Ends the oldest connection without a flow, if there are as many as permitted.
    fn make_room(&mut self, now: Time) {
        let without_flow = self.sockets.values().filter(|socket| socket.flow.is_none()).count();
        let oldest = self.oldest_without_flow().filter(|_| without_flow >= MOST_WITHOUT_FLOW);
        if let Some((oldest, _)) = oldest {
            self.sockets.remove(&oldest);
            if self.room_log.is_due(now) {
                tracing::warn!(
                    MOST_WITHOUT_FLOW,
                    "the oldest connections without a flow make room for new ones"
                );
            }
        }
    }

    /// Ends connections that have been without a flow for too long.
    fn end_without_flow(&mut self, now: Time) {
        while let Some((id, since)) = self.oldest_without_flow()
            && since + LONGEST_WITHOUT_FLOW <= now
        {
            self.sockets.remove(&id);
        }
    }

    fn add(&mut self, socket: LocalSocket) -> u64 {
        self.sockets_made += 1;
        self.sockets.insert(self.sockets_made, socket);
        self.sockets_made
    }

    fn join(&mut self, id: u64, flow: FlowId) {
        self.by_flow.insert(flow, id);
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.flow = Some(flow);
        }
    }

    /// Connections to targets that have been made, or not.
    fn on_attempts(&mut self, now: Time) {
        while let Some(attempt) = self.connector.next() {
            let socket = attempt.result.and_then(|stream| {
                LocalSocket::new(stream, Stage::Data, None, now).map_err(|_| Abort::NotConnected)
            });
            match socket {
                Ok(socket) => {
                    let id = self.add(socket);
                    self.join(id, attempt.flow);
                    self.node.connected(now, attempt.flow);
                    self.ready.insert(id);
                }
                Err(reason) => self.node.abort(attempt.flow, reason),
            }
        }
    }

    fn on_events(&mut self, now: Time) {
        while let Some(event) = self.node.next_event() {
            match event {
                NodeEvent::Open { flow, target } => {
                    if let Err(reason) = self.connector.connect(flow, &target, &self.config.allow) {
                        tracing::warn!(target_name = target, %reason, "flow refused");
                        self.node.abort(flow, reason);
                    }
                }
                NodeEvent::Connected(flow) => self.on_connected(flow),
                NodeEvent::Readable(flow) => self.ready.extend(self.by_flow.get(&flow)),
                NodeEvent::Closed(flow) => {
                    if let Some(mut socket) = self.take(flow) {
                        socket.end();
                    }
                }
                NodeEvent::Aborted(flow, reason) => self.on_aborted(now, flow, reason),
                NodeEvent::LinkUp(link, peer) => {
                    let peer = peer.map_or_else(String::new, |peer| peer.to_string());
                    tracing::info!(link, peer, "connected to a neighbour");
                }
                NodeEvent::LinkLost(link, reason) => {
                    tracing::warn!(link, reason, "connection to a neighbour lost")
                }
                NodeEvent::NotConnected { refused: Some(key), .. } => {
                    if self.refused_log.is_due(now) {
                        tracing::warn!(%key, "refused a peer whose key is not listed");
                    }
                }
                NodeEvent::NotConnected { next: Some(address), reason, .. } => {
                    if self.dial_log.is_due(now) {
                        tracing::warn!(%address, reason, "cannot connect to the next node; trying again");
                    }
                }
                NodeEvent::NotConnected { next: None, reason, .. } => {
                    if self.handshake_log.is_due(now) {
                        tracing::warn!(reason, "a neighbour could not connect");
                    }
                }
            }
        }
    }

    /// The socket of a flow that has ended.
    fn take(&mut self, flow: FlowId) -> Option<LocalSocket> {
        let id = self.by_flow.remove(&flow)?;
        self.ready.remove(&id);
        self.sockets.remove(&id)
    }

    fn on_connected(&mut self, flow: FlowId) {
        let Some(id) = self.by_flow.get(&flow).copied() else { return };
        if let Some(socket) = self.sockets.get_mut(&id)
            && let Stage::Opening(proxy) = socket.stage
        {
            socket.output.extend(proxy.success());
            socket.stage = Stage::Data;
            self.ready.insert(id);
        }
    }

    /// An aborted flow resets its socket, unless the protocol of the application has a message for the reason.
    fn on_aborted(&mut self, now: Time, flow: FlowId, reason: Abort) {
        tracing::info!(flow, %reason, "flow aborted");
        let Some(mut socket) = self.take(flow) else { return };
        if let Stage::Opening(proxy) = socket.stage {
            socket.output.extend(proxy.failure(reason));
            (socket.stage, socket.flow) = (Stage::Closing, None);
            let id = self.add(socket);
            self.serve(now, id, false);
        }
    }

    fn serve_ready(&mut self, now: Time) {
        let has_work = |(id, socket): (&u64, &LocalSocket)| socket.has_work(&self.node).then_some(*id);
        self.ready.extend(self.sockets.iter().filter_map(has_work).collect::<Vec<_>>());
        while let Some(id) = self.ready.pop_first() {
            self.serve(now, id, false);
        }
    }

    /// Reads and writes what is possible at a socket.
    fn serve(&mut self, now: Time, id: u64, has_failed: bool) {
        let outcome = if has_failed { Outcome::Reset } else { self.pass(now, id) };
        if outcome == Outcome::Open {
            return;
        }
        let Some(socket) = self.sockets.remove(&id) else { return };
        if let Some(flow) = socket.flow {
            self.by_flow.remove(&flow);
            self.node.abort(flow, Abort::Local);
        }
    }

    fn pass(&mut self, now: Time, id: u64) -> Outcome {
        let Some(socket) = self.sockets.get_mut(&id) else { return Outcome::Open };
        let written = socket.write(&mut self.node);
        if written != Outcome::Open {
            return written;
        }
        match socket.stage {
            Stage::Proxy(_) | Stage::Status => {
                let read = socket.read_request(&mut self.buffer);
                if read != Outcome::Open {
                    return read;
                }
                self.on_request(now, id);
                Outcome::Open
            }
            Stage::Data => socket.read_flow(now, &mut self.node, &mut self.buffer),
            Stage::Opening(_) | Stage::Closing => Outcome::Open,
        }
    }

    /// Processes the request of an application or of a reader of the status.
    fn on_request(&mut self, now: Time, id: u64) {
        while let Some(socket) = self.sockets.get_mut(&id) {
            match socket.stage {
                Stage::Status if socket.input.windows(4).any(|window| window == b"\r\n\r\n") => {
                    socket.output = status::answer(&socket.input, &self.node.stats(), self.is_draining);
                    socket.stage = Stage::Closing;
                }
                Stage::Proxy(proxy) => match proxy.step(&socket.input) {
                    Step::More => return,
                    Step::Reply { next, reply, consumed } => {
                        socket.output.extend(reply);
                        socket.input.drain(..consumed);
                        socket.stage = Stage::Proxy(next);
                        continue;
                    }
                    Step::Open { target, consumed } => {
                        socket.input.drain(..consumed);
                        let weight = weight_of(&self.config.weights, &target);
                        match self.node.open(now, &target.to_string(), weight) {
                            Ok(flow) => {
                                socket.stage = Stage::Opening(proxy);
                                self.join(id, flow);
                            }
                            Err(reason) => {
                                tracing::warn!(%target, %reason, "flow refused");
                                socket.output.extend(proxy.failure(reason));
                                socket.stage = Stage::Closing;
                            }
                        }
                    }
                    Step::Refuse(reply) => {
                        socket.output.extend(reply);
                        socket.stage = Stage::Closing;
                    }
                },
                _ => return,
            }
            self.ready.insert(id);
            return;
        }
    }

    /// Reads the capacity of the outgoing link from its source.
    fn read_capacity(&mut self, now: Time) {
        let Some(capacity) = self.capacity.read(now) else { return };
        if self.node.config.capacity != Some(capacity) {
            tracing::info!(bits_per_second = capacity.bps(), "capacity of the outgoing link");
            self.node.on_capacity(now, capacity);
        }
    }

    /// Reads the file again: listed keys, allowed targets, limits and capacity change; connections stay.
    fn reload(&mut self) {
        let config = match Config::read(&self.path) {
            Ok(config) => config,
            Err(error) => return tracing::error!("not reloaded: {error}"),
        };
        let is_fixed = config.role == self.config.role
            && config.listen == self.config.listen
            && config.node.identity.public() == self.config.node.identity.public()
            && config.forwards == self.config.forwards
            && (config.socks5, config.http_connect, config.status)
                == (self.config.socks5, self.config.http_connect, self.config.status);
        if !is_fixed {
            return tracing::error!("not reloaded: role, key and addresses change only with a new start");
        }
        let now = self.now();
        match self.node.reconfigure(now, &config.node) {
            Ok(()) => {
                self.capacity.set(config.capacity_source.clone());
                // The windows of living connections allow for the interval that the node began with.
                self.config = Config { coalesce: self.config.coalesce, ..config };
                if self.is_draining {
                    self.node.refuse_flows();
                }
                tracing::info!("reloaded");
            }
            Err(error) => tracing::error!(%error, "not reloaded"),
        }
    }

    /// Accepts no more flows; the node ends when the last one has.
    fn drain(&mut self) {
        tracing::info!(flows = self.node.flow_count(), "draining");
        self.is_draining = true;
        self.listeners.retain(|listener| listener.service == Service::Status);
        self.node.refuse_flows();
    }

    /// Ends all flows and connections, and lets the neighbours know.
    fn shut_down(&mut self) {
        let now = self.now();
        self.node.close(now);
        self.on_events(now);
        let mut buffer = Vec::new();
        while let Some(transmit) = self.node.transmit(self.now(), &mut buffer) {
            self.udp.send(transmit, &buffer);
        }
        for link in self.node.stats().loops {
            tracing::info!(link = link.link, marks = link.received_marks.packets, "CE marks received");
            if let Some((median, most)) = link.pacing_lateness {
                let (p50_us, p99_us) = (median.secs() * 1e6, most.secs() * 1e6);
                tracing::info!(link = link.link, p50_us, p99_us, "lateness of paced packets");
            }
        }
        tracing::info!("node stopped");
    }
}

/// The sockets that are ready.
struct Reports {
    udp: bool,
    connected: bool,
    signals: bool,
    listeners: Vec<usize>,
    sockets: Vec<(u64, PollFlags)>,
}

#[allow(clippy::disallowed_methods, reason = "the only clock of the node")]
fn now() -> Instant {
    Instant::now()
}

/// Binds the listening sockets of a configuration.
fn listeners(config: &Config) -> Result<Vec<Listener>, String> {
    let forward = |Forward { listen, target, weight }: &Forward| {
        ("forward.listen", *listen, Service::Forward(target.to_string(), *weight))
    };
    let mut services: Vec<(&str, SocketAddr, Service)> = config.forwards.iter().map(forward).collect();
    let socks = Service::Proxy(Proxy::Socks5 { greeted: false });
    services.extend(config.socks5.map(|listen| ("socks5", listen, socks)));
    services.extend(
        config.http_connect.map(|listen| ("http_connect", listen, Service::Proxy(Proxy::HttpConnect))),
    );
    services.extend(config.status.map(|listen| ("status", listen, Service::Status)));
    services
        .into_iter()
        .map(|(key, address, service)| {
            let fault = |error: io::Error| bind_error(key, address, &error);
            let socket = TcpListener::bind(address).map_err(fault)?;
            socket.set_nonblocking(true).map_err(fault)?;
            // Accepted sockets inherit it: a fast application does not fill megabytes in the kernel.
            let size = usize::try_from(config.receive_buffer.get()).unwrap_or(usize::MAX);
            rustix::net::sockopt::set_socket_recv_buffer_size(&socket, size)
                .map_err(|error| fault(error.into()))?;
            Ok(Listener { socket, service })
        })
        .collect()
}
