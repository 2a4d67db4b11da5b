//! MCP as a hybrid system: rates that are constant between decisions, and the automaton of Fig. 2.

use super::automaton::{Automaton, Mode};
use super::fairing::FairingRequest;
use super::header::Load;
use super::link::{PERIODS_OF_FAIRING, utilization};
use super::params::{OVERLOAD, OverloadSeen, PERIOD, Ranges, SenderParams};
use crate::parts::interval;
use millpond_law::fluid::{
    Allocation, Cycle, CyclePeak, Feedback, FluidLink, FluidModel, FluidSender, LinkEquilibrium, LinkInput,
    LinkLaws, LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, SteadyStateFacts,
    link_law, positive, sender_law,
};
use millpond_law::{LinkFacts, SettingError, Settings};

/// The fluid model of MCP.
pub(super) struct McpFluid {
    sender: SenderParams,
    router: Router,
}

impl McpFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let period = interval::checked(PERIOD, settings.get(PERIOD))?.secs();
        let router = Router { period, ranges: Ranges::read(settings)?, overload: settings.get(OVERLOAD) };
        Ok(Self { sender: SenderParams::read(settings), router })
    }
}

impl FluidModel for McpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source { params: self.sender, weight: facts.weight })
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        Some(link_law(self.router))
    }

    /// Valid while flows request fairing.
    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: facts.weight }
    }

    fn steady_state(&self, facts: &LoopFacts) -> SteadyStateFacts {
        SteadyStateFacts {
            limit_cycle: Some(
                "while a flow requests fairing, all rates grow by steps until an overload halves them; when the requests have \
                 ended, rates are constant",
            ),
            cycle: Some(Box::new(FairingCycle {
                params: self.sender,
                weight: facts.weight,
                overload: self.router.overload,
            })),
            ..SteadyStateFacts::default()
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["timeouts", "an immediate overload signal for a flow that begins in an overload"]
    }
}

/// Additive increase from the rate after a reduction to that at the next overload, a step per decision.
struct FairingCycle {
    params: SenderParams,
    weight: f64,
    overload: f64,
}

impl Cycle for FairingCycle {
    fn period(&self, peak: &CyclePeak) -> f64 {
        let SenderParams { decrease_factor, step, decision_interval, .. } = self.params;
        let steps = (1.0 - decrease_factor) * peak.rate() / (step * self.weight);
        (libm::ceil(steps) + 1.0) * decision_interval.secs()
    }

    fn kept(&self, _peak: &CyclePeak) -> f64 {
        self.params.decrease_factor
    }

    fn load(&self) -> f64 {
        self.overload
    }
}

/// Index of each state.
mod at {
    pub(super) const RATE: usize = 0;
    pub(super) const MODE: usize = 1;
    pub(super) const LEFT: usize = 2;
    pub(super) const GREW: usize = 3;
    pub(super) const STEPS_BACK: usize = 4;
    pub(super) const DECISION: usize = 5;
}

/// Loads above this value are overload.
const NASCENT: f64 = Load::Over as u8 as f64 - 0.5;
/// Threshold between false (0) and true (1).
const HALF: f64 = 0.5;

/// The automaton; its memory is stored in states.
struct Source {
    params: SenderParams,
    weight: f64,
}

impl Source {
    fn load_automaton(&self, x: &[f64]) -> Automaton {
        let request = FairingRequest::resumed(self.params.halvings, x[at::LEFT] as u64, x[at::GREW] > HALF);
        Automaton {
            params: self.params,
            weight: self.weight,
            rate: x[at::RATE],
            mode: Mode::numbered(x[at::MODE]),
            request,
            steps_back: x[at::STEPS_BACK] as u32,
        }
    }

