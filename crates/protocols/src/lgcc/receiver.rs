//! The LGCC receiver: echoes the rate of the downstream loop to the sender of this loop.

use super::header::{LgccEcho, NextRate};
use super::params::{EchoReading, Params};
use super::sharing::LoopShare;
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Settings};
use millpond_units::{Bytes, Rate, Span};

/// The LGCC receiver's state.
pub(super) struct LgccReceiver {
    params: Params,
}

impl LgccReceiver {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { params: Params::read(settings) }
    }

    /// The echo of a relay (section VI-A, with the readings of ERRATA.md): the carrying capacity which, deflated by the
    /// marks of the virtual queue, is this loop's share of the downstream loop.
    fn next_rate(&self, relay: &RelayView, packet: Bytes, share: &LoopShare) -> Rate {
        let fair = |rate: Rate| rate.scale(share.share);
        let wanted = match self.params.echo {
            EchoReading::Sent => {
                let cushion = Bytes::from_f64(self.params.cushion * packet.as_f64());
                corrected(fair(relay.next_rate), relay, cushion, relay.next_rtt.scale(self.params.drain))
            }
            EchoReading::WindowRate => fair(window_rate(relay)),
            EchoReading::Pace => fair(relay.next_rate),
        };
        wanted.scale(1.0 / share.deflation)
    }
}

/// The departing rate, corrected so that the relay's queue converges to `cushion` with the time constant `span`.
fn corrected(leaves: Rate, relay: &RelayView, cushion: Bytes, span: Span) -> Rate {
    if span.is_zero() {
        return leaves;
    }
    let supply = leaves + cushion.per(span);
    Rate::from_bps(supply.bps().saturating_sub(relay.backlog.per(span).bps()))
}

/// The downstream loop's x, from its sending rate: its window per base RTT instead of per RTT.
fn window_rate(relay: &RelayView) -> Rate {
    if relay.next_base_rtt.is_zero() {
        return relay.next_rate;
    }
    relay.next_rate.scale(relay.next_rtt.secs() / relay.next_base_rtt.secs())
}

