//! Why a run cannot be explained.

use super::interval::StationaryInterval;
use millpond_results::files::LoadError;
use millpond_theory::AnalysisError;
use std::fmt;

/// Why a run cannot be explained.
#[derive(Debug)]
pub enum ExplainError {
    /// The directory holds no run that can be read.
    NoRun(LoadError),
    /// The directory holds several runs.
    Several {
        /// Their directories.
        runs: Vec<String>,
    },
    /// The time is not in the measured part of the run.
    NotMeasured {
        /// The time, in seconds.
        at: f64,
        /// The start of the measurement, in seconds.
        from: f64,
        /// The end of the run, in seconds.
        until: f64,
    },
    /// The scenario has no linear model.
    Analysis(AnalysisError),
    /// A series is missing or has gaps.
    Missing {
        /// Name of the series.
        series: String,
        /// Its number of samples in the interval.
        found: usize,
        /// The number of samples without gaps.
        needed: usize,
    },
    /// The interval is too short to distinguish an oscillation from a trend.
    TooShort {
        /// The interval.
        interval: StationaryInterval,
        /// Its number of samples.
        samples: usize,
        /// The duration that is needed, in seconds.
        needed: f64,
        /// Why this duration is needed.
        reason: String,
    },
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun(error) => {
                write!(
                    f,
                    "{error}; --explain reads the directory of one run: millpond run SCENARIO.toml --out DIR"
                )
            }
            Self::Several { runs } => {
                write!(
                    f,
                    "there are {} runs in it; --explain takes one of them: {}",
                    runs.len(),
                    runs.join(", ")
                )
            }
            Self::NotMeasured { at, from, until } => {
                write!(
                    f,
                    "the run is measured from {from} s to {until} s: name a time of it in place of {at} s"
                )
            }
            Self::Analysis(reason) => reason.fmt(f),
            Self::Missing { series, found, needed } => write!(
                f,
                "the series {series} has {found} of {needed} samples in the analyzed interval; run the scenario again with --out \
                 by this version of Millpond"
            ),
            Self::TooShort { interval, samples, needed, reason } => write!(
                f,
                "the longest interval without a join, a leave or a capacity step, {interval}, is {:.3} s with {samples} samples; \
                 {needed:.3} s are needed, {reason}: run it longer with --set duration=..., or sample it more often with --set \
                 measure.every=...",
                interval.duration()
            ),
        }
    }
}

impl<E: Into<AnalysisError>> From<E> for ExplainError {
    fn from(reason: E) -> Self {
        Self::Analysis(reason.into())
    }
}
