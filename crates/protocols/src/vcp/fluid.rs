//! VCP as a hybrid system: windows that grow multiplicatively, additively or not at all, and routers that measure in
//! intervals.

use super::header::Load;
use super::link::{encode, load_factor, persisting};
use super::params::{RouterParams, SenderParams};
use super::sender::{LEAST_PACKETS, additive_increase, multiplicative_increase};
use millpond_law::fluid::{
    Allocation, Cycle, CyclePeak, Feedback, FluidLink, FluidModel, FluidSender, LawState, LinkInput,
    LinkLaws, LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, SteadyStateFacts,
    link_law, sender_law,
};
use millpond_law::{LinkFacts, Settings};

/// The fluid model of VCP.
pub(super) struct VcpFluid {
    sender: SenderParams,
    router: RouterParams,
}

impl VcpFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self { sender: SenderParams::read(settings), router: RouterParams::read(settings) }
    }
}

impl FluidModel for VcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source { params: self.sender, packet: facts.packet, weight: facts.weight })
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        Some(link_law(Router(self.router)))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "windows grow until an overload and are then reduced: they oscillate and have no equilibrium",
        }
    }

    fn steady_state(&self, facts: &LoopFacts) -> SteadyStateFacts {
        SteadyStateFacts {
            limit_cycle: Some("windows grow additively until an overload, and then are reduced by a factor"),
            cycle: Some(Box::new(Regrowth {
                sender: self.sender,
                router: self.router,
                weight: facts.weight,
            })),
            ..SteadyStateFacts::default()
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["the reduction after a loss"]
    }
}

/// An interval in which the window is constant after a reduction, then additive increase until an interval with an
/// overload has ended.
struct Regrowth {
    sender: SenderParams,
    router: RouterParams,
    weight: f64,
}

impl Cycle for Regrowth {
    fn period(&self, peak: &CyclePeak) -> f64 {
        let interval = self.router.interval.secs();
        let per_round = additive_increase(&self.sender, peak.rtt) * self.weight;
        let grows = peak.growth_time(self.sender.beta * peak.window, peak.window, per_round);
        (libm::ceil(grows / interval) + 1.0) * interval
    }

    fn kept(&self, _peak: &CyclePeak) -> f64 {
        self.sender.beta
    }

    fn load(&self) -> f64 {
        self.router.target_utilization
    }
}

/// Index of each state.
mod at {
    pub(super) const WINDOW: usize = 0;
    pub(super) const FREEZE: usize = 1;
    pub(super) const ADD: usize = 2;
}

/// Loads above this value are overload.
const OVER: f64 = Load::Over as u8 as f64 - 0.5;
/// Loads above this value are high load.
const HIGH: f64 = Load::High as u8 as f64 - 0.5;

/// Eqs. (2) to (4), (7) and (8): per acknowledged byte, `w` grows by a share of it (low load) or by packets (high
/// load). At an overload it is reduced, constant for an interval, grows additively for a round trip, and may be reduced
/// again. Timers decrease; a negative timer has expired.
struct Source {
    params: SenderParams,
    /// Packet size, in bits.
    packet: f64,
    weight: f64,
}

impl Source {
    fn cut(&self, x: &mut [f64], input: &SenderInput<'_, f64>) {
        x[at::WINDOW] = (x[at::WINDOW] * self.params.beta).max(LEAST_PACKETS * self.packet);
        x[at::FREEZE] = self.params.interval.secs();
        x[at::ADD] = x[at::FREEZE] + input.rtt();
    }
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "load", unit: "1", over_path: PathAggregation::Max }];
    const GUARDS: &'static [&'static str] =
        &["overload", "high load", "remaining freeze time", "remaining time until the next reduction"];

    fn states(&self) -> Vec<State> {
        let (initial, least) = (self.params.initial_window * self.packet, LEAST_PACKETS * self.packet);
        vec![
            State::new("window", "bit", initial).within(least, f64::INFINITY),
            State::new("remaining freeze time", "s", -1.0),
            State::new("remaining time until the next reduction", "s", -1.0),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let rtt = input.rtt();
        let load = input.feedback[0];
        let adds = load > HIGH && (load < OVER || x[at::FREEZE] <= 0.0 && x[at::ADD] > 0.0);
        dx[at::WINDOW] = if load < HIGH {
            input.acked * multiplicative_increase(&self.params, rtt)
        } else if adds {
            input.acked / x[at::WINDOW] * additive_increase(&self.params, rtt) * (self.weight * self.packet)
        } else {
            T::zero()
        };
        dx[at::FREEZE] = -T::one();
        dx[at::ADD] = -T::one();
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[at::WINDOW] / input.rtt()
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.feedback[0] - OVER;
        guards[1] = input.feedback[0] - HIGH;
        guards[2] = x[at::FREEZE];
        guards[3] = x[at::ADD];
    }

    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        let begins = guard == 0 && is_rising && state.x[at::ADD] <= 0.0;
        let lasts = guard == 3 && !is_rising && input.feedback[0] > OVER;
        if begins || lasts {
            self.cut(state.x, input);
        }
    }
}

/// Eq. (1), once per interval.
struct Router(RouterParams);

/// Index of each state.
mod of {
    pub(super) const ARRIVED: usize = 0;
    pub(super) const QUEUED: usize = 1;
    pub(super) const PERSISTENT: usize = 2;
}

