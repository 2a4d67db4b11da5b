//! Runs suites for protocols and queues. Equal scenarios with equal seeds are run once: those without the subject, such as
//! CUBIC alone, are shared by all subjects, and so are those of several recipes or suites.

use super::evidence::{Evaluation, Evidence, JudgedCriterion, JudgedSuite};
use super::subject::{Subject, SubjectKind, without_subject};
use super::suite::{Criterion, Suite};
use millpond_lab::{Error, WantedRun};
use millpond_papers::{
    Measurement, Recipe, RecipeError, SelectedRecipe, Trial, TrialResult, finish_all, measure_all,
    measure_rows, trials,
};
use millpond_protocols::Registry;
use millpond_results::{About, RunOrigin, Watch};
use millpond_scenario::{Faults, Scenario};
use millpond_units::nearest;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which subjects are evaluated with which suites.
pub struct EvaluationRequest<'a> {
    /// The suites. Each evaluates the subjects of its kind.
    pub suites: Vec<&'a Suite>,
    /// The sections whose criteria are judged; all of them if there is none.
    pub sections: Vec<String>,
    /// The protocols and queues under evaluation.
    pub subjects: Vec<Subject>,
    /// The protocols and queues that there are.
    pub registry: Registry,
    /// Whether the extent `[full]` of the recipes is run instead of `[quick]`.
    pub full: bool,
    /// Overrides of every scenario, in the form of `--set`.
    pub set: Vec<String>,
    /// The folder of finished runs, from which an interrupted evaluation continues.
    pub keep: Option<PathBuf>,
    /// The command that makes the runs, and its version.
    pub origin: RunOrigin,
}

/// The runs of an evaluation.
pub struct EvaluationPlan<'a> {
    request: EvaluationRequest<'a>,
    runs: Vec<PlannedRun<'a>>,
}

/// One run, and the rows that are measured on it.
struct PlannedRun<'a> {
    /// At least one.
    uses: Vec<RunUse<'a>>,
}

/// A trial of a recipe that needs a run.
#[derive(Clone, Copy)]
struct RunUse<'a> {
    selected: SelectedRecipe<'a>,
    trial: Trial<'a>,
    kind: SubjectKind,
    /// The index of the subject, if it is part of the run.
    subject: Option<usize>,
}

/// What determines the results of a run.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RunKey {
    scenario_sha256: String,
    traces_sha256: Vec<String>,
    seed: u64,
    world: &'static str,
}

/// The values that a run gives for one of its uses.
struct MeasuredUse<'p, 'a> {
    of: &'p RunUse<'a>,
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
        let sections = |suite: &&'a Suite| {
            let criteria = suite.description.criteria.iter();
            criteria.map(|criterion| criterion.section.as_str()).collect::<Vec<_>>()
        };
        let known: Vec<&str> = self.suites.iter().flat_map(sections).collect();
        let Some(section) = self.sections.iter().find(|section| !known.contains(&section.as_str())) else {
            return Ok(());
        };
        let of_suite = |suite: &&'a Suite| format!("in {} {}", suite.name(), sections(suite).join(", "));
        let all: Vec<String> = self.suites.iter().map(of_suite).collect();
        let near =
            nearest(section, known).map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
        Err(RecipeError::new(
            "--section",
            format!("no section \"{section}\"; there are: {}{near}", all.join("; ")),
        ))
    }

    /// The overrides of a scenario: all of them if the subject is part of it.
    fn overrides(&self, kind: SubjectKind, is_tested: bool) -> Vec<String> {
        self.set.iter().filter(|set| is_tested || !kind.is_own(set)).cloned().collect()
    }

    /// The scenario of a use.
    fn scenario(&self, planned: &RunUse<'_>) -> Result<Scenario, Faults> {
        let set = self.overrides(planned.kind, planned.subject.is_some());
        let scenario = planned.trial.scenario(&set, None)?;
        Ok(match planned.subject {
            Some(subject) => self.subjects[subject].placed_in(scenario),
            None => without_subject(scenario),
        })
    }
}

