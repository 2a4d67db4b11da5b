//! The events and inputs that a law receives.

use super::event_log::{EventLog, EventRecorder};
use super::pipe::{Chain, FixedPermit, Loop, PACKET, at};
use crate::{SenderConfig, SenderEnd};
use millpond_law::{
    Ack, Cause, Congestion, Context, Ecn, Event, HeaderId, Knowledge, Needs, Permit, Random, Sender, deliver,
};
use millpond_units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn every_mark_is_reported_once_although_acks_are_lost() {
    let mut only = Loop::new(FixedPermit::window(20.0), MS(10));
    only.forward.marking = 0.3;
    only.backward.loss = 0.3;
    let mut chain = Chain::single(only);
    chain.start(Some(2_000_000));
    chain.run_until(at(100_000));
    let events = chain.first().log.take();
    let reported: u64 =
        events.iter().map(|(_, e)| if let Event::Ack(ack) = e { ack.ce_packets } else { 0 }).sum();
    let bytes: Bytes =
        events.iter().map(|(_, e)| if let Event::Ack(ack) = e { ack.ce_bytes } else { Bytes::ZERO }).sum();
    let marked = chain.first().receiver.counters();
    assert!(marked.marked_packets > 500);
    assert_eq!((reported, bytes), (marked.marked_packets, Bytes::new(marked.marked_bytes)));
    // The law receives an ack before the congestion that it reports, which has the same bytes.
    let marks = events.windows(2).filter_map(|pair| match (&pair[0].1, &pair[1].1) {
        (Event::Ack(ack), Event::Congestion(c)) if c.cause == Cause::Ecn => Some((ack.ce_bytes, c.bytes)),
        _ => None,
    });
    assert!(marks.clone().count() > 300 && marks.clone().all(|(ack, congestion)| ack == congestion));
}

/// The events that a law with these needs receives when all inputs occur, and the packet sent.
fn reported(needs: Needs) -> (Vec<Event>, crate::Segment) {
    let log = EventLog::default();
    let law = Box::new(EventRecorder::new(Box::new(FixedPermit::window(10.0)), log.clone()));
    let mut sender = SenderEnd::new(SenderConfig::new(PACKET, needs), law, Random::stream(1, "reported"));
    sender.supply_endless();
    sender.start(Time::ZERO, Some(Rate::from_mbps(10.0)));
    sender.on_capacity(at(1), Rate::from_mbps(5.0));
    let segment = sender.transmit(at(1)).unwrap();
    (log.take().into_iter().map(|(_, event)| event).collect(), segment)
}

#[test]
fn a_law_receives_only_the_inputs_that_it_declares() {
    let (events, segment) = reported(Needs::default());
    assert!(
        matches!(events[..], [Event::Start(start)] if start.capacity.is_none() && start.packet == PACKET)
    );
    assert_eq!((segment.header.protocol(), segment.ecn), (HeaderId::NONE, Ecn::NotCapable));

    let (events, segment) =
        reported(Needs { capacity: Knowledge::AtStart, ecn: Some(false), ..Needs::default() });
    assert!(matches!(events[..], [Event::Start(start)] if start.capacity == Some(Rate::from_mbps(10.0))));
    assert_eq!(segment.ecn, Ecn::Ect0);

    let needs = Needs {
        header: HeaderId(1),
        ecn: Some(true),
        capacity: Knowledge::Live,
        sent: true,
        ..Needs::default()
    };
    let (events, segment) = reported(needs);
    let sent = Event::Sent { bytes: PACKET, in_flight: PACKET };
    assert!(matches!(events[..], [Event::Start(_), Event::Capacity(rate), last]
        if rate == Rate::from_mbps(5.0) && last == sent));
    assert_eq!((segment.header.bytes(), segment.ecn), (&[7][..], Ecn::Ect1));
}

#[test]
fn a_sender_without_data_is_application_limited() {
    let mut chain = Chain::single(Loop::new(FixedPermit::window(10.0), MS(10)));
    chain.first().sender.start(Time::ZERO, None);
    for round in 0..5 {
        chain.first().sender.supply(PACKET * 3);
        chain.poll_sender(0);
        chain.run_until(at(100 * (round + 1)));
    }
    let acks = chain.first().acks();
    assert_eq!(acks.len(), 15);
    assert!(acks.iter().all(|(_, ack)| ack.window_unused()));
    assert!(acks.iter().skip(3).all(|(_, ack)| ack.app_limited));
}

/// Requests a timer every 7 ms.
#[derive(Default)]
struct PeriodicTimer {
    wake: Option<Time>,
}

impl Sender for PeriodicTimer {
    fn on_start(&mut self, cx: &mut Context<'_>, _start: &millpond_law::Start) {
        self.wake = Some(cx.now + MS(7));
    }
    fn on_ack(&mut self, _cx: &mut Context<'_>, _ack: &Ack) {}
    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}
    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.wake = Some(cx.now + if cx.now < at(700) { MS(7) } else { Span::ZERO });
    }
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET), wake: self.wake, ..Permit::default() }
    }
}

#[test]
fn the_timer_of_a_law_fires_once_for_each_requested_time() {
    let mut chain = Chain::single(Loop::new(PeriodicTimer::default(), MS(10)));
    chain.start(None);
    chain.run_until(at(1000));
    let events = chain.first().log.take();
    let calls: Vec<_> = events.iter().filter(|(_, e)| *e == Event::Timer).map(|(now, _)| *now).collect();
    assert_eq!(calls, (1..=100).map(|n| at(7 * n)).collect::<Vec<_>>());
}

/// A law with state: its window depends on the sum of all RTTs.
#[derive(Default)]
struct StatefulLaw {
    sum: u64,
}

impl Sender for StatefulLaw {
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
fn a_log_replayed_into_the_same_law_gives_the_same_state() {
    let mut only = Loop::new(StatefulLaw::default(), MS(10));
    only.forward.loss = 0.1;
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(5000));
    let (mut law, mut random) = (StatefulLaw::default(), Random::stream(1, "sender"));
    for (now, event) in chain.first().log.take() {
        deliver(&mut law, &mut Context { now, random: &mut random }, &event);
    }
    assert_eq!(law.permit(), chain.first().sender.permit());
    assert!(chain.first().sender.counters().lost_packets > 10);
}
