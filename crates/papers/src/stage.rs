//! Stages: named intervals of a run, for `during` of a row.

use super::time_or_step::TimeOrStep;
use serde::Deserialize;

/// An interval: `["199s", "399s"]`, or `["160s"]` up to the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Vec<TimeOrStep>")]
pub struct Stage {
    /// The start; samples after it belong to the interval.
    pub from: TimeOrStep,
    /// The end, included; the end of the run if there is none.
    pub to: Option<TimeOrStep>,
}

impl TryFrom<Vec<TimeOrStep>> for Stage {
    type Error = String;

    fn try_from(bounds: Vec<TimeOrStep>) -> Result<Self, String> {
        match *bounds.as_slice() {
            [from] => Ok(Self { from, to: None }),
            [from, to] if from < to => Ok(Self { from, to: Some(to) }),
            _ => Err("a stage is [from, to], the earlier first, or [from]".into()),
        }
    }
}
