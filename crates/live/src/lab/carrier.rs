//! Carries the frames of a network between its hosts and its links as lab datagrams, without clock and socket: the caller
//! gives the times and moves the datagrams.
//!
//! ```text
//!   Departure --> bytes of the stream, head --> datagram to the router --> read: checksum, run, ECN --> the first link
//!   Exit      --> head as the routers left it, the same stream bytes --> datagram to the host --> read: checksums, bytes --> frame
//! ```

use super::relay_bytes::RelayBytes;
use super::stream_bytes;
use super::wire::{self, Datagram, Payload};
use millpond_endpoint::{Frame, Segment};
use millpond_law::Ecn;
use millpond_sim::{Departure, Exit, NodeId, PacketNetwork};
use millpond_stats::Histogram;
use millpond_units::Time;
use std::collections::BTreeMap;

/// Where a datagram is read: by the router beside a host, or by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketOwner {
    Router(NodeId),
    Host(NodeId),
}

/// What happened to the datagrams of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CarrierCounters {
    /// Datagrams that hosts and routers have sent.
    pub(crate) sent: u64,
    /// Datagrams that they have accepted.
    pub(crate) accepted: u64,
    /// Datagrams whose checksum, length or fields are wrong. They are dropped.
    pub(crate) damaged: u64,
    /// Datagrams of another run, or at a place where their loop has no end. They are dropped.
    pub(crate) foreign: u64,
    /// Datagrams whose ECN field is not the one that was sent.
    pub(crate) lost_ecn: u64,
    /// Datagrams with intact checksums and stream bytes that are not those of the flow. They are dropped.
    pub(crate) wrong_bytes: u64,
}

/// The stream bytes of a frame in the links.
#[derive(Clone, Debug, Default)]
struct Stored {
    bytes: Vec<u8>,
    checksum: u32,
}

/// The stream bytes of a flow at a relay.
#[derive(Debug)]
struct RelayStore {
    /// The start of the flow: another one when a later transfer has its number.
    start: Time,
    bytes: RelayBytes,
}

/// Carries the frames of one network.
pub(crate) struct Carrier {
    /// A number that no other run has.
    run: u64,
    /// The stream bytes of the frames in the links, by slot; their memory is reused.
    stored: Vec<Stored>,
    /// The stream bytes at relays, by loop and stream of the sender.
    relays: BTreeMap<(u32, u16), RelayStore>,
    departures: Vec<Departure>,
    exits: Vec<Exit>,
    /// Memory for stream bytes and for a datagram.
    payload: Vec<u8>,
    datagram: Vec<u8>,
    /// By how much frames left the links late.
    lateness: Histogram,
    counters: CarrierCounters,
}

impl Carrier {
    /// A carrier of the run with this number.
    pub(crate) fn new(run: u64) -> Self {
        Self {
            run,
            stored: Vec::new(),
            relays: BTreeMap::new(),
            departures: Vec::new(),
            exits: Vec::new(),
            payload: Vec::new(),
            datagram: Vec::new(),
            lateness: Histogram::of_delays(),
            counters: CarrierCounters::default(),
        }
    }

    /// The greatest number of frames in the links so far.
    #[cfg(test)]
    pub(crate) fn slots(&self) -> usize {
        self.stored.len()
    }

    /// The number of stream bytes that relays hold.
    #[cfg(test)]
    pub(crate) fn bytes_at_relays(&self) -> usize {
        self.relays.values().map(|store| store.bytes.len()).sum()
    }

    pub(crate) fn counters(&self) -> CarrierCounters {
        self.counters
    }

    /// By how much frames left the links after the times that these have computed.
    pub(crate) fn lateness(&self) -> &Histogram {
        &self.lateness
    }

    /// Passes every frame that a host or a link has handed over to `send`, as a datagram for a place with an ECN field.
    pub(crate) fn send(
        &mut self,
        network: &mut PacketNetwork,
        mut send: impl FnMut(SocketOwner, Ecn, &[u8]),
    ) {
        network.take_exits(&mut self.exits);
        for exit in &self.exits {
            let Some(place) = end_of(network, exit.loop_id, &exit.frame) else { continue };
            let stored = self.stored.get(exit.slot as usize).filter(|_| matches!(exit.frame, Frame::Data(_)));
            let payload = stored.map_or_else(Payload::default, |stored| Payload {
                bytes: &stored.bytes,
                checksum: stored.checksum,
            });
            self.datagram.clear();
            wire::write(self.run, exit.loop_id, exit.ecn, &exit.frame, payload, &mut self.datagram);
            self.counters.sent += 1;
            send(place, exit.ecn, &self.datagram);
        }
        network.take_departures(&mut self.departures);
        for Departure { loop_id, frame, ecn } in &self.departures {
            let Some(place) = start_of(network, *loop_id, frame) else { continue };
            self.payload.clear();
            if let Frame::Data(segment) = frame {
                let relays = &mut self.relays;
                write_stream_bytes(network, relays, *loop_id, segment, &mut self.payload);
            }
            self.datagram.clear();
            wire::write(self.run, *loop_id, *ecn, frame, Payload::new(&self.payload), &mut self.datagram);
            self.counters.sent += 1;
            send(place, *ecn, &self.datagram);
        }
    }

