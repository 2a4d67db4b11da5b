//! A run in one world, as figures and numbers.

use crate::clock::Stopwatch;
use crate::effort::Effort;
use crate::faults::{self, PlacedFault};
use crate::job::{Job, Task, line};
use crate::messages::{Message, PageFigure, PageWorld};
use crate::{bottleneck, facts, limits};
use millpond_lab::Error;
use millpond_protocols::Registry;
use millpond_report::{FigureKind, figures_of_run};
use millpond_results::{About, Run, RunOrigin, Watch, World};
use millpond_scenario::Scenario;
use millpond_units::Time;
use millpond_units::format::at_most_five_digits;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

/// Runs the scenario of a job and writes progress, then figures or a fault. If the run takes longer than `time`, the answer
/// ends with the figures of its beginning and a fault.
///
/// # Errors
/// Nobody reads the output any more.
pub(crate) fn run(
    job: &Job,
    world: PageWorld,
    registry: &Registry,
    time: Duration,
    output: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    let scenario = match prepared(job, registry, world) {
        Ok(scenario) => scenario,
        Err(faults) => return line(output, &Task::Run(world).fault(faults)),
    };
    let of = PageRun { scenario: &scenario, world, width: job.width };
    let lines = RunLines::new(of, time, output);
    let results = results(&scenario, world, registry, &lines);
    let message = match (lines.ended_at(), results) {
        (Some(until), Err(_)) => Task::Run(world).fault(vec![unfinished(until, &scenario)]),
        (_, Err(faults)) => Task::Run(world).fault(faults),
        (_, Ok(run)) => of.message(&run, None),
    };
    lines.write(&message)
}

/// The fault of a run that has simulated the time up to `until` seconds within the limit.
fn unfinished(until: f64, scenario: &Scenario) -> PlacedFault {
    let [end, duration] = [until, scenario.duration.secs()].map(at_most_five_digits);
    let message = format!(
        "the run ends at {end} s of {duration} s: it takes longer than {} s, the limit of the playground",
        limits::LONGEST_RUN.as_secs()
    );
    let is_measured = until > scenario.measure.from.since(Time::ZERO).secs();
    let shorter = if is_measured { format!("duration to {end} s") } else { "duration".to_owned() };
    PlacedFault::plain(message)
        .help(format!("shorten {shorter}, use fewer flows or lower rates, or run it with: millpond run"))
}

/// The scenario of a job.
///
/// # Errors
/// What is wrong with it, or an effort beyond the limit.
fn prepared(job: &Job, registry: &Registry, world: PageWorld) -> Result<Scenario, Vec<PlacedFault>> {
    let scenario = job.scenario(registry)?;
    Effort::of(&scenario).check(world)?;
    Ok(scenario)
}

/// The run.
///
/// # Errors
/// What the world refuses.
fn results(
    scenario: &Scenario,
    world: PageWorld,
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Run, Vec<PlacedFault>> {
    let world = match world {
        PageWorld::Packets => World::Packets,
        PageWorld::Fluid => World::Fluid,
    };
    let about = About { label: scenario.title.clone(), origin: RunOrigin::default(), index: 0, world };
    let finished = millpond_lab::run(scenario, registry, about, watch).map_err(|error| match error {
        Error::Scenario(found) => faults::placed(&found),
        other => vec![PlacedFault::plain(other.to_string())],
    })?;
    Ok(finished.run)
}

/// What is run, and where its figures are drawn.
#[derive(Clone, Copy)]
struct PageRun<'a> {
    scenario: &'a Scenario,
    world: PageWorld,
    /// Of a figure, in pixels.
    width: u32,
}

