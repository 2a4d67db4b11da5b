//! The accurate solver: method of steps with an embedded pair of order 5(4), kinks followed through delays, events
//! located.
//!
//! Look-ups have constant delays, those of empty queues: what a queue adds to them is a second-order effect in the
//! papers' models, whose laws see it in the round-trip time that they are told. No step goes beyond the shortest
//! delay, so that every look-up falls into what is known already.

mod dormand_prince;
mod event_detection;
mod history;
mod perturb;
mod scheduled_events;
mod solution;
mod step;

pub use solution::Solution;

use crate::assembly::{Assembly, Entity};
use crate::discrete_state::{DiscreteState, Held};
use crate::error::Error;
use crate::integration::Integration;
use crate::network::LoopId;
use crate::right_hand_side::{RightHandSide, before};
use history::{History, Lookup, View};
use scheduled_events::{ScheduledEvent, ScheduledEvents};

/// How exact, and within which limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The error of a step in each state, as a share of it.
    pub tolerance: f64,
    /// No step is longer, in seconds.
    pub longest_step: f64,
    /// Whether kinks are followed through delays; only a test would not.
    pub track_discontinuities: bool,
    /// No more steps than these.
    pub most_steps: u64,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            longest_step: f64::INFINITY,
            track_discontinuities: true,
            most_steps: 20_000_000,
        }
    }
}

/// How often something other than the tolerance's own choice ended a step.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    events: u64,
    due: u64,
    rejected: u64,
}

/// An integration under way.
pub struct Solver<'a> {
    rhs: RightHandSide<'a>,
    accuracy: Accuracy,
    time: f64,
    /// The present state.
    x: Vec<f64>,
    discrete: DiscreteState,
    history: History,
    lookups: Vec<Lookup>,
    scheduled: ScheduledEvents,
    owners: Vec<Entity>,
    /// By how much each state may be wrong however small it is.
    scales: Vec<f64>,
    /// Derivatives at the stages of the step.
    stages: Vec<Vec<f64>>,
    /// Channels at the nodes of the step.
    nodes: [Vec<f64>; 5],
    raw: Vec<f64>,
    /// The states as laws see them, within bounds.
    trial: Vec<f64>,
    /// At the end of the step.
    next: Vec<f64>,
    /// Inside the step.
    inside: Vec<f64>,
    /// States that have a bound.
    bounded: Vec<usize>,
    guards: Vec<f64>,
    /// Whose they are.
    guard_owners: Vec<Entity>,
    /// The greatest value of each so far: of what two hops say, where it is about which of them counts.
    guard_sizes: Vec<f64>,
    /// Signs of the guards as they are now; zero: not known yet.
    signs: Vec<f64>,
    /// How often each has changed its sign since this time, in seconds.
    crossings: Vec<u32>,
    calm: f64,
    /// The integral of each channel since time zero.
    integrals: Vec<f64>,
    step: f64,
    shortest_delay: f64,
    steps: u64,
    ended: Ended,
}

impl<'a> Solver<'a> {
    /// At time zero; the past is that of loops which have always been there.
    pub fn new(asm: &'a Assembly, accuracy: Accuracy) -> Result<Self, Error> {
        let mut rhs = RightHandSide::new(asm);
        let (discrete, x) = (DiscreteState::before(asm), asm.initial());
        let before = before(&mut rhs, &discrete, &x);
        let scheduled = ScheduledEvents::new(asm, accuracy.track_discontinuities);
        Self::with(rhs, accuracy, (discrete, x), before, scheduled)
    }

