//! The bare loop: the same packets over the same links, with nothing that makes a simulator one.
//!
//! No law, no loss, no statistics, windows that never change; a binary heap with one pending event per link, and
//! packets as large as a simulator's, written where they are sent and read where they arrive. What a real run costs
//! beyond it is the price of its models.

use crate::cases::Case;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Two cache lines, as the engine's.
type Packet = [u64; 16];

/// A packet on its way: where it lies, its flow, and how many links it has crossed (three as data, three as
/// acknowledgement).
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

/// All events and links; a link's index says where it lies.
struct Loop {
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    links: Vec<Link>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    flows: u32,
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
        let (access, trunk) = (case.access_delay().picos(), case.trunk_delay().picos());
        let ends = (0..4 * case.flows).map(|_| link(10_000_000_000, access));
        let links = [0, 1].map(|_| link(case.rate.bps(), trunk)).into_iter().chain(ends).collect();
        Self {
            events: BinaryHeap::new(),
            order: 0,
            links,
            packets: vec![],
            free: vec![],
            flows: case.flows,
            hops: 0,
        }
    }

    /// The link that a packet crosses next: the trunk's directions are links 0 and 1, each flow has four more.
    fn next_link(&self, packet: Traveller) -> u32 {
        let own = |place: u32| 2 + place * self.flows + packet.flow;
        match packet.crossed {
            0 => own(0),
            1 => 0,
            2 => own(1),
            3 => own(2),
            4 => 1,
            _ => own(3),
        }
    }

    fn schedule(&mut self, time: u64, link: u32) {
        self.events.push(Reverse((time, self.order, link)));
        self.order += 1;
    }

    fn send(&mut self, now: u64, packet: Traveller) {
        let index = self.next_link(packet);
        let bytes = if packet.crossed < 3 { 1000 } else { 40 };
        let link = &mut self.links[index as usize];
        link.free_at = link.free_at.max(now) + bytes * link.picos_per_byte;
        let arrives = link.free_at + link.delay;
        link.flight.push_back((arrives, packet));
        if link.flight.len() == 1 {
            self.schedule(arrives, index);
        }
    }

    /// Writes a packet that leaves now.
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

    /// Reads a packet that has arrived, and answers: data with an acknowledgement, that with the next data.
    fn answer(&mut self, now: u64, arrived: Traveller) {
        let body = self.packets[arrived.packet as usize];
        self.free.push(arrived.packet);
        let sent_at = body.into_iter().fold(now, u64::min);
        self.launch(now.max(sent_at), arrived.flow, (arrived.crossed + 1) % 6);
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
            match traveller.crossed {
                2 | 5 => self.answer(now, traveller),
                crossed => self.send(now, Traveller { crossed: crossed + 1, ..traveller }),
            }
        }
    }
}

/// Runs the case's network for its duration with windows that keep the trunk busy; returns packet-hops.
pub(crate) fn run(case: &Case) -> u64 {
    let mut bare = Loop::new(case);
    let window = case.full_pipe().div_ceil(u64::from(case.flows));
    for flow in 0..case.flows {
        let start = 1_000_000_000_000 / u64::from(case.flows) * u64::from(flow);
        (0..window).for_each(|_| bare.launch(start, flow, 0));
    }
    bare.run(case.duration.picos());
    bare.hops
}
