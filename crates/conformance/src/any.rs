//! Strategies for all inputs of a law, ordinary and extreme.

use millpond_law::{
    Ack, Cause, Congestion, Data, Ecn, Episode, Event, HEADER_BYTES, Header, HeaderId, LimitedBy, LinkFacts,
    LostPacket, PacketKind, QueueView, RelayView, Sharing, SpuriousLoss, Start,
};
use millpond_units::{Bytes, Rate, Span};
use proptest::prelude::*;

// `prop_oneof` and `option::of` give each value a random stream of its own, which costs more than most of the laws that are
// tested. Where one number can select the case, it does: cases of `0..6` that share a branch are the weight of the branch.
// Values of rare cases do not shrink: a case shrinks to the usual one, whose value does.

pub(crate) fn span() -> impl Strategy<Value = Span> {
    (0_u8..6, 1_u64..1_000, (0_u64..2_000).no_shrink()).prop_map(|(case, millis, picos)| match case {
        0..=3 => Span::from_millis(millis),
        4 => Span::from_picos(picos),
        _ if picos % 2 == 0 => Span::ZERO,
        _ => Span::MAX,
    })
}

/// A time step that keeps a list of events within the 213 days of [`millpond_units::Time`].
pub(crate) fn step() -> impl Strategy<Value = Span> {
    (0_u8..6, 0_u64..20_000, (1_u64..3_600_000).no_shrink()).prop_map(|(case, micros, millis)| match case {
        0..=3 => Span::from_micros(micros),
        4 => Span::ZERO,
        _ => Span::from_millis(millis),
    })
}

pub(crate) fn bytes() -> impl Strategy<Value = Bytes> {
    (0_u8..6, 0_u64..200_000, any::<u64>().no_shrink()).prop_map(|(case, usual, any)| match case {
        0..=3 => Bytes::new(usual),
        4 => [Bytes::ZERO, Bytes::new(1), Bytes::MAX][(usual % 3) as usize],
        _ => Bytes::new(any),
    })
}

pub(crate) fn rate() -> impl Strategy<Value = Rate> {
    (0_u8..5, 1_u64..1_000_000_000).prop_map(|(case, bps)| match case {
        0..=3 => Rate::from_bps(bps),
        _ => [Rate::ZERO, Rate::from_bps(1), Rate::MAX][(bps % 3) as usize],
    })
}

/// `value`, or as often none.
pub(crate) fn optional<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    (any::<bool>(), value).prop_map(|(present, value)| present.then_some(value))
}

pub(crate) fn packet() -> impl Strategy<Value = Bytes> {
    prop::sample::select(vec![1, 40, 1000, 1500, 9000, 65_535]).prop_map(Bytes::new)
}

pub(crate) fn header() -> impl Strategy<Value = Header> {
    let words = any::<[u64; HEADER_BYTES.div_ceil(8)]>().no_shrink();
    (0_u8..3, 0_u8..16, 0..=HEADER_BYTES, words).prop_map(|(case, id, length, words)| match case {
        0 => Header::NONE,
        _ => {
            let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            Header::new(HeaderId(id), &bytes[..length])
        }
    })
}

