//! What series and model say together; never more than the numbers show.

use super::fluctuation::{Of, Swing};
use super::model::Model;
use super::series::Sampled;
use super::{Peak, Row, Subject};
use millpond_fluid::Entity;
use millpond_results::{Kind, quantity};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The loop is stable, and what moves is chance and whole packets.
    Quiet,
    /// The loop is unstable, and the series swing at its frequency.
    Unstable,
    /// The loop is stable, and an oscillation at its frequency dies out.
    DiesOut,
    /// The loop is unstable, and the series do not show it.
    Unmoved,
    /// The loop is unstable, and faster than the series can show.
    Hidden,
    /// The loop is unstable, and the series swing otherwise.
    Otherwise,
    /// The loop is stable, and the series swing all the same.
    Unexplained,
}

impl Finding {
    /// As programs read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Unstable => "unstable",
            Self::DiesOut => "dies out",
            Self::Unmoved => "unmoved",
            Self::Hidden => "hidden",
            Self::Otherwise => "otherwise",
            Self::Unexplained => "unexplained",
        }
    }
}

/// What a run's swing comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In one word.
    pub finding: Finding,
    /// The quantity that shows it best, by its place among the swings; none if nothing was recorded that moves.
    pub swing: Option<usize>,
    /// What the linear model leaves out and this run has.
    pub candidates: Vec<String>,
}

/// Chance is taken for the cause of up to this many times its own standard deviation: a deviation that is measured over
/// some ten correlation times is itself uncertain by a quarter (two standard errors, 2 / sqrt(2 x 10) = 0.45).
const CHANCE: f64 = 1.45;
/// A frequency is that of the loop within this factor: the series resolve it to a part of a cycle in the stretch.
const SAME_FREQUENCY: f64 = 1.25;

pub(super) fn verdict(
    subject: &Subject<'_>,
    model: &Model,
    (points, swings): (&[Row], &[Swing]),
    sampled: &Sampled<'_>,
) -> Verdict {
    let is_the_loops = |swing: &Swing| {
        swing.peak.zip(model.frequency()).is_some_and(|(peak, frequency)| {
            let ratio = peak.frequency / frequency;
            peak.is_sure() && (1.0 / SAME_FREQUENCY..SAME_FREQUENCY).contains(&ratio)
        })
    };
    let share = |place: usize| swings[place].peak.map_or(0.0, |peak| peak.share);
    let moving = || (0..swings.len()).filter(|place| swings[*place].excess() > CHANCE);
    let surest =
        moving().filter(|place| is_the_loops(&swings[*place])).max_by(|a, b| share(*a).total_cmp(&share(*b)));
    let most = (0..swings.len()).max_by(|a, b| swings[*a].excess().total_cmp(&swings[*b].excess()));
    let (moves, shown) = (moving().next().is_some(), surest.or(most));
    let peak = shown.and_then(|shown| swings[shown].peak);
    let (is_the_loops, dies_out) =
        (surest.is_some(), peak.and_then(|peak| peak.growth).is_some_and(|growth| growth.decays()));
    let is_hidden = model.frequency().is_some_and(|frequency| frequency * sampled.interval > 0.5);
    let finding = match (model.is_stable(), moves) {
        (true, false) => Finding::Quiet,
        (true, true) if is_the_loops && dies_out => Finding::DiesOut,
        (true, true) => Finding::Unexplained,
        (false, _) if is_hidden => Finding::Hidden,
        (false, false) => Finding::Unmoved,
        (false, true) if is_the_loops => Finding::Unstable,
        (false, true) => Finding::Otherwise,
    };
    let candidates = match finding {
        Finding::Otherwise | Finding::Unexplained => candidates(subject, model, (points, peak), sampled),
        _ => Vec::new(),
    };
    Verdict { finding, swing: shown, candidates }
}

