//! MCP as a hybrid system: rates that are constant between decisions, and the automaton of Fig. 2. With `step_share` links
//! count their flows and request the additive step.

use super::automaton::{Automaton, Mode};
use super::fairing::FairingRequest;
use super::header::{Load, StepCode};
use super::link::{PERIODS_OF_FAIRING, next_count, requested_step, utilization};
use super::params::{OVERLOAD, OverloadSeen, PERIOD, Ranges, SenderParams, request_limit, step_share};
use millpond_law::fluid::{
    Allocation, Cycle, CyclePeak, Feedback, FluidLink, FluidModel, FluidSender, LawState, LinkEquilibrium,
    LinkInput, LinkLaws, LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State,
    SteadyStateFacts, link_law, positive, sender_law,
};
use millpond_law::{LinkFacts, SettingError, Settings};

/// The fluid model of MCP.
pub(super) struct McpFluid {
    sender: SenderParams,
    router: RouterParams,
    /// Whether routers ignore some requests, which these equations do not.
    limits_requests: bool,
}

impl McpFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let period = settings.get(PERIOD).secs();
        let router = RouterParams {
            period,
            ranges: Ranges::read(settings)?,
            overload: settings.get(OVERLOAD),
            step_share: step_share(settings),
        };
        let limits_requests = request_limit(settings) > 0;
        Ok(Self { sender: SenderParams::read(settings), router, limits_requests })
    }
}

impl FluidModel for McpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (params, weight) = (self.sender, facts.weight);
        match params.requested_steps {
            false => sender_law(Source::<false> { params, weight }),
            true => sender_law(Source::<true> { params, weight }),
        }
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        let params = self.router;
        Some(match params.step_share {
            None => link_law(Router::<false> { params }),
            Some(_) => link_law(Router::<true> { params }),
        })
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
                step_share: self.router.step_share,
            })),
            ..SteadyStateFacts::default()
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        match self.limits_requests {
            false => &["timeouts", "an immediate overload signal for a flow that begins in an overload"],
            true => &[
                "timeouts",
                "an immediate overload signal for a flow that begins in an overload",
                "routers that ignore requests",
            ],
        }
    }
}

/// Additive increase from the rate after a reduction to that at the next overload, a step per decision.
struct FairingCycle {
    params: SenderParams,
    weight: f64,
    overload: f64,
    step_share: Option<f64>,
}

impl FairingCycle {
    /// The additive step in bit/s of a flow with this rate at an overload. A link that requests it has `overload C / n` for
    /// each flow there.
    fn step(&self, rate: f64) -> f64 {
        let requested = |share: f64| StepCode::at_most(share * rate / (self.overload * self.weight)).bps();
        self.step_share.and_then(requested).unwrap_or(self.params.step) * self.weight
    }
}

impl Cycle for FairingCycle {
    /// The last step exceeds the overload by half a step in the mean. A router detects it at the end of its period, half of
    /// an interval between decisions; without an immediate reaction the next decision follows.
    fn period(&self, peak: &CyclePeak) -> f64 {
        let SenderParams { decrease_factor, decision_interval, overload_seen, .. } = self.params;
        let steps = (1.0 - decrease_factor) * (peak.rate() / self.step(peak.rate()) + 0.5);
        let detection = match overload_seen {
            OverloadSeen::AtOnce => 0.5,
            OverloadSeen::ByTimer => 1.0,
        };
        (steps + detection) * decision_interval.secs()
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
    pub(super) const DECISION: usize = 1;
}

/// Index of each discrete state.
mod count {
    pub(super) const MODE: usize = 0;
    pub(super) const LEFT: usize = 1;
    pub(super) const GREW: usize = 2;
    pub(super) const STEPS_BACK: usize = 3;
    pub(super) const LOW_DEMAND: usize = 4;
}

/// Loads above this value are overload.
const NASCENT: f64 = Load::Over as u8 as f64 - 0.5;
/// Threshold between a signal that is absent (0) and one that is present (1).
const HALF: f64 = 0.5;

/// The signal of a link that requests no step, in bit/s.
const NO_STEP: f64 = 1e12;

/// The automaton; its memory is stored in states. `COUNTED`: links count flows and request the step.
struct Source<const COUNTED: bool> {
    params: SenderParams,
    weight: f64,
}

impl<const COUNTED: bool> Source<COUNTED> {
    fn load_automaton(
        &self,
        LawState { x, discrete }: &LawState<'_>,
        input: &SenderInput<'_, f64>,
    ) -> Automaton {
        let grew = discrete[count::GREW] != 0;
        let request = FairingRequest::resumed(self.params.halvings, discrete[count::LEFT], grew);
        Automaton {
            params: self.params,
            weight: self.weight,
            rate: x[at::RATE],
            mode: Mode::numbered(discrete[count::MODE]),
            request,
            steps_back: discrete[count::STEPS_BACK],
            requested_step: COUNTED.then(|| input.feedback[2]).filter(|step| *step < NO_STEP),
        }
    }

