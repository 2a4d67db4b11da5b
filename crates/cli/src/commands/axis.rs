//! Ranges of parameters as options state them: `rtt=10ms..2s`.

use crate::failure::Failure;
use millpond_theory::Study;
use millpond_theory::stability::{ParameterAxis, VariedParameter};
use millpond_units::Span;

/// What is needed to read a range: the option for error messages, and what its parameters refer to.
#[derive(Clone, Copy)]
pub(super) struct RangeOption<'a> {
    /// `--map`.
    pub(super) option: &'static str,
    /// What to write: `write a range, such as rtt=10ms..2s`.
    pub(super) usage: &'static str,
    /// How many values a range has.
    pub(super) points: usize,
    pub(super) study: Study<'a>,
}

/// The greatest number of flows of a scenario, which its reader enforces for written counts.
const MOST_FLOWS: f64 = 1e6;

impl RangeOption<'_> {
    /// One range: `rtt=10ms..2s`.
    pub(super) fn axis(&self, text: &str) -> Result<ParameterAxis, Failure> {
        let usage = || self.refused(text);
        let (name, range) = text.split_once('=').ok_or_else(usage)?;
        let (low, high) = range.split_once("..").ok_or_else(usage)?;
        let parameter = VariedParameter::parse(name.trim(), self.study).map_err(Failure::input)?;
        let (low, high) = value(low).zip(value(high)).ok_or_else(usage)?;
        if !(0.0 < low && low < high) {
            return Err(Failure::input(format!(
                "{} {text}: write the lower end first, and above zero",
                self.option
            )));
        }
        if parameter == VariedParameter::Flows && high > MOST_FLOWS {
            let option = self.option;
            return Err(Failure::input(format!(
                "{option} {text}: a scenario has at most {MOST_FLOWS} flows"
            )));
        }
        Ok(ParameterAxis::logarithmic(parameter, low, high, self.points))
    }

    /// Two ranges: `rtt=10ms..2s,flows=1..100`.
    pub(super) fn axes(&self, text: &str) -> Result<[ParameterAxis; 2], Failure> {
        let (across, up) = text.split_once(',').ok_or_else(|| self.refused(text))?;
        let (across, up) = (self.axis(across)?, self.axis(up)?);
        if across.parameter == up.parameter {
            let (option, name) = (self.option, up.parameter.name());
            return Err(Failure::input(format!("{option}: {name} is on both sides; vary two parameters")));
        }
        Ok([across, up])
    }

    fn refused(&self, text: &str) -> Failure {
        Failure::input(format!("{} {text}: {}", self.option, self.usage))
    }
}

/// A plain number, or a time in seconds.
fn value(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().or_else(|| text.parse::<Span>().map(Span::secs).ok())
}