    /// At time zero, in this situation and at these states, after this past.
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
            history: History::new(before, asm.longest_delay()),
            lookups: vec![Lookup::default(); rhs.delays.delays.len()],
            scheduled,
            owners: asm.owners(),
            scales: asm.scales(),
            stages: vec![vec![0.0; states]; 7],
            nodes: std::array::from_fn(|_| vec![0.0; channels]),
            raw: vec![0.0; states],
            trial: x.clone(),
            next: x.clone(),
            inside: x.clone(),
            bounded: asm.bounded(),
            guards: vec![0.0; guards],
            guard_owners: asm.guard_owners(&rhs),
            guard_sizes: vec![0.0; guards],
            signs: vec![0.0; guards],
            crossings: vec![0; guards],
            calm: 0.0,
            integrals: vec![0.0; channels],
            step: asm.shortest_delay() / 10.0,
            shortest_delay: asm.shortest_delay(),
            steps: 0,
            ended: Ended::default(),
            rhs,
            x,
        };
        solver.begin()?;
        Ok(solver)
    }

    /// Now, in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The states now, in the order of [`Assembly::state_columns`].
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// The channels now, in the order of [`Assembly::channel_columns`].
    pub fn channels(&self) -> &[f64] {
        &self.nodes[0]
    }

    /// How many steps have been taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The integral of each channel since time zero.
    pub fn integrals(&self) -> &[f64] {
        &self.integrals
    }

    /// Exactly to this time.
    pub fn advance(&mut self, until: f64) -> Result<(), Error> {
        self.advance_some(until, u64::MAX).map(drop)
    }

    /// The same, but no more than so many steps and things due at once, for those who want to look up meanwhile; says
    /// whether it has arrived.
    pub fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        let most = self.effort().saturating_add(steps);
        while self.time < until {
            if self.effort() >= most {
                return Ok(false);
            }
            if self.effort() > self.accuracy.most_steps {
                return Err(self.too_many());
            }
            let limit = until.min(self.scheduled.next());
            if limit > self.soon() {
                self.step_towards(limit)?;
            } else {
                self.time = self.time.max(limit);
            }
            if self.scheduled.next() <= self.soon() {
                self.happen()?;
            }
        }
        Ok(true)
    }

    /// Steps, and what was due between them: a swarm of kinks costs as much as steps do.
    fn effort(&self) -> u64 {
        self.steps + self.ended.due
    }

    /// Times up to this are now: a step of a few roundings would not know which side of a jump it is on.
    fn soon(&self) -> f64 {
        self.time + 1e-14 * self.time.max(1.0)
    }

    /// The clocks of links and of loops that have always been there start; so does what starts at zero.
    fn begin(&mut self) -> Result<(), Error> {
        for l in (0..self.rhs.asm.loops.len()).filter(|l| self.discrete.active[*l]) {
            self.scheduled.spread(self.rhs.asm, 0.0, Entity::Loop(l), 0);
        }
        for l in 0..self.rhs.asm.links.len() {
            self.scheduled.spread(self.rhs.asm, 0.0, Entity::Link(l), 0);
        }
        self.refresh()?;
        for (s, set) in self.rhs.asm.sets.iter().enumerate() {
            for place in 0..set.links.len() {
                self.wind_link(s, place);
            }
        }
        for l in 0..self.rhs.asm.loops.len() {
            if self.discrete.active[l] {
                self.wind_sender(l);
            }
        }
        if self.scheduled.next() <= 0.0 { self.happen() } else { Ok(()) }
    }

    /// What is due now happens.
    fn happen(&mut self) -> Result<(), Error> {
        let events = self.scheduled.take(self.rhs.asm, self.time, self.soon());
        self.ended.due += 1;
        let ticks =
            |h: &ScheduledEvent| matches!(h, ScheduledEvent::SenderTick(..) | ScheduledEvent::LinkTick(..));
        if events.iter().any(ticks) {
            // What the clocks see is what has arrived by now.
            self.refresh()?;
        }
        for event in events {
            match event {
                ScheduledEvent::Discontinuity(_) => {}
                ScheduledEvent::Start(l) => self.start(LoopId(l))?,
                ScheduledEvent::Stop(l) => {
                    self.discrete.active[l] = false;
                    self.jumped(Entity::Loop(l));
                }
                ScheduledEvent::Capacity(i) => {
                    let step = self.rhs.asm.steps[i];
                    self.discrete.capacity[step.link.0] = step.capacity;
                    self.jumped(Entity::Link(step.link.0));
                }
                ScheduledEvent::SenderTick(class, place) => self.tick_sender(class, place),
                ScheduledEvent::LinkTick(set, place) => self.tick_link(set, place),
            }
        }
        self.refresh()
    }

    fn jumped(&mut self, entity: Entity) {
        self.scheduled.spread(self.rhs.asm, self.time, entity, 0);
    }

    /// Right-hand side, channels, and what is held, anew: something has jumped.
    fn refresh(&mut self) -> Result<(), Error> {
        // What is held can set another free: a relay that runs dry feeds the link behind it less.
        for _ in 0..8 {
            self.hear();
            self.measure_guards();
            if !self.settle() && !self.jump_guards() {
                break;
            }
        }
        self.project(0);
        let is_finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        if is_finite(&self.raw) && is_finite(&self.nodes[0]) {
            return Ok(());
        }
        self.nodes.swap(0, 4);
        let quantity = self.unbounded().unwrap_or_default();
        Err(Error::NotFinite { time: self.time, quantity })
    }

    /// Right-hand side, channels and guards at the present state, just after now.
    fn hear(&mut self) {
        self.look(self.time, self.time + self.step);
        let mut channels = std::mem::take(&mut self.nodes[0]);
        let x = std::mem::take(&mut self.x);
        self.evaluate(&x, &mut channels);
        self.read_guards(&x);
        (self.nodes[0], self.x) = (channels, x);
    }

    /// Points all taps at a moment of the step with this middle.
    fn look(&mut self, time: f64, middle: f64) {
        self.history.look(&mut self.lookups, &self.rhs.delays.delays, time, middle);
    }

    /// The right-hand side, with bounds disregarded, into `raw`; the channels into `channels`.
    fn evaluate(&mut self, x: &[f64], channels: &mut [f64]) {
        let view = View { history: &self.history, lookups: &self.lookups };
        self.rhs.evaluate(&self.discrete, &view, x, &mut self.raw, channels);
    }

    /// What is held does not move.
    fn project(&mut self, stage: usize) {
        let held = &self.discrete.held;
        for ((k, raw), held) in self.stages[stage].iter_mut().zip(&self.raw).zip(held) {
            *k = if *held == Held::Free { *raw } else { 0.0 };
        }
    }

    fn wind_sender(&mut self, l: usize) {
        let asm = self.rhs.asm;
        let (c, place) = (asm.loops[l].class, asm.loops[l].place);
        let class = &asm.classes[c];
        let x = &self.x[class.first_state + place * class.width..][..class.width];
        let input = self.rhs.senders[c].flow(place);
        if let Some(period) = class.law.period(place, x, &input) {
            self.scheduled.add(self.time + period.max(1e-9), ScheduledEvent::SenderTick(c, place));
        }
    }

    fn wind_link(&mut self, s: usize, place: usize) {
        let set = &self.rhs.asm.sets[s];
        let x = &self.x[set.first_state + place * set.width..][..set.width];
        if let Some(period) = set.law.period(place, x, &self.rhs.links[s].link(place)) {
            self.scheduled.add(self.time + period.max(1e-9), ScheduledEvent::LinkTick(s, place));
        }
    }

    fn tick_sender(&mut self, c: usize, place: usize) {
        let class = &self.rhs.asm.classes[c];
        let l = class.loops[place];
        if self.discrete.active[l] {
            let x = &mut self.x[class.first_state + place * class.width..][..class.width];
            let input = self.rhs.senders[c].flow(place);
            class.law.tick(place, x, &input);
            self.wind_sender(l);
            self.jumped(Entity::Loop(l));
        }
    }

    fn tick_link(&mut self, s: usize, place: usize) {
        let set = &self.rhs.asm.sets[s];
        let x = &mut self.x[set.first_state + place * set.width..][..set.width];
        set.law.tick(place, x, &self.rhs.links[s].link(place));
        self.wind_link(s, place);
        self.jumped(Entity::Link(set.links[place]));
    }
}

impl Integration for Solver<'_> {
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        Solver::advance_some(self, until, steps)
    }

    fn state(&self) -> &[f64] {
        Solver::state(self)
    }

    fn channels(&self) -> &[f64] {
        Solver::channels(self)
    }

    fn integrals(&self) -> &[f64] {
        Solver::integrals(self)
    }
}
