//! The JSON Schema accepts every shipped scenario and refuses what the reader refuses for its form.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

use jsonschema::Validator;
use millpond_scenario::{Scenario, schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

/// What is wrong with `value` under the schema.
fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
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
    let validator = validator();
    assert!(shipped().len() >= 6);
    for (path, text) in shipped() {
        assert_eq!(faults(&validator, &json(&text)), [""; 0], "{}", path.display());
        let resolved = Scenario::load(&path, &[]).unwrap().to_toml();
        assert_eq!(faults(&validator, &json(&resolved)), [""; 0], "{}", path.display());
    }
}

#[test]
fn the_schema_accepts_every_example_of_the_reference_page() {
    let validator = validator();
    let page = include_str!("../../../docs/scenario.md");
    for example in page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next()) {
        assert_eq!(faults(&validator, &json(example)), [""; 0], "{example}");
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
    let validator = validator();
    let reads = |text: &str| {
        Scenario::parse(text, "test.toml", Path::new("/"), &[], &millpond_scenario::Disk).is_ok()
    };
    assert_eq!(faults(&validator, &json(GOOD)), [""; 0]);
    assert!(reads(GOOD));
    for (from, to) in MUTATIONS {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        assert!(!faults(&validator, &json(&text)).is_empty(), "{to}");
        assert!(!reads(&text), "{to}");
    }
}

/// All patterns, wherever they stand.
fn patterns(schema: &Value) -> Vec<&str> {
    let inner = schema.as_object().into_iter().flatten().map(|(_, part)| part);
    let inner = inner.chain(schema.as_array().into_iter().flatten()).flat_map(patterns);
    inner.chain(schema.get("pattern").and_then(Value::as_str)).collect()
}

/// The classes of Unicode are not among the expressions that JSON Schema recommends (section 6.4).
#[test]
fn patterns_have_no_classes_that_only_some_readers_know() {
    let root = schema();
    let patterns = patterns(&root);
    assert!(patterns.len() > 80, "{}", patterns.len());
    for pattern in patterns {
        assert!(!pattern.contains("\\p"), "{pattern}");
    }
    let validator = validator();
    for (name, is_name) in [
        ("Zürich_2-b", true),
        ("東京", true),
        ("a/b", false),
        ("a.b", false),
        ("a[0]", false),
        ("a{b}", false),
        ("", false),
    ] {
        let text = GOOD.replacen("name = \"f\"", &format!("name = \"{name}\""), 1);
        assert_eq!(faults(&validator, &json(&text)).is_empty(), is_name, "{name}");
    }
    for (protocol, is_name) in
        [("lgcc:cellular", true), ("cubic:beta=0.5,x=1", true), ("a b", false), ("a:", false)]
    {
        let text = GOOD.replacen("\"cubic\"\npath", &format!("\"{protocol}\"\npath"), 1);
        assert_eq!(faults(&validator, &json(&text)).is_empty(), is_name, "{protocol}");
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
    let root = schema();
    let keys = keys(&root);
    assert!(keys.len() > 80, "{}", keys.len());
    for key in keys {
        let mut schema = key.clone();
        schema["$defs"] = root["$defs"].clone();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let examples = key.get("examples").and_then(Value::as_array).into_iter().flatten();
        for value in examples.chain(key.get("default")) {
            assert!(validator.is_valid(value), "{key}");
        }
    }
}
