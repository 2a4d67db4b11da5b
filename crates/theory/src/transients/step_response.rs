//! Responses to a step: the capacity of a link changes, or one more flow starts.

use super::StepChange;
use super::duration::{MOST_DRAWN_RTTS, rightmost_nonzero_root, simulated_time};
use super::observable::{Observable, bottleneck_links, observables, sending_rates};
use crate::equilibrium::{PlanEquilibrium, find_equilibrium};
use crate::{AnalysisError, Study};
use millpond_fluid::motion::{Component, Predicted, StepResponse, Trajectory, record};
use millpond_fluid::{Accuracy, Entity, Error, Frozen, LoopId, OperatingPoint, Solver, equilibrium};
use millpond_plan::fluid::FluidPlan;
use millpond_results::Watch;
use millpond_scenario::{At, FlowGroup, Place, Scenario};
use millpond_units::format::mbit_per_s;

/// The response of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedResponse {
    /// The quantity.
    pub observable: Observable,
    /// Its values at [`StepTransient::times`], in the units of the equations.
    pub values: Vec<f64>,
    /// Its value at the new equilibrium.
    pub final_value: f64,
    /// Rise time, overshoot, settling time.
    pub response: StepResponse,
}

/// The response of a network to a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTransient {
    /// The step in a phrase: `near from 120 Mbit/s to 96 Mbit/s`.
    pub description: String,
    /// Times of the values in seconds, the step being at zero.
    pub times: Vec<f64>,
    /// Sending rate of one flow of each class.
    pub rates: Vec<ObservedResponse>,
    /// Queues of the bottlenecks and of the changed link.
    pub queues: Vec<ObservedResponse>,
    /// The response of a system with only the rightmost root about the new equilibrium.
    pub predicted: Option<Predicted>,
}

impl StepTransient {
    /// Whether a rate still oscillates at the end, with an amplitude that does not fall: disturbances of this size do not decay
    /// within the simulated time, whatever the roots tell of small ones.
    pub fn keeps_oscillating(&self) -> bool {
        self.rates.iter().any(ObservedResponse::keeps_oscillating)
    }
}

impl ObservedResponse {
    fn keeps_oscillating(&self) -> bool {
        /// Amplitudes that differ by less are equal.
        const EQUAL: f64 = 0.98;
        let (StepResponse::Step { settling, .. } | StepResponse::Excursion { settling, .. }) = self.response;
        let third = self.values.len() / 3;
        let peak_to_peak = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
        };
        let last_thirds = [third..2 * third, 2 * third..3 * third].map(|part| self.values.get(part));
        let [Some(middle), Some(last)] = last_thirds else { return false };
        settling.is_none() && peak_to_peak(last) >= EQUAL * peak_to_peak(middle)
    }
}

/// Simulates each step from the equilibrium, all for the same time: `seconds`, or the longest time that one of them needs.
///
/// # Errors
/// There is no equilibrium before or after a step, or the equations cannot be integrated.
pub fn simulate_steps(
    steps: &[StepChange],
    study: Study<'_>,
    equilibrium: &PlanEquilibrium<'_>,
    seconds: Option<f64>,
    watch: &dyn Watch,
) -> Result<Vec<StepTransient>, AnalysisError> {
    let all = |seconds| {
        let recording = Recording { seconds, watch };
        steps.iter().map(|step| simulate(step, study, equilibrium, recording)).collect::<Result<Vec<_>, _>>()
    };
    let first = all(seconds)?;
    let ends: Vec<f64> = first.iter().filter_map(|transient| transient.times.last().copied()).collect();
    let longest = ends.iter().copied().fold(0.0, f64::max);
    if ends.iter().all(|end| *end == longest) { Ok(first) } else { all(Some(longest)) }
}

/// For how long a response is recorded.
#[derive(Clone, Copy)]
struct Recording<'a> {
    /// In seconds; none: as long as the rightmost root takes to decay.
    seconds: Option<f64>,
    watch: &'a dyn Watch,
}

fn simulate(
    step: &StepChange,
    study: Study<'_>,
    equilibrium: &PlanEquilibrium<'_>,
    recording: Recording<'_>,
) -> Result<StepTransient, AnalysisError> {
    match step {
        StepChange::Capacity { link, name, capacity } => {
            let before = equilibrium.frozen.capacity(link.0);
            let after = equilibrium.frozen.with_capacity(*link, *capacity);
            let end = equilibrium::equilibrium_near(&after, &equilibrium.point.x)?;
            let mut solver = solver_at(&equilibrium.frozen, &equilibrium.point)?;
            solver.set_capacity(*link, *capacity)?;
            let [before, to] = [before, *capacity].map(mbit_per_s);
            let description = format!("{name} from {before} to {to}");
            let transition = Transition { equilibrium, after: &after, end: &end, recording };
            transition.record(description, solver, Some(link.0))
        }
        StepChange::Join { group } => {
            let (scenario, joined) = with_one_more(study.scenario, group);
            let plan = study.with_scenario(&scenario).plan()?;
            simulate_join(&find_equilibrium(&plan)?, group, &joined, recording)
        }
    }
}

/// The response of the network without the flows of group `joined` to their start.
fn simulate_join(
    equilibrium: &PlanEquilibrium<'_>,
    group: &str,
    joined: &str,
    recording: Recording<'_>,
) -> Result<StepTransient, AnalysisError> {
    let flows = equilibrium.plan.flows.iter().filter(|flow| flow.group == joined);
    let new: Vec<LoopId> = flows.flat_map(|flow| flow.loops.clone()).collect();
    let before = new.iter().fold(equilibrium.frozen.clone(), |frozen, l| frozen.without(*l));
    let mut states = equilibrium.point.x.clone();
    reset(equilibrium.plan, &new, &mut states);
    let mut solver = solver_at(&before, &equilibrium::equilibrium_near(&before, &states)?)?;
    for l in &new {
        solver.start(*l)?;
    }
    let (after, end) = (&equilibrium.frozen, &equilibrium.point);
    let transition = Transition { equilibrium, after, end, recording };
    transition.record(format!("one more flow of {group}"), solver, None)
}

