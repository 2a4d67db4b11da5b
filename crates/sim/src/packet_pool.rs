//! All packets under way, each in a slot that is used again when the packet has gone.

use millpond_endpoint::Frame;
use millpond_law::Ecn;
use millpond_units::{Span, Time};

/// The slot of a packet.
pub(crate) type PacketId = u32;

/// A packet as links hand it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) packet: PacketId,
    pub(crate) bytes: u32,
    /// Where on its route it goes next.
    pub(crate) route: u32,
}

impl Parcel {
    /// No packet.
    pub(crate) const NONE: Self = Self { packet: PacketId::MAX, bytes: 0, route: 0 };
}

/// A frame under way in one loop, in two cache lines. Links move its [`PacketId`]; only laws, waiting and the two
/// ends touch it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Packet {
    pub(crate) frame: Frame,
    /// When it arrived at the link where it is, if that has laws or takes one step per service.
    pub(crate) entered: Time,
    pub(crate) flow: u32,
    /// ECN bits of an acknowledgement; nobody reports marks on it.
    pub(crate) ack_ecn: Ecn,
}

const _: () = assert!(size_of::<Packet>() == 128);

impl Packet {
    #[inline]
    pub(crate) fn new(frame: Frame, flow: u32, ack_ecn: Ecn) -> Self {
        Self { frame, entered: Time::ZERO, flow, ack_ecn }
    }

    /// It has waited in a queue.
    #[inline]
    pub(crate) fn waited(&mut self, wait: Span) {
        if let Frame::Data(segment) = &mut self.frame {
            segment.queueing += wait;
        }
    }
}

/// The slots.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Packets {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = packet;
            return id;
        }
        self.slots.push(packet);
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

    /// Those under way.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Packet> {
        let mut free = vec![false; self.slots.len()];
        self.free.iter().for_each(|id| free[*id as usize] = true);
        self.slots.iter().zip(free).filter(|(_, free)| !free).map(|(packet, _)| packet)
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
