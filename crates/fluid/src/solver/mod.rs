//! The accurate solver: the method of steps with an embedded Runge-Kutta pair of order 5(4), propagation of
//! discontinuities through delays, and event location.
//!
//! Look-ups have constant delays, those of empty queues. The papers' models do the same; their laws receive queueing
//! delay as an input (`rtt()`, `queueing`). No step is longer than the shortest delay, so every look-up reads a time
//! for which the solution is known.

mod dense_output;
mod dormand_prince;
mod draining;
mod event_detection;
mod history;
mod perturb;
mod scheduled_events;
mod sliding_mode;
mod solution;
mod step;

pub use dense_output::DenseOutput;
pub use solution::Solution;

use crate::assembly::{Assembly, Entity};
use crate::delivery::{Deliveries, HopService};
use crate::discrete_state::{DiscreteState, Held};
use crate::error::Error;
use crate::guards::LawEvent;
use crate::network::LoopId;
use crate::right_hand_side::{RightHandSide, initial_history};
use dense_output::LastStep;
use history::{History, Lookup, View, middle_of_nudge};
use scheduled_events::{ScheduledEvent, ScheduledEvents};
use sliding_mode::SlidingMode;

/// Accuracy and limits of an integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Largest error of one step in each state, relative to the state.
    pub tolerance: f64,
    /// Longest step, in seconds.
    pub longest_step: f64,
    /// Whether discontinuities are propagated through delays. False only in tests.
    pub track_discontinuities: bool,
    /// Whether a threshold along which the solution slides gets a hysteresis. False only in tests.
    pub hysteresis: bool,
    /// Largest number of steps.
    pub max_steps: u64,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            longest_step: f64::INFINITY,
            track_discontinuities: true,
            hysteresis: true,
            max_steps: 20_000_000,
        }
    }
}

/// Number of steps ended by something other than the step-size control.
#[derive(Clone, Copy, Debug, Default)]
struct EndCounts {
    events: u64,
    due: u64,
    rejected: u64,
}

/// An integration in progress.
pub struct Solver<'a> {
    rhs: RightHandSide<'a>,
    accuracy: Accuracy,
    time: f64,
    /// The present states.
    x: Vec<f64>,
    discrete: DiscreteState,
    history: History,
    lookups: Vec<Lookup>,
    /// Those with which deliveries are measured.
    measured_lookups: Vec<Lookup>,
    /// The time of the look-ups in seconds, and the middle of its step.
    lookup_time: (f64, f64),
    scheduled: ScheduledEvents,
    /// The loops that stop once they have sent what the relay at their beginning holds.
    draining: Vec<usize>,
    owners: Vec<Entity>,
    /// Scale of each state, for its absolute error.
    scales: Vec<f64>,
    /// Derivatives at the stages of the present step.
    stages: Vec<Vec<f64>>,
    /// Channels at the nodes of the present step.
    nodes: [Vec<f64>; 5],
    /// The service of hops at the nodes.
    services: [Vec<HopService>; 5],
    deliveries: Deliveries,
    raw: Vec<f64>,
    /// States clipped to their bounds, as laws receive them.
    trial: Vec<f64>,
    /// States at the end of the step.
    next: Vec<f64>,
    /// States at a time within the step.
    inside: Vec<f64>,
    /// Indices of the states with bounds.
    bounded: Vec<usize>,
    guards: Vec<f64>,
    /// The owner of each guard.
    guard_owners: Vec<Entity>,
    /// Largest magnitude of each guard so far; for a guard of a path, of its signals.
    guard_sizes: Vec<f64>,
    /// The present sign of each guard; zero if unknown.
    signs: Vec<f64>,
    sliding: SlidingMode,
    /// Integral of each channel since time zero.
    integrals: Vec<f64>,
    step: f64,
    shortest_delay: f64,
    steps: u64,
    ended: EndCounts,
    /// The last step, if values within it may be asked for.
    last_step: Option<LastStep>,
}

impl<'a> Solver<'a> {
    /// A solver at time zero. Before time zero, only loops without a start time were active, at constant rates.
    pub fn new(asm: &'a Assembly, accuracy: Accuracy) -> Result<Self, Error> {
        let mut rhs = RightHandSide::new(asm);
        let (discrete, x) = (DiscreteState::initial(asm), asm.initial());
        let before = initial_history(&mut rhs, &discrete, &x);
        let scheduled = ScheduledEvents::new(asm, accuracy.track_discontinuities);
        Self::with(rhs, accuracy, (discrete, x), before, scheduled)
    }

