//! ACP as differential equations: the rate (1) and the estimate (8) of a router, the window (4) of a sender.

use super::link::{HALF, join_factor, users_gap};
use super::params::{DELAYED_INCREASE, INITIAL_WINDOW, RouterParams, Users};
use super::sender::LEAST_PACKETS;
use crate::parts::capped_rate;
use crate::parts::mean_rtt::mean_rtt;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, LawState, LinkEquilibrium, LinkInput, LinkLaws,
    LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, greatest, link_law,
    sender_law,
};
use millpond_law::{LinkFacts, Settings};

/// The fluid model of ACP.
pub(super) struct AcpFluid {
    delayed_increase: f64,
    /// In packets.
    initial_window: f64,
    router: RouterParams,
}

impl AcpFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            delayed_increase: settings.get(DELAYED_INCREASE),
            initial_window: settings.get(INITIAL_WINDOW),
            router: RouterParams::read(settings),
        }
    }
}

impl FluidModel for AcpFluid {
    /// Without the delayed increase a sender adopts the desired rate at once, as in (16)-(20) of the paper.
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (delayed_increase, least) = (self.delayed_increase, LEAST_PACKETS * facts.packet);
        let initial = self.initial_window * facts.packet;
        match (delayed_increase >= 1.0, self.router.users) {
            (true, Users::Estimated) => sender_law(Prompt::<false> { least }),
            (true, Users::Counted) => sender_law(Prompt::<true> { least }),
            (false, Users::Estimated) => sender_law(Gradual::<false> { delayed_increase, initial, least }),
            (false, Users::Counted) => sender_law(Gradual::<true> { delayed_increase, initial, least }),
        }
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        Some(match self.router.users {
            Users::Estimated => link_law(Router::<false>(self.router)),
            Users::Counted => link_law(Router::<true>(self.router)),
        })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: 1.0 }
    }

    fn left_out(&self) -> &'static [&'static str] {
        if self.delayed_increase >= 1.0 { &LEFT_OUT } else { &LEFT_OUT[..LEFT_OUT.len() - 1] }
    }
}

/// What the equations leave out; the last one only without the delayed increase.
const LEFT_OUT: [&str; 5] = [
    "control periods",
    "the persistence of the queue",
    "the reduction after a loss",
    "the last mean round-trip time of a link without traffic, which has initial_interval",
    "the first-order filter of Eq. (4), which packets have without the delayed increase as well",
];

const FEEDBACK_INPUTS: &[Feedback] = &[
    Feedback { name: "desired rate", unit: "bit/s", over_path: PathAggregation::Min },
    Feedback { name: "congested", unit: "1", over_path: PathAggregation::Max },
];
const RATE_TIMES_RTT: Quantity = Quantity { name: "rate times round-trip time", unit: "bit" };
const CARRIED: &[Quantity] = &[RATE_TIMES_RTT];
/// With `users = "counted"`.
const CARRIED_AND_COUNTED: &[Quantity] = &[RATE_TIMES_RTT, Quantity { name: "flows", unit: "1" }];

/// Eq. (3): the desired window, in bits.
fn desired_window<T: Number>(input: &SenderInput<'_, T>) -> T {
    input.feedback[0] * input.base_rtt
}

/// Eq. (4), one window of acknowledgements per round trip: `w' = g (desired - w) / rtt`.
struct Gradual<const COUNTED: bool> {
    delayed_increase: f64,
    /// Initial window, in bits.
    initial: f64,
    /// Smallest window, in bits.
    least: f64,
}

impl<const COUNTED: bool> FluidSender for Gradual<COUNTED> {
    const GROWS_UNUSED: bool = true;
    const FEEDBACK: &'static [Feedback] = FEEDBACK_INPUTS;
    const CARRIED: &'static [Quantity] = if COUNTED { CARRIED_AND_COUNTED } else { CARRIED };
    const GUARDS: &'static [&'static str] = &["desired window less window", "congested"];

    fn states(&self) -> Vec<State> {
        vec![State::new("window", "bit", self.initial).within(self.least, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let gap = desired_window(input) - x[0];
        let is_delayed = gap > 0.0 && input.feedback[1] > 0.5;
        dx[0] = gap / input.rtt() * if is_delayed { self.delayed_increase } else { 1.0 };
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt()
    }

    fn carried<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = x[0];
        if COUNTED {
            carried[1] = T::one();
        }
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = desired_window(input) - x[0];
        guards[1] = input.feedback[1] - 0.5;
    }
}

