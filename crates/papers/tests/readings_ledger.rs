//! `papers/PAPER/readings.csv` has every row of the paper's recipes, in their order, and a column for each reading.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

use millpond_papers::{Library, Paper, SelectedRecipe};
use std::path::Path;

/// The cells of a line of CSV. Quoted cells may contain commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().unwrap();
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells
}

/// Recipe, quantity and case of each row that a paper's recipes judge under their own reading: that of their first row.
fn judged_rows(paper: &Paper, recipes: &[SelectedRecipe<'_>]) -> Vec<[String; 3]> {
    let reading = |name: &Option<String>| paper.reading(name.as_deref()).unwrap().name.clone();
    let of_recipe = |selected: &SelectedRecipe<'_>| {
        let recipe = selected.recipe;
        let own = recipe.expect.first().map(|row| reading(&row.get_ref().reading));
        let rows = recipe.rows(false).filter(|row| Some(reading(&row.reading)) == own);
        let row = |row: &millpond_papers::Expectation| {
            let case = recipe.case_of(row);
            let case = row.versus.as_ref().map_or(case.to_owned(), |other| format!("{case} / {other}"));
            [recipe.name.clone(), row.what.get_ref().clone(), case]
        };
        rows.map(row).collect::<Vec<_>>()
    };
    recipes.iter().flat_map(of_recipe).collect()
}

#[test]
fn every_row_of_every_recipe_stands_in_the_ledger_under_every_reading() {
    let library = Library::builtin().unwrap();
    let papers = library.papers.iter().filter(|paper| paper.readings.len() > 1);
    assert!(papers.clone().count() >= 7);
    for paper in papers {
        let file = format!("{}/../../papers/{}/readings.csv", env!("CARGO_MANIFEST_DIR"), paper.name);
        let text =
            std::fs::read_to_string(Path::new(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut lines = text.lines().map(cells);
        let columns = lines.next().unwrap();
        let readings: Vec<_> = paper.readings.iter().map(|reading| reading.name.clone()).collect();
        assert_eq!(columns[4..], readings, "{}: make readings", paper.name);
        let ledger: Vec<Vec<String>> = lines.collect();
        let incomplete =
            ledger.iter().find(|row| row.len() != columns.len() || row[4..].iter().any(String::is_empty));
        assert_eq!(incomplete, None, "{}: make readings", paper.name);
        let found: Vec<[String; 3]> =
            ledger.iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]).collect();
        let recipes = library.select(Some(&paper.name)).unwrap();
        let judged = judged_rows(paper, &recipes);
        let missing: Vec<_> = judged.iter().filter(|row| !found.contains(row)).collect();
        assert!(missing.is_empty(), "{}: make readings; the ledger lacks {missing:?}", paper.name);
        assert_eq!(
            found.len(),
            judged.len(),
            "{}: make readings; the ledger has rows of old recipes",
            paper.name
        );
    }
}