impl PageRun<'_> {
    /// The figures of a run, or of its beginning until a time in seconds; curves have a pair of points for each pixel.
    fn message(&self, run: &Run, until: Option<f64>) -> Message {
        let slices = self.width.clamp(limits::WIDTHS.0, limits::WIDTHS.1) as usize;
        let link = bottleneck::position(self.scenario, &run.summary);
        let entity = link.map(|link| run.summary.link_entity(link));
        let figures = figures_of_run(run, self.world.name(), slices, entity.as_deref());
        let figure = |(kind, figure): &(FigureKind, _)| {
            let (id, title, description) = texts(*kind);
            PageFigure::new(id, title, description, figure)
        };
        Message::Figures {
            world: self.world,
            until,
            measured: (run.summary.measured_from_s, until.unwrap_or(run.summary.simulated_s)),
            figures: figures.iter().map(figure).collect(),
            facts: facts::of_run(run, link),
            warnings: run.summary.warnings.clone(),
        }
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
            "Delay distribution",
            "The share of packets whose queueing delay from end to end is at most that on the axis.",
        ),
    }
}

/// Writes progress and the beginning of a run, and stops the run when nobody reads it or when it takes too long.
struct RunLines<'a> {
    of: PageRun<'a>,
    /// When the run ends, since its start.
    time: Duration,
    state: Mutex<LineState<'a>>,
}

struct LineState<'a> {
    output: &'a mut (dyn Write + Send),
    begin: Stopwatch,
    /// When the last progress was written, since `begin`.
    last: Duration,
    /// When the next figures are drawn, since `begin`.
    next_figures: Duration,
    /// The share that is simulated.
    done: f64,
    /// The end of the simulated time of a run that takes too long, in seconds, after its figures have been written.
    ended_at: Option<f64>,
    is_closed: bool,
}

impl<'a> RunLines<'a> {
    /// From one progress to the next.
    const INTERVAL: Duration = Duration::from_millis(80);
    /// Until the first figures of an unfinished run. The next ones come after twice the time of the last, so that drawing
    /// takes a small part of the time.
    const FIRST_FIGURES: Duration = Duration::from_millis(40);

    fn new(of: PageRun<'a>, time: Duration, output: &'a mut (dyn Write + Send)) -> Self {
        let state = LineState {
            output,
            begin: Stopwatch::start(),
            last: Duration::ZERO,
            next_figures: Self::FIRST_FIGURES,
            done: 0.0,
            ended_at: None,
            is_closed: false,
        };
        Self { of, time, state: Mutex::new(state) }
    }

    fn ended_at(&self) -> Option<f64> {
        self.state.lock().ok()?.ended_at
    }

    fn write(self, message: &Message) -> std::io::Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        line(state.output, message)
    }
}

