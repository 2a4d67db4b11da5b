//! The VCP sender: MI, AI or MD, by the load of the most loaded link (sections 3.2 and 3.3, SIGCOMM 2005).

use super::header::{Load, VcpHeader};
use super::params::SenderParams;
use crate::parts::window::Window;
use millpond_law::fluid::{Number, least};
use millpond_law::{Ack, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Span, Time};

/// Smallest window, in packets.
pub(super) const LEAST_PACKETS: f64 = 1.0;

/// Largest number of intervals per round trip that counts in the multiplicative increase (the authors' ns-2 code).
const MOST_INTERVALS: f64 = 2.5;

/// Multiples of the reference round trip between which the additive increase scales with the square of the RTT; outside
/// of them it scales linearly (the authors' ns-2 code).
const SQUARE_FROM: f64 = 0.2;
const SQUARE_TO: f64 = 5.0;

/// Eq. (7): relative increase per round trip, for a factor of `1 + xi` per interval at any round-trip time.
pub(super) fn multiplicative_increase<T: Number>(params: &SenderParams, rtt: T) -> T {
    let intervals = least(rtt / params.interval.secs(), T::from(MOST_INTERVALS));
    let base = 1.0 + params.xi;
    let power = libm::pow(base, intervals.re());
    (intervals - intervals.re()) * (power * libm::log(base)) + (power - 1.0)
}

/// Eq. (8): increase in packets per round trip, for the same growth of the rate at any round-trip time.
pub(super) fn additive_increase<T: Number>(params: &SenderParams, rtt: T) -> T {
    let ratio = rtt / params.reference_rtt.secs();
    let scale = match ratio {
        short if short <= SQUARE_FROM => short * SQUARE_FROM,
        long if long > SQUARE_TO => long - SQUARE_TO + SQUARE_TO * SQUARE_TO,
        middle => middle * middle,
    };
    scale * params.alpha
}

/// Increases per round trip at the current round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Increases {
    /// Multiplicative increase, as a share of the window.
    multiplicative: f64,
    /// Additive increase, in packets.
    additive: f64,
}

/// The VCP sender's state.
pub(super) struct VcpSender {
    params: SenderParams,
    weight: f64,
    window: Window,
    increases: Increases,
    /// The round for which `increases` was computed.
    round: Option<u64>,
    rtt: Span,
    /// End of the freeze after a reduction: routers have to measure its effect first.
    frozen_until: Time,
    /// Time until which a further overload signal increases the window additively, after the freeze.
    add_until: Time,
    load: Option<Load>,
    unread: Unread,
}

impl VcpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let params = SenderParams::read(settings);
        Self {
            params,
            weight: 1.0,
            window: Window::new(Bytes::ZERO, Some(params.initial_window)),
            increases: Increases::default(),
            round: None,
            rtt: Span::ZERO,
            frozen_until: Time::ZERO,
            add_until: Time::ZERO,
            load: None,
            unread: Unread::default(),
        }
    }

    /// Updates the increases once per round trip, because they need a power function.
    fn scale_increases(&mut self, ack: &Ack) {
        self.rtt = ack.smoothed_rtt;
        if self.round != Some(ack.round) {
            let rtt = self.rtt.secs();
            self.round = Some(ack.round);
            self.increases = Increases {
                multiplicative: multiplicative_increase(&self.params, rtt),
                additive: self.weight * additive_increase(&self.params, rtt),
            };
        }
    }

    /// Eq. (2): `w <- w (1 + xi)` per round trip, in equal shares per byte acknowledged.
    fn multiply(&mut self, acked: Bytes) {
        self.window.change_by(self.increases.multiplicative * acked.as_f64(), LEAST_PACKETS);
    }

    /// Eq. (3): `w <- w + alpha` per round trip.
    fn add(&mut self, acked: Bytes) {
        let bytes = self.increases.additive * acked.as_f64() / self.window.packets();
        self.window.change_by(bytes, LEAST_PACKETS);
    }

    /// Eq. (4): `w <- beta w`, once; then no change for one interval, then additive increase for one round trip.
    fn on_overload(&mut self, now: Time, acked: Bytes, may_grow: bool) {
        if now >= self.add_until {
            self.window.scale(self.params.beta, LEAST_PACKETS);
            self.frozen_until = now + self.params.interval;
            self.add_until = self.frozen_until + self.rtt;
        } else if now >= self.frozen_until && may_grow {
            self.add(acked);
        }
    }
}

