//! `millpond stability --phase`, `--step`, `--convergence`: how a scenario moves about where it settles.

use super::stability::{axis, watched};
use crate::args;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{print, print_line};
use crate::progress::Progress;
use millpond_protocols::Registry;
use millpond_report::terminal;
use millpond_scenario::Scenario;
use millpond_theory::motion::{self, Answer, Asked, Convergence, Observable, Portrait, Starts, Step};
use millpond_theory::{Axis, Settled, sentence};
use millpond_units::Span;
use serde_json::{Value, json};

/// What was asked for, read before anything is computed.
pub(crate) struct Questions {
    portrait: Option<(Observable, Observable, Starts)>,
    steps: Vec<Step>,
    convergence: Option<(Axis, Asked)>,
    seconds: Option<f64>,
}

/// What came out.
pub(crate) struct Motions {
    pub(crate) portrait: Option<Portrait>,
    pub(crate) steps: Vec<Answer>,
    pub(crate) convergence: Option<Convergence>,
}

impl Questions {
    /// `points`: of a range of `--convergence`.
    pub(crate) fn read(
        (typed, points): (&args::Motion, usize),
        (scenario, registry): (&Scenario, &Registry),
        settled: &Settled<'_>,
    ) -> Result<Self, Failure> {
        if typed.from.is_some() && typed.phase.is_none() && typed.convergence.is_none() {
            return Err(Failure::input(
                "--from says where trajectories start: add --phase x,q or --convergence",
            ));
        }
        if typed.seconds.is_some() && typed.phase.is_none() && typed.step.is_empty() {
            return Err(Failure::input(
                "--for says how long trajectories are followed: add --phase x,q or --step",
            ));
        }
        let portrait = typed.phase.as_deref().map(|phase| plane(phase, typed, settled)).transpose()?;
        let step = |text: &String| Step::read(text, scenario, settled).map_err(Failure::input);
        let steps = typed.step.iter().map(step).collect::<Result<_, _>>()?;
        let convergence = typed.convergence.as_deref().map(|text| {
            let usage =
                || Failure::input(format!("--convergence {text}: write a range, such as rtt=10ms..2s"));
            let over = axis(text, points, (scenario, registry), ("--convergence", &usage))?;
            // The starts of a plane are no single start.
            let from = typed.from.clone().filter(|from| typed.phase.is_none() || motion::is_single(from));
            Ok::<_, Failure>((over, Asked { within: typed.within, from }))
        });
        let seconds = typed.seconds.map(Span::secs);
        Ok(Self { portrait, steps, convergence: convergence.transpose()?, seconds })
    }

    /// The answers.
    pub(crate) fn answer(
        self,
        (scenario, registry): (&Scenario, &Registry),
        settled: &Settled<'_>,
        interrupt: &Interrupt,
    ) -> Result<Motions, Failure> {
        let seconds = self.seconds;
        let portrait = self.portrait.map(|(across, up, starts)| {
            let follow = |watch: &Progress| motion::portrait(settled, (across, up), &starts, seconds, watch);
            watched("trajectories", interrupt, follow)?.map_err(Failure::input)
        });
        let convergence = self.convergence.map(|(over, asked)| {
            let vary = |watch: &Progress| motion::converge((scenario, registry), over, asked, watch);
            watched("convergence", interrupt, vary)?.map_err(Failure::from)
        });
        let answers =
            |watch: &Progress| motion::answers(&self.steps, (scenario, registry), settled, seconds, watch);
        let steps = watched("steps", interrupt, answers)??;
        Ok(Motions { portrait: portrait.transpose()?, steps, convergence: convergence.transpose()? })
    }
}

/// `x,q` with their starts.
fn plane(
    phase: &str,
    typed: &args::Motion,
    settled: &Settled<'_>,
) -> Result<(Observable, Observable, Starts), Failure> {
    let (known, bottlenecks) = (motion::observables(settled.plan), motion::bottlenecks(settled));
    let usage = || Failure::input(format!("--phase {phase}: write two quantities, such as x,q"));
    let (across, up) = phase.split_once(',').ok_or_else(usage)?;
    let pick = |name: &str| {
        let found = motion::pick(name, &known, &bottlenecks);
        found.map_err(|reason| Failure::input(format!("--phase {phase}: {reason}")))
    };
    let (across, up) = (pick(across)?, pick(up)?);
    if across == up {
        return Err(Failure::input(format!(
            "--phase {phase}: {} is on both sides; name two quantities",
            up.name
        )));
    }
    let from = typed.from.as_deref().unwrap_or("grid");
    let about = (settled, &known[..], &bottlenecks[..]);
    let starts = Starts::read(from, typed.starts, &[&across, &up], about)
        .map_err(|reason| Failure::input(format!("--from {from}: {reason}")))?;
    Ok((across, up, starts))
}

impl Motions {
    /// One sentence for each.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let portrait = self.portrait.iter().map(sentence::portrait_sentence);
        let steps = self.steps.iter().map(sentence::step_sentence);
        portrait.chain(steps).chain(self.convergence.iter().map(sentence::convergence_sentence)).collect()
    }

    /// Sentences first, each with its numbers.
    pub(crate) fn print(&self) -> Result<(), Failure> {
        if let Some(portrait) = &self.portrait {
            print_line(sentence::portrait_sentence(portrait))?;
        }
        for answer in &self.steps {
            print_line(sentence::step_sentence(answer))?;
            print(terminal::step(answer))?;
        }
        if let Some(convergence) = &self.convergence {
            print_line(sentence::convergence_sentence(convergence))?;
            print(terminal::convergence(convergence))?;
        }
        Ok(())
    }

    /// Under keys of their own, what was asked for alone.
    pub(crate) fn json(&self, answer: &mut Value) {
        if let Some(portrait) = &self.portrait {
            answer["portrait"] = motion::portrait_json(portrait);
        }
        if !self.steps.is_empty() {
            answer["steps"] = json!(self.steps.iter().map(motion::step_json).collect::<Vec<_>>());
        }
        if let Some(convergence) = &self.convergence {
            answer["convergence"] = motion::convergence_json(convergence);
        }
    }
}
