//! One connection to a neighbour: the sender of the loop towards it, the receiver of the loop from it, and what waits.

use crate::backlog::Backlog;
use crate::clock::Clock;
use crate::control::{Control, SharedControl};
use crate::exchange::{Inbox, Outbox};
use crate::identity::{PublicKey, RefusedKey};
use crate::links::Timed;
use crate::message::{RateMessage, Report};
use millpond_endpoint::Marks;
use millpond_law::{Context, Data, Echo, Ecn, Header, HeaderId, LimitedBy, Random, Receiver, RelayView};
use millpond_units::{Bytes, Rate, Span, Time};
use noq_proto::{
    Connection, ConnectionError, ConnectionHandle, Dir, EcnCodepoint, Event, StreamEvent, StreamId, Transmit,
    WriteError,
};
use rustls::pki_types::CertificateDer;
use std::num::NonZeroUsize;
use std::time::Instant;

/// Bytes of a QUIC packet that are not stream data: short header, packet number, tag, and the largest header of a stream
/// frame below 2^30 bytes.
const PACKET_OVERHEAD: usize = 45;
/// The least bound of what a node holds for a loop, in packets, as [`millpond_endpoint::RelayBuffer`] has it.
const LEAST_PACKETS: u64 = millpond_endpoint::RelayBuffer::LEAST_PACKETS;
/// The RTT before the first sample, for the intervals of rate messages.
const UNKNOWN_RTT: Span = Span::from_millis(40);

/// The error code with which a connection is closed whose only flow has ended.
pub(crate) const FLOW_ENDED: u32 = 1;

/// What happened on a connection.
#[derive(Debug, PartialEq)]
pub(crate) enum LinkEvent {
    /// The handshake is confirmed.
    Up,
    /// The connection was lost, was never established, or closed because its only flow has ended.
    Lost {
        /// The reason.
        reason: String,
        /// Its handshake was confirmed.
        was_up: bool,
        /// Its only flow has ended.
        is_over: bool,
    },
    /// The neighbour has opened streams.
    Opened,
    /// A stream has data, its end or its reset.
    Readable(StreamId),
    /// The neighbour reads no more of a stream.
    Stopped(StreamId, u64),
    /// All data of a stream is acknowledged.
    Finished(StreamId),
}

/// Sizes of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSizes {
    /// A full packet with its IP header.
    pub(crate) packet: Bytes,
    /// Bytes of IP and UDP headers.
    pub(crate) overhead: Bytes,
    /// How long data is held at most.
    pub(crate) hold: Span,
    /// The largest bound of what is held, at any rate.
    pub(crate) most_held: Bytes,
}

/// A connection to a neighbour.
pub(crate) struct Link {
    pub(crate) handle: ConnectionHandle,
    pub(crate) connection: Connection,
    clock: Clock,
    pub(crate) control: SharedControl,
    pub(crate) backlog: Backlog,
    pub(crate) peer: Option<PublicKey>,
    /// The key of the peer, if TLS has refused it.
    pub(crate) refused: RefusedKey,
    pub(crate) is_up: bool,
    /// Flows that the neighbour began on the connection and that have ended here.
    pub(crate) ended: u64,
    /// Flows that this node began on the connection, if it is that of a single flow.
    pub(crate) begun: u64,
    /// Flows that this node began on the connection and that have ended at the neighbour.
    pub(crate) ended_at_peer: u64,
    sizes: LinkSizes,
    receiver: Box<dyn Receiver>,
    echo_id: HeaderId,
    echo: Echo,
    random: Random,
    marks: Marks,
    outbox: Outbox,
    inbox: Inbox,
    has_message: bool,
    weight: f64,
    sends_ecn: bool,
}

/// What a link is made of.
pub(crate) struct LinkParts {
    pub(crate) handle: ConnectionHandle,
    pub(crate) connection: Connection,
    pub(crate) clock: Clock,
    pub(crate) control: SharedControl,
    pub(crate) refused: RefusedKey,
    pub(crate) receiver: Box<dyn Receiver>,
    pub(crate) echo_id: HeaderId,
    pub(crate) random: Random,
    pub(crate) sizes: LinkSizes,
}

