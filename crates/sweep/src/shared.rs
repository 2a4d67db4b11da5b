//! Values that many runs share.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

/// A value that several records hold together. It is written and read as the value itself.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// The value, if no other record holds it.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        Arc::get_mut(&mut self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl From<&str> for Shared<String> {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

impl<T: JsonSchema> JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The values that records already hold.
#[derive(Debug)]
pub(crate) struct SharedValues<T>(BTreeSet<Shared<T>>);

impl<T> Default for SharedValues<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> SharedValues<T> {
    /// Replaces a value by an equal one that another record holds, if there is one.
    pub(crate) fn share(&mut self, value: &mut Shared<T>) {
        match self.0.get(value) {
            Some(known) => *value = known.clone(),
            None => {
                self.0.insert(value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_of_a_pool_are_one_value() {
        let mut pool = SharedValues::default();
        let mut texts: [Shared<String>; 3] = ["a", "b", "a"].map(Shared::from);
        for text in &mut texts {
            pool.share(text);
        }
        assert!(Arc::ptr_eq(&texts[0].0, &texts[2].0) && !Arc::ptr_eq(&texts[0].0, &texts[1].0));
        assert_eq!(serde_json::to_string(&texts).unwrap(), r#"["a","b","a"]"#);
    }
}
