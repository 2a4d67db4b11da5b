//! The JSON Schema accepts every shipped scenario and refuses what the reader refuses for its form.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use millpond_scenario::{Scenario, schema};
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What is wrong with `value` under `schema`: a validator for the keywords that the schema uses.
struct Validator {
    root: Value,
}

impl Validator {
    fn new() -> Self {
        Self { root: schema() }
    }

    fn faults(&self, value: &Value) -> Vec<String> {
        self.check(&self.root, value, "")
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        self.check(schema, value, "").is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        let schema = match schema {
            Value::Bool(true) => return Vec::new(),
            Value::Bool(false) => return vec![format!("{place} must not be here")],
            schema => schema.as_object().unwrap(),
        };
        let faults = |(keyword, rule): (&String, &Value)| self.keyword(schema, keyword, rule, value, place);
        schema.iter().flat_map(faults).collect()
    }

    fn keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        place: &str,
    ) -> Vec<String> {
        let matching = || rule.as_array().unwrap().iter().filter(|part| self.is_valid(part, value)).count();
        let length = || value.as_array().map(|items| items.len() as u64);
        let size = || value.as_object().map(|table| table.len() as u64);
        let number = |value: &Value| value.as_f64().unwrap();
        let is_right = match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "examples" => true,
            "$ref" => {
                let definition = rule.as_str().unwrap().strip_prefix('#').unwrap();
                return self.check(self.root.pointer(definition).unwrap(), value, place);
            }
            "type" => has_type(rule.as_str().unwrap(), value),
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "pattern" => value.as_str().is_none_or(|text| pattern(rule).is_match(text)),
            "minimum" => !value.is_number() || number(value) >= number(rule),
            "maximum" => !value.is_number() || number(value) <= number(rule),
            "minItems" => length().is_none_or(|length| length >= rule.as_u64().unwrap()),
            "maxItems" => length().is_none_or(|length| length <= rule.as_u64().unwrap()),
            "minProperties" => size().is_none_or(|size| size >= rule.as_u64().unwrap()),
            "maxProperties" => size().is_none_or(|size| size <= rule.as_u64().unwrap()),
            "required" => value.as_object().is_none_or(|table| {
                rule.as_array().unwrap().iter().all(|key| table.contains_key(key.as_str().unwrap()))
            }),
            "anyOf" => matching() > 0,
            "oneOf" => matching() == 1,
            "items" | "prefixItems" | "properties" | "additionalProperties" => {
                return self.parts(schema, keyword, rule, value, place);
            }
            _ => panic!("the validator does not know \"{keyword}\""),
        };
        if is_right { Vec::new() } else { vec![format!("{place}: {keyword} {rule}: {value}")] }
    }

    /// The faults of the parts to which a keyword applies.
    fn parts(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        place: &str,
    ) -> Vec<String> {
        let no_table = Map::new();
        let table = value.as_object().unwrap_or(&no_table);
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let declared = |key: &str| schema.get("properties").is_some_and(|known| known.get(key).is_some());
        let parts: Vec<(String, &Value, &Value)> = match keyword {
            "items" => {
                items.iter().enumerate().map(|(i, item)| (format!("{place}[{i}]"), rule, item)).collect()
            }
            "prefixItems" => {
                let rules = rule.as_array().unwrap().iter().zip(items).enumerate();
                rules.map(|(i, (rule, item))| (format!("{place}[{i}]"), rule, item)).collect()
            }
            "properties" => {
                let rules = rule.as_object().unwrap().iter();
                rules
                    .filter_map(|(key, rule)| Some((format!("{place}.{key}"), rule, table.get(key)?)))
                    .collect()
            }
            _ => {
                let others = table.iter().filter(|(key, _)| !declared(key));
                others.map(|(key, value)| (format!("{place}.{key}"), rule, value)).collect()
            }
        };
        parts.into_iter().flat_map(|(place, rule, value)| self.check(rule, value, &place)).collect()
    }
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => panic!("the validator does not know the type \"{name}\""),
    }
}

/// The matcher has no classes of Unicode letters: those of ASCII serve here.
fn pattern(rule: &Value) -> Regex {
    Regex::new(&rule.as_str().unwrap().replace("\\p{L}\\p{N}", "A-Za-z0-9")).unwrap()
}

