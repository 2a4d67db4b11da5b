//! `millpond schema`: the JSON of each command conforms to its schema.

use crate::common::{folder, millpond, stderr, stdout};
use crate::link::is_possible;
use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;

/// One CLTCP flow over one link; its equilibrium is stable.
const ONE_FLOW: &str = r#"title = "One flow"
duration = "40s"
measure = { from = "20s", every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "5Mbps"
delay = "50ms"
buffer = "unlimited"
[[flows]]
name = "f"
protocol = "cltcp"
path = ["A", "B"]
"#;

/// Each schema of an output, and commands that print such an output. The directory `run` has a finished run.
#[rustfmt::skip]
const OUTPUTS: &[(&str, &[&str])] = &[
    ("run", &["run", "scenario.toml"]),
    ("run", &["run", "scenario.toml", "--world", "fluid"]),
    ("run", &["run", "scenario.toml", "--world", "live", "--set", "duration=1s", "--set", "measure.from=500ms"]),
    ("run", &["run", "scenario.toml", "--set", "flows.f.protocol=newreno", "--set", "flows.f.workload.size=100KB"]),
    ("compare", &["compare", "scenario.toml", "--protocols", "cltcp,newreno", "--seeds", "2"]),
    ("compare", &["compare", "scenario.toml", "--protocols", "newreno", "--deploy", "0,50%", "--set", "flows.f.count=2", "--force"]),
    ("compare-harm", &["compare", "two-groups.toml", "--harm", "f", "--seeds", "2"]),
    ("perturb", &["compare", "scenario.toml", "--protocols", "cltcp", "--perturb", "capacity-low,coarse-clock", "--set", "duration=5s", "--set", "measure.from=1s"]),
    ("sweep", &["sweep", "scenario.toml", "--vary", "duration=30s,40s", "--protocols", "newreno,cubic", "--seeds", "2", "--out", "sweep"]),
    ("equilibrium", &["equilibrium", "scenario.toml"]),
    ("equilibrium", &["equilibrium", "scenario.toml", "--set", "flows.f.protocol=xcp"]),
    ("utility", &["equilibrium", "scenario.toml", "--utility", "alpha=2"]),
    ("stability", &["stability", "scenario.toml", "--critical", "flows", "--map", "rtt=50ms..2s,flows=1..3", "--points", "2"]),
    ("stability", &["stability", "scenario.toml", "--phase", "x,q", "--starts", "2", "--step", "L=80%", "--step", "join"]),
    ("stability", &["stability", "scenario.toml", "--convergence", "rtt=50ms..200ms", "--points", "2"]),
    ("stability", &["stability", "scenario.toml", "--set", "flows.f.protocol=dctcp"]),
    ("stability", &["stability", "scenario.toml", "--set", "links.L.rate={ steps = [[\"0s\", \"10Mbps\"], [\"5s\", \"5Mbps\"]] }", "--at", "6s"]),
    ("equilibrium", &["equilibrium", "scenario.toml", "--set", "flows.f.protocol=vcp"]),
    ("stability-with-run", &["stability", "scenario.toml", "--with-run"]),
    ("explain", &["stability", "--explain", "run"]),
    ("papers", &["papers", "check", "lgcc/section3"]),
    ("readings", &["papers", "readings", "lgcc/section3"]),
    ("recipes", &["papers", "list"]),
    ("coexistence", &["coexistence", "newreno"]),
    ("harm", &["coexistence", "newreno", "--harm", "--seeds", "2"]),
    ("frontier", &["frontier", "lte-fading", "--rtt", "20ms", "--duration", "4s", "--protocols", "pledge,newreno", "--target", "50ms"]),
    ("frontier", &["frontier", "trace.csv", "--rtt", "20ms", "--protocols", "newreno"]),
    ("evaluate", &["evaluate", "newreno", "--section", "5.3.1,7.11"]),
    ("protocols", &["protocols"]),
    ("protocols", &["protocols", "lgcc"]),
    ("trace", &["trace", "stats", "trace.csv"]),
    ("link", &["link", "--json", "--server", "true", "--", "true"]),
];

fn schema(folder: &Path, document: &str) -> Value {
    let output = millpond(folder, &["schema", document]);
    assert!(output.status.success(), "{document}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The names that `millpond schema` accepts, from the error about one that it does not.
fn documents(folder: &Path) -> Vec<String> {
    let error = stderr(&millpond(folder, &["schema", "no-document"]));
    let (_, names) = error.split_once("[possible values: ").unwrap_or_else(|| panic!("{error}"));
    names.split(']').next().unwrap().split(", ").map(str::to_owned).collect()
}

/// Every object in a JSON value, by its pointer.
fn objects(value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::Object(keys) => {
            let inner = keys.iter().flat_map(|(key, value)| objects(value, &format!("{pointer}/{key}")));
            std::iter::once(pointer.to_owned()).chain(inner).collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| objects(item, &format!("{pointer}/{index}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// The value is valid, and it is not valid with one more property in any of its objects.
fn assert_conforms(validator: &Validator, value: &Value, about: &str) {
    let faults: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{about}: {faults:#?}");
    for pointer in objects(value, "") {
        let mut changed = value.clone();
        changed.pointer_mut(&pointer).unwrap()["unknown"] = 1.into();
        assert!(!validator.is_valid(&changed), "{about}: an unknown property in \"{pointer}\"");
    }
}

#[test]
fn the_json_of_every_command_conforms_to_its_schema() {
    let folder = folder(ONE_FLOW);
    let two_groups =
        ONE_FLOW.to_owned() + "[[flows]]\nname = \"g\"\nprotocol = \"cubic\"\npath = [\"A\", \"B\"]\n";
    std::fs::write(folder.path().join("two-groups.toml"), two_groups).unwrap();
    let validator = |document: &str| jsonschema::draft202012::new(&schema(folder.path(), document)).unwrap();
    let long = ["run", "scenario.toml", "--set", "duration=60s", "--out", "run"];
    let run = millpond(folder.path(), &long);
    assert!(run.status.success(), "{}", stderr(&run));
    for (document, file) in [("run", "summary.json"), ("timing", "timing.json")] {
        let text = std::fs::read_to_string(folder.path().join("run").join(file)).unwrap();
        assert_conforms(&validator(document), &serde_json::from_str(&text).unwrap(), file);
    }
    let varied = [
        "sweep",
        "scenario.toml",
        "--vary",
        "duration=30s,10s,40s",
        "--set",
        "measure.from=5s",
        "--out",
        "dataset",
    ];
    let output = millpond(folder.path(), &varied);
    assert!(output.status.success(), "{}", stderr(&output));
    for line in std::fs::read_to_string(folder.path().join("dataset/runs.jsonl")).unwrap().lines() {
        assert_conforms(&validator("sweep-run"), &serde_json::from_str(line).unwrap(), "runs.jsonl");
    }
    for (document, command) in OUTPUTS.iter().filter(|(document, _)| *document != "link" || is_possible()) {
        let output = millpond(folder.path(), &[command, &["--json"][..]].concat());
        // A busy machine is too late for a live run.
        let is_untrusted = command.contains(&"live") && output.status.code() == Some(1);
        assert!(output.status.success() || is_untrusted, "{command:?}: {}", stderr(&output));
        let value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_conforms(&validator(document), &value, &format!("{command:?}"));
    }
}

/// The descriptions of all properties in a schema.
fn descriptions<'a>(schema: &'a Value, place: &str) -> Vec<(String, Option<&'a str>)> {
    let Some(keys) = schema.as_object() else { return Vec::new() };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    // `false` excludes a property that is described elsewhere.
    let properties = properties.filter(|(_, value)| **value != Value::Bool(false));
    let described = |(key, value): (&'a String, &'a Value)| {
        (format!("{place}.{key}"), value.get("description").and_then(Value::as_str))
    };
    let inner = keys.iter().flat_map(|(key, value)| match value {
        Value::Array(parts) => parts.iter().flat_map(|part| descriptions(part, key)).collect(),
        value => descriptions(value, key),
    });
    properties.map(described).chain(inner).collect()
}

#[test]
fn every_schema_is_valid_and_describes_every_property() {
    let folder = folder(ONE_FLOW);
    let documents = documents(folder.path());
    let known = |name: &String| {
        ["scenario", "timing", "sweep-run"].contains(&name.as_str())
            || OUTPUTS.iter().any(|(document, _)| document == name)
    };
    assert!(documents.len() > 7 && documents.iter().all(known), "{documents:?}");
    for document in documents {
        let schema = schema(folder.path(), &document);
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{document}");
        let descriptions = descriptions(&schema, &document);
        assert!(descriptions.len() > 2, "{document}");
        for (property, description) in descriptions {
            let text = description.unwrap_or_else(|| panic!("{document}: {property} has no description"));
            assert!(!text.contains("[`") && !text.contains('\n'), "{document}: {property}: {text}");
        }
    }
}