impl Timed for Link {
    fn due(&self) -> Time {
        let library = self.connection.poll_timeout().map_or(Time::NEVER, |due| self.clock.time(due));
        library.min(self.loop_deadline())
    }
}

impl Link {
    /// A link whose handshake has begun.
    pub(crate) fn new(now: Time, parts: LinkParts) -> Self {
        let LinkParts { handle, connection, clock, control, refused, receiver, echo_id, random, sizes } =
            parts;
        Self {
            handle,
            connection,
            clock,
            control,
            backlog: Backlog::default(),
            peer: None,
            refused,
            is_up: false,
            ended: 0,
            begun: 0,
            ended_at_peer: 0,
            sizes,
            receiver,
            echo_id,
            echo: Echo::default(),
            random,
            marks: Marks::default(),
            outbox: Outbox::new(),
            inbox: Inbox::new(now),
            has_message: false,
            weight: 1.0,
            sends_ecn: false,
        }
    }

    fn rtt(&self) -> Span {
        self.control.get().smoothed_rtt().unwrap_or(UNKNOWN_RTT)
    }

    /// The bound of what is held for it: what its sender may send in the time that data is held at most.
    pub(crate) fn hold_limit(&self) -> Bytes {
        self.hold_limit_of(&self.control.get())
    }

    fn hold_limit_of(&self, control: &Control) -> Bytes {
        let LinkSizes { packet, hold, most_held, .. } = self.sizes;
        let least = packet * LEAST_PACKETS;
        if control.smoothed_rtt().is_none() {
            return least;
        }
        control.allowed_rate().bytes_in(hold).max(least).min(most_held.max(least))
    }

    /// How much more may be held for a stream.
    pub(crate) fn room(&self, stream: StreamId) -> usize {
        let limit = usize::try_from(self.hold_limit().get()).unwrap_or(usize::MAX);
        self.backlog.room(stream.into(), limit, self.payload())
    }

    /// Stream data of a full packet.
    fn payload(&self) -> usize {
        let LinkSizes { packet, overhead, .. } = self.sizes;
        let datagram = usize::try_from(packet.saturating_sub(overhead).get()).unwrap_or(0);
        datagram.saturating_sub(PACKET_OVERHEAD).max(1)
    }

    /// The size of the packet of a datagram of this length, with its IP header.
    fn packet_size(&self, length: usize) -> Bytes {
        Bytes::new(length as u64) + self.sizes.overhead
    }

    /// Whether a datagram of this length counts as data, not as acknowledgements alone.
    pub(crate) fn is_data(&self, length: usize) -> bool {
        self.packet_size(length) * 2 >= self.sizes.packet
    }

    /// A datagram has come: its mark is counted, and the receiver's law processes it.
    pub(crate) fn on_received(
        &mut self,
        now: Time,
        length: usize,
        ecn: Option<EcnCodepoint>,
        view: Option<&RelayView>,
    ) {
        if !self.is_up {
            return;
        }
        let bytes = self.packet_size(length);
        let is_data = self.is_data(length);
        if is_data {
            self.outbox.on_data();
            self.process(now, bytes, ecn, view);
        }
        let is_marked = ecn == Some(EcnCodepoint::Ce) || is_data && self.echo.mark;
        if is_marked {
            self.marks.packets += 1;
            self.marks.bytes += bytes;
        }
    }

    fn process(&mut self, now: Time, bytes: Bytes, ecn: Option<EcnCodepoint>, view: Option<&RelayView>) {
        let ecn = match ecn {
            Some(EcnCodepoint::Ce) => Ecn::Ce,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            None => Ecn::NotCapable,
        };
        self.echo.mark = false;
        let data = Data { bytes, ecn, header: Header::NONE };
        let cx = &mut Context { now, random: &mut self.random };
        self.receiver.on_data(cx, &data, view, &mut self.echo);
    }

    /// True if a rate message may leave now.
    pub(crate) fn may_send_message(&self, now: Time) -> bool {
        self.is_up && self.outbox.may_be_due(now, self.rtt(), self.marks, self.ended)
    }

