//! Runs suites for protocols. Runs without the protocol under evaluation, such as those of CUBIC alone, are shared by all
//! protocols.

use super::evidence::{Evaluation, Evidence, JudgedCriterion, JudgedSuite};
use super::suite::{Criterion, Suite, TESTED};
use millpond_lab::Error;
use millpond_papers::{
    CheckOptions, Measurement, Recipe, RecipeError, SelectedRecipe, Trial, TrialResult, execute, finish_all,
    measure_all, measure_rows, trials, unknown,
};
use millpond_protocols::Registry;
use millpond_results::Watch;
use millpond_scenario::Faults;

/// Which protocols are evaluated with which suites.
pub struct EvaluationRequest<'a> {
    /// The suites.
    pub suites: Vec<&'a Suite>,
    /// The sections whose criteria are judged; all of them if there is none.
    pub sections: Vec<String>,
    /// The names of the protocols.
    pub protocols: Vec<String>,
    /// The protocols and queues that there are.
    pub registry: Registry,
    /// Whether the extent `[full]` of the recipes is run instead of `[quick]`.
    pub full: bool,
    /// Overrides of every scenario, in the form of `--set`.
    pub set: Vec<String>,
}

/// The runs of an evaluation.
pub struct EvaluationPlan<'a> {
    request: EvaluationRequest<'a>,
    runs: Vec<PlannedRun<'a>>,
}

/// One run of an evaluation.
struct PlannedRun<'a> {
    selected: SelectedRecipe<'a>,
    trial: Trial<'a>,
    /// The index of the protocol under evaluation, if it is part of the run.
    protocol: Option<usize>,
}

/// A run with the values that were measured on it.
struct MeasuredRun<'p, 'a> {
    run: &'p PlannedRun<'a>,
    measurements: Vec<Measurement>,
}

impl<'a> EvaluationRequest<'a> {
    /// The criteria of a suite that are judged.
    fn criteria(&self, suite: &'a Suite) -> impl Iterator<Item = &'a Criterion> {
        let is_asked = |section: &String| self.sections.is_empty() || self.sections.contains(section);
        suite.description.criteria.iter().filter(move |criterion| is_asked(&criterion.section))
    }

    /// Checks that the suites have every section of the request.
    ///
    /// # Errors
    /// The first section that no suite has.
    pub fn check_sections(&self) -> Result<(), RecipeError> {
        let criteria = self.suites.iter().flat_map(|suite| &suite.description.criteria);
        let known: Vec<String> = criteria.map(|criterion| criterion.section.clone()).collect();
        match self.sections.iter().find(|section| !known.contains(section)) {
            Some(section) => Err(RecipeError::new("--section", unknown(section, "section", &known))),
            None => Ok(()),
        }
    }
}

impl<'a> EvaluationPlan<'a> {
    /// The runs of a request.
    ///
    /// # Errors
    /// Faults of an override.
    pub fn new(request: EvaluationRequest<'a>) -> Result<Self, Error> {
        let mut runs = Vec::new();
        for &suite in &request.suites {
            let recipes = request.criteria(suite).flat_map(|criterion| suite.recipes_of(criterion));
            for recipe in recipes {
                let selected = SelectedRecipe { paper: &suite.paper, recipe };
                for trial in trials(selected, request.full) {
                    let of_protocol = |protocol| PlannedRun { selected, trial, protocol };
                    if is_tested(&trial, &request.set)? {
                        runs.extend((0..request.protocols.len()).map(Some).map(of_protocol));
                    } else {
                        runs.push(of_protocol(None));
                    }
                }
            }
        }
        Ok(Self { request, runs })
    }

    /// The number of runs.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Makes all runs on all cores, and judges each protocol. `watch` receives the number of each run, from 0 to
    /// [`Self::run_count`].
    ///
    /// # Errors
    /// The faults of a scenario without the protocol under evaluation, or the interruption by `watch`.
    pub fn run(&self, version: &str, watch: &dyn Watch) -> Result<Vec<Evaluation>, Error> {
        let finish = |index: usize| {
            let run = &self.runs[index];
            let result = self.execute(run, index, watch)?;
            Ok(MeasuredRun { run, measurements: measure_rows(run.selected, &run.trial, &result) })
        };
        let measured = finish_all(self.runs.len(), &finish)?;
        let protocols = self.request.protocols.iter().enumerate();
        Ok(protocols.map(|(index, name)| self.evaluation(index, name, version, &measured)).collect())
    }

