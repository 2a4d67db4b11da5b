//! The values of all metrics of a run or a group.

use crate::metric::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The values of all metrics, in their order; not a number where there is none. They are written and read as a map from
/// names to values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values([f64; Metric::ALL.len()]);

impl Values {
    pub(crate) const NONE: Self = Self([f64::NAN; Metric::ALL.len()]);

    /// The values of these metrics. Values that are not finite are left out.
    pub(crate) fn of(value: impl Fn(&Metric) -> Option<f64>) -> Self {
        Self(Metric::ALL.map(|metric| value(&metric).filter(|value| value.is_finite()).unwrap_or(f64::NAN)))
    }

    /// The value of each metric, in the order of [`Metric::ALL`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        self.0.into_iter().map(|value| Some(value).filter(|value| !value.is_nan()))
    }

    /// The value of the metric with this name.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.iter().nth(place(name)?)?
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::NONE
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl JsonSchema for Values {
    fn schema_name() -> Cow<'static, str> {
        "Values".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |metric: &Metric| {
            (metric.name.to_owned(), json!({ "type": "number", "description": metric.meaning }))
        };
        let properties: serde_json::Map<_, _> = Metric::ALL.iter().map(property).collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = Metric::ALL.iter().zip(self.iter());
        let named: BTreeMap<&str, f64> =
            named.filter_map(|(metric, value)| Some((metric.name, value?))).collect();
        named.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByName)
    }
}

/// Reads values by their names. The values of names that are no metric are ignored.
struct ByName;

impl<'de> Visitor<'de> for ByName {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of the names of metrics to their values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
        let mut values = Values::NONE;
        while let Some(MetricIndex(place)) = map.next_key()? {
            match place.and_then(|place| values.0.get_mut(place)) {
                Some(value) => *value = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(values)
    }
}

/// The place of a metric in [`Metric::ALL`], read from its name without a copy.
struct MetricIndex(Option<usize>);

impl<'de> Deserialize<'de> for MetricIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Self(None))
    }
}

impl Visitor<'_> for MetricIndex {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a metric")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self, E> {
        Ok(Self(place(name)))
    }
}

/// The place of the metric with this name.
fn place(name: &str) -> Option<usize> {
    Metric::ALL.iter().position(|metric| metric.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_and_read_by_their_names() {
        let text = r#"{"jain":0.5,"loss":0.25}"#;
        let values: Values = serde_json::from_str(text).unwrap();
        assert_eq!(
            (values.get("jain"), values.get("loss"), values.get("starving")),
            (Some(0.5), Some(0.25), None)
        );
        assert_eq!(serde_json::to_string(&values).unwrap(), text);
        let later = r#"{"jain":0.5,"of another version":[1],"loss":0.25}"#;
        assert_eq!(serde_json::from_str::<Values>(later).unwrap(), values);
        assert!(serde_json::from_str::<Values>(r#"{"jain":"half"}"#).is_err());
    }
}
