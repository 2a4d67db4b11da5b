//! Downstream feedback: the state of the next loop or loops, as input of the law of a relay's sink.

use crate::delivery::Delivery;
use crate::endpoints::{ReceiverState, SenderState};
use millpond_law::{RelayView, Sharing};
use millpond_units::{Bytes, Rate, Time};

/// The downstream feedback when a packet of `stream_id` arrives: the state of the next loop. If the flows of this loop
/// continue on different loops, it is the aggregate of those. None if one of the flows ends here, because then nothing
/// downstream limits the rate.
#[inline]
pub(crate) fn downstream_feedback(
    now: Time,
    receiver: &ReceiverState,
    stream_id: u16,
    senders: &[SenderState],
) -> Option<RelayView> {
    let Delivery::Relay { relay, next_loop } = receiver.first.delivery else { return None };
    if receiver.others.is_empty() {
        return Some(relay.view(now, &senders[next_loop as usize].end));
    }
    aggregate_feedback(now, receiver, stream_id, senders)
}

/// The aggregate over this stream and all others that have delivered data and are not complete.
fn aggregate_feedback(
    now: Time,
    receiver: &ReceiverState,
    stream_id: u16,
    senders: &[SenderState],
) -> Option<RelayView> {
    let streams = || std::iter::once(&receiver.first).chain(&receiver.others).zip(0..);
    let is_active =
        |id: u16| id == stream_id || receiver.end.delivered_of(id) > 0 && !receiver.end.is_complete_of(id);
    let active = || streams().filter(|(_, id)| is_active(*id)).map(|(stream, _)| stream.delivery);
    // A loop on which several of the streams continue counts once.
    let is_first = |index: usize, loop_id: u32| {
        let mut before = active().take(index);
        before.all(|other| !matches!(other, Delivery::Relay { next_loop, .. } if next_loop == loop_id))
    };
    let Delivery::Relay { relay, next_loop } = receiver.stream(stream_id).delivery else { return None };
    let view = relay.view(now, &senders[next_loop as usize].end);
    let (mut rate, mut backlog, mut limit, mut same_loop) = (Rate::ZERO, Bytes::ZERO, Bytes::ZERO, true);
    for (index, delivery) in active().enumerate() {
        let Delivery::Relay { relay, next_loop: other } = delivery else { return None };
        let share = relay.view_of_share(now, &senders[other as usize].end);
        if is_first(index, other) {
            rate += share.next_rate;
        }
        backlog += share.backlog;
        limit = Bytes::new(limit.get().saturating_add(share.limit.get()));
        same_loop &= other == next_loop;
    }
    Some(match same_loop {
        true => RelayView { backlog, limit, ..view },
        false => RelayView { next_rate: rate, backlog, limit, sharing: Sharing::ALONE, ..view },
    })
}
