//! The readings of papers that switches select, and which rows of the papers' recipes they change.

use crate::catalogue::is_reading;
use crate::ledger::{Ledger, LedgerRow};
use millpond_law::Parameter;
use millpond_papers::{Library, Paper, Reading, Recipe};
use millpond_protocols::Registry;
use millpond_terminal::parameter_default;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A paper with the readings that the switches of its protocols select.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PaperReadings {
    title: String,
    /// The default of every switch that some reading sets, by its [`law_key`].
    defaults: BTreeMap<String, String>,
    readings: Vec<SwitchedReading>,
    /// Those with a row that depends on the reading.
    recipes: Vec<RecipeLedger>,
}

/// A reading that switches select.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SwitchedReading {
    name: String,
    about: String,
    rejected: bool,
    /// The value of each of these switches.
    set: BTreeMap<String, String>,
}

/// A recipe under each of these readings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct RecipeLedger {
    name: String,
    place: String,
    title: String,
    /// The number of its rows, and of those that are accepted under each reading.
    rows: usize,
    accepted: Vec<usize>,
    /// The rows whose value depends on the reading.
    changing: Vec<ChangingRow>,
}

/// A row whose value depends on the reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ChangingRow {
    what: String,
    case: String,
    accepted: String,
    /// Value and verdict under each reading.
    values: Vec<String>,
}

/// The key of a protocol's parameter among those that readings set: `lgcc.control`.
pub(crate) fn law_key(protocol: &str, parameter: &str) -> String {
    format!("{protocol}.{parameter}")
}

/// The papers with at least two readings that switches select. A paper whose files do not fit each other is left out.
pub(crate) fn of_papers(registry: &Registry) -> Vec<PaperReadings> {
    let Ok(library) = Library::builtin() else { return Vec::new() };
    library.papers.iter().filter_map(|paper| of_paper(paper, &Ledger::of(paper).ok()??, registry)).collect()
}

fn of_paper(paper: &Paper, ledger: &Ledger, registry: &Registry) -> Option<PaperReadings> {
    let set: Vec<Option<BTreeMap<String, String>>> =
        paper.readings.iter().map(|reading| switches(reading, registry)).collect();
    let keys: BTreeSet<&String> = set.iter().flatten().flat_map(BTreeMap::keys).collect();
    let defaults: BTreeMap<String, String> =
        keys.iter().filter_map(|key| Some(((*key).clone(), default(key, registry)?))).collect();
    let complete = |set: &BTreeMap<String, String>| defaults.clone().into_iter().chain(set.clone()).collect();
    let selected: Vec<usize> = (0..set.len()).filter(|index| set[*index].is_some()).collect();
    let reading = |index: &usize| {
        let (reading, set) = (paper.readings.get(*index)?, set.get(*index)?.as_ref()?);
        let about = reading.about.trim().to_owned();
        Some(SwitchedReading {
            name: reading.name.clone(),
            about,
            rejected: reading.rejected,
            set: complete(set),
        })
    };
    let readings = selected.iter().filter_map(reading).collect();
    let recipes = paper.recipes.iter().map(|recipe| of_recipe(recipe, ledger, &selected));
    let made = PaperReadings {
        title: paper.title.clone(),
        defaults,
        readings,
        recipes: recipes.filter(|recipe| !recipe.changing.is_empty()).collect(),
    };
    (made.readings.len() > 1).then_some(made)
}

/// What a reading sets, if switches alone select it: values that are words, or true and false, of protocols' parameters.
fn switches(reading: &Reading, registry: &Registry) -> Option<BTreeMap<String, String>> {
    let pair = |(path, value): (&String, &toml::Value)| {
        let (protocol, parameter) = path.strip_prefix("protocols.")?.split_once(".params.")?;
        let is_switch = is_reading(&find(protocol, parameter, registry)?.domain);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        is_switch.then(|| (law_key(protocol, parameter), value))
    };
    let is_of_scenario = reading.recurrence.is_empty();
    is_of_scenario.then(|| reading.set.iter().map(pair).collect())?
}