fn solver_at<'p>(frozen: &Frozen<'p>, point: &OperatingPoint) -> Result<Solver<'p>, Error> {
    Solver::at(frozen, &point.x, Accuracy::default())
}

/// The scenario with a further group of one flow like those of `group`, and the name of the new group.
fn with_one_more(scenario: &Scenario, group: &str) -> (Scenario, String) {
    let mut scenario = scenario.clone();
    let mut name = format!("{group}+1");
    while scenario.flows.iter().any(|other| other.name.value == name) {
        name.push('\'');
    }
    if let Some(like) = scenario.flows.iter().find(|other| other.name.value == group).cloned() {
        let name = At::new(name.clone(), Place::default());
        scenario.flows.push(FlowGroup { name, count: 1, ..like });
    }
    (scenario, name)
}

/// Sets the states of new loops to their initial values.
fn reset(plan: &FluidPlan, new: &[LoopId], x: &mut [f64]) {
    let initial = plan.assembly.initial();
    for (state, column) in plan.assembly.state_columns().iter().enumerate() {
        if matches!(column.entity, Entity::Loop(l) if new.contains(&LoopId(l))) {
            x[state] = initial[state];
        }
    }
}

/// The transition from one equilibrium to the next.
struct Transition<'a, 'p> {
    equilibrium: &'a PlanEquilibrium<'p>,
    after: &'a Frozen<'p>,
    end: &'a OperatingPoint,
    recording: Recording<'a>,
}

impl Transition<'_, '_> {
    fn record(
        &self,
        description: String,
        mut solver: Solver<'_>,
        changed_link: Option<usize>,
    ) -> Result<StepTransient, AnalysisError> {
        const TIME_CONSTANTS: f64 = 5.0;
        const SAMPLES: u32 = 6000;
        let root = rightmost_nonzero_root(self.after, self.end);
        let Recording { seconds, watch } = self.recording;
        let seconds = seconds.unwrap_or_else(|| {
            simulated_time(root.as_ref(), self.equilibrium.plan, TIME_CONSTANTS, MOST_DRAWN_RTTS)
        });
        let (rates, queues) = (sending_rates(self.equilibrium.plan), self.queues(changed_link));
        let watched: Vec<Component> = rates.iter().chain(&queues).map(|one| one.component).collect();
        let trajectory = record(&mut solver, seconds, SAMPLES, &watched, &|| !watch.stopped());
        if let Some(error) = trajectory.error {
            return Err(AnalysisError::Integration(error));
        }
        let count = rates.len();
        let all = rates.into_iter().chain(queues).enumerate();
        let mut responses = all.map(|(index, observable)| self.response(observable, index, &trajectory));
        let rates = responses.by_ref().take(count).collect();
        let queues = responses.collect();
        let predicted = root.as_ref().map(Predicted::of);
        Ok(StepTransient { description, rates, queues, predicted, times: trajectory.times })
    }

    /// The queues of the bottlenecks and of the changed link.
    fn queues(&self, changed_link: Option<usize>) -> Vec<Observable> {
        let mut links = bottleneck_links(self.equilibrium);
        links.extend(changed_link.filter(|link| !links.contains(link)));
        let is_watched = |observable: &Observable| match observable.entity {
            Entity::Link(link) => observable.quantity == "queue" && links.contains(&link),
            _ => false,
        };
        observables(self.equilibrium.plan).into_iter().filter(is_watched).collect()
    }

    fn response(&self, observable: Observable, index: usize, trajectory: &Trajectory) -> ObservedResponse {
        /// A change of less than this share of the final value, or of a hundredth of a packet, is an excursion.
        const LEAST: f64 = 1e-4;
        let end = observable.component.of(&self.end.x, &self.end.channels);
        let values = trajectory.values[index].clone();
        let least = if observable.unit == "packets" {
            (0.01 / observable.scale).max(LEAST * end)
        } else {
            LEAST * end.abs()
        };
        let response = StepResponse::of(&trajectory.times, &values, end, least);
        ObservedResponse { observable, values, final_value: end, response }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An oscillation about 1 that does not settle, whose amplitude decays at this rate per second over 30 s.
    fn oscillation(decay: f64) -> ObservedResponse {
        let times: Vec<f64> = (0..3000).map(|i| f64::from(i) * 0.01).collect();
        let values: Vec<f64> = times.iter().map(|t| 1.0 - (-decay * t).exp() * (6.0 * t).cos()).collect();
        let response = StepResponse::of(&times, &values, 1.0, 1e-4);
        let observable = Observable {
            name: "f.rate".to_owned(),
            entity: Entity::Loop(0),
            quantity: "sending rate",
            unit: "bit/s",
            scale: 1.0,
            component: Component::Channel(0),
        };
        ObservedResponse { observable, values, final_value: 1.0, response }
    }

    #[test]
    fn a_rate_keeps_oscillating_if_its_amplitude_does_not_fall() {
        assert!(oscillation(0.0).keeps_oscillating());
        // By a tenth from the second third of the time to the last one.
        assert!(!oscillation(0.01).keeps_oscillating());
        assert!(!oscillation(1.0).keeps_oscillating(), "it settles");
    }
}
