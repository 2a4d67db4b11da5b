//! What the law is told, and what it is not.

use super::pipe::{Chain, Fixed, Loop, PACKET, at};
use crate::{Recorder, Recording, SenderConfig, SenderEnd};
use millpond_law::{
    Ack, Cause, Congestion, Context, Ecn, Event, HeaderId, Knowledge, Needs, Permit, Random, Sender, deliver,
};
use millpond_units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn every_mark_is_told_once_although_acks_get_lost() {
    let mut only = Loop::new(Fixed::window(20.0), MS(10));
    only.forth.marking = 0.3;
    only.back.loss = 0.3;
    let mut chain = Chain::single(only);
    chain.start(Some(2_000_000));
    chain.run_until(at(100_000));
    let events = chain.first().recording.take();
    let told: u64 =
        events.iter().map(|(_, e)| if let Event::Ack(ack) = e { ack.ce_packets } else { 0 }).sum();
    let bytes: Bytes =
        events.iter().map(|(_, e)| if let Event::Ack(ack) = e { ack.ce_bytes } else { Bytes::ZERO }).sum();
    let marked = chain.first().receiver.counters();
    assert!(marked.marked_packets > 500);
    assert_eq!((told, bytes), (marked.marked_packets, Bytes::new(marked.marked_bytes)));
    // An ack is told before the congestion that it brought, which has the same bytes.
    let marks = events.windows(2).filter_map(|pair| match (&pair[0].1, &pair[1].1) {
        (Event::Ack(ack), Event::Congestion(c)) if c.cause == Cause::Ecn => Some((ack.ce_bytes, c.bytes)),
        _ => None,
    });
    assert!(marks.clone().count() > 300 && marks.clone().all(|(ack, congestion)| ack == congestion));
}

/// Everything that a law can be told, in every way.
fn told(needs: Needs) -> (Vec<Event>, crate::Segment) {
    let recording = Recording::default();
    let law = Box::new(Recorder::new(Box::new(Fixed::window(10.0)), recording.clone()));
    let mut sender = SenderEnd::new(SenderConfig::new(PACKET, needs), law, Random::stream(1, "told"));
    sender.supply_endless();
    sender.start(Time::ZERO, Some(Rate::from_mbps(10.0)));
    sender.on_capacity(at(1), Rate::from_mbps(5.0));
    let segment = sender.transmit(at(1)).unwrap();
    (recording.take().into_iter().map(|(_, event)| event).collect(), segment)
}

#[test]
fn a_law_is_told_nothing_that_it_does_not_ask_for() {
    let (events, segment) = told(Needs::default());
    assert!(
        matches!(events[..], [Event::Start(start)] if start.capacity.is_none() && start.packet == PACKET)
    );
    assert_eq!((segment.header.protocol(), segment.ecn), (HeaderId::NONE, Ecn::NotCapable));

    let (events, segment) =
        told(Needs { capacity: Knowledge::AtStart, ecn: Some(false), ..Needs::default() });
    assert!(matches!(events[..], [Event::Start(start)] if start.capacity == Some(Rate::from_mbps(10.0))));
    assert_eq!(segment.ecn, Ecn::Ect0);

    let needs = Needs {
        header: HeaderId(1),
        ecn: Some(true),
        capacity: Knowledge::Live,
        sent: true,
        ..Needs::default()
    };
    let (events, segment) = told(needs);
    let sent = Event::Sent { bytes: PACKET, in_flight: PACKET };
    assert!(matches!(events[..], [Event::Start(_), Event::Capacity(rate), last]
        if rate == Rate::from_mbps(5.0) && last == sent));
    assert_eq!((segment.header.bytes(), segment.ecn), (&[7][..], Ecn::Ect1));
}

#[test]
fn a_sender_short_of_data_says_so() {
    let mut chain = Chain::single(Loop::new(Fixed::window(10.0), MS(10)));
    chain.first().sender.start(Time::ZERO, None);
    for round in 0..5 {
        chain.first().sender.supply(PACKET * 3);
        chain.pump(0);
        chain.run_until(at(100 * (round + 1)));
    }
    let acks = chain.first().acks();
    assert_eq!(acks.len(), 15);
    assert!(acks.iter().all(|(_, ack)| ack.window_unused));
    assert!(acks.iter().skip(3).all(|(_, ack)| ack.app_limited));
}

/// Asks to be woken every 7 ms, and counts.
#[derive(Default)]
struct Sleeper {
    wake: Option<Time>,
}

impl Sender for Sleeper {
    fn on_start(&mut self, cx: &mut Context<'_>, _start: &millpond_law::Start) {
        self.wake = Some(cx.now + MS(7));
    }
    fn on_ack(&mut self, _cx: &mut Context<'_>, _ack: &Ack) {}
    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}
    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.wake = Some(cx.now + if cx.now < at(700) { MS(7) } else { Span::ZERO });
    }
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET), pace: None, wake: self.wake }
    }
}

#[test]
fn a_law_is_woken_when_it_asks_and_once_for_each_time() {
    let mut chain = Chain::single(Loop::new(Sleeper::default(), MS(10)));
    chain.start(None);
    chain.run_until(at(1000));
    let events = chain.first().recording.take();
    let woken: Vec<_> = events.iter().filter(|(_, e)| *e == Event::Timer).map(|(now, _)| *now).collect();
    assert_eq!(woken, (1..=100).map(|n| at(7 * n)).collect::<Vec<_>>());
}

/// A law with a memory: the sum of all RTTs, and its window from that.
#[derive(Default)]
struct Memory {
    sum: u64,
}

impl Sender for Memory {
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.sum += ack.rtt.map_or(0, Span::picos) + u64::from(cx.random.bits());
    }
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        self.sum /= 1 + congestion.bytes.get();
    }
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET * (1 + self.sum % 16)), ..Permit::default() }
    }
}

#[test]
fn a_recording_replayed_into_the_same_law_leads_to_the_same_state() {
    let mut only = Loop::new(Memory::default(), MS(10));
    only.forth.loss = 0.1;
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(5000));
    let (mut law, mut random) = (Memory::default(), Random::stream(1, "sender"));
    for (now, event) in chain.first().recording.take() {
        deliver(&mut law, &mut Context { now, random: &mut random }, &event);
    }
    assert_eq!(law.permit(), chain.first().sender.permit());
    assert!(chain.first().sender.counters().lost_packets > 10);
}
