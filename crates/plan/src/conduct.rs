//! Senders that do not do what a law permits.

use millpond_law::{
    Ack, Congestion, Context, Gauge, Header, LostPacket, Permit, Sender, SpuriousLoss, Start,
};
use millpond_units::{Bytes, Rate};

/// A sender without congestion control: what the application produces leaves at once.
pub(crate) struct Uncontrolled;

impl Sender for Uncontrolled {
    fn on_ack(&mut self, _cx: &mut Context<'_>, _ack: &Ack) {}

    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}

    fn permit(&self) -> Permit {
        Permit::default()
    }
}

/// A sender that permits itself a multiple of what its law permits.
pub(crate) struct Greedy {
    pub(crate) law: Box<dyn Sender>,
    pub(crate) factor: f64,
}

impl Sender for Greedy {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.law.on_start(cx, start);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.law.on_ack(cx, ack);
    }

    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) {
        self.law.on_congestion(cx, congestion);
    }

    fn on_lost_packet(&mut self, cx: &mut Context<'_>, lost: &LostPacket) {
        self.law.on_lost_packet(cx, lost);
    }

    fn on_spurious_loss(&mut self, cx: &mut Context<'_>, loss: &SpuriousLoss) {
        self.law.on_spurious_loss(cx, loss);
    }

    fn on_recovery_end(&mut self, cx: &mut Context<'_>) {
        self.law.on_recovery_end(cx);
    }

    fn on_idle_restart(&mut self, cx: &mut Context<'_>) {
        self.law.on_idle_restart(cx);
    }

    fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) {
        self.law.on_capacity(cx, capacity);
    }

    fn on_update(&mut self, cx: &mut Context<'_>, header: &Header) -> bool {
        self.law.on_update(cx, header)
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.law.on_timer(cx);
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, bytes: Bytes, in_flight: Bytes) {
        self.law.on_sent(cx, bytes, in_flight);
    }

    fn on_weight(&mut self, cx: &mut Context<'_>, weight: f64) {
        self.law.on_weight(cx, weight);
    }

    fn on_forwarded(&mut self, cx: &mut Context<'_>, marked: bool) {
        self.law.on_forwarded(cx, marked);
    }

    fn permit(&self) -> Permit {
        let permit = self.law.permit();
        let window = permit.window.map(|window| Bytes::from_f64(window.as_f64() * self.factor));
        Permit { window, pace: permit.pace.map(|pace| pace.scale(self.factor)), ..permit }
    }

    fn stamp(&mut self, cx: &mut Context<'_>, header: &mut Header) {
        self.law.stamp(cx, header);
    }

    fn unread(&self) -> u64 {
        self.law.unread()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        self.law.observe(gauge);
    }
}
