//! Integrates a scenario's equations and measures them as the packet world is measured.
//!
//! ```text
//!   Plan --> Integration --- advance(next look) ---> beats: distributions; recorder: series; windows: fairness
//!                      \--- at the end: integrals since `measure.from` ---> Summary
//! ```
//!
//! A fluid has no packets: counts of them are bits over the packet size, rounded. What only packets have
//! (retransmissions, headers, packet-hops) is zero.

mod columns;
mod distribution_sampler;
mod series;
mod summary;

use crate::Error;
use crate::fairness::{Sharer, Windows};
use crate::stopwatch::Stopwatch;
use crate::ticks::{Due, Ticks};
use columns::{Columns, Totals};
use distribution_sampler::Beats;
use millpond_fluid::{Accuracy, FixedStepIntegration, Integration, Solver};
use millpond_plan::fluid::{Plan, PlannedFlow, check_method, plan};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Run, Watch};
use millpond_scenario::{Method, Scenario};
use millpond_units::{Span, Time};
use series::Recorder;
use std::rc::Rc;

/// Between two ticks a network of no more loops and links than [`SMALL`] is looked at so often.
const LOOKS: u64 = 4;
const SMALL: usize = 1000;

/// Of a larger one no more values than twice this are kept for each distribution: neighbours become one.
const FEW: usize = 64;

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
    check_method(scenario, &plan)?;
    let stopwatch = Stopwatch::start();
    let run = measure(&plan, scenario, about, watch)?;
    Ok(Finished { run, timing: stopwatch.read(0) })
}

/// The scenario's equations at time zero, under its method.
fn begin<'a>(plan: &'a Plan, scenario: &Scenario) -> Result<Box<dyn Integration + 'a>, Error> {
    Ok(match &scenario.fluid {
        Method::Adaptive => Box::new(Solver::new(&plan.assembly, Accuracy::default())?),
        Method::FixedStep(step) => Box::new(FixedStepIntegration::new(&plan.assembly, step.secs())?),
    })
}

/// Where between two moments a run is looked at, the later moment the last: at whole steps.
fn looks(scenario: &Scenario, is_small: bool, from: Time, until: Time) -> Vec<Time> {
    let span = until.since(from);
    let (looks, step) = match &scenario.fluid {
        Method::Adaptive => (LOOKS, Span::from_picos(1)),
        Method::FixedStep(step) => (LOOKS.min(span.picos() / step.picos()).max(1), **step),
    };
    let looks = if is_small { looks } else { 1 };
    let steps = span.picos() / step.picos();
    let between = (1..looks).map(|look| from + step * (steps * look / looks));
    between.chain([until]).collect()
}

fn measure(plan: &Plan, scenario: &Scenario, about: About, watch: &dyn Watch) -> Result<Run, Error> {
    let columns = Columns::new(plan);
    let mut integration = begin(plan, scenario)?;
    let mut recorder = Recorder::new(plan, &columns);
    let mut now = Rc::new(Totals::of(&*integration, Time::ZERO));
    let is_small = plan.loops.len() + plan.links.len() <= SMALL;
    let mut beats = Beats::new(plan, &columns, now.clone(), if is_small { usize::MAX } else { FEW });
    let mut windows = Windows::new(plan.flows.len());
    let [mut sampled, mut closed, mut begun] = [now.clone(), now.clone(), now.clone()];
    for (time, due) in Ticks::new(scenario) {
        let is_looked_at = is_small || due != Due::default() || time == Time::ZERO + scenario.duration;
        for look in looks(scenario, is_small, now.time, time) {
            while !integration.advance_some(look.secs(), STEPS)? {
                if watch.stopped() {
                    return Err(Error::Stopped { finished: 0, of: 1 });
                }
            }
            if is_looked_at {
                now = Rc::new(Totals::of(&*integration, look));
                beats.take(now.clone());
            }
        }
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
    let (columns, beats, windows, classes) = (&columns, &beats, &windows, summary::classes(plan));
    let end = summary::End { plan, scenario, columns, beats, windows, classes, begun, now };
    Ok(end.into_run(about, recorder.into_series()))
}

/// A window of short-term fairness ends.
fn close(windows: &mut Windows, plan: &Plan, columns: &Columns, (begin, end): (&Totals, &Totals)) {
    let capacities: Vec<f64> =
        plan.links.iter().map(|link| link.mean_capacity(begin.time, end.time)).collect();
    let goodput = |flow: &PlannedFlow| {
        let throughout = flow.start <= begin.time && flow.stop.is_none_or(|stop| stop >= end.time);
        let last = flow.loops.last().filter(|_| throughout)?;
        Some(end.mean_since(begin, columns.delivered[last.0]) * flow.payload)
    };
    let sharers: Vec<_> =
        plan.flows.iter().map(|flow| Sharer { links: &flow.links, demand: f64::INFINITY }).collect();
    windows.add(end.time, &capacities, &sharers, plan.flows.iter().map(goodput).collect());
}
