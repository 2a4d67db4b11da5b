//! NewReno as specified for QUIC: adds one packet per round trip and halves the window at each loss episode.

mod fluid;
mod params;
mod sender;

pub use params::Params;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use sender::NewRenoSender;

/// The protocol `newreno`.
pub struct NewReno;

static CARD: Card = Card {
    name: "newreno",
    title: "NewReno",
    summary: "adds a packet per round trip and halves the window at each loss episode",
    source: "RFC 9002, section 7",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for NewReno {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, settings: &Settings) -> Needs {
        Needs { ecn: settings.get(params::ECN).then_some(false), ..CARD.needs }
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(NewRenoSender::new(Params::read(settings))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::NewRenoFluid::read(settings))))
    }
}