    fn store_automaton(automaton: &Automaton, x: &mut [f64]) {
        x[at::RATE] = automaton.rate;
        x[at::MODE] = f64::from(automaton.mode as u8);
        x[at::LEFT] = automaton.request.left() as f64;
        x[at::GREW] = f64::from(u8::from(automaton.request.grew()));
        x[at::STEPS_BACK] = f64::from(automaton.steps_back);
    }

    /// A flow that requests fairing also receives its own request.
    fn decide(automaton: &mut Automaton, input: &SenderInput<'_, f64>) {
        let load = load(input.feedback[0]);
        let fairing = input.feedback[1] > HALF || automaton.request.is_active();
        if load == Load::Over { automaton.decrease() } else { automaton.increase(load, fairing, true) }
    }
}

/// The load for a number.
fn load(number: f64) -> Load {
    match number {
        n if n > NASCENT => Load::Over,
        n if n > NASCENT - 1.0 => Load::Heavy,
        n if n > NASCENT - 2.0 => Load::Medium,
        _ => Load::Light,
    }
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] = &[
        Feedback { name: "load", unit: "1", over_path: PathAggregation::Max },
        Feedback { name: "fairing", unit: "1", over_path: PathAggregation::Max },
    ];
    const CARRIED: &'static [Quantity] = &[Quantity { name: "requests for fairing", unit: "1" }];
    const GUARDS: &'static [&'static str] =
        &["nascent overload", "time until the next decision", "fairing is signalled"];

    fn states(&self) -> Vec<State> {
        let interval = self.params.decision_interval.secs();
        vec![
            State::new("rate", "bit/s", self.params.initial_rate),
            State::new("mode", "1", f64::from(Mode::Scaling as u8)),
            State::new("fairing cycles left", "cycles", self.params.halvings as f64),
            State::new("grew in the fairing mode", "1", 0.0),
            State::new("consecutive steps back", "1", 0.0),
            State::new("time until the next decision", "s", interval),
        ]
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx.fill(T::zero());
        dx[at::DECISION] = -T::one();
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[at::RATE]
    }

    fn carried<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = if x[at::LEFT] > HALF { T::one() } else { T::zero() };
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.feedback[0] - NASCENT;
        guards[1] = x[at::DECISION];
        guards[2] = input.feedback[1] - HALF;
    }

    /// A nascent overload is answered at once; everything else waits for the timer (section IV-H).
    fn crossed(&self, guard: usize, is_rising: bool, x: &mut [f64], input: &SenderInput<'_, f64>) {
        let mut automaton = self.load_automaton(x);
        match (guard, is_rising) {
            (0, true) if self.params.overload_seen == OverloadSeen::AtOnce => automaton.decrease(),
            (0, true) => return,
            (0, false) => automaton.steps_back = 0,
            (1, false) => Self::decide(&mut automaton, input),
            (2, true) => automaton.receive(load(input.feedback[0]), true),
            _ => return,
        }
        Self::store_automaton(&automaton, x);
        if matches!((guard, is_rising), (0, true) | (1, false)) {
            x[at::DECISION] = self.params.decision_interval.secs();
        }
    }
}

/// Eq. (1) over a period, and the requests that are passed on.
#[derive(Clone, Copy)]
struct Router {
    /// T, in seconds.
    period: f64,
    ranges: Ranges,
    /// Smallest load of an overload.
    overload: f64,
}

/// Rate at which the minimum queue follows a shorter queue, in 1/period.
const FOLLOWS: f64 = 100.0;

