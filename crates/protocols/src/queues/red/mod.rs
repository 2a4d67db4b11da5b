//! RED: marks at random, with a probability that grows with the average queue.

mod fluid;
mod link;
mod params;

pub use params::Params;

use link::RedLink;
use millpond_law::fluid::{FluidQueue, Verdicts, link_law};
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings, Value};

/// The queue `red`.
pub struct Red;

static CARD: QueueCard = QueueCard {
    name: "red",
    title: "Random Early Detection",
    source: "S. Floyd and V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, \
             IEEE/ACM Transactions on Networking 1(4), 1993",
    parameters: params::PARAMETERS,
    presets: &[("dctcp-step", DCTCP_STEP), ("lgcc", LGCC)],
};

/// RFC 8257, section 3.1: every packet that arrives at a queue above K (here `max_th`) is marked.
const DCTCP_STEP: &[(&str, Value)] = &[
    ("shape", Value::text("step")),
    ("weight", Value::Number(1.0)),
    ("mark_at", Value::text("arrival")),
    ("spacing", Value::text("geometric")),
    ("max_th", Value::text("97.5KB")),
];

/// Eq. (17), LGCC: p = b / max_th of the present queue, with min_th = 1 (byte), w_q = 1, max_p = 1.
const LGCC: &[(&str, Value)] = &[
    ("shape", Value::text("proportional")),
    ("weight", Value::Number(1.0)),
    ("max_p", Value::Number(1.0)),
    ("mark_at", Value::text("departure")),
    ("spacing", Value::text("geometric")),
    ("min_th", Value::text("1B")),
    ("max_th", Value::text("75KB")),
];

impl Queue for Red {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        Ok(QueueLaw::single(RedLink::new(Params::read(settings)?, facts)))
    }

    fn fluid(&self, settings: &Settings, facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        let params = Params::read(settings)?;
        let verdicts = Verdicts::marks_if(params.ecn && facts.carries_ecn);
        Ok(FluidQueue::Law { law: link_law(fluid::RedFluid::new(params, facts)), verdicts })
    }
}
