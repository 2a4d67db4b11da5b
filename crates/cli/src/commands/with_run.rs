//! `millpond stability --with-run`: a run in packets beside the analysis.

use crate::command_line::origin;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use millpond_analysis_report::RunBeside;
use millpond_diagnosis::explain::{
    Explanation, StabilityWithRunJson, explain_at, explanation_json, explanation_sentence,
};
use millpond_results::{About, Run, World};
use millpond_theory::stability::Stability;
use millpond_theory::{StabilityOutputJson, Study};
use millpond_units::Span;
use std::f64::consts::PI;

/// A run, and whether and why it oscillates.
pub(super) struct ExplainedRun {
    run: Run,
    explanation: Option<Explanation>,
    /// The explanation, or why there is none.
    pub(super) sentence: String,
}

impl ExplainedRun {
    /// Runs the scenario of `study` in packets and explains the run at the time `at`.
    pub(super) fn new(study: Study<'_>, at: Option<Span>, interrupt: Interrupt) -> Result<Self, Failure> {
        let title = &study.scenario.title;
        let progress = Progress::of_each(std::slice::from_ref(title), interrupt);
        let about = About { label: title.clone(), origin: origin(), index: 0, world: World::Packets };
        let finished = millpond_lab::run(study.scenario, study.registry, about, &progress);
        progress.clear();
        let run = finished?.run;
        let explained = explain_at(&run, study, at.map(Span::secs));
        let (explanation, sentence) = match explained {
            Ok(explanation) => {
                let sentence = explanation_sentence(&explanation);
                // A sentence without a subject begins with its verb.
                let subject = if sentence.starts_with("its ") { "" } else { "it " };
                (Some(explanation), format!("in packets, {subject}{sentence}"))
            }
            Err(reason) => (None, format!("in packets, it was not compared with the analysis: {reason}")),
        };
        Ok(Self { run, explanation, sentence })
    }

    /// The run as the page shows it beside this stability.
    pub(super) fn beside(&self, stability: &Stability) -> RunBeside<'_> {
        let root = stability.spectrum.first_nonzero().map(|root| root.s.im);
        RunBeside {
            run: &self.run,
            explanation: self.explanation.as_ref(),
            sentence: &self.sentence,
            frequency: root.filter(|frequency| *frequency > 0.0).map(|frequency| frequency / (2.0 * PI)),
        }
    }

    /// The stability of the equilibrium and the explanation of the run.
    pub(super) fn json(&self, stability: StabilityOutputJson) -> StabilityWithRunJson {
        let explained = |explanation| explanation_json(&self.sentence, explanation);
        let run = self.explanation.as_ref().map(explained);
        StabilityWithRunJson { stability, run_verdict: self.sentence.clone(), run }
    }
}
