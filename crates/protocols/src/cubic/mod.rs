//! CUBIC: after a loss the window returns along a cubic function of time, with zero slope at the window of the loss.

mod fluid;
mod params;
mod sender;

pub use params::Params;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use sender::CubicSender;

/// The protocol `cubic`.
pub struct Cubic;

static CARD: Card = Card {
    name: "cubic",
    title: "CUBIC",
    summary: "after a loss the window returns along a cubic function of time, never slower than Reno's",
    source: "RFC 9438",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Cubic {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, settings: &Settings) -> Needs {
        Needs { ecn: settings.get(params::ECN).then_some(false), ..CARD.needs }
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(CubicSender::new(Params::read(settings))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::CubicFluid::read(settings))))
    }
}
