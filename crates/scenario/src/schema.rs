//! The JSON Schema of a scenario, from the tables of keys.

use crate::keys::scenario::SCENARIO;
use crate::table::{Describe, Form, KeyInfo, Rule};
use crate::tree;
use millpond_units::{ParseError, Rate, Span};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a scenario file. It checks names of keys, types, units and the ranges of
/// numbers; ranges of quantities and what refers to other keys are checked by reading the scenario.
pub fn schema() -> Value {
    let mut definitions = Definitions::default();
    let mut schema = definitions.table(&SCENARIO);
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("A Millpond scenario"));
    schema.insert("$defs".into(), Value::Object(definitions.0));
    Value::Object(schema)
}

/// A character of a name. The classes of Unicode are unknown to many readers of patterns, such as Python's, so that all
/// characters beyond ASCII are accepted here; reading the scenario refuses those that are neither letters nor digits.
const OF_NAME: &str = r"[^\x00-,./:-@\[-^`{-\x7f]";

/// The tables that the schema refers to, by name.
#[derive(Default)]
struct Definitions(Map<String, Value>);

impl Definitions {
    /// A reference to a table, which is defined if it is new.
    fn reference(&mut self, table: &'static dyn Describe) -> Value {
        let name = table.name().replace(' ', "-");
        if !self.0.contains_key(&name) {
            // Entered first, so that a table may contain itself.
            self.0.insert(name.clone(), Value::Null);
            let definition = self.value(table);
            self.0.insert(name.clone(), definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// The plain form of a value, or its table.
    fn value(&mut self, table: &'static dyn Describe) -> Value {
        let keys = Value::Object(self.table(table));
        match table.plain() {
            None => keys,
            Some(plain) => json!({ "anyOf": [self.form(plain.form), keys] }),
        }
    }

    /// A TOML table with these keys.
    fn table(&mut self, table: &'static dyn Describe) -> Map<String, Value> {
        let keys = table.keys();
        let properties: Map<_, _> = keys.iter().map(|key| (key.name.to_owned(), self.key(key))).collect();
        let mut schema = object(json!({ "type": "object" }));
        schema.insert("properties".into(), Value::Object(properties));
        schema.insert("additionalProperties".into(), json!(false));
        let required = names(&keys, |rule| matches!(rule, Rule::Required(_)));
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        let selectors = names(&keys, |rule| matches!(rule, Rule::OneOf(_)));
        if !selectors.is_empty() {
            let forms: Vec<_> = selectors.iter().map(|selector| selected(&keys, selector)).collect();
            schema.insert("oneOf".into(), json!(forms));
        }
        schema
    }

    fn key(&mut self, key: &KeyInfo) -> Value {
        let mut schema = object(self.form(key.form));
        schema.insert("description".into(), json!(key.meaning));
        let json = |text: &str| tree::constant(text).and_then(|node| node.value.to_json());
        if let Some(default) = key.rule.default_value().and_then(json) {
            schema.insert("default".into(), default);
        }
        if let Some(example) = key.rule.example().and_then(json) {
            schema.insert("examples".into(), json!([example]));
        }
        Value::Object(schema)
    }

    fn form(&mut self, form: &'static Form) -> Value {
        match form {
            Form::Text => json!({ "type": "string" }),
            Form::Name => json!({ "type": "string", "pattern": format!("^{OF_NAME}+$") }),
            Form::ProtocolName => {
                json!({ "type": "string", "pattern": format!("^{OF_NAME}+(:({OF_NAME}|[=,.%:])+)?$") })
            }
            Form::Flag => json!({ "type": "boolean" }),
            Form::Whole { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Form::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
            Form::Share { least, most } => json!({ "anyOf": [
                { "type": "number", "minimum": least, "maximum": most },
                text_pattern("[0-9.]+ *%"),
            ] }),
            Form::Finite => json!({ "type": "number" }),
            Form::Span { .. } | Form::Time => quantity(&units("1".parse::<Span>().err())),
            Form::Bytes { .. } => quantity(&units("1".parse::<millpond_units::Bytes>().err())),
            Form::Rate { .. } => quantity(&units("1".parse::<Rate>().err())),
            Form::Count { unit, whole: true } => {
                text_pattern(&format!("[0-9]+ *({unit}|{})", unit.trim_end_matches('s')))
            }
            Form::Count { unit, whole: false } => text_pattern(&format!("[0-9.eE+-]+ *{unit}")),
            Form::Word(word) => json!({ "const": word }),
            Form::Words(words) => json!({ "enum": words() }),
            Form::List { item, least } => {
                json!({ "type": "array", "items": self.form(item), "minItems": least })
            }
            Form::Pair(first, second) => self.pair(first, second),
            Form::Range(item) => self.pair(item, item),
            Form::AnyOf(forms) => {
                let forms: Vec<_> = forms.iter().map(|form| self.form(form)).collect();
                json!({ "anyOf": forms })
            }
            Form::Table(table) => self.reference(*table),
            Form::Tables(table) => json!({ "type": "array", "items": self.reference(*table) }),
            Form::NamedTables(table) => {
                json!({ "type": "object", "additionalProperties": self.reference(*table) })
            }
            Form::Map(value) => json!({ "type": "object", "additionalProperties": self.form(value) }),
            Form::SingleKey(value) => json!({
                "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": self.form(value)
            }),
        }
    }

    fn pair(&mut self, first: &'static Form, second: &'static Form) -> Value {
        let items = [self.form(first), self.form(second)];
        json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2 })
    }
}

/// What holds if `selector` is the key that selects the form: what is required beside it, and what may not be there.
fn selected(keys: &[KeyInfo], selector: &'static str) -> Value {
    let beside = |key: &&KeyInfo| key.rule.beside(&[selector]).map(|rule| (key.name, rule));
    let mut required = vec![selector];
    let mut choice = Vec::new();
    for (name, rule) in
        keys.iter().filter(|key| matches!(key.rule, Rule::With(..))).filter_map(|key| beside(&key))
    {
        match rule {
            Rule::Required(_) => required.push(name),
            Rule::OneOf(_) => choice.push(json!({ "required": [name] })),
            _ => {}
        }
    }
    let excluded = keys.iter().filter(|key| key.rule.beside(&[selector]).is_none());
    let excluded: Map<_, _> = excluded.map(|key| (key.name.to_owned(), json!(false))).collect();
    let mut schema = object(json!({ "required": required }));
    if !excluded.is_empty() {
        schema.insert("properties".into(), Value::Object(excluded));
    }
    if !choice.is_empty() {
        schema.insert("oneOf".into(), json!(choice));
    }
    Value::Object(schema)
}

/// The names of the keys with such a rule.
fn names(keys: &[KeyInfo], has: impl Fn(&Rule) -> bool) -> Vec<&'static str> {
    keys.iter().filter(|key| has(key.rule)).map(|key| key.name).collect()
}

/// The units that a quantity may have, from the error about a number without a unit.
fn units(error: Option<ParseError>) -> Vec<&'static str> {
    error.map(|error| error.units().collect()).unwrap_or_default()
}

fn quantity(units: &[&str]) -> Value {
    text_pattern(&format!("[0-9._]+\\s*({})", units.join("|")))
}

fn text_pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^\\s*{pattern}\\s*$") })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
