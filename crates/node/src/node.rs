//! The core of a node, without clock and socket: connections to neighbours, flows, what is held for them.
//!
//! The driver passes the time, received datagrams and the data of local sockets, and polls [`Node::transmit`],
//! [`Node::next_event`] and [`Node::deadline`].

use crate::clock::{Clock, duration};
use crate::connections::Connections;
use crate::control::{Control, ControlConfig, SharedControl};
use crate::flow::{Abort, End, Flow, FlowId, LinkId};
use crate::flow_connections::FlowConnections;
use crate::identity::{Identity, PublicKey, RefusedKey};
use crate::link::{Link, LinkEvent, LinkParts, LinkSizes};
use crate::links::Links;
use bytes::BytesMut;
use millpond_law::{HeaderId, Needs, Protocol, Random, RelayView, SettingError, Settings, Sharing};
use millpond_units::{Bytes, Rate, Span, Time};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, FourTuple, HashedConnectionIdGenerator, IdleTimeout, Incoming, ServerConfig, Transmit,
    TransportConfig, VarInt,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Names of TLS are not used; both ends are known by their keys.
const SERVER_NAME: &str = "node.millpond.invalid";
/// The first and the longest delay before the next neighbour is dialled again.
const FIRST_REDIAL: Span = Span::from_millis(100);
const LONGEST_REDIAL: Span = Span::from_millis(2000);
/// Connections in their handshakes at a time, whose neighbours are unknown.
const MOST_HANDSHAKES: usize = 64;
/// The delay of acknowledgements that a node asks its neighbours for.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Room for one rate message in the library's buffer, with its own accounts of it.
const DATAGRAM_BUFFER: usize = 192;

/// The next neighbour on the way to the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Where it receives datagrams.
    pub address: SocketAddr,
    /// Its public key.
    pub key: PublicKey,
}

/// The configuration of a node's core.
#[derive(Clone)]
pub struct NodeConfig {
    /// The key pair of the node.
    pub identity: Identity,
    /// The next neighbour; none at an exit.
    pub next: Option<Neighbour>,
    /// The keys of the previous neighbours; none at an enter.
    pub previous: Vec<PublicKey>,
    /// The protocol of the loops that this node sends on.
    pub protocol: &'static dyn Protocol,
    /// Its parameters.
    pub settings: Settings,
    /// A full packet with its IP header: the MTU of the path.
    pub packet: Bytes,
    /// Bytes of IP and UDP headers.
    pub overhead: Bytes,
    /// How long the node holds data at most, at the rate at which it may send.
    pub hold: Span,
    /// Delay of the hosts: acknowledgements and wake-ups, those that nodes put off included.
    pub slack: Span,
    /// Capacity of the outgoing link, if it is known.
    pub capacity: Option<Rate>,
    /// A connection without a packet from the neighbour ends after this time.
    pub idle_timeout: Span,
    /// What a neighbour may send on one stream before this node has read it.
    pub stream_window: Bytes,
    /// Flows at a time.
    pub most_flows: usize,
    /// Whether flows share a connection to the next neighbour.
    pub connections: Connections,
    /// Seed of the laws' random numbers.
    pub seed: u64,
}

/// What the driver must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The exit must connect a flow to this target.
    Open {
        /// The flow.
        flow: FlowId,
        /// Host and port.
        target: String,
    },
    /// The exit has connected a flow.
    Connected(FlowId),
    /// A flow has data or its end for the local socket.
    Readable(FlowId),
    /// Both directions of a flow have ended in order.
    Closed(FlowId),
    /// A flow was aborted: the local socket must be reset.
    Aborted(FlowId, Abort),
    /// A connection to a neighbour is established.
    LinkUp(LinkId, Option<PublicKey>),
    /// A connection to a neighbour was lost.
    LinkLost(LinkId, String),
    /// A connection to a neighbour was not established.
    NotConnected {
        /// The address of the next node; none if the neighbour began the connection.
        next: Option<SocketAddr>,
        /// The reason.
        reason: String,
        /// The key of the peer, if it was refused because it is not listed.
        refused: Option<PublicKey>,
    },
}