impl Sender for VcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.weight = start.weight;
        self.window = Window::new(start.packet, Some(self.params.initial_window));
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.scale_increases(ack);
        let may_grow = self.window.may_grow(ack);
        self.load = self.unread.note(VcpHeader::parse(&ack.header)).and_then(|header| header.load());
        match self.load {
            Some(Load::Low) if may_grow => self.multiply(ack.bytes),
            Some(Load::High) if may_grow => self.add(ack.bytes),
            Some(Load::Over) => self.on_overload(cx.now, ack.bytes, may_grow),
            _ => {}
        }
    }

    /// A loss reduces the window as in Reno. A CE mark has no effect here: the echo carries the load.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        self.window.reduce_on_loss(congestion, self.params.loss_reduction_factor);
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit { window: Some(self.window.bytes()), ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        VcpHeader::new(None).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("signalled load", "1", self.load.map_or(0.0, |load| f64::from(load as u8)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SenderBench;
    use crate::vcp::Vcp;
    use crate::vcp::params::PARAMETERS;
    use millpond_law::{Cause, Episode, LimitedBy, Value};

    fn params() -> SenderParams {
        SenderParams::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    fn bench(window: f64, rtt: u64) -> SenderBench {
        SenderBench::new(&Vcp, &[("initial_window", Value::Number(window))], Span::from_millis(rtt))
    }

    /// A round in which the whole window is acknowledged and every acknowledgement carries this load.
    fn round(bench: &mut SenderBench, load: Load, rtt: u64) {
        let packets = bench.window() as u64;
        for _ in 0..packets {
            bench.now += Span::from_millis(rtt) / packets;
            acknowledge(bench, load);
        }
        bench.next_round();
    }

    fn acknowledge(bench: &mut SenderBench, load: Load) {
        let mut header = Header::NONE;
        VcpHeader::new(Some(load)).emit(&mut header);
        let ack = Ack { header, ..bench.plain() };
        bench.ack(&ack);
    }

    #[test]
    fn low_load_multiplies_the_window_by_1_0625_per_interval_at_any_round_trip_time() {
        for rtt in [50, 100, 200, 400] {
            let mut bench = bench(1000.0, rtt);
            (0..2000 / rtt).for_each(|_| round(&mut bench, Load::Low, rtt));
            let theory = 1000.0 * 1.0625_f64.powi(10);
            assert!((bench.window() / theory - 1.0).abs() < 0.005, "{rtt} ms: {} {theory}", bench.window());
        }
    }

    #[test]
    fn the_additive_growth_of_rates_is_equal_from_20_to_500_milliseconds() {
        // Packets per round trip, over the round trip squared: the growth of the rate per second.
        for rtt in [0.02, 0.05, 0.1, 0.3, 0.5] {
            let growth = additive_increase(&params(), rtt) / (rtt * rtt);
            assert!((growth - 100.0).abs() < 1e-9, "{rtt}: {growth}");
        }
        assert!((additive_increase(&params(), 0.01) - 0.02).abs() < 1e-12);
        assert!((additive_increase(&params(), 1.0) - 30.0).abs() < 1e-12);
    }

    #[test]
    fn high_load_adds_a_packet_per_100_milliseconds_of_round_trip_time() {
        let mut bench = bench(50.0, 100);
        (0..10).for_each(|_| round(&mut bench, Load::High, 100));
        // Ten packets, less the growth within the round and the unsent fraction of a packet.
        assert!(bench.window() > 59.5 && bench.window() < 60.0, "{}", bench.window());
    }

    #[test]
    fn overload_reduces_once_then_freezes_for_an_interval_then_adds_for_a_round_trip() {
        let mut bench = bench(80.0, 100);
        acknowledge(&mut bench, Load::Over);
        assert_eq!(bench.window(), 70.0);
        bench.now += Span::from_millis(199);
        acknowledge(&mut bench, Load::Over);
        assert_eq!(bench.window(), 70.0, "the window is frozen");
        bench.now += Span::from_millis(1);
        acknowledge(&mut bench, Load::Over);
        assert!(bench.window() > 70.0 && bench.window() < 70.1, "it adds");
        bench.now += Span::from_millis(100);
        acknowledge(&mut bench, Load::Over);
        assert!(bench.window() < 61.4, "the window is reduced again");
    }

    #[test]
    fn simultaneous_reductions_shrink_the_difference_of_two_flows_by_an_eighth() {
        let mut pair = [bench(90.0, 100), bench(10.0, 100)];
        for cut in 1..=10 {
            for bench in &mut pair {
                // After the freeze and the round trip that follow the last reduction.
                bench.now += Span::from_millis(400);
                acknowledge(bench, Load::Over);
            }
            let difference = pair[0].window() - pair[1].window();
            let theory = 80.0 * 0.875_f64.powi(cut);
            assert!((difference - theory).abs() < 0.05, "{cut}: {difference} {theory}");
        }
    }

    #[test]
    fn a_reduction_keeps_at_least_a_packet_and_an_unused_window_does_not_grow() {
        let mut bench = bench(1.0, 100);
        acknowledge(&mut bench, Load::Over);
        assert_eq!(bench.window(), 1.0);
        let mut header = Header::NONE;
        VcpHeader::new(Some(Load::Low)).emit(&mut header);
        let ack = Ack { header, limited_by: LimitedBy::Data, ..bench.plain() };
        bench.ack(&ack);
        assert_eq!(bench.window(), 1.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_a_mark_has_no_effect() {
        let mut bench = bench(40.0, 100);
        bench.congestion(Cause::Ecn, Episode::New);
        assert_eq!(bench.window(), 40.0);
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!(bench.window(), 20.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
    }
}
