//! Runs the cells that a recipe's rows ask for, and judges the rows.

use super::cell::{Cell, cells};
use super::expect::Expectation;
use super::measure::measure;
use super::paper::Chosen;
use super::verdict::{Judged, Verdict};
use crate::results::Run;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

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
}

impl Checked {
    /// The worst verdict among the rows, or among those under one reading; none if there is no row.
    pub fn verdict(&self, reading: Option<&str>) -> Option<Verdict> {
        let rows = self.rows.iter().filter(|row| reading.is_none_or(|name| row.reading == name));
        rows.map(|row| row.verdict).max()
    }
}

/// What one cell says of each row that looks at it: the row's index, and a number or what went wrong.
type Answers = Vec<(usize, Result<f64, String>)>;

/// Checks recipes: runs their cells with `run` on all cores, telling `done` after each, and judges their rows.
pub fn check<'a>(
    chosen: &[Chosen<'a>],
    full: bool,
    run: &(dyn Fn(&Cell<'a>) -> Result<Run, String> + Sync),
    done: &(dyn Fn(&Cell<'a>) + Sync),
) -> Vec<Checked> {
    let work: Vec<_> = chosen
        .iter()
        .enumerate()
        .flat_map(|(i, one)| cells(*one, full).into_iter().map(move |cell| (i, cell)))
        .collect();
    let answers: Vec<Answers> = work
        .par_iter()
        .map(|(i, cell)| {
            let answers = ask(chosen[*i], cell, &run(cell));
            done(cell);
            answers
        })
        .collect();
    let judged = chosen.iter().enumerate().map(|(i, one)| {
        let mine = work.iter().zip(&answers).filter(|((of, _), _)| *of == i);
        judge(*one, full, mine.map(|((_, cell), answers)| (cell, answers)))
    });
    judged.collect()
}

/// Every row's number from one run.
fn ask(chosen: Chosen<'_>, cell: &Cell<'_>, run: &Result<Run, String>) -> Answers {
    let answer = |(i, row): (usize, &Expectation)| {
        let reading = chosen.paper.reading(row.reading.as_deref())?;
        let number = || run.as_ref().map_err(Clone::clone).and_then(|run| measure(row, run));
        cell.concerns(row, reading).then(|| (i, number()))
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Library, Statistic};
    use super::*;

    fn section3() -> Library {
        let mut library = Library::builtin().unwrap();
        for paper in &mut library.papers {
            paper.recipes.retain(|recipe| recipe.name == "lgcc/section3");
        }
        library
    }

    fn iterate(cell: &Cell<'_>) -> Result<Run, String> {
        cell.recipe.recurrence(cell.case).unwrap().map(|recurrence| recurrence.run(&cell.label()))
    }

    #[test]
    fn the_arithmetic_of_section_three_comes_out_or_is_explained() {
        let library = section3();
        let chosen = library.choose(Some("lgcc/section3")).unwrap();
        let checked = &check(&chosen, false, &iterate, &|_| ())[0];
        assert_eq!(checked.verdict(None), Some(Verdict::Differs), "{checked:#?}");
        assert_eq!(checked.verdict(Some("rate")), None);
        assert_eq!(checked.rows[0].measured, Some(197.02));
    }

    #[test]
    fn a_run_that_fails_leaves_its_rows_unexplained_and_says_why() {
        let library = section3();
        let chosen = library.choose(None).unwrap();
        let checked = &check(&chosen, false, &|_| Err("the disk is full".into()), &|_| ())[0];
        assert!(checked.rows.iter().all(|row| row.verdict == Verdict::Unexplained));
        assert!(checked.rows.iter().all(|row| row.reason == "the disk is full"));
    }

    #[test]
    fn a_row_over_another_case_divides_seed_by_seed() {
        let mut library = section3();
        let recipe = &mut library.papers[0].recipes[0];
        recipe.expect.truncate(1);
        recipe.expect[0].versus = Some("LGCC".into());
        recipe.expect[0].statistic = Statistic::Greatest;
        let chosen = library.choose(None).unwrap();
        assert_eq!(cells(chosen[0], false).len(), 2);
        assert_eq!(check(&chosen, false, &iterate, &|_| ())[0].rows[0].measured, Some(1.0));
    }
}
