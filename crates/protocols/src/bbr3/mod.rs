//! BBRv3: a sender that measures bandwidth and base round-trip time of its path and sends at the measured rate.

mod control;
mod cycle;
mod delivery;
mod loss;
mod min_rtt;
mod params;
mod phase;
mod probe_rtt;
mod sender;
mod start;
mod state;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};

/// The protocol `bbr3`.
pub struct Bbr3;

static CARD: Card = Card {
    name: "bbr3",
    title: "BBRv3",
    summary: "measures the bandwidth and the base RTT of the path, sends at that bandwidth, and probes for more every few seconds",
    source: "draft-ietf-ccwg-bbr-06 (July 2026)",
    needs: Needs { samples: true, ..Needs::NONE },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Bbr3 {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::Bbr3Sender::new(params::Params::read(settings))))
    }
}
