//! `millpond stability --phase`, `--step`, `--convergence`: how a scenario moves about where it settles.

use super::stability::{axis, watched};
use crate::args;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{print, print_line};
use crate::progress::Progress;
use millpond_report::terminal;
use millpond_theory::equilibrium::PlanEquilibrium;
use millpond_theory::stability::ParameterAxis;
use millpond_theory::transients::{
    ConvergenceCriterion, ConvergenceTimes, InitialConditions, Observable, Observables, PhasePortrait,
    StepChange, StepTransient, compute_convergence_times, compute_phase_portrait, convergence_sentence,
    convergence_times_json, is_single_condition, phase_portrait_json, phase_portrait_sentence,
    simulate_steps, step_sentence, step_transient_json,
};
use millpond_theory::{Study, json_value};
use millpond_units::Span;
use serde_json::Value;

/// What was asked for, read before anything is computed.
pub(crate) struct Questions {
    portrait: Option<([Observable; 2], InitialConditions)>,
    steps: Vec<StepChange>,
    convergence: Option<(ParameterAxis, ConvergenceCriterion)>,
    seconds: Option<f64>,
}

/// What came out.
pub(crate) struct Motions {
    pub(crate) portrait: Option<PhasePortrait>,
    pub(crate) steps: Vec<StepTransient>,
    pub(crate) convergence: Option<ConvergenceTimes>,
}

impl Questions {
    /// `points`: of a range of `--convergence`.
    pub(crate) fn read(
        typed: &args::Motion,
        points: usize,
        study: Study<'_>,
        equilibrium: &PlanEquilibrium<'_>,
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
        let portrait = typed.phase.as_deref().map(|phase| plane(phase, typed, equilibrium)).transpose()?;
        let step =
            |text: &String| StepChange::parse(text, study.scenario, equilibrium).map_err(Failure::input);
        let steps = typed.step.iter().map(step).collect::<Result<_, _>>()?;
        let convergence = typed.convergence.as_deref().map(|text| {
            let usage =
                || Failure::input(format!("--convergence {text}: write a range, such as rtt=10ms..2s"));
            let over = axis(text, points, study, ("--convergence", &usage))?;
            // The starts of a plane are no single start.
            let single = |from: &String| typed.phase.is_none() || is_single_condition(from);
            let initial_condition = typed.from.clone().filter(single);
            Ok::<_, Failure>((over, ConvergenceCriterion { tolerance: typed.within, initial_condition }))
        });
        let seconds = typed.seconds.map(Span::secs);
        Ok(Self { portrait, steps, convergence: convergence.transpose()?, seconds })
    }

    /// The answers.
    pub(crate) fn answer(
        self,
        study: Study<'_>,
        equilibrium: &PlanEquilibrium<'_>,
        interrupt: &Interrupt,
    ) -> Result<Motions, Failure> {
        let seconds = self.seconds;
        let portrait = self.portrait.map(|(plane, conditions)| {
            let follow =
                |watch: &Progress| compute_phase_portrait(equilibrium, plane, &conditions, seconds, watch);
            watched("trajectories", interrupt, follow)?.map_err(Failure::input)
        });
        let convergence = self.convergence.map(|(over, asked)| {
            let vary = |watch: &Progress| compute_convergence_times(study, over, asked, watch);
            watched("convergence", interrupt, vary)?.map_err(Failure::from)
        });
        let answers = |watch: &Progress| simulate_steps(&self.steps, study, equilibrium, seconds, watch);
        let steps = watched("steps", interrupt, answers)??;
        Ok(Motions { portrait: portrait.transpose()?, steps, convergence: convergence.transpose()? })
    }
}

/// `x,q` with their starts.
fn plane(
    phase: &str,
    typed: &args::Motion,
    equilibrium: &PlanEquilibrium<'_>,
) -> Result<([Observable; 2], InitialConditions), Failure> {
    let observables = Observables::new(equilibrium);
    let usage = || Failure::input(format!("--phase {phase}: write two quantities, such as x,q"));
    let (across, up) = phase.split_once(',').ok_or_else(usage)?;
    let pick = |name: &str| {
        let found = observables.find(name);
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
    let conditions = InitialConditions::parse(from, typed.starts, &[&across, &up], &observables)
        .map_err(|reason| Failure::input(format!("--from {from}: {reason}")))?;
    Ok(([across, up], conditions))
}

impl Motions {
    /// One sentence for each.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let portrait = self.portrait.iter().map(phase_portrait_sentence);
        let steps = self.steps.iter().map(step_sentence);
        portrait.chain(steps).chain(self.convergence.iter().map(convergence_sentence)).collect()
    }

    /// Sentences first, each with its numbers.
    pub(crate) fn print(&self) -> Result<(), Failure> {
        if let Some(portrait) = &self.portrait {
            print_line(phase_portrait_sentence(portrait))?;
        }
        for answer in &self.steps {
            print_line(step_sentence(answer))?;
            print(terminal::step(answer))?;
        }
        if let Some(convergence) = &self.convergence {
            print_line(convergence_sentence(convergence))?;
            print(terminal::convergence(convergence))?;
        }
        Ok(())
    }

    /// Under keys of their own, what was asked for alone.
    pub(crate) fn json(&self, answer: &mut Value) {
        if let Some(portrait) = &self.portrait {
            answer["portrait"] = json_value(&phase_portrait_json(portrait));
        }
        if !self.steps.is_empty() {
            answer["steps"] = json_value(&self.steps.iter().map(step_transient_json).collect::<Vec<_>>());
        }
        if let Some(convergence) = &self.convergence {
            answer["convergence"] = json_value(&convergence_times_json(convergence));
        }
    }
}
