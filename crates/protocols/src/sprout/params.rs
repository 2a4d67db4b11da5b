//! Sprout's parameters. The model of the link is fixed (`model.rs`), as in the paper.

use super::model::{TICK, TICKS};
use millpond_law::key::{Key, Keys, from, number, span};
use millpond_law::{SettingError, Settings};
use millpond_units::Span;

/// Sprout's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Probability that the link delivers less than was forecast.
    pub(super) risk: f64,
    /// Ticks within which a packet is to be delivered.
    pub(super) ticks: usize,
}

const CONFIDENCE: Key<f64> = number("confidence", "1", 0.95, from(0.01).to(0.99))
    .source("section 3.3, NSDI 2013")
    .meaning("probability with which the link delivers at least what is forecast");
const DELAY: Key<Span> = span("delay", Span::from_millis(100))
    .source("section 3.5, NSDI 2013")
    .meaning("time within which a packet is to be delivered with that probability: 20 ms to 160 ms, in whole ticks of 20 ms");

pub(super) static PARAMETERS: Keys = &[&CONFIDENCE, &DELAY];

impl Params {
    /// Time within which a packet is to be delivered.
    pub(super) fn delay(&self) -> Span {
        TICK.scale(self.ticks as f64)
    }

    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let delay = settings.get(DELAY);
        let ticks = usize::try_from(delay.picos() / TICK.picos()).unwrap_or(usize::MAX);
        if !delay.picos().is_multiple_of(TICK.picos()) || !(1..=TICKS).contains(&ticks) {
            let most = TICK.scale(TICKS as f64);
            return Err(DELAY.error(format!("a multiple of {TICK} from {TICK} to {most} is needed")));
        }
        Ok(Self { risk: 1.0 - settings.get(CONFIDENCE), ticks })
    }
}