/// What a linear model leaves out, where the run has it.
fn candidates(
    subject: &Subject<'_>,
    model: &Model,
    (points, peak): (&[Row], Option<Peak>),
    sampled: &Sampled<'_>,
) -> Vec<String> {
    const NEAR: f64 = 1.4;
    let mut found: Vec<String> = points.iter().filter_map(elsewhere).collect();
    if let Some(gain) = model.gain.filter(|gain| model.is_stable() && gain.gain.ln().abs() < NEAR.ln()) {
        found.push(format!(
            "a loop so near its limit (gain {:.2}) needs little more delay, and laws that decide once per interval or round trip \
             add some",
            gain.gain
        ));
    }
    found.extend(empty_queues(subject, model, sampled));
    let dropped: u64 = subject.run.summary.links.iter().map(|link| link.drops).sum();
    if dropped > 0 {
        found.push(format!("{dropped} packets were dropped, and losses come in bursts, not one by one"));
    }
    if let Some(l) = peak.and_then(|peak| round_trip(subject, peak.frequency, sampled)) {
        found.push(format!(
            "its period is a round trip of {l}: bursts that the clock of acknowledgements keeps"
        ));
    }
    if subject.windows.iter().any(|has_window| *has_window) && model.is_stable() {
        found.push(
            "windows that move within a round trip, over which the prediction for their rates is a mean"
                .to_owned(),
        );
    }
    found.extend(switches(subject));
    if subject.has_packets {
        found.push(
            "the law's own steps: --world fluid tells whether the nonlinear equations do the same".to_owned(),
        );
    } else {
        found.push("kinks and bounds of the law, which a linear model does not see".to_owned());
    }
    found
}

/// A run that is elsewhere than the model rests has another loop than the model's.
fn elsewhere(row: &Row) -> Option<String> {
    const APART: f64 = 1.25;
    let series = row.series?;
    let ratio = series / row.model;
    let is_there = (1.0 / APART..APART).contains(&ratio);
    (!is_there).then(|| {
        let (model, unit) = (row.model, row.unit);
        format!("the run is not where the model rests: {} is {series:.3} {unit}, not {model:.3}", row.name)
    })
}

/// Where laws switch, a linear model holds on one side.
fn switches(subject: &Subject<'_>) -> Option<String> {
    let mut names: Vec<&str> = (0..subject.plan.loops.len())
        .flat_map(|l| subject.plan.assembly.guards_of(l).iter().copied())
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty())
        .then(|| format!("its law switches where these change their sign: {}", names.join(", ")))
}

/// Where the queue is empty its loop is cut.
fn empty_queues<'a>(
    subject: &'a Subject<'_>,
    model: &'a Model,
    sampled: &'a Sampled<'_>,
) -> impl Iterator<Item = String> + 'a {
    subject.plan.links.iter().filter_map(move |link| {
        let id = link.id.filter(|id| model.stability.bottlenecks.contains(&id.0))?;
        let rests_full = subject.settled.value(Entity::Link(id.0), "queueing delay")? > 0.0;
        let packets = sampled.find(Kind::Link, &link.entity, quantity::QUEUE)?;
        let empty = packets.iter().filter(|packets| **packets < 0.5).count() as f64 / packets.len() as f64;
        (rests_full && empty > 0.01).then(|| {
            format!(
                "the queue of {} runs empty {:.0} % of the time, where its loop is cut",
                link.entity,
                100.0 * empty
            )
        })
    })
}

/// The flow whose mean round-trip time is the period.
fn round_trip(subject: &Subject<'_>, frequency: f64, sampled: &Sampled<'_>) -> Option<String> {
    let is_it = |flow: &&millpond_plan::fluid::PlannedFlow| {
        let rtt = sampled.mean(Kind::Flow, &flow.loop_name(0), quantity::RTT);
        rtt.is_some_and(|rtt| (0.85..1.15).contains(&(rtt / 1e3 * frequency)))
    };
    subject.plan.flows.iter().find(is_it).map(|flow| flow.name.clone())
}

impl Verdict {
    /// The rates that show best what was found: all together, or of one flow.
    #[must_use]
    pub fn rates(swings: &[Swing]) -> Option<&Swing> {
        let rates = swings.iter().filter(|swing| swing.of != Of::Queue);
        rates.max_by(|a, b| a.excess().total_cmp(&b.excess()))
    }

    /// The queue that shows it best.
    #[must_use]
    pub fn queue(swings: &[Swing]) -> Option<&Swing> {
        let queues = swings.iter().filter(|swing| swing.of == Of::Queue);
        queues.max_by(|a, b| a.excess().total_cmp(&b.excess()))
    }
}
