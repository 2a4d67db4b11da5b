//! Recording what a law was told, to replay it with [`millpond_law::deliver`].

use millpond_law::{Ack, Congestion, Context, Event, Gauge, Header, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// The events of a run so far, each with its time; shared with the [`Recorder`] that fills it.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Vec<(Time, Event)>>>);

impl Recording {
    /// What was recorded since this was last asked.
    pub fn take(&self) -> Vec<(Time, Event)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, cx: &Context<'_>, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((cx.now, event));
    }
}

/// A law that does what another does and records what it is told.
pub struct Recorder {
    law: Box<dyn Sender>,
    recording: Recording,
}

impl Recorder {
    /// Records what `law` is told into `recording`.
    pub fn new(law: Box<dyn Sender>, recording: Recording) -> Self {
        Self { law, recording }
    }

    fn tell(&mut self, cx: &mut Context<'_>, event: Event) {
        self.recording.note(cx, event);
        millpond_law::deliver(&mut *self.law, cx, &event);
    }
}

#[rustfmt::skip]
impl Sender for Recorder {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) { self.tell(cx, Event::Start(*start)); }
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) { self.tell(cx, Event::Ack(*ack)); }
    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) { self.tell(cx, Event::Congestion(*congestion)); }
    fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) { self.tell(cx, Event::Capacity(capacity)); }
    fn on_timer(&mut self, cx: &mut Context<'_>) { self.tell(cx, Event::Timer); }
    fn on_sent(&mut self, cx: &mut Context<'_>, bytes: Bytes, in_flight: Bytes) { self.tell(cx, Event::Sent { bytes, in_flight }); }
    fn on_weight(&mut self, cx: &mut Context<'_>, weight: f64) { self.tell(cx, Event::Weight(weight)); }
    fn on_forwarded(&mut self, cx: &mut Context<'_>, marked: bool) { self.tell(cx, Event::Forwarded { marked }); }
    fn permit(&self) -> Permit { self.law.permit() }
    fn stamp(&mut self, cx: &mut Context<'_>, header: &mut Header) { self.law.stamp(cx, header); }
    fn observe(&self, gauge: &mut dyn Gauge) { self.law.observe(gauge); }
}
