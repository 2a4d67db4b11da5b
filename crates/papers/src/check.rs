//! Executes the trials of recipes and judges their rows.

use super::charted::{ChartedRun, MeasuredRow};
use super::claims::{JudgedClaim, judge_claims};
use super::drawn::{DrawnNames, check_drawn};
use super::execute::{CheckOptions, TrialResult, execute};
use super::expect::Expectation;
use super::figure::RecipeFigure;
use super::measure::measure;
use super::paper::{PaperKind, SelectedRecipe};
use super::trial::{Trial, trials};
use super::verdict::{JudgedRow, RowValues, RowVerdict};
use crate::{CheckError, RecipeError};
use millpond_diagnosis::agreement::Agreement;
use millpond_fluid::stability::Locus;
use millpond_lab::{Error, fair_shares};
use millpond_results::Watch;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use toml::Spanned;

/// A recipe with the verdict on each of its rows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckedRecipe {
    /// The name of the recipe: `lgcc/fig12`.
    pub recipe: String,
    /// The title.
    pub title: String,
    /// The place in the paper.
    pub place: String,
    /// What the paper says, in our own words.
    pub claim: String,
    /// Whether the paper is one of those that the repository is about.
    pub kind: PaperKind,
    /// The claims of the paper that rows check, in the order of the file.
    pub claims: Vec<JudgedClaim>,
    /// The rows, in the order of the file.
    pub rows: Vec<JudgedRow>,
    /// Runs for charts: of each case, the trial with the first reading and seed.
    #[serde(skip)]
    pub runs: Vec<ChartedRun>,
    /// The figures that the recipe declares.
    #[serde(skip)]
    pub figures: Vec<RecipeFigure>,
    /// The rows for pictures.
    #[serde(skip)]
    pub measured: Vec<MeasuredRow>,
    /// Nyquist loci for charts, with the name of the case.
    #[serde(skip)]
    pub loci: Vec<(String, Vec<Locus>)>,
    /// Agreements of worlds and theory, with the name of the case.
    #[serde(skip)]
    pub agreements: Vec<(String, Agreement)>,
}

impl CheckedRecipe {
    /// The worst verdict among the rows, or among those under one reading; none if there is no row.
    pub fn verdict(&self, reading: Option<&str>) -> Option<RowVerdict> {
        let rows = self.rows.iter().filter(|row| reading.is_none_or(|name| row.reading == name));
        rows.map(|row| row.verdict).max()
    }

    /// The recipe with its figures, and its rows with their values.
    fn with_rows(self, selected: SelectedRecipe<'_>, measured: &[(&Expectation, RowValues)]) -> Self {
        let SelectedRecipe { paper, recipe } = selected;
        let first = paper.reading(None).map_or("", |reading| &reading.name);
        let row = |((row, values), judged): (&(&Expectation, RowValues), &JudgedRow)| MeasuredRow {
            row: (*row).clone(),
            case: recipe.case_of(row).to_owned(),
            shown_case: judged.case.clone(),
            reading: if judged.reading == first { String::new() } else { judged.reading.clone() },
            values: values.clone(),
            verdict: judged.verdict,
        };
        let measured = measured.iter().zip(&self.rows).map(row).collect();
        let figures = recipe.figures.iter().map(|figure| figure.get_ref().clone()).collect();
        Self { figures, measured, ..self }
    }

    /// The recipe with a trial's result added to its charts, if there is one.
    fn with_chart(mut self, trial: &Trial<'_>, charted: Option<&TrialResult>) -> Self {
        let case = &trial.case.name;
        match charted {
            Some(TrialResult::Run(run)) => {
                let (reading, run) = (trial.reading.name.clone(), run.as_ref().clone());
                let time_axis = trial.recurrence().map_or("time, s", |recurrence| recurrence.time_axis());
                self.runs.push(ChartedRun { case: case.clone(), reading, time_axis, run });
            }
            Some(TrialResult::Analysis(result)) => {
                let loci = Some(result.loci.clone()).filter(|loci| !loci.is_empty());
                self.loci.extend(loci.map(|loci| (case.clone(), loci)));
                self.agreements.extend(result.agreement.clone().map(|agreement| (case.clone(), agreement)));
            }
            Some(TrialResult::Refused(_)) | None => {}
        }
        self
    }
}

/// The value of one row on one trial, or the reason why it could not be measured.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Index of the row in the recipe.
    row: usize,
    value: Result<f64, String>,
}

