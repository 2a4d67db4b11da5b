//! Packets that wait for service where departure times are not known: in one queue, or in the internal queues of a law.

use super::laws::{LawHook, LawResult, apply_verdict, view};
use super::ring::Ring;
use crate::packet_pool::{Packet, PacketHandle, PacketPool};
use millpond_law::{Context, Hooks, MultiQueue, QueueView, QueuedFlow, Queues, Random, Victims};
use millpond_units::{Bytes, Span, Time};

/// The packets that wait.
pub(super) enum Waiting {
    Fifo(Ring<PacketHandle>),
    Several(Box<InternalQueues>),
}

impl Waiting {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Fifo(ring) => ring.len() == 0,
            Self::Several(queues) => queues.packets == 0,
        }
    }

    /// Adds a packet to the internal queue with this number.
    #[inline]
    pub(super) fn push(&mut self, handle: PacketHandle, queue: u32) {
        match self {
            Self::Fifo(ring) => ring.push(handle),
            Self::Several(queues) => queues.push(handle, queue),
        }
    }

    /// Removes the packet to serve next; returns it with the number of its queue.
    #[inline]
    pub(super) fn pop(&mut self, now: Time, packets: &PacketPool) -> Option<(PacketHandle, u32)> {
        match self {
            Self::Fifo(ring) => ring.pop().map(|handle| (handle, 0)),
            Self::Several(queues) => queues.pop(now, packets),
        }
    }

    /// The internal queues of a law, if there are any.
    #[inline]
    pub(super) fn several(&mut self) -> Option<&mut InternalQueues> {
        match self {
            Self::Fifo(_) => None,
            Self::Several(queues) => Some(queues),
        }
    }
}

/// One internal queue.
#[derive(Debug, Default)]
struct InternalQueue {
    ring: Ring<PacketHandle>,
    bytes: u64,
}

/// The internal queues of a law.
pub(super) struct InternalQueues {
    law: Box<dyn MultiQueue>,
    hooks: Hooks,
    random: Random,
    next_tick: Time,
    queues: Vec<InternalQueue>,
    /// Packets that wait in all of them.
    packets: u32,
    /// Queue and size of the packet in service.
    in_service: Option<(u32, u32)>,
}

/// Internal queues as laws and schedulers read them.
struct QueuesAt<'a> {
    queues: &'a [InternalQueue],
    packets: &'a PacketPool,
    now: Time,
}

impl QueuesAt<'_> {
    fn head(&self, queue: u32) -> Option<&PacketHandle> {
        self.queues.get(queue as usize)?.ring.get(0)
    }
}

impl Queues for QueuesAt<'_> {
    fn count(&self) -> u32 {
        self.queues.len() as u32
    }

    fn packets(&self, queue: u32) -> u64 {
        self.queues.get(queue as usize).map_or(0, |queue| queue.ring.len() as u64)
    }

    fn bytes(&self, queue: u32) -> Bytes {
        Bytes::new(self.queues.get(queue as usize).map_or(0, |queue| queue.bytes))
    }

    fn head_bytes(&self, queue: u32) -> Bytes {
        Bytes::new(self.head(queue).map_or(0, |handle| handle.bytes.into()))
    }

    fn head_sojourn(&self, queue: u32) -> Span {
        self.head(queue).map_or(Span::ZERO, |handle| self.now.since(self.packets.get(handle.packet).entered))
    }
}

impl InternalQueues {
    pub(super) fn new(law: Box<dyn MultiQueue>, random: Random) -> Self {
        let hooks = law.hooks();
        let next_tick = if hooks.tick { Time::ZERO } else { Time::NEVER };
        Self { law, hooks, random, next_tick, queues: Vec::new(), packets: 0, in_service: None }
    }

    pub(super) fn law(&self) -> &dyn MultiQueue {
        &*self.law
    }

    pub(super) fn add_flow(&mut self, flow: QueuedFlow) {
        self.law.add_flow(flow);
    }

    /// The number of the queue that an arriving packet joins.
    #[inline]
    pub(super) fn classify(&mut self, now: Time, packet: &mut Packet) -> u32 {
        let (flow, mut none) = (packet.flow, None);
        let cx = &mut Context { now, random: &mut self.random };
        let queue = self.law.classify(cx, &view(packet, &mut none, self.hooks.flow), flow);
        if self.queues.len() <= queue as usize {
            self.queues.resize_with(queue as usize + 1, InternalQueue::default);
        }
        queue
    }

    fn push(&mut self, handle: PacketHandle, queue: u32) {
        let entry = &mut self.queues[queue as usize];
        entry.ring.push(handle);
        entry.bytes += u64::from(handle.bytes);
        self.packets += 1;
        self.law.scheduler().arrived(queue);
    }

