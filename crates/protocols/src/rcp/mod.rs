//! RCP, the Rate Control Protocol (Dukkipati, Kobayashi, Zhang-Shen, McKeown: "Processor Sharing Flows in the
//! Internet", IWQoS 2005; Dukkipati, PhD thesis, Stanford 2007). See README.md in this folder.

mod fluid;
mod header;
mod link;
mod params;
mod sender;

pub use header::RcpHeader;

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, RateField, Sender, SettingError, Settings,
};
use params::RouterParams;

/// The protocol `rcp`.
pub struct Rcp;

static CARD: Card = Card {
    name: "rcp",
    title: "Rate Control Protocol",
    summary: "each router advises one rate to all its flows; a sender immediately paces at the smallest rate of its path",
    source: "Dukkipati, Kobayashi, Zhang-Shen, McKeown, IWQoS 2005, pp. 271-285; Dukkipati, PhD thesis, Stanford 2007",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Rcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn rate_field(&self) -> Option<RateField> {
        Some(header::RcpHeader::replace_rate)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::RcpSender::new(settings)))
    }

    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::RcpRouter::new(RouterParams::read(settings)?, facts))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::RcpFluid::read(settings)?)))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::instability(settings.get(params::ALPHA), settings.get(params::BETA)).into_iter().collect()
    }
}
