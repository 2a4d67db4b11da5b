//! Arbitrary recipes: the corpus of the fuzzer, and damaged forms of shipped recipes, with the stable compiler.

#![allow(clippy::expect_used, clippy::panic, reason = "helpers fail as tests do")]

use millpond_papers::{Library, trials};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const PAPER: &str = include_str!("../../../papers/rcp/paper.toml");
const RECIPE: &str = include_str!("../../../papers/rcp/join.toml");
/// The scenarios of this number of trials are read.
const READ: usize = 3;

/// A recipe is refused with an error that names its file, or gives trials whose scenarios are read or refused.
fn recipe_holds(text: &str) {
    let files = [("rcp/paper.toml", PAPER), ("rcp/recipe.toml", text)];
    let files = BTreeMap::from(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    match Library::parse(&files, Path::new("/nowhere")) {
        Err(error) => assert!(error.to_string().contains("recipe"), "{error}"),
        Ok(library) => {
            let selected = library.select(None).expect("all recipes");
            let found = selected.into_iter().flat_map(|one| trials(one, false).into_iter().take(READ));
            for faults in found.filter_map(|trial| trial.scenario(&[], None).err()) {
                assert!(!faults.render(false).is_empty());
            }
        }
    }
}

#[test]
fn the_corpus_of_the_fuzzer_gives_recipes_or_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recipe");
    let files: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(files.len() >= 10);
    files.iter().for_each(|bytes| recipe_holds(&String::from_utf8_lossy(bytes)));
}

/// A good text with a piece cut out and something else put in.
fn damaged() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<String>(),
        "[\\[\\]{}=\",.0-9a-z \n]{0,12}",
        Just("99999999999999999999".to_owned()),
        Just("9000000000000000000".to_owned()),
        Just("nan".to_owned()),
        Just("-1".to_owned()),
        Just("[[expect]]".to_owned()),
        Just("[[cases]]".to_owned()),
        Just("\n[quick]\nseeds = 9000000000000000000\n".to_owned()),
    ];
    (0..RECIPE.len(), 0_usize..60, pieces).prop_map(|(start, length, piece)| {
        let end = (start + length).min(RECIPE.len());
        let (before, after) = (RECIPE.as_bytes()[..start].to_vec(), &RECIPE.as_bytes()[end..]);
        String::from_utf8_lossy(&[before, piece.into_bytes(), after.to_vec()].concat()).into_owned()
    })
}

proptest! {
    #[test]
    fn a_damaged_recipe_gives_a_recipe_or_an_error(text in damaged()) {
        recipe_holds(&text);
    }
}
