//! The network at work: one event loop over links and the ends of loops.

use crate::delivery::{Onward, outlook};
use crate::endpoints::{Ends, FIRST_END, Receiving, Side};
use crate::event_queue::{EventQueue, TARGETS, Target};
use crate::flow_state::FlowState;
use crate::link::{Link, LinkView, Next};
use crate::packet_pool::{Packet, PacketId, Packets, Parcel};
use crate::spawn::Spawning;
use crate::stages::Seat;
use crate::stats::{LoopCounters, SendingMeter};
use crate::view::FlowView;
use crate::{FlowId, LinkId};
use millpond_endpoint::{Acknowledgement, Frame};
use millpond_law::Ecn;
use millpond_units::Time;
use std::collections::BTreeSet;

/// What an event is for; its target is the kind and the index of a link, a loop or a flow.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A packet comes out of a link.
    Packet = 0,
    /// A sending end's deadline.
    Sender = 1,
    /// A receiving end's deadline.
    Receiver = 2,
    /// A control interval of a law at a link.
    Tick = 3,
    /// The capacity told at a link changes.
    Told = 4,
    /// A flow starts, stops, or its application has more data.
    Flow = 5,
    /// A transfer arrives.
    Arrival = 6,
    /// A link that has more to do than to pass packets on.
    Link = 7,
}

/// How many kinds have room in a target.
pub(crate) const KINDS: u32 = 8;
pub(crate) const INDEX_LIMIT: u32 = TARGETS / KINDS;

pub(crate) fn target(kind: Kind, index: u32) -> Target {
    kind as u32 * INDEX_LIMIT + index
}

/// A network of links and flows, somewhere in its run.
///
/// A run is a sequence of [`run_to`](Self::run_to) calls; between them everything can be looked at through
/// [`link`](Self::link) and [`flow`](Self::flow). The result does not depend on where the calls divide the time.
pub struct Network {
    now: Time,
    pub(crate) events: EventQueue,
    pub(crate) packets: Packets,
    pub(crate) links: Vec<Link>,
    /// Links behind these are delay elements.
    real_links: usize,
    /// Stops of all paths, one path after the other: links, and at last an end of a loop.
    pub(crate) routes: Vec<u32>,
    /// Which loops are told live of the capacity of which link, by link.
    pub(crate) audience: Vec<(u32, u32)>,
    /// Whose bytes a relay has just sent; empty between events.
    served: Vec<u16>,
    pub(crate) ends: Ends,
    pub(crate) flows: Vec<FlowState>,
    /// Flows behind these stand for all that share a loop, or carry spawned transfers.
    declared_flows: usize,
    pub(crate) spawning: Spawning,
}

/// What a network is made of.
pub(crate) struct Parts {
    pub(crate) links: Vec<Link>,
    pub(crate) real_links: usize,
    pub(crate) routes: Vec<u32>,
    pub(crate) ends: Ends,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) declared_flows: usize,
    pub(crate) spawning: Spawning,
}

