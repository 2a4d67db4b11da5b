//! A network whose hosts and links exchange their frames through a driver outside of the simulator, for example as
//! datagrams between sockets.
//!
//! ```text
//!   SenderEnd --> Departure --> driver --> enter() --> [ link ] --> [ link ] --> Exit --> driver --> arrive() --> ReceiverEnd
//!        ^                                                                                                           |
//!        +--- arrive() <-- driver <-- Exit <-- [ link ] <-- [ link ] <-- enter() <-- driver <-- Departure <----------+
//! ```
//!
//! The driver calls [`PacketNetwork::run_due`] with the time of its clock, carries all [`Departure`]s and [`Exit`]s, and
//! calls again at [`PacketNetwork::next_event`] or when a frame has come. Links handle their events at the exact times of these
//! events, so that queues, marks and drops do not depend on when the driver calls. Hosts act at the time of the clock, as real
//! ones do: what a late call delays, they see.

use crate::delivery::Delivery;
use crate::event_kind::{EventKind, INDEX_LIMIT, index_of, kind_of, target};
use crate::event_queue::{DueEvent, EventTarget};
use crate::flow_state::FlowState;
use crate::outside::{Departure, Exit, LoopHosts, Outside};
use crate::packet_network::PacketNetwork;
use crate::packet_pool::{Packet, PacketHandle, PacketId};
use millpond_endpoint::{Frame, Segment};
use millpond_law::Ecn;
use millpond_stats::Histogram;
use millpond_units::{Span, Time};

impl PacketNetwork {
    /// From now on, frames between hosts and links go through the driver. To be called at time zero. `host_slack`: by how much
    /// a host may act late, beyond its processing time, without a shift of its pacing schedule.
    pub fn take_outside(&mut self, host_slack: Span) {
        self.endpoints.allow_lateness(host_slack);
        self.outside = Some(Box::new(Outside::new(self.now())));
        self.redirect_routes();
    }

    /// Makes routes end at the driver instead of at hosts.
    pub(crate) fn redirect_routes(&mut self) {
        for stop in &mut self.routes {
            if [EventKind::Data as u32, EventKind::Ack as u32].contains(&kind_of(stop.arrival)) {
                stop.arrival = target(EventKind::Exit, index_of(stop.arrival));
            }
        }
    }

    /// Handles all events up to `called`, the time of the driver's clock, or up to `end` if that is earlier. Neither may decrease.
    /// Between two calls the driver carries all frames.
    pub fn run_due(&mut self, called: Time, end: Time) {
        let clock = called.min(end);
        if let Some(outside) = &mut self.outside {
            (outside.clock, outside.called) = (clock, called);
        }
        while let Some(DueEvent { time: now, target, handle }) = self.events.pop_due(clock) {
            self.dispatch(now, target, handle);
        }
        self.advance_to(clock);
    }

    /// When [`Self::run_due`] must be called next, if no frame comes before; [`Time::NEVER`] without an event.
    pub fn next_event(&self) -> Time {
        self.events.next_time()
    }

    /// The frames that hosts have sent since the last call, in order.
    pub fn take_departures(&mut self, into: &mut Vec<Departure>) {
        into.clear();
        if let Some(outside) = &mut self.outside {
            std::mem::swap(&mut outside.departures, into);
        }
    }

    /// The frames that have left the links since the last call, in order. To be called before the next frame enters.
    pub fn take_exits(&mut self, into: &mut Vec<Exit>) {
        into.clear();
        if let Some(outside) = &mut self.outside {
            std::mem::swap(&mut outside.exits, into);
        }
    }

    /// A frame reaches the first link of its loop now. Returns the number of its slot, which no other frame has before this one
    /// has left or was dropped; none if there is no such loop.
    pub fn enter(&mut self, loop_id: u32, frame: Frame, ecn: Ecn) -> Option<u32> {
        let (route, flow) = self.route_of(loop_id, &frame)?;
        let (frame, ack_ecn) = match frame {
            Frame::Data(segment) => (Frame::Data(Segment { ecn, ..segment }), Ecn::NotCapable),
            Frame::Ack(_) => (frame, ecn),
        };
        let packet = self.packets.insert(Packet::new(frame, flow, ack_ecn));
        let first_link = index_of(self.routes[route as usize].arrival);
        self.enqueue(self.now(), first_link, PacketHandle { packet, bytes: frame.bytes(), route });
        Some(packet)
    }

