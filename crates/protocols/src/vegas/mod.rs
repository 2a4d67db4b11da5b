//! Vegas: keeps a few packets in the queue (Brakmo, Peterson: "TCP Vegas: End to End Congestion Avoidance
//! on a Global Internet", IEEE JSAC 13(8), 1995). See README.md in this folder.

mod fluid;
mod params;
mod sender;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use params::Params;
use sender::VegasSender;

/// The protocol `vegas`.
pub struct Vegas;

static CARD: Card = Card {
    name: "vegas",
    title: "Vegas",
    summary: "estimates its queued packets from the round-trip time, and keeps their number between two and four",
    source: "Brakmo, Peterson, IEEE JSAC 13(8), 1995, pp. 1465-1480",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Vegas {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(VegasSender::new(Params::read(settings)?)))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::VegasFluid::read(settings)?)))
    }
}
