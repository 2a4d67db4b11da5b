//! DualPI2: a low-latency queue and a classic queue with coupled marking.

mod link;
mod params;
mod scheduler;

pub use params::{Params, SchedulerKind};

use link::DualPi2Link;
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `dualpi2`.
pub struct DualPi2;

static CARD: QueueCard = QueueCard {
    name: "dualpi2",
    title: "Dual-Queue Coupled PI2",
    source: "RFC 9332, appendix A",
    parameters: params::PARAMETERS,
    presets: &[],
};

impl Queue for DualPi2 {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::multi(DualPi2Link::new(Params::read(settings), facts)))
    }
}