/// The window equals the desired window.
struct Prompt<const COUNTED: bool> {
    /// Smallest window, in bits.
    least: f64,
}

impl<const COUNTED: bool> Prompt<COUNTED> {
    fn window<T: Number>(&self, input: &SenderInput<'_, T>) -> T {
        greatest(desired_window(input), T::from(self.least))
    }
}

impl<const COUNTED: bool> FluidSender for Prompt<COUNTED> {
    const FEEDBACK: &'static [Feedback] = FEEDBACK_INPUTS;
    const CARRIED: &'static [Quantity] = if COUNTED { CARRIED_AND_COUNTED } else { CARRIED };
    const GUARDS: &'static [&'static str] = &["desired window less the least"];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        self.window(input) / input.rtt()
    }

    fn carried<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = self.window(input);
        if COUNTED {
            carried[1] = T::one();
        }
    }

    fn guards<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = desired_window(input) - self.least;
    }
}

/// Eq. (1): `p' = (ki (.99 C - y) - kq q / d) / (d N-hat)`; Eq. (8) once per d, with p and y in bytes/s. `COUNTED`: the number
/// of flows in place of N-hat, and a new flow lowers p.
struct Router<const COUNTED: bool>(RouterParams);

/// The discrete state of a router that counts: the number of its flows.
const COUNTED_FLOWS: Quantity = Quantity { name: "counted flows", unit: "1" };

const BITS: f64 = 8.0;

impl<const COUNTED: bool> Router<COUNTED> {
    fn mean_rtt<T: Number>(&self, input: &LinkInput<'_, T>) -> T {
        let RouterParams { initial_interval, min_interval, max_rtt, .. } = self.0;
        mean_rtt(input, initial_interval, min_interval, max_rtt)
    }
}

