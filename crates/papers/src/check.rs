//! Runs the cells that a recipe's rows ask for, and judges the rows.

use super::execute::{Ended, Settings, execute};
use super::expect::Expectation;
use super::measure::measure;
use super::paper::Chosen;
use super::trial::{Cell, cells};
use super::verdict::{Judged, Verdict};
use millpond_fluid::stability::Locus;
use millpond_lab::Error;
use millpond_results::{Run, Watch};
use millpond_theory::agreement::Agreement;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A recipe with the verdict on each of its rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// `lgcc/fig12`.
    pub recipe: String,
    /// In a few words.
    pub title: String,
    /// Where in the paper.
    pub place: String,
    /// What the paper says.
    pub claim: String,
    /// The rows, in the order of the file.
    pub rows: Vec<Judged>,
    /// Where runs are to be drawn: of each case, the one under the first reading and seed that a row asks for.
    #[serde(skip)]
    pub runs: Vec<Run>,
    /// And Nyquist plots, each with its case.
    #[serde(skip)]
    pub loci: Vec<(String, Vec<Locus>)>,
    /// And how far two worlds and theory agree, each with its case.
    #[serde(skip)]
    pub agreements: Vec<(String, Agreement)>,
}

impl Checked {
    /// The worst verdict among the rows, or among those under one reading; none if there is no row.
    pub fn verdict(&self, reading: Option<&str>) -> Option<Verdict> {
        let rows = self.rows.iter().filter(|row| reading.is_none_or(|name| row.reading == name));
        rows.map(|row| row.verdict).max()
    }

    /// The same with what is to be drawn of a case.
    fn with_drawing(mut self, case: &str, drawn: Option<&Ended>) -> Self {
        match drawn {
            Some(Ended::Run(run)) => self.runs.push(run.as_ref().clone()),
            Some(Ended::Answer(answer)) => {
                let loci = Some(answer.loci.clone()).filter(|loci| !loci.is_empty());
                self.loci.extend(loci.map(|loci| (case.to_owned(), loci)));
                self.agreements
                    .extend(answer.agreement.clone().map(|agreement| (case.to_owned(), agreement)));
            }
            None => {}
        }
        self
    }
}

/// What one cell says of each row that looks at it: the row's index, and a number or what went wrong.
type Answers = Vec<(usize, Result<f64, String>)>;

/// One cell's answers, and what of it is to be drawn.
type Read = (Answers, Option<Ended>);

