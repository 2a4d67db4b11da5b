//! The varied keys of a run with their values.

use crate::shared::{Shared, SharedValues};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The varied keys with their values, in alphabetical order of the keys. It is written and read as a map.
///
/// A sweep has as many of them as combinations of values. A map would take half a kilobyte for a single key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SweepSettings(Box<[(Shared<String>, String)]>);

impl SweepSettings {
    /// The keys with their values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in the order of the keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.iter().map(|(_, value)| value)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    /// Holds the keys that other settings hold too.
    pub(crate) fn share_keys(&mut self, texts: &mut SharedValues<String>) {
        for (key, _) in &mut self.0 {
            texts.share(key);
        }
    }
}

impl From<BTreeMap<String, String>> for SweepSettings {
    fn from(values: BTreeMap<String, String>) -> Self {
        Self(values.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl From<BTreeMap<String, String>> for Shared<SweepSettings> {
    fn from(values: BTreeMap<String, String>) -> Self {
        SweepSettings::from(values).into()
    }
}

impl Serialize for SweepSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for SweepSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Vec<(Shared<String>, String)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of keys to their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose()).collect()
            }
        }
        let mut values = deserializer.deserialize_map(Map)?;
        values.sort();
        Ok(Self(values.into()))
    }
}

impl JsonSchema for SweepSettings {
    fn inline_schema() -> bool {
        BTreeMap::<String, String>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, String>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, String>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_and_read_as_a_map_in_the_order_of_its_keys() {
        let text = r#"{"flows.f.count":"4","links.L.rate":"5Mbps"}"#;
        let settings: SweepSettings = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&settings).unwrap(), text);
        let turned = r#"{"links.L.rate":"5Mbps","flows.f.count":"4"}"#;
        assert_eq!(serde_json::from_str::<SweepSettings>(turned).unwrap(), settings);
        assert_eq!((settings.get("links.L.rate"), settings.get("links")), (Some("5Mbps"), None));
        assert!(serde_json::from_str::<SweepSettings>("[]").is_err());
    }
}
