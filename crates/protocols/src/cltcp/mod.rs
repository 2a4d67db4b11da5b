//! CLTCP, Coupling Logistic TCP (Huang, Lin, Ren, Yang, Ungsunan, Wang: "Improving the Convergence and Stability of
//! Congestion Control Algorithm", ICNP 2007). See README.md in this folder.

mod fluid;
mod header;
mod link;
mod params;
mod sender;

pub use header::CltcpHeader;

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, RateField, Sender, SettingError, Settings,
};
use millpond_units::Span;

/// The protocol `cltcp`.
pub struct Cltcp;

static CARD: Card = Card {
    name: "cltcp",
    title: "Coupling Logistic TCP",
    summary: "each router has one rate factor with logistic growth on its spare capacity; rates follow the smallest factor of the path",
    source: "Huang, Lin, Ren, Yang, Ungsunan, Wang, ICNP 2007",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Cltcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn rate_field(&self) -> Option<RateField> {
        Some(header::CltcpHeader::replace_rate)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::CltcpSender::new(settings)))
    }

    fn link(&self, settings: &Settings, facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::CltcpRouter::new(params::RouterParams::read(settings), facts))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::CltcpFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::Gains::read(settings).instability().into_iter().collect()
    }

    fn path_warnings(&self, settings: &Settings, base_rtt: Span) -> Vec<String> {
        params::Gains::read(settings).instability_at(base_rtt).into_iter().collect()
    }
}
