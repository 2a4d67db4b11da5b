//! Out of rest by a step: a link's capacity changes, or one more flow joins.

use super::observable::{Observable, rates};
use super::{Step, bottlenecks, horizon, observables, slowest};
use crate::Refusal;
use crate::equilibrium::{Settled, settle};
use millpond_fluid::motion::{Component, Predicted, StepResponse, Trajectory, record};
use millpond_fluid::{Accuracy, Entity, Error, Frozen, LoopId, OperatingPoint, Solver, equilibrium};
use millpond_plan::fluid::{self, Plan};
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::{At, Place as Line, Scenario};
use millpond_units::Rate;

/// How one quantity answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// Which.
    pub of: Observable,
    /// In the units of the equations, over [`Answer::times`].
    pub values: Vec<f64>,
    /// Where it is to end.
    pub to: f64,
    /// Rise, overshoot, settling.
    pub response: StepResponse,
}

/// How a network answers a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// In words: `near from 120 to 96 Mbps`.
    pub what: String,
    /// In seconds, the step at zero.
    pub times: Vec<f64>,
    /// One flow of each class.
    pub rates: Vec<Answered>,
    /// Queues of bottlenecks, and of the link concerned.
    pub queues: Vec<Answered>,
    /// What the rightmost root about the new equilibrium would make of it.
    pub predicted: Option<Predicted>,
}

/// Makes each step at rest and follows what comes of it, all of them for the same time: `seconds`, or the longest that one of
/// them needs.
///
/// # Errors
/// No rest before or after it, or equations that cannot be integrated.
pub fn answers(
    steps: &[Step],
    about: (&Scenario, &Registry),
    settled: &Settled<'_>,
    seconds: Option<f64>,
    watch: &dyn Watch,
) -> Result<Vec<Answer>, Refusal> {
    let all = |seconds| {
        steps.iter().map(|step| answer(step, about, settled, (seconds, watch))).collect::<Result<Vec<_>, _>>()
    };
    let first = all(seconds)?;
    let ends: Vec<f64> = first.iter().filter_map(|answer| answer.times.last().copied()).collect();
    let longest = ends.iter().copied().fold(0.0, f64::max);
    if ends.iter().all(|end| *end == longest) { Ok(first) } else { all(Some(longest)) }
}

fn answer(
    step: &Step,
    (scenario, registry): (&Scenario, &Registry),
    settled: &Settled<'_>,
    (seconds, watch): (Option<f64>, &dyn Watch),
) -> Result<Answer, Refusal> {
    match step {
        Step::Capacity { link, name, to } => {
            let now = settled.frozen.capacity(link.0);
            let after = settled.frozen.with_capacity(*link, *to);
            let end = equilibrium::equilibrium_near(&after, &settled.moment.x)?;
            let mut solver = begin(&settled.frozen, &settled.moment)?;
            solver.set_capacity(*link, *to)?;
            let what = format!("{name} from {} to {}", Rate::from_bps_f64(now), Rate::from_bps_f64(*to));
            let motion = Motion { settled, after: &after, end: &end, seconds, watch };
            motion.measure(what, solver, Some(link.0))
        }
        Step::Join { group } => {
            let (scenario, joined) = with_one_more(scenario, group);
            let plan = fluid::plan(&scenario, registry)?;
            join(&settle(&plan)?, (group, &joined), (seconds, watch))
        }
    }
}

/// `all` with the flows of `joined`, who are not there before.
fn join(
    all: &Settled<'_>,
    (group, joined): (&str, &str),
    (seconds, watch): (Option<f64>, &dyn Watch),
) -> Result<Answer, Refusal> {
    let flows = all.plan.flows.iter().filter(|flow| flow.group == joined);
    let new: Vec<LoopId> = flows.flat_map(|flow| flow.loops.clone()).collect();
    let before = new.iter().fold(all.frozen.clone(), |frozen, l| frozen.without(*l));
    let mut begins = all.moment.x.clone();
    reset(all.plan, &new, &mut begins);
    let mut solver = begin(&before, &equilibrium::equilibrium_near(&before, &begins)?)?;
    for l in &new {
        solver.start(*l)?;
    }
    let motion = Motion { settled: all, after: &all.frozen, end: &all.moment, seconds, watch };
    motion.measure(format!("one more flow of {group}"), solver, None)
}

