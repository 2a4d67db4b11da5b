//! CoDel: marks or drops packets if the queueing delay exceeds a target for a whole interval.

mod link;
mod params;

pub use params::Params;

use link::CoDelLink;
use millpond_law::{Link, LinkFacts, Queue, QueueCard, SettingError, Settings};

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

    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(CoDelLink::new(Params::read(settings), facts))))
    }
}
