//! Runs of the live world in virtual time: the carrier between hosts and links without clock and socket.

mod equality;
mod faults;
mod format;
mod lateness;

use super::carrier::{Carrier, CarrierCounters, SocketOwner};
use millpond_law::{Ecn, Random};
use millpond_plan::packets::{PacketPlan, plan};
use millpond_protocols::Registry;
use millpond_scenario::{Disk, Scenario};
use millpond_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// A datagram on its way; ordered by time, then by number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OnTheWay {
    at: Time,
    number: u64,
    node: u32,
    ecn: u8,
    bytes: Vec<u8>,
}

/// What happens to a datagram: the copies that arrive, each after a delay.
type Fault<'a> = dyn FnMut(&[u8], &mut Random) -> Vec<(Span, Vec<u8>)> + 'a;

/// A run of a scenario in virtual time whose datagrams take no time, unless a fault delays them.
struct VirtualRun {
    plan: PacketPlan,
    carrier: Carrier,
    on_the_way: BinaryHeap<Reverse<OnTheWay>>,
    places: Vec<SocketOwner>,
    sent: u64,
    random: Random,
}

impl VirtualRun {
    fn new(text: &str) -> Self {
        let mut plan = planned(text);
        plan.network.take_outside(Span::ZERO);
        Self {
            plan,
            carrier: Carrier::new(77),
            on_the_way: BinaryHeap::new(),
            places: Vec::new(),
            sent: 0,
            random: Random::stream(1, "faults"),
        }
    }

    /// Runs up to `end`. Every call of the network comes up to `late` after the time that it asked for.
    fn run_to(&mut self, end: Time, late: Span, fault: &mut Fault<'_>) {
        loop {
            let arrival = self.on_the_way.peek().map_or(Time::NEVER, |Reverse(next)| next.at);
            let due = self.plan.network.next_event().min(arrival);
            if due > end {
                break;
            }
            let called = (due + late.scale(self.random.uniform())).max(self.plan.network.now());
            let now = called.min(end);
            self.plan.network.run_due(called, end);
            self.send(now, fault);
            while self.on_the_way.peek().is_some_and(|Reverse(next)| next.at <= now)
                && let Some(Reverse(next)) = self.on_the_way.pop()
            {
                let ecn = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(next.ecn)];
                let place = self.places[next.node as usize];
                self.carrier.receive(&mut self.plan.network, place, Some(ecn), &next.bytes);
                self.send(now, fault);
            }
        }
        self.plan.network.run_due(end, end);
    }

    fn send(&mut self, now: Time, fault: &mut Fault<'_>) {
        let Self { plan, carrier, on_the_way, places, sent, random } = self;
        carrier.send(&mut plan.network, |place, ecn, bytes| {
            let node = places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            });
            for (delay, bytes) in fault(bytes, random) {
                *sent += 1;
                on_the_way.push(Reverse(OnTheWay {
                    at: now + delay,
                    number: *sent,
                    node: node as u32,
                    ecn: ecn as u8,
                    bytes,
                }));
            }
        });
        carrier.record_lateness(now);
    }

    fn counters(&self) -> CarrierCounters {
        self.carrier.counters()
    }
}

/// No fault.
fn ideal(bytes: &[u8], _: &mut Random) -> Vec<(Span, Vec<u8>)> {
    vec![(Span::ZERO, bytes.to_vec())]
}

pub(crate) fn planned(text: &str) -> PacketPlan {
    let scenario = Scenario::parse(text, "test.toml", Path::new(""), &[], &Disk)
        .unwrap_or_else(|error| panic!("{error}"));
    plan(&scenario, &Registry::builtin()).unwrap_or_else(|error| panic!("{error}"))
}
