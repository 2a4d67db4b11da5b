//! A phase portrait: trajectories of the delay equations in the plane of two quantities, each after a past that was as constant
//! as its start.

use super::initial::Starts;
use super::observable::Observable;
use super::{BAND, horizon, slowest};
use crate::equilibrium::Settled;
use millpond_fluid::motion::{Component, LongTermBehavior, Trajectory, long_term_behavior, record};
use millpond_fluid::{Accuracy, Entity, Solver};
use millpond_results::Watch;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The two quantities over time, in the units of the equations.
    pub trajectory: Trajectory,
    /// Where it leads.
    pub fate: LongTermBehavior,
}

/// A phase portrait.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
    /// From left to right.
    pub across: Observable,
    /// From bottom to top.
    pub up: Observable,
    /// The point of rest, in the units of the equations.
    pub rest: (f64, f64),
    /// All trajectories, in the order of their starts.
    pub paths: Vec<Path>,
    /// How long the longest of them was followed, in seconds.
    pub seconds: f64,
    /// The rate at which the queue neither grows nor shrinks, if the plane is that of a queue and of the only flows that fill
    /// it; in the units of the equations.
    pub level: Option<f64>,
}

impl Portrait {
    /// How many trajectories end like this.
    #[must_use]
    pub fn count(&self, which: impl Fn(LongTermBehavior) -> bool) -> usize {
        self.paths.iter().filter(|path| which(path.fate)).count()
    }
}

/// Follows all trajectories, on all processors.
///
/// # Errors
/// A start that cannot be set.
pub fn portrait(
    settled: &Settled<'_>,
    (across, up): (Observable, Observable),
    starts: &Starts,
    seconds: Option<f64>,
    watch: &dyn Watch,
) -> Result<Portrait, String> {
    /// What is neither at rest nor in a cycle by then is followed so many times as long.
    const LONGER: f64 = 4.0;
    let first = seconds.unwrap_or_else(|| natural(settled));
    let watched = [across.place, up.place];
    let rest = watched.map(|place| place.of(&settled.moment.x, &settled.moment.channels));
    let halves = [&across, &up].map(|of| starts.width(of).unwrap_or_default() / 2.0);
    let follow = |x: &[f64], seconds: f64| {
        let trajectory = trace(settled, x, (&watched, seconds), watch);
        Path {
            fate: long_term_behavior(&trajectory, &rest, &sizes(&trajectory, &rest, &halves), BAND),
            trajectory,
        }
    };
    let all = starts.states(settled)?;
    let done = AtomicUsize::new(0);
    let path = |x: &Vec<f64>| {
        let path = match (follow(x, first), seconds) {
            (path, None) if !path.fate.is_decided() => follow(x, LONGER * first),
            (path, _) => path,
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        // Starts are some hundreds.
        #[allow(clippy::cast_precision_loss, reason = "counts of starts are small")]
        watch.progress(0, done as f64 / all.len() as f64);
        path
    };
    let paths: Vec<Path> = all.par_iter().map(path).collect();
    let ends = paths.iter().filter_map(|path| path.trajectory.times.last().copied());
    let seconds = ends.fold(first, f64::max);
    let level = level(settled, &across, &up);
    Ok(Portrait { across, up, rest: (rest[0], rest[1]), paths, seconds, level })
}

/// Until the slowest root has died out.
fn natural(settled: &Settled<'_>) -> f64 {
    const DIES: f64 = 8.0;
    horizon(slowest(&settled.frozen, &settled.moment).as_ref(), settled.plan, DIES)
}

/// From these states, after a past that was the same for ever.
fn trace(
    settled: &Settled<'_>,
    x: &[f64],
    (watched, seconds): (&[Component], f64),
    watch: &dyn Watch,
) -> Trajectory {
    const LOOKS: u32 = 4000;
    match Solver::at(&settled.frozen, x, Accuracy::default()) {
        Ok(mut solver) => record(&mut solver, seconds, LOOKS, watched, &|| !watch.stopped()),
        Err(error) => Trajectory { error: Some(error), ..Trajectory::default() },
    }
}

/// What the band is a share of: how far from rest a trajectory itself goes; what hardly moves is judged by the range of starts.
fn sizes(trajectory: &Trajectory, rest: &[f64], halves: &[f64]) -> Vec<f64> {
    const HARDLY: f64 = 0.05;
    let farthest = |(values, rest): (&Vec<f64>, &f64)| {
        values
            .iter()
            .map(|value| (value - rest).abs())
            .fold(1e-9 * rest.abs(), f64::max)
            .max(f64::MIN_POSITIVE)
    };
    let own = trajectory.values.iter().zip(rest).map(farthest);
    own.zip(halves).map(|(own, half)| own.max(HARDLY * half)).collect()
}

/// Capacity over the number of flows, where one class of flows alone crosses the link whose queue is drawn.
fn level(settled: &Settled<'_>, across: &Observable, up: &Observable) -> Option<f64> {
    let (Entity::Loop(l), Entity::Link(link)) = (across.entity, up.entity) else { return None };
    let plan = settled.plan;
    let is_rate = across.quantity == "rate" || across.quantity == "sending rate";
    let crosses = |l: &millpond_plan::fluid::PlannedLoop| {
        l.links.iter().any(|place| plan.links[*place].id.is_some_and(|id| id.0 == link))
    };
    let alone = plan.loops.iter().filter(|l| crosses(l)).count() == 1 && crosses(&plan.loops[l]);
    (is_rate && alone && up.quantity == "queue").then(|| settled.frozen.capacity(link) / plan.loops[l].count)
}
