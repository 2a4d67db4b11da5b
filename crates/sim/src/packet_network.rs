//! The event loop over links and the ends of loops.

use crate::applications::ApplicationState;
use crate::delivery::Delivery;
use crate::downstream_feedback::downstream_feedback;
use crate::endpoints::{CapacityReceiver, Endpoints, ReceiverState, RouteStop};
use crate::event_kind::{EventKind, INDEX_LIMIT, index_of, kind_of, target};
use crate::event_queue::{DueEvent, EventQueue, EventTarget};
use crate::flow_state::FlowState;
use crate::link::{Link, LinkAction, LinkView, WireArrival};
use crate::outside::Outside;
use crate::packet_pool::{Packet, PacketHandle, PacketId, PacketPool};
use crate::prefetch::{prefetch, prefetch_first_line};
use crate::stages::StreamRef;
use crate::stats::{LoopCounters, SendingMeter};
use crate::transfers::Spawning;
use crate::{LinkId, NodeId};
use millpond_endpoint::{Acknowledgement, Frame, Segment};
use millpond_law::Ecn;
use millpond_units::Time;
use std::collections::BTreeSet;

/// A network of links and flows at some time of its run.
///
/// A run is a sequence of [`run_to`](Self::run_to) calls. Between them the state can be read through
/// [`link`](Self::link) and [`flow`](Self::flow). The result does not depend on how the calls divide the time.
pub struct PacketNetwork {
    now: Time,
    pub(crate) events: EventQueue,
    pub(crate) packets: PacketPool,
    pub(crate) links: Vec<Link>,
    /// Number of links of the topology; the links after these are delay elements.
    real_links: usize,
    /// All routes, one after the other: links, then an end of a loop.
    pub(crate) routes: Vec<RouteStop>,
    /// The loops that receive the capacity of a link live, sorted by link.
    pub(crate) capacity_receivers: Vec<CapacityReceiver>,
    /// Streams whose data a relay has just sent; empty between events.
    sent_streams: Vec<u16>,
    pub(crate) endpoints: Endpoints,
    pub(crate) flows: Vec<FlowState>,
    /// Number of specified flows; those after them represent shared loops or carry transfers.
    pub(crate) declared_flows: usize,
    pub(crate) spawning: Spawning,
    pub(crate) applications: Vec<ApplicationState>,
    /// The node where each link of the topology begins.
    pub(crate) tails: Vec<NodeId>,
    /// Hosts and links exchange their frames through a driver; none in the simulator.
    pub(crate) outside: Option<Box<Outside>>,
}

/// The parts of a network.
pub(crate) struct Parts {
    pub(crate) links: Vec<Link>,
    /// The node where each link of the topology begins.
    pub(crate) tails: Vec<NodeId>,
    pub(crate) routes: Vec<RouteStop>,
    pub(crate) endpoints: Endpoints,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) declared_flows: usize,
    pub(crate) spawning: Spawning,
    pub(crate) applications: Vec<ApplicationState>,
}

