//! A reading: one of several meanings of a paper.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One of several meanings of the paper.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The name that rows use.
    pub name: String,
    /// What the reading assumes, and the evidence for it.
    pub about: String,
    /// Overrides of a recipe's scenario, by dotted path.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// By the `law` of a recurrence: its parameters under this reading, unless a case sets them.
    #[serde(default)]
    pub recurrence: BTreeMap<String, toml::Table>,
    /// Whether we reject it: it is not what the paper means, and its rows are counted apart.
    #[serde(default)]
    pub rejected: bool,
}
