//! Sprout: the receiver forecasts what a cellular link will deliver (K. Winstein, A. Sivaraman, H. Balakrishnan, NSDI 2013).

mod belief;
mod forecast;
mod header;
mod model;
mod params;
mod receiver;
mod sender;

pub use header::SproutHeader;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Receiver, Sender, SettingError, Settings};
use params::Params;
use receiver::SproutReceiver;
use sender::SproutSender;

/// The protocol `sprout`.
pub struct Sprout;

static CARD: Card = Card {
    name: "sprout",
    title: "Sprout",
    summary: "the receiver forecasts the deliveries of the next 160 ms; the sender has only as much in flight as arrives within 100 ms with a probability of 95 %",
    source: "Winstein, Sivaraman, Balakrishnan, \"Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks\", NSDI 2013",
    needs: Needs { header: header::ID, sent: true, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Sprout {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(SproutSender::new(Params::read(settings)?)))
    }

    fn receiver(&self, settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(SproutReceiver::new(&Params::read(settings)?)))
    }
}