impl<const COUNTED: bool> FluidLink for Router<COUNTED> {
    const SIGNALS: &'static [Quantity] =
        &[Quantity { name: "desired rate", unit: "bit/s" }, Quantity { name: "congested", unit: "1" }];
    const GUARDS: &'static [&'static str] = if COUNTED {
        &[
            "input less the congestion threshold",
            capped_rate::GUARDS[0],
            capped_rate::GUARDS[1],
            "a flow joins",
            "a flow leaves",
        ]
    } else {
        &["input less the congestion threshold", capped_rate::GUARDS[0], capped_rate::GUARDS[1]]
    };
    const DISCRETE: &'static [Quantity] = if COUNTED { &[COUNTED_FLOWS] } else { &[] };

    fn states(&self) -> Vec<State> {
        vec![
            State::new("desired rate", "bit/s", 0.0).within(0.0, f64::INFINITY),
            State::new("estimated users", "1", self.0.initial_users).within(1.0, f64::INFINITY),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let (params, d) = (&self.0, self.mean_rtt(input));
        let spare = (-input.arriving + params.target_utilization * input.capacity) * params.ki;
        let users = if COUNTED { T::from(input.discrete[0].max(1) as f64) } else { x[1] };
        let moves = (spare - input.queue * params.kq / d) / (d * users);
        dx[0] = capped_rate::derivative(x[0], input.capacity, moves);
        dx[1] = users_gap(params, x[1], x[0] / BITS, input.arriving / BITS) * params.gamma / d;
    }

    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
        signals[1] = T::from(f64::from(input.load() > self.0.congestion_threshold));
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium {
            utilization: self.0.target_utilization,
            queue: Some(0.0),
            ..LinkEquilibrium::default()
        }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.load() - self.0.congestion_threshold;
        [guards[1], guards[2]] = capped_rate::guards(x[0], input.capacity);
        if COUNTED {
            let more = input.carried[1] - input.discrete[0] as f64;
            (guards[3], guards[4]) = (more - HALF, more + HALF);
        }
    }

    /// Eq. (7): at most C, also after a change of C.
    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        if guard == 2 && is_rising {
            state.x[0] = capped_rate::after_change(state.x[0], input.capacity);
        }
        if COUNTED && matches!((guard, is_rising), (3, true) | (4, false)) {
            let (before, now) = (input.discrete[0] as f64, input.carried[1].max(0.0).round());
            state.x[0] *= join_factor(before, now);
            state.discrete[0] = now as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, carried, flow, inputs, link, near, one_link, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.08;

    fn model(written: &[(&'static str, Value)]) -> AcpFluid {
        AcpFluid::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap())
    }

    /// The derivative of a window of 10 packets whose path desires `rate`.
    fn slope(senders: &dyn SenderLaws, rate: f64, congested: f64) -> f64 {
        let seen = inputs(senders, D, |i| i.feedback.copy_from_slice(&[rate, congested]));
        flow(senders, &[10.0 * PACKET], &seen).0[0]
    }

    #[test]
    fn a_window_approaches_the_desired_window_in_one_round_trip_or_ten_if_congested() {
        let senders = model(&[]).sender(&one_loop(D));
        // 3 Mbit/s times 80 ms are 30 packets.
        assert!(near(slope(&*senders, 3e6, 0.0), 20.0 * PACKET / D));
        assert!(near(slope(&*senders, 3e6, 1.0), 2.0 * PACKET / D));
        assert!(near(slope(&*senders, 0.5e6, 1.0), -5.0 * PACKET / D));
        let seen = inputs(&*senders, D, |i| i.queueing[0] = 0.02);
        let (_, rate) = flow(&*senders, &[10.0 * PACKET], &seen);
        assert!(near(rate, 10.0 * PACKET / 0.1));
        assert!(near(carried(&*senders, &[10.0 * PACKET], &seen)[0], rate * 0.1));
    }

    #[test]
    fn without_the_delayed_increase_the_rate_is_the_desired_rate() {
        let senders = model(&[("delayed_increase", Value::Number(1.0))]).sender(&one_loop(D));
        let seen = |rate: f64| inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[rate, 1.0]));
        assert!(near(flow(&*senders, &[], &seen(3e6)).1, 3e6));
        assert!(near(flow(&*senders, &[], &seen(0.0)).1, PACKET / D), "at least a packet per round trip");
        let left_out = |gain: f64| model(&[("delayed_increase", Value::Number(gain))]).left_out();
        assert_eq!((left_out(0.99).len(), left_out(1.0).len()), (4, 5));
        assert!(left_out(1.0)[4].starts_with("the first-order filter of Eq. (4)"));
    }

    #[test]
    fn a_router_follows_equations_1_and_8_computed_by_hand() {
        let router = model(&[]).link(&one_link()).unwrap();
        // Two flows of 3 Mbit/s and 80 ms, one of 1 Mbit/s and 160 ms: 7 Mbit/s, d = .64/7 s; a queue of 10 packets.
        let d = (6e6 * 0.08 + 1e6 * 0.16) / 7e6;
        let (dx, signals) = link(&*router, &[2e6, 4.0], &[6e6 * 0.08 + 1e6 * 0.16], |i| {
            (i.arriving[0], i.own_arriving[0], i.queue[0]) = (7e6, 7e6, 10.0 * PACKET);
        });
        let rate = (0.1587 * (0.99 * 8e6 - 7e6) - 0.3175 * 80e3 / d) / (d * 4.0);
        // p^2 / (1 + p^2) is one in bytes/s: N-hat goes to y / p = 3.5.
        let users = 0.1 * (3.5 - 4.0) / d;
        assert!((dx[0] / rate - 1.0).abs() < 1e-9 && (dx[1] / users - 1.0).abs() < 1e-9, "{dx:?}");
        assert_eq!(signals, [2e6, 0.0]);
    }

    #[test]
    fn a_router_has_its_equilibrium_at_the_target_and_a_desired_rate_of_at_most_its_capacity() {
        let router = model(&[]).link(&one_link()).unwrap();
        let full = |p: f64, n: f64, y: f64| {
            link(&*router, &[p, n], &[y * D], |i| (i.arriving[0], i.own_arriving[0]) = (y, y))
        };
        let (dx, signals) = full(1.98e6, 4.0, 0.99 * 8e6);
        assert!(dx.iter().all(|dx| dx.abs() < 1e-6), "{dx:?}");
        assert_eq!(signals[1], 1.0, "99 % is more than 95");
        assert_eq!(full(8e6, 1.0, 4e6).0[0], 0.0);
        assert!(full(8e6, 1.0, 9e6).0[0] < 0.0);
    }

    #[test]
    fn the_gain_changes_where_the_window_is_the_desired_one_and_where_congestion_is_signalled() {
        let senders = model(&[]).sender(&one_loop(D));
        let guards = |rate: f64, congested: f64| {
            let seen = inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[rate, congested]));
            let mut guards = [f64::NAN; 2];
            senders.guards(0, &[10.0 * PACKET], &seen.flow(0), &mut guards);
            guards.map(|guard| guard > 0.0)
        };
        // 10 packets in 80 ms are 1 Mbit/s.
        let at =
            [(0.9e6, 0.0), (1.1e6, 0.0), (0.9e6, 1.0), (1.1e6, 1.0)].map(|(rate, bit)| guards(rate, bit));
        assert_eq!(at, [[false, false], [true, false], [false, true], [true, true]]);
    }

    #[test]
    fn a_router_begins_with_the_initial_estimate_and_its_rate_falls_with_the_capacity() {
        let router = model(&[]).link(&one_link()).unwrap();
        let initial: Vec<f64> = router.states(0).iter().map(|state| state.initial).collect();
        assert_eq!(initial, [0.0, 10.0]);
        let mut inputs = millpond_law::fluid::LinkInputs::of(&*router, 0..1, 1);
        inputs.capacity[0] = 6e6;
        for (rate, after) in [(8e6, 6e6), (5e6, 5e6)] {
            let mut x = [rate, 10.0];
            let state = &mut LawState { x: &mut x, discrete: &mut [] };
            router.crossed(0, 2, true, state, &inputs.link(0));
            assert_eq!(x[0], after);
        }
    }

    #[test]
    fn the_estimate_has_its_unit_and_may_stay_without_traffic() {
        let slope = |written: &[(&'static str, Value)], rate: f64, arriving: f64| {
            let router = model(written).link(&one_link()).unwrap();
            let (dx, _) = link(&*router, &[rate, 4.0], &[arriving * D], |i| {
                (i.arriving[0], i.own_arriving[0]) = (arriving, arriving);
            });
            dx[1]
        };
        let mbit = [("estimator_unit", Value::text("Mbit/s"))];
        // At 1 Mbit/s p^2 / (1 + p^2) is one half in that unit: from 4 to 3.
        assert!(near(slope(&[], 1e6, 3e6), -0.1 / D) && near(slope(&mbit, 1e6, 3e6), -0.05 / D));
        let stays = [("idle_estimate", Value::text("stays"))];
        // Without traffic the period is 50 ms.
        assert!(near(slope(&[], 1e6, 0.0), -0.4 / 0.05) && slope(&stays, 1e6, 0.0) == 0.0);
        assert!(near(slope(&stays, 1e6, 3e6), -0.1 / D));
    }

    #[test]
    fn a_counted_router_divides_by_its_flows_and_a_new_flow_lowers_the_rate() {
        let model = model(&[("users", Value::text("counted"))]);
        let router = model.link(&one_link()).unwrap();
        let mut inputs = millpond_law::fluid::LinkInputs::of(&*router, 0..1, 2);
        (inputs.capacity[0], inputs.discrete[0]) = (8e6, 4);
        (inputs.arriving[0], inputs.own_arriving[0]) = (4e6, 4e6);
        inputs.carried.copy_from_slice(&[4e6 * D, 4.0]);
        let mut dx = [f64::NAN; 2];
        // The estimate of ten has no effect.
        router.derivatives(0, &[1e6, 10.0], &inputs, &mut dx);
        assert!(near(dx[0], 0.1587 * (0.99 * 8e6 - 4e6) / (D * 4.0)), "{dx:?}");
        // A fifth flow, and then only three.
        for (flows, guard, rate) in [(5.0, 3, 0.8e6), (3.0, 4, 1e6)] {
            inputs.carried[1] = flows;
            let (mut x, mut discrete) = ([1e6, 10.0], [4]);
            let state = &mut LawState { x: &mut x, discrete: &mut discrete };
            router.crossed(0, guard, guard == 3, state, &inputs.link(0));
            assert!(near(x[0], rate) && discrete == [flows as u64], "{flows}: {x:?} {discrete:?}");
        }
        let senders = model.sender(&one_loop(D));
        let seen = self::inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[2e6, 0.0]));
        assert_eq!(carried(&*senders, &[1e5], &seen), [1e5, 1.0]);
    }
}
