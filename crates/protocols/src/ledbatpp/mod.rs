//! LEDBAT++: a sender for background traffic that keeps queues at 60 ms and yields to others (draft-irtf-iccrg-ledbat-plus-plus).

mod delay;
mod params;
mod sender;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use params::Params;
use sender::LedbatSender;

/// The protocol `ledbatpp`.
pub struct LedbatPlusPlus;

static CARD: Card = Card {
    name: "ledbatpp",
    title: "LEDBAT++",
    summary: "background traffic: holds the queueing delay at 60 ms, grows slowly on short paths, and empties the queue periodically to measure it",
    source: "draft-irtf-iccrg-ledbat-plus-plus; RFC 6817",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for LedbatPlusPlus {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(LedbatSender::new(Params::read(settings))))
    }
}
