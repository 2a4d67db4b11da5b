//! The LGCC receiver: echoes the rate of the downstream loop to the sender of this loop.

use super::cushion::CushionFactor;
use super::header::{ExcessEcho, LgccEcho, NextRate, PriceField};
use super::params::{EchoReading, Params};
use super::sharing::LoopShare;
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Settings, Unread};
use millpond_units::{Bytes, Rate, Span};

/// The LGCC receiver's state.
pub(super) struct LgccReceiver {
    params: Params,
    /// The share of the greatest target queue that the relay needs.
    cushion: CushionFactor,
    /// Size of the latest data packet.
    packet: Bytes,
    /// The latest echo with an excess.
    echoed: Echoed,
    /// The price of the path in the latest data packet.
    price: Option<PriceField>,
    unread: Unread,
}

/// An echo with an excess.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Echoed {
    /// The carrying capacity that a sender with a short RTT computes, in bit/s: the sending rate less the excess over
    /// `drain_time`.
    capacity: f64,
    /// Whether the relay's send queue is above its target.
    holds_data: bool,
}

impl LgccReceiver {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = Params::read(settings);
        Self {
            cushion: CushionFactor::new(params.idle_target),
            params,
            packet: Bytes::new(1),
            echoed: Echoed::default(),
            price: None,
            unread: Unread::default(),
        }
    }

    /// The echo of a relay (section VI-A, with the readings of ERRATA.md): the carrying capacity which, deflated by the
    /// marks of the virtual queue, is this loop's share of the downstream loop.
    fn next_rate(&self, relay: &RelayView, packet: Bytes, share: &LoopShare) -> Rate {
        let fair = |rate: Rate| rate.scale(share.share);
        let wanted = match self.params.echo {
            EchoReading::Sent => {
                let rate = fair(relay.next_rate);
                let span = relay.next_rtt.scale(self.params.drain) + self.params.drain_time;
                corrected(rate, self.target(rate, packet), self.backlog(rate, relay), span)
            }
            EchoReading::Excess => fair(relay.next_rate),
            EchoReading::WindowRate => fair(window_rate(relay)),
            EchoReading::Pace => fair(relay.next_rate),
        };
        wanted.scale(1.0 / share.deflation)
    }

    /// B*, the target of a relay's queue at this rate of the next loop.
    fn target(&self, rate: Rate, packet: Bytes) -> Bytes {
        let most = self.params.cushion * packet.as_f64() + rate.bytes_in(self.params.cushion_time).as_f64();
        Bytes::from_f64(self.cushion.get() * most)
    }

    /// B, the queue that converges to the target: the relay's, and if it counts, that of the next loop, which its RTT
    /// shows.
    fn backlog(&self, rate: Rate, relay: &RelayView) -> Bytes {
        let queueing = relay.next_rtt.saturating_sub(relay.next_base_rtt);
        let beyond = rate.bytes_in(queueing).min(relay.next_in_flight);
        relay.backlog + if self.params.counts_next_queue { beyond } else { Bytes::ZERO }
    }

    /// The rate at which the next loop sends if it has data. A relay that has run dry is not limited by its window, and the
    /// smoothed RTT may still be that of an outage: then it is the pace.
    fn next_rate_with_data(&self, relay: &RelayView) -> Rate {
        let is_dry = relay.backlog + relay.next_in_flight <= self.packet * 2 && relay.next_pace < Rate::MAX;
        if is_dry { relay.next_pace } else { relay.next_rate }
    }

    /// Writes the echo of a relay, and marks the packet by its virtual queue.
    fn write_next_rate(&mut self, cx: &mut Context<'_>, data: &Data, relay: &RelayView, echo: &mut Echo) {
        let span = relay.next_rtt.scale(self.params.drain) + self.params.drain_time;
        self.cushion.on_arrival(cx.now, relay, span);
        let share = LoopShare::of(&self.params, &relay.sharing);
        echo.mark = share.marking > 0.0 && cx.random.chance(share.marking);
        if self.params.echo == EchoReading::Excess {
            self.packet = data.bytes;
            self.echoed = self.write_excess(relay, &share, echo);
            return;
        }
        LgccEcho::new(NextRate::Limit(self.next_rate(relay, data.bytes, &share))).emit(&mut echo.header);
    }

    /// Appends the price of the path to the other fields of an echo.
    fn append_price(&self, echo: &mut Echo) {
        if let Some(price) = self.price {
            price.append(&mut echo.header);
        }
    }

    /// Writes rate and excess `B - B*` of this loop's share.
    fn write_excess(&self, relay: &RelayView, share: &LoopShare, echo: &mut Echo) -> Echoed {
        let rate = self.next_rate_with_data(relay).scale(share.share);
        let target = self.target(rate, self.packet);
        let excess = self.backlog(rate, relay).as_f64() - target.as_f64();
        let (rate, excess) = (rate.scale(1.0 / share.deflation), excess / share.deflation);
        let holds_data = relay.backlog > target;
        ExcessEcho::new(rate, excess, holds_data).emit(&mut echo.header);
        let capacity = rate.as_f64() - 8.0 * excess / self.params.drain_time.secs().max(1e-3);
        Echoed { capacity, holds_data }
    }
}