    fn store_automaton(automaton: &Automaton, LawState { x, discrete }: &mut LawState<'_>) {
        x[at::RATE] = automaton.rate;
        discrete[count::MODE] = automaton.mode as u64;
        discrete[count::LEFT] = automaton.request.left();
        discrete[count::GREW] = u64::from(automaton.request.grew());
        discrete[count::STEPS_BACK] = automaton.steps_back;
    }

    /// A flow that requests fairing also receives its own request. It requests fairing again when its demand returns (section
    /// IV-D2).
    fn decide(automaton: &mut Automaton, low_demand: &mut u64, input: &SenderInput<'_, f64>) {
        let is_used = input.growth > 0.0;
        if is_used && *low_demand != 0 {
            automaton.request.restart();
        }
        *low_demand = u64::from(!is_used);
        let load = load(input.feedback[0]);
        let fairing = input.feedback[1] > HALF || automaton.request.is_active();
        match load {
            Load::Over => Self::decrease(automaton, low_demand),
            _ => automaton.increase(load, fairing, is_used),
        }
    }

    /// A flow whose rate the network lowers is not limited by its demand.
    fn decrease(automaton: &mut Automaton, low_demand: &mut u64) {
        *low_demand = 0;
        automaton.decrease();
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

const LOAD: Feedback = Feedback { name: "load", unit: "1", over_path: PathAggregation::Max };
const FAIRING: Feedback = Feedback { name: "fairing", unit: "1", over_path: PathAggregation::Max };
const STEP: Feedback = Feedback { name: "requested step", unit: "bit/s", over_path: PathAggregation::Min };
const REQUESTS: Quantity = Quantity { name: "requests for fairing", unit: "1" };
const FLOWS: Quantity = Quantity { name: "flows", unit: "1" };

impl<const COUNTED: bool> FluidSender for Source<COUNTED> {
    const FEEDBACK: &'static [Feedback] = if COUNTED { &[LOAD, FAIRING, STEP] } else { &[LOAD, FAIRING] };
    const CARRIED: &'static [Quantity] = if COUNTED { &[REQUESTS, FLOWS] } else { &[REQUESTS] };
    const GUARDS: &'static [&'static str] =
        &["nascent overload", "time until the next decision", "fairing is signalled"];
    const DISCRETE: &'static [Quantity] = &[
        Quantity { name: "mode", unit: "1" },
        Quantity { name: "fairing cycles left", unit: "cycles" },
        Quantity { name: "grew in the fairing mode", unit: "1" },
        Quantity { name: "consecutive steps back", unit: "1" },
        Quantity { name: "low demand", unit: "1" },
    ];

    fn states(&self) -> Vec<State> {
        let interval = self.params.decision_interval.secs();
        vec![
            State::new("rate", "bit/s", self.params.initial_rate),
            State::new("time until the next decision", "s", interval),
        ]
    }

