//! The ledger of a paper's readings, `papers/PAPER/readings.csv`: the rows of its recipes under every reading, as
//! `make readings` has measured them.

use millpond_papers::{Paper, SelectedRecipe, own_reading};
use std::collections::BTreeMap;

/// The name of the file in the folder of the paper.
const FILE: &str = "readings.csv";
/// The columns before those of the readings: recipe, quantity, case, what is accepted, unit.
const NAMES: usize = 5;
/// The verdict on a value that is exactly that under the recipe's own reading.
const SAME: &str = "=";
/// The verdict on a quantity without a value.
const NOT_MEASURED: &str = "not measured";
/// How the cell of an accepted value ends; that of another one ends with `not accepted`.
const ACCEPTED: &str = " accepted";
const NOT_ACCEPTED: &str = " not accepted";

/// The rows of a paper's recipes under every reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    /// The names of the readings, in the order of the paper's file.
    pub(crate) readings: Vec<String>,
    /// The rows, in the order of the recipes.
    pub(crate) rows: Vec<LedgerRow>,
}

/// A row under every reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LedgerRow {
    /// The recipe: `lgcc/fig12`.
    pub(crate) recipe: String,
    /// The quantity.
    pub(crate) what: String,
    /// The case.
    pub(crate) case: String,
    /// What is accepted, with its unit.
    pub(crate) accepted: String,
    /// The value and its verdict under each reading: `0.98 accepted`, `0.4 not accepted` or `not measured`.
    pub(crate) cells: Vec<String>,
}

impl LedgerRow {
    /// Whether the value under a reading, by its number, is accepted.
    pub(crate) fn is_accepted(&self, reading: usize) -> bool {
        self.cells.get(reading).is_some_and(|cell| cell.ends_with(ACCEPTED) && !cell.ends_with(NOT_ACCEPTED))
    }
}

impl Ledger {
    /// The ledger of a paper's readings; none if it has one reading.
    ///
    /// # Errors
    /// The file cannot be read, or does not fit the readings and recipes of the paper.
    pub(crate) fn of(paper: &Paper) -> Result<Option<Self>, String> {
        if paper.readings.len() < 2 {
            return Ok(None);
        }
        let fail = |fault: String| format!("{}/{FILE}: {fault}", paper.name);
        let text = paper.file(FILE).map_err(|fault| fail(fault.to_string()))?;
        Self::parse(paper, &String::from_utf8_lossy(&text)).map(Some).map_err(fail)
    }

    fn parse(paper: &Paper, text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let head = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
        let readings: Vec<String> = paper.readings.iter().map(|reading| reading.name.clone()).collect();
        let columns: Vec<String> =
            readings.iter().flat_map(|reading| [reading.clone(), format!("{reading}: verdict")]).collect();
        if head.get(NAMES..) != Some(&columns[..]) {
            let expected = readings.join(", ");
            return Err(format!("line 1: expected the readings {expected}; write it with make readings"));
        }
        let own = own_readings(paper);
        let row = |(index, line): (usize, &str)| {
            row(cells(line), &own, readings.len())
                .ok_or_else(|| format!("line {}: no row of a recipe; write it with make readings", index + 1))
        };
        Ok(Self { rows: lines.map(row).collect::<Result<_, _>>()?, readings })
    }
}

/// For each recipe the number of the reading under which it judges its rows.
fn own_readings(paper: &Paper) -> BTreeMap<&str, usize> {
    let number = |name: &str| paper.readings.iter().position(|reading| reading.name == name);
    let own = paper.recipes.iter().filter_map(|recipe| {
        let own = number(own_reading(SelectedRecipe { paper, recipe }))?;
        Some((recipe.name.as_str(), own))
    });
    own.collect()
}

/// A row of its cells; none if a cell is missing or the recipe is unknown. `own` has the number of each recipe's reading.
fn row(cells: Vec<String>, own: &BTreeMap<&str, usize>, readings: usize) -> Option<LedgerRow> {
    let mut cells = cells.into_iter();
    let mut name = || cells.next();
    let (recipe, what, case, accepted, unit) = (name()?, name()?, name()?, name()?, name()?);
    // An order has no unit.
    let accepted = if accepted.starts_with(['<', '>']) {
        accepted
    } else {
        format!("{accepted} {unit}").trim_end().to_owned()
    };
    let columns: Vec<String> = cells.collect();
    let values: Vec<&[String; 2]> = columns.as_chunks().0.iter().collect();
    let [base, verdict] = values.get(*own.get(recipe.as_str())?)?;
    let base = format!("{base} {verdict}");
    let is_complete = columns.len() == 2 * readings
        && verdict != SAME
        && values
            .iter()
            .all(|[value, verdict]| !verdict.is_empty() && value.is_empty() == (verdict == NOT_MEASURED));
    let cell = |[value, verdict]: &[String; 2]| match verdict.as_str() {
        SAME => base.clone(),
        _ => format!("{value} {verdict}"),
    };
    let cells = values.into_iter().map(|pair| cell(pair).trim_start().to_owned()).collect();
    is_complete.then_some(LedgerRow { recipe, what, case, accepted, cells })
}

/// The cells of a line of CSV. Quoted cells may contain commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod ledger_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_papers::Library;

    fn xcp() -> Paper {
        let library = Library::builtin().unwrap();
        library.papers.into_iter().find(|paper| paper.name == "xcp").unwrap()
    }

    const HEAD: &str = "recipe,quantity,case,accepted,unit,as the draft,as the draft: verdict,first interval of 80 ms,\
                        first interval of 80 ms: verdict,truncated windows,truncated windows: verdict";

    #[test]
    fn a_value_that_a_reading_does_not_change_is_that_under_the_own_reading() {
        let text = format!(
            "{HEAD}\nxcp/table1,\"q, mean\",\"the \"\"wide\"\" one\",1 to 2,s,1.5,accepted,1.5,=,3,not accepted\n"
        );
        let ledger = Ledger::parse(&xcp(), &text).unwrap();
        let row = &ledger.rows[0];
        assert_eq!((row.what.as_str(), row.case.as_str()), ("q, mean", "the \"wide\" one"));
        assert_eq!(row.accepted, "1 to 2 s");
        assert_eq!(row.cells, ["1.5 accepted", "1.5 accepted", "3 not accepted"]);
        assert_eq!([0, 1, 2, 3].map(|reading| row.is_accepted(reading)), [true, true, false, false]);
    }

    #[test]
    fn a_ledger_that_does_not_fit_the_paper_is_an_error_with_its_line() {
        let fault = |text: &str| Ledger::parse(&xcp(), text).unwrap_err();
        assert!(fault("").starts_with("line 1: expected the readings as the draft"));
        for line in [
            "xcp/table1,q,c,1 to 2,s,1,accepted,1,=",
            "none/fig1,q,c,1 to 2,s,1,accepted,1,=,1,=",
            "xcp/table1,q,c,1,s,1,=,1,=,1,=",
            "xcp/table1,q,c,1,s,1,accepted,,accepted,1,=",
        ] {
            let right = "xcp/table1,q,c,1 to 2,s,1,accepted,1,=,,not measured";
            let fault = fault(&format!("{HEAD}\n{right}\n{line}\n"));
            assert!(fault.starts_with("line 3: "), "{line}: {fault}");
        }
    }
}
