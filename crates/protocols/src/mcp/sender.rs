//! The MCP sender: drives the automaton of Fig. 2 with the echoed load and fairing signal.

use super::automaton::Automaton;
use super::fairing::{Demand, Usage};
use super::header::{Load, McpHeader, StepCode};
use super::params::{OverloadSeen, SenderParams};
use millpond_law::{Ack, Cause, Congestion, Context, Gauge, Header, Permit, Sender, Settings, Start, Unread};
use millpond_units::{Rate, Time};

/// The MCP sender's state.
pub(super) struct McpSender {
    automaton: Automaton,
    feedback: Option<McpHeader>,
    demand: Demand,
    decision: Time,
    unread: Unread,
}

impl McpSender {
    pub(super) fn new(settings: &Settings) -> Self {
        let automaton = Automaton::new(SenderParams::read(settings));
        let (demand, unread) = (Demand::default(), Unread::default());
        Self { automaton, feedback: None, demand, decision: Time::ZERO, unread }
    }

    /// Schedules the next decision two router periods from now (section IV-H).
    fn restart_timer(&mut self, now: Time) {
        self.decision = now + self.automaton.params.decision_interval;
    }

    fn decrease(&mut self) {
        self.demand.on_decrease();
        self.automaton.decrease();
    }

    /// The decision at the end of each interval of 2 T.
    fn decide(&mut self, feedback: McpHeader) {
        let demand = self.demand.end_interval();
        if demand == Usage::Raised {
            self.automaton.request.restart();
        }
        if feedback.load() == Load::Over {
            self.decrease();
        } else {
            self.automaton.increase(feedback.load(), feedback.fairing(), demand != Usage::Unused);
        }
    }
}

