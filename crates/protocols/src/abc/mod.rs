//! ABC, Accel-Brake Control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan: "ABC: A Simple Explicit Congestion
//! Controller for Wireless Networks", NSDI 2020). See README.md in this folder.

mod fluid;
mod header;
mod link;
mod params;
mod receiver;
mod sender;

pub use header::{AbcEcho, Counts};

use millpond_law::fluid::FluidModel;
use millpond_law::{
    Card, Link, LinkFacts, Needs, Protocol, QueueChoice, Receiver, Sender, SettingError, Settings,
};

/// The protocol `abc`.
pub struct Abc;

static CARD: Card = Card {
    name: "abc",
    title: "Accel-Brake Control",
    summary: "routers mark each packet accelerate or brake; each mark moves the window by about one packet",
    source: "Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan, USENIX NSDI 2020, pp. 353-372",
    needs: Needs { header: header::ID, ecn: Some(true), ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Abc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::AbcSender::new(settings)))
    }

    fn receiver(&self, _settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(receiver::AbcReceiver::default()))
    }

    fn link(&self, settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::AbcRouter::new(settings))))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::AbcFluid::read(settings))))
    }
}
