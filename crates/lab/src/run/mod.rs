//! Runs a scenario: in the packet world here, in the fluid world in [`fluid`](crate::fluid).
//!
//! ```text
//!   Plan --> Network --- run_until(next tick) ---> Recorder: series, windows
//!                 \--- at the end: counters, histograms ---> Summary, distributions
//! ```

pub(crate) mod distribution;
pub(crate) mod fairness;
mod recorder;
pub(crate) mod stopwatch;
mod summary;
pub(crate) mod ticks;
mod transfers;

use crate::error::Error;
use crate::plan::{Plan, plan};
use crate::results::{Run, Timing};
use crate::watch::Watch;
use fairness::Windows;
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use recorder::Recorder;
use serde::Deserialize;
use stopwatch::Stopwatch;
use summary::End;
use ticks::Ticks;

/// What a run is called and where it stands among others.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// See [`Run::label`].
    pub label: String,
    /// See [`Run::command`].
    pub command: String,
    /// The number by which its [`Watch`] knows it.
    pub index: usize,
    /// Where it happens.
    pub world: World,
}

/// Where a scenario is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// The packet-level simulator.
    #[default]
    Packets,
    /// The differential equations of the laws.
    Fluid,
}

impl World {
    /// As written in files and typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Fluid => "fluid",
        }
    }
}

/// A run that has come to its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it gave: depends on scenario, seed and version alone.
    pub run: Run,
    /// What it cost: does not.
    pub timing: Timing,
}

/// Plans and runs a scenario.
///
/// # Errors
/// What [`plan`] or [`fluid::plan`](crate::fluid::plan) says, that the equations have no solution, or that `watch`
/// stopped it.
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
) -> Result<Finished, Error> {
    if about.world == World::Fluid {
        return crate::fluid::run(scenario, registry, about, watch);
    }
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
