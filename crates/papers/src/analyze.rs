//! Analyzes the scenarios of trials; the results have the keys of `millpond equilibrium --json` and
//! `millpond stability --json`.

use super::analysis::{Analysis, AnalysisResult};
use super::nyquist::NyquistOptions;
use super::trial::Trial;
use millpond_diagnosis::agreement::{agreement_json, compute_agreement};
use millpond_lab::{Error, run};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::{Watch, World};
use millpond_scenario::Scenario;
use millpond_theory::equilibrium::{equilibrium_json, find_equilibrium};
use millpond_theory::stability::{
    VariedParameter, analyze_stability, find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::{AnalysisError, Study, json_value};
use serde_json::{Value, json};

/// A trial whose scenario is analysed.
pub(super) struct AnalysisRequest<'a> {
    pub trial: &'a Trial<'a>,
    pub scenario: &'a Scenario,
    pub registry: &'a Registry,
    /// The number of the trial for `watch`.
    pub index: usize,
    pub watch: &'a dyn Watch,
}

impl AnalysisRequest<'_> {
    /// The result of the analysis; `{ refused: reason }` if theory refuses the scenario.
    ///
    /// # Errors
    /// The faults of the scenario, or the interruption by `watch`.
    pub(super) fn analyze(&self, analysis: Analysis) -> Result<AnalysisResult, Error> {
        let Self { trial, scenario, registry, .. } = self;
        let result = match analysis {
            Analysis::Equilibrium => equilibrium(scenario, registry).map(AnalysisResult::from),
            Analysis::Stability => {
                stability(trial.case.vary.as_deref(), scenario, registry).map(AnalysisResult::from)
            }
            Analysis::Nyquist => nyquist(&trial.case.nyquist.clone().unwrap_or_default(), scenario, registry),
            Analysis::Worlds => return self.worlds(),
        };
        match result {
            Ok(result) => Ok(result),
            Err(AnalysisError::Scenario(faults)) => Err(faults.into()),
            Err(refusal) => Ok(refused(&refusal).into()),
        }
    }

    /// Runs both worlds and compares them with the equilibrium.
    fn worlds(&self) -> Result<AnalysisResult, Error> {
        let in_world =
            |world| run(self.scenario, self.registry, self.trial.about(self.index, world), self.watch);
        let (packets, fluid) = (in_world(World::Packets)?.run, in_world(World::Fluid)?.run);
        let agreement = compute_agreement(Study::new(self.scenario, self.registry), &packets, &fluid);
        Ok(AnalysisResult {
            value: json_value(&agreement_json(&agreement)),
            agreement: Some(agreement),
            ..AnalysisResult::default()
        })
    }
}

fn refused(reason: &dyn std::fmt::Display) -> Value {
    json!({ "refused": reason.to_string() })
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

fn nyquist(
    options: &NyquistOptions,
    scenario: &Scenario,
    registry: &Registry,
) -> Result<AnalysisResult, AnalysisError> {
    options.analyze(&find_equilibrium(&fluid::plan(scenario, registry)?)?)
}