    /// A frame reaches the host at the end of its loop now. Returns false if there is no such loop.
    pub fn arrive(&mut self, loop_id: u32, frame: Frame) -> bool {
        let Some((_, flow)) = self.route_of(loop_id, &frame) else { return false };
        if let Some(outside) = &mut self.outside {
            let between = outside.count(flow);
            *between = between.saturating_sub(1);
        }
        let packet = self.packets.insert(Packet::new(frame, flow, Ecn::NotCapable));
        match frame {
            Frame::Data(_) => self.on_data(self.now(), loop_id, packet),
            Frame::Ack(_) => self.on_ack(self.now(), loop_id, packet),
        }
        true
    }

    /// The hosts of a loop; none if there is no such loop.
    pub fn hosts(&self, loop_id: u32) -> Option<LoopHosts> {
        let sender = self.endpoints.senders.get(loop_id as usize)?;
        let receiver = self.endpoints.receivers.get(loop_id as usize)?;
        let first_backward = index_of(self.routes[receiver.route as usize].arrival);
        let tail = |link: u32| self.tails.get(link as usize).copied();
        Some(LoopHosts { sender: tail(sender.first_link)?, receiver: tail(first_backward)? })
    }

    /// The number of the flow whose data a stream of a loop carries; none if there is no such stream.
    pub fn flow_of_stream(&self, loop_id: u32, stream_id: u16) -> Option<u32> {
        let receiver = self.endpoints.receivers.get(loop_id as usize)?;
        let known = usize::from(stream_id) <= receiver.others.len();
        known.then(|| receiver.stream(stream_id).flow)
    }

    /// The loop, and the stream in it, into which a relay forwards a stream of a loop; none at the destination of the flow.
    pub fn forwarded_to(&self, loop_id: u32, stream_id: u16) -> Option<(u32, u16)> {
        let receiver = self.endpoints.receivers.get(loop_id as usize)?;
        match receiver.stream(stream_id).delivery {
            Delivery::Relay { relay, next_loop } => Some((next_loop, relay.outgoing_stream())),
            Delivery::Application | Delivery::Watched { .. } => None,
        }
    }

    /// True if the sender of a loop is that of a relay, whose data comes from an earlier loop.
    pub fn is_fed_by_relay(&self, loop_id: u32) -> bool {
        let sender = self.endpoints.senders.get(loop_id as usize);
        sender.is_some_and(|sender| !sender.upstream_streams.is_empty())
    }

    /// When a flow started. It distinguishes transfers that use the same flow number one after another.
    pub fn start_of_flow(&self, flow: u32) -> Option<Time> {
        self.flows.get(flow as usize).map(FlowState::start)
    }

    /// Number of loops so far, those of transfers included.
    pub fn loops(&self) -> u32 {
        self.endpoints.senders.len() as u32
    }

    /// By how much hosts acted after the times of their events, because the driver called late.
    pub fn host_lateness(&self) -> Option<&Histogram> {
        self.outside.as_ref().map(|outside| &outside.lateness)
    }

    /// Route and flow of a frame of a loop.
    fn route_of(&self, loop_id: u32, frame: &Frame) -> Option<(u32, u32)> {
        let index = loop_id as usize;
        match frame {
            Frame::Data(_) => self.endpoints.senders.get(index).map(|sender| (sender.route, sender.flow)),
            Frame::Ack(_) => {
                self.endpoints.receivers.get(index).map(|receiver| (receiver.route, receiver.flow))
            }
        }
    }

    /// When a host handles an event of time `due`: then, or with a driver at the time of its clock.
    #[inline(always)]
    pub(crate) fn host_time(&mut self, due: Time) -> Time {
        match &mut self.outside {
            None => due,
            Some(outside) => {
                outside.lateness.add(outside.called.since(due).picos(), 1);
                outside.clock.max(due)
            }
        }
    }

    /// Hands a frame of a host to the driver.
    #[cold]
    #[inline(never)]
    pub(crate) fn depart(&mut self, loop_id: u32, id: PacketId) {
        let packet = *self.packets.get(id);
        self.packets.release(id);
        let Some(outside) = &mut self.outside else { return };
        *outside.count(packet.flow) += 1;
        let ecn = ecn_of(&packet);
        outside.departures.push(Departure { loop_id, frame: packet.frame, ecn });
    }

    /// Hands a frame at the end of its last link to the driver.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_exit(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let packet = *self.packets.get(id);
        self.packets.release(id);
        if let Some(outside) = &mut self.outside {
            let ecn = ecn_of(&packet);
            outside.exits.push(Exit { at: now, slot: id, loop_id, frame: packet.frame, ecn });
        }
    }
}

/// The ECN field of a packet.
fn ecn_of(packet: &Packet) -> Ecn {
    match &packet.frame {
        Frame::Data(segment) => segment.ecn,
        Frame::Ack(_) => packet.ack_ecn,
    }
}

/// The last kind fits into an event target.
const _: () = assert!((EventKind::Application as EventTarget) < EventTarget::MAX / INDEX_LIMIT);
