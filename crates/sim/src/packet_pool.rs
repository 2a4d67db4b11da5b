//! Storage of all packets in the network.

use millpond_endpoint::{Frame, Segment};
use millpond_law::Ecn;
use millpond_units::{Span, Time};

/// Index of the slot of a packet.
pub(crate) type PacketId = u32;

/// What links pass on instead of the packet itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketHandle {
    pub(crate) packet: PacketId,
    pub(crate) bytes: u32,
    /// Index of the next entry of its route.
    pub(crate) route: u32,
}

impl PacketHandle {
    /// Refers to no packet.
    pub(crate) const NONE: Self = Self { packet: PacketId::MAX, bytes: 0, route: 0 };

    /// True if no packet is meant.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.packet == PacketId::MAX
    }
}

/// A frame on its way through one loop, in two cache lines. Links move only its [`PacketId`]; it is read and written by
/// laws, by queueing-delay accounting and by the two ends.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Packet {
    pub(crate) frame: Frame,
    /// When it arrived at its current link. Set only at links with laws or several queues.
    pub(crate) entered: Time,
    pub(crate) flow: u32,
    /// ECN field of an acknowledgement. Its marks are not reported to any law.
    pub(crate) ack_ecn: Ecn,
}

const _: () = assert!(size_of::<Packet>() == 128);

impl Packet {
    /// What a new slot holds.
    const EMPTY: Self =
        Self { frame: Frame::Data(Segment::UNUSED), entered: Time::ZERO, flow: 0, ack_ecn: Ecn::NotCapable };

    #[inline]
    pub(crate) fn new(frame: Frame, flow: u32, ack_ecn: Ecn) -> Self {
        Self { frame, entered: Time::ZERO, flow, ack_ecn }
    }

    /// Adds queueing delay at a link.
    #[inline]
    pub(crate) fn add_queueing(&mut self, wait: Span) {
        if let Frame::Data(segment) = &mut self.frame {
            segment.queueing += wait;
        }
    }
}

/// Number of packets that, with their events, fill about a megabyte.
const LARGE: usize = 4096;

/// A pool of packets whose slots are reused.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
}

impl PacketPool {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        let (id, slot) = self.take();
        *slot = packet;
        id
    }

    /// Takes a slot. What it holds is to be replaced.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> (PacketId, &mut Packet) {
        let id = self.free.pop().unwrap_or_else(|| self.new_slot());
        (id, &mut self.slots[id as usize])
    }

    /// Adds a slot. The memory grows by a quarter.
    #[cold]
    #[inline(never)]
    fn new_slot(&mut self) -> PacketId {
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact(64 + self.slots.len() / 4);
        }
        self.slots.push(Packet::EMPTY);
        (self.slots.len() - 1) as PacketId
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.slots[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub(crate) fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The packets in the network.
    pub(crate) fn in_network(&self) -> impl Iterator<Item = &Packet> {
        let mut free = vec![false; self.slots.len()];
        self.free.iter().for_each(|id| free[*id as usize] = true);
        self.slots.iter().zip(free).filter(|(_, free)| !free).map(|(packet, _)| packet)
    }

    /// The packet with this number, if there is one.
    #[inline]
    pub(crate) fn slot(&self, id: PacketId) -> Option<&Packet> {
        self.slots.get(id as usize)
    }

    /// True if the packets do not fit in the caches next to the processor.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.slots.len() >= LARGE
    }

    /// Number of packets in the network.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