    fn initial_discrete(&self, discrete: &mut [u64]) {
        discrete[count::MODE] = Mode::Scaling as u64;
        discrete[count::LEFT] = self.params.halvings;
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx.fill(T::zero());
        dx[at::DECISION] = -T::one();
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[at::RATE]
    }

    fn carried<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = if input.discrete[count::LEFT] > 0 { T::one() } else { T::zero() };
        if COUNTED {
            carried[1] = T::one();
        }
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.feedback[0] - NASCENT;
        guards[1] = x[at::DECISION];
        guards[2] = input.feedback[1] - HALF;
    }

    /// A nascent overload is answered at once; everything else waits for the timer (section IV-H).
    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        let mut automaton = self.load_automaton(state, input);
        let low_demand = &mut state.discrete[count::LOW_DEMAND];
        match (guard, is_rising) {
            (0, true) if self.params.overload_seen == OverloadSeen::AtOnce => {
                Self::decrease(&mut automaton, low_demand);
            }
            (0, true) => return,
            (0, false) => automaton.steps_back = 0,
            (1, false) => Self::decide(&mut automaton, low_demand, input),
            (2, true) => automaton.receive(load(input.feedback[0]), true),
            _ => return,
        }
        Self::store_automaton(&automaton, state);
        if matches!((guard, is_rising), (0, true) | (1, false)) {
            state.x[at::DECISION] = self.params.decision_interval.secs();
        }
    }
}

/// The parameters of a router.
#[derive(Clone, Copy)]
struct RouterParams {
    /// T, in seconds.
    period: f64,
    ranges: Ranges,
    /// Smallest load of an overload.
    overload: f64,
    /// sigma; none: the link requests no step.
    step_share: Option<f64>,
}

/// Eq. (1) over a period, and the requests that are passed on. `COUNTED`: it counts its flows and requests the step.
#[derive(Clone, Copy)]
struct Router<const COUNTED: bool> {
    params: RouterParams,
}

/// Rate at which the minimum queue follows a shorter queue, in 1/period.
const FOLLOWS: f64 = 100.0;

/// Index of each state.
mod of {
    pub(super) const ARRIVED: usize = 0;
    pub(super) const LEAST_QUEUE: usize = 1;
    pub(super) const FLOWS: usize = 2;
}

/// Index of each discrete state.
mod signal {
    pub(super) const LOAD: usize = 0;
    pub(super) const FAIRING: usize = 1;
    pub(super) const STEP: usize = 2;
}

const LOAD_SIGNAL: Quantity = Quantity { name: "load", unit: "1" };
const FAIRING_SIGNAL: Quantity = Quantity { name: "fairing", unit: "1" };
const STEP_SIGNAL: Quantity = Quantity { name: "requested step", unit: "bit/s" };
const LOAD_STATE: Quantity = Quantity { name: "signalled load", unit: "1" };
const FAIRING_STATE: Quantity = Quantity { name: "periods of fairing left", unit: "1" };
const STEP_STATE: Quantity = Quantity { name: "code of the requested step", unit: "1" };

