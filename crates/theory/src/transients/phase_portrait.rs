//! Phase portraits: trajectories of the delay equations in the plane of two quantities. Each starts after a past in which
//! all quantities had their initial values.

use super::BAND;
use super::duration::{MOST_DRAWN_RTTS, rightmost_nonzero_root, simulated_time};
use super::initial::InitialConditions;
use super::observable::Observable;
use crate::equilibrium::PlanEquilibrium;
use crate::progress::ProgressCounter;
use millpond_fluid::motion::{Component, LongTermBehavior, Trajectory, long_term_behavior, record};
use millpond_fluid::{Accuracy, Entity, Solver};
use millpond_plan::fluid::FluidLoopPlan;
use millpond_results::Watch;
use rayon::prelude::*;

/// A trajectory in the phase plane.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseTrajectory {
    /// The two quantities over time, in the units of the equations.
    pub trajectory: Trajectory,
    /// Its long-term behavior.
    pub behavior: LongTermBehavior,
}

/// A phase portrait.
#[derive(Clone, Debug, PartialEq)]
pub struct PhasePortrait {
    /// The quantity on the horizontal axis.
    pub horizontal: Observable,
    /// The quantity on the vertical axis.
    pub vertical: Observable,
    /// The equilibrium (horizontal, vertical), in the units of the equations.
    pub equilibrium: (f64, f64),
    /// All trajectories, in the order of their initial conditions.
    pub trajectories: Vec<PhaseTrajectory>,
    /// The longest simulated time of a trajectory, in seconds.
    pub seconds: f64,
    /// The rate at which the queue is constant, in the units of the equations; none unless the plane is that of a queue and
    /// of the only class of flows that fills it.
    pub balanced_rate: Option<f64>,
}

impl PhasePortrait {
    /// How many trajectories have such a long-term behavior.
    #[must_use]
    pub fn count(&self, is_counted: impl Fn(LongTermBehavior) -> bool) -> usize {
        self.trajectories.iter().filter(|trajectory| is_counted(trajectory.behavior)).count()
    }
}

/// Simulates the trajectories from all initial conditions with all processors, for `seconds` or for a time that the
/// rightmost root determines.
///
/// # Errors
/// An initial condition that no state can satisfy.
pub fn compute_phase_portrait(
    equilibrium: &PlanEquilibrium<'_>,
    plane: [Observable; 2],
    conditions: &InitialConditions,
    seconds: Option<f64>,
    watch: &dyn Watch,
) -> Result<PhasePortrait, String> {
    /// A trajectory whose behavior is undecided is simulated again for so many times as long.
    const LONGER: f64 = 4.0;
    let first = seconds.unwrap_or_else(|| default_duration(equilibrium));
    let phase_plane = PhasePlane::new(equilibrium, &plane, conditions, watch);
    let starts = conditions.states(equilibrium)?;
    let progress = ProgressCounter::new(watch, starts.len());
    let trajectory = |x: &Vec<f64>| {
        let found = match (phase_plane.simulate(x, first), seconds) {
            (found, None) if !found.behavior.is_decided() => phase_plane.simulate(x, LONGER * first),
            (found, _) => found,
        };
        progress.count();
        found
    };
    let trajectories: Vec<PhaseTrajectory> = starts.par_iter().map(trajectory).collect();
    let ends = trajectories.iter().filter_map(|found| found.trajectory.times.last().copied());
    let seconds = ends.fold(first, f64::max);
    let point = phase_plane.equilibrium_values;
    let [horizontal, vertical] = plane;
    let balanced_rate = balanced_rate(equilibrium, &horizontal, &vertical);
    Ok(PhasePortrait {
        horizontal,
        vertical,
        equilibrium: (point[0], point[1]),
        trajectories,
        seconds,
        balanced_rate,
    })
}

/// Until the slowest mode has decayed, in seconds.
fn default_duration(equilibrium: &PlanEquilibrium<'_>) -> f64 {
    const TIME_CONSTANTS: f64 = 8.0;
    let root = rightmost_nonzero_root(&equilibrium.frozen, &equilibrium.point);
    simulated_time(root.as_ref(), equilibrium.plan, TIME_CONSTANTS, MOST_DRAWN_RTTS)
}

/// The plane in which trajectories are recorded.
struct PhasePlane<'a, 'p> {
    equilibrium: &'a PlanEquilibrium<'p>,
    components: [Component; 2],
    equilibrium_values: [f64; 2],
    /// Half the range of the initial values.
    half_ranges: [f64; 2],
    watch: &'a dyn Watch,
}

impl<'a, 'p> PhasePlane<'a, 'p> {
    fn new(
        equilibrium: &'a PlanEquilibrium<'p>,
        plane: &[Observable; 2],
        conditions: &InitialConditions,
        watch: &'a dyn Watch,
    ) -> Self {
        let components = [plane[0].component, plane[1].component];
        let equilibrium_values = [&plane[0], &plane[1]].map(|axis| axis.equilibrium_value(equilibrium));
        let half_ranges = [&plane[0], &plane[1]].map(|axis| conditions.range(axis).unwrap_or_default() / 2.0);
        Self { equilibrium, components, equilibrium_values, half_ranges, watch }
    }

    /// The trajectory from these states, after a past in which they were constant.
    fn simulate(&self, x: &[f64], seconds: f64) -> PhaseTrajectory {
        const SAMPLES: u32 = 4000;
        let trajectory = match Solver::at(&self.equilibrium.frozen, x, Accuracy::default()) {
            Ok(mut solver) => {
                record(&mut solver, seconds, SAMPLES, &self.components, &|| !self.watch.stopped())
            }
            Err(error) => Trajectory { error: Some(error), ..Trajectory::default() },
        };
        let sizes = sizes(&trajectory, &self.equilibrium_values, &self.half_ranges);
        let behavior = long_term_behavior(&trajectory, &self.equilibrium_values, &sizes, BAND);
        PhaseTrajectory { behavior, trajectory }
    }
}

/// The distances of which [`BAND`] is a share: the largest distance of the trajectory from the equilibrium, but at least a
/// twentieth of half the range of initial values.
fn sizes(trajectory: &Trajectory, equilibrium: &[f64], half_ranges: &[f64]) -> Vec<f64> {
    const LEAST: f64 = 0.05;
    let farthest = |(values, center): (&Vec<f64>, &f64)| {
        values
            .iter()
            .map(|value| (value - center).abs())
            .fold(1e-9 * center.abs(), f64::max)
            .max(f64::MIN_POSITIVE)
    };
    let distances = trajectory.values.iter().zip(equilibrium).map(farthest);
    distances.zip(half_ranges).map(|(distance, half)| distance.max(LEAST * half)).collect()
}

/// Capacity over the number of flows, if a single class of flows crosses the link whose queue is on the vertical axis.
fn balanced_rate(
    equilibrium: &PlanEquilibrium<'_>,
    horizontal: &Observable,
    vertical: &Observable,
) -> Option<f64> {
    let (Entity::Loop(l), Entity::Link(link)) = (horizontal.entity, vertical.entity) else { return None };
    let plan = equilibrium.plan;
    let is_rate = horizontal.quantity == "rate" || horizontal.quantity == "sending rate";
    let crosses =
        |l: &FluidLoopPlan| l.links.iter().any(|place| plan.links[*place].id.is_some_and(|id| id.0 == link));
    let is_alone = plan.loops.iter().filter(|l| crosses(l)).count() == 1 && crosses(&plan.loops[l]);
    let capacity = equilibrium.frozen.capacity(link);
    (is_rate && is_alone && vertical.quantity == "queue").then(|| capacity / plan.loops[l].count)
}
