//! BBRv1: the first published version of BBR, which does not respond to losses.

mod params;
mod phase;
mod sender;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};

/// The protocol `bbr1`.
pub struct Bbr1;

static CARD: Card = Card {
    name: "bbr1",
    title: "BBRv1",
    summary: "sends at the measured bandwidth, probes for more in one of eight round trips, and does not respond to losses",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017); Cardwell et al., ACM Queue 14(5), 2016",
    needs: Needs { samples: true, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Bbr1 {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::Bbr1Sender::new(params::Params::read(settings))))
    }
}
