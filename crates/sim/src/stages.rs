//! Who takes which loop: flows of their own, and flows that share one.

use crate::delivery::{Branch, Onward};
use crate::flow_spec::{FlowSpec, Leg};
use millpond_endpoint::{Relay, StreamConfig};
use millpond_units::{Bytes, Time};

/// A flow's seat in a loop: its number among those that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) loop_id: u32,
    pub(crate) member: u16,
}

/// What a loop has to know of a flow that takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    flow: u32,
    pub(crate) weight: f64,
    pub(crate) start: Time,
    /// Where its bytes come from; none at its source.
    pub(crate) before: Option<Seat>,
    /// The relay's send queue and where its bytes go on; none at its destination.
    after: Option<(Bytes, Seat)>,
}

/// A flow, as its loops are to know it.
pub(crate) struct Taker<'a> {
    pub(crate) flow: u32,
    pub(crate) weight: f64,
    pub(crate) start: Time,
    pub(crate) relays: &'a [Bytes],
    pub(crate) seats: &'a [Seat],
}

impl Taker<'_> {
    /// Its place in its loop with this number.
    pub(crate) fn place(&self, number: usize) -> Place {
        let seat = |number: usize| self.seats.get(number).copied();
        Place {
            flow: self.flow,
            weight: self.weight,
            start: self.start,
            before: number.checked_sub(1).and_then(seat),
            after: self.relays.get(number).copied().zip(seat(number + 1)),
        }
    }
}

/// The seats of every flow, one for each of its loops. Loops that belong to one flow come first, flow by flow, then
/// those that are shared. None if more flows share a loop than its packets can tell apart.
pub(crate) fn seats(flows: &[FlowSpec], aggregates: usize) -> Option<Vec<Vec<Seat>>> {
    let own = |flow: &FlowSpec| flow.loops.iter().filter(|leg| matches!(leg, Leg::Own(_))).count();
    let first_shared: usize = flows.iter().map(own).sum();
    let (mut loops, mut members) = (0..first_shared as u32, vec![0..u16::MAX; aggregates]);
    let mut seat = |leg: &Leg| match leg {
        Leg::Own(_) => loops.next().map(|loop_id| Seat { loop_id, member: 0 }),
        Leg::Shared(id) => {
            let member = members.get_mut(id.0 as usize).and_then(Iterator::next);
            member.map(|member| Seat { loop_id: first_shared as u32 + id.0, member })
        }
    };
    flows.iter().map(|flow| flow.loops.iter().map(&mut seat).collect()).collect()
}

/// The places in each shared loop, in the order of its members.
pub(crate) fn shared_places(flows: &[FlowSpec], seats: &[Vec<Seat>], aggregates: usize) -> Vec<Vec<Place>> {
    let mut places: Vec<Vec<Place>> = vec![Vec::new(); aggregates];
    for ((flow, spec), seats) in (0..).zip(flows).zip(seats) {
        let (weight, start, relays) = (spec.weight, spec.start, &spec.relays[..]);
        let taker = Taker { flow, weight, start, relays, seats };
        for (number, leg) in spec.loops.iter().enumerate() {
            if let Leg::Shared(id) = leg {
                places[id.0 as usize].push(taker.place(number));
            }
        }
    }
    places
}

/// Those who share a loop's sender. What the relay behind it can hold is their credit to begin with.
pub(crate) fn members(places: &[Place], packet: Bytes) -> Vec<StreamConfig> {
    let came = |place: &Place| place.before.map(|seat| seat.loop_id);
    let mut incoming: Vec<u32> = places.iter().filter_map(came).collect();
    incoming.sort_unstable();
    incoming.dedup();
    let member = |place: &Place| StreamConfig {
        weight: place.weight,
        incoming_loop: incoming.partition_point(|loop_id| Some(*loop_id) < came(place)) as u32,
        credit: place.after.map_or(u64::MAX, |(limit, _)| Relay::new(limit, packet).limit().get()),
    };
    places.iter().map(member).collect()
}

/// Where the bytes of each flow go from a loop's receiver.
pub(crate) fn branches(places: &[Place], packet: Bytes) -> impl Iterator<Item = Branch> {
    (0..).zip(places).map(move |(member, place)| {
        let on = |(limit, seat): (Bytes, Seat)| {
            let relay = Relay::new(limit, packet).with_stream_ids(member, seat.member);
            Onward::Relay { relay, next: seat.loop_id }
        };
        Branch { flow: place.flow, onward: place.after.map_or(Onward::Here, on), ..Branch::default() }
    })
}
