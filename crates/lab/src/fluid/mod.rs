//! Integrates a scenario's equations and measures them; the results have the form of those of the packet world.
//!
//! ```text
//!   FluidPlan --> Integration --- advance(next sample) ---> distributions, series, windows of fairness
//!                           \--- at the end: integrals over the measured time ---> Summary
//! ```
//!
//! Numbers of packets are bits divided by the packet size, rounded. Numbers that exist only for packets (retransmissions,
//! headers, packet-hops) are zero.

mod columns;
mod distribution_sampler;
mod fixed_steps;
mod series;
mod summary;

use crate::Error;
use crate::fairness::{FairnessWindows, FlowDemand};
use crate::panics::without_panic;
use crate::stopwatch::Stopwatch;
use crate::ticks::Ticks;
use columns::{Columns, IntegrationSnapshot};
use distribution_sampler::DistributionSampler;
use millpond_fluid::{Accuracy, DenseOutput, Integration, SlidingThreshold, Solver};
use millpond_plan::fluid::{FluidFlowPlan, FluidPlan, check_method, plan};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Run, Watch};
use millpond_scenario::{Method, Scenario};
use millpond_units::{Span, Time};
use series::FluidSeriesRecorder;
use std::rc::Rc;
use summary::{FinishedFluidRun, classes};

/// The number of samples of the distributions between two ticks, for networks of at most [`SMALL`] loops and links.
const SAMPLES_PER_TICK: u64 = 4;

/// The greatest number of loops and links of a small network; larger networks have one sample per tick.
const SMALL: usize = 1000;

/// In larger networks each distribution keeps at most twice this number of samples; adjacent samples are merged.
const LARGE_NETWORK_SAMPLES: usize = 64;

/// The number of steps between two checks whether the run is to stop.
const STEPS_PER_CHECK: u64 = 1000;

/// Plans and integrates a scenario.
///
/// # Errors
/// An error of [`plan`], equations that cannot be integrated, that `watch` stopped the run, or a panic of a law.
pub(crate) fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    let plan = plan(scenario, registry)?;
    check_method(scenario, &plan)?;
    let stopwatch = Stopwatch::start();
    let mut reached = Time::ZERO;
    let run = |reached: &mut Time| measure(&plan, scenario, about, watch, reached);
    let protocols = || plan.loops.iter().map(|one| one.protocol.clone()).collect();
    let run = without_panic(&mut reached, run, |reached| (protocols(), *reached))?;
    Ok(Finished { run, timing: stopwatch.read(0) })
}

/// The integration of the equations by the scenario's method, at time zero.
fn begin<'a>(plan: &'a FluidPlan, scenario: &Scenario) -> Result<Box<dyn Integration + 'a>, Error> {
    Ok(match &scenario.fluid.method {
        Method::Adaptive => {
            let solver = Solver::new(&plan.assembly, Accuracy::default())?;
            solver.check_reach(scenario.duration.secs())?;
            Box::new(DenseOutput::new(solver, scenario.duration.secs()))
        }
        Method::FixedStep(step) => fixed_steps::begin(plan, step.secs(), scenario.duration.secs())?,
    })
}

/// The times of the samples after `from`, at whole steps; the last is `until`.
fn sample_times(scenario: &Scenario, is_small: bool, from: Time, until: Time) -> Vec<Time> {
    let span = until.since(from);
    let (samples, step) = match &scenario.fluid.method {
        Method::Adaptive => (SAMPLES_PER_TICK, Span::from_picos(1)),
        Method::FixedStep(step) => (SAMPLES_PER_TICK.min(span.picos() / step.picos()).max(1), **step),
    };
    let samples = if is_small { samples } else { 1 };
    let steps = span.picos() / step.picos();
    let between = (1..samples).map(|sample| from + step * (steps * sample / samples));
    between.chain([until]).collect()
}