impl Network {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { links, real_links, routes, ends, flows, declared_flows, spawning } = parts;
        let mut network = Self {
            now: Time::ZERO,
            events: EventQueue::default(),
            packets: Packets::default(),
            audience: ends.audience(),
            served: Vec::new(),
            declared_flows,
            links,
            real_links,
            routes,
            ends,
            flows,
            spawning,
        };
        network.first_events();
        network
    }

    fn first_events(&mut self) {
        for (index, flow) in self.flows.iter().enumerate() {
            self.events.push(flow.start(), target(Kind::Flow, index as u32));
        }
        for (index, link) in self.links.iter().enumerate() {
            self.events.push(link.first_tick(), target(Kind::Tick, index as u32));
        }
        let listeners = self.audience.iter().map(|(link, _)| *link);
        for link in listeners.chain(self.spawning.listened_links()).collect::<BTreeSet<u32>>() {
            let change = self.links[link as usize].next_told_change(Time::ZERO);
            self.events.push(change, target(Kind::Told, link));
        }
        for (index, arrival) in self.spawning.first_arrivals().enumerate() {
            self.events.push(arrival, target(Kind::Arrival, index as u32));
        }
    }

    /// Lets everything happen that happens until `time`, and what happens at it.
    pub fn run_to(&mut self, time: Time) {
        while let Some((now, target, parcel)) = self.events.pop_until(time) {
            self.dispatch(now, target, parcel);
        }
        self.now = self.now.max(time);
        for link in &mut self.links {
            link.settle(self.now, &mut self.packets);
        }
    }

    /// Forgets what was measured so far, as at the end of a warm-up.
    pub fn start_measuring(&mut self) {
        self.start_measuring_transfers();
        let Self { links, packets, ends, now, flows, .. } = self;
        links.iter_mut().for_each(|link| link.start_measuring(*now, packets));
        for (sender, receiver) in ends.senders.iter_mut().zip(&mut ends.receivers) {
            sender.meter = SendingMeter::default();
            receiver.start_measuring(LoopCounters::of(&sender.end, &receiver.end));
        }
        flows.iter_mut().for_each(|flow| flow.start_measuring(*now));
    }

    /// Starts a new interval of [`LinkView::interval_delay`] and [`FlowView::interval_delay`].
    pub fn start_interval(&mut self) {
        self.links.iter_mut().for_each(Link::start_interval);
        self.ends.receivers.iter_mut().for_each(Receiving::start_interval);
        self.spawning.start_interval();
    }

    /// Up to when it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// A link.
    pub fn link(&self, id: LinkId) -> LinkView<'_> {
        LinkView { link: &self.links[id.0 as usize] }
    }

    /// All links, in the order in which they were added.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkView<'_>> {
        self.links[..self.real_links].iter().map(|link| LinkView { link })
    }

    /// A flow.
    pub fn flow(&self, id: FlowId) -> FlowView<'_> {
        FlowView { network: self, index: id.0 as usize }
    }

    /// All flows, in the order in which they were added; not those that were spawned.
    pub fn flows(&self) -> impl ExactSizeIterator<Item = FlowView<'_>> {
        (0..self.declared_flows).map(|index| FlowView { network: self, index })
    }

    /// Packets, data and acknowledgements, times the links that each has crossed.
    pub fn packet_hops(&self) -> u64 {
        self.links().map(|link| link.totals().served).sum()
    }

    /// Packets now under way.
    pub fn packets_under_way(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    fn dispatch(&mut self, now: Time, target: Target, parcel: Parcel) {
        // Most events are of packets.
        if target < INDEX_LIMIT {
            return self.pass_on(now, parcel);
        }
        let index = target % INDEX_LIMIT;
        match target / INDEX_LIMIT {
            1 => self.on_sender_deadline(now, index),
            2 => self.on_receiver_deadline(now, index),
            3 => self.on_tick(now, index),
            4 => self.on_told_change(now, index),
            5 => self.on_flow(now, index),
            6 => self.on_arrival(now, index),
            _ => self.on_link(now, index, parcel),
        }
    }

    #[inline(never)]
    fn on_link(&mut self, now: Time, index: u32, parcel: Parcel) {
        let (arrived, next) = self.links[index as usize].fire(now, parcel, &mut self.packets);
        self.events.push(next, target(Kind::Link, index));
        if let Some(parcel) = arrived {
            self.pass_on(now, parcel);
        }
    }

    /// A packet has come out at the far end of a link.
    #[inline(always)]
    fn pass_on(&mut self, now: Time, parcel: Parcel) {
        let stop = self.routes[parcel.route as usize];
        if stop < FIRST_END {
            self.enter(now, stop, parcel);
        } else if stop & 1 == Side::Sender as u32 {
            self.on_ack(now, (stop - FIRST_END) / 2, parcel.packet);
        } else {
            self.on_data(now, (stop - FIRST_END) / 2, parcel.packet);
        }
    }

    /// A packet arrives at the near end of a link.
    #[inline(always)]
    fn enter(&mut self, now: Time, link: u32, mut parcel: Parcel) {
        parcel.route += 1;
        let side = &mut self.links[link as usize];
        if side.is_plain() {
            let comes_out = side.arrive(now, parcel, &mut self.packets);
            self.events.push_parcel(comes_out, target(Kind::Packet, 0), parcel);
        } else {
            self.enter_special(now, link, parcel);
        }
    }

    #[inline(never)]
    fn enter_special(&mut self, now: Time, link: u32, parcel: Parcel) {
        match self.links[link as usize].arrive_special(now, parcel, &mut self.packets) {
            Next::ComesOut(time) => self.events.push_parcel(time, target(Kind::Packet, 0), parcel),
            Next::Survives(time) => self.events.push_parcel(time, target(Kind::Link, link), parcel),
            Next::Calls(time) => self.events.push(time, target(Kind::Link, link)),
        }
    }

    /// A data packet has arrived at the receiving end of its loop.
    #[inline(never)]
    fn on_data(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let packet = self.packets.get(id);
        let Frame::Data(segment) = &packet.frame else { return };
        let side = &mut self.ends.receivers[loop_id as usize];
        if let Onward::Relay { .. } = side.branch(segment.stream_id).onward {
            return self.hand_on(now, loop_id, id);
        }
        let received = side.end.on_data(now, segment, None);
        if received.new_bytes > 0 {
            let branch = side.branch_mut(segment.stream_id);
            branch.arrivals.delivered(segment.queueing);
            let flow = branch.flow;
            if side.end.is_complete_of(segment.stream_id) {
                self.flows[flow as usize].complete(now);
            }
        }
        self.packets.release(id);
        if let Some(ack) = received.ack {
            self.send_ack(now, loop_id, ack);
        }
        self.arm_receiver(loop_id);
    }

    /// The same at a relay, where its bytes go on.
    #[inline(never)]
    fn hand_on(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let Frame::Data(segment) = &self.packets.get(id).frame else { return };
        let (receivers, senders) = (&mut self.ends.receivers, &mut self.ends.senders);
        let side = &mut receivers[loop_id as usize];
        let Onward::Relay { relay, next } = side.branch(segment.stream_id).onward else { return };
        relay.on_arrival(now, segment, &mut senders[next as usize].end);
        let view = outlook(now, side, segment.stream_id, senders);
        let next_end = &mut senders[next as usize].end;
        let received = relay.on_data(now, segment, view.as_ref(), &mut side.end, next_end);
        self.packets.release(id);
        if let Some(ack) = received.ack {
            self.answer(now, loop_id, ack);
        }
        self.pump(now, next);
        self.arm_receiver(loop_id);
    }

    /// An acknowledgement leaves, other than at once from a destination.
    #[inline(never)]
    fn answer(&mut self, now: Time, loop_id: u32, ack: Acknowledgement) {
        self.send_ack(now, loop_id, ack);
    }

    /// An acknowledgement has arrived at the sending end of its loop.
    #[inline(never)]
    fn on_ack(&mut self, now: Time, loop_id: u32, id: PacketId) {
        if let Frame::Ack(ack) = &self.packets.get(id).frame {
            let side = &mut self.ends.senders[loop_id as usize];
            if let Some(rtt) = side.end.on_ack(now, ack).rtt {
                side.meter.rtt.add_delay(rtt);
            }
        }
        self.packets.release(id);
        self.pump(now, loop_id);
    }

    /// Sends what the sending end has to send now.
    #[inline(never)]
    fn pump(&mut self, now: Time, loop_id: u32) {
        let index = loop_id as usize;
        loop {
            let side = &mut self.ends.senders[index];
            let Some(segment) = side.end.transmit(now) else { break };
            let (route, flow) = (side.route, side.flow);
            if !side.feeders.is_empty() {
                self.note_served(segment.stream_id);
            }
            let bytes = segment.bytes;
            self.launch(now, route, bytes, Packet::new(Frame::Data(segment), flow, Ecn::NotCapable));
        }
        let side = &mut self.ends.senders[index];
        if let Some(deadline) = rearm(&mut side.armed, side.end.deadline()) {
            self.events.push(deadline, target(Kind::Sender, loop_id));
        }
        if !self.served.is_empty() {
            self.renew_credits(now, index);
        }
    }

    #[inline(never)]
    fn note_served(&mut self, member: u16) {
        if self.served.last() != Some(&member) {
            self.served.push(member);
        }
    }

    /// The relay behind this loop has room again for those whose bytes it has sent: its sinks may have to say so.
    fn renew_credits(&mut self, now: Time, index: usize) {
        let mut served = std::mem::take(&mut self.served);
        for member in served.drain(..) {
            let feeder = self.ends.senders[index].feeders.get(usize::from(member));
            if let Some(seat) = feeder.copied() {
                self.renew_credit(now, seat);
            }
        }
        self.served = served;
    }

    fn renew_credit(&mut self, now: Time, Seat { loop_id, member }: Seat) {
        let side = &mut self.ends.receivers[loop_id as usize];
        let Onward::Relay { relay, next } = side.branch(member).onward else { return };
        let next = &self.ends.senders[next as usize].end;
        if let Some(ack) = relay.on_sent(now, &mut side.end, next) {
            self.answer(now, loop_id, ack);
        }
    }

    #[inline(always)]
    fn send_ack(&mut self, now: Time, loop_id: u32, ack: Acknowledgement) {
        let Receiving { route, flow, ack_ecn, .. } = self.ends.receivers[loop_id as usize];
        let bytes = ack.bytes;
        self.launch(now, route, bytes, Packet::new(Frame::Ack(ack), flow, ack_ecn));
    }

    /// A packet begins its route, which begins with a link.
    #[inline(always)]
    fn launch(&mut self, now: Time, route: u32, bytes: u32, packet: Packet) {
        let packet = self.packets.insert(packet);
        self.enter(now, self.routes[route as usize], Parcel { packet, bytes, route });
    }

    #[inline(always)]
    fn arm_receiver(&mut self, loop_id: u32) {
        let side = &mut self.ends.receivers[loop_id as usize];
        if let Some(deadline) = rearm(&mut side.armed, side.end.deadline()) {
            self.events.push(deadline, target(Kind::Receiver, loop_id));
        }
    }

    fn on_sender_deadline(&mut self, now: Time, loop_id: u32) {
        let side = &mut self.ends.senders[loop_id as usize];
        if side.armed != now {
            return;
        }
        side.armed = Time::NEVER;
        if side.end.deadline() <= now {
            side.end.on_deadline(now);
        }
        self.pump(now, loop_id);
    }

    fn on_receiver_deadline(&mut self, now: Time, loop_id: u32) {
        let side = &mut self.ends.receivers[loop_id as usize];
        if side.armed != now {
            return;
        }
        side.armed = Time::NEVER;
        if let Some(ack) = side.end.on_deadline(now) {
            self.answer(now, loop_id, ack);
        }
        self.arm_receiver(loop_id);
    }

    fn on_tick(&mut self, now: Time, index: u32) {
        let next = self.links[index as usize].tick(now, &mut self.packets);
        self.events.push(next, target(Kind::Tick, index));
    }

    fn on_told_change(&mut self, now: Time, index: u32) {
        let link = &mut self.links[index as usize];
        let (capacity, next) = (link.told(now), link.next_told_change(now));
        self.events.push(next, target(Kind::Told, index));
        let mut listener = self.audience.partition_point(|(link, _)| *link < index);
        while let Some(&(link, loop_id)) = self.audience.get(listener)
            && link == index
        {
            let side = &mut self.ends.senders[loop_id as usize];
            side.end.on_capacity(now, capacity.min(side.told.beyond));
            self.pump(now, loop_id);
            listener += 1;
        }
    }

    pub(crate) fn on_flow(&mut self, now: Time, index: u32) {
        let Self { flows, ends, .. } = self;
        let next = flows[index as usize].proceed(now, &mut ends.senders);
        self.events.push(next, target(Kind::Flow, index));
        for number in 0..self.flows[index as usize].seats().len() {
            let seat = self.flows[index as usize].seats()[number];
            self.pump(now, seat.loop_id);
        }
    }
}

/// A deadline earlier than the one that is armed is armed in its stead; a later one waits until that one fires.
#[inline]
fn rearm(armed: &mut Time, deadline: Time) -> Option<Time> {
    if deadline >= *armed {
        return None;
    }
    *armed = deadline;
    Some(deadline)
}