/// The core of a node.
pub struct Node {
    pub(crate) config: NodeConfig,
    pub(crate) needs: Needs,
    pub(crate) clock: Clock,
    endpoint: Endpoint,
    pub(crate) links: Links<Link>,
    handles: BTreeMap<usize, LinkId>,
    pub(crate) flows: BTreeMap<FlowId, Flow>,
    pub(crate) streams: BTreeMap<(LinkId, u64), FlowId>,
    /// Directions of flows that wait for room.
    pub(crate) waiting: BTreeSet<(FlowId, usize)>,
    responses: VecDeque<(Transmit, Vec<u8>)>,
    pub(crate) events: VecDeque<NodeEvent>,
    pub(crate) next: Option<LinkId>,
    pub(crate) flow_connections: FlowConnections,
    redial_at: Time,
    redial_delay: Span,
    links_made: LinkId,
    pub(crate) flows_made: FlowId,
    pub(crate) is_closing: bool,
    /// Flows refused or aborted since the start.
    pub(crate) aborted: u64,
}

/// Why a node cannot be made.
#[derive(Debug)]
pub enum NodeError {
    /// A setting of the law.
    Setting(SettingError),
    /// TLS.
    Tls(String),
}

impl std::fmt::Display for NodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Setting(error) => write!(f, "{error}"),
            Self::Tls(error) => write!(f, "TLS: {error}"),
        }
    }
}

impl std::error::Error for NodeError {}

impl Node {
    /// A node that has no connection yet. It dials its next neighbour at the first [`Self::on_deadline`].
    pub fn new(config: NodeConfig, clock: Clock) -> Result<Self, NodeError> {
        config.protocol.sender(&config.settings).map_err(NodeError::Setting)?;
        let mut endpoint = EndpointConfig::new(Arc::new(config.identity.reset_key()));
        let key = config.identity.connection_id_key();
        endpoint.cid_generator(Arc::new(move || Box::new(HashedConnectionIdGenerator::from_key(key))));
        let payload = config.packet.saturating_sub(config.overhead).get();
        let tls = |error: &dyn std::fmt::Display| NodeError::Tls(error.to_string());
        let size = u16::try_from(payload).map_err(|error| tls(&error))?;
        endpoint.max_udp_payload_size(size).map_err(|error| tls(&error))?;
        let mut node = Self {
            needs: config.protocol.needs(&config.settings),
            clock,
            endpoint: Endpoint::new(Arc::new(endpoint), None, false),
            links: Links::default(),
            handles: BTreeMap::new(),
            flows: BTreeMap::new(),
            streams: BTreeMap::new(),
            waiting: BTreeSet::new(),
            responses: VecDeque::new(),
            events: VecDeque::new(),
            next: None,
            flow_connections: FlowConnections::default(),
            redial_at: if config.next.is_some() { Time::ZERO } else { Time::NEVER },
            redial_delay: FIRST_REDIAL,
            links_made: 0,
            flows_made: 0,
            is_closing: false,
            aborted: 0,
            config,
        };
        node.set_server()?;
        Ok(node)
    }

    /// Accepts connections from the neighbours that are listed now.
    fn set_server(&mut self) -> Result<(), NodeError> {
        let server = match self.config.previous.is_empty() {
            true => None,
            false => Some(Arc::new(self.server_config(RefusedKey::default())?)),
        };
        self.endpoint.set_server_config(server);
        Ok(())
    }

    /// The server's side of TLS. Each connection gets transport parameters of its own when it is accepted.
    fn server_config(&self, refused: RefusedKey) -> Result<ServerConfig, NodeError> {
        let tls = |error: &dyn std::fmt::Display| NodeError::Tls(error.to_string());
        let previous = self.config.previous.clone();
        let rustls = self.config.identity.server(previous, refused).map_err(|error| tls(&error))?;
        let crypto = QuicServerConfig::try_from(rustls).map_err(|error| tls(&error))?;
        let mut server = ServerConfig::with_crypto(Arc::new(crypto));
        server.migration(false);
        Ok(server)
    }