    /// Queues a rate message if one is due.
    pub(crate) fn prepare_message(&mut self, now: Time, view: Option<&RelayView>) {
        let marked = self.echo.mark;
        self.process(now, self.sizes.packet, None, view);
        self.echo.mark = marked;
        let report = Report { marks: self.marks, ended: self.ended, echo: self.echo.header };
        if !self.outbox.is_due(now, self.rtt(), &report) {
            return;
        }
        let message = self.outbox.next(now, report).encode(self.echo_id);
        // The buffer holds one message: a newer one replaces it.
        if let Err(error) = self.connection.datagrams().send(message.into(), true) {
            tracing::debug!(%error, "rate message not sent");
        }
        self.has_message = true;
    }

    /// The next datagram that leaves now.
    pub(crate) fn transmit(&mut self, now: Time, instant: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !self.is_up {
            return self.poll(instant, buffer);
        }
        if std::mem::take(&mut self.has_message) {
            self.control.get().open_for_control();
            let sent = self.poll(instant, buffer);
            self.control.get().close();
            if sent.is_some() {
                return sent;
            }
        }
        let allowed = self.control.get().next_packet(now);
        if let Err(reason) = allowed {
            let mut control = self.control.get();
            control.on_blocked(reason, self.backlog.has_work());
            drop(control);
            return self.poll(instant, buffer);
        }
        self.control.get().open();
        let mut sent = self.poll(instant, buffer);
        if sent.is_none() && self.feed(now) {
            sent = self.poll(instant, buffer);
        }
        self.control.get().close();
        if sent.is_none() {
            let reason = if self.backlog.is_blocked() { LimitedBy::Credit } else { LimitedBy::Data };
            self.control.get().on_blocked(reason, true);
        }
        sent
    }

    fn poll(&mut self, instant: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let sent = self.connection.poll_transmit(instant, NonZeroUsize::MIN, buffer)?;
        self.sends_ecn = sent.ecn.is_some();
        Some(sent)
    }

    /// Gives the library the data of one packet. The library holds no more unsent data than that, so that what waits is
    /// known here, and each stream has its turn.
    fn feed(&mut self, now: Time) -> bool {
        if !self.backlog.has_work() {
            return false;
        }
        self.control.get().on_data(now);
        let (mut budget, mut has_fed, mut turns) = (self.payload(), false, self.backlog.held().streams + 1);
        while budget > 0 && turns > 0 {
            let Some(stream) = self.backlog.next_stream() else { break };
            turns -= 1;
            let written = self.write(now, stream, budget);
            budget -= written.min(budget);
            has_fed |= written > 0;
            if self.backlog.is_complete(stream) {
                let _ = self.connection.send_stream(stream_id(stream)).finish();
                has_fed = true;
            }
        }
        self.update_weight(now);
        has_fed
    }

