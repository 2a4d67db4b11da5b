//! The receiver of LGCC: tells the sender of this loop how fast the next loop goes on.

use super::header::{LgccEcho, NextRate};
use super::params::{EchoReading, Params};
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Settings};
use millpond_units::{Bytes, Rate, Span};

/// See the module.
pub(super) struct LgccReceiver {
    echo: EchoReading,
    cushion: f64,
    drain: f64,
}

impl LgccReceiver {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        Self { echo: params.echo, cushion: params.cushion, drain: params.drain }
    }

    /// What a relay echoes (section VI-A, with the readings of ERRATA.md).
    fn next_rate(&self, relay: &RelayView, packet: Bytes) -> Rate {
        match self.echo {
            EchoReading::Sent => {
                let cushion = Bytes::from_f64(self.cushion * packet.as_f64());
                sent_corrected(relay, cushion, relay.next_rtt.scale(self.drain))
            }
            EchoReading::WindowRate => window_rate(relay),
            EchoReading::Pace => relay.next_rate,
        }
    }
}

/// What the next loop really sends, and so much more or less that the relay's queue comes to hold `cushion` within
/// `span`.
fn sent_corrected(relay: &RelayView, cushion: Bytes, span: Span) -> Rate {
    if span.is_zero() {
        return relay.next_rate;
    }
    let supply = relay.next_rate + cushion.per(span);
    Rate::from_bps(supply.bps().saturating_sub(relay.backlog.per(span).bps()))
}

/// The next loop's x, undone from what it sends: its window per base RTT instead of per RTT.
fn window_rate(relay: &RelayView) -> Rate {
    if relay.next_base_rtt.is_zero() {
        return relay.next_rate;
    }
    relay.next_rate.scale(relay.next_rtt.secs() / relay.next_base_rtt.secs())
}

impl Receiver for LgccReceiver {
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo) {
        let next =
            relay.map_or(NextRate::NoLimit, |relay| NextRate::Limit(self.next_rate(relay, data.bytes)));
        LgccEcho::new(next).emit(&mut echo.header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use millpond_law::{Ecn, Header, Random, Value};
    use millpond_units::Time;

    /// The next loop has a window of 100 kB, a base RTT of 2 ms and a queue of 3 ms: 160 Mbit/s, x = 400 Mbit/s.
    fn relay(backlog: u64) -> RelayView {
        RelayView {
            next_rate: Rate::from_mbps(160.0),
            backlog: Bytes::new(backlog),
            limit: Bytes::new(1_000_000),
            next_rtt: Span::from_millis(5),
            next_base_rtt: Span::from_millis(2),
            members: 1,
            weight: 1.0,
        }
    }

    fn echoed(written: &[(&'static str, Value)], relay: Option<&RelayView>) -> Option<NextRate> {
        let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
        let mut random = Random::stream(1, "receiver");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let data = Data { bytes: Bytes::new(1500), ecn: Ecn::Ect0, header: Header::NONE };
        let mut echo = Echo::default();
        LgccReceiver::new(&settings).on_data(&mut cx, &data, relay, &mut echo);
        LgccEcho::parse(&echo.header).map(|echo| echo.next_rate())
    }

    fn mbps(mbps: f64) -> Option<NextRate> {
        Some(LgccEcho::new(NextRate::Limit(Rate::from_mbps(mbps))).next_rate())
    }

    #[test]
    fn a_relay_echoes_what_it_sends_and_brings_its_queue_to_the_cushion() {
        // The cushion is two packets, 3 kB; each 50 kB above it are 10 Mbit/s less, in 8 RTTs of 5 ms.
        assert_eq!(echoed(&[], Some(&relay(3_000))), mbps(160.0));
        assert_eq!(echoed(&[], Some(&relay(53_000))), mbps(150.0));
        assert_eq!(echoed(&[], Some(&relay(0))), mbps(160.6));
        assert_eq!(echoed(&[("drain", Value::Number(4.0))], Some(&relay(53_000))), mbps(140.0));
        assert_eq!(echoed(&[("cushion", Value::Number(0.0))], Some(&relay(50_000))), mbps(150.0));
        assert_eq!(echoed(&[], Some(&relay(1_000_000))), mbps(0.0), "a rate is never negative");
    }

    #[test]
    fn the_literal_reading_echoes_the_next_loops_x() {
        let x = ("echo", Value::text("x"));
        assert_eq!(echoed(std::slice::from_ref(&x), Some(&relay(50_000))), mbps(400.0));
        assert_eq!(echoed(&[x, ("control", Value::text("rate"))], Some(&relay(50_000))), mbps(160.0));
    }

    #[test]
    fn the_last_receiver_sets_no_limit() {
        assert_eq!(echoed(&[], None), Some(NextRate::NoLimit));
    }

    #[test]
    fn a_relay_that_knows_no_rtt_yet_does_no_harm() {
        let young = RelayView { next_rtt: Span::ZERO, next_base_rtt: Span::ZERO, ..relay(50_000) };
        assert_eq!(echoed(&[], Some(&young)), mbps(160.0));
        assert_eq!(echoed(&[("echo", Value::text("x"))], Some(&young)), mbps(160.0));
    }
}