/// Index of each state.
mod of {
    pub(super) const ARRIVED: usize = 0;
    pub(super) const LEAST_QUEUE: usize = 1;
    pub(super) const LOAD: usize = 2;
    pub(super) const FAIRING: usize = 3;
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] =
        &[Quantity { name: "load", unit: "1" }, Quantity { name: "fairing", unit: "1" }];
    const GUARDS: &'static [&'static str] = &["a request arrives", "least queue less queue"];

    fn states(&self) -> Vec<State> {
        vec![
            State::new("arrived in this period", "bit", 0.0),
            State::new("least queue of this period", "bit", 0.0),
            State::new("signalled load", "1", f64::from(Load::Light as u8)),
            State::new("periods of fairing left", "1", 0.0),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[of::ARRIVED] = input.arriving;
        dx[of::LEAST_QUEUE] = -positive(x[of::LEAST_QUEUE] - input.queue) * (FOLLOWS / self.period);
        dx[of::LOAD] = T::zero();
        dx[of::FAIRING] = T::zero();
    }

    /// Fairing is signalled by links with medium or heavy load.
    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        let is_fairing =
            matches!(load(x[of::LOAD].re()), Load::Medium | Load::Heavy) && x[of::FAIRING] > HALF;
        signals[0] = x[of::LOAD];
        signals[1] = T::from(f64::from(u8::from(is_fairing)));
    }

    /// The upper limit of the utilization; one or two steps back are below it.
    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { utilization: self.overload, queue: Some(0.0), ..LinkEquilibrium::default() }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.carried[0] - HALF;
        guards[1] = x[of::LEAST_QUEUE] - input.queue;
    }

    fn crossed(&self, guard: usize, is_rising: bool, x: &mut [f64], _input: &LinkInput<'_, f64>) {
        if guard == 0 && is_rising {
            x[of::FAIRING] = f64::from(PERIODS_OF_FAIRING);
        }
    }

    fn period(&self, _x: &[f64], _input: &LinkInput<'_, f64>) -> Option<f64> {
        Some(self.period)
    }

    fn tick(&self, x: &mut [f64], input: &LinkInput<'_, f64>) {
        let least = x[of::LEAST_QUEUE].min(input.queue);
        let load = self.ranges.load(utilization(x[of::ARRIVED], least, input.capacity, self.period));
        (x[of::ARRIVED], x[of::LEAST_QUEUE]) = (0.0, input.queue);
        x[of::LOAD] = f64::from(load as u8);
        let is_requested = input.carried[0] > HALF;
        x[of::FAIRING] =
            if is_requested { f64::from(PERIODS_OF_FAIRING) } else { (x[of::FAIRING] - 1.0).max(0.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::params::PARAMETERS;
    use crate::testing::fluid::{carried, flow, inputs, one_link, one_loop};
    use millpond_law::fluid::SenderInputs;

    const D: f64 = 0.04;

    fn model() -> McpFluid {
        McpFluid::read(&Settings::check(PARAMETERS, []).unwrap()).unwrap()
    }

    /// Rate and mode after a guard's crossing, for a flow with this rate and mode and with this load and fairing
    /// signal.
    fn after(rate: f64, mode: Mode, feedback: [f64; 2], guard: usize) -> (f64, Mode) {
        let senders = model().sender(&one_loop(D));
        let mut x = [rate, f64::from(mode as u8), 0.0, 0.0, 0.0, 0.0];
        let seen: SenderInputs = inputs(&*senders, D, |i| i.feedback.copy_from_slice(&feedback));
        senders.crossed(0, guard, guard == 0, &mut x, &seen.flow(0));
        assert_eq!(x[at::DECISION], 0.4, "the timer restarts");
        (x[at::RATE], Mode::numbered(x[at::MODE]))
    }

    #[test]
    fn at_a_decision_each_load_has_the_mode_and_the_rule_of_figure_2() {
        for (feedback, expected) in [
            ([0.0, 1.0], (16e6, Mode::Scaling)),
            ([1.0, 1.0], (8.08e6, Mode::Fairing)),
            ([1.0, 0.0], (8.8e6, Mode::Enhancing)),
            ([2.0, 0.0], (8.08e6, Mode::Smoothing)),
            ([3.0, 0.0], (4e6, Mode::Overloaded)),
        ] {
            let (rate, mode) = after(8e6, Mode::Enhancing, feedback, 1);
            assert!((rate - expected.0).abs() < 1.0 && mode == expected.1, "{feedback:?}: {rate} {mode:?}");
        }
        assert_eq!(after(8e6, Mode::Stable, [2.0, 0.0], 1), (8e6, Mode::Stable));
    }

    #[test]
    fn a_nascent_overload_halves_or_after_smoothing_steps_back() {
        assert_eq!(after(8e6, Mode::Fairing, [3.0, 1.0], 0), (4e6, Mode::Overloaded));
        assert_eq!(after(8e6, Mode::Smoothing, [3.0, 0.0], 0), (7.92e6, Mode::Stable));
    }

    #[test]
    fn a_new_flow_requests_fairing_until_seven_halvings_of_a_rate_that_grew() {
        let senders = model().sender(&one_loop(D));
        let mut x: Vec<f64> = senders.states(0).iter().map(|state| state.initial).collect();
        let heavy = inputs(&*senders, D, |i| i.feedback[0] = 2.0);
        for left in (0..7).rev() {
            assert_eq!(carried(&*senders, &x, &heavy), [1.0]);
            senders.crossed(0, 1, false, &mut x, &heavy.flow(0));
            assert_eq!(Mode::numbered(x[at::MODE]), Mode::Fairing);
            let over = inputs(&*senders, D, |i| i.feedback[0] = 3.0);
            senders.crossed(0, 0, true, &mut x, &over.flow(0));
            assert_eq!(x[at::LEFT], f64::from(left));
        }
        assert_eq!(carried(&*senders, &x, &heavy), [0.0]);
        let (dx, rate) = flow(&*senders, &x, &heavy);
        assert_eq!((rate, dx[at::RATE], dx[at::DECISION]), (x[at::RATE], 0.0, -1.0));
    }

    #[test]
    fn a_flow_with_a_fairing_signal_requests_fairing_itself_only_under_that_reading() {
        for (reading, left) in [("obeys", 0.0), ("asks", 7.0)] {
            let settings =
                Settings::check(PARAMETERS, [("notified", millpond_law::Value::text(reading))]).unwrap();
            let senders = McpFluid::read(&settings).unwrap().sender(&one_loop(D));
            let mut x = [8e6, f64::from(Mode::Stable as u8), 0.0, 0.0, 0.0, 0.3];
            let seen = inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[1.0, 1.0]));
            senders.crossed(0, 2, true, &mut x, &seen.flow(0));
            assert_eq!((x[at::LEFT], x[at::RATE], x[at::DECISION]), (left, 8e6, 0.3), "{reading}");
        }
    }

    /// The signals of a router of 8 Mbit/s after a period with this number of arrived bits.
    fn signals_after_period(arrived: f64, queue: f64, requests: f64, fairing: f64) -> Vec<f64> {
        use millpond_law::fluid::LinkInput;
        let router = model().link(&one_link()).unwrap();
        let input =
            LinkInput { capacity: 8e6, arriving: 0.0, own_arriving: 0.0, queue, carried: &[requests] };
        let mut x = [arrived, queue, 0.0, fairing];
        router.tick(0, &mut x, &input);
        assert_eq!((x[of::ARRIVED], x[of::LEAST_QUEUE]), (0.0, queue));
        x[of::LOAD..].to_vec()
    }

    #[test]
    fn a_router_measures_over_a_period_and_signals_requests_until_the_end_of_the_next() {
        // 1.6 Mbit fit into 200 ms; a queue that remained throughout counts.
        assert_eq!(signals_after_period(0.47 * 1.6e6, 0.0, 0.0, 0.0), [0.0, 0.0]);
        assert_eq!(signals_after_period(0.87 * 1.6e6, 0.02 * 1.6e6, 0.0, 0.0), [2.0, 0.0]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 1.0, 0.0), [3.0, 2.0]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 0.0, 2.0), [3.0, 1.0]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 0.0, 0.0), [3.0, 0.0]);
    }
}
