//! `millpond stability --phase`, `--step`, `--convergence`: trajectories, step responses and convergence times.

use super::axis::RangeOption;
use crate::args;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{Progress, watched};
use millpond_terminal::{self as terminal, Document};
use millpond_theory::Study;
use millpond_theory::equilibrium::PlanEquilibrium;
use millpond_theory::stability::ParameterAxis;
use millpond_theory::transients::{
    ConvergenceCriterion, ConvergenceTimes, InitialConditions, Observable, Observables, PhasePortrait,
    StepChange, StepTransient, TransientsJson, compute_convergence_times, compute_phase_portrait,
    convergence_sentence, convergence_times_json, is_single_condition, phase_portrait_json,
    phase_portrait_sentence, simulate_steps, step_sentence, step_transient_json,
};
use millpond_units::Span;

/// A phase portrait as the options describe it.
struct PortraitRequest {
    plane: [Observable; 2],
    conditions: InitialConditions,
}

/// Convergence times as the options describe them.
struct ConvergenceRequest {
    axis: ParameterAxis,
    criterion: ConvergenceCriterion,
}

/// All requests, read before anything is computed.
pub(super) struct Requests {
    portrait: Option<PortraitRequest>,
    steps: Vec<StepChange>,
    convergence: Option<ConvergenceRequest>,
    /// How long trajectories and step responses are followed.
    seconds: Option<f64>,
}

/// The results of all requests.
pub(super) struct Transients {
    pub(super) portrait: Option<PhasePortrait>,
    pub(super) steps: Vec<StepTransient>,
    pub(super) convergence: Option<ConvergenceTimes>,
}

impl Requests {
    /// Reads the options; a range of `--convergence` has `points` values.
    pub(super) fn read(
        args: &args::Transients,
        points: usize,
        study: Study<'_>,
        equilibrium: &PlanEquilibrium<'_>,
    ) -> Result<Self, Failure> {
        if args.from.is_some() && args.phase.is_none() && args.convergence.is_none() {
            return Err(Failure::input(
                "--from sets where trajectories start: add --phase x,q or --convergence",
            ));
        }
        if args.seconds.is_some() && args.phase.is_none() && args.step.is_empty() {
            return Err(Failure::input(
                "--for sets how long trajectories are followed: add --phase x,q or --step",
            ));
        }
        let portrait = args.phase.as_deref().map(|phase| PortraitRequest::read(phase, args, equilibrium));
        let step =
            |text: &String| StepChange::parse(text, study.scenario, equilibrium).map_err(Failure::input);
        let convergence =
            args.convergence.as_deref().map(|text| ConvergenceRequest::read(text, args, points, study));
        Ok(Self {
            portrait: portrait.transpose()?,
            steps: args.step.iter().map(step).collect::<Result<_, _>>()?,
            convergence: convergence.transpose()?,
            seconds: args.seconds.map(Span::secs),
        })
    }

    /// Computes the results, with a progress bar for each.
    pub(super) fn compute(
        self,
        study: Study<'_>,
        equilibrium: &PlanEquilibrium<'_>,
        interrupt: &Interrupt,
    ) -> Result<Transients, Failure> {
        let seconds = self.seconds;
        let portrait = self.portrait.map(|PortraitRequest { plane, conditions }| {
            let follow =
                |watch: &Progress| compute_phase_portrait(equilibrium, plane, &conditions, seconds, watch);
            watched("trajectories", interrupt, follow)?.map_err(Failure::input)
        });
        let convergence = self.convergence.map(|ConvergenceRequest { axis, criterion }| {
            let vary = |watch: &Progress| compute_convergence_times(study, axis, criterion, watch);
            watched("convergence", interrupt, vary)?.map_err(Failure::from)
        });
        let simulate = |watch: &Progress| simulate_steps(&self.steps, study, equilibrium, seconds, watch);
        let steps = watched("step responses", interrupt, simulate)??;
        Ok(Transients { portrait: portrait.transpose()?, steps, convergence: convergence.transpose()? })
    }
}

impl PortraitRequest {
    /// Two quantities, such as `x,q`, and the starts of `--from`.
    fn read(
        phase: &str,
        args: &args::Transients,
        equilibrium: &PlanEquilibrium<'_>,
    ) -> Result<Self, Failure> {
        let observables = Observables::new(equilibrium);
        let refused = |reason: &str| Failure::input(format!("--phase {phase}: {reason}"));
        let (across, up) =
            phase.split_once(',').ok_or_else(|| refused("write two quantities, such as x,q"))?;
        let find = |name: &str| observables.find(name).map_err(|reason| refused(&reason));
        let plane = [find(across)?, find(up)?];
        if plane[0] == plane[1] {
            return Err(refused(&format!("{} is on both sides; name two quantities", plane[1].name)));
        }
        let from = args.from.as_deref().unwrap_or("grid");
        let conditions = InitialConditions::parse(from, args.starts, &[&plane[0], &plane[1]], &observables)
            .map_err(|reason| Failure::input(format!("--from {from}: {reason}")))?;
        Ok(Self { plane, conditions })
    }
}

impl ConvergenceRequest {
    /// A range of a parameter, and the single start of `--from`.
    fn read(text: &str, args: &args::Transients, points: usize, study: Study<'_>) -> Result<Self, Failure> {
        let option = RangeOption {
            option: "--convergence",
            usage: "write a range, such as rtt=10ms..2s",
            points,
            study,
        };
        // With --phase, --from may be a range of starts, which belongs to the portrait only.
        let initial_condition =
            args.from.clone().filter(|from| args.phase.is_none() || is_single_condition(from));
        let criterion = ConvergenceCriterion { tolerance: args.within, initial_condition };
        Ok(Self { axis: option.axis(text)?, criterion })
    }
}

impl Transients {
    /// A sentence for each result.
    pub(super) fn sentences(&self) -> Vec<String> {
        let portrait = self.portrait.iter().map(phase_portrait_sentence);
        let steps = self.steps.iter().map(step_sentence);
        portrait.chain(steps).chain(self.convergence.iter().map(convergence_sentence)).collect()
    }

    /// Each result: its sentence, then its table.
    pub(super) fn document(&self) -> Document {
        let mut document = Document::default();
        if let Some(portrait) = &self.portrait {
            document = document.text(phase_portrait_sentence(portrait) + "\n");
        }
        for answer in &self.steps {
            document = document.text(step_sentence(answer) + "\n").then(terminal::step_response(answer));
        }
        if let Some(convergence) = &self.convergence {
            let sentence = convergence_sentence(convergence) + "\n";
            document = document.text(sentence).then(terminal::convergence(convergence));
        }
        document
    }

    /// The JSON of the results that were requested.
    pub(super) fn json(&self) -> TransientsJson {
        TransientsJson {
            portrait: self.portrait.as_ref().map(phase_portrait_json),
            steps: self.steps.iter().map(step_transient_json).collect(),
            convergence: self.convergence.as_ref().map(convergence_times_json),
        }
    }
}