fn json(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn shipped() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_schema_accepts_every_shipped_scenario_as_written_and_as_resolved() {
    let validator = Validator::new();
    assert!(shipped().len() >= 6);
    for (path, text) in shipped() {
        assert_eq!(validator.faults(&json(&text)), [""; 0], "{}", path.display());
        let resolved = Scenario::load(&path, &[]).unwrap().to_toml();
        assert_eq!(validator.faults(&json(&resolved)), [""; 0], "{}", path.display());
    }
}

#[test]
fn the_schema_accepts_every_example_of_the_reference_page() {
    let validator = Validator::new();
    let page = include_str!("../../../docs/scenario.md");
    for example in page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next()) {
        assert_eq!(validator.faults(&json(example)), [""; 0], "{example}");
    }
}

const GOOD: &str = r#"duration = "10s"
measure = { every = "100ms" }
fluid = { method = "adaptive" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "5Mbps"
buffer = "1bdp"
loss = "none"
queue = "default"
[[flows]]
name = "f"
protocol = "cubic"
path = ["A", "B"]
start = "1s"
workload = "bulk"
[protocols.cubic]
relays = "all"
"#;

/// A part of the scenario, and what replaces it.
const MUTATIONS: &[(&str, &str)] = &[
    ("duration = \"10s\"", ""),
    ("duration = \"10s\"", "duration = 10"),
    ("duration = \"10s\"", "duration = \"10 parsecs\""),
    ("duration = \"10s\"", "duration = \"10s\"\nsed = 1"),
    ("duration = \"10s\"", "duration = \"10s\"\nseed = -1"),
    ("every = \"100ms\"", "evry = \"100ms\""),
    ("every = \"100ms\"", "converged_within = 2"),
    ("\"adaptive\"", "\"adaptiv\""),
    ("name = \"L\"", ""),
    ("name = \"L\"", "name = \"a name\""),
    ("[\"A\", \"B\"]\nrate", "[\"A\"]\nrate"),
    ("rate = \"5Mbps\"", "rate = {}"),
    ("rate = \"5Mbps\"", "rate = { steps = [] }"),
    ("rate = \"5Mbps\"", "rate = { steps = [[\"0s\", \"5Mbps\"]], trace = \"x.csv\" }"),
    ("rate = \"5Mbps\"", "rate = { trace = { end = \"hold\" } }"),
    ("rate = \"5Mbps\"", "rate = \"5Mbps\"\nback = { name = \"M\" }"),
    ("\"1bdp\"", "\"1bpd\""),
    ("\"none\"", "1.5"),
    ("\"none\"", "{ gilbert-elliott = { good_to_bad = 0.1 } }"),
    ("queue = \"default\"", "queue = { red = {}, codel = {} }"),
    ("protocol = \"cubic\"", ""),
    ("\"1s\"", "{ uniform = [\"1s\"] }"),
    ("\"1s\"", "{ uniform = [\"1s\", \"2s\"], first = \"0s\" }"),
    ("\"bulk\"", "\"bul\""),
    ("\"bulk\"", "{ size = { pareto = \"1KB\" } }"),
    ("\"bulk\"", "{ transfers = \"1KB\" }"),
    ("\"bulk\"", "{ transfers = \"1KB\", every = \"1s\", poisson = \"1s\" }"),
    ("\"bulk\"", "{ size = \"1KB\", every = \"1s\" }"),
    ("\"all\"", "\"some\""),
    ("\"all\"", "true"),
];

#[test]
fn the_schema_and_the_reader_refuse_every_mutation_of_a_right_scenario() {
    let validator = Validator::new();
    let reads = |text: &str| {
        Scenario::parse(text, "test.toml", Path::new("/"), &[], &millpond_scenario::Disk).is_ok()
    };
    assert_eq!(validator.faults(&json(GOOD)), [""; 0]);
    assert!(reads(GOOD));
    for (from, to) in MUTATIONS {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        assert!(!validator.faults(&json(&text)).is_empty(), "{to}");
        assert!(!reads(&text), "{to}");
    }
}

/// Every schema of a key, wherever it stands.
fn keys(schema: &Value) -> Vec<&Value> {
    let inner = schema.as_object().into_iter().flatten().flat_map(|(_, part)| keys(part));
    let inner = inner.chain(schema.as_array().into_iter().flatten().flat_map(keys));
    let is_key = schema.get("description").is_some_and(Value::is_string);
    inner.chain(is_key.then_some(schema)).collect()
}

#[test]
fn every_default_and_example_is_valid() {
    let validator = Validator::new();
    let keys = keys(&validator.root);
    assert!(keys.len() > 80, "{}", keys.len());
    for key in keys {
        let examples = key.get("examples").and_then(Value::as_array).into_iter().flatten();
        for value in examples.chain(key.get("default")) {
            assert!(validator.is_valid(key, value), "{key}");
        }
    }
}
