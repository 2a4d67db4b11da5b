//! The CLTCP sender: once per round trip the logarithm of its rate moves towards that of the factor (section V-B).

use super::header::{CltcpHeader, ScaledHeader};
use super::params::{ALPHA, APPLIED, Applied, EXPONENT, Exponent, INITIAL_RATE, SCALING, Scaling};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Bytes, Rate, Span};

/// Smallest rate in packets/s, so that feedback continues to arrive.
pub(super) const LEAST_RATE: f64 = 1.0;

/// Largest rate in bit/s, for any feedback.
const MOST_RATE: f64 = 1e15;

/// Eq. (48): `x <- x^(1 - e) r^e`.
fn next_rate(rate: f64, factor: f64, exponent: f64) -> f64 {
    let (rate, factor) = (libm::log(rate), libm::log(factor));
    libm::exp(rate + exponent * (factor - rate))
}

/// The CLTCP sender's state.
pub(super) struct CltcpSender {
    alpha: f64,
    exponent: Exponent,
    /// When (48) is applied: at each acknowledgement, or once per round trip.
    applied: Applied,
    /// Initial rate, in packets/s.
    initial_rate: f64,
    packet_bits: f64,
    /// x in bit/s.
    rate: f64,
    /// r in bit/s; none before the first feedback.
    factor: Option<f64>,
    /// The round of the last update of the rate.
    round: Option<u64>,
    /// Whether routers are to know the round-trip time.
    scaling: Scaling,
    /// Smoothed round-trip time; zero before the first measurement.
    rtt: Span,
    unread: Unread,
}

impl CltcpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            alpha: settings.get(ALPHA),
            exponent: settings.get(EXPONENT),
            applied: settings.get(APPLIED),
            initial_rate: settings.get(INITIAL_RATE),
            packet_bits: 8.0,
            rate: 0.0,
            factor: None,
            round: None,
            scaling: settings.get(SCALING),
            rtt: Span::ZERO,
            unread: Unread::default(),
        }
    }

    fn set_rate(&mut self, bps: f64) {
        self.rate = bps.clamp(LEAST_RATE * self.packet_bits, MOST_RATE);
    }

    fn begin(&mut self) {
        self.set_rate(self.initial_rate * self.packet_bits);
    }
}