fn begin<'p>(frozen: &Frozen<'p>, rest: &OperatingPoint) -> Result<Solver<'p>, Error> {
    Solver::at(frozen, &rest.x, Accuracy::default())
}

/// The same flows and a group of one more like those of `group`; and what that is called.
fn with_one_more(scenario: &Scenario, group: &str) -> (Scenario, String) {
    let mut scenario = scenario.clone();
    let mut name = format!("{group}+1");
    while scenario.flows.iter().any(|other| other.name.value == name) {
        name.push('\'');
    }
    if let Some(like) = scenario.flows.iter().find(|other| other.name.value == group).cloned() {
        let name = At::new(name.clone(), Line::default());
        scenario.flows.push(millpond_scenario::FlowGroup { name, count: 1, ..like });
    }
    (scenario, name)
}

/// Those who are not there yet are at their initial states.
fn reset(plan: &Plan, new: &[LoopId], x: &mut [f64]) {
    let initial = plan.assembly.initial();
    for (state, column) in plan.assembly.state_columns().iter().enumerate() {
        if matches!(column.entity, Entity::Loop(l) if new.contains(&LoopId(l))) {
            x[state] = initial[state];
        }
    }
}

/// From one rest to the next.
struct Motion<'a, 'p> {
    settled: &'a Settled<'p>,
    after: &'a Frozen<'p>,
    end: &'a OperatingPoint,
    seconds: Option<f64>,
    watch: &'a dyn Watch,
}

impl Motion<'_, '_> {
    fn measure(
        &self,
        what: String,
        mut solver: Solver<'_>,
        concerned: Option<usize>,
    ) -> Result<Answer, Refusal> {
        const DIES: f64 = 5.0;
        const LOOKS: u32 = 6000;
        let root = slowest(self.after, self.end);
        let seconds = self.seconds.unwrap_or_else(|| horizon(root.as_ref(), self.settled.plan, DIES));
        let mut links = bottlenecks(self.settled);
        links.extend(concerned.filter(|link| !links.contains(link)));
        let rates = rates(self.settled.plan);
        let queue = |one: &Observable| match one.entity {
            Entity::Link(link) => one.quantity == "queue" && links.contains(&link),
            _ => false,
        };
        let queues: Vec<Observable> = observables(self.settled.plan).into_iter().filter(queue).collect();
        let watched: Vec<Component> = rates.iter().chain(&queues).map(|one| one.place).collect();
        let motion = record(&mut solver, seconds, LOOKS, &watched, &|| !self.watch.stopped());
        if let Some(error) = motion.error {
            return Err(Refusal::Broken(error));
        }
        let count = rates.len();
        let mut answered =
            rates.into_iter().chain(queues).enumerate().map(|(k, of)| self.answered(of, k, &motion));
        let rates = answered.by_ref().take(count).collect();
        let queues = answered.collect();
        Ok(Answer { what, rates, queues, predicted: root.as_ref().map(Predicted::of), times: motion.times })
    }

    fn answered(&self, of: Observable, k: usize, motion: &Trajectory) -> Answered {
        /// A way shorter than this share of where it leads is none; neither is a hundredth of a packet.
        const LEAST: f64 = 1e-4;
        let to = of.place.of(&self.end.x, &self.end.channels);
        let values = motion.values[k].clone();
        let least = if of.unit == "packets" { (0.01 / of.scale).max(LEAST * to) } else { LEAST * to.abs() };
        let response = StepResponse::of(&motion.times, &values, to, least);
        Answered { of, values, to, response }
    }
}