    /// A solver at time zero with this discrete state, these states and this constant history.
    fn with(
        rhs: RightHandSide<'a>,
        accuracy: Accuracy,
        (discrete, x): (DiscreteState, Vec<f64>),
        before: Vec<f64>,
        scheduled: ScheduledEvents,
    ) -> Result<Self, Error> {
        let asm = rhs.asm;
        let (states, channels) = (asm.states.len(), asm.channels.count);
        let guards = rhs.guards.len();
        let mut solver = Self {
            accuracy,
            time: 0.0,
            discrete,
            history: History::new(before, asm.longest_delay() + asm.longest_lag()),
            lookups: vec![Lookup::default(); rhs.delays.delays.len()],
            measured_lookups: vec![Lookup::default(); rhs.delays.delays.len()],
            lookup_time: (0.0, 0.0),
            scheduled,
            draining: Vec::new(),
            owners: asm.owners(),
            scales: asm.scales(),
            stages: vec![vec![0.0; states]; 7],
            nodes: std::array::from_fn(|_| vec![0.0; channels]),
            services: std::array::from_fn(|_| rhs.services.clone()),
            deliveries: Deliveries::new(asm),
            raw: vec![0.0; states],
            trial: x.clone(),
            next: x.clone(),
            inside: x.clone(),
            bounded: asm.bounded(),
            guards: vec![0.0; guards],
            guard_owners: asm.guard_owners(&rhs),
            guard_sizes: vec![0.0; guards],
            signs: vec![0.0; guards],
            sliding: SlidingMode::new(guards),
            integrals: vec![0.0; channels],
            step: asm.shortest_delay() / 10.0,
            shortest_delay: asm.shortest_delay(),
            steps: 0,
            ended: EndCounts::default(),
            last_step: None,
            rhs,
            x,
        };
        solver.initialize()?;
        Ok(solver)
    }

    /// The present time, in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The present states, in the order of [`Assembly::state_columns`].
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// The present channels, in the order of [`Assembly::channel_columns`].
    pub fn channels(&self) -> &[f64] {
        &self.nodes[0]
    }

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Integral of each channel since time zero.
    pub fn integrals(&self) -> &[f64] {
        &self.integrals
    }

    /// Checks that the solver can reach the time `until`, in seconds, within its number of steps.
    ///
    /// # Errors
    /// [`Error::DelayTooShort`].
    pub fn check_reach(&self, until: f64) -> Result<(), Error> {
        let (delay, steps) = (self.shortest_delay, self.accuracy.max_steps);
        let duration = until - self.time;
        if duration / delay > steps as f64 {
            return Err(Error::DelayTooShort { delay, duration, steps });
        }
        Ok(())
    }

    /// Advances to the time `until`, in seconds.
    pub fn advance(&mut self, until: f64) -> Result<(), Error> {
        self.check_reach(until)?;
        self.advance_some(until, u64::MAX).map(drop)
    }

