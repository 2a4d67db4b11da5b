//! PIE: drops or marks with a probability that a proportional-integral controller derives from the queueing delay.

mod fluid;
mod link;
mod params;

pub(super) use link::PieLink;
pub use params::Params;
pub(super) use params::{ALPHA, BETA, DERANDOMIZED, ECN, ECN_LIMIT, MAX_BURST, TARGET, UPDATE};

use millpond_law::fluid::{FluidQueue, Verdicts, link_law};
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `pie`.
pub struct Pie;

static CARD: QueueCard = QueueCard {
    name: "pie",
    title: "Proportional Integral Controller Enhanced",
    source: "RFC 8033",
    parameters: params::PARAMETERS,
    presets: &[],
};

impl Queue for Pie {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(PieLink::new(Params::read(settings), facts)))
    }

    fn fluid(&self, settings: &Settings, facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        let params = Params::read(settings);
        let verdicts = Verdicts::marks_if(params.ecn && facts.carries_ecn);
        let law = link_law(fluid::PieFluid::new(params, facts, verdicts));
        Ok(FluidQueue::Law { law, verdicts })
    }
}
