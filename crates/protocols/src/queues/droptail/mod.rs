//! Drop-tail: packets that arrive at a full buffer are dropped.

use millpond_law::fluid::FluidQueue;
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `droptail`.
pub struct DropTail;

static CARD: QueueCard = QueueCard {
    name: "droptail",
    title: "Drop-tail",
    source: "RFC 7567, section 2",
    parameters: &[],
    presets: &[],
};

impl Queue for DropTail {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::DropTail)
    }

    fn fluid(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        Ok(FluidQueue::DropTail)
    }
}