/// A finished trial.
struct FinishedTrial {
    measurements: Vec<Measurement>,
    /// What figures draw of its run, if it has one.
    drawn: Option<DrawnNames>,
    /// The result, if it is charted.
    charted: Option<TrialResult>,
}

/// A trial with the index of its recipe among the selected ones.
struct Scheduled<'a> {
    recipe: usize,
    trial: Trial<'a>,
}

/// The number of trials of these recipes.
pub fn trial_count(selected: &[SelectedRecipe<'_>], full: bool) -> usize {
    selected.iter().map(|one| trials(*one, full).len()).sum()
}

/// Refuses a trace in place of those of the recipes if none of them has one.
///
/// # Errors
/// No scenario of `selected` has a trace.
pub fn require_traces(selected: &[SelectedRecipe<'_>], options: &CheckOptions) -> Result<(), RecipeError> {
    // An invalid scenario is reported when it is run.
    let has_trace = |trial: &Trial<'_>| {
        let scenario = trial.recurrence().is_none().then(|| trial.scenario(&options.set, None));
        scenario.is_some_and(|scenario| scenario.map_or(true, |scenario| !scenario.key().traces.is_empty()))
    };
    let Some(trace) = &options.trace else { return Ok(()) };
    if selected.iter().any(|one| trials(*one, options.full).iter().any(has_trace)) {
        return Ok(());
    }
    let names = selected.iter().map(|one| one.recipe.name.as_str()).collect::<Vec<_>>().join(", ");
    let message = format!("a trace replaces those of recipes, and these have none: {names}");
    Err(RecipeError::new(trace.display(), message))
}

/// Checks recipes: executes their trials on all cores and judges their rows. `watch` receives the number of each
/// trial, from 0 to [`trial_count`].
///
/// # Errors
/// The faults of a scenario, a cache that cannot be written, the interruption by `watch`, or a figure that draws what no run
/// has.
pub fn check(
    selected: &[SelectedRecipe<'_>],
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Result<Vec<CheckedRecipe>, CheckError> {
    check_with(selected, options, &|index, trial| execute(trial, index, options, watch))
}

/// As [`check`], with another way to execute a trial.
fn check_with<'a>(
    selected: &[SelectedRecipe<'a>],
    options: &CheckOptions,
    execute: &(dyn Fn(usize, &Trial<'a>) -> Result<TrialResult, Error> + Sync),
) -> Result<Vec<CheckedRecipe>, CheckError> {
    let scheduled = schedule(selected, options.full);
    let finish = |index: usize| {
        let Scheduled { recipe, trial } = &scheduled[index];
        let result = execute(index, trial)?;
        let same_case =
            |other: &&Scheduled<'a>| other.recipe == *recipe && other.trial.case.name == trial.case.name;
        let is_charted =
            options.draw && scheduled.iter().find(same_case).is_some_and(|first| first.trial.is_same(trial));
        let measurements = measure_rows(selected[*recipe], trial, &result);
        let drawn = match &result {
            TrialResult::Run(run) => Some(DrawnNames::of(trial.recipe, &trial.case.name, run)),
            TrialResult::Analysis(_) | TrialResult::Refused(_) => None,
        };
        Ok(FinishedTrial {
            measurements,
            drawn,
            charted: is_charted.then(|| for_charts(result, trial, options)),
        })
    };
    let finished = finish_all(scheduled.len(), &finish)?;
    for (i, one) in selected.iter().enumerate() {
        let own = scheduled.iter().zip(&finished).filter(|(scheduled, _)| scheduled.recipe == i);
        let drawn: Vec<&DrawnNames> = own.filter_map(|(_, finished)| finished.drawn.as_ref()).collect();
        check_drawn(one.recipe, &drawn).map_err(|fault| one.error(&fault))?;
    }
    let checked = |(i, one): (usize, &SelectedRecipe<'a>)| {
        let own = scheduled.iter().zip(&finished).filter(|(scheduled, _)| scheduled.recipe == i);
        let own = own.map(|(scheduled, finished)| (&scheduled.trial, finished));
        let measurements = own.clone().map(|(trial, finished)| (trial, finished.measurements.as_slice()));
        let measured = measure_all(*one, options.full, measurements);
        let judged = judge(*one, &measured);
        let judged = if options.draw { judged.with_rows(*one, &measured) } else { judged };
        own.fold(judged, |judged, (trial, finished)| judged.with_chart(trial, finished.charted.as_ref()))
    };
    Ok(selected.iter().enumerate().map(checked).collect())
}

/// The trials of these recipes.
fn schedule<'a>(selected: &[SelectedRecipe<'a>], full: bool) -> Vec<Scheduled<'a>> {
    let of_recipe = |(recipe, one): (usize, &SelectedRecipe<'a>)| {
        trials(*one, full).into_iter().map(move |trial| Scheduled { recipe, trial })
    };
    selected.iter().enumerate().flat_map(of_recipe).collect()
}

/// The results of `finish` for the numbers from 0 to `count`, computed on all cores. If it was interrupted, the error has
/// the number of those that had ended. Each number is a task of its own, so that none waits behind a longer one.
pub fn finish_all<T: Send>(
    count: usize,
    finish: &(dyn Fn(usize) -> Result<T, Error> + Sync),
) -> Result<Vec<T>, Error> {
    let finished_count = AtomicUsize::new(0);
    let counted = |index| finish(index).inspect(|_| _ = finished_count.fetch_add(1, Ordering::Relaxed));
    let finished: Result<Vec<T>, Error> = (0..count).into_par_iter().with_max_len(1).map(counted).collect();
    finished.map_err(|error| match error {
        Error::Stopped { .. } => {
            Error::Stopped { finished: finished_count.load(Ordering::Relaxed), of: count }
        }
        other => other,
    })
}

/// The values of all rows that are measured on one trial.
pub fn measure_rows(
    selected: SelectedRecipe<'_>,
    trial: &Trial<'_>,
    result: &TrialResult,
) -> Vec<Measurement> {
    let measurement = |(i, row): (usize, &Expectation)| {
        let reading = selected.paper.reading(row.reading.as_deref())?;
        trial.is_measured_by(row, reading).then(|| Measurement { row: i, value: measure(row, result) })
    };
    selected.recipe.rows(trial.full).enumerate().filter_map(measurement).collect()
}

/// The result of a trial as it is kept for charts: with fair shares if a figure draws them, and without the series of a
/// simulation if no figure draws any.
fn for_charts(result: TrialResult, trial: &Trial<'_>, options: &CheckOptions) -> TrialResult {
    let TrialResult::Run(mut run) = result else { return result };
    let figures = || trial.recipe.figures.iter().map(Spanned::get_ref);
    if figures().any(RecipeFigure::has_fair_shares)
        && let Ok(scenario) = trial.scenario(&options.set, options.trace.as_deref())
    {
        let shares = fair_shares(&scenario, &options.registry, &run);
        run.series.extend(shares);
    }
    let is_simulated = !run.summary.links.is_empty();
    if is_simulated && !trial.recipe.figures.is_empty() && !figures().any(RecipeFigure::draws_series) {
        run.series.clear();
    }
    TrialResult::Run(run)
}

/// The rows of a recipe with their values, one per seed.
pub fn measure_all<'c, 'a: 'c>(
    selected: SelectedRecipe<'a>,
    full: bool,
    measured: impl Iterator<Item = (&'c Trial<'a>, &'c [Measurement])>,
) -> Vec<(&'a Expectation, RowValues)> {
    let recipe = selected.recipe;
    let mut values = BTreeMap::new();
    for (trial, measurements) in measured {
        for Measurement { row, value } in measurements {
            values.insert((*row, trial.case.name.as_str(), trial.seed), value.clone());
        }
    }
    let values_of = |i: usize, row: &Expectation| -> RowValues {
        let of = |name: &str, seed| {
            values.get(&(i, name, seed)).cloned().unwrap_or_else(|| Err(format!("case {name} was not run")))
        };
        let value = |seed| match &row.versus {
            None => of(recipe.case_of(row), seed),
            Some(other) => Ok(of(recipe.case_of(row), seed)? / of(other, seed)?),
        };
        (1..=recipe.extent(full).seeds).map(value).collect()
    };
    recipe.rows(full).enumerate().map(|(i, row)| (row, values_of(i, row))).collect()
}

fn judge(selected: SelectedRecipe<'_>, measured: &[(&Expectation, RowValues)]) -> CheckedRecipe {
    let SelectedRecipe { paper, recipe } = selected;
    let rows = judge_rows(selected, measured);
    CheckedRecipe {
        recipe: recipe.name.clone(),
        kind: paper.kind,
        title: recipe.title.clone(),
        place: recipe.place.clone(),
        claim: recipe.claim.trim().to_owned(),
        claims: judge_claims(&rows),
        rows,
        runs: Vec::new(),
        figures: Vec::new(),
        measured: Vec::new(),
        loci: Vec::new(),
        agreements: Vec::new(),
    }
}

/// The rows of a recipe with the verdicts on their values.
pub(super) fn judge_rows(
    SelectedRecipe { paper, recipe }: SelectedRecipe<'_>,
    measured: &[(&Expectation, RowValues)],
) -> Vec<JudgedRow> {
    let named = |name: &str| measured.iter().find(|(row, _)| row.name.as_deref() == Some(name));
    let judged = measured.iter().filter_map(|(row, values)| {
        let case = recipe.case_of(row);
        let shown = row.versus.as_ref().map_or_else(|| case.to_owned(), |other| format!("{case} / {other}"));
        let than = row.order().and_then(|order| order.than.as_deref());
        let others = than.and_then(named).map(|(_, values)| values);
        Some(row.judge(&shown, paper.reading(row.reading.as_deref())?, values, others))
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Library, Statistic};
    use super::*;
    use millpond_results::Unwatched;

    fn section3() -> Library {
        let mut library = Library::builtin().unwrap();
        for paper in &mut library.papers {
            paper.recipes.retain(|recipe| recipe.name == "lgcc/section3");
        }
        library.papers.retain(|paper| !paper.recipes.is_empty());
        library
    }

    #[test]
    fn the_numbers_of_section_three_match() {
        let library = section3();
        let selected = library.select(Some("lgcc/section3")).unwrap();
        let checked = &check(&selected, &CheckOptions::quick(), &Unwatched).unwrap()[0];
        assert_eq!(checked.verdict(None), Some(RowVerdict::Matches), "{checked:#?}");
        assert_eq!(checked.verdict(Some("rate")), None);
        assert_eq!(checked.rows[0].measured, Some(197.02));
    }

    #[test]
    fn rows_are_unexplained_if_the_run_lacks_their_quantity() {
        let library = section3();
        let selected = library.select(None).unwrap();
        let checked =
            &check_with(&selected, &CheckOptions::quick(), &|_, _| Ok(TrialResult::Run(Box::default())))
                .unwrap()[0];
        assert!(checked.rows.iter().all(|row| row.verdict == RowVerdict::Unexplained));
        assert!(checked.rows.iter().all(|row| row.reason.contains("no window of a flow")), "{checked:#?}");
    }

    #[test]
    fn an_interruption_reports_the_number_of_finished_trials() {
        let library = section3();
        let selected = library.select(None).unwrap();
        let stopped =
            check_with(&selected, &CheckOptions::quick(), &|_, _| Err(Error::Stopped { finished: 0, of: 1 }));
        let of = trial_count(&selected, false);
        let is_stopped =
            matches!(stopped, Err(CheckError::Run(Error::Stopped { finished: 0, of: all })) if all == of);
        assert!(is_stopped, "{stopped:?}");
    }

    #[test]
    fn no_trial_waits_behind_a_longer_one() {
        use std::sync::mpsc::channel;
        use std::time::Duration;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (ended, others) = channel();
        let others = std::sync::Mutex::new(others);
        let finish = |index| {
            if index > 0 {
                ended.send(index).unwrap();
                return Ok(true);
            }
            let others = others.lock().unwrap();
            Ok((1..8).all(|_| others.recv_timeout(Duration::from_secs(10)).is_ok()))
        };
        assert_eq!(pool.install(|| finish_all(8, &finish)).unwrap(), [true; 8]);
    }

    #[test]
    fn a_row_with_versus_divides_the_values_of_equal_seeds() {
        let mut library = section3();
        let recipe = &mut library.papers[0].recipes[0];
        recipe.expect.truncate(1);
        recipe.expect[0].get_mut().versus = Some("LGCC".into());
        recipe.expect[0].get_mut().statistic = Statistic::Greatest;
        let selected = library.select(None).unwrap();
        assert_eq!(trial_count(&selected, false), 2);
        let checked = check(&selected, &CheckOptions::quick(), &Unwatched).unwrap();
        assert_eq!(checked[0].rows[0].measured, Some(1.0));
    }
}