/// The departing rate, corrected so that the backlog converges to `target` with the time constant `span`.
fn corrected(leaves: Rate, target: Bytes, backlog: Bytes, span: Span) -> Rate {
    if span.is_zero() {
        return leaves;
    }
    let supply = leaves + target.per(span);
    Rate::from_bps(supply.bps().saturating_sub(backlog.per(span).bps()))
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
        match relay {
            Some(relay) => self.write_next_rate(cx, data, relay, echo),
            None => LgccEcho::new(NextRate::NoLimit).emit(&mut echo.header),
        }
        if self.params.has_price_field {
            let read = self.unread.note(PriceField::parse(&data.header));
            self.price = read.or(self.price);
            self.append_price(echo);
        }
    }

    /// A carrying capacity that has doubled, and is more than the least rate, is sent at once, and so is the end of the
    /// data above the target: no other departure may follow.
    fn on_relay_departure(&mut self, relay: &RelayView, echo: &mut Echo) -> bool {
        let share = LoopShare::of(&self.params, &relay.sharing);
        let mut renewed = *echo;
        let now = self.write_excess(relay, &share, &mut renewed);
        self.append_price(&mut renewed);
        let least = self.packet.bits() as f64 / self.params.probe_interval.secs().max(1e-3);
        let has_doubled = now.capacity >= least.max(2.0 * self.echoed.capacity);
        let has_ended = self.echoed.holds_data && !now.holds_data;
        if has_doubled || has_ended {
            (*echo, self.echoed) = (renewed, now);
        }
        has_doubled || has_ended
    }

    fn sends_updates(&self) -> bool {
        self.params.sends_updates
    }

    fn unread(&self) -> u64 {
        self.unread.count()
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
            next_pace: Rate::MAX,
            next_in_flight: Bytes::new(100_000),
            backlog: Bytes::new(backlog),
            next_backlog: Bytes::new(backlog),
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

    #[test]
    fn the_target_grows_with_the_rate_and_the_queue_of_the_next_loop_counts_if_set() {
        // 160 Mbit/s in 15 ms are 300 kB; the queue of 3 ms of the next loop holds 60 kB. D = 8 * 5 ms + 10 ms = 50 ms.
        let time = ("cushion_time", Value::text("15ms"));
        let both =
            [time.clone(), ("backlog", Value::text("relay-and-loop")), ("drain_time", Value::text("10ms"))];
        assert_eq!(echoed(std::slice::from_ref(&time), Some(&relay(303_000))), mbps(160.0));
        assert_eq!(echoed(&both, Some(&relay(243_000))), mbps(160.0));
        assert_eq!(echoed(&both, Some(&relay(493_000))), mbps(120.0));
    }

    fn excess_receiver(updates: bool) -> LgccReceiver {
        let written = [
            ("echo", Value::text("excess")),
            ("drain_time", Value::text("100ms")),
            ("probe_interval", Value::text("100ms")),
            ("updates", Value::Flag(updates)),
        ];
        LgccReceiver::new(&Settings::check(PARAMETERS, written).unwrap())
    }

    #[test]
    fn an_excess_is_echoed_beside_the_rate_and_an_update_follows_when_the_capacity_has_doubled() {
        let mut receiver = excess_receiver(true);
        assert!(receiver.sends_updates() && !excess_receiver(false).sends_updates());
        let (mut random, mut echo) = (Random::stream(1, "receiver"), Echo::default());
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let data = Data { bytes: Bytes::new(1500), ecn: Ecn::Ect0, header: Header::NONE };
        // 1 MB above the target, in 100 ms 80 Mbit/s: 80 Mbit/s are left of 160.
        receiver.on_data(&mut cx, &data, Some(&relay(1_003_000)), &mut echo);
        assert_eq!(ExcessEcho::parse(&echo.header).unwrap().excess(), 1e6);
        assert!(ExcessEcho::parse(&echo.header).unwrap().holds_data());
        assert!(!receiver.on_relay_departure(&relay(13_000), &mut echo), "159.2 of 160 Mbit/s");
        assert_eq!(ExcessEcho::parse(&echo.header).unwrap().excess(), 1e6, "unchanged");
        assert!(receiver.on_relay_departure(&relay(3_000), &mut echo), "160 Mbit/s, twice as much");
        assert_eq!(ExcessEcho::parse(&echo.header).unwrap().excess(), 0.0);
        assert!(!receiver.on_relay_departure(&relay(0), &mut echo), "once");
        // The queue falls to its target without a change of the capacity.
        receiver.on_data(&mut cx, &data, Some(&relay(4_500)), &mut echo);
        assert!(receiver.on_relay_departure(&relay(3_000), &mut echo));
        assert!(!receiver.on_relay_departure(&relay(1_500), &mut echo));
        // A capacity below a packet per probe interval, 120 kbit/s, causes no update.
        receiver.on_data(&mut cx, &data, Some(&relay(3_000_000)), &mut echo);
        let slow = RelayView { next_rate: Rate::from_bps(100_000), ..relay(4_500) };
        assert!(!receiver.on_relay_departure(&slow, &mut echo));
    }

    #[test]
    fn the_price_of_the_path_follows_every_echo_and_the_latest_one_is_kept() {
        let written = [
            ("price", Value::text("field")),
            ("echo", Value::text("excess")),
            ("updates", Value::Flag(true)),
        ];
        let mut receiver = LgccReceiver::new(&Settings::check(PARAMETERS, written).unwrap());
        let (mut random, mut echo, mut header) =
            (Random::stream(1, "receiver"), Echo::default(), Header::NONE);
        let mut price = PriceField::default();
        price.add(1.75);
        price.emit(&mut header);
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let data = Data { bytes: Bytes::new(1500), ecn: Ecn::Ect0, header };
        receiver.on_data(&mut cx, &data, None, &mut echo);
        assert_eq!(echo.header.bytes(), [0xff, 0xff, 0xff, 0xff, 0x0e, 0x00]);
        let unread = Data { header: Header::NONE, ..data };
        receiver.on_data(&mut cx, &unread, Some(&relay(1_003_000)), &mut echo);
        assert_eq!((echo.header.bytes().len(), receiver.unread()), (10, 1));
        assert_eq!(PriceField::parse_echoed(&echo.header), Some(price));
        assert!(receiver.on_relay_departure(&relay(0), &mut echo), "an update");
        assert_eq!(PriceField::parse_echoed(&echo.header), Some(price));
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
