//! HPCC's sender: Algorithm 1, SIGCOMM 2019.

use super::header::{Telemetry, WRAP};
use super::params::Params;
use crate::parts::window::{MOST, initial_window_bytes};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Header, Permit, Sender, Start, Unread};
use millpond_units::{Bytes, Rate, Span, Time};

/// The longest time between two reports that their counters measure without doubt: half of what they count.
const LONGEST: Span = Span::from_picos(WRAP as u64 / 2 * 16_000);

/// The utilization before the first measurement (the authors' ns-3 code): a window that begins at the rate of the interface
/// is reduced from the first measurement on.
const FIRST_UTILIZATION: f64 = 1.0;

/// HPCC's state.
pub(super) struct HpccSender {
    params: Params,
    packet: f64,
    /// Rate of the sender's interface in bit/s; none if it is unknown.
    interface: Option<f64>,
    /// Base round-trip time in seconds; none before the first sample.
    base_rtt: Option<f64>,
    /// The reports of the last acknowledgement, and its time.
    last: Option<(Telemetry, Time)>,
    /// Moving average of the utilization of the busiest link, with its queue (`U`).
    utilization: f64,
    /// The window of the last round trip in bytes (`W^c`).
    reference: f64,
    /// In bytes.
    window: f64,
    /// Additive increases in sequence.
    stage: u64,
    round: u64,
    unread: Unread,
}

impl HpccSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            packet: 1.0,
            interface: None,
            base_rtt: None,
            last: None,
            utilization: FIRST_UTILIZATION,
            reference: 1.0,
            window: 1.0,
            stage: 0,
            round: 0,
            unread: Unread::default(),
        }
    }

    /// `W_init = B T`: the window with which a flow alone sends at the rate of its interface; in bytes.
    fn initial_window(&self) -> f64 {
        let bytes = self.interface.zip(self.base_rtt).map(|(rate, rtt)| rate * rtt / 8.0);
        bytes.unwrap_or_else(|| initial_window_bytes(self.packet, None)).clamp(self.packet, MOST)
    }

    /// `W_AI = W_init (1 - eta) / N`, in bytes; with `eta = 1` a thousandth of a packet.
    fn additive_increase(&self) -> f64 {
        let increase = self.initial_window() * (1.0 - self.params.eta) / self.params.expected_flows;
        increase.max(1e-3 * self.packet)
    }

    /// Sets the base round-trip time, if it has changed. At the first one the window is that of the interface.
    fn set_base_rtt(&mut self, rtt: Span) {
        let rtt = rtt.secs().max(1e-9);
        let is_first = self.base_rtt.is_none();
        self.base_rtt = Some(rtt);
        if is_first {
            (self.reference, self.window) = (self.initial_window(), self.initial_window());
        }
    }

    /// `MeasureInflight`: the moving average of the utilization of the busiest link. False if there is nothing to compare with.
    fn measure(&mut self, now: Time, telemetry: &Telemetry, base_rtt: f64) -> bool {
        let Some((last, then)) = self.last.replace((*telemetry, now)) else { return false };
        if last.reports().len() != telemetry.reports().len() || telemetry.reports().is_empty() {
            return false;
        }
        let is_unambiguous = now.since(then) < LONGEST;
        let (mut busiest, mut interval) = (0.0_f64, 0.0);
        for (newer, older) in telemetry.reports().iter().zip(last.reports()) {
            let elapsed = if is_unambiguous { newer.since(older).secs() } else { base_rtt };
            let rate =
                if is_unambiguous && elapsed > 0.0 { newer.busy_since(older).secs() / elapsed } else { 0.0 };
            let queue = newer.queue().min(older.queue()).secs() / base_rtt;
            if rate + queue >= busiest {
                (busiest, interval) = (rate + queue, elapsed);
            }
        }
        let weight = (interval / base_rtt).min(1.0);
        self.utilization += weight * (busiest - self.utilization);
        true
    }

    /// `ComputeWind`: the window from that of the last round trip. `is_new_round` makes it the reference of the next one.
    fn compute_window(&mut self, is_new_round: bool) {
        let adjusts = self.utilization >= self.params.eta || self.stage >= self.params.max_stage;
        let kept = if adjusts {
            self.reference * self.params.eta / self.utilization.max(1e-6)
        } else {
            self.reference
        };
        self.window = (kept + self.additive_increase()).min(self.initial_window());
        if is_new_round {
            self.reference = self.window;
            self.stage = if adjusts { 0 } else { self.stage + 1 };
        }
    }
}

