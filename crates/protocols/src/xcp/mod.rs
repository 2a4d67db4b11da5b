//! XCP, the eXplicit Control Protocol (Katabi, Handley, Rohrs: "Congestion Control for High Bandwidth-Delay Product
//! Networks", SIGCOMM 2002; draft-falk-xcp-spec-03). See README.md in this folder.

mod fluid;
mod header;
mod link;
mod params;
mod receiver;
mod sender;

pub use header::{ThroughputChange, XcpEcho, XcpHeader};

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, Receiver, Sender, SettingError, Settings,
};
use params::RouterParams;

/// The protocol `xcp`.
pub struct Xcp;

static CARD: Card = Card {
    name: "xcp",
    title: "eXplicit Control Protocol",
    summary: "routers write into each packet the change of its flow's throughput",
    source: "Katabi, Handley, Rohrs, SIGCOMM 2002, pp. 89-102; draft-falk-xcp-spec-03",
    needs: Needs { header: header::ID, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Xcp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::XcpSender::new(settings)))
    }

    fn receiver(&self, _settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(receiver::XcpReceiver::default()))
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::XcpRouter::new(RouterParams::read(settings)))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::XcpFluid::read(settings))))
    }

    fn warnings(&self, settings: &Settings) -> Vec<String> {
        params::instability(settings.get(params::ALPHA), settings.get(params::BETA)).into_iter().collect()
    }
}
