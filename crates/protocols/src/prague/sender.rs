//! Prague's sender. Section numbers are those of the draft.

use super::params::Params;
use crate::parts::window::Window;
use millpond_law::{Ack, Cause, Congestion, Context, Episode, Gauge, Permit, Sender, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// Factor by which a loss episode multiplies the window, as in Reno (section 2.4.1).
const LOSS_FACTOR: f64 = 0.5;

/// Pacing rate over window per round trip in slow start (section 2.5.1).
const SLOW_START_PACE: f64 = 2.0;

/// Largest burst of a paced sender (section 2.5.1).
const BURST: Span = Span::from_micros(250);

/// The estimate of the marked fraction (section 2.3.2).
#[derive(Clone, Copy, Debug)]
struct MarkedFraction {
    /// None before the first mark.
    alpha: Option<f64>,
    acked: Bytes,
    marked: Bytes,
    updated: Time,
}

impl MarkedFraction {
    const NONE: Self = Self { alpha: None, acked: Bytes::ZERO, marked: Bytes::ZERO, updated: Time::ZERO };

    /// Counts the bytes of an acknowledgement; updates alpha once per virtual round trip.
    fn on_ack(&mut self, now: Time, ack: &Ack, g: f64, virtual_rtt: Span) {
        self.acked += ack.bytes;
        self.marked += ack.ce_bytes.min(ack.bytes);
        let Some(alpha) = &mut self.alpha else {
            if ack.ce_bytes > Bytes::ZERO {
                *self = Self { alpha: Some(1.0), updated: now, ..Self::NONE };
            }
            return;
        };
        if now.since(self.updated) >= virtual_rtt && self.acked > Bytes::ZERO {
            let fraction = self.marked.as_f64() / self.acked.as_f64();
            *alpha += g * (fraction - *alpha);
            (self.acked, self.marked, self.updated) = (Bytes::ZERO, Bytes::ZERO, now);
        }
    }
}

/// Prague's state.
pub(super) struct PragueSender {
    params: Params,
    window: Window,
    fraction: MarkedFraction,
    srtt: Option<Span>,
    /// The round trip of the last acknowledgement.
    round: u64,
    /// Time of the last reduction after marks.
    reduced: Option<Time>,
    /// The round trip in which slow start ended.
    slow_start_ended: Option<u64>,
}

impl PragueSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            window: Window::new(Bytes::ZERO, None),
            fraction: MarkedFraction::NONE,
            srtt: None,
            round: 0,
            reduced: None,
            slow_start_ended: None,
        }
    }

    /// RTT_virt = max(srtt, RTT_virt_min) (section 2.4.4).
    fn virtual_rtt(&self, srtt: Span) -> Span {
        srtt.max(self.params.least_virtual_rtt)
    }

    /// Factor of the additive increase: (srtt / RTT_virt)^2 from D round trips after slow start on (section 2.4.4).
    fn growth_factor(&self, ack: &Ack) -> f64 {
        let since = self.slow_start_ended.map_or(0, |ended| ack.round.saturating_sub(ended));
        if since < self.params.transition_rounds {
            return 1.0;
        }
        let ratio =
            ack.smoothed_rtt.secs() / self.virtual_rtt(ack.smoothed_rtt).secs().max(f64::MIN_POSITIVE);
        ratio * ratio
    }

    /// Unmarked bytes let the window grow, also after a reduction for marks (section 2.4.3).
    fn grow(&mut self, ack: &Ack) {
        let unmarked = ack.bytes.saturating_sub(ack.ce_bytes);
        let remaining = self.window.slow_start(unmarked);
        if remaining > Bytes::ZERO {
            let factor = self.growth_factor(ack);
            self.window.avoid_congestion(Bytes::from_f64(remaining.as_f64() * factor));
        }
    }

    /// cwnd = cwnd (1 - alpha / 2), at most once per virtual round trip (section 2.4.2), and not in the recovery from a loss.
    fn on_marks(&mut self, now: Time, virtual_rtt: Span) {
        let is_early = self.reduced.is_some_and(|reduced| now.since(reduced) < virtual_rtt);
        let Some(alpha) = self.fraction.alpha.filter(|_| !is_early && !self.window.in_recovery()) else {
            return;
        };
        self.window.reduce_without_recovery(1.0 - alpha / 2.0);
        self.reduced = Some(now);
        self.slow_start_ended.get_or_insert(self.round);
    }

    /// A loss episode halves the window (section 2.4.1).
    fn on_loss(&mut self, episode: Episode) {
        if episode == Episode::New {
            self.window.reduce(LOSS_FACTOR);
            self.slow_start_ended.get_or_insert(self.round);
        }
    }

    /// cwnd / srtt, twice that in slow start (section 2.5.1).
    fn pace(&self) -> Option<Rate> {
        let rate = self.window.bytes().as_f64() * 8.0 / self.srtt.filter(|srtt| !srtt.is_zero())?.secs();
        let factor = if self.window.in_slow_start() { SLOW_START_PACE } else { 1.0 };
        // An extreme round-trip time leaves at least the slowest pace that there is.
        Some(Rate::from_bps_f64(rate * factor).max(Rate::from_bps(1)))
    }
}