impl<'a> EvaluationPlan<'a> {
    /// The runs of a request.
    ///
    /// # Errors
    /// Faults of an override.
    pub fn new(request: EvaluationRequest<'a>) -> Result<Self, Error> {
        let mut runs = Vec::new();
        let mut known = BTreeMap::new();
        for &suite in &request.suites {
            for recipe in request.criteria(suite).flat_map(|criterion| suite.recipes_of(criterion)) {
                let selected = SelectedRecipe { paper: &suite.paper, recipe };
                for trial in trials(selected, request.full) {
                    let kind = suite.description.evaluates;
                    let uses = RunUse { selected, trial, kind, subject: None }.for_subjects(&request)?;
                    for (key, planned) in uses {
                        let index = *known.entry(key).or_insert_with(|| {
                            runs.push(PlannedRun { uses: Vec::new() });
                            runs.len() - 1
                        });
                        runs[index].uses.push(planned);
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

    /// Makes all runs on all cores, and judges each subject. `watch` receives the number of each run, from 0 to
    /// [`Self::run_count`].
    ///
    /// # Errors
    /// The faults of a scenario without the subject, a folder of finished runs that cannot be written, or the interruption
    /// by `watch`.
    pub fn run(&self, watch: &dyn Watch) -> Result<Vec<Evaluation>, Error> {
        let finish = |index: usize| {
            let planned = &self.runs[index];
            let result = self.execute(&planned.uses[0], index, watch)?;
            let measured = planned
                .uses
                .iter()
                .map(|of| MeasuredUse { of, measurements: measure_rows(of.selected, &of.trial, &result) });
            Ok(measured.collect::<Vec<_>>())
        };
        let measured: Vec<_> = finish_all(self.runs.len(), &finish)?.into_iter().flatten().collect();
        let subjects = self.request.subjects.iter().enumerate();
        Ok(subjects.map(|(index, subject)| self.evaluation(index, subject, &measured)).collect())
    }

    /// Makes a run, or loads it. What is refused with the subject is a result: the subject cannot be used there.
    fn execute(&self, planned: &RunUse<'a>, index: usize, watch: &dyn Watch) -> Result<TrialResult, Error> {
        let scenario = self.request.scenario(planned)?;
        let trial = &planned.trial;
        let (origin, world) = (self.request.origin.clone(), trial.case.world);
        let mut names: Vec<&str> = scenario.flows.iter().map(|group| group.protocol.value.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let wanted = WantedRun {
            name: format!("{} seed {}", names.join(" "), trial.seed),
            scenario: &scenario,
            registry: &self.request.registry,
            about: About { label: trial.label(), origin, index, world },
        };
        match wanted.load_or_make(self.request.keep.as_deref(), watch) {
            Ok(run) => Ok(TrialResult::Run(Box::new(run))),
            Err(fault @ (Error::Stopped { .. } | Error::Output(_))) => Err(fault),
            Err(fault) if planned.subject.is_none() => Err(fault),
            Err(Error::Scenario(faults)) => Ok(TrialResult::Refused(messages(&faults))),
            Err(fault) => Ok(TrialResult::Refused(fault.to_string())),
        }
    }

    fn evaluation(&self, index: usize, subject: &Subject, measured: &[MeasuredUse<'_, 'a>]) -> Evaluation {
        let suites = self.request.suites.iter().filter(|suite| suite.description.evaluates == subject.kind);
        let suites = suites.map(|&suite| {
            let criteria = self.request.criteria(suite).map(|criterion| {
                let recipes = suite.recipes_of(criterion);
                let evidence = recipes.flat_map(|recipe| self.evidence(suite, recipe, index, measured));
                JudgedCriterion::of(criterion, Evidence::least_strict(evidence.collect()))
            });
            JudgedSuite::of(suite, criteria.collect())
        });
        // A suite without any of the sections of the request says nothing.
        let suites = suites.filter(|suite| !suite.criteria.is_empty());
        let card = subject.card(&self.request.registry);
        Evaluation {
            name: subject.name.clone(),
            kind: subject.kind,
            title: card.as_ref().map_or_else(String::new, |card| card.title.to_owned()),
            specification: card.map_or_else(String::new, |card| card.source.to_owned()),
            version: self.request.origin.version.clone(),
            overrides: self.request.set.clone(),
            suites: suites.collect(),
        }
    }

    /// The rows of a recipe for the subject with this index.
    fn evidence(
        &self,
        suite: &'a Suite,
        recipe: &'a Recipe,
        index: usize,
        measured: &[MeasuredUse<'_, 'a>],
    ) -> Vec<Evidence> {
        let selected = SelectedRecipe { paper: &suite.paper, recipe };
        let is_own = |one: &&MeasuredUse<'_, 'a>| {
            one.of.selected.recipe.name == recipe.name
                && one.of.subject.is_none_or(|subject| subject == index)
        };
        let own = measured.iter().filter(is_own).map(|one| (&one.of.trial, one.measurements.as_slice()));
        let rows = measure_all(selected, self.request.full, own);
        let evidence = rows.iter().map(|(row, values)| {
            Evidence::of((&recipe.name, &recipe.title), recipe.case_of(row), row, values)
        });
        evidence.collect()
    }
}

impl RunUse<'_> {
    /// The uses of a trial: one for each subject of its kind if the subject is part of the scenario, else one for all.
    fn for_subjects(self, request: &EvaluationRequest<'_>) -> Result<Vec<(RunKey, Self)>, Faults> {
        let shared = self.trial.scenario(&request.overrides(self.kind, false), None)?;
        if !self.kind.is_tested_in(&shared) {
            return Ok(vec![(self.key(&without_subject(shared)), self)]);
        }
        let own = self.trial.scenario(&request.overrides(self.kind, true), None)?;
        let subjects = request.subjects.iter().enumerate().filter(|(_, one)| one.kind == self.kind);
        let planned = subjects.map(|(index, subject)| {
            let planned = Self { subject: Some(index), ..self };
            (planned.key(&subject.placed_in(own.clone())), planned)
        });
        Ok(planned.collect())
    }

    fn key(&self, scenario: &Scenario) -> RunKey {
        let hashes = scenario.key();
        RunKey {
            scenario_sha256: hashes.sha256,
            traces_sha256: hashes.traces.into_iter().map(|trace| trace.sha256).collect(),
            seed: scenario.seed,
            world: self.trial.case.world.name(),
        }
    }
}

/// The messages of faults, without their lines in the scenario.
pub(super) fn messages(faults: &Faults) -> String {
    faults.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
