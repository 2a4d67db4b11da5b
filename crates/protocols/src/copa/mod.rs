//! Copa: a target rate inversely proportional to the queueing delay (V. Arun, H. Balakrishnan, NSDI 2018), in both modes.

mod delay;
mod params;
mod sender;
mod velocity;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use params::Params;
use sender::CopaSender;

/// The protocol `copa`.
pub struct Copa;

static CARD: Card = Card {
    name: "copa",
    title: "Copa",
    summary: "steers its rate to 1 / (delta queueing delay), so that the queue empties periodically; competes with buffer-filling flows where it does not",
    source: "Arun, Balakrishnan, \"Copa: Practical Delay-Based Congestion Control for the Internet\", NSDI 2018",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Copa {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(CopaSender::new(Params::read(settings))))
    }
}