impl Watch for RunLines<'_> {
    fn progress(&self, _run: usize, done: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.done = done;
        let now = state.begin.elapsed();
        if now - state.last < Self::INTERVAL || state.is_closed {
            return;
        }
        state.last = now;
        let message = Message::Progress { world: self.of.world, done };
        state.is_closed = line(state.output, &message).is_err();
    }

    /// At half of the run and later the whole picture follows soon, unless the run takes too long.
    fn wants_results(&self) -> bool {
        self.state.lock().is_ok_and(|state| {
            let elapsed = state.begin.elapsed();
            let is_due = state.done < 0.5 && elapsed >= state.next_figures;
            !state.is_closed && (is_due || elapsed >= self.time)
        })
    }

    fn results_so_far(&self, run: &Run) {
        let Ok(mut state) = self.state.lock() else { return };
        let (until, duration) = (run.summary.simulated_s, self.of.scenario.duration.secs());
        if until >= duration {
            return;
        }
        // The axis of time is that of the whole run.
        let mut drawn = run.clone();
        drawn.summary.simulated_s = duration;
        let message = self.of.message(&drawn, Some(until));
        state.ended_at = (state.begin.elapsed() >= self.time).then_some(until);
        state.is_closed = line(state.output, &message).is_err();
        state.next_figures = 2 * state.begin.elapsed();
    }

    fn stopped(&self) -> bool {
        self.state.lock().is_ok_and(|state| state.is_closed || state.ended_at.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Edited;
    use crate::shipped;
    use millpond_results::Unwatched;

    fn job(name: &str, overrides: &[&str]) -> Job {
        let text = shipped::scenarios().into_iter().find(|one| one.name == name).unwrap().text;
        let edited = Edited { text, overrides: overrides.iter().map(|one| (*one).to_owned()).collect() };
        Job { task: Task::Run(PageWorld::Packets), edited, folder: std::env::temp_dir(), width: 200 }
    }

    fn figures(message: Message) -> Vec<PageFigure> {
        match message {
            Message::Figures { figures, .. } => figures,
            other => panic!("{other:?}"),
        }
    }

    /// The height of a plot in the coordinates of its curves.
    const GRID: f64 = 4000.0;

    /// The vertical positions, downwards, of all points of the curve with this name.
    fn heights(figure: &PageFigure, name: &str) -> Vec<f64> {
        let (_, path) = figure.html.split_once(&format!("data-name=\"{name}\"")).unwrap();
        let before = figure.html.len() - path.len();
        let begin = figure.html[..before].rfind("<path").unwrap();
        let element = figure.html[begin..].split('>').next().unwrap();
        let (_, data) = element.split_once(" d=\"").unwrap();
        let numbers = |piece: &str| -> Vec<f64> {
            let numbers = piece.split(|c: char| !(c.is_ascii_digit() || c == '-'));
            numbers.filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
        };
        // Each piece is a place, a step of zero, and steps from one point to the next.
        let piece = |piece: &str| -> Vec<f64> {
            let mut height = 0.0;
            let mut rise = |step: &[f64]| {
                height += step[1];
                height
            };
            numbers(piece).chunks(2).map(&mut rise).skip(1).collect()
        };
        data.split('"').next().unwrap().split('M').filter(|one| !one.is_empty()).flat_map(piece).collect()
    }

    #[test]
    fn a_run_has_its_four_figures_and_the_same_job_has_the_same_bytes() {
        let job = job("dumbbell", &["duration=12s", "measure.from=2s"]);
        let scenario = prepared(&job, &Registry::builtin(), PageWorld::Packets).unwrap();
        let run = |world| results(&scenario, world, &Registry::builtin(), &Unwatched).unwrap();
        let answer = |world| PageRun { scenario: &scenario, world, width: 300 }.message(&run(world), None);
        for world in [PageWorld::Packets, PageWorld::Fluid] {
            let first = answer(world);
            assert_eq!(first, answer(world));
            let figures = figures(first);
            let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
            assert_eq!(ids, ["rates", "queue", "delay-over-time", "delay"]);
            for figure in &figures {
                assert!(
                    figure.html.starts_with(&format!("<figure id=\"{}-", world.name())),
                    "{}",
                    figure.html
                );
                assert!(figure.html.contains("<path"), "{}", figure.id);
            }
        }
    }

    /// The legend of the goodputs, and the facts of a link, in packets and in equations.
    fn legends_and_links(name: &str, overrides: &[&str]) -> [(Vec<String>, String); 2] {
        let job = job(name, overrides);
        let scenario = prepared(&job, &Registry::builtin(), PageWorld::Packets).unwrap();
        [PageWorld::Packets, PageWorld::Fluid].map(|world| {
            let run = results(&scenario, world, &Registry::builtin(), &Unwatched).unwrap();
            let message = PageRun { scenario: &scenario, world, width: 300 }.message(&run, None);
            let Message::Figures { figures, facts, .. } = message else { panic!() };
            let curves = figures[0].html.split("data-name=\"").skip(1);
            let names = curves.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect();
            (names, facts[0].label.clone())
        })
    }

    /// The equations have the greatest utilization at the second link, packets at the first.
    #[test]
    fn both_worlds_show_one_link_which_the_drawing_shows() {
        let short = ["duration=8s", "measure.from=4s"];
        for (name, link) in [("two-bottlenecks", "L2"), ("parking-lot", "hop1")] {
            let both = legends_and_links(name, &short);
            for (_, label) in &both {
                assert!(label.starts_with(&format!("utilization of {link} (")), "{name}: {label}");
            }
            let drawn = crate::drawing::drawing(
                &prepared(&job(name, &short), &Registry::builtin(), PageWorld::Packets).unwrap(),
            );
            let (_, bold) = drawn.split_once("class=\"link bottleneck\"").unwrap();
            assert!(bold.split('>').next().unwrap().contains(&format!("data-link=\"{link}\"")), "{bold}");
        }
    }

    /// Flows start at random times, which differ between groups.
    #[test]
    fn both_worlds_draw_the_flows_in_the_order_of_the_scenario() {
        let [(packets, _), (fluid, _)] =
            legends_and_links("two-bottlenecks", &["duration=12s", "measure.from=4s"]);
        // After the capacity.
        let groups = ["short, sum of 10", "far, sum of 10", "long, sum of 5", "longest, sum of 5"];
        assert_eq!(
            (&packets[1..5], &fluid[1..5]),
            (&groups.map(str::to_owned)[..], &groups.map(str::to_owned)[..])
        );
    }

    #[test]
    fn a_curve_with_few_points_has_the_extremes_of_all_samples() {
        let job = job("dumbbell", &["duration=12s", "measure.from=2s", "measure.every=4ms"]);
        let world = PageWorld::Packets;
        let scenario = prepared(&job, &Registry::builtin(), world).unwrap();
        let run = results(&scenario, world, &Registry::builtin(), &Unwatched).unwrap();
        let drawn = |width| PageRun { scenario: &scenario, world, width }.message(&run, None);
        let [fine, coarse] = [4096, 100].map(|width| figures(drawn(width)));
        let [all, few] = [&fine, &coarse].map(|figures| heights(&figures[1], "bottleneck"));
        assert!(few.len() <= 200 && all.len() > 2000, "{} of {}", few.len(), all.len());
        // Both curves reach the lower end of their axes, an empty queue.
        let lowest = |heights: &[f64]| heights.iter().copied().fold(0.0, f64::max);
        assert_eq!([lowest(&few), lowest(&all)], [GRID, GRID]);
        let highest = |heights: &[f64], figure: &PageFigure| {
            let (_, scale) = figure.html.split_once("data-y=\"linear ").unwrap();
            let ends: Vec<f64> =
                scale.split('"').next().unwrap().split(' ').map(|end| end.parse().unwrap()).collect();
            let share = 1.0 - heights.iter().copied().fold(GRID, f64::min) / GRID;
            ends[0] + (ends[1] - ends[0]) * share
        };
        let [of_few, of_all] = [highest(&few, &coarse[1]), highest(&all, &fine[1])];
        assert!((of_few / of_all - 1.0).abs() < 2e-3, "{of_few} {of_all}");
    }

    #[test]
    fn too_many_samples_are_a_fault_in_both_worlds() {
        let job = job("dumbbell", &["measure.every=100us"]);
        for world in [PageWorld::Packets, PageWorld::Fluid] {
            let faults = prepared(&job, &Registry::builtin(), world).unwrap_err();
            assert!(
                faults[0].message.contains("samples of series; the limit of the playground is 20 million")
            );
        }
    }

    #[test]
    fn too_many_packet_hops_are_a_fault_that_names_the_limit() {
        let job = job("dumbbell", &["duration=100000s", "measure.every=10s"]);
        let faults = prepared(&job, &Registry::builtin(), PageWorld::Packets).unwrap_err();
        assert!(prepared(&job, &Registry::builtin(), PageWorld::Fluid).is_ok());
        assert!(faults[0].message.contains("the limit of the playground is 200 million"), "{faults:?}");
        assert!(faults[0].help.as_ref().is_some_and(|help| help.contains("duration")), "{faults:?}");
    }

    /// The lines of the answer to a run that may take this time.
    fn answered_within(time: Duration, world: PageWorld, overrides: &[&str]) -> Vec<Message> {
        let mut output = Vec::new();
        run(&job("dumbbell", overrides), world, &Registry::builtin(), time, &mut output).unwrap();
        output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    #[test]
    fn a_run_that_takes_too_long_ends_with_its_beginning_and_a_fault_that_names_its_end() {
        for world in [PageWorld::Packets, PageWorld::Fluid] {
            let lines = answered_within(Duration::ZERO, world, &["duration=6s", "measure.from=3s"]);
            let [Message::Figures { until: Some(until), figures, .. }, Message::Fault { faults, .. }] =
                &lines[..]
            else {
                panic!("{lines:?}")
            };
            assert!(*until > 0.0 && *until < 6.0 && figures.len() == 4, "{until}");
            let end = at_most_five_digits(*until);
            assert!(faults[0].message.starts_with(&format!("the run ends at {end} s of 6 s:")), "{faults:?}");
        }
    }

    /// A run that ends before its measurement begins is refused.
    #[test]
    fn the_advice_to_a_run_that_takes_too_long_is_a_duration_that_it_can_have() {
        let scenario = prepared(
            &job("dumbbell", &["duration=6s", "measure.from=3s"]),
            &Registry::builtin(),
            PageWorld::Packets,
        );
        let help = |until| unfinished(until, scenario.as_ref().unwrap()).help.unwrap();
        assert!(help(4.5).starts_with("shorten duration to 4.5 s, use"), "{}", help(4.5));
        assert!(help(3.0).starts_with("shorten duration, use"), "{}", help(3.0));
    }

    #[test]
    fn a_run_that_reaches_its_end_as_its_time_has_passed_is_finished() {
        let short = ["duration=1s", "measure.from=0s", "measure.every=1s"];
        let lines = answered_within(Duration::ZERO, PageWorld::Packets, &short);
        assert!(matches!(&lines[..], [Message::Figures { until: None, .. }]), "{lines:?}");
    }

    /// Wants results after each sample, and keeps them.
    #[derive(Default)]
    struct Beginnings(Mutex<Vec<Run>>);

    impl Watch for Beginnings {
        fn wants_results(&self) -> bool {
            true
        }

        fn results_so_far(&self, run: &Run) {
            self.0.lock().unwrap().push(run.clone());
        }
    }

    /// The curves of the beginning are those of the whole run up to that time, and the whole run is not disturbed.
    #[test]
    fn the_beginning_of_a_run_is_what_the_whole_run_has() {
        let job = job("dumbbell", &["duration=6s", "measure.from=3s", "measure.every=500ms"]);
        let scenario = prepared(&job, &Registry::builtin(), PageWorld::Packets).unwrap();
        for world in [PageWorld::Packets, PageWorld::Fluid] {
            let beginnings = Beginnings::default();
            let whole = results(&scenario, world, &Registry::builtin(), &beginnings).unwrap();
            let undisturbed = results(&scenario, world, &Registry::builtin(), &Unwatched).unwrap();
            // Samples without a value are not numbers, which differ from themselves.
            assert!(format!("{whole:?}") == format!("{undisturbed:?}"), "{}", world.name());
            let beginnings = beginnings.0.into_inner().unwrap();
            assert_eq!(beginnings.len(), 12);
            for beginning in &beginnings {
                let until = beginning.summary.simulated_s;
                let sampled = beginning.series.iter().filter(|series| series.quantity == "goodput");
                for series in sampled {
                    let same = whole.series.iter().find(|other| {
                        (other.kind, &other.entity, &other.quantity)
                            == (series.kind, &series.entity, &series.quantity)
                    });
                    let same = &same.unwrap().values[..series.values.len()];
                    assert_eq!(format!("{:?}", series.values), format!("{same:?}"));
                    assert_eq!(series.times.last(), Some(&until));
                }
                let measured = beginning.summary.measured_from_s;
                assert_eq!(measured, if until > 3.0 { 3.0 } else { 0.0 });
                assert!(beginning.summary.flows[0].goodput_bps > 0.0, "{until}");
            }
        }
    }
}