    /// Takes over the parts of a configuration that can change while connections live: keys of previous neighbours, for
    /// connections made from now on, the capacity, and the number of flows.
    pub fn reconfigure(&mut self, now: Time, config: &NodeConfig) -> Result<(), NodeError> {
        self.config.previous.clone_from(&config.previous);
        self.config.most_flows = config.most_flows;
        self.set_server()?;
        if let Some(capacity) = config.capacity.filter(|capacity| self.config.capacity != Some(*capacity)) {
            self.on_capacity(now, capacity);
        }
        Ok(())
    }

    /// The capacity of the outgoing link has changed.
    pub fn on_capacity(&mut self, now: Time, capacity: Rate) {
        self.config.capacity = Some(capacity);
        for id in self.links.ids() {
            if let Some(link) = self.links.get_mut(id) {
                link.control.get().on_capacity(now, capacity);
            }
        }
    }

    /// A law for a new connection, and the transport parameters with it as the library's controller.
    fn loop_parts(&mut self) -> Result<(SharedControl, Arc<TransportConfig>, LinkId), SettingError> {
        let config = &self.config;
        let law = config.protocol.sender(&config.settings)?;
        self.links_made += 1;
        let id = self.links_made;
        let control_config = ControlConfig {
            packet: config.packet,
            overhead: config.overhead,
            slack: config.slack,
            capacity: config.capacity,
            needs: self.needs,
        };
        let random = Random::numbered(config.seed, u64::from(id) * 2);
        let control = SharedControl::new(Control::new(control_config, self.clock, law, random));
        let transport = Arc::new(transport(config, &control));
        Ok((control, transport, id))
    }

    fn add_link(
        &mut self,
        now: Time,
        id: LinkId,
        handle: ConnectionHandle,
        connection: noq_proto::Connection,
        (control, refused): (SharedControl, RefusedKey),
    ) -> Result<(), SettingError> {
        let config = &self.config;
        let receiver = config.protocol.receiver(&config.settings)?;
        let sizes = LinkSizes {
            packet: config.packet,
            overhead: config.overhead,
            hold: config.hold,
            most_held: config.stream_window * 4,
        };
        let random = Random::numbered(config.seed, u64::from(id) * 2 + 1);
        let echo_id: HeaderId = self.needs.header;
        let parts = LinkParts {
            handle,
            connection,
            clock: self.clock,
            control,
            refused,
            receiver,
            echo_id,
            random,
            sizes,
        };
        let link = Link::new(now, parts);
        self.handles.insert(handle.0, id);
        self.links.insert(id, link);
        Ok(())
    }

    /// Connects to the next neighbour.
    fn dial(&mut self, now: Time) {
        self.redial_at = now + self.redial_delay;
        self.redial_delay = (self.redial_delay * 2).min(LONGEST_REDIAL);
        let Some(neighbour) = self.config.next.filter(|_| !self.is_closing) else { return };
        match self.connect(now, neighbour) {
            Ok(id) => {
                self.next = Some(id);
                self.redial_at = Time::NEVER;
            }
            Err(error) => tracing::error!(neighbour = %neighbour.address, error, "cannot dial"),
        }
    }

