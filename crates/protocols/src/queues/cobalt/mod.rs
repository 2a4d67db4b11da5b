//! COBALT: CoDel for responsive flows, and BLUE for those that do not respond.

mod link;
mod params;

pub use params::Params;

use link::CobaltLink;
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `cobalt`.
pub struct Cobalt;

static CARD: QueueCard = QueueCard {
    name: "cobalt",
    title: "CoDel-BLUE Alternate",
    source: "Hoiland-Jorgensen, Taht and Morton, Piece of CAKE (LANMAN 2018); Linux sch_cake",
    parameters: params::PARAMETERS,
    presets: &[],
};

impl Queue for Cobalt {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(CobaltLink::new(Params::read(settings), facts)))
    }
}
