//! HPCC, High Precision Congestion Control: windows from in-band telemetry of every link (Y. Li et al., SIGCOMM 2019).

mod header;
mod link;
mod params;
mod sender;

pub use header::{LinkReport, Telemetry};

use millpond_law::{
    Card, HeaderSize, Link, LinkFacts, Needs, Protocol, QueueChoice, Sender, SettingError, Settings,
};
use params::Params;
use sender::HpccSender;

/// The protocol `hpcc`.
pub struct Hpcc;

static CARD: Card = Card {
    name: "hpcc",
    title: "High Precision Congestion Control",
    summary: "each link appends its time, its busy time and its queue to the packet; the window follows the utilization of the busiest link",
    source: "Li et al., \"HPCC: High Precision Congestion Control\", SIGCOMM 2019",
    needs: Needs {
        header: header::ID,
        header_size: HeaderSize { fixed: 2, per_link: 8, most_links: header::MOST_LINKS as u16 },
        interface: true,
        ..Needs::NONE
    },
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: params::PARAMETERS,
};

impl Protocol for Hpcc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(HpccSender::new(Params::read(settings))))
    }

    fn link(&self, _settings: &Settings, _facts: &LinkFacts) -> Result<Option<Box<dyn Link>>, SettingError> {
        Ok(Some(Box::new(link::HpccRouter::default())))
    }
}
