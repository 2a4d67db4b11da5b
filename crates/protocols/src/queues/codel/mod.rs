//! CoDel: marks or drops packets if the queueing delay exceeds a target for a whole interval.

mod link;
mod params;

pub(super) use link::CoDelLink;
pub use params::Params;
pub(super) use params::{ECN, INTERVAL, TARGET};

use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `codel`.
pub struct CoDel;

static CARD: QueueCard = QueueCard {
    name: "codel",
    title: "Controlled Delay",
    source: "RFC 8289",
    parameters: params::PARAMETERS,
    presets: &[],
};

impl Queue for CoDel {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(CoDelLink::new(Params::read(settings), facts)))
    }
}
