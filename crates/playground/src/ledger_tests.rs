//! `papers/PAPER/readings.csv` has every row of the paper's recipes, in their order, and a column for each reading.

use super::Ledger;
use millpond_papers::{Library, Paper, SelectedRecipe};

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
        let ledger = Ledger::of(paper).unwrap_or_else(|error| panic!("{error}")).unwrap();
        let found: Vec<[String; 3]> =
            ledger.rows.iter().map(|row| [row.recipe.clone(), row.what.clone(), row.case.clone()]).collect();
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

/// `readings.md`, which `millpond papers readings` counts from its own runs, has the same numbers of accepted rows.
#[test]
fn the_ledger_accepts_as_many_rows_as_the_table_of_the_paper_says() {
    let library = Library::builtin().unwrap();
    // The table of a paper with one recipe has its rows.
    for paper in library.papers.iter().filter(|paper| paper.readings.len() > 1 && paper.recipes.len() > 1) {
        let ledger = Ledger::of(paper).unwrap().unwrap();
        let file = format!("{}/../../papers/{}/readings.md", env!("CARGO_MANIFEST_DIR"), paper.name);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let lines: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with(&format!("| {}/", paper.name)))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert!(!lines.is_empty(), "{file}");
        for line in lines {
            let rows: Vec<_> = ledger.rows.iter().filter(|row| row.recipe == line[0]).collect();
            let own = line[1..].iter().find(|cell| cell.ends_with('*')).unwrap();
            for (reading, cell) in line[1..].iter().enumerate() {
                let stated = if *cell == "=" { own } else { cell };
                let accepted = rows.iter().filter(|row| row.is_accepted(reading)).count();
                let counted = format!("{accepted}/{}", rows.len());
                assert_eq!(stated.split(' ').next(), Some(counted.as_str()), "{} {reading}", line[0]);
            }
        }
    }
}
