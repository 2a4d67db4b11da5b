//! Out of rest by a step: a link's capacity changes, or one more flow joins.

use super::observe::{Observable, rates};
use super::{bottlenecks, horizon, observables};
use crate::analysis::{Refusal, Settled, settle};
use crate::fluid::{self, Plan};
use millpond_fluid::motion::{Place, Predicted, Response, Trajectory, follow};
use millpond_fluid::stability::{Linearized, Root, rightmost};
use millpond_fluid::{Accuracy, Entity, Error, Frozen, LinkId, LoopId, Moment, Solver, equilibrium};
use millpond_law::nearest;
use millpond_protocols::Registry;
use millpond_scenario::{At, Place as Line, Scenario};
use millpond_units::Rate;

/// What changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A link's capacity.
    Capacity {
        /// As the engine knows it.
        link: LinkId,
        /// As typed.
        name: String,
        /// In bit/s.
        to: f64,
    },
    /// One more flow of this group.
    Join {
        /// The group.
        group: String,
    },
}

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
    pub response: Response,
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

impl Step {
    /// `near=80%`, `near=100Mbps`, `join`, `join=short`.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn read(text: &str, scenario: &Scenario, settled: &Settled<'_>) -> Result<Self, String> {
        let usage = || {
            format!(
                "--step {text}: write a link's new capacity, such as near=80% or near=100Mbps, or join=GROUP"
            )
        };
        let groups = || scenario.flows.iter().map(|group| group.name.value.as_str());
        let (name, to) = match text.split_once('=') {
            None if text == "join" => {
                let group = groups().next().ok_or_else(usage)?.to_owned();
                return Ok(Self::Join { group });
            }
            Some(("join", group)) if groups().any(|known| known == group) => {
                return Ok(Self::Join { group: group.to_owned() });
            }
            Some(("join", group)) => return Err(unknown("no group of flows", group, groups().collect())),
            Some((name, to)) => (name, to),
            None => return Err(usage()),
        };
        let queues: Vec<Observable> =
            observables(settled.plan).into_iter().filter(|one| one.quantity == "queue").collect();
        let called = |one: &Observable| one.name.trim_end_matches(".queue").to_owned();
        let names: Vec<String> = queues.iter().map(called).collect();
        let found = queues.iter().find(|one| called(one) == name).map(|one| one.entity);
        let Some(Entity::Link(link)) = found else {
            return Err(unknown("no link that data cross", name, names.iter().map(String::as_str).collect()));
        };
        let now = settled.frozen.capacity(link);
        let share = to.trim().strip_suffix('%').map(|share| share.trim().parse::<f64>().ok());
        let to = match share {
            Some(share) => share.map(|share| share / 100.0 * now),
            None => to.trim().parse::<Rate>().ok().map(Rate::as_f64),
        };
        match to.filter(|to| to.is_finite() && *to > 0.0) {
            Some(to) if to != now => Ok(Self::Capacity { link: LinkId(link), name: name.to_owned(), to }),
            Some(_) => Err(format!("--step {text}: that is what it is now")),
            None => Err(usage()),
        }
    }
}

fn unknown(what: &str, text: &str, names: Vec<&str>) -> String {
    let hint = match nearest(text, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    format!("--step: {what} is called \"{text}\"; {hint}there are: {}", names.join(", "))
}

/// Makes the step at rest and follows what comes of it.
///
/// # Errors
/// No rest before or after it, or equations that cannot be integrated.
pub fn answer(
    step: &Step,
    (scenario, registry): (&Scenario, &Registry),
    settled: &Settled<'_>,
    (root, seconds): (Option<&Root>, Option<f64>),
) -> Result<Answer, Refusal> {
    let seconds = |plan: &Plan| {
        let longest = plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max);
        seconds.unwrap_or_else(|| horizon(root, longest, 5.0))
    };
    match step {
        Step::Capacity { link, name, to } => {
            let now = settled.frozen.capacity(link.0);
            let after = settled.frozen.with_capacity(*link, *to);
            let end = equilibrium::rest(&after, &settled.moment.x)?;
            let mut solver = begin(&settled.frozen, &settled.moment)?;
            solver.set_capacity(*link, *to).map_err(Refusal::Broken)?;
            let what = format!("{name} from {} to {}", Rate::from_bps_f64(now), Rate::from_bps_f64(*to));
            let motion = Motion { settled, after: &after, end: &end, seconds: seconds(settled.plan) };
            motion.measure(what, solver, Some(link.0))
        }
        Step::Join { group } => {
            let (scenario, joined) = with_one_more(scenario, group);
            let plan = fluid::plan(&scenario, registry)?;
            let all = settle(&plan)?;
            let new: Vec<LoopId> = plan
                .flows
                .iter()
                .filter(|flow| flow.group == joined)
                .flat_map(|flow| flow.loops.clone())
                .collect();
            let before = new.iter().fold(all.frozen.clone(), |frozen, l| frozen.without(*l));
            let mut begins = all.moment.x.clone();
            reset(&plan, &new, &mut begins);
            let rest = equilibrium::rest(&before, &begins)?;
            let mut solver = begin(&before, &rest)?;
            for l in &new {
                solver.start(*l).map_err(Refusal::Broken)?;
            }
            let motion =
                Motion { settled: &all, after: &all.frozen, end: &all.moment, seconds: seconds(&plan) };
            motion.measure(format!("one more flow of {group}"), solver, None)
        }
    }
}

fn begin<'p>(frozen: &Frozen<'p>, rest: &Moment) -> Result<Solver<'p>, Refusal> {
    Solver::at(frozen, &rest.x, Accuracy::default()).map_err(Refusal::Broken)
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
    end: &'a Moment,
    seconds: f64,
}

impl Motion<'_, '_> {
    fn measure(
        &self,
        what: String,
        mut solver: Solver<'_>,
        concerned: Option<usize>,
    ) -> Result<Answer, Refusal> {
        const LOOKS: u32 = 6000;
        let linear = Linearized::of(self.after, self.end);
        let root = rightmost(&linear.system).ok().and_then(|spectrum| spectrum.roots.first().cloned());
        let mut links = bottlenecks(self.settled);
        links.extend(concerned.filter(|link| !links.contains(link)));
        let rates = rates(self.settled.plan);
        let queue = |one: &Observable| match one.entity {
            Entity::Link(link) => one.quantity == "queue" && links.contains(&link),
            _ => false,
        };
        let queues: Vec<Observable> = observables(self.settled.plan).into_iter().filter(queue).collect();
        let watched: Vec<Place> = rates.iter().chain(&queues).map(|one| one.place).collect();
        let motion = follow(&mut solver, self.seconds, LOOKS, &watched, &|| true);
        if let Some(error) = motion.broken {
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
        let response = Response::of(&motion.times, &values, to, least);
        Answered { of, values, to, response }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}