impl Receiver for LgccReceiver {
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo) {
        let Some(relay) = relay else {
            return LgccEcho::new(NextRate::NoLimit).emit(&mut echo.header);
        };
        let share = LoopShare::of(&self.params, &relay.sharing);
        echo.mark = share.marking > 0.0 && cx.random.chance(share.marking);
        LgccEcho::new(NextRate::Limit(self.next_rate(relay, data.bytes, &share))).emit(&mut echo.header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::lgcc::sharing::tests::sharing;
    use millpond_law::{Ecn, Header, Random, Sharing, Value};
    use millpond_units::Time;

    /// The downstream loop has a window of 100 kB, a base RTT of 2 ms and a queue of 3 ms: 160 Mbit/s, x = 400 Mbit/s.
    fn relay(backlog: u64) -> RelayView {
        RelayView {
            next_rate: Rate::from_mbps(160.0),
            backlog: Bytes::new(backlog),
            limit: Bytes::new(1_000_000),
            next_rtt: Span::from_millis(5),
            next_base_rtt: Span::from_millis(2),
            sharing: Sharing::ALONE,
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
    fn a_relay_echoes_its_sending_rate_corrected_towards_the_cushion() {
        // The cushion is two packets, 3 kB; each 50 kB above it are 10 Mbit/s less, in 8 RTTs of 5 ms.
        assert_eq!(echoed(&[], Some(&relay(3_000))), mbps(160.0));
        assert_eq!(echoed(&[], Some(&relay(53_000))), mbps(150.0));
        assert_eq!(echoed(&[], Some(&relay(0))), mbps(160.6));
        assert_eq!(echoed(&[("drain", Value::Number(4.0))], Some(&relay(53_000))), mbps(140.0));
        assert_eq!(echoed(&[("cushion", Value::Number(0.0))], Some(&relay(50_000))), mbps(150.0));
        assert_eq!(echoed(&[], Some(&relay(1_000_000))), mbps(0.0), "a rate is never negative");
    }

    #[test]
    fn the_literal_reading_echoes_the_x_of_the_downstream_loop() {
        let x = ("echo", Value::text("x"));
        assert_eq!(echoed(std::slice::from_ref(&x), Some(&relay(50_000))), mbps(400.0));
        assert_eq!(echoed(&[x, ("control", Value::text("rate"))], Some(&relay(50_000))), mbps(160.0));
    }

    /// Echo and share of marked packets of the first of these incoming loops, over enough packets for an error of .01.
    fn marked(weights: &[f64], written: &[(&'static str, Value)]) -> (f64, Option<NextRate>) {
        let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
        let (mut receiver, mut random) = (LgccReceiver::new(&settings), Random::stream(1, "receiver"));
        let relay = RelayView { sharing: sharing(weights), ..relay(3_000) };
        let data = Data { bytes: Bytes::new(1500), ecn: Ecn::Ect0, header: Header::NONE };
        let (mut echo, mut marks) = (Echo::default(), 0);
        for _ in 0..20_000 {
            let mut cx = Context { now: Time::ZERO, random: &mut random };
            receiver.on_data(&mut cx, &data, Some(&relay), &mut echo);
            marks += u32::from(echo.mark);
        }
        (f64::from(marks) / 20_000.0, LgccEcho::parse(&echo.header).map(|echo| echo.next_rate()))
    }

    #[test]
    fn two_loops_that_share_a_downstream_loop_are_marked_by_eq_22_and_receive_its_whole_rate() {
        // p* = 1 - 2^(-ln 5 / ln 10) = 0.3840, the "0.4" of section X-E; three standard errors are 0.0103.
        let (share, next) = marked(&[1.0, 1.0], &[]);
        assert!((share - 0.3840).abs() < 0.0103, "{share}");
        assert_eq!(next, mbps(160.0));
        assert_eq!(marked(&[1.0], &[]), (0.0, mbps(160.0)));
    }

    #[test]
    fn weights_scale_the_echoed_rate_and_not_the_marks() {
        // Weights 1 and 3: normalized to the largest 1/3 and 1, so that p* = 1 - (4/3)^(-1/eta) = 0.1822.
        for (weights, rate) in [([1.0, 3.0], 160.0 / 3.0), ([3.0, 1.0], 160.0)] {
            let (share, next) = marked(&weights, &[]);
            assert!((share - 0.1822).abs() < 0.0082, "{share}");
            let Some(NextRate::Limit(next)) = next else { panic!("no limit") };
            assert!((next.as_f64() / 1e6 - rate).abs() < 1e-3, "{next}");
        }
    }

    #[test]
    fn marks_of_eq_11_leave_zero_to_the_lightest_of_three() {
        // x / k = 1 - (S-1)(1/w) / sum(1/w) is negative for the first of the weights 1, 2, 3 at any scale, and 7/11 for
        // the last.
        let price = [("weights", Value::text("price"))];
        let heaviest = marked(&[3.0, 1.0, 2.0], &price);
        // 7/11 = (1 - p)^eta, eta = 1.4307.
        assert!((heaviest.0 - 0.2709).abs() < 0.01, "{heaviest:?}");
        assert_eq!(heaviest.1, mbps(160.0));
        assert_eq!(marked(&[1.0, 2.0, 3.0], &price).0, 1.0);
    }

    #[test]
    fn the_last_receiver_sets_no_limit() {
        assert_eq!(echoed(&[], None), Some(NextRate::NoLimit));
    }

    #[test]
    fn a_relay_without_an_rtt_sample_echoes_a_valid_rate() {
        let young = RelayView { next_rtt: Span::ZERO, next_base_rtt: Span::ZERO, ..relay(50_000) };
        assert_eq!(echoed(&[], Some(&young)), mbps(160.0));
        assert_eq!(echoed(&[("echo", Value::text("x"))], Some(&young)), mbps(160.0));
    }
}
