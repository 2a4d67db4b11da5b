//! Prague: the scalable congestion control of L4S. DCTCP's response to marks, at a pace, and with less dependence on the RTT.

mod params;
mod sender;

pub use params::Params;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use sender::PragueSender;

/// The protocol `prague`.
pub struct Prague;

static CARD: Card = Card {
    name: "prague",
    title: "Prague congestion control",
    summary: "reduces the window by half of the fraction of its bytes that is marked, once per virtual round trip of at least 25 ms",
    source: "draft-briscoe-iccrg-prague-congestion-control-04",
    needs: Needs { ecn: Some(true), ..Needs::NONE },
    queue: QueueChoice { name: "dualpi2", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Prague {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(PragueSender::new(Params::read(settings))))
    }
}