fn find(protocol: &str, parameter: &str, registry: &Registry) -> Option<Parameter> {
    let card = registry.protocol(protocol).ok()?.card();
    card.parameters.iter().map(|key| key.parameter()).find(|found| found.name == parameter)
}

fn default(key: &str, registry: &Registry) -> Option<String> {
    let (protocol, parameter) = key.split_once('.')?;
    find(protocol, parameter, registry).map(|parameter| parameter_default(&parameter))
}

/// A recipe under the readings of these numbers.
fn of_recipe(recipe: &Recipe, ledger: &Ledger, selected: &[usize]) -> RecipeLedger {
    let rows: Vec<&LedgerRow> = ledger.rows.iter().filter(|row| row.recipe == recipe.name).collect();
    let accepted = |reading: &usize| rows.iter().filter(|row| row.is_accepted(*reading)).count();
    let changing = |row: &&LedgerRow| {
        let values: Vec<String> =
            selected.iter().filter_map(|reading| row.cells.get(*reading).cloned()).collect();
        let is_changing = values.windows(2).any(|pair| pair[0] != pair[1]);
        is_changing.then(|| ChangingRow {
            what: row.what.clone(),
            case: row.case.clone(),
            accepted: row.accepted.clone(),
            values,
        })
    };
    RecipeLedger {
        name: recipe.name.clone(),
        place: recipe.place.clone(),
        title: recipe.title.clone(),
        rows: rows.len(),
        accepted: selected.iter().map(accepted).collect(),
        changing: rows.iter().filter_map(changing).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(name: &str) -> PaperReadings {
        let library = Library::builtin().unwrap();
        let paper = library.papers.iter().find(|paper| paper.name == name).unwrap();
        of_paper(paper, &Ledger::of(paper).unwrap().unwrap(), &Registry::builtin()).unwrap()
    }

    #[test]
    fn readings_have_a_value_for_each_switch_and_no_two_the_same() {
        let registry = Registry::builtin();
        let papers = of_papers(&registry);
        assert!(papers.len() >= 5, "{}", papers.len());
        for paper in papers {
            let sets: BTreeSet<_> = paper.readings.iter().map(|reading| &reading.set).collect();
            assert_eq!(sets.len(), paper.readings.len(), "{}", paper.title);
            let switches = paper.readings[0].set.len();
            assert!(paper.readings.iter().all(|reading| reading.set.len() == switches), "{}", paper.title);
            for (key, value) in paper.readings.iter().flat_map(|reading| &reading.set) {
                let (protocol, parameter) = key.split_once('.').unwrap();
                let choices = crate::catalogue::choices(&find(protocol, parameter, &registry).unwrap());
                assert!(choices.iter().any(|choice| choice.value == *value), "{key} = {value}");
            }
        }
    }

    /// The numbers are those of `papers/lgcc/readings.md`.
    #[test]
    fn the_rate_reading_of_lgcc_loses_rows_of_its_figures() {
        let lgcc = paper("lgcc");
        let number = |name: &str| lgcc.readings.iter().position(|reading| reading.name == name).unwrap();
        let (window, rate) = (number("window"), number("rate"));
        assert_eq!(lgcc.readings[rate].set["lgcc.control"], "rate");
        assert_eq!(lgcc.readings[window].set["lgcc.algorithm"], "primal-dual");
        let fig12 = lgcc.recipes.iter().find(|recipe| recipe.name == "lgcc/fig12").unwrap();
        assert_eq!((fig12.rows, fig12.accepted[window], fig12.accepted[rate]), (16, 15, 3));
        assert!(fig12.changing.iter().all(|row| row.values.len() == lgcc.readings.len()));
        // A number of a law, a queue or a difference equation is no switch.
        for name in ["phi2 = 3", "min_th = 1 B", "both old"] {
            assert!(lgcc.readings.iter().all(|reading| reading.name != name), "{name}");
        }
    }
}