/// How many runs checking these recipes takes.
pub fn runs(chosen: &[Chosen<'_>], full: bool) -> usize {
    chosen.iter().map(|one| cells(*one, full).len()).sum()
}

/// Checks recipes: runs their cells on all cores and judges their rows. `watch` knows each run by its number, from
/// 0 to [`runs`].
///
/// # Errors
/// What is wrong with a scenario, that finished runs cannot be kept, or that it was stopped.
pub fn check(chosen: &[Chosen<'_>], settings: &Settings, watch: &dyn Watch) -> Result<Vec<Checked>, Error> {
    judged(chosen, settings, &|index, cell| execute(cell, index, settings, watch))
}

fn judged<'a>(
    chosen: &[Chosen<'a>],
    settings: &Settings,
    run: &(dyn Fn(usize, &Cell<'a>) -> Result<Ended, Error> + Sync),
) -> Result<Vec<Checked>, Error> {
    let of =
        |(i, one): (usize, &Chosen<'a>)| cells(*one, settings.full).into_iter().map(move |cell| (i, cell));
    let work: Vec<_> = chosen.iter().enumerate().flat_map(of).collect();
    let ended = AtomicUsize::new(0);
    let answer = |(index, (i, cell)): (usize, &(usize, Cell<'a>))| {
        let end = run(index, cell)?;
        ended.fetch_add(1, Ordering::Relaxed);
        let answers = ask(chosen[*i], cell, &end);
        let first = |(of, other): &&(usize, Cell<'a>)| of == i && other.case.name == cell.case.name;
        let drawn = settings.draw && work.iter().find(first).is_some_and(|(_, other)| other.same(cell));
        Ok((answers, drawn.then_some(end)))
    };
    let ended_cells: Result<Vec<Read>, Error> = work.par_iter().enumerate().map(answer).collect();
    let ended_cells = ended_cells.map_err(|error| match error {
        Error::Stopped { .. } => Error::Stopped { finished: ended.load(Ordering::Relaxed), of: work.len() },
        other => other,
    })?;
    let table = |(i, one): (usize, &Chosen<'a>)| {
        let mine = work.iter().zip(&ended_cells).filter(|((of, _), _)| *of == i);
        let judged =
            judge(*one, settings.full, mine.clone().map(|((_, cell), (answers, _))| (cell, answers)));
        mine.fold(judged, |judged, ((_, cell), (_, drawn))| {
            judged.with_drawing(&cell.case.name, drawn.as_ref())
        })
    };
    Ok(chosen.iter().enumerate().map(table).collect())
}

/// Every row's number from one run.
fn ask(chosen: Chosen<'_>, cell: &Cell<'_>, end: &Ended) -> Answers {
    let answer = |(i, row): (usize, &Expectation)| {
        let reading = chosen.paper.reading(row.reading.as_deref())?;
        cell.concerns(row, reading).then(|| (i, measure(row, end)))
    };
    chosen.recipe.rows(cell.full).enumerate().filter_map(answer).collect()
}

fn judge<'c, 'a: 'c>(
    chosen: Chosen<'a>,
    full: bool,
    answers: impl Iterator<Item = (&'c Cell<'a>, &'c Answers)>,
) -> Checked {
    let Chosen { paper, recipe } = chosen;
    let mut numbers = BTreeMap::new();
    for (cell, answers) in answers {
        for (row, number) in answers {
            numbers.insert((*row, cell.case.name.as_str(), cell.seed), number.clone());
        }
    }
    let rows = recipe.rows(full).enumerate().map(|(i, row)| {
        let case = recipe.case_of(row);
        let of = |name: &str, seed| {
            numbers.get(&(i, name, seed)).cloned().unwrap_or_else(|| Err(format!("case {name} was not run")))
        };
        let value = |seed| match &row.versus {
            None => of(case, seed),
            Some(other) => Ok(of(case, seed)? / of(other, seed)?),
        };
        let values = (1..=recipe.extent(full).seeds).map(value).collect();
        let reading = paper.reading(row.reading.as_deref()).map_or("", |reading| &reading.name);
        let shown = row.versus.as_ref().map_or_else(|| case.to_owned(), |other| format!("{case} / {other}"));
        row.judge(&shown, reading, &values)
    });
    Checked {
        recipe: recipe.name.clone(),
        title: recipe.title.clone(),
        place: recipe.place.clone(),
        claim: recipe.claim.trim().to_owned(),
        rows: rows.collect(),
        runs: Vec::new(),
        loci: Vec::new(),
        agreements: Vec::new(),
    }
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
    fn the_arithmetic_of_section_three_comes_out_or_is_explained() {
        let library = section3();
        let chosen = library.choose(Some("lgcc/section3")).unwrap();
        let checked = &check(&chosen, &Settings::quick(), &Unwatched).unwrap()[0];
        assert_eq!(checked.verdict(None), Some(Verdict::Differs), "{checked:#?}");
        assert_eq!(checked.verdict(Some("rate")), None);
        assert_eq!(checked.rows[0].measured, Some(197.02));
    }

    #[test]
    fn what_a_run_does_not_have_leaves_its_rows_unexplained() {
        let library = section3();
        let chosen = library.choose(None).unwrap();
        let checked =
            &judged(&chosen, &Settings::quick(), &|_, _| Ok(Ended::Run(Box::default()))).unwrap()[0];
        assert!(checked.rows.iter().all(|row| row.verdict == Verdict::Unexplained));
        assert!(checked.rows.iter().all(|row| row.reason.contains("no window of a flow")), "{checked:#?}");
    }

    #[test]
    fn a_stop_says_how_many_runs_had_ended() {
        let library = section3();
        let chosen = library.choose(None).unwrap();
        let stopped = judged(&chosen, &Settings::quick(), &|_, _| Err(Error::Stopped { finished: 0, of: 1 }));
        let of = runs(&chosen, false);
        assert!(matches!(stopped, Err(Error::Stopped { finished: 0, of: all }) if all == of), "{stopped:?}");
    }

    #[test]
    fn a_row_over_another_case_divides_seed_by_seed() {
        let mut library = section3();
        let recipe = &mut library.papers[0].recipes[0];
        recipe.expect.truncate(1);
        recipe.expect[0].get_mut().versus = Some("LGCC".into());
        recipe.expect[0].get_mut().statistic = Statistic::Greatest;
        let chosen = library.choose(None).unwrap();
        assert_eq!(runs(&chosen, false), 2);
        let checked = check(&chosen, &Settings::quick(), &Unwatched).unwrap();
        assert_eq!(checked[0].rows[0].measured, Some(1.0));
    }
}