impl Sender for HpccSender {
    fn on_start(&mut self, _cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet.as_f64().clamp(1.0, MOST);
        self.interface = start.interface.map(Rate::as_f64);
        (self.reference, self.window) = (self.initial_window(), self.initial_window());
        if let Some(rtt) = self.params.base_rtt {
            self.set_base_rtt(rtt);
        }
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        if self.params.base_rtt.is_none() {
            self.set_base_rtt(ack.min_rtt);
        }
        let telemetry = self.unread.note(Telemetry::parse(&ack.header));
        let (Some(telemetry), Some(base_rtt)) = (telemetry, self.base_rtt) else { return };
        if self.last.is_none() {
            // The first round trip ends with a packet that is sent after its first acknowledgement.
            self.round = ack.round;
        }
        let is_new_round = ack.round != self.round;
        if self.measure(cx.now, &telemetry, base_rtt) {
            self.round = ack.round;
            self.compute_window(is_new_round);
        }
    }

    /// HPCC is made for networks without loss; a loss has a queue before it, which the reports contain. Persistent congestion leaves
    /// one packet.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            (self.reference, self.window, self.stage) = (self.packet, self.packet, 0);
        }
    }

    /// Window and pace `R = W / T`. A packet leaves while fewer bytes than the window are in flight, as in the authors' simulator: the
    /// window is rounded up to whole packets, and the pace limits its fractions.
    fn permit(&self) -> Permit {
        let packets = libm::ceil(self.window / self.packet).max(1.0);
        let window = Bytes::from_f64(packets * self.packet);
        let pace =
            self.base_rtt.map(|rtt| Rate::from_bps_f64(self.window * 8.0 / rtt).max(Rate::from_bps(1)));
        Permit { window: Some(window), pace, ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        Telemetry::begin(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("window", "packets", self.window / self.packet);
        gauge.quantity("utilization", "1", self.utilization);
        gauge.quantity("stage", "1", self.stage as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hpcc;
    use super::super::header::LinkReport;
    use super::*;
    use crate::testing::SenderBench;
    use millpond_law::{Episode, Value};

    const RTT: Span = Span::from_micros(100);

    /// A sender whose initial window is that of RFC 9002 (its interface is unknown): ten packets of 1000 bytes.
    fn bench(eta: f64) -> SenderBench {
        SenderBench::new(&Hpcc, &[("eta", Value::Number(eta)), ("base_rtt", Value::text("100us"))], RTT)
    }

    fn window(bench: &SenderBench) -> f64 {
        bench.gauge("window")
    }

    /// An acknowledgement with one report for each link: busy time and queue in microseconds, at the time of the bench.
    fn ack(bench: &mut SenderBench, links: &[(u64, u64)]) {
        let mut header = Header::NONE;
        Telemetry::begin(&mut header);
        for &(busy, queue) in links {
            let report = LinkReport::new(bench.now, Span::from_micros(busy), Span::from_micros(queue));
            Telemetry::append(&mut header, &report).unwrap();
        }
        let ack = Ack { header, ..bench.plain() };
        bench.ack(&ack);
    }

    /// One acknowledgement per round trip; the link is busy for `busy` microseconds of the hundred, and its queue is `queue` long.
    fn rounds(bench: &mut SenderBench, count: u64, total: &mut u64, busy: u64, queue: u64) {
        for _ in 0..count {
            bench.next_round();
            bench.now += RTT;
            *total += busy;
            ack(bench, &[(*total, queue)]);
        }
    }

    #[test]
    fn the_window_is_divided_by_the_utilization_over_its_target() {
        let mut bench = bench(0.5);
        ack(&mut bench, &[(0, 0)]);
        assert_eq!(window(&bench), 10.0);
        // A report a whole base RTT later has the full weight: U = 80 / 100 + 20 / 100 is twice the target.
        let mut total = 0;
        rounds(&mut bench, 1, &mut total, 80, 0);
        // Only the least of two queues counts.
        assert!((bench.gauge("utilization") - 0.8).abs() < 1e-9);
        rounds(&mut bench, 1, &mut total, 80, 20);
        assert!((bench.gauge("utilization") - 0.8).abs() < 1e-9);
        let before = window(&bench);
        rounds(&mut bench, 1, &mut total, 80, 20);
        assert!((bench.gauge("utilization") - 1.0).abs() < 1e-9);
        // W_AI = 10 packets * 0.5 / 100 = 0.05 packets.
        assert!((window(&bench) - (before / 2.0 + 0.05)).abs() < 2e-3, "{before} {}", window(&bench));
    }

    #[test]
    fn five_additive_increases_precede_an_adjustment_upwards() {
        let mut bench = bench(0.5);
        ack(&mut bench, &[(0, 0)]);
        let mut total = 0;
        // Two packets remain after a utilization of five times the target.
        rounds(&mut bench, 1, &mut total, 100, 0);
        rounds(&mut bench, 1, &mut total, 100, 0);
        let start = window(&bench);
        let mut windows = Vec::new();
        for _ in 0..7 {
            rounds(&mut bench, 1, &mut total, 25, 0);
            windows.push(window(&bench));
        }
        for (n, window) in windows[..5].iter().enumerate() {
            assert!((window - start - 0.05 * (n + 1) as f64).abs() < 5e-3, "{n}: {windows:?}");
        }
        // At a quarter of the capacity and a target of half of it the window doubles.
        assert!((windows[5] - (2.0 * windows[4] + 0.05)).abs() < 5e-3, "{windows:?}");
        assert!((windows[6] - windows[5] - 0.05).abs() < 5e-3, "{windows:?}");
    }

    #[test]
    fn within_a_round_trip_the_window_is_computed_from_the_same_reference() {
        let mut bench = bench(0.5);
        ack(&mut bench, &[(0, 0)]);
        let mut total = 0;
        rounds(&mut bench, 1, &mut total, 100, 0);
        let reference = window(&bench);
        // Ten acknowledgements in a round trip, all with full utilization: one reduction by two, not ten.
        for _ in 0..10 {
            bench.now += RTT / 10;
            total += 10;
            ack(&mut bench, &[(total, 0)]);
        }
        assert!((window(&bench) - (reference / 2.0 + 0.05)).abs() < 5e-3, "{reference} {}", window(&bench));
    }

    /// The authors' ns-3 code begins with `U = 1`, and its first acknowledgement begins the first round trip: until the end of that
    /// the window is computed from the initial one.
    #[test]
    fn a_full_link_reduces_the_initial_window_to_its_target_from_the_second_report_on() {
        let mut bench = bench(0.5);
        bench.next_round();
        ack(&mut bench, &[(0, 0)]);
        for tenth in 1..=9 {
            bench.now += RTT / 10;
            ack(&mut bench, &[(10 * tenth, 0)]);
            assert!((window(&bench) - 5.05).abs() < 5e-3, "{tenth}: {}", window(&bench));
        }
        bench.next_round();
        bench.now += RTT / 10;
        ack(&mut bench, &[(100, 0)]);
        bench.now += RTT / 10;
        ack(&mut bench, &[(110, 0)]);
        assert!((window(&bench) - (5.05 / 2.0 + 0.05)).abs() < 5e-3, "{}", window(&bench));
    }

    #[test]
    fn the_busiest_link_counts() {
        let mut bench = bench(0.95);
        ack(&mut bench, &[(0, 0), (0, 0), (0, 0)]);
        bench.now += RTT;
        ack(&mut bench, &[(30, 0), (90, 0), (60, 0)]);
        assert!((bench.gauge("utilization") - 0.9).abs() < 1e-9);
        // A path of another length has no reports to compare with.
        bench.now += RTT;
        ack(&mut bench, &[(60, 0), (180, 0)]);
        assert!((bench.gauge("utilization") - 0.9).abs() < 1e-9);
    }

    #[test]
    fn an_acknowledgement_without_telemetry_is_counted_and_silence_leaves_one_packet() {
        let mut bench = bench(0.95);
        let plain = bench.plain();
        bench.ack(&plain);
        assert_eq!((bench.law.unread(), window(&bench)), (1, 10.0));
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!(window(&bench), 10.0);
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!(window(&bench), 1.0);
        assert_eq!(bench.law.permit().pace, Some(Rate::from_mbps(80.0)), "1000 bytes in 100 us");
    }
}
