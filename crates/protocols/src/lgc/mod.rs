//! LGC, Logistic Growth Control (Teymoori, Hayes, Welzl, Gjessing: "Even Lower Latency, Even Better Fairness: Logistic
//! Growth Congestion Control in Datacenters", IEEE LCN 2016), end to end. See README.md in this folder.

mod fluid;
mod params;
mod sender;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Knowledge, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};

/// The protocol `lgc`.
pub struct Lgc;

static CARD: Card = Card {
    name: "lgc",
    title: "Logistic Growth Control",
    summary: "grows logistically towards the link capacity signalled at the start, reduced according to ECN marks",
    source: "Teymoori, Hayes, Welzl, Gjessing, IEEE LCN 2016, pp. 10-18; Eq. (4) to (8) of the LGCC paper",
    needs: Needs { ecn: Some(false), capacity: Knowledge::AtStart, samples: true, ..Needs::NONE },
    queue: QueueChoice { name: "red", settings: &[("preset", "lgcc"), ("min_th", "3KB")] },
    parameters: params::PARAMETERS,
};

impl Protocol for Lgc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn reads_weight(&self) -> bool {
        true
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(sender::LgcSender::new(settings)))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::LgcFluid::read(settings))))
    }
}