impl<const COUNTED: bool> FluidLink for Router<COUNTED> {
    const SIGNALS: &'static [Quantity] =
        if COUNTED { &[LOAD_SIGNAL, FAIRING_SIGNAL, STEP_SIGNAL] } else { &[LOAD_SIGNAL, FAIRING_SIGNAL] };
    const GUARDS: &'static [&'static str] = &["a request arrives", "least queue less queue"];
    const DISCRETE: &'static [Quantity] =
        if COUNTED { &[LOAD_STATE, FAIRING_STATE, STEP_STATE] } else { &[LOAD_STATE, FAIRING_STATE] };

    fn states(&self) -> Vec<State> {
        let mut states = vec![
            State::new("arrived in this period", "bit", 0.0),
            State::new("least queue of this period", "bit", 0.0),
        ];
        if COUNTED {
            states.push(State::new("counted flows", "1", 0.0));
        }
        states
    }

    fn initial_discrete(&self, discrete: &mut [u64]) {
        discrete[signal::LOAD] = Load::Light as u64;
        if COUNTED {
            discrete[signal::STEP] = u64::from(StepCode::NONE.0);
        }
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[of::ARRIVED] = input.arriving;
        dx[of::LEAST_QUEUE] = -positive(x[of::LEAST_QUEUE] - input.queue) * (FOLLOWS / self.params.period);
        if COUNTED {
            dx[of::FLOWS] = T::zero();
        }
    }

    /// Fairing is signalled by links with medium or heavy load.
    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let number = input.discrete[signal::LOAD] as f64;
        let is_fairing =
            matches!(load(number), Load::Medium | Load::Heavy) && input.discrete[signal::FAIRING] > 0;
        signals[0] = T::from(number);
        signals[1] = T::from(f64::from(u8::from(is_fairing)));
        if COUNTED {
            let code = u8::try_from(input.discrete[signal::STEP]).unwrap_or(StepCode::NONE.0);
            signals[2] = T::from(StepCode(code).bps().unwrap_or(NO_STEP));
        }
    }

    /// The upper limit of the utilization; one or two steps back are below it.
    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { utilization: self.params.overload, queue: Some(0.0), ..LinkEquilibrium::default() }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.carried[0] - HALF;
        guards[1] = x[of::LEAST_QUEUE] - input.queue;
    }

    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, _input: &LinkInput<'_, f64>) {
        if guard == 0 && is_rising {
            state.discrete[signal::FAIRING] = u64::from(PERIODS_OF_FAIRING);
        }
    }

    fn ticks(&self) -> bool {
        true
    }

    fn period(&self, _x: &[f64], _input: &LinkInput<'_, f64>) -> Option<f64> {
        Some(self.params.period)
    }

    fn tick(&self, LawState { x, discrete }: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        let least = x[of::LEAST_QUEUE].min(input.queue);
        let RouterParams { period, ranges, step_share, .. } = self.params;
        let load = ranges.load(utilization(x[of::ARRIVED], least, input.capacity, period));
        (x[of::ARRIVED], x[of::LEAST_QUEUE]) = (0.0, input.queue);
        discrete[signal::LOAD] = load as u64;
        let is_requested = input.carried[0] > HALF;
        let left = discrete[signal::FAIRING].saturating_sub(1);
        discrete[signal::FAIRING] = if is_requested { u64::from(PERIODS_OF_FAIRING) } else { left };
        if COUNTED {
            x[of::FLOWS] = next_count(x[of::FLOWS], input.carried[1]);
            let step = requested_step(step_share.unwrap_or(0.0), input.capacity, x[of::FLOWS]);
            discrete[signal::STEP] = u64::from(step.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::params::PARAMETERS;
    use crate::testing::fluid::{carried, flow, inputs, one_link, one_loop};
    use millpond_law::fluid::{LinkInputs, SenderInputs};

    const D: f64 = 0.04;

    fn model() -> McpFluid {
        McpFluid::read(&Settings::check(PARAMETERS, []).unwrap()).unwrap()
    }

    /// Rate and mode after a guard's crossing, for a flow with this rate and mode and with this load and fairing
    /// signal.
    fn after(rate: f64, mode: Mode, feedback: [f64; 2], guard: usize) -> (f64, Mode) {
        let senders = model().sender(&one_loop(D));
        let (mut x, mut discrete) = ([rate, 0.0], [mode as u64, 0, 0, 0, 0]);
        let seen: SenderInputs = inputs(&*senders, D, |i| i.feedback.copy_from_slice(&feedback));
        let state = &mut LawState { x: &mut x, discrete: &mut discrete };
        senders.crossed(0, guard, guard == 0, state, &seen.flow(0));
        assert_eq!(x[at::DECISION], 0.4, "the timer restarts");
        (x[at::RATE], Mode::numbered(discrete[count::MODE]))
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

    /// Section IV-D2. The decrease of an overload ends the low demand as well.
    #[test]
    fn a_rate_that_is_not_used_does_not_grow_and_fairing_is_requested_again_when_the_demand_returns() {
        let senders = model().sender(&one_loop(D));
        let (mut x, mut discrete) = ([8e6, 0.0], [Mode::Stable as u64, 0, 0, 0, 0]);
        let mut decide = |growth: f64, load: f64| {
            let seen = inputs(&*senders, D, |i| (i.growth, i.feedback[0]) = (vec![growth], load));
            let state = &mut LawState { x: &mut x, discrete: &mut discrete };
            senders.crossed(0, 1, false, state, &seen.flow(0));
            (x[at::RATE], discrete[count::LEFT])
        };
        assert_eq!(decide(0.0, 1.0), (8e6, 0));
        assert_eq!(decide(0.0, 3.0), (4e6, 0));
        assert_eq!(decide(1.0, 2.0), (4.08e6, 0), "an overload has ended the low demand");
        assert_eq!(decide(0.0, 1.0), (4.08e6, 0));
        assert_eq!(decide(0.5, 1.0).1, 7);
    }

    #[test]
    fn a_nascent_overload_halves_or_after_smoothing_steps_back() {
        assert_eq!(after(8e6, Mode::Fairing, [3.0, 1.0], 0), (4e6, Mode::Overloaded));
        assert_eq!(after(8e6, Mode::Smoothing, [3.0, 0.0], 0), (7.92e6, Mode::Stable));
    }

    #[test]
    fn the_end_of_an_overload_ends_the_count_of_steps_back() {
        let senders = model().sender(&one_loop(D));
        let (mut x, mut discrete) = ([8e6, 0.3], [Mode::Stable as u64, 0, 0, 2, 0]);
        let seen = inputs(&*senders, D, |i| i.feedback[0] = 2.0);
        senders.crossed(0, 0, false, &mut LawState { x: &mut x, discrete: &mut discrete }, &seen.flow(0));
        assert_eq!((x, discrete[count::STEPS_BACK]), ([8e6, 0.3], 0), "without a decision");
    }

    #[test]
    fn a_router_signals_a_request_from_its_arrival_on_and_its_least_queue_follows_a_shorter_one() {
        let router = model().link(&one_link()).unwrap();
        let mut seen = LinkInputs::of(&*router, 0..1, 1);
        (seen.capacity[0], seen.queue[0], seen.carried[0]) = (8e6, 1e3, 1.0);
        let (mut x, mut discrete) = ([0.0, 5e3], [1, 0]);
        router.crossed(0, 0, true, &mut LawState { x: &mut x, discrete: &mut discrete }, &seen.link(0));
        assert_eq!(discrete, [1, u64::from(PERIODS_OF_FAIRING)]);
        let mut dx = [f64::NAN; 2];
        router.derivatives(0, &x, &seen, &mut dx);
        // 4000 bits less within a hundredth of 200 ms.
        assert_eq!(dx, [0.0, -4e3 * 100.0 / 0.2]);
        // What it has not followed by the end of the period it has then.
        (x, seen.queue[0]) = ([0.9 * 1.6e6, 0.09 * 1.6e6], 0.0);
        router.tick(0, &mut LawState { x: &mut x, discrete: &mut discrete }, &seen.link(0));
        assert_eq!(discrete[0], 2, "heavy, and no overload");
    }

    #[test]
    fn a_new_flow_requests_fairing_until_seven_halvings_of_a_rate_that_grew() {
        let senders = model().sender(&one_loop(D));
        let mut x: Vec<f64> = senders.states(0).iter().map(|state| state.initial).collect();
        let mut heavy = inputs(&*senders, D, |i| i.feedback[0] = 2.0);
        let over = inputs(&*senders, D, |i| i.feedback[0] = 3.0);
        let mut discrete = heavy.discrete.clone();
        for left in (0..7).rev() {
            assert_eq!(carried(&*senders, &x, &heavy), [1.0]);
            let state = &mut LawState { x: &mut x, discrete: &mut discrete };
            senders.crossed(0, 1, false, state, &heavy.flow(0));
            assert_eq!(Mode::numbered(state.discrete[count::MODE]), Mode::Fairing);
            senders.crossed(0, 0, true, state, &over.flow(0));
            assert_eq!(discrete[count::LEFT], left);
            heavy.discrete.copy_from_slice(&discrete);
        }
        assert_eq!(carried(&*senders, &x, &heavy), [0.0]);
        let (dx, rate) = flow(&*senders, &x, &heavy);
        assert_eq!((rate, dx[at::RATE], dx[at::DECISION]), (x[at::RATE], 0.0, -1.0));
    }

    #[test]
    fn a_flow_with_a_fairing_signal_requests_fairing_itself_only_under_that_reading() {
        for (reading, left) in [("obeys", 0), ("asks", 7)] {
            let settings =
                Settings::check(PARAMETERS, [("notified", millpond_law::Value::text(reading))]).unwrap();
            let senders = McpFluid::read(&settings).unwrap().sender(&one_loop(D));
            let (mut x, mut discrete) = ([8e6, 0.3], [Mode::Stable as u64, 0, 0, 0, 0]);
            let seen = inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[1.0, 1.0]));
            let state = &mut LawState { x: &mut x, discrete: &mut discrete };
            senders.crossed(0, 2, true, state, &seen.flow(0));
            assert_eq!((discrete[count::LEFT], x), (left, [8e6, 0.3]), "{reading}");
        }
    }

    /// The load and the periods of fairing of a router of 8 Mbit/s after a period with this number of arrived bits.
    fn signals_after_period(arrived: f64, queue: f64, requests: f64, fairing: u64) -> [u64; 2] {
        let router = model().link(&one_link()).unwrap();
        let mut inputs = LinkInputs::of(&*router, 0..1, 1);
        (inputs.capacity[0], inputs.queue[0], inputs.carried[0]) = (8e6, queue, requests);
        let (mut x, mut discrete) = ([arrived, queue], [0, fairing]);
        router.tick(0, &mut LawState { x: &mut x, discrete: &mut discrete }, &inputs.link(0));
        assert_eq!(x, [0.0, queue]);
        discrete
    }

    /// The signals of a router with this load and this number of periods of fairing.
    fn signals(load: Load, fairing: u64) -> [f64; 2] {
        let router = model().link(&one_link()).unwrap();
        let inputs = LinkInputs { discrete: vec![load as u64, fairing], ..LinkInputs::of(&*router, 0..1, 1) };
        let mut signals = [f64::NAN; 2];
        router.signals(0, &[0.0, 0.0], &inputs, &mut signals);
        signals
    }

    #[test]
    fn a_router_signals_fairing_under_medium_and_heavy_load_only() {
        assert_eq!(signals(Load::Light, 2), [0.0, 0.0]);
        assert_eq!((signals(Load::Medium, 1), signals(Load::Medium, 0)), ([1.0, 1.0], [1.0, 0.0]));
        assert_eq!((signals(Load::Heavy, 1), signals(Load::Over, 1)), ([2.0, 1.0], [3.0, 0.0]));
    }

    #[test]
    fn a_router_measures_over_a_period_and_signals_requests_until_the_end_of_the_next() {
        // 1.6 Mbit fit into 200 ms; a queue that remained throughout counts.
        assert_eq!(signals_after_period(0.47 * 1.6e6, 0.0, 0.0, 0), [0, 0]);
        assert_eq!(signals_after_period(0.87 * 1.6e6, 0.02 * 1.6e6, 0.0, 0), [2, 0]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 1.0, 0), [3, 2]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 0.0, 2), [3, 1]);
        assert_eq!(signals_after_period(1.6e6, 0.0, 0.0, 0), [3, 0]);
    }

    #[test]
    fn counted_links_request_a_part_of_their_step_from_each_flow_and_senders_take_it() {
        let written = [("step_share", millpond_law::Value::Number(0.03))];
        let model = McpFluid::read(&Settings::check(PARAMETERS, written).unwrap()).unwrap();
        let router = model.link(&one_link()).unwrap();
        let mut inputs = LinkInputs::of(&*router, 0..1, 2);
        (inputs.capacity[0], inputs.carried[1]) = (8e6, 30.0);
        let (mut x, mut discrete) = ([0.0, 0.0, 0.0], [0, 0, u64::from(StepCode::NONE.0)]);
        router.tick(0, &mut LawState { x: &mut x, discrete: &mut discrete }, &inputs.link(0));
        // 8 Mbit/s * .03 / 30 = 8 kbit/s = 2^12.97: 103 eighths.
        assert_eq!((x[2], discrete[2]), (30.0, 103));
        inputs.carried[1] = 3.0;
        router.tick(0, &mut LawState { x: &mut x, discrete: &mut discrete }, &inputs.link(0));
        assert_eq!(x[2], 28.5, "flows are forgotten by a twentieth per period");

        let senders = model.sender(&one_loop(D));
        let starting = self::inputs(&*senders, D, |_| ());
        assert_eq!(carried(&*senders, &[8e6, 0.3], &starting), [1.0, 1.0], "a request and one flow");
        for (step, rate) in [(8e3, 8.008e6), (NO_STEP, 8.08e6)] {
            let (mut x, mut discrete) = ([8e6, 0.0], [Mode::Fairing as u64, 0, 0, 0, 0]);
            let seen = self::inputs(&*senders, D, |i| i.feedback.copy_from_slice(&[2.0, 1.0, step]));
            let state = &mut LawState { x: &mut x, discrete: &mut discrete };
            senders.crossed(0, 1, false, state, &seen.flow(0));
            assert!((x[at::RATE] - rate).abs() < 1e-6, "{step}: {}", x[at::RATE]);
        }
    }

    #[test]
    fn a_fairing_cycle_has_the_length_that_flows_in_both_worlds_have() {
        // .49 * 20 Mbit/s by n * 80 kbit/s, and half of half a step; .4 s each. The router's period, or a decision.
        for (reading, detection) in [("at-once", 0.2), ("by-timer", 0.4)] {
            let written = [("overload_seen", millpond_law::Value::text(reading))];
            let params = SenderParams::read(&Settings::check(PARAMETERS, written).unwrap());
            let cycle = FairingCycle { params, weight: 1.0, overload: 0.98, step_share: None };
            for (flows, steps) in [(1.0, 122.75), (2.0, 61.5), (3.0, 41.0833), (20.0, 6.375)] {
                let (packet, rtt) = (8000.0, 0.04);
                let window = 0.98 * 20e6 / flows * rtt / packet;
                let period = cycle.period(&CyclePeak { window, packet, base_rtt: rtt, rtt });
                assert!((period - steps * 0.4 - detection).abs() < 1e-4, "{reading}, {flows}: {period}");
            }
        }
    }

    #[test]
    fn with_requested_steps_a_fairing_cycle_has_the_same_length_for_any_number_of_flows() {
        // Half of .98 C at .03 C or an eighth of an octave less per decision: 17 to 18 decisions.
        let cycle = |rate: f64| {
            FairingCycle { params: model().sender, weight: 1.0, overload: 0.98, step_share: Some(0.03) }
                .step(rate)
        };
        for rate in [333e3, 6.6e6, 1e8] {
            let decisions = 0.5 * rate / cycle(rate);
            assert!((16.3..17.9).contains(&decisions), "{rate}: {decisions}");
        }
    }
}