    /// Executes a run. What is refused with the protocol under evaluation is a result: the protocol cannot be used there.
    fn execute(&self, run: &PlannedRun<'a>, index: usize, watch: &dyn Watch) -> Result<TrialResult, Error> {
        let name = run.protocol.map(|protocol| &self.request.protocols[protocol]);
        let set = match name {
            Some(name) => self.request.set.iter().cloned().chain([as_tested(name)]).collect(),
            None => for_all(&self.request.set).cloned().collect(),
        };
        let options = CheckOptions {
            registry: self.request.registry.clone(),
            full: self.request.full,
            set,
            ..CheckOptions::quick()
        };
        match (execute(&run.trial, index, &options, watch), name) {
            (Err(stopped @ Error::Stopped { .. }), _) => Err(stopped),
            (Err(Error::Scenario(faults)), Some(_)) => Ok(TrialResult::Refused(messages(&faults))),
            (Err(fault), Some(_)) => Ok(TrialResult::Refused(fault.to_string())),
            (result, _) => result,
        }
    }

    fn evaluation(
        &self,
        index: usize,
        name: &str,
        version: &str,
        measured: &[MeasuredRun<'_, 'a>],
    ) -> Evaluation {
        let suites = self.request.suites.iter().map(|&suite| {
            let criteria = self.request.criteria(suite).map(|criterion| {
                let recipes = suite.recipes_of(criterion);
                let evidence = recipes.flat_map(|recipe| self.evidence(suite, recipe, index, measured));
                JudgedCriterion::of(criterion, Evidence::least_strict(evidence.collect()))
            });
            JudgedSuite::of(suite, criteria.collect())
        });
        let card = self.request.registry.protocol(name).ok().map(|protocol| protocol.card());
        Evaluation {
            protocol: name.to_owned(),
            title: card.map_or_else(String::new, |card| card.title.to_owned()),
            specification: card.map_or_else(String::new, |card| card.source.to_owned()),
            version: version.to_owned(),
            overrides: self.request.set.clone(),
            suites: suites.collect(),
        }
    }

    /// The rows of a recipe for the protocol with this index.
    fn evidence(
        &self,
        suite: &'a Suite,
        recipe: &'a Recipe,
        index: usize,
        measured: &[MeasuredRun<'_, 'a>],
    ) -> Vec<Evidence> {
        let selected = SelectedRecipe { paper: &suite.paper, recipe };
        let is_own = |one: &&MeasuredRun<'_, 'a>| {
            one.run.selected.recipe.name == recipe.name && one.run.protocol.is_none_or(|of| of == index)
        };
        let own = measured.iter().filter(is_own).map(|one| (&one.run.trial, one.measurements.as_slice()));
        let rows = measure_all(selected, self.request.full, own);
        let evidence = rows.iter().map(|(row, values)| {
            Evidence::of((&recipe.name, &recipe.title), recipe.case_of(row), row, values)
        });
        evidence.collect()
    }
}

/// Whether the protocol under evaluation is part of the trial.
fn is_tested(trial: &Trial<'_>, set: &[String]) -> Result<bool, Error> {
    let set: Vec<String> = for_all(set).cloned().collect();
    let scenario = trial.scenario(&set, None)?;
    Ok(scenario.flows.iter().any(|group| group.protocol.value == TESTED))
}

/// The override that makes a protocol the one under evaluation.
fn as_tested(name: &str) -> String {
    format!("protocols.{TESTED}.protocol={name}")
}

/// The overrides that hold for runs without the protocol under evaluation, too.
fn for_all(set: &[String]) -> impl Iterator<Item = &String> {
    let own = format!("protocols.{TESTED}.");
    set.iter().filter(move |one| !one.starts_with(&own))
}

/// The messages of faults, without their lines in the scenario.
fn messages(faults: &Faults) -> String {
    faults.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
