//! Scenarios, protocols and queues.

use crate::files::Sandbox;
use crate::limits;
use crate::shipped::{self, ScenarioText};
use crate::written::document;
use millpond_law::key::Keys;
use millpond_law::{Domain, Parameter, Value};
use millpond_protocols::Registry;
use millpond_scenario::Files;
use millpond_terminal::parameter_default;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// A protocol or a queue.
#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    title: &'static str,
    paper: &'static str,
    summary: &'static str,
    parameters: Vec<ParameterEntry>,
}

/// A parameter.
#[derive(Debug, Serialize)]
pub(crate) struct ParameterEntry {
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    default: String,
    origin: &'static str,
    /// Which values are permitted, in words.
    domain: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<f64>,
    /// Whether its values are readings or variants: words, or true and false.
    reading: bool,
}

/// A word that a parameter can be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Choice {
    /// As a scenario writes it.
    pub(crate) value: String,
    /// What it sets, if it sets other parameters.
    pub(crate) meaning: String,
}

impl From<Parameter> for ParameterEntry {
    fn from(parameter: Parameter) -> Self {
        let (minimum, maximum) = range(&parameter.domain);
        Self {
            name: parameter.name,
            meaning: parameter.meaning,
            unit: unit(&parameter),
            default: parameter_default(&parameter),
            origin: parameter.source,
            domain: parameter.domain.to_string(),
            choices: choices(&parameter),
            minimum,
            maximum,
            reading: is_reading(&parameter.domain),
        }
    }
}

/// The unit; empty for pure numbers and words.
pub(crate) fn unit(parameter: &Parameter) -> &'static str {
    if parameter.unit == "1" { "" } else { parameter.unit }
}

/// Whether all values are words, or true and false.
pub(crate) fn is_reading(domain: &Domain) -> bool {
    matches!(domain, Domain::Word(_) | Domain::Flag)
}

/// The finite ends of a range of numbers.
pub(crate) fn range(domain: &Domain) -> (Option<f64>, Option<f64>) {
    match domain {
        Domain::Number(bounds) | Domain::Whole(bounds) | Domain::WordOrNumber(_, bounds) => (
            Some(bounds.low).filter(|low| low.is_finite()),
            Some(bounds.high).filter(|high| high.is_finite()),
        ),
        _ => (None, None),
    }
}

/// The words that a parameter can be, each with what it sets.
pub(crate) fn choices(parameter: &Parameter) -> Vec<Choice> {
    let words: Vec<&str> = match parameter.domain {
        Domain::Word(words) | Domain::Interval(words) => words.to_vec(),
        Domain::WordOrNumber(word, _) | Domain::WordOrSpan(word) => vec![word],
        Domain::Flag => vec!["true", "false"],
        Domain::Number(_) | Domain::Whole(_) | Domain::Span { .. } | Domain::Bytes { .. } | Domain::Rate => {
            Vec::new()
        }
    };
    let meaning = |word: &str| {
        let preset = parameter.presets.iter().find(|(name, _)| *name == word);
        let pair = |(name, value): &(&str, Value)| format!("{name} = {value}");
        preset.map_or_else(String::new, |(_, values)| {
            format!("sets {}", values.iter().map(pair).collect::<Vec<_>>().join(", "))
        })
    };
    words.into_iter().map(|word| Choice { value: word.to_owned(), meaning: meaning(word) }).collect()
}

fn entries(keys: Keys) -> Vec<ParameterEntry> {
    keys.iter().map(|key| key.parameter().into()).collect()
}

/// What never changes while the server runs: all but the scenarios.
pub(crate) fn of_registry(registry: &Registry, version: &str) -> serde_json::Value {
    let protocols = registry.protocols().map(|protocol| {
        let card = protocol.card();
        Entry {
            name: card.name,
            title: card.title,
            paper: card.source,
            summary: card.summary,
            parameters: entries(card.parameters),
        }
    });
    let queues = registry.queues().map(|queue| {
        let card = queue.card();
        let parameters = entries(card.parameters);
        Entry { name: card.name, title: card.title, paper: card.source, summary: "", parameters }
    });
    json!({
        "version": version,
        "protocols": protocols.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
        "schema": millpond_scenario::schema(),
    })
}

/// A scenario that can be opened.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ScenarioEntry {
    name: String,
    title: String,
    text: String,
    /// Whether it is a file of the folder rather than a shipped one.
    own: bool,
}

/// The scenarios of the folder, then the shipped ones, without those whose names the folder has.
pub(crate) fn scenarios(folder: &Path) -> Vec<ScenarioEntry> {
    let mut found: Vec<_> = folder_scenarios(folder).into_iter().filter_map(|one| entry(one, true)).collect();
    let shipped = shipped::scenarios().into_iter().filter_map(|one| entry(one, false));
    let others: Vec<_> = shipped.filter(|one| found.iter().all(|own| own.name != one.name)).collect();
    found.extend(others);
    found
}

/// The entry of a file that has flows, or that is not TOML: the page then shows why.
fn entry(ScenarioText { name, text }: ScenarioText, own: bool) -> Option<ScenarioEntry> {
    let title = match document(&text) {
        Ok(document) => {
            document.get("flows")?;
            document.get("title").and_then(|title| title.as_str()).map(str::to_owned)
        }
        Err(_) => None,
    };
    let title = title.unwrap_or_else(|| name.clone());
    Some(ScenarioEntry { name, title, text, own })
}

/// The TOML files directly in the folder, in the order of their names. What cannot be read is left out.
fn folder_scenarios(folder: &Path) -> Vec<ScenarioText> {
    /// More files are not listed.
    const MOST: usize = 200;
    let Ok(sandbox) = Sandbox::new(folder) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| std::path::PathBuf::from(entry.file_name()));
    let mut names: Vec<_> =
        names.filter(|name| name.extension().is_some_and(|extension| extension == "toml")).collect();
    names.sort();
    names.truncate(MOST);
    let scenario = |name: &std::path::PathBuf| {
        let bytes = sandbox.read(name).ok().filter(|bytes| bytes.len() <= limits::LARGEST_BODY)?;
        let name = name.file_stem()?.to_string_lossy().into_owned();
        Some(ScenarioText { name, text: String::from_utf8(bytes).ok()? })
    };
    names.iter().filter_map(scenario).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "title = \"Mine\"\n[[flows]]\nname = \"f\"\n";

    /// The reader has changed a copy of a shipped scenario, and another file has an open string.
    #[test]
    fn a_file_of_the_folder_takes_the_place_of_the_shipped_scenario_of_its_name_and_a_broken_one_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("dumbbell", FLOW), ("broken", "title = \"x\n[[flows]]"), ("settings", "a = 1")];
        for (name, text) in files {
            std::fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
        }
        let found = scenarios(folder.path());
        let own: Vec<_> = found.iter().filter(|one| one.own).map(|one| (&*one.name, &*one.title)).collect();
        assert_eq!(own, [("broken", "broken"), ("dumbbell", "Mine")]);
        let named: Vec<_> = found.iter().filter(|one| one.name == "dumbbell").collect();
        assert_eq!(named.len(), 1);
        assert_eq!(named[0].text, FLOW);
        assert!(found.iter().any(|one| !one.own && one.name == "parking-lot"));
    }
}
