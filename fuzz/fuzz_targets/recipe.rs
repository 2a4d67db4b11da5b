//! An arbitrary recipe is refused with an error that names its file, or gives trials whose scenarios are read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_papers::{Library, trials};
use std::collections::BTreeMap;
use std::path::Path;

const PAPER: &str = include_str!("../../papers/rcp/paper.toml");
/// The scenarios of this number of trials are read.
const READ: usize = 3;

fuzz_target!(|text: &str| {
    let files = [("rcp/paper.toml", PAPER), ("rcp/recipe.toml", text)];
    let files = BTreeMap::from(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    match Library::parse(&files, Path::new("/nowhere")) {
        Err(error) => assert!(error.to_string().contains("recipe"), "{error}"),
        Ok(library) => {
            for selected in library.select(None).unwrap_or_default() {
                for trial in trials(selected, false).iter().take(READ) {
                    if let Err(faults) = trial.scenario(&[], None) {
                        assert!(!faults.render(false).is_empty());
                    }
                }
            }
        }
    }
});
