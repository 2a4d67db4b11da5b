//! A run in one world, as figures and numbers.

use crate::clock::Stopwatch;
use crate::effort::Effort;
use crate::faults::{self, PlacedFault};
use crate::job::{Job, Task, line};
use crate::messages::{Message, PageFigure, PageWorld};
use crate::{facts, limits};
use millpond_lab::Error;
use millpond_protocols::Registry;
use millpond_report::page::{FigureKind, figures_of_run};
use millpond_results::{About, Run, RunOrigin, Watch, World};
use millpond_scenario::Scenario;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

/// Runs the scenario of a job and writes progress, then figures or a fault.
///
/// # Errors
/// Nobody reads the output any more.
pub(crate) fn run(
    job: &Job,
    world: PageWorld,
    registry: &Registry,
    output: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    let output = ProgressLines::new(world, output);
    let message = match results(job, world, registry, &output) {
        Ok(run) => message(&run, world, job.width),
        Err(faults) => Task::Run(world).fault(faults),
    };
    output.write(&message)
}

/// The run.
///
/// # Errors
/// What is wrong with the scenario, or a limit that it exceeds.
pub(crate) fn results(
    job: &Job,
    world: PageWorld,
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Run, Vec<PlacedFault>> {
    let scenario = job.scenario()?;
    check_effort(&scenario, world)?;
    let world = match world {
        PageWorld::Packets => World::Packets,
        PageWorld::Fluid => World::Fluid,
    };
    let about = About { label: scenario.title.clone(), origin: RunOrigin::default(), index: 0, world };
    let finished = millpond_lab::run(&scenario, registry, about, watch).map_err(|error| match error {
        Error::Scenario(found) => faults::placed(&found),
        other => vec![PlacedFault::plain(other.to_string())],
    })?;
    Ok(finished.run)
}

/// A fault if a run in packets would take too long.
fn check_effort(scenario: &Scenario, world: PageWorld) -> Result<(), Vec<PlacedFault>> {
    let effort = Effort::of(scenario);
    if world != PageWorld::Packets || effort.events <= limits::MOST_EVENTS {
        return Ok(());
    }
    let message = format!(
        "about {:.0} million packet-hops; the limit of the playground is {:.0} million",
        effort.events / 1e6,
        limits::MOST_EVENTS / 1e6
    );
    let fault = PlacedFault::plain(message);
    Err(vec![fault.help("shorten duration, lower the rates of links, or run it with: millpond run")])
}

/// The figures of a run; curves have a pair of points for each pixel.
pub(crate) fn message(run: &Run, world: PageWorld, width: u32) -> Message {
    let slices = width.clamp(limits::WIDTHS.0, limits::WIDTHS.1) as usize;
    let figures = figures_of_run(run, world.name(), slices);
    let figure = |(kind, figure): &(FigureKind, _)| {
        let (id, title, description) = texts(*kind);
        PageFigure::new(id, title, description, figure)
    };
    Message::Figures {
        world,
        figures: figures.iter().map(figure).collect(),
        facts: facts::of_run(run),
        warnings: run.summary.warnings.clone(),
    }
}

/// Identifier, title and description of a figure.
fn texts(kind: FigureKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        FigureKind::Goodput => {
            ("rates", "Rates", "The goodput of each flow over time, over the capacity of the bottleneck.")
        }
        FigureKind::Queue => ("queue", "Queue", "The queue of the bottleneck over time, in packets."),
        FigureKind::Delay => (
            "delay-over-time",
            "Queueing delay",
            "The queueing delay of packets over time: from end to end, and dotted at the bottleneck.",
        ),
        _ => (
            "delay",
            "Distribution of the queueing delay",
            "The share of packets whose queueing delay from end to end is at most that on the axis.",
        ),
    }
}

/// Writes progress at most every [`ProgressLines::INTERVAL`], and stops the run when nobody reads it.
struct ProgressLines<'a> {
    world: PageWorld,
    state: Mutex<LineState<'a>>,
}

struct LineState<'a> {
    output: &'a mut (dyn Write + Send),
    begin: Stopwatch,
    /// When the last line was written, since `begin`.
    last: Duration,
    is_closed: bool,
}

impl<'a> ProgressLines<'a> {
    const INTERVAL: Duration = Duration::from_millis(80);

    fn new(world: PageWorld, output: &'a mut (dyn Write + Send)) -> Self {
        let state = LineState { output, begin: Stopwatch::start(), last: Duration::ZERO, is_closed: false };
        Self { world, state: Mutex::new(state) }
    }

    fn write(self, message: &Message) -> std::io::Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        line(state.output, message)
    }
}

impl Watch for ProgressLines<'_> {
    fn progress(&self, _run: usize, done: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        let now = state.begin.elapsed();
        if now - state.last < Self::INTERVAL || state.is_closed {
            return;
        }
        state.last = now;
        let message = Message::Progress { world: self.world, done };
        state.is_closed = line(state.output, &message).is_err();
    }

    fn stopped(&self) -> bool {
        self.state.lock().is_ok_and(|state| state.is_closed)
    }
}
