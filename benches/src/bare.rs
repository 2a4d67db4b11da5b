//! The bare loop: the same packets over the same links, without the models of the simulator.
//!
//! It has no law, no loss, no statistics, and constant windows. It has a binary heap with one pending event per link, and
//! packets of the simulator's size, written when they are sent and read when they arrive. The difference to a real run is
//! the cost of the models.

use crate::cases::{Case, Users};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A packet of two cache lines, like the engine's.
type Packet = [u64; 16];

/// A packet in flight: its slot, its flow, and the number of links that it has crossed, as data and as acknowledgement.
#[derive(Clone, Copy)]
struct Traveller {
    packet: u32,
    flow: u32,
    crossed: u32,
}

struct Link {
    picos_per_byte: u64,
    delay: u64,
    free_at: u64,
    flight: VecDeque<(u64, Traveller)>,
}

/// All events and links; a link is found by its index.
struct Loop {
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    links: Vec<Link>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// The number of trunks that each flow crosses.
    crosses: Vec<u32>,
    trunks: u32,
    hops: u64,
}

impl Loop {
    fn new(case: &Case) -> Self {
        let link = |rate: u64, delay: u64| Link {
            picos_per_byte: 8_000_000_000_000 / rate,
            delay,
            free_at: 0,
            flight: VecDeque::new(),
        };
        let trunks = case.trunks.iter().flat_map(|trunk| [0, 1].map(|_| (trunk.rate.bps(), trunk.delay)));
        let own = |users: &Users| [(10_000_000_000, case.access_delay(users)); 4];
        let ends = case.each_user().flat_map(|(_, users)| own(users));
        Self {
            events: BinaryHeap::new(),
            order: 0,
            links: trunks.chain(ends).map(|(rate, delay)| link(rate, delay.picos())).collect(),
            packets: vec![],
            free: vec![],
            crosses: case.each_user().map(|(_, users)| users.crosses as u32).collect(),
            trunks: case.trunks.len() as u32,
            hops: 0,
        }
    }

    /// The number of links in one direction of a flow's path.
    fn way(&self, flow: u32) -> u32 {
        self.crosses[flow as usize] + 2
    }

    /// The index of the link that a packet crosses next. The two directions of each trunk are first, then each flow's four
    /// links.
    fn next_link(&self, packet: Traveller) -> u32 {
        let (way, own) = (self.way(packet.flow), |place: u32| 2 * self.trunks + 4 * packet.flow + place);
        match packet.crossed {
            0 => own(0),
            place if place < way - 1 => 2 * (place - 1),
            place if place == way - 1 => own(1),
            place if place == way => own(2),
            place if place < 2 * way - 1 => 2 * (2 * way - 2 - place) + 1,
            _ => own(3),
        }
    }

    fn schedule(&mut self, time: u64, link: u32) {
        self.events.push(Reverse((time, self.order, link)));
        self.order += 1;
    }

    fn send(&mut self, now: u64, packet: Traveller) {
        let index = self.next_link(packet);
        let bytes = if packet.crossed < self.way(packet.flow) { 1000 } else { 40 };
        let link = &mut self.links[index as usize];
        link.free_at = link.free_at.max(now) + bytes * link.picos_per_byte;
        let arrives = link.free_at + link.delay;
        link.flight.push_back((arrives, packet));
        if link.flight.len() == 1 {
            self.schedule(arrives, index);
        }
    }

    /// Writes and sends a packet.
    fn launch(&mut self, now: u64, flow: u32, crossed: u32) {
        let body = [now; 16];
        let packet = match self.free.pop() {
            Some(packet) => {
                self.packets[packet as usize] = body;
                packet
            }
            None => {
                self.packets.push(body);
                self.packets.len() as u32 - 1
            }
        };
        self.send(now, Traveller { packet, flow, crossed });
    }

    /// Reads a packet that has arrived, and sends the next: an acknowledgement for data, data for an acknowledgement.
    fn answer(&mut self, now: u64, arrived: Traveller) {
        let body = self.packets[arrived.packet as usize];
        self.free.push(arrived.packet);
        let sent_at = body.into_iter().fold(now, u64::min);
        let next = (arrived.crossed + 1) % (2 * self.way(arrived.flow));
        self.launch(now.max(sent_at), arrived.flow, next);
    }

    fn run(&mut self, end: u64) {
        while let Some(Reverse((now, _, index))) = self.events.pop() {
            if now > end {
                break;
            }
            let flight = &mut self.links[index as usize].flight;
            let Some((_, traveller)) = flight.pop_front() else { continue };
            if let Some(&(next, _)) = flight.front() {
                self.schedule(next, index);
            }
            self.hops += 1;
            if (traveller.crossed + 1).is_multiple_of(self.way(traveller.flow)) {
                self.answer(now, traveller);
            } else {
                self.send(now, Traveller { crossed: traveller.crossed + 1, ..traveller });
            }
        }
    }
}

/// Runs the case's network for its duration with windows that keep the trunks busy; returns packet-hops.
pub(crate) fn run(case: &Case) -> u64 {
    let mut bare = Loop::new(case);
    for (flow, (start, users)) in case.each_user().enumerate() {
        (0..case.full_window(users)).for_each(|_| bare.launch(start.picos(), flow as u32, 0));
    }
    bare.run(case.duration.picos());
    bare.hops
}
