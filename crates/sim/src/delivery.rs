//! What becomes of bytes that have arrived at the end of a loop.

use crate::endpoints::{Receiving, Sending};
use crate::stats::ArrivalMeter;
use millpond_endpoint::Relay;
use millpond_law::{RelayView, Sharing};
use millpond_units::{Bytes, Rate, Time};

/// Where they go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Onward {
    /// They are at their destination.
    #[default]
    Here,
    /// Through a relay into the next loop.
    Relay { relay: Relay, next: u32 },
}

/// One flow at the receiving end of a loop.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    pub(crate) flow: u32,
    pub(crate) onward: Onward,
    /// What has arrived, if this is the flow's destination.
    pub(crate) arrivals: ArrivalMeter,
}

/// What the law of a relay's sink may know when a packet of `member` arrives: of the next loop, or, where the flows of
/// this loop part, of all next loops together. None where one of them goes no further: nothing limits that.
#[inline]
pub(crate) fn outlook(now: Time, side: &Receiving, member: u16, senders: &[Sending]) -> Option<RelayView> {
    let Onward::Relay { relay, next } = side.first.onward else { return None };
    if side.others.is_empty() {
        return Some(relay.view(now, &senders[next as usize].end));
    }
    outlook_of_several(now, side, member, senders)
}

/// A flow counts while it is under way.
fn outlook_of_several(now: Time, side: &Receiving, member: u16, senders: &[Sending]) -> Option<RelayView> {
    let branches = || std::iter::once(&side.first).chain(&side.others).zip(0..);
    let counts = |number: u16| {
        number == member || side.end.delivered_of(number) > 0 && !side.end.is_complete_of(number)
    };
    let under_way = || branches().filter(|(_, number)| counts(*number)).map(|(branch, _)| branch.onward);
    // Of a loop that several flows of this one share, they have their part together.
    let is_first = |place: usize, loop_: u32| {
        under_way().take(place).all(|onward| !matches!(onward, Onward::Relay { next, .. } if next == loop_))
    };
    let Onward::Relay { relay, next } = side.branch(member).onward else { return None };
    let whole = relay.view(now, &senders[next as usize].end);
    let (mut rate, mut backlog, mut limit, mut together) = (Rate::ZERO, Bytes::ZERO, Bytes::ZERO, true);
    for (place, onward) in under_way().enumerate() {
        let Onward::Relay { relay, next: other } = onward else { return None };
        let part = relay.view_of_share(now, &senders[other as usize].end);
        if is_first(place, other) {
            rate += part.next_rate;
        }
        backlog += part.backlog;
        limit = Bytes::new(limit.get().saturating_add(part.limit.get()));
        together &= other == next;
    }
    Some(match together {
        true => RelayView { backlog, limit, ..whole },
        false => RelayView { next_rate: rate, backlog, limit, sharing: Sharing::ALONE, ..whole },
    })
}