/// Index of its discrete state: the signalled load.
const LOAD: usize = 0;

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "load", unit: "1" }];
    const DISCRETE: &'static [Quantity] = &[Quantity { name: "signalled load", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![
            State::new("arrived in this interval", "bit", 0.0),
            State::new("queue times time in this interval", "bit s", 0.0),
            State::new("persistent queue", "bit", 0.0),
        ]
    }

    fn initial_discrete(&self, discrete: &mut [u64]) {
        discrete[LOAD] = Load::Low as u64;
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx.fill(T::zero());
        dx[of::ARRIVED] = input.arriving;
        dx[of::QUEUED] = input.queue;
    }

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = T::from(input.discrete[LOAD] as f64);
    }

    fn ticks(&self) -> bool {
        true
    }

    fn period(&self, _x: &[f64], _input: &LinkInput<'_, f64>) -> Option<f64> {
        Some(self.0.interval.secs())
    }

    fn tick(&self, LawState { x, discrete }: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        let mean = x[of::QUEUED] / self.0.interval.secs();
        x[of::PERSISTENT] = persisting(x[of::PERSISTENT], mean);
        let load_factor = load_factor(&self.0, x[of::ARRIVED], x[of::PERSISTENT], input.capacity);
        (x[of::ARRIVED], x[of::QUEUED]) = (0.0, 0.0);
        discrete[LOAD] = encode(&self.0, load_factor) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fluid::{PACKET, flow, inputs, near, one_link, one_loop};
    use crate::vcp::params::PARAMETERS;
    use millpond_law::fluid::{LinkInputs, SenderInputs};

    const D: f64 = 0.1;
    const WINDOW: f64 = 20.0 * PACKET;
    const ACKED: f64 = WINDOW / D;

    fn model() -> VcpFluid {
        VcpFluid::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    fn seen(senders: &dyn SenderLaws, load: Load) -> SenderInputs {
        inputs(senders, D, |i| (i.acked[0], i.feedback[0]) = (ACKED, f64::from(load as u8)))
    }

    /// The growth of a window of 20 packets in a round trip of 100 ms, in packets; timers in seconds.
    fn grows(load: Load, freeze: f64, add: f64) -> f64 {
        let senders = model().sender(&one_loop(D));
        flow(&*senders, &[WINDOW, freeze, add], &seen(&*senders, load)).0[0] * D / PACKET
    }

    #[test]
    fn a_window_grows_multiplicatively_additively_or_not_at_all_depending_on_the_load() {
        // Half an interval: sqrt(1.0625) - 1 of 20 packets.
        assert!(near(grows(Load::Low, -1.0, -1.0), 20.0 * (libm::sqrt(1.0625) - 1.0)));
        assert!(near(grows(Load::High, -1.0, -1.0), 1.0), "one packet per reference round trip");
        assert_eq!(grows(Load::Over, 0.1, 0.2), 0.0);
        assert!(near(grows(Load::Over, -0.05, 0.05), 1.0), "after the freeze it adds for a round trip");
    }

    #[test]
    fn an_overload_cuts_once_and_again_if_it_lasts_longer_than_interval_and_round_trip() {
        let senders = model().sender(&one_loop(D));
        let over = seen(&*senders, Load::Over);
        let cross = |guard: usize, is_rising: bool, add: f64| {
            let mut x = [WINDOW, -1.0, add];
            let state = &mut LawState { x: &mut x, discrete: &mut [] };
            senders.crossed(0, guard, is_rising, state, &over.flow(0));
            (x[0] / PACKET, x[1], x[2])
        };
        let (window, freeze, add) = cross(0, true, -1.0);
        assert!(near(window, 17.5) && near(freeze, 0.2) && near(add, 0.3), "{window} {freeze} {add}");
        assert_eq!(cross(0, true, 0.1).0, 20.0, "it has just been reduced");
        assert!(near(cross(3, false, 0.0).0, 17.5));
        assert_eq!(cross(3, true, 0.3).0, 20.0, "the timer was set and has not expired");
    }

    #[test]
    fn a_router_signals_the_load_of_its_last_interval() {
        let router = model().link(&one_link()).unwrap();
        let inputs = LinkInputs { capacity: vec![8e6], ..LinkInputs::of(&*router, 0..1, 0) };
        // A load of one is 98 % of 1.6 Mbit.
        for (share, queued, load) in [
            (0.79, 0.0, Load::Low),
            (0.81, 0.0, Load::High),
            (1.01, 0.0, Load::Over),
            (0.99, 0.2, Load::Over),
        ] {
            // A quarter of the mean queue becomes persistent, and half of that counts.
            let (mut x, mut discrete) = ([share * 1.568e6, queued * 1.568e6 * 0.2, 0.0], [Load::Low as u64]);
            router.tick(0, &mut LawState { x: &mut x, discrete: &mut discrete }, &inputs.link(0));
            assert_eq!(discrete, [load as u64], "{share} {queued}");
            let mut signals = [0.0];
            router.signals(
                0,
                &x,
                &LinkInputs { discrete: discrete.to_vec(), ..inputs.clone() },
                &mut signals,
            );
            assert_eq!(signals, [f64::from(load as u8)]);
            assert!(near(x[of::PERSISTENT], queued * 1.568e6 / 4.0));
        }
    }
}