    /// Advances to the time `until`, but by at most `steps` steps and scheduled events. Returns whether `until` has
    /// been reached.
    pub fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        self.advance_past(until, until, steps)
    }

    /// As [`Self::advance_some`], but the last step may extend beyond `until`, at most to `end`.
    fn advance_past(&mut self, until: f64, end: f64, steps: u64) -> Result<bool, Error> {
        let most = self.effort().saturating_add(steps);
        while self.time < until {
            if self.effort() >= most {
                return Ok(false);
            }
            if self.effort() > self.accuracy.max_steps {
                return Err(self.too_many_steps());
            }
            let limit = end.min(self.scheduled.next());
            if limit > self.latest() {
                self.step_towards(limit)?;
            } else {
                self.time = self.time.max(limit);
            }
            if self.scheduled.next() <= self.latest() {
                self.process_due_events()?;
            }
        }
        Ok(true)
    }

    /// Number of steps and of times with scheduled events.
    fn effort(&self) -> u64 {
        self.steps + self.ended.due
    }

    /// Events up to this time are due now; a shorter step could not represent which side of a jump it is on.
    fn latest(&self) -> f64 {
        self.time + 1e-14 * self.time.max(1.0)
    }

    /// Schedules the first ticks of links and active loops, and processes events at time zero.
    fn initialize(&mut self) -> Result<(), Error> {
        self.scheduled.set_lags(self.rhs.asm, &self.x);
        for l in (0..self.rhs.asm.loops.len()).filter(|l| self.discrete.active[*l]) {
            self.scheduled.propagate(self.rhs.asm, 0.0, Entity::Loop(l), 0);
        }
        for l in 0..self.rhs.asm.links.len() {
            self.scheduled.propagate(self.rhs.asm, 0.0, Entity::Link(l), 0);
        }
        self.refresh()?;
        for (s, set) in self.rhs.asm.link_sets.iter().enumerate() {
            for place in 0..set.links.len() {
                self.schedule_link_tick(s, place);
            }
        }
        for l in 0..self.rhs.asm.loops.len() {
            if self.discrete.active[l] {
                self.schedule_sender_tick(l);
            }
        }
        if self.scheduled.next() <= 0.0 { self.process_due_events() } else { Ok(()) }
    }

    /// Processes the events that are due now.
    fn process_due_events(&mut self) -> Result<(), Error> {
        let events = self.scheduled.take_due(self.rhs.asm, self.time, self.latest());
        self.ended.due += 1;
        let ticks =
            |h: &ScheduledEvent| matches!(h, ScheduledEvent::SenderTick(..) | ScheduledEvent::LinkTick(..));
        if events.iter().any(ticks) {
            // Ticks receive the inputs at the present time.
            self.refresh()?;
        }
        for event in events {
            match event {
                ScheduledEvent::Discontinuity(_) => {}
                ScheduledEvent::Start(l) => self.start(LoopId(l))?,
                ScheduledEvent::Stop(l) => self.stop(l),
                ScheduledEvent::Capacity(i) => {
                    let step = self.rhs.asm.steps[i];
                    self.discrete.apply(self.rhs.asm, step);
                    self.propagate_jump(Entity::Link(step.link.0));
                }
                ScheduledEvent::SenderTick(class, place) => self.tick_sender(class, place),
                ScheduledEvent::LinkTick(set, place) => self.tick_link(set, place),
            }
        }
        self.refresh()
    }

    fn propagate_jump(&mut self, entity: Entity) {
        self.scheduled.propagate(self.rhs.asm, self.time, entity, 0);
    }

    /// Computes derivatives, channels and held states again after a jump.
    fn refresh(&mut self) -> Result<(), Error> {
        // Holding one state may release another: an empty relay reduces the inflow of the next link.
        for _ in 0..8 {
            self.evaluate_now();
            self.update_guard_sizes();
            if !self.update_held_states() && !self.stop_drained_loops() && !self.apply_guard_jumps()? {
                break;
            }
        }
        self.project(0);
        self.scheduled.set_lags(self.rhs.asm, &self.x);
        let is_finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        if is_finite(&self.raw) && is_finite(&self.nodes[0]) {
            return Ok(());
        }
        self.nodes.swap(0, 4);
        let quantity = self.first_non_finite().unwrap_or_default();
        Err(Error::NotFinite { time: self.time, quantity })
    }

    /// Computes derivatives, channels and guards at the present states, just after the present time.
    fn evaluate_now(&mut self) {
        // In a short pulse, look-ups are beyond jumps that are due now, but not beyond the next ones: it would have no end.
        let (due, next) = (self.latest() - self.time, self.scheduled.next() - self.time);
        let in_pulse = self.step.min(middle_of_nudge(0.5 * (due + next)));
        let ahead = if self.time < self.sliding.pulse_end() { in_pulse } else { self.step };
        self.set_lookups(self.time, self.time + ahead);
        let mut channels = std::mem::take(&mut self.nodes[0]);
        let x = std::mem::take(&mut self.x);
        self.evaluate(&x, &mut channels);
        self.read_guards(&x);
        (self.nodes[0], self.x) = (channels, x);
    }

    /// Sets all look-ups for one time of the step with this middle.
    fn set_lookups(&mut self, time: f64, middle: f64) {
        self.lookup_time = (time, middle);
        self.history.set_lookups(&mut self.lookups, &self.rhs.delays.delays, time, middle);
    }

    /// Writes the derivatives without regard to bounds to `raw`, and the channels to `channels`.
    fn evaluate(&mut self, x: &[f64], channels: &mut [f64]) {
        let (time, middle) = self.lookup_time;
        let view = View { history: &self.history, lookups: &self.lookups, time, middle };
        self.rhs.evaluate(&self.discrete, &view, x, &mut self.raw, channels);
    }

    /// Writes the derivatives of a stage; zero for held states.
    fn project(&mut self, stage: usize) {
        let held = &self.discrete.held;
        for ((k, raw), held) in self.stages[stage].iter_mut().zip(&self.raw).zip(held) {
            *k = if *held == Held::Free { *raw } else { 0.0 };
        }
    }

    fn schedule_sender_tick(&mut self, loop_index: usize) {
        let asm = self.rhs.asm;
        let (c, place) = (asm.loops[loop_index].class, asm.loops[loop_index].place);
        let class = &asm.sender_classes[c];
        if !class.law.ticks(place) {
            return;
        }
        let input = self.rhs.senders[c].flow(place);
        if let Some(period) = class.law.period(place, &self.x[class.states_of(place)], &input) {
            self.scheduled.add(self.time + period.max(1e-9), ScheduledEvent::SenderTick(c, place));
        }
    }

    fn schedule_link_tick(&mut self, s: usize, place: usize) {
        let set = &self.rhs.asm.link_sets[s];
        if !set.law.ticks(place) {
            return;
        }
        let input = self.rhs.links[s].link(place);
        if let Some(period) = set.law.period(place, &self.x[set.states_of(place)], &input) {
            self.scheduled.add(self.time + period.max(1e-9), ScheduledEvent::LinkTick(s, place));
        }
    }

    fn tick_sender(&mut self, c: usize, place: usize) {
        let l = self.rhs.asm.sender_classes[c].loops[place];
        if self.discrete.active[l] {
            self.rhs.act_sender(c, place, LawEvent::Tick, &mut self.x, &mut self.discrete);
            self.schedule_sender_tick(l);
            self.propagate_jump(Entity::Loop(l));
        }
    }

    fn tick_link(&mut self, s: usize, place: usize) {
        self.rhs.act_link(s, place, LawEvent::Tick, &mut self.x, &mut self.discrete);
        self.schedule_link_tick(s, place);
        self.propagate_jump(Entity::Link(self.rhs.asm.link_sets[s].links[place]));
    }
}