impl Sender for PragueSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.window = Window::new(start.packet, self.params.initial_window);
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        (self.srtt, self.round) = (Some(ack.smoothed_rtt), ack.round);
        let virtual_rtt = self.virtual_rtt(ack.smoothed_rtt);
        self.fraction.on_ack(cx.now, ack, self.params.g, virtual_rtt);
        if self.window.may_grow(ack) {
            self.grow(ack);
        }
        if ack.ce_bytes > Bytes::ZERO {
            self.on_marks(cx.now, virtual_rtt);
        }
    }

    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        match congestion.cause {
            // Marks are counted with their acknowledgement.
            Cause::Timeout | Cause::Ecn => {}
            Cause::Loss => self.on_loss(congestion.episode),
            Cause::NoFeedback => {
                self.on_loss(congestion.episode);
                self.window.collapse();
            }
        }
    }

    fn permit(&self) -> Permit {
        let pace = self.pace();
        let quantum =
            pace.map(|pace| pace.bytes_in(BURST)).filter(|burst| self.window.in_packets(*burst) >= 1.0);
        Permit { window: Some(self.window.bytes()), pace, quantum, ..Permit::default() }
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window.packets());
        gauge.quantity("marked fraction", "1", self.fraction.alpha.unwrap_or(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prague;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::{Random, Value};

    fn bench(written: &[(&'static str, Value)], rtt_ms: u64) -> SenderBench {
        SenderBench::new(&Prague, written, Span::from_millis(rtt_ms))
    }

    fn window(packets: f64) -> (&'static str, Value) {
        ("initial_window", Value::Number(packets))
    }

    /// Acknowledges one packet after `gap`, marked or not.
    fn ack(bench: &mut SenderBench, gap: Span, is_marked: bool) {
        bench.now += gap;
        let plain = bench.plain();
        let ce_bytes = if is_marked { plain.bytes } else { Bytes::ZERO };
        bench.ack(&Ack { ce_packets: u64::from(is_marked), ce_bytes, ..plain });
    }

    #[test]
    fn the_first_mark_halves_the_window_and_ends_slow_start() {
        let mut bench = bench(&[window(20.0)], 40);
        ack(&mut bench, Span::ZERO, false);
        assert_eq!(bench.window(), 21.0);
        ack(&mut bench, Span::from_millis(1), true);
        assert_eq!((bench.window(), bench.gauge("marked fraction")), (10.5, 1.0));
        ack(&mut bench, Span::from_millis(1), false);
        assert!((bench.window() - 10.5 - 1.0 / 10.5).abs() < 1e-3, "growth continues after the reduction");
    }

    #[test]
    fn marks_reduce_once_per_virtual_round_trip() {
        // 10 ms are below 25 ms: the second reduction comes 25 ms after the first.
        let mut bench = bench(&[window(1000.0)], 10);
        let reductions: Vec<u64> = (0..100)
            .filter(|_| {
                let before = bench.window();
                ack(&mut bench, Span::from_millis(1), true);
                bench.window() < before
            })
            .collect();
        assert_eq!(reductions, [0, 25, 50, 75]);
    }

    #[test]
    fn alpha_is_the_moving_average_of_the_marked_fraction_per_virtual_round_trip() {
        let mut bench = bench(&[window(1000.0)], 40);
        ack(&mut bench, Span::from_millis(1), true);
        // Every fourth packet is marked: the distance to 1/4 falls by 15/16 in each 40 ms.
        for updates in 1..20 {
            (0..40).for_each(|n| ack(&mut bench, Span::from_millis(1), n % 4 == 0));
            let expected = 0.25 + 0.75 * (15.0_f64 / 16.0).powi(updates);
            assert!((bench.gauge("marked fraction") - expected).abs() < 1e-9, "{updates}");
        }
    }

    #[test]
    fn marked_bytes_do_not_grow_the_window() {
        let mut bench = bench(&[window(100.0)], 40);
        ack(&mut bench, Span::ZERO, true);
        let reduced = bench.window();
        (0..20).for_each(|_| ack(&mut bench, Span::from_millis(1), true));
        assert_eq!(bench.window(), reduced);
    }

    #[test]
    fn growth_per_round_trip_is_the_square_of_the_rtt_over_the_virtual_one_after_the_transition() {
        for (rtt, factor) in [(5, 0.04), (10, 0.16), (25, 1.0), (50, 1.0)] {
            let mut bench = bench(&[window(100.0), ("transition_rounds", Value::Number(2.0))], rtt);
            ack(&mut bench, Span::ZERO, true);
            let mut grown = || {
                bench.next_round();
                let before = bench.window();
                (0..50).for_each(|_| ack(&mut bench, Span::from_millis(rtt) / 50, false));
                bench.window() - before
            };
            let (first, _, third) = (grown(), grown(), grown());
            assert!((first - 1.0).abs() < 0.02, "{rtt} ms: {first}");
            assert!((third / factor - 1.0).abs() < 0.05, "{rtt} ms: {third}, not {factor}");
        }
    }

    #[test]
    fn the_transition_begins_when_a_loss_ends_slow_start() {
        let mut bench = bench(&[window(100.0), ("transition_rounds", Value::Number(2.0))], 10);
        (0..5).for_each(|_| bench.next_round());
        ack(&mut bench, Span::ZERO, false);
        bench.congestion(Cause::Loss, Episode::New);
        bench.next_round();
        let before = bench.window();
        for _ in 0..50 {
            bench.now += Span::from_micros(200);
            let plain = bench.plain();
            bench.ack(&Ack { prior_delivered: plain.delivered, ..plain });
        }
        assert!((bench.window() - before - 1.0).abs() < 0.02, "{}", bench.window() - before);
    }

    #[test]
    fn a_loss_halves_the_window_and_marks_in_its_recovery_have_no_effect() {
        let mut bench = bench(&[window(40.0)], 40);
        ack(&mut bench, Span::ZERO, false);
        bench.congestion(Cause::Loss, Episode::New);
        bench.congestion(Cause::Loss, Episode::Same);
        assert_eq!(bench.window(), 20.5);
        ack(&mut bench, Span::from_millis(1), true);
        assert_eq!(bench.window(), 20.5);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
    }

    /// Section 2.4.1 leaves the response to the classic algorithm: RFC 5681, section 3.1, halves the slow-start threshold at a timeout.
    #[test]
    fn slow_start_after_persistent_congestion_ends_at_half_of_the_window() {
        let mut bench = bench(&[window(40.0)], 40);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(bench.window(), 2.0);
        (0..6).for_each(|_| bench.full_round());
        // 4, 8, 16, 20, 21 and 22 packets.
        assert!((bench.window() - 22.0).abs() < 1.0, "{}", bench.window());
    }

    #[test]
    fn packets_are_paced_at_a_window_per_round_trip_and_at_twice_that_in_slow_start() {
        let mut bench = bench(&[window(99.0)], 40);
        ack(&mut bench, Span::ZERO, false);
        // 100 packets of 1000 bytes in 40 ms are 20 Mbit/s.
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(40.0)));
        ack(&mut bench, Span::from_millis(1), true);
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(10.0)));
        // 250 us are 312 bytes at 10 Mbit/s: less than a packet.
        assert_eq!(bench.law.permit().quantum, None);
    }

    #[test]
    fn the_window_balances_growth_and_reductions_under_random_marks() {
        // A reduction of W p / 2 comes V = R / r after the last one and, on average, R / (W p) later, with the next mark. In
        // between the window grows by (1 - p) r^2 per round trip R: x / 2 = (1 - p) r (1 + r / x) for x = W p.
        let mut random = Random::stream(3, "marks");
        for (rtt, p) in [(40, 0.05), (10, 0.05), (40, 0.1)] {
            let mut bench = bench(&[window(50.0), ("transition_rounds", Value::Number(0.0))], rtt);
            let (mut sum, mut time, span) = (0.0, 0.0, Span::from_millis(rtt));
            for round in 0..6000 {
                bench.next_round();
                let packets = bench.window() as u64;
                (0..packets).for_each(|_| ack(&mut bench, span / packets, random.chance(p)));
                if round >= 2000 {
                    (sum, time) = (sum + bench.window(), time + 1.0);
                }
            }
            let ratio = (rtt as f64 / 25.0).min(1.0);
            let unmarked = 1.0 - p;
            let theory = ratio / p * (unmarked + libm::sqrt(unmarked * unmarked + 2.0 * unmarked));
            let found = sum / time;
            assert!((found / theory - 1.0).abs() < 0.1, "{rtt} ms, {p}: {found}, theory {theory}");
        }
    }
}
