//! A log of the events that a law received, to replay it with [`millpond_law::deliver`].

use millpond_law::{
    Ack, Congestion, Context, Event, Gauge, Header, LostPacket, Permit, Sender, SpuriousLoss, Start,
};
use millpond_units::{Bytes, Rate, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// The events so far, each with its time; shared with the [`EventRecorder`] that fills it.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog(Arc<Mutex<Vec<(Time, Event)>>>);

impl EventLog {
    /// Removes and returns the events recorded since the last call.
    pub(super) fn take(&self) -> Vec<(Time, Event)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, cx: &Context<'_>, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((cx.now, event));
    }
}

/// A law that forwards all events to another one and records them.
pub(super) struct EventRecorder {
    law: Box<dyn Sender>,
    log: EventLog,
}

impl EventRecorder {
    /// Records the events of `law` into `log`.
    pub(super) fn new(law: Box<dyn Sender>, log: EventLog) -> Self {
        Self { law, log }
    }

    fn record(&mut self, cx: &mut Context<'_>, event: Event) {
        self.log.push(cx, event);
        millpond_law::deliver(&mut *self.law, cx, &event);
    }
}

#[rustfmt::skip]
impl Sender for EventRecorder {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) { self.record(cx, Event::Start(*start)); }
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) { self.record(cx, Event::Ack(*ack)); }
    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) { self.record(cx, Event::Congestion(*congestion)); }
    fn on_lost_packet(&mut self, cx: &mut Context<'_>, lost: &LostPacket) { self.record(cx, Event::LostPacket(*lost)); }
    fn on_spurious_loss(&mut self, cx: &mut Context<'_>, loss: &SpuriousLoss) { self.record(cx, Event::SpuriousLoss(*loss)); }
    fn on_recovery_end(&mut self, cx: &mut Context<'_>) { self.record(cx, Event::RecoveryEnd); }
    fn on_idle_restart(&mut self, cx: &mut Context<'_>) { self.record(cx, Event::IdleRestart); }
    fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) { self.record(cx, Event::Capacity(capacity)); }
    fn on_timer(&mut self, cx: &mut Context<'_>) { self.record(cx, Event::Timer); }
    fn on_sent(&mut self, cx: &mut Context<'_>, bytes: Bytes, in_flight: Bytes) { self.record(cx, Event::Sent { bytes, in_flight }); }
    fn on_weight(&mut self, cx: &mut Context<'_>, weight: f64) { self.record(cx, Event::Weight(weight)); }
    fn on_forwarded(&mut self, cx: &mut Context<'_>, marked: bool) { self.record(cx, Event::Forwarded { marked }); }
    fn on_update(&mut self, cx: &mut Context<'_>, header: &Header) -> bool { self.law.on_update(cx, header) }
    fn permit(&self) -> Permit { self.law.permit() }
    fn stamp(&mut self, cx: &mut Context<'_>, header: &mut Header) { self.law.stamp(cx, header); }
    fn observe(&self, gauge: &mut dyn Gauge) { self.law.observe(gauge); }
}
