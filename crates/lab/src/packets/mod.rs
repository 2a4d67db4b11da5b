//! Runs a scenario in the packet world.
//!
//! ```text
//!   Plan --> Network --- run_until(next tick) ---> Recorder: series, windows
//!                 \--- at the end: counters, histograms ---> Summary, distributions
//! ```

mod series;
mod summary;
mod transfers;

use crate::Error;
use crate::fairness::Windows;
use crate::stopwatch::Stopwatch;
use crate::ticks::Ticks;
use millpond_plan::packets::{Plan, plan};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, Run, Watch};
use millpond_scenario::Scenario;
use series::Recorder;
use summary::End;

/// Plans and runs a scenario.
///
/// # Errors
/// What [`plan`] says, or that `watch` stopped it.
pub(crate) fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    let plan = plan(scenario, registry)?;
    let stopwatch = Stopwatch::start();
    let run = measure(plan, scenario, about, watch)?;
    let timing = stopwatch.read(run.summary.packet_hops);
    Ok(Finished { run, timing })
}

fn measure(plan: Plan, scenario: &Scenario, about: About, watch: &dyn Watch) -> Result<Run, Error> {
    let mut recorder = Recorder::new(&plan);
    let mut windows = Windows::new(plan.flows.len());
    let Plan { mut network, links, flows, sources, warnings } = plan;
    for (time, due) in Ticks::new(scenario) {
        network.run_to(time);
        if due.sample {
            recorder.sample(&network, (&links, &flows, &sources));
            network.start_interval();
        }
        if due.window {
            windows.close(&network, &links, &flows);
        }
        if due.begin {
            network.start_measuring();
            recorder.start_over();
        }
        if watch.stopped() {
            return Err(Error::Stopped { finished: 0, of: 1 });
        }
        watch.progress(about.index, time.secs() / scenario.duration.secs());
    }
    let end = End {
        scenario,
        network: &network,
        links: &links,
        flows: &flows,
        sources: &sources,
        warnings: &warnings,
        series: recorder.into_series(),
        jain: windows.jain(),
        windows,
    };
    Ok(end.into_run(about))
}