impl PacketNetwork {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { links, tails, routes, endpoints, flows, declared_flows, spawning, applications } = parts;
        let mut network = Self {
            now: Time::ZERO,
            events: EventQueue::default(),
            packets: PacketPool::default(),
            capacity_receivers: endpoints.capacity_receivers(),
            sent_streams: Vec::new(),
            declared_flows,
            links,
            real_links: tails.len(),
            routes,
            endpoints,
            flows,
            spawning,
            applications,
            tails,
            outside: None,
        };
        network.first_events();
        network
    }

    fn first_events(&mut self) {
        for (index, flow) in self.flows.iter().enumerate() {
            self.events.push(flow.start(), target(EventKind::Flow, index as u32));
        }
        for (index, link) in self.links.iter().enumerate() {
            self.events.push(link.first_tick(), target(EventKind::LawTick, index as u32));
        }
        let receiving_links = self.capacity_receivers.iter().map(|receiver| receiver.link);
        for link in receiving_links.chain(self.spawning.configured_links()).collect::<BTreeSet<u32>>() {
            let change = self.links[link as usize].next_capacity_change(Time::ZERO);
            self.events.push(change, target(EventKind::CapacityChange, link));
        }
        for (index, arrival) in self.spawning.first_arrivals().enumerate() {
            self.events.push(arrival, target(EventKind::TransferArrival, index as u32));
        }
        for (index, application) in self.applications.iter().enumerate() {
            self.events.push(application.scheduled, target(EventKind::Application, index as u32));
        }
    }

    /// Handles all events up to `time`, those at `time` included.
    pub fn run_to(&mut self, time: Time) {
        while let Some(DueEvent { time: now, target, handle }) = self.events.pop_until(time) {
            if self.packets.is_large() {
                self.prefetch_next();
            }
            self.dispatch(now, target, handle);
        }
        self.advance_to(time);
    }

    /// Sets the time up to which the network has run, and brings all links up to it.
    pub(crate) fn advance_to(&mut self, time: Time) {
        self.now = self.now.max(time);
        for link in &mut self.links {
            link.settle(self.now, &mut self.packets);
        }
    }

    /// Requests from memory what the next event will access first, while this one is handled: a packet, and its link with the next
    /// entry of its route. To request the ends as well gains nothing: they have up to nineteen cache lines. Not inlined, so that
    /// small networks do not pay for it.
    #[inline(never)]
    fn prefetch_next(&self) {
        let Some((target, handle)) = self.events.upcoming() else { return };
        if target >= INDEX_LIMIT {
            return prefetch(self.packets.slot(handle.packet));
        }
        // The queueing delay of a packet is in its first line.
        prefetch_first_line(self.packets.slot(handle.packet));
        prefetch_first_line(self.routes.get(handle.route as usize + 1));
        prefetch(self.links.get(target as usize));
    }

    /// Starts the measurement: discards all statistics so far, as at the end of a warm-up.
    pub fn start_measuring(&mut self) {
        self.start_measuring_transfers();
        let Self { links, packets, endpoints, now, flows, applications, .. } = self;
        links.iter_mut().for_each(|link| link.start_measuring(*now, packets));
        for (sender, receiver) in endpoints.senders.iter_mut().zip(&mut endpoints.receivers) {
            sender.meter = SendingMeter::default();
            receiver.start_measuring(LoopCounters::of(&sender.end, &receiver.end));
        }
        flows.iter_mut().for_each(|flow| flow.start_measuring(*now));
        applications.iter_mut().for_each(|state| state.application.start_measuring(*now));
    }

    /// Starts a new interval of [`LinkView::interval_delay`] and [`FlowView::interval_delay`](crate::FlowView::interval_delay).
    pub fn start_interval(&mut self) {
        self.links.iter_mut().for_each(Link::start_interval);
        self.endpoints.receivers.iter_mut().for_each(ReceiverState::start_interval);
        self.spawning.start_interval();
    }

    /// The time up to which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The time of the last event that was handled, or whose handling a panic ended.
    pub fn last_event(&self) -> Time {
        self.events.last_time()
    }

    /// State of a link.
    pub fn link(&self, id: LinkId) -> LinkView<'_> {
        LinkView { link: &self.links[id.0 as usize] }
    }

    /// State of all links, in the order in which they were added.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkView<'_>> {
        self.links[..self.real_links].iter().map(|link| LinkView { link })
    }

    /// Number of packets served, summed over all links.
    pub fn packet_hops(&self) -> u64 {
        self.links().map(|link| link.totals().served).sum()
    }

    /// Number of packets in queues and on links.
    pub fn packets_in_network(&self) -> usize {
        self.packets.len()
    }

    #[inline(always)]
    pub(crate) fn dispatch(&mut self, now: Time, target: EventTarget, handle: PacketHandle) {
        // The most frequent kind is zero, so that the target is the index.
        if target < INDEX_LIMIT {
            return self.enqueue(now, target, handle);
        }
        let index = index_of(target);
        match kind_of(target) {
            1 => self.on_data(now, index, handle.packet),
            2 => self.on_ack(now, index, handle.packet),
            kind => self.dispatch_rare(now, kind, index, handle),
        }
    }

    /// The kinds of events that are less frequent. Not inlined, so that the event loop keeps its values in registers.
    #[inline(never)]
    fn dispatch_rare(&mut self, now: Time, kind: u32, index: u32, handle: PacketHandle) {
        match kind {
            3 => self.on_sender_timer(now, index),
            4 => self.on_receiver_timer(now, index),
            5 => self.on_law_tick(now, index),
            6 => self.on_capacity_change(now, index),
            7 => self.on_flow(now, index),
            8 => self.on_transfer_arrival(now, index),
            9 => self.on_link_event(now, index, handle),
            10 => self.on_exit(now, index, handle.packet),
            _ => self.on_application(now, index),
        }
    }

    /// Calls a link, or handles the arrival of a packet at the end of a link with random loss.
    #[inline(never)]
    fn on_link_event(&mut self, now: Time, link: u32, handle: PacketHandle) {
        let state = &mut self.links[link as usize];
        if handle.is_none() {
            let next_call = state.on_call(now, &mut self.packets);
            return self.take_served(link, next_call);
        }
        let Some(handle) = state.unless_lost(handle, &mut self.packets) else { return };
        let (processed, arrival) = self.next_arrival(now, handle);
        if processed == now {
            self.dispatch_arrival(now, arrival, handle);
        } else {
            self.events.push_with_packet(processed, arrival, handle);
        }
    }

    /// Schedules the arrivals of all packets whose service at a link has begun, and the next call of the link.
    #[inline(always)]
    fn take_served(&mut self, link: u32, next_call: Time) {
        self.events.push(next_call, target(EventKind::LinkEvent, link));
        while let Some((arrival, handle)) = self.links[link as usize].take_served() {
            self.deliver(link, arrival, handle);
        }
    }

    /// Schedules the arrival of a packet at the end of a link.
    #[inline(always)]
    fn deliver(&mut self, link: u32, arrival: WireArrival, handle: PacketHandle) {
        if !arrival.may_be_lost {
            self.schedule_arrival(arrival.at, handle);
        } else if arrival.at != Time::NEVER {
            self.events.push_with_packet(arrival.at, target(EventKind::LinkEvent, link), handle);
        }
    }

    /// When a packet that reaches the end of a link at `reaches` has been processed by the router or the sending host
    /// there, and the event of its arrival. Packets of one flow stay in order.
    #[inline(always)]
    fn next_arrival(&mut self, reaches: Time, handle: PacketHandle) -> (Time, EventTarget) {
        let RouteStop { arrival, processor, last } = &mut self.routes[handle.route as usize];
        let processed = self.endpoints.processors[*processor as usize].processed(reaches, handle.bytes);
        if processed == reaches {
            return (reaches, *arrival);
        }
        *last = processed.max(*last);
        (*last, *arrival)
    }

    /// Schedules the arrival of a packet that reaches the end of a link at `reaches`, unless that is never.
    #[inline(always)]
    fn schedule_arrival(&mut self, reaches: Time, handle: PacketHandle) {
        if reaches != Time::NEVER {
            let (time, arrival) = self.next_arrival(reaches, handle);
            self.events.push_with_packet(time, arrival, handle);
        }
    }

    /// Handles the arrival of a packet at a link or at an end of a loop.
    #[inline(always)]
    fn dispatch_arrival(&mut self, now: Time, arrival: EventTarget, handle: PacketHandle) {
        let index = index_of(arrival);
        match kind_of(arrival) {
            0 => self.enqueue(now, index, handle),
            1 => self.on_data(now, index, handle.packet),
            2 => self.on_ack(now, index, handle.packet),
            _ => self.on_exit(now, index, handle.packet),
        }
    }

    /// Enqueues a packet at a link.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Time, link: u32, mut handle: PacketHandle) {
        handle.route += 1;
        let state = &mut self.links[link as usize];
        if state.is_plain() {
            if let Some(reaches) = state.arrive(now, handle, &mut self.packets) {
                self.schedule_arrival(reaches, handle);
            }
        } else {
            self.enqueue_special(now, link, handle);
        }
    }

    #[inline(never)]
    fn enqueue_special(&mut self, now: Time, link: u32, handle: PacketHandle) {
        match self.links[link as usize].enqueue_special(now, handle, &mut self.packets) {
            LinkAction::Dropped => {}
            LinkAction::Deliver(arrival) => self.deliver(link, arrival, handle),
            LinkAction::TakeServed(next_call) => self.take_served(link, next_call),
        }
    }

    /// Delivers a data packet to the receiver of its loop.
    #[inline(never)]
    pub(crate) fn on_data(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let Frame::Data(segment) = &self.packets.get(id).frame else { return };
        let stream = self.endpoints.receivers[loop_id as usize].stream(segment.stream_id);
        if !matches!(stream.delivery, Delivery::Application) {
            return self.on_other_data(now, loop_id, id);
        }
        self.deliver_data(now, loop_id, id);
    }

    /// Delivers a data packet to the destination of its flow.
    #[inline(always)]
    pub(crate) fn deliver_data(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let Frame::Data(segment) = &self.packets.get(id).frame else { return };
        let receiver = &mut self.endpoints.receivers[loop_id as usize];
        let received = receiver.end.on_data(now, segment, None);
        if received.new_bytes > 0 {
            let stream = receiver.stream_mut(segment.stream_id);
            stream.arrivals.delivered(segment.queueing, now.since(segment.origin_time));
            let flow = stream.flow;
            if receiver.end.is_complete_of(segment.stream_id) {
                self.flows[flow as usize].complete(now);
            }
        }
        if received.ack_due {
            self.acknowledge(now, loop_id, id);
        } else {
            self.packets.release(id);
            self.set_receiver_timer(loop_id);
        }
    }

    /// Delivers a data packet to the sink of a relay, and its data to the next sender.
    #[inline(never)]
    pub(crate) fn on_relay_data(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let Frame::Data(segment) = &self.packets.get(id).frame else { return };
        let (receivers, senders) = (&mut self.endpoints.receivers, &mut self.endpoints.senders);
        let receiver = &mut receivers[loop_id as usize];
        let Delivery::Relay { relay, next_loop } = receiver.stream(segment.stream_id).delivery else {
            return;
        };
        relay.on_arrival(now, segment, &mut senders[next_loop as usize].end);
        let view = downstream_feedback(now, receiver, segment.stream_id, senders);
        let next_end = &mut senders[next_loop as usize].end;
        let received = relay.on_data(now, segment, view.as_ref(), &mut receiver.end, next_end);
        if received.ack_due {
            self.acknowledge(now, loop_id, id);
        } else {
            self.packets.release(id);
        }
        self.send_pending(now, next_loop);
        self.set_receiver_timer(loop_id);
    }

    /// Sends the acknowledgement of a data packet, which is written to the slot of that packet.
    #[inline(always)]
    fn acknowledge(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let packet = self.packets.get_mut(id);
        let Frame::Data(Segment { stream_id, number, .. }) = packet.frame else { return };
        let receiver = &mut self.endpoints.receivers[loop_id as usize];
        receiver.end.acknowledge_into(now, stream_id, number, &mut packet.frame);
        (packet.entered, packet.flow, packet.ack_ecn) = (Time::ZERO, receiver.flow, receiver.ack_ecn);
        let handle = PacketHandle { packet: id, bytes: packet.frame.bytes(), route: receiver.route };
        let entry = receiver.entry;
        self.send_packet(now, loop_id, entry, handle);
    }

    /// Delivers an acknowledgement to the sender of its loop.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Time, loop_id: u32, id: PacketId) {
        if let Frame::Ack(ack) = &self.packets.get(id).frame {
            let sender = &mut self.endpoints.senders[loop_id as usize];
            if let Some(rtt) = sender.end.on_ack(now, ack).rtt {
                sender.meter.rtt.add(rtt.picos(), 1);
            }
        }
        self.packets.release(id);
        self.send_pending(now, loop_id);
    }

    /// Sends all packets that the sender may send now, and sets its timer.
    #[inline(never)]
    pub(crate) fn send_pending(&mut self, now: Time, loop_id: u32) {
        let index = loop_id as usize;
        loop {
            let sender = &mut self.endpoints.senders[index];
            let Some(next) = sender.end.next_packet(now) else {
                if !sender.end.waits_until(sender.timer.deadline()) {
                    self.set_sender_timer(now, index);
                }
                break;
            };
            let (id, packet) = self.packets.take();
            sender.end.send_into(now, next, &mut packet.frame);
            (packet.entered, packet.flow, packet.ack_ecn) = (Time::ZERO, sender.flow, Ecn::NotCapable);
            let Frame::Data(Segment { bytes, stream_id, .. }) = packet.frame else { break };
            let (entry, handle) = (sender.entry, PacketHandle { packet: id, bytes, route: sender.route });
            if !sender.upstream_streams.is_empty() {
                self.record_sent_stream(stream_id);
            }
            self.send_packet(now, loop_id, entry, handle);
        }
        if !self.sent_streams.is_empty() {
            self.advertise_credits(now, index);
        }
    }

    #[inline(never)]
    fn set_sender_timer(&mut self, now: Time, index: usize) {
        let sender = &mut self.endpoints.senders[index];
        let host = &mut self.endpoints.processors[sender.host as usize];
        // A deadline that an acknowledgement moves into the past is due now.
        let deadline = sender.end.deadline().max(now);
        if let Some(fires) = sender.timer.set(deadline, |deadline| host.processed(deadline, 0)) {
            self.events.push(fires, target(EventKind::SenderTimer, index as u32));
        }
    }

    #[inline(never)]
    fn record_sent_stream(&mut self, stream_id: u16) {
        if self.sent_streams.last() != Some(&stream_id) {
            self.sent_streams.push(stream_id);
        }
    }

    /// Advertises new credit to the sinks of the relay whose data the sender of this loop has just sent.
    fn advertise_credits(&mut self, now: Time, index: usize) {
        let mut sent_streams = std::mem::take(&mut self.sent_streams);
        for stream_id in sent_streams.drain(..) {
            let upstream = self.endpoints.senders[index].upstream_streams.get(usize::from(stream_id));
            if let Some(stream) = upstream.copied() {
                self.advertise_credit(now, stream);
            }
        }
        self.sent_streams = sent_streams;
    }

    fn advertise_credit(&mut self, now: Time, StreamRef { loop_id, stream_id }: StreamRef) {
        let receiver = &mut self.endpoints.receivers[loop_id as usize];
        let Delivery::Relay { relay, next_loop } = receiver.stream(stream_id).delivery else { return };
        let next_end = &self.endpoints.senders[next_loop as usize].end;
        if let Some(ack) = relay.on_sent(now, &mut receiver.end, next_end) {
            self.send_ack(now, loop_id, ack);
        }
    }

    /// Sends an acknowledgement that no packet of this moment has caused.
    #[inline(never)]
    fn send_ack(&mut self, now: Time, loop_id: u32, ack: Acknowledgement) {
        let ReceiverState { route, entry, flow, ack_ecn, .. } = self.endpoints.receivers[loop_id as usize];
        let bytes = ack.bytes;
        let packet = self.packets.insert(Packet::new(Frame::Ack(ack), flow, ack_ecn));
        self.send_packet(now, loop_id, entry, PacketHandle { packet, bytes, route });
    }

    /// Sends a packet of a loop on its route, which begins with link `entry`.
    #[inline(always)]
    fn send_packet(&mut self, now: Time, loop_id: u32, entry: u32, handle: PacketHandle) {
        if self.outside.is_some() {
            return self.depart(loop_id, handle.packet);
        }
        self.enqueue(now, entry, handle);
    }

    #[inline(always)]
    fn set_receiver_timer(&mut self, loop_id: u32) {
        let receiver = &mut self.endpoints.receivers[loop_id as usize];
        if let Some(fires) = receiver.timer.set(receiver.end.deadline(), |deadline| deadline) {
            self.events.push(fires, target(EventKind::ReceiverTimer, loop_id));
        }
    }

    fn on_sender_timer(&mut self, now: Time, loop_id: u32) {
        if !self.endpoints.senders[loop_id as usize].timer.expires(now) {
            return;
        }
        let now = self.host_time(now);
        let sender = &mut self.endpoints.senders[loop_id as usize];
        if sender.end.deadline() <= now {
            sender.end.on_deadline(now);
        }
        self.send_pending(now, loop_id);
    }

    fn on_receiver_timer(&mut self, now: Time, loop_id: u32) {
        if !self.endpoints.receivers[loop_id as usize].timer.expires(now) {
            return;
        }
        let now = self.host_time(now);
        let receiver = &mut self.endpoints.receivers[loop_id as usize];
        if let Some(ack) = receiver.end.on_deadline(now) {
            self.send_ack(now, loop_id, ack);
        }
        self.set_receiver_timer(loop_id);
    }

    fn on_law_tick(&mut self, now: Time, index: u32) {
        let next = self.links[index as usize].tick(now, &mut self.packets);
        self.events.push(next, target(EventKind::LawTick, index));
    }

    fn on_capacity_change(&mut self, now: Time, index: u32) {
        let link = &mut self.links[index as usize];
        let (capacity, next) = (link.configured_capacity(now), link.next_capacity_change(now));
        self.events.push(next, target(EventKind::CapacityChange, index));
        let now = self.host_time(now);
        let mut position = self.capacity_receivers.partition_point(|receiver| receiver.link < index);
        while let Some(&CapacityReceiver { link, loop_id }) = self.capacity_receivers.get(position)
            && link == index
        {
            let sender = &mut self.endpoints.senders[loop_id as usize];
            sender.end.on_capacity(now, capacity.min(sender.configured.beyond_first_link));
            self.send_pending(now, loop_id);
            position += 1;
        }
    }

    pub(crate) fn on_flow(&mut self, now: Time, index: u32) {
        let Self { flows, endpoints, .. } = self;
        let next = flows[index as usize].on_event(now, &mut endpoints.senders);
        self.events.push(next, target(EventKind::Flow, index));
        let now = self.host_time(now);
        for number in 0..self.flows[index as usize].streams().len() {
            let stream = self.flows[index as usize].streams()[number];
            self.send_pending(now, stream.loop_id);
        }
    }
}