    /// Records that the datagrams of the last call of [`Self::send`] were sent at `now`.
    pub(crate) fn record_lateness(&mut self, now: Time) {
        self.exits.iter().for_each(|exit| self.lateness.add(now.since(exit.at).picos(), 1));
        self.exits.clear();
    }

    /// A datagram was read at this place, at the time up to which the network has run. `ecn`: the field of its IP header; none
    /// if that was not received.
    pub(crate) fn receive(
        &mut self,
        network: &mut PacketNetwork,
        at: SocketOwner,
        ecn: Option<Ecn>,
        bytes: &[u8],
    ) {
        let Ok(datagram) = wire::parse(bytes) else {
            self.counters.damaged += 1;
            return;
        };
        let is_here = |place: Option<SocketOwner>| place == Some(at);
        let Datagram { run, loop_id, frame, .. } = datagram;
        let is_own = run == self.run
            && match at {
                SocketOwner::Router(_) => is_here(start_of(network, loop_id, &frame)),
                SocketOwner::Host(_) => is_here(end_of(network, loop_id, &frame)),
            };
        if !is_own {
            self.counters.foreign += 1;
            return;
        }
        self.counters.lost_ecn += u64::from(ecn != Some(datagram.ecn));
        let ecn = ecn.unwrap_or_default();
        match at {
            SocketOwner::Router(_) => self.enter(network, datagram, ecn),
            SocketOwner::Host(_) => self.arrive(network, datagram, ecn),
        }
    }

    /// A datagram enters the first link of its loop. Routers do not look at the stream bytes.
    fn enter(&mut self, network: &mut PacketNetwork, datagram: Datagram<'_>, ecn: Ecn) {
        let Some(slot) = network.enter(datagram.loop_id, datagram.frame, ecn) else { return };
        self.counters.accepted += 1;
        let index = slot as usize;
        if self.stored.len() <= index {
            self.stored.resize_with(index + 1, Stored::default);
        }
        let Stored { bytes, checksum } = &mut self.stored[index];
        bytes.clear();
        bytes.extend_from_slice(datagram.payload.bytes);
        *checksum = datagram.payload.checksum;
    }

    /// Stores the stream bytes of a packet that a relay forwards.
    fn store_at_relay(&mut self, network: &PacketNetwork, loop_id: u32, frame: &Frame, bytes: &[u8]) {
        let Frame::Data(segment) = frame else { return };
        let flow = network.flow_of_stream(loop_id, segment.stream_id);
        let start = flow.and_then(|flow| network.start_of_flow(flow));
        let next = network.forwarded_to(loop_id, segment.stream_id);
        if let Some((next, start)) = next.zip(start) {
            let new = || RelayStore { start, bytes: RelayBytes::default() };
            let store = self.relays.entry(next).or_insert_with(new);
            if store.start != start {
                *store = new();
            }
            store.bytes.store(segment.offset, bytes);
        }
    }

    /// A datagram reaches a host, which checks its stream bytes.
    fn arrive(&mut self, network: &mut PacketNetwork, datagram: Datagram<'_>, ecn: Ecn) {
        let mut frame = datagram.frame;
        if let Frame::Data(segment) = &mut frame {
            segment.ecn = ecn;
            if !datagram.payload.is_intact() {
                self.counters.damaged += 1;
                return;
            }
            let flow = network.flow_of_stream(datagram.loop_id, segment.stream_id);
            let is_right = |flow| {
                stream_bytes::are_right(flow, segment.offset, datagram.payload.bytes, &mut self.payload)
            };
            if !flow.is_some_and(is_right) {
                self.counters.wrong_bytes += 1;
                return;
            }
        }
        self.counters.accepted += 1;
        self.store_at_relay(network, datagram.loop_id, &frame, datagram.payload.bytes);
        network.arrive(datagram.loop_id, frame);
    }
}

/// Writes the stream bytes of a packet that leaves its sender: those that a relay has received, or at a source those of the flow.
fn write_stream_bytes(
    network: &PacketNetwork,
    relays: &mut BTreeMap<(u32, u16), RelayStore>,
    loop_id: u32,
    segment: &Segment,
    into: &mut Vec<u8>,
) {
    let &Segment { number, floor, offset, payload, stream_id, .. } = segment;
    if network.is_fed_by_relay(loop_id) {
        if let Some(store) = relays.get_mut(&(loop_id, stream_id)) {
            store.bytes.send(number, floor, offset, payload, into);
        }
    } else if let Some(flow) = network.flow_of_stream(loop_id, stream_id) {
        stream_bytes::fill(flow, offset, payload, into);
    }
}

/// The router beside the host that sends this frame.
fn start_of(network: &PacketNetwork, loop_id: u32, frame: &Frame) -> Option<SocketOwner> {
    let hosts = network.hosts(loop_id)?;
    Some(SocketOwner::Router(if matches!(frame, Frame::Data(_)) { hosts.sender } else { hosts.receiver }))
}

/// The host that receives this frame.
fn end_of(network: &PacketNetwork, loop_id: u32, frame: &Frame) -> Option<SocketOwner> {
    let hosts = network.hosts(loop_id)?;
    Some(SocketOwner::Host(if matches!(frame, Frame::Data(_)) { hosts.receiver } else { hosts.sender }))
}