    /// Begins a connection to a neighbour.
    pub(crate) fn connect(&mut self, now: Time, neighbour: Neighbour) -> Result<LinkId, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let refused = RefusedKey::default();
        let rustls =
            self.config.identity.client(neighbour.key, refused.clone()).map_err(|error| text(&error))?;
        let crypto = QuicClientConfig::try_from(rustls).map_err(|error| text(&error))?;
        let mut client = ClientConfig::new(Arc::new(crypto));
        let (control, transport, id) = self.loop_parts().map_err(|error| text(&error))?;
        client.transport_config(transport);
        let instant = self.clock.instant(now);
        let (handle, connection) = self
            .endpoint
            .connect(instant, client, neighbour.address, SERVER_NAME)
            .map_err(|error| text(&error))?;
        self.add_link(now, id, handle, connection, (control, refused)).map_err(|error| text(&error))?;
        Ok(id)
    }

    /// Accepts a connection of a previous neighbour; TLS checks its key.
    fn accept(&mut self, now: Time, incoming: Incoming) {
        let mut response = Vec::new();
        let handshakes = self.links.iter().filter(|(_, link)| !link.is_up).count();
        let most_links = MOST_HANDSHAKES.saturating_add(self.config.most_flows);
        if self.is_closing || handshakes >= MOST_HANDSHAKES || self.links.len() >= most_links {
            let transmit = self.endpoint.refuse(incoming, &mut response);
            self.responses.push_back((transmit, response));
            return;
        }
        let refused = RefusedKey::default();
        let parts = (self.server_config(refused.clone()), self.loop_parts());
        let (Ok(mut server), Ok((control, transport, id))) = parts else {
            return self.endpoint.ignore(incoming);
        };
        server.transport_config(transport);
        let instant = self.clock.instant(now);
        match self.endpoint.accept(incoming, instant, &mut response, Some(Arc::new(server))) {
            Ok((handle, connection)) => {
                if let Err(error) = self.add_link(now, id, handle, connection, (control, refused)) {
                    tracing::error!(%error, "cannot accept");
                }
                self.after_input(now, id);
            }
            Err(error) => {
                let reason = error.cause.to_string();
                self.events.push_back(NodeEvent::NotConnected { next: None, reason, refused: None });
                if let Some(transmit) = error.response {
                    self.responses.push_back((transmit, response));
                }
            }
        }
    }

    /// Processes a received datagram.
    pub fn on_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        to: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        datagram: BytesMut,
    ) {
        let (length, mut response) = (datagram.len(), Vec::new());
        let path = FourTuple::new(from, to);
        let event = self.endpoint.handle(self.clock.instant(now), path, ecn, datagram, &mut response);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let Some(id) = self.handles.get(&handle.0).copied() else { return };
                let is_data = self.links.get(id).is_some_and(|link| link.is_data(length));
                // Laws of receivers process data packets alone.
                let view = if is_data { self.relay_view(id) } else { None };
                if let Some(link) = self.links.get_mut(id) {
                    link.on_received(now, length, ecn, view.as_ref());
                    link.connection.handle_event(event);
                }
                self.after_input(now, id);
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(transmit)) => self.responses.push_back((transmit, response)),
            None => {}
        }
    }

    /// Handles all timers that have expired.
    pub fn on_deadline(&mut self, now: Time) {
        if self.redial_at <= now && self.next.is_none() {
            self.dial(now);
        }
        for id in self.links.due(now) {
            let Some(link) = self.links.get_mut(id) else { continue };
            let instant = self.clock.instant(now);
            let has_expired = link.connection.poll_timeout().is_some_and(|due| due <= instant);
            if has_expired {
                link.connection.handle_timeout(instant);
            }
            link.on_deadline(now);
            if has_expired {
                self.after_input(now, id);
            }
        }
    }

    /// When [`Self::on_deadline`] must be called and [`Self::transmit`] polled, unless another event comes first.
    pub fn deadline(&self) -> Time {
        let redial = if self.next.is_none() { self.redial_at } else { Time::NEVER };
        redial.min(self.links.deadline())
    }

    /// Processes what the library reports about a link, and its events for the endpoint.
    fn after_input(&mut self, now: Time, id: LinkId) {
        let Some(link) = self.links.get_mut(id) else { return };
        let events = link.settle(now);
        for event in events {
            self.on_link_event(now, id, event);
        }
        self.close_if_over(now, id);
        self.exchange_events(id);
    }

    /// Passes events between connection and endpoint; removes a connection of which nothing more will come.
    fn exchange_events(&mut self, id: LinkId) {
        let Some(link) = self.links.get_mut(id) else { return };
        let handle = link.handle;
        let mut is_drained = false;
        while let Some(event) = link.connection.poll_endpoint_events() {
            is_drained |= event.is_drained();
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                link.connection.handle_event(event);
            }
        }
        if is_drained {
            self.links.remove(id);
            self.handles.remove(&handle.0);
        }
    }

    fn on_link_event(&mut self, now: Time, id: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Up if self.flow_connections.contains(id) => self.begin_stream(id),
            LinkEvent::Up => {
                let peer = self.links.get(id).and_then(|link| link.peer);
                if self.next == Some(id) {
                    self.redial_delay = FIRST_REDIAL;
                }
                self.events.push_back(NodeEvent::LinkUp(id, peer));
            }
            LinkEvent::Lost { reason, was_up, is_over } => {
                let next = self.next_address(id);
                let refused = self.links.get(id).and_then(|link| link.refused.get().copied());
                self.on_link_lost(now, id);
                match (is_over, was_up) {
                    (true, _) => {}
                    (false, true) => self.events.push_back(NodeEvent::LinkLost(id, reason)),
                    (false, false) => {
                        self.events.push_back(NodeEvent::NotConnected { next, reason, refused })
                    }
                }
            }
            LinkEvent::Opened => self.accept_streams(now, id),
            LinkEvent::Readable(stream) => self.on_readable(now, id, stream),
            LinkEvent::Stopped(stream, code) => {
                if let Some(flow) = self.streams.get(&(id, stream.into())).copied() {
                    self.abort_flow(flow, Abort::of_code(code));
                }
            }
            LinkEvent::Finished(stream) => self.on_finished(id, stream),
        }
    }

    /// The flows of a lost connection end; the next neighbour is dialled again.
    fn on_link_lost(&mut self, now: Time, id: LinkId) {
        let is_of_link = |end: &End| matches!(end, End::Stream(link, _) if *link == id);
        let lost: Vec<FlowId> = self
            .flows
            .iter()
            .filter(|(_, flow)| flow.ends.iter().any(is_of_link))
            .map(|(flow, _)| *flow)
            .collect();
        for flow in lost {
            self.abort_flow(flow, if self.is_closing { Abort::Shutdown } else { Abort::LinkLost });
        }
        if self.next == Some(id) {
            self.next = None;
            self.redial_at = now + self.redial_delay;
        }
        self.flow_connections.remove(id);
    }

    /// The address of the next node, if this node began the connection.
    fn next_address(&self, id: LinkId) -> Option<SocketAddr> {
        let is_begun_here = self.next == Some(id) || self.flow_connections.contains(id);
        self.config.next.as_ref().filter(|_| is_begun_here).map(|next| next.address)
    }

    /// The next datagram that leaves now, with its bytes in `buffer`. The driver polls until the result is none.
    pub fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        buffer.clear();
        if let Some((transmit, bytes)) = self.responses.pop_front() {
            *buffer = bytes;
            return Some(transmit);
        }
        loop {
            while let Some(id) = self.links.first_changed() {
                if let Some(transmit) = self.transmit_on(now, id, buffer) {
                    return Some(transmit);
                }
                self.links.rest(id);
            }
            if !self.read_waiting(now) {
                return None;
            }
        }
    }

    fn transmit_on(&mut self, now: Time, id: LinkId, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.links.get(id)?.may_send_message(now) {
            let view = self.relay_view(id);
            self.links.get_mut(id)?.prepare_message(now, view.as_ref());
        }
        let instant = self.clock.instant(now);
        let sent = self.links.get_mut(id)?.transmit(now, instant, buffer);
        self.exchange_events(id);
        sent
    }

    /// The state of the loops that continue the flows of a link, for its receiver's law; none where they end.
    pub(crate) fn relay_view(&self, id: LinkId) -> Option<RelayView> {
        if self.config.previous.is_empty() || self.config.next.is_none() {
            return None;
        }
        let is_up = |link: &&Link| link.is_up;
        let alone = |link: &Link| link.view(held_from(link, id), Sharing::ALONE);
        if let Some(source) = self.flow_connections.source(id) {
            let source = self.links.get(source?).filter(is_up)?;
            return Some(source.view(held_from(source, id), sharing(source, id)));
        }
        if self.next == Some(id) {
            let is_previous = |other: LinkId| other != id && !self.flow_connections.contains(other);
            let others = self.links.iter().filter(|(other, link)| is_previous(*other) && is_up(link));
            return others.map(|(_, link)| alone(link)).reduce(sum_of_views);
        }
        let connections =
            self.flow_connections.continuing(id).filter_map(|own| self.links.get(own)).filter(is_up);
        if let Some(view) = connections.map(alone).reduce(sum_of_views) {
            return Some(view);
        }
        let next = self.next.and_then(|next| self.links.get(next)).filter(is_up)?;
        Some(next.view(held_from(next, id), sharing(next, id)))
    }

    /// Closes all connections, with the reason for the neighbours; [`Self::transmit`] gives the last datagrams.
    pub fn close(&mut self, now: Time) {
        self.is_closing = true;
        for flow in self.flows.keys().copied().collect::<Vec<_>>() {
            self.abort_flow(flow, Abort::Shutdown);
        }
        let instant = self.clock.instant(now);
        for id in self.links.ids() {
            let Some(link) = self.links.get_mut(id) else { continue };
            link.is_up = false;
            link.connection.close(instant, VarInt::from_u32(0), "the node is shutting down".into());
        }
    }

    /// Refuses flows from now on; those that exist go on.
    pub fn refuse_flows(&mut self) {
        self.config.most_flows = 0;
    }

    /// The next event for the driver.
    pub fn next_event(&mut self) -> Option<NodeEvent> {
        self.events.pop_front()
    }

    /// Flows at present.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// True if the connection to the next neighbour is established, or the node needs none.
    pub fn is_ready(&self) -> bool {
        let next = self.next.and_then(|next| self.links.get(next));
        self.config.next.is_none() || next.is_some_and(|link| link.is_up)
    }
}