impl Sender for McpSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.automaton.weight = start.weight;
        self.restart_timer(cx.now);
    }

    /// A nascent overload reduces the rate at once; everything else waits for the timer (section IV-H).
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.demand.note(ack.window_unused());
        let Some(feedback) = self.unread.note(McpHeader::parse(&ack.header)) else { return };
        self.automaton.requested_step = StepCode::parse(&ack.header).and_then(StepCode::bps);
        let before = self.feedback.replace(feedback).map(|before| before.load());
        self.automaton.receive(feedback.load(), feedback.fairing());
        if feedback.load() != Load::Over {
            self.automaton.steps_back = 0;
        } else if before != Some(Load::Over) && self.automaton.params.overload_seen == OverloadSeen::AtOnce {
            self.decrease();
            self.restart_timer(cx.now);
        }
    }

    /// A loss does not change the rate. After persistent congestion the load is unknown: the flow returns to its
    /// initial state.
    fn on_congestion(&mut self, _cx: &mut Context<'_>, congestion: &Congestion) {
        if congestion.cause == Cause::NoFeedback {
            self.automaton.restart();
            self.feedback = None;
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        if let Some(feedback) = self.feedback {
            self.decide(feedback);
        }
        self.restart_timer(cx.now);
    }

    #[inline]
    fn permit(&self) -> Permit {
        let pace = Rate::from_bps_f64(self.automaton.rate).max(Rate::from_bps(1));
        Permit { pace: Some(pace), wake: Some(self.decision), ..Permit::default() }
    }

    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        let view = McpHeader::new(self.automaton.request.is_active());
        if self.automaton.params.requested_steps { view.emit_with_step(header) } else { view.emit(header) }
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("paced rate", "bit/s", self.automaton.rate);
        gauge.quantity("mode", "1", f64::from(self.automaton.mode as u8));
        gauge.quantity("fairing cycles left", "cycles", self.automaton.request.left() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Mcp;
    use crate::mcp::automaton::Mode;
    use crate::testing::SenderBench;
    use millpond_law::{Episode, LimitedBy, Value};
    use millpond_units::{Bytes, Span};

    const LIGHT: u8 = 0b0000;
    const MEDIUM: u8 = 0b0100;
    const HEAVY: u8 = 0b1000;
    const OVER: u8 = 0b1100;
    const FAIRING: u8 = 0b0010;

    /// A sender at 8 Mbit/s.
    fn bench(written: &[(&'static str, Value)]) -> SenderBench {
        let mut bench = SenderBench::new(&Mcp, written, Span::from_millis(40));
        (0..10).for_each(|_| decide(&mut bench, LIGHT));
        assert_eq!(kbps(&bench), 80 << 10);
        bench
    }

    fn kbps(bench: &SenderBench) -> u64 {
        bench.law.permit().pace.unwrap().bps() / 1000
    }

    fn acknowledge_bits(bench: &mut SenderBench, bits: u8) {
        acknowledge(bench, bits, false);
    }

    fn acknowledge(bench: &mut SenderBench, bits: u8, window_unused: bool) {
        let header = Header::new(crate::mcp::header::ID, &[bits]);
        let limited_by = if window_unused { LimitedBy::Data } else { LimitedBy::Window };
        let ack = Ack { header, limited_by, ..bench.plain() };
        bench.ack(&ack);
    }

    /// Processes an acknowledgement and the next decision.
    fn decide(bench: &mut SenderBench, bits: u8) {
        acknowledge_bits(bench, bits);
        bench.wake();
    }

    fn mode(bench: &SenderBench) -> f64 {
        bench.gauge("mode")
    }

    #[test]
    fn below_overload_each_load_has_the_mode_and_the_rule_of_figure_2() {
        let rows = [
            (LIGHT, Mode::Scaling, 163_840),
            (LIGHT | FAIRING, Mode::Scaling, 163_840),
            (MEDIUM | FAIRING, Mode::Fairing, 82_000),
            (HEAVY | FAIRING, Mode::Fairing, 82_000),
            (MEDIUM, Mode::Enhancing, 90_112),
            (HEAVY, Mode::Smoothing, 82_000),
        ];
        for (bits, expected, rate) in rows {
            let mut bench = bench(&[]);
            decide(&mut bench, bits);
            assert_eq!((mode(&bench), kbps(&bench)), (f64::from(expected as u8), rate), "{bits:04b}");
        }
    }

    #[test]
    fn a_step_that_links_request_replaces_the_fixed_one_and_lowers_the_floor() {
        let mut bench = bench(&[("step_share", Value::Number(0.03))]);
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        assert_eq!(header.bytes(), [0b0011, 255]);
        let decide = |bench: &mut SenderBench, bits: u8, code: u8| {
            let header = Header::new(crate::mcp::header::ID, &[bits, code]);
            let ack = Ack { header, ..bench.plain() };
            bench.ack(&ack);
            bench.wake();
        };
        // 2^17 bit/s and, in the smoothing mode, 2^14 bit/s.
        decide(&mut bench, MEDIUM | FAIRING, 17 * 8);
        assert_eq!(kbps(&bench), (81_920_000 + 131_072) / 1000);
        decide(&mut bench, HEAVY, 14 * 8);
        let before = 81_920_000 + 131_072 + 16_384;
        assert_eq!(kbps(&bench), before / 1000);
        // One step back, and later halvings down to a step instead of 80 kbit/s.
        decide(&mut bench, OVER, 14 * 8);
        assert_eq!(kbps(&bench), (before - 2 * 16_384) / 1000, "at once and at the timer");
        (0..40).for_each(|_| decide(&mut bench, OVER, 14 * 8));
        assert_eq!(kbps(&bench), 16);
        (0..40).for_each(|_| decide(&mut bench, OVER, 20 * 8));
        assert_eq!(kbps(&bench), 80, "a step above the initial rate");
    }

    #[test]
    fn it_decides_every_400_milliseconds_for_any_acknowledgements() {
        let mut bench = bench(&[]);
        let before = bench.now;
        (0..50).for_each(|_| acknowledge_bits(&mut bench, LIGHT));
        assert_eq!(kbps(&bench), 80 << 10);
        bench.wake();
        assert_eq!(bench.now.since(before), Span::from_millis(400));
        assert_eq!(kbps(&bench), 80 << 11);
    }

    #[test]
    fn a_nascent_overload_halves_at_once_and_a_lasting_one_every_400_milliseconds() {
        let mut bench = bench(&[]);
        bench.now += Span::from_millis(150);
        let seen = bench.now;
        acknowledge_bits(&mut bench, OVER);
        assert_eq!(kbps(&bench), 80 << 9);
        acknowledge_bits(&mut bench, OVER);
        assert_eq!(kbps(&bench), 80 << 9, "the overload is no longer nascent");
        bench.wake();
        assert_eq!(bench.now.since(seen), Span::from_millis(400), "the timer was restarted");
        assert_eq!(kbps(&bench), 80 << 8);
    }

    #[test]
    fn with_the_timer_reading_an_overload_reduces_the_rate_at_the_next_decision() {
        let mut bench = bench(&[("overload_seen", Value::text("by-timer"))]);
        acknowledge_bits(&mut bench, OVER);
        assert_eq!(kbps(&bench), 80 << 10);
        bench.wake();
        assert_eq!(kbps(&bench), 80 << 9);
    }

    #[test]
    fn a_requester_that_ignores_fairing_continues_to_scale() {
        let mut bench = bench(&[("requester", Value::text("ignores"))]);
        decide(&mut bench, MEDIUM | FAIRING);
        assert_eq!((mode(&bench), kbps(&bench)), (f64::from(Mode::Enhancing as u8), 90_112));
    }

    #[test]
    fn fairing_at_light_load_may_be_additive() {
        let mut bench = bench(&[("light_fairing", Value::text("additive"))]);
        decide(&mut bench, LIGHT | FAIRING);
        assert_eq!((mode(&bench), kbps(&bench)), (f64::from(Mode::Fairing as u8), 82_000));
        decide(&mut bench, LIGHT);
        assert_eq!((mode(&bench), kbps(&bench)), (f64::from(Mode::Scaling as u8), 164_000));
    }

    #[test]
    fn smoothing_ends_with_one_step_back_into_the_stable_mode() {
        for backoff in ["twice", "literal"] {
            let mut bench = bench(&[("backoff", Value::text(backoff))]);
            (0..5).for_each(|_| decide(&mut bench, HEAVY));
            assert_eq!(kbps(&bench), (80 << 10) + 400);
            acknowledge_bits(&mut bench, OVER);
            assert_eq!(kbps(&bench), (80 << 10) + 320);
            (0..100).for_each(|_| decide(&mut bench, HEAVY));
            assert_eq!((mode(&bench), kbps(&bench)), (f64::from(Mode::Stable as u8), (80 << 10) + 320));
        }
    }

    #[test]
    fn in_the_stable_mode_the_third_decision_of_an_overload_halves_or_literally_the_first() {
        for (backoff, rates) in [("twice", [82_160, 82_080, 41_040]), ("literal", [41_120, 20_560, 10_280])] {
            let mut bench = bench(&[("backoff", Value::text(backoff))]);
            (0..5).for_each(|_| decide(&mut bench, HEAVY));
            acknowledge_bits(&mut bench, OVER);
            decide(&mut bench, HEAVY);
            assert_eq!(kbps(&bench), 82_240);
            acknowledge_bits(&mut bench, OVER);
            assert_eq!(kbps(&bench), rates[0]);
            for rate in &rates[1..] {
                decide(&mut bench, OVER);
                assert_eq!(kbps(&bench), *rate, "{backoff}");
            }
        }
    }

    #[test]
    fn the_stable_mode_ends_with_less_load_or_with_fairing() {
        for (bits, expected) in
            [(MEDIUM, Mode::Enhancing), (LIGHT, Mode::Scaling), (HEAVY | FAIRING, Mode::Fairing)]
        {
            let mut bench = bench(&[]);
            decide(&mut bench, HEAVY);
            acknowledge_bits(&mut bench, OVER);
            decide(&mut bench, HEAVY);
            assert_eq!(mode(&bench), f64::from(Mode::Stable as u8));
            decide(&mut bench, bits);
            assert_eq!(mode(&bench), f64::from(expected as u8));
            decide(&mut bench, HEAVY);
            assert_eq!(mode(&bench), f64::from(Mode::Smoothing as u8));
        }
    }

    fn requests(bench: &mut SenderBench) -> bool {
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        McpHeader::parse(&header).unwrap().requests_fairing()
    }

    #[test]
    fn a_new_flow_requests_fairing_for_seven_halvings_or_for_eight_peaks() {
        for (cycles, halvings) in [("halvings", 7), ("peaks", 8)] {
            let mut bench = bench(&[("cycles", Value::text(cycles))]);
            for _ in 0..halvings {
                assert!(requests(&mut bench));
                decide(&mut bench, MEDIUM | FAIRING);
                acknowledge_bits(&mut bench, OVER | FAIRING);
            }
            assert!(!requests(&mut bench));
        }
    }

    #[test]
    fn a_notified_flow_enters_the_fairing_mode_or_requests_fairing_itself() {
        for (reading, expected) in [("obeys", false), ("asks", true)] {
            let mut bench =
                bench(&[("notified", Value::text(reading)), ("fairing_cycles", Value::Number(1.0))]);
            decide(&mut bench, MEDIUM | FAIRING);
            acknowledge_bits(&mut bench, OVER | FAIRING);
            acknowledge_bits(&mut bench, OVER | FAIRING);
            assert!(!requests(&mut bench), "the signal is its own request, in an overload");
            acknowledge_bits(&mut bench, MEDIUM);
            assert!(!requests(&mut bench));
            acknowledge_bits(&mut bench, HEAVY | FAIRING);
            assert_eq!(requests(&mut bench), expected, "{reading}");
        }
    }

    #[test]
    fn a_flow_that_raises_its_demand_requests_again_and_an_unused_rate_does_not_grow() {
        let mut bench = bench(&[("fairing_cycles", Value::Number(1.0))]);
        decide(&mut bench, MEDIUM | FAIRING);
        acknowledge_bits(&mut bench, OVER);
        let rate = kbps(&bench);
        for _ in 0..10 {
            acknowledge(&mut bench, LIGHT, true);
            bench.wake();
        }
        acknowledge(&mut bench, LIGHT, true);
        decide(&mut bench, LIGHT);
        assert_eq!((kbps(&bench), requests(&mut bench)), (rate, false));
        decide(&mut bench, LIGHT);
        assert_eq!((kbps(&bench), requests(&mut bench)), (2 * rate, true));
    }

    #[test]
    fn a_halving_of_a_rate_that_did_not_grow_because_it_is_not_used_ends_no_cycle() {
        let mut bench = bench(&[("fairing_cycles", Value::Number(1.0))]);
        acknowledge(&mut bench, MEDIUM | FAIRING, true);
        bench.wake();
        assert_eq!((mode(&bench), kbps(&bench)), (f64::from(Mode::Fairing as u8), 80 << 10));
        acknowledge_bits(&mut bench, OVER | FAIRING);
        assert_eq!((kbps(&bench), requests(&mut bench)), (80 << 9, true));
    }

    #[test]
    fn a_loss_has_no_effect_and_persistent_congestion_restarts_the_flow_and_its_request() {
        let mut bench = bench(&[("fairing_cycles", Value::Number(1.0))]);
        decide(&mut bench, MEDIUM | FAIRING);
        acknowledge_bits(&mut bench, OVER);
        bench.congestion(Cause::Loss, Episode::New);
        assert_eq!((kbps(&bench), requests(&mut bench)), (41_000, false));
        bench.congestion(Cause::NoFeedback, Episode::New);
        assert_eq!((kbps(&bench), requests(&mut bench)), (80, true));
        bench.wake();
        assert_eq!(kbps(&bench), 80, "without feedback the rate is constant");
    }

    #[test]
    fn the_first_decision_is_two_periods_after_the_start_and_a_weight_multiplies_the_step() {
        let start = Start { weight: 3.0, ..Start::plain(Bytes::new(1000)) };
        let mut bench = SenderBench::with_start(&Mcp, &[], Span::from_millis(40), &start);
        acknowledge_bits(&mut bench, HEAVY);
        bench.wake();
        assert_eq!((bench.now, kbps(&bench)), (Time::ZERO + Span::from_millis(400), 80 + 3 * 80));
    }

    #[test]
    fn a_restarted_flow_waits_for_feedback() {
        let mut bench = bench(&[]);
        acknowledge_bits(&mut bench, LIGHT);
        bench.congestion(Cause::NoFeedback, Episode::New);
        bench.wake();
        assert_eq!(kbps(&bench), 80);
    }

    #[test]
    fn a_flow_that_the_network_limits_has_not_raised_its_demand() {
        let mut bench = bench(&[("fairing_cycles", Value::Number(1.0))]);
        decide(&mut bench, MEDIUM | FAIRING);
        acknowledge_bits(&mut bench, OVER);
        for _ in 0..2 {
            acknowledge(&mut bench, LIGHT, true);
            bench.wake();
        }
        acknowledge(&mut bench, OVER, true);
        decide(&mut bench, MEDIUM);
        decide(&mut bench, MEDIUM);
        assert!(!requests(&mut bench), "an overload came between the low demand and the full use");
    }

    /// Users of a link in the model of Chiu and Jain: all receive the load of their sum after each decision.
    struct Model {
        users: Vec<SenderBench>,
        capacity: f64,
    }

    impl Model {
        fn rates(&self) -> Vec<f64> {
            self.users.iter().map(|user| user.law.permit().pace.unwrap().as_f64()).collect()
        }

        /// Fairness at the next overload, at which all users halve their rates.
        fn next_peak(&mut self) -> f64 {
            loop {
                let rates = self.rates();
                if rates.iter().sum::<f64>() > self.capacity {
                    self.users.iter_mut().for_each(|user| acknowledge_bits(user, OVER | FAIRING));
                    let (least, most) =
                        rates.iter().fold((f64::MAX, 0.0_f64), |(l, m), rate| (l.min(*rate), m.max(*rate)));
                    return least / most;
                }
                self.users.iter_mut().for_each(|user| decide(user, MEDIUM | FAIRING));
            }
        }
    }

    /// Users of C = 100 Mbit/s: a new flow at 80 kbit/s, and n - 1 others at C / (n - 1).
    fn new_flow_among(n: u32) -> Model {
        let capacity = 100e6;
        let mut users = vec![SenderBench::new(&Mcp, &[], Span::from_millis(40))];
        for _ in 1..n {
            let mut user = SenderBench::new(&Mcp, &[], Span::from_millis(40));
            while user.law.permit().pace.unwrap().as_f64() < capacity / f64::from(n - 1) {
                decide(&mut user, HEAVY | FAIRING);
            }
            users.push(user);
        }
        Model { users, capacity }
    }

    #[test]
    fn fairness_rises_from_peak_to_peak_as_in_the_model_of_chiu_and_jain() {
        // F at t0 .. t7, from tests/reference/mcp_chiu_jain.py. A step of 80 kbit/s that is coarse shifts the peaks.
        let rows = [
            (2, 1e-3, [0.0008, 0.3342, 0.6007, 0.7782, 0.8826, 0.9395, 0.9693, 0.9845]),
            (10, 5e-3, [0.0072, 0.4794, 0.7332, 0.8649, 0.9320, 0.9659, 0.9829, 0.9915]),
        ];
        for (n, tolerance, expected) in rows {
            let mut model = new_flow_among(n);
            for (k, theory) in expected.iter().enumerate() {
                let fairness = model.next_peak();
                assert!((fairness - theory).abs() < tolerance, "n = {n}, t{k}: {fairness} {theory}");
                // Eq. (12) from 0 is (2^k - 1) / (2^k + 1), a lower bound.
                let power = 2_f64.powi(k as i32);
                assert!(fairness > (power - 1.0) / (power + 1.0) - 1e-3, "n = {n}, t{k}: {fairness}");
            }
        }
    }
}