/// Integrates from tick to tick and measures. `reached` is the time of the last finished step of a sample.
fn measure(
    plan: &FluidPlan,
    scenario: &Scenario,
    about: About,
    watch: &dyn Watch,
    reached: &mut Time,
) -> Result<Run, Error> {
    let columns = Columns::new(plan);
    let mut integration = begin(plan, scenario)?;
    let mut recorder = FluidSeriesRecorder::new(plan, &columns);
    let mut now = Rc::new(IntegrationSnapshot::of(&*integration, Time::ZERO));
    let is_small = plan.loops.len() + plan.links.len() <= SMALL;
    let most = if is_small { usize::MAX } else { LARGE_NETWORK_SAMPLES };
    let mut sampler = DistributionSampler::new(plan, &columns, now.clone(), most);
    let mut windows = FairnessWindows::new(plan.flows.iter().map(|flow| flow.weight).collect());
    let parts = RunParts { plan, scenario, columns: &columns };
    let [mut sampled, mut closed, mut begun] = [now.clone(), now.clone(), now.clone()];
    for (time, due) in Ticks::new(scenario) {
        let is_sampled = is_small || due.is_measured() || time == Time::ZERO + scenario.duration;
        for sample_time in sample_times(scenario, is_small, now.time, time) {
            while !integration.advance_some(sample_time.secs(), STEPS_PER_CHECK)? {
                if watch.stopped() {
                    return Err(Error::Stopped { finished: 0, of: 1 });
                }
            }
            *reached = sample_time;
            if is_sampled {
                now = Rc::new(IntegrationSnapshot::of(&*integration, sample_time));
                sampler.sample(now.clone());
            }
        }
        if due.sample {
            recorder.sample(&sampled, &now);
            sampled = now.clone();
        }
        if due.window {
            close_window(&mut windows, plan, &columns, &closed, &now);
            closed = now.clone();
        }
        if due.sample && watch.wants_results() {
            let sliding = integration.sliding_thresholds();
            let run = parts.run(&sampler, &windows, [&begun, &now], sliding);
            watch.results_so_far(&run.into_run(about.clone(), recorder.series()));
        }
        if due.begin {
            sampler.start_measuring();
            begun = now.clone();
        }
        if watch.stopped() {
            return Err(Error::Stopped { finished: 0, of: 1 });
        }
        if due.progress {
            watch.progress(about.index, time.secs() / scenario.duration.secs());
        }
    }
    let end = parts.run(&sampler, &windows, [&begun, &now], integration.sliding_thresholds());
    Ok(end.into_run(about, recorder.into_series()))
}

/// What does not change during an integration.
#[derive(Clone, Copy)]
struct RunParts<'a> {
    plan: &'a FluidPlan,
    scenario: &'a Scenario,
    columns: &'a Columns,
}

impl<'a> RunParts<'a> {
    /// The integration between two snapshots, the first at the begin of the measured time.
    fn run(
        self,
        sampler: &'a DistributionSampler<'a>,
        windows: &'a FairnessWindows,
        [begun, now]: [&Rc<IntegrationSnapshot>; 2],
        sliding: Vec<SlidingThreshold>,
    ) -> FinishedFluidRun<'a> {
        let Self { plan, scenario, columns } = self;
        let (classes, begun, now) = (classes(plan), begun.clone(), now.clone());
        FinishedFluidRun { plan, scenario, columns, sampler, windows, classes, begun, now, sliding }
    }
}

/// Adds the window of short-term fairness between two snapshots.
fn close_window(
    windows: &mut FairnessWindows,
    plan: &FluidPlan,
    columns: &Columns,
    begin: &IntegrationSnapshot,
    end: &IntegrationSnapshot,
) {
    let capacities: Vec<f64> =
        plan.links.iter().map(|link| link.mean_capacity(begin.time, end.time)).collect();
    let goodput = |flow: &FluidFlowPlan| {
        let ran_throughout = flow.start <= begin.time && flow.stop.is_none_or(|stop| stop >= end.time);
        let last = flow.loops.last().filter(|_| ran_throughout)?;
        Some(end.mean_since(begin, columns.delivered[last.0]) * flow.payload)
    };
    let demands: Vec<FlowDemand<'_>> = plan.flows.iter().map(FlowDemand::from).collect();
    windows.add(end.time, &capacities, &demands, plan.flows.iter().map(goodput).collect());
}
