//! Stages: intervals of a run that rows name instead of giving `from` and `to`.

use super::time_or_step::Instant;
use serde::Deserialize;

/// An interval: `["199s", "399s"]`; without an end, `["160s"]`, it lasts until the run does.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Vec<Instant>")]
pub struct Stage {
    /// Samples after this.
    pub from: Instant,
    /// Samples until this.
    pub to: Option<Instant>,
}

impl TryFrom<Vec<Instant>> for Stage {
    type Error = String;

    fn try_from(bounds: Vec<Instant>) -> Result<Self, String> {
        match *bounds.as_slice() {
            [from] => Ok(Self { from, to: None }),
            [from, to] if from < to => Ok(Self { from, to: Some(to) }),
            _ => Err("a stage is [from, to], the earlier first, or [from]".into()),
        }
    }
}
