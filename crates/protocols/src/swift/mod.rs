//! Swift: additive increase and multiplicative decrease around a target of the round-trip time (G. Kumar et al., SIGCOMM 2020).

mod params;
mod sender;
mod target;

use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use millpond_units::Span;
use params::Params;
use sender::SwiftSender;

/// The protocol `swift`.
pub struct Swift;

static CARD: Card = Card {
    name: "swift",
    title: "Swift",
    summary: "grows its window below a target of the round-trip time and reduces it by the excess above, down to a hundredth of a packet",
    source: "Kumar et al., \"Swift: Delay is Simple and Effective for Congestion Control in the Datacenter\", SIGCOMM 2020",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Swift {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(SwiftSender::new(Params::read(settings)?)))
    }

    fn path_warnings(&self, settings: &Settings, base_rtt: Span) -> Vec<String> {
        let Ok(params) = Params::read(settings) else { return Vec::new() };
        let target = params.target.base;
        if base_rtt < target {
            return Vec::new();
        }
        vec![format!(
            "the base round-trip time is {:.3} ms and the target delay {:.3} ms plus {:.3} ms per link: where the sum is not above the \
             base round-trip time, the window falls to its minimum; set base_target for this path",
            base_rtt.secs() * 1e3,
            target.secs() * 1e3,
            params.target.per_hop.secs() * 1e3,
        )]
    }
}