/// Bytes that a link holds for flows from another link.
fn held_from(link: &Link, source: LinkId) -> usize {
    link.backlog.by_source().get(&Some(source)).map_or(0, |held| held.bytes)
}

/// How the loops before `next` share it, from the view of one of them: by the weights of the flows with data.
fn sharing(next: &Link, id: LinkId) -> Sharing {
    let mut weights: BTreeMap<Option<u32>, f64> =
        next.backlog.by_source().iter().map(|(source, held)| (*source, held.weight())).collect();
    weights.entry(Some(id)).or_insert(1.0);
    let total: f64 = weights.values().sum();
    let own = weights.get(&Some(id)).copied().unwrap_or(1.0);
    Sharing {
        members: u32::try_from(weights.len()).unwrap_or(u32::MAX),
        weight: own / total,
        largest: weights.values().copied().fold(0.0, f64::max) / total,
        inverses: weights.values().map(|weight| total / weight).sum(),
        max_min: own / total,
    }
}

/// Loops that continue the flows of one loop together.
fn sum_of_views(a: RelayView, b: RelayView) -> RelayView {
    RelayView {
        next_rate: a.next_rate + b.next_rate,
        next_pace: Rate::from_bps(a.next_pace.bps().saturating_add(b.next_pace.bps())),
        next_in_flight: a.next_in_flight + b.next_in_flight,
        backlog: a.backlog + b.backlog,
        next_backlog: a.next_backlog + b.next_backlog,
        limit: a.limit + b.limit,
        next_rtt: a.next_rtt.max(b.next_rtt),
        next_base_rtt: a.next_base_rtt.max(b.next_base_rtt),
        sharing: Sharing::ALONE,
    }
}

/// Transport parameters of a connection whose controller is `control`.
fn transport(config: &NodeConfig, control: &SharedControl) -> TransportConfig {
    let window = |bytes: Bytes| VarInt::from_u64(bytes.get()).unwrap_or(VarInt::MAX);
    let flows = u64::try_from(config.most_flows).unwrap_or(u64::MAX);
    let payload = u16::try_from(config.packet.saturating_sub(config.overhead).get()).unwrap_or(u16::MAX);
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(1)).max_ack_delay(Some(ACK_DELAY));
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(IdleTimeout::try_from(duration(config.idle_timeout)).ok())
        .initial_mtu(payload)
        .min_mtu(payload)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .stream_receive_window(window(config.stream_window))
        .receive_window(window(config.stream_window * flows))
        .send_window((config.stream_window * flows).get())
        .max_concurrent_bidi_streams(VarInt::from_u64(flows).unwrap_or(VarInt::MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(Some(1 << 16))
        .datagram_send_buffer_size(DATAGRAM_BUFFER)
        .ack_frequency_config(Some(acks))
        .congestion_controller_factory(Arc::new(control.clone()));
    transport
}
