//! Runs a scenario in the packet world and measures it.
//!
//! ```text
//!   PacketPlan --> PacketNetwork --- run_to(next tick) ---> series, windows of fairness
//!                              \--- at the end: counters, histograms ---> Summary, distributions
//! ```

mod counted_transfer;
mod link_series;
mod meaningless_permits;
mod rate_series;
mod sample_interval;
mod series;
mod silences;
mod summary;
mod transfers;
mod window_meter;

use crate::fairness::FairnessWindows;
use crate::observers::observe;
use crate::panics::without_panic;
use crate::stopwatch::Stopwatch;
use crate::ticks::{Ticks, samples};
use crate::{Error, MakeObserver};
use millpond_plan::packets::{PacketPlan, plan};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Run, Watch};
use millpond_scenario::Scenario;
use millpond_sim::PacketNetwork;
use millpond_units::Time;
use series::PacketSeriesRecorder;
use summary::FinishedPacketRun;
use window_meter::WindowMeter;

/// Plans and runs a scenario.
///
/// # Errors
/// An error of [`plan`] or `observer`, or that `watch` stopped the run.
pub(crate) fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
    observer: Option<&MakeObserver<'_>>,
) -> Result<Finished, Error> {
    let mut plan = plan(scenario, registry)?;
    observer.map_or(Ok(()), |observer| observe(&mut plan, observer))?;
    let stopwatch = Stopwatch::start();
    let mut simulate = |network: &mut PacketNetwork, time| {
        network.run_to(time);
        Ok(())
    };
    let run = measure(&mut plan, scenario, about, watch, &mut simulate)?;
    let timing = stopwatch.read(run.summary.packet_hops);
    Ok(Finished { run, timing })
}

/// Advances a network to a time.
pub(crate) type Advance<'a> = dyn FnMut(&mut PacketNetwork, Time) -> Result<(), Error> + 'a;

/// Advances a network from tick to tick and measures it.
///
/// # Errors
/// An error of `advance`, that `watch` stopped the run, or a panic of a law.
pub(crate) fn measure(
    plan: &mut PacketPlan,
    scenario: &Scenario,
    about: About,
    watch: &dyn Watch,
    advance: &mut Advance<'_>,
) -> Result<Run, Error> {
    let run = |plan: &mut PacketPlan| measure_ticks(plan, scenario, about, watch, advance);
    without_panic(plan, run, |plan| (plan.protocols(), plan.network.last_event()))
}

fn measure_ticks(
    plan: &mut PacketPlan,
    scenario: &Scenario,
    about: About,
    watch: &dyn Watch,
    advance: &mut Advance<'_>,
) -> Result<Run, Error> {
    let mut recorder = PacketSeriesRecorder::new(plan, samples(scenario));
    let mut window_meter = WindowMeter::new(plan);
    let mut windows = FairnessWindows::new(plan.flows.iter().map(|flow| flow.weight).collect());
    for (time, due) in Ticks::new(scenario) {
        advance(&mut plan.network, time)?;
        if due.sample {
            recorder.sample(plan);
            plan.network.start_interval();
        }
        if due.window {
            window_meter.close(plan, &mut windows);
        }
        if due.sample && watch.wants_results() {
            watch.results_so_far(&results_so_far(plan, scenario, &about, &recorder, &windows));
        }
        if due.begin {
            plan.network.start_measuring();
            recorder.start_measuring();
        }
        if watch.stopped() {
            return Err(Error::Stopped { finished: 0, of: 1 });
        }
        if due.progress {
            watch.progress(about.index, time.secs() / scenario.duration.secs());
        }
    }
    let (series, jain) = (recorder.into_series(), windows.jain());
    Ok(FinishedPacketRun { scenario, plan, series, jain, windows: &windows }.into_run(about))
}

/// The results up to now. The counters are those from time zero until the time of the measurement begins.
fn results_so_far(
    plan: &PacketPlan,
    scenario: &Scenario,
    about: &About,
    recorder: &PacketSeriesRecorder,
    windows: &FairnessWindows,
) -> Run {
    let mut scenario = scenario.clone();
    if plan.network.now() <= scenario.measure.from {
        scenario.measure.from = Time::ZERO;
    }
    let (series, jain) = (recorder.series(), windows.jain());
    FinishedPacketRun { scenario: &scenario, plan, series, jain, windows }.into_run(about.clone())
}