impl Sender for CltcpSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet_bits = start.packet.max(Bytes::new(1)).as_f64() * 8.0;
        self.begin();
    }

    fn on_ack(&mut self, _cx: &mut Context<'_>, ack: &Ack) {
        self.rtt = ack.smoothed_rtt;
        let header = self.unread.note(CltcpHeader::parse(&ack.header));
        let Some(factor) = header.and_then(|header| header.factor()) else { return };
        let factor = factor.as_f64().max(1.0);
        self.factor = Some(factor);
        if self.applied == Applied::PerAck || self.round != Some(ack.round) {
            self.round = Some(ack.round);
            let exponent = self.exponent.of(self.alpha, ack.smoothed_rtt.secs());
            self.set_rate(next_rate(self.rate, factor, exponent));
        }
    }

    /// A loss does not change the rate. After persistent congestion the rate factor is outdated: the sender returns to
    /// its initial state.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            self.begin();
        }
    }

    #[inline]
    fn permit(&self) -> Permit {
        Permit { pace: Some(Rate::from_bps_f64(self.rate)), ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        match self.scaling {
            Scaling::Fixed => CltcpHeader::NEW.emit(header),
            Scaling::Rtt => ScaledHeader::new(self.rtt).emit(header),
        }
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("rate", "bit/s", self.rate);
        if let Some(factor) = self.factor {
            gauge.quantity("signalled rate factor", "bit/s", factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cltcp::Cltcp;
    use crate::testing::SenderBench;
    use millpond_law::{Episode, Value};
    use millpond_units::Span;

    /// 120 Mbit/s, in packets of 1000 bytes.
    const CAPACITY: f64 = 15_000.0;

    fn bench(rtt: u64, exponent: &'static str, initial_rate: f64) -> SenderBench {
        let written = [("exponent", Value::text(exponent)), ("initial_rate", Value::Number(initial_rate))];
        SenderBench::new(&Cltcp, &written, Span::from_millis(rtt))
    }

    /// A round trip in which each of five acknowledgements carries this factor, in packets/s.
    fn round(bench: &mut SenderBench, factor: f64) {
        let (mut written, mut header) = (CltcpHeader::NEW, Header::NONE);
        written.lower_to(Rate::from_bps_f64(factor * 8000.0));
        written.emit(&mut header);
        for _ in 0..5 {
            let ack = Ack { header, ..bench.plain() };
            bench.ack(&ack);
        }
        bench.next_round();
    }

    /// The rate in packets/s.
    fn rate(bench: &SenderBench) -> f64 {
        bench.law.permit().pace.unwrap().as_f64() / 8000.0
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a / b - 1.0).abs() <= tolerance
    }

    #[test]
    fn with_updates_per_acknowledgement_a_round_trip_has_a_step_for_each() {
        // Five steps of x^.9 r^.1 from 100 to 15000 packets/s: 15000 / 150^(.9^5).
        let written = [("applied", Value::text("per-ack"))];
        let mut bench = SenderBench::new(&Cltcp, &written, Span::from_millis(50));
        round(&mut bench, CAPACITY);
        assert!(near(rate(&bench), CAPACITY / 150_f64.powf(0.59049), 1e-6), "{}", rate(&bench));
    }

    #[test]
    fn the_rate_changes_once_per_round_trip_by_equation_48() {
        // 50 ms: x^.9 r^.1, from 100 to 15000 packets/s: 100 * 150^.1.
        let mut bench = bench(50, "capped", 100.0);
        assert!(near(rate(&bench), 100.0, 1e-6));
        round(&mut bench, CAPACITY);
        assert!(near(rate(&bench), 165.05, 1e-4), "{}", rate(&bench));
        // 0.8 s: to the factor, or beyond it: 100^-.6 15000^1.6 is over 300 000.
        for (exponent, theory) in [("capped", CAPACITY), ("raw", 100.0 * libm::pow(150.0, 1.6))] {
            let mut bench = self::bench(800, exponent, 100.0);
            round(&mut bench, CAPACITY);
            assert!(near(rate(&bench), theory, 1e-6), "{exponent}: {}", rate(&bench));
        }
    }

    #[test]
    fn under_a_fixed_factor_the_transient_is_that_of_equation_26() {
        // t2 = ln(ln(N x0 / C) / ln theta) / alpha, with N = 4, x0 = 100.
        for theta in [0.5_f64, 0.9, 0.99] {
            let t2 = libm::log(libm::log(400.0 / CAPACITY) / libm::log(theta)) / 2.0;
            let mut bench = bench(10, "exact", 100.0);
            let rounds = (1..1000).find(|_| {
                round(&mut bench, CAPACITY / 4.0);
                rate(&bench) >= theta * CAPACITY / 4.0
            });
            let seconds = f64::from(rounds.unwrap()) * 0.01;
            assert!(t2 <= seconds && seconds < t2 + 0.011, "{theta}: {seconds} {t2}");
        }
    }

    #[test]
    fn fairness_takes_the_corrected_time_of_theorem_3_for_any_factor() {
        // ln(ln(C / (N x0)) / ln(1/eps)) / alpha for N = 3, x0 = 100; printed: .67 s.
        for (fairness, seconds) in [(0.9, 1.8072), (0.95, 2.1671), (0.99, 2.9821)] {
            let (mut old, mut new) = (bench(10, "exact", CAPACITY / 3.0), bench(10, "exact", 100.0));
            let rounds = (1..1000).find(|k| {
                let factor = CAPACITY / 3.0 * (1.0 + 0.3 * libm::sin(f64::from(*k)));
                [&mut old, &mut new].into_iter().for_each(|bench| round(bench, factor));
                rate(&new) / rate(&old) >= fairness
            });
            let taken = f64::from(rounds.unwrap()) * 0.01;
            assert!((taken - seconds).abs() < 0.011, "{fairness}: {taken}");
        }
    }

    #[test]
    fn without_feedback_the_rate_is_the_initial_rate_and_a_loss_has_no_effect() {
        let mut bench = bench(50, "capped", 100.0);
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        let ack = Ack { header, ..bench.plain() };
        bench.ack(&ack);
        assert!(near(rate(&bench), 100.0, 1e-6));
        (0..200).for_each(|_| round(&mut bench, 5000.0));
        bench.congestion(Cause::Loss, Episode::New);
        assert!(near(rate(&bench), 5000.0, 1e-4));
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert!(near(rate(&bench), 100.0, 1e-6));
    }

    #[test]
    fn with_scaling_a_sender_writes_its_round_trip_time_once_it_has_measured_it() {
        let written = [("scaling", Value::text("rtt"))];
        let mut bench = SenderBench::new(&Cltcp, &written, Span::from_millis(700));
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        assert_eq!((header.bytes().len(), ScaledHeader::reported_rtt(&header)), (12, None));
        round(&mut bench, CAPACITY);
        assert!(near(rate(&bench), CAPACITY, 1e-6), "the rate law is that of the paper");
        bench.stamp(&mut header);
        assert_eq!(ScaledHeader::reported_rtt(&header), Some(Span::from_millis(700)));
        let mut paper = self::bench(700, "capped", 100.0);
        round(&mut paper, CAPACITY);
        paper.stamp(&mut header);
        assert_eq!(header.bytes(), [0xff; 8], "the paper's form has no such field");
    }

    #[test]
    fn the_smallest_rate_is_a_packet_per_second() {
        let mut bench = bench(500, "capped", 100.0);
        round(&mut bench, 0.0);
        assert!(near(rate(&bench), 1.0, 1e-9));
    }
}