pub(crate) fn ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(vec![Ecn::NotCapable, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

pub(crate) fn start() -> impl Strategy<Value = Start> {
    (packet(), optional(rate()), optional(rate()), 1e-3..1e3, 1_u32..64).prop_map(
        |(packet, capacity, interface, weight, hops)| Start { packet, capacity, interface, weight, hops },
    )
}

fn ack() -> impl Strategy<Value = Ack> {
    let amounts = (bytes(), 0_u64..100, bytes(), 0_u64..100, bytes());
    let delivery = (bytes(), bytes(), span(), 0_u64..50, bytes(), bytes());
    let losses = (bytes(), bytes(), bytes());
    let times = (optional(span()), span(), span());
    let flags = (any::<bool>(), limited_by(), header());
    (amounts, delivery, losses, times, flags).prop_map(|(amounts, delivery, losses, times, flags)| Ack {
        bytes: amounts.0,
        packets: amounts.1,
        ce_bytes: amounts.2,
        ce_packets: amounts.3,
        newly_lost: amounts.4,
        delivered: delivery.0,
        prior_delivered: delivery.1,
        delivery_span: delivery.2,
        round: delivery.3,
        in_flight: delivery.4,
        prior_in_flight: delivery.5,
        lost: losses.0,
        prior_lost: losses.1,
        in_flight_at_send: losses.2,
        rtt: times.0,
        min_rtt: times.1,
        smoothed_rtt: times.2,
        app_limited: flags.0,
        limited_by: flags.1,
        header: flags.2,
    })
}

fn congestion() -> impl Strategy<Value = Congestion> {
    let cause = prop::sample::select(vec![Cause::Loss, Cause::Timeout, Cause::Ecn, Cause::NoFeedback]);
    let episode = prop::sample::select(vec![Episode::New, Episode::Same]);
    (cause, episode, bytes(), bytes(), bytes()).prop_map(
        |(cause, episode, bytes, in_flight, prior_in_flight)| Congestion {
            cause,
            episode,
            bytes,
            in_flight,
            prior_in_flight,
        },
    )
}

fn limited_by() -> impl Strategy<Value = LimitedBy> {
    use LimitedBy::{Credit, Data, NoFeedback, Pace, Window};
    prop::sample::select(vec![Window, Pace, Data, Credit, NoFeedback])
}

fn lost_packet() -> impl Strategy<Value = LostPacket> {
    (bytes(), bytes(), bytes(), bytes(), any::<bool>()).prop_map(
        |(bytes, in_flight_at_send, lost_since, delivered, app_limited)| LostPacket {
            bytes,
            in_flight_at_send,
            lost_since,
            delivered,
            app_limited,
        },
    )
}

fn spurious_loss() -> impl Strategy<Value = SpuriousLoss> {
    (bytes(), any::<bool>()).prop_map(|(bytes, whole_episode)| SpuriousLoss { bytes, whole_episode })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => ack().prop_map(Event::Ack),
        2 => congestion().prop_map(Event::Congestion),
        1 => lost_packet().prop_map(Event::LostPacket),
        1 => spurious_loss().prop_map(Event::SpuriousLoss),
        1 => Just(Event::RecoveryEnd),
        1 => Just(Event::IdleRestart),
        1 => rate().prop_map(Event::Capacity),
        1 => Just(Event::Timer),
        1 => (bytes(), bytes()).prop_map(|(bytes, in_flight)| Event::Sent { bytes, in_flight }),
        1 => (1e-3..1e3).prop_map(Event::Weight),
        1 => any::<bool>().prop_map(|marked| Event::Forwarded { marked }),
    ]
}

/// A start, then events, each with the time since the previous one.
pub(crate) fn events() -> impl Strategy<Value = (Start, Vec<(Span, Event)>)> {
    (start(), prop::collection::vec((step(), event()), 1..80))
}

pub(crate) fn data() -> impl Strategy<Value = Data> {
    (bytes(), ecn(), header()).prop_map(|(bytes, ecn, header)| Data { bytes, ecn, header })
}

pub(crate) fn relay() -> impl Strategy<Value = RelayView> {
    (rate(), bytes(), bytes(), span(), sharing()).prop_map(
        |(next_rate, backlog, limit, next_rtt, sharing)| RelayView {
            next_rate,
            next_pace: next_rate,
            next_in_flight: backlog,
            backlog,
            next_backlog: backlog,
            limit,
            next_rtt,
            next_base_rtt: next_rtt,
            sharing,
        },
    )
}

/// The sharing of a sender by loops of these weights, from the position of the first of them.
fn sharing() -> impl Strategy<Value = Sharing> {
    prop::collection::vec(1e-3..1e3, 1..6).prop_map(|weights: Vec<f64>| {
        let sum: f64 = weights.iter().sum();
        Sharing {
            members: weights.len() as u32,
            weight: weights[0] / sum,
            largest: weights.iter().fold(0.0, |a: f64, b| a.max(*b)) / sum,
            inverses: weights.iter().map(|weight| sum / weight).sum(),
            max_min: weights[0] / sum,
        }
    })
}

pub(crate) fn facts() -> impl Strategy<Value = LinkFacts> {
    (rate(), optional(bytes()), packet(), any::<[bool; 2]>()).prop_map(
        |(capacity, buffer, packet, [has_flow_queues, carries_ecn])| LinkFacts {
            has_flow_queues,
            carries_ecn,
            ..LinkFacts::fifo(capacity, buffer, packet)
        },
    )
}

/// The visit of one packet to a link.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) after: Span,
    pub(crate) hook: Hook,
    pub(crate) bytes: Bytes,
    pub(crate) kind: PacketKind,
    pub(crate) ecn: Ecn,
    pub(crate) header: Header,
    pub(crate) queue: QueueView,
}

/// The called function of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    Arrive,
    Depart,
    Tick,
}

pub(crate) fn visits() -> impl Strategy<Value = Vec<Visit>> {
    let hook = prop::sample::select(vec![Hook::Arrive, Hook::Depart, Hook::Tick]);
    let kind = prop::sample::select(vec![PacketKind::Data, PacketKind::Ack]);
    let queue = (rate(), bytes(), 0_u64..10_000, span()).prop_map(
        |(configured_capacity, bytes, packets, head_sojourn)| QueueView {
            configured_capacity,
            bytes,
            link_bytes: bytes,
            packets,
            head_sojourn,
        },
    );
    let visit = (step(), hook, bytes(), kind, ecn(), header(), queue).prop_map(
        |(after, hook, bytes, kind, ecn, header, queue)| Visit {
            after,
            hook,
            bytes,
            kind,
            ecn,
            header,
            queue,
        },
    );
    prop::collection::vec(visit, 1..80)
}
