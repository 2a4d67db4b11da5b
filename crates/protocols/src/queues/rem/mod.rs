//! REM: marks with a probability that grows exponentially with a price, so that prices add up along a path.

mod fluid;
mod link;
mod params;

pub use params::Params;

use link::RemLink;
use millpond_law::fluid::{FluidQueue, Verdicts, link_law};
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `rem`.
pub struct Rem;

static CARD: QueueCard = QueueCard {
    name: "rem",
    title: "Random Exponential Marking",
    source: "S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, REM: Active Queue Management, IEEE Network 15(3), 2001; \
             F. Paganini, Z. Wang, J. C. Doyle, S. H. Low, IEEE/ACM Transactions on Networking 13(1), 2005",
    parameters: params::PARAMETERS,
    presets: &[],
};

impl Queue for Rem {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, _facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(RemLink::new(Params::read(settings))))
    }

    fn fluid(&self, settings: &Settings, facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        let law = link_law(fluid::RemFluid::new(Params::read(settings)));
        Ok(FluidQueue::Law { law, verdicts: Verdicts::marks_if(facts.carries_ecn) })
    }
}
