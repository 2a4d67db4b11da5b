//! Integrates a scenario's equations and measures them as the packet world is measured.
//!
//! ```text
//!   Plan --> Solver --- advance(next look) ---> beats: distributions; recorder: series; windows: fairness
//!                 \--- at the end: integrals since `measure.from` ---> Summary
//! ```
//!
//! A fluid has no packets: counts of them are bits over the packet size, rounded. What only packets have
//! (retransmissions, headers, packet-hops) is zero.

mod beats;
mod columns;
mod recorder;
mod summary;
mod weighted;

use super::{Plan, plan};
use crate::error::Error;
use crate::results::Run;
use crate::run::fairness::{Sharer, Windows};
use crate::run::stopwatch::Stopwatch;
use crate::run::ticks::Ticks;
use crate::run::{About, Finished};
use crate::watch::Watch;
use beats::Beats;
use columns::{Columns, Totals};
use millpond_fluid::{Accuracy, Solver};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_units::Time;
use recorder::Recorder;

/// Between two ticks a network of no more loops and links than [`SMALL`] is looked at so often.
const LOOKS: u64 = 4;
const SMALL: usize = 1000;

/// So many steps are taken between two looks at whether the run is to stop.
const STEPS: u64 = 1000;

/// Plans and integrates a scenario.
///
/// # Errors
/// What [`plan`] says, that the equations could not be integrated, or that `watch` stopped it.
pub(crate) fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    let plan = plan(scenario, registry)?;
    let stopwatch = Stopwatch::start();
    let run = measure(&plan, scenario, about, watch)?;
    Ok(Finished { run, timing: stopwatch.read(0) })
}

fn measure(plan: &Plan, scenario: &Scenario, about: About, watch: &dyn Watch) -> Result<Run, Error> {
    let columns = Columns::new(plan);
    let mut solver = Solver::new(&plan.assembly, Accuracy::default())?;
    let mut recorder = Recorder::new(plan, &columns);
    let mut beats = Beats::new(plan, &columns, &solver);
    let mut windows = Windows::new(plan.flows.len());
    let mut now = Totals::of(&solver, Time::ZERO);
    let [mut sampled, mut closed, mut begun] = [now.clone(), now.clone(), now.clone()];
    let looks = if plan.loops.len() + plan.links.len() <= SMALL { LOOKS } else { 1 };
    for (time, due) in Ticks::new(scenario) {
        let span = time.since(now.time);
        for look in 1..=looks {
            let next = if look == looks { time } else { now.time + span * look / looks };
            while !solver.advance_some(next.secs(), STEPS)? {
                if watch.stopped() {
                    return Err(Error::Stopped { finished: 0, of: 1 });
                }
            }
            beats.take(&solver, next);
        }
        now = Totals::of(&solver, time);
        if due.sample {
            recorder.sample(&sampled, &now);
            sampled = now.clone();
        }
        if due.window {
            close(&mut windows, plan, &columns, (&closed, &now));
            closed = now.clone();
        }
        if due.begin {
            beats.start_over();
            begun = now.clone();
        }
        if watch.stopped() {
            return Err(Error::Stopped { finished: 0, of: 1 });
        }
        watch.progress(about.index, time.secs() / scenario.duration.secs());
    }
    let end =
        summary::End { plan, scenario, columns: &columns, beats: &beats, windows: &windows, begun, now };
    Ok(end.into_run(about, recorder.into_series()))
}

/// A window of short-term fairness ends.
fn close(windows: &mut Windows, plan: &Plan, columns: &Columns, (begin, end): (&Totals, &Totals)) {
    let capacities: Vec<f64> =
        plan.links.iter().map(|link| link.mean_capacity(begin.time, end.time)).collect();
    let goodput = |flow: &super::PlannedFlow| {
        let throughout = flow.start <= begin.time && flow.stop.is_none_or(|stop| stop >= end.time);
        let last = flow.loops.last().filter(|_| throughout)?;
        Some(end.mean_since(begin, columns.delivered[last.0]) * flow.payload)
    };
    let sharers: Vec<_> =
        plan.flows.iter().map(|flow| Sharer { links: &flow.links, demand: f64::INFINITY }).collect();
    windows.add(end.time, &capacities, &sharers, plan.flows.iter().map(goodput).collect());
}
