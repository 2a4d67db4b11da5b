//! ACP, the Adaptive Congestion Protocol (Lestas, Pitsillides, Ioannou, Hadjipollas: "Adaptive Congestion Protocol: A
//! Congestion Control Protocol with Learning Capability", Computer Networks 51(13), 2007). See README.md in this folder.

pub mod estimate;
mod fluid;
mod header;
mod link;
mod params;
mod sender;

pub use header::AcpHeader;

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, RateField, Sender, SettingError, Settings,
};

/// The protocol `acp`.
pub struct Acp;

static CARD: Card = Card {
    name: "acp",
    title: "Adaptive Congestion Protocol",
    summary: "each router estimates its number of flows and signals one desired rate; windows follow it, slowly if a link is congested",
    source: "Lestas, Pitsillides, Ioannou, Hadjipollas, Computer Networks 51(13), 2007",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Acp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn rate_field(&self) -> Option<RateField> {
        Some(header::AcpHeader::replace_rate)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::AcpSender::new(settings)))
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::AcpRouter::new(params::RouterParams::read(settings)))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::AcpFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::warnings(settings)
    }
}
