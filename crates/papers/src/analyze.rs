//! Analyzes cells that are not run; the answers have the keys of `millpond equilibrium --json` and
//! `millpond stability --json`.

use super::analysis::{Analysis, Answer};
use super::nyquist::Plot;
use super::trial::Cell;
use millpond_lab::{Error, run};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::{About, Watch, World};
use millpond_scenario::Scenario;
use millpond_theory::agreement::{agreement_json, compute_agreement};
use millpond_theory::equilibrium::{equilibrium_json, find_equilibrium};
use millpond_theory::stability::{
    VariedParameter, analyze_stability, find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::{AnalysisError, Study, json_value};
use serde_json::{Value, json};

/// What a cell asks.
pub(super) struct Question<'a> {
    pub cell: &'a Cell<'a>,
    pub scenario: &'a Scenario,
    pub registry: &'a Registry,
    /// By which `watch` knows the cell.
    pub index: usize,
    pub watch: &'a dyn Watch,
}

impl Question<'_> {
    /// The answer; `{ refused: why }` where theory has none.
    ///
    /// # Errors
    /// What is wrong with the scenario, or that it was stopped.
    pub(super) fn answer(&self, analysis: Analysis) -> Result<Answer, Error> {
        let Self { cell, scenario, registry, .. } = self;
        let answer = match analysis {
            Analysis::Equilibrium => equilibrium(scenario, registry).map(Answer::from),
            Analysis::Stability => stability(cell.case.vary.as_deref(), scenario, registry).map(Answer::from),
            Analysis::Nyquist => nyquist(&cell.case.nyquist.clone().unwrap_or_default(), scenario, registry),
            Analysis::Worlds => return self.worlds(),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(AnalysisError::Scenario(faults)) => Err(faults.into()),
            Err(refusal) => Ok(refused(&refusal).into()),
        }
    }

    /// Both worlds, beside the point of rest.
    fn worlds(&self) -> Result<Answer, Error> {
        let in_world = |world| {
            let (label, command) = (self.cell.label(), self.cell.command());
            run(self.scenario, self.registry, About { label, command, index: self.index, world }, self.watch)
        };
        let (packets, fluid) = (in_world(World::Packets)?.run, in_world(World::Fluid)?.run);
        let agreement = compute_agreement(Study::new(self.scenario, self.registry), &packets, &fluid);
        Ok(Answer {
            value: json_value(&agreement_json(&agreement)),
            agreement: Some(agreement),
            ..Answer::default()
        })
    }
}

fn refused(why: &dyn std::fmt::Display) -> Value {
    json!({ "refused": why.to_string() })
}

fn equilibrium(scenario: &Scenario, registry: &Registry) -> Result<Value, AnalysisError> {
    let plan = fluid::plan(scenario, registry)?;
    Ok(json_value(&equilibrium_json(&find_equilibrium(&plan)?)))
}

fn stability(vary: Option<&str>, scenario: &Scenario, registry: &Registry) -> Result<Value, AnalysisError> {
    let study = Study::new(scenario, registry);
    let parameter = match vary.map(|name| VariedParameter::parse(name, study)).transpose() {
        Ok(parameter) => parameter,
        Err(unknown) => return Ok(refused(&unknown)),
    };
    let plan = study.plan()?;
    let judged = analyze_stability(&find_equilibrium(&plan)?)?;
    let search = parameter.map(|parameter| find_critical_values(study, &parameter)).transpose()?;
    let searches: Vec<_> = search.into_iter().collect();
    let verdict = stability_sentence(&judged, &searches);
    Ok(json_value(&stability_json(&verdict, &judged, &searches, None)))
}

fn nyquist(plot: &Plot, scenario: &Scenario, registry: &Registry) -> Result<Answer, AnalysisError> {
    plot.answer(&find_equilibrium(&fluid::plan(scenario, registry)?)?)
}
