//! VCP, the Variable-structure congestion Control Protocol (Xia, Subramanian, Stoica, Kalyanaraman: "One More Bit Is
//! Enough", SIGCOMM 2005). See README.md in this folder.

mod fluid;
mod header;
mod link;
mod params;
mod receiver;
mod sender;

pub use header::{Load, VcpHeader};

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, Receiver, Sender, SettingError, Settings,
};
use params::RouterParams;

/// The protocol `vcp`.
pub struct Vcp;

static CARD: Card = Card {
    name: "vcp",
    title: "Variable-structure Control Protocol",
    summary: "two bits signal low load, high load or overload: the window is multiplied, increased additively, or reduced",
    source: "Xia, Subramanian, Stoica, Kalyanaraman, SIGCOMM 2005, pp. 37-48",
    needs: Needs { header: header::ID, ecn: Some(true), ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Vcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::VcpSender::new(settings)))
    }

    fn receiver(&self, _settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(receiver::VcpReceiver))
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::VcpRouter::new(RouterParams::read(settings)))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::VcpFluid::read(settings))))
    }
}
