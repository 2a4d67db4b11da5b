//! One direction of the emulated link, without device and clock: IP packets enter with their times and leave with theirs.
//!
//! ```text
//!   IP packet, time --> size, flow, ECN --> SingleLink: laws, queue, server, loss, delay --> IP packet with its ECN bits, time
//!                            |                                  |
//!                            +----- bytes stored by slot -------+
//! ```

use crate::ip::{self, FlowKey};
use millpond_sim::{EnteringPacket, LinkSpec, LinkView, SingleLink};
use millpond_units::{Span, Time};
use std::collections::BTreeMap;

/// Most flows with a number of their own; the packets of further flows have the number of the last one.
const MOST_FLOWS: usize = 65_536;

/// A packet at the end of the link.
#[derive(Debug)]
pub struct Delivered<'a> {
    /// When it reaches the end of the link.
    pub at: Time,
    /// The IP packet; its ECN bits are CE if a law has marked it.
    pub packet: &'a [u8],
    /// Time in the queue without its own service.
    pub queueing: Span,
}

/// One direction of the emulated link. Times must not decrease.
pub struct Direction {
    link: SingleLink,
    /// The bytes of the packets in the link, by slot; their memory is reused.
    stored: Vec<Vec<u8>>,
    flows: BTreeMap<FlowKey, u32>,
    /// Packets that are not IP, or that no router forwards.
    ignored: u64,
}

impl Direction {
    /// The direction at time zero.
    pub fn new(spec: LinkSpec, seed: u64) -> Self {
        Self { link: SingleLink::new(spec, seed), stored: Vec::new(), flows: BTreeMap::new(), ignored: 0 }
    }

    /// An IP packet enters at `at`. Returns false if it is no packet that a router forwards.
    pub fn enter(&mut self, at: Time, packet: &[u8]) -> bool {
        let facts = ip::read(packet).filter(|_| !ip::is_link_local_multicast(packet));
        let Some(facts) = facts else {
            self.ignored += 1;
            return false;
        };
        let flow = self.flow(facts.flow);
        let bytes = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let slot = self.link.enter(at, EnteringPacket { bytes, flow, ecn: facts.ecn }) as usize;
        if self.stored.len() <= slot {
            self.stored.resize_with(slot + 1, Vec::new);
        }
        self.stored[slot].clear();
        self.stored[slot].extend_from_slice(packet);
        true
    }

    /// The number of a flow, in the order of first appearance.
    fn flow(&mut self, key: FlowKey) -> u32 {
        let next = self.flows.len();
        if let Some(known) = self.flows.get(&key) {
            return *known;
        }
        if next >= MOST_FLOWS {
            return MOST_FLOWS as u32 - 1;
        }
        self.flows.insert(key, next as u32);
        next as u32
    }

    /// When the link must be called next.
    pub fn next_event(&self) -> Time {
        self.link.next_event()
    }

    /// Passes each packet that leaves up to `time` to `deliver`, with its own time.
    pub fn run_to(&mut self, time: Time, mut deliver: impl FnMut(Delivered<'_>)) {
        let stored = &mut self.stored;
        self.link.run_to(time, |leaving| {
            let Some(packet) = stored.get_mut(leaving.slot as usize) else { return };
            if ip::read(packet).is_some_and(|facts| facts.ecn != leaving.ecn) {
                ip::set_ecn(packet, leaving.ecn);
            }
            deliver(Delivered { at: leaving.at, packet, queueing: leaving.queueing });
        });
    }

    /// State and statistics at the time up to which it has run.
    pub fn view(&self) -> LinkView<'_> {
        self.link.view()
    }

    /// Number of packets in the queue and on the wire.
    pub fn packets(&self) -> usize {
        self.link.packets()
    }

    /// Number of packets that did not enter, because they are not IP or no router forwards them.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Number of flows so far.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}
