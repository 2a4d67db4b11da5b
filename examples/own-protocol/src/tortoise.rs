//! Tortoise: adds one packet per round trip while the queueing delay is short, and removes three tenths of the window
//! otherwise.
//!
//! ```text
//!   queueing delay d = smoothed RTT - minimum RTT [s]
//!   once per round:   d <= target:  w <- w + 1 packet
//!                     d >  target:  w <- 0.7 w
//!   loss, once per episode:         w <- w / 2
//! ```

use millpond_law::key::{self, Key};
use millpond_law::{
    Ack, Card, Cause, Congestion, Context, Episode, Gauge, Needs, Permit, Protocol, QueueChoice, Sender,
    SettingError, Settings, Start,
};
use millpond_units::{Bytes, Span};

/// The protocol, as the registry lists it.
pub(crate) struct Tortoise;

static CARD: Card = Card {
    name: "tortoise",
    title: "Tortoise",
    summary: "Adds a packet per round trip until it sees a queue, then takes three tenths away.",
    source: "this example",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: &[&TARGET],
};

const TARGET: Key<Span> = key::span("target", Span::from_millis(5))
    .source("this example")
    .meaning("queueing delay above which the window shrinks");

impl Protocol for Tortoise {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(TortoiseSender::new(settings.get(TARGET))))
    }
}

/// The law at the sender.
struct TortoiseSender {
    target: Span,
    packet: f64,
    /// In bytes.
    window: f64,
    round: u64,
}

impl TortoiseSender {
    const DECREASE: f64 = 0.7;

    fn new(target: Span) -> Self {
        Self { target, packet: 1500.0, window: 2.0 * 1500.0, round: 0 }
    }

    fn shrink(&mut self, factor: f64) {
        self.window = (self.window * factor).max(2.0 * self.packet);
    }
}

impl Sender for TortoiseSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.as_f64();
        self.window = 2.0 * self.packet;
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        if ack.round == self.round || ack.window_unused() {
            return;
        }
        self.round = ack.round;
        if ack.smoothed_rtt.saturating_sub(ack.min_rtt) > self.target {
            self.shrink(Self::DECREASE);
        } else {
            self.window += self.packet;
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match (congestion.cause, congestion.episode) {
            (Cause::Loss, Episode::New) => self.shrink(0.5),
            (Cause::NoFeedback, _) => self.window = 2.0 * self.packet,
            _ => {}
        }
    }

    fn permit(&self) -> Permit {
        Permit { window: Some(Bytes::from_f64(self.window)), ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("target delay", "ms", self.target.millis());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Random;
    use millpond_units::Time;

    fn after_one_round(rtt: Span) -> Bytes {
        let mut law = TortoiseSender::new(Span::from_millis(5));
        let mut random = Random::stream(1, "test");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        law.on_start(&mut cx, &Start::plain(Bytes::new(1000)));
        law.window = 10_000.0;
        let ack = Ack::plain(Bytes::new(1000), rtt, Bytes::new(9000));
        law.on_ack(&mut cx, &Ack { round: 1, min_rtt: Span::from_millis(20), ..ack });
        law.permit().window.unwrap()
    }

    #[test]
    fn the_window_grows_by_one_packet_while_the_queueing_delay_is_short() {
        assert_eq!(after_one_round(Span::from_millis(25)), Bytes::new(11_000));
    }

    #[test]
    fn the_window_shrinks_by_three_tenths_if_the_queueing_delay_is_long() {
        assert_eq!(after_one_round(Span::from_millis(26)), Bytes::new(7_000));
    }

    #[test]
    fn it_conforms_to_what_every_protocol_must_do() {
        millpond_conformance::check(&millpond_conformance::Laws::new([&Tortoise as &dyn Protocol], []));
    }
}
