//! DCTCP: reduces the window by half the fraction of marked bytes.

mod fluid;
mod params;
mod sender;

pub use params::Params;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use sender::DctcpSender;

/// The protocol `dctcp`.
pub struct Dctcp;

static CARD: Card = Card {
    name: "dctcp",
    title: "Data Center TCP",
    summary: "estimates the fraction of its bytes that is marked, and reduces the window by half of that once per round trip",
    source: "RFC 8257",
    needs: Needs { ecn: Some(false), ..Needs::NONE },
    queue: QueueChoice { name: "red", settings: &[("preset", "dctcp-step")] },
    parameters: params::PARAMETERS,
};

impl Protocol for Dctcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(DctcpSender::new(Params::read(settings))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::DctcpFluid::read(settings))))
    }
}