    fn pop(&mut self, now: Time, packets: &PacketPool) -> Option<(PacketHandle, u32)> {
        if self.packets == 0 {
            // The laws have dropped all packets.
            self.law.scheduler().idle();
            return None;
        }
        let queue = self.law.scheduler().next(&QueuesAt { queues: &self.queues, packets, now })?;
        self.remove(queue, Ring::pop).map(|handle| (handle, queue))
    }

    /// Removes a packet from one end of a queue.
    #[inline]
    fn remove(
        &mut self,
        queue: u32,
        end: fn(&mut Ring<PacketHandle>) -> Option<PacketHandle>,
    ) -> Option<PacketHandle> {
        let entry = self.queues.get_mut(queue as usize)?;
        let handle = end(&mut entry.ring)?;
        entry.bytes -= u64::from(handle.bytes);
        self.packets -= 1;
        Some(handle)
    }

    /// The service of a packet that [`Waiting::pop`] returned begins.
    #[inline]
    pub(super) fn begin_service(&mut self, now: Time, queue: u32, bytes: u32, packets: &PacketPool) {
        self.in_service = Some((queue, bytes));
        let queues = QueuesAt { queues: &self.queues, packets, now };
        self.law.scheduler().served(queue, Bytes::new(bytes.into()), &queues);
    }

    /// The service of a packet has ended.
    #[inline]
    pub(super) fn end_service(&mut self) {
        self.in_service = None;
        if self.packets == 0 {
            self.law.scheduler().idle();
        }
    }

    /// Evaluates the law of a queue for a packet; `link`: the state of all queues, with the sojourn time of the packet if it
    /// departs.
    #[inline]
    pub(super) fn apply(
        &mut self,
        hook: LawHook,
        now: Time,
        queue: u32,
        packet: &mut Packet,
        link: QueueView,
    ) -> LawResult {
        let is_used = if hook == LawHook::Arrival { self.hooks.arrive } else { self.hooks.depart };
        if !is_used {
            return LawResult::Forwarded;
        }
        let view_of_queue = self.view(hook, queue, packet, link);
        let mut none = None;
        let view = &mut view(packet, &mut none, self.hooks.flow);
        let cx = &mut Context { now, random: &mut self.random };
        let verdict = match hook {
            LawHook::Arrival => self.law.arrive(cx, queue, view, &view_of_queue),
            LawHook::Departure => self.law.depart(cx, queue, view, &view_of_queue),
        };
        apply_verdict(verdict, view.ecn)
    }

    /// A queue with its packet in service and its departing packet.
    #[inline]
    fn view(&self, hook: LawHook, queue: u32, packet: &Packet, link: QueueView) -> QueueView {
        let entry = &self.queues[queue as usize];
        let (mut bytes, mut packets) = (entry.bytes, entry.ring.len() as u64);
        if let Some((_, size)) = self.in_service.filter(|(served, _)| *served == queue) {
            (bytes, packets) = (bytes + u64::from(size), packets + 1);
        }
        if hook == LawHook::Departure {
            (bytes, packets) = (bytes + u64::from(packet.frame.bytes()), packets + 1);
        }
        QueueView { bytes: Bytes::new(bytes), packets, ..link }
    }

    /// The packets to drop so that a packet of `bytes` can join a queue, although the buffer is full.
    pub(super) fn make_room(
        &mut self,
        now: Time,
        queue: u32,
        bytes: u32,
        packets: &PacketPool,
    ) -> Option<Victims> {
        let queues = QueuesAt { queues: &self.queues, packets, now };
        self.law.make_room(queue, Bytes::new(bytes.into()), &queues)
    }

    /// Removes one of these packets.
    pub(super) fn remove_victim(&mut self, victims: &Victims) -> Option<PacketHandle> {
        self.remove(victims.queue, if victims.from_head { Ring::pop } else { Ring::pop_back })
    }

    /// Ends a control interval of the law if one is due; returns when the next one ends.
    pub(super) fn tick(&mut self, now: Time, link: &QueueView, packets: &PacketPool) -> Time {
        if self.next_tick <= now {
            let queues = QueuesAt { queues: &self.queues, packets, now };
            let cx = &mut Context { now, random: &mut self.random };
            let next = self.law.tick(cx, link.configured_capacity, &queues);
            // A law that requests its next tick at once would stop the simulated time.
            self.next_tick = next.map_or(Time::NEVER, |next| next.max(now + Span::from_picos(1)));
        }
        self.next_tick
    }

    pub(super) fn next_tick(&self) -> Time {
        self.next_tick
    }
}