    /// Writes at most `budget` bytes of a stream; returns how many.
    fn write(&mut self, now: Time, stream: u64, budget: usize) -> usize {
        let mut written = 0;
        while let Some(data) = self.backlog.front(stream, budget - written).filter(|data| !data.is_empty()) {
            match self.connection.send_stream(stream_id(stream)).write(&data) {
                Ok(bytes) => {
                    self.backlog.take(now, stream, bytes);
                    written += bytes;
                }
                Err(WriteError::Blocked) => {
                    self.backlog.on_blocked(stream);
                    break;
                }
                // The event that the peer stopped the stream ends the flow.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                    self.backlog.remove(stream);
                    break;
                }
            }
        }
        written
    }

    /// The weight of the loop is the sum of the weights of the streams with data; the last one holds while none has.
    pub(crate) fn update_weight(&mut self, now: Time) {
        let weight = self.backlog.held().weight();
        if weight > 0.0 && weight != self.weight && self.is_up {
            self.weight = weight;
            self.control.get().on_weight(now, weight);
        }
    }

    /// Processes what the library reports after a datagram or a timer.
    pub(crate) fn settle(&mut self, now: Time) -> Vec<LinkEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.peer = self.presented_key(),
                Event::HandshakeConfirmed => {
                    self.is_up = true;
                    self.inbox = Inbox::new(now);
                    self.control.get().start(now);
                    events.push(LinkEvent::Up);
                }
                Event::ConnectionLost { reason } => {
                    let was_up = std::mem::take(&mut self.is_up);
                    let is_over = is_over(&reason);
                    events.push(LinkEvent::Lost { reason: reason.to_string(), was_up, is_over });
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => events.push(LinkEvent::Opened),
                Event::Stream(StreamEvent::Readable { id }) => events.push(LinkEvent::Readable(id)),
                Event::Stream(StreamEvent::Writable { id }) => self.backlog.on_writable(id.into()),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    events.push(LinkEvent::Stopped(id, error_code.into_inner()));
                }
                Event::Stream(StreamEvent::Finished { id }) => events.push(LinkEvent::Finished(id)),
                _ => {}
            }
        }
        self.read_messages(now);
        self.control.get().settle(now);
        events
    }

    fn read_messages(&mut self, now: Time) {
        while let Some(bytes) = self.connection.datagrams().recv() {
            let Some(message) = RateMessage::decode(&bytes) else {
                tracing::debug!("malformed rate message");
                continue;
            };
            if self.inbox.accepts(now, &message) {
                let Report { marks, ended, echo } = message.report;
                self.ended_at_peer = ended;
                self.control.get().on_message(marks, echo);
            }
        }
    }

    /// The key that the peer presented.
    fn presented_key(&self) -> Option<PublicKey> {
        let identity = self.connection.crypto_session().peer_identity()?;
        let presented = identity.downcast::<Vec<CertificateDer<'static>>>().ok()?;
        presented.first().and_then(|spki| PublicKey::of_peer(spki))
    }

    /// Handles timers of the loop that have expired.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        if !self.is_up {
            return;
        }
        if now >= self.inbox.expires_at() {
            self.control.get().on_silence(now);
        }
        self.control.get().on_deadline(now);
    }

    /// When the loop needs a call, except for the timers of the library.
    fn loop_deadline(&self) -> Time {
        if !self.is_up {
            return Time::NEVER;
        }
        let control = self.control.get();
        let expiry = if control.is_silent() { Time::NEVER } else { self.inbox.expires_at() };
        let rtt = control.smoothed_rtt().unwrap_or(UNKNOWN_RTT);
        control.deadline().min(expiry).min(self.outbox.deadline(rtt))
    }

    /// The state of the loop, for the law of the receiver before it: `backlog` bytes of that loop wait here.
    pub(crate) fn view(&self, backlog: usize, sharing: millpond_law::Sharing) -> RelayView {
        let control = self.control.get();
        RelayView {
            next_rate: control.allowed_rate(),
            next_pace: control.permit().pace.unwrap_or(Rate::MAX),
            next_in_flight: control.in_flight(),
            backlog: Bytes::new(backlog as u64),
            next_backlog: Bytes::new(self.backlog.held().bytes as u64),
            limit: self.hold_limit_of(&control),
            next_rtt: control.smoothed_rtt().unwrap_or(Span::ZERO),
            next_base_rtt: control.min_rtt().unwrap_or(Span::ZERO),
            sharing,
        }
    }

    /// True if the neighbour has begun this stream.
    pub(crate) fn is_begun_by_peer(&self, stream: StreamId) -> bool {
        stream.initiator() != self.connection.side()
    }

    /// All CE marks received from the neighbour.
    pub(crate) fn marks(&self) -> Marks {
        self.marks
    }

    /// Rate messages sent and received.
    pub(crate) fn messages(&self) -> (u64, u64) {
        (self.outbox.sent(), self.inbox.received())
    }

    /// True if its packets are ECN-capable.
    pub(crate) fn sends_ecn(&self) -> bool {
        self.sends_ecn
    }
}

/// True if a connection was closed because its only flow has ended.
fn is_over(reason: &ConnectionError) -> bool {
    match reason {
        ConnectionError::ApplicationClosed(close) => close.error_code.into_inner() == u64::from(FLOW_ENDED),
        ConnectionError::LocallyClosed => true,
        _ => false,
    }
}

/// The stream with this number. The library numbers streams by side, direction and index.
pub(crate) fn stream_id(number: u64) -> StreamId {
    let side = if number & 1 == 0 { noq_proto::Side::Client } else { noq_proto::Side::Server };
    let dir = if number & 2 == 0 { Dir::Bi } else { Dir::Uni };
    StreamId::new(side, dir, number >> 2)
}
