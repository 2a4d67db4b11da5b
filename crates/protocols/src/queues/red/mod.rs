//! RED: marks at random, with a probability that grows with the average queue.

mod fluid;
mod link;
mod params;

pub use params::Params;

use link::RedLink;
use millpond_law::fluid::{FluidQueue, Verdicts, link_law};
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings, Value};
use millpond_units::{Bytes, Readable};

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

    fn warnings(&self, settings: &Settings, facts: &LinkFacts) -> Vec<String> {
        let Ok(params) = Params::read(settings) else { return Vec::new() };
        let (name, threshold) = params.least_queue();
        let is_too_small = facts.buffer.is_some_and(|buffer| buffer.as_f64() < threshold);
        // Without the size of the buffer, which often differs from link to link, so that the links are named together.
        let warning = || {
            let threshold = Bytes::from_f64(threshold).readable();
            format!(
                "acts on queues beyond {name} = {threshold}, and the buffer has less: it never marks or drops a packet"
            )
        };
        is_too_small.then(warning).into_iter().collect()
    }

    fn fluid(&self, settings: &Settings, facts: &LinkFacts) -> Result<FluidQueue, SettingError> {
        let params = Params::read(settings)?;
        let verdicts = Verdicts::marks_if(params.ecn && facts.carries_ecn);
        Ok(FluidQueue::Law { law: link_law(fluid::RedFluid::new(params, facts)), verdicts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::settings;
    use millpond_units::Rate;

    fn warnings(written: &[(&str, Value)], buffer: Option<u64>) -> Vec<String> {
        let settings = settings(&Red, written.iter().cloned()).unwrap();
        let facts = LinkFacts::fifo(Rate::from_mbps(20.0), buffer.map(Bytes::new), Bytes::new(1500));
        Red.warnings(&settings, &facts)
    }

    #[test]
    fn a_threshold_beyond_the_buffer_is_a_warning() {
        let step = [("preset", Value::text("dctcp-step"))];
        let warning = warnings(&step, Some(50_000));
        assert_eq!(
            warning,
            [
                "acts on queues beyond max_th = 97.5KB, and the buffer has less: it never marks or drops a packet"
            ]
        );
        assert!(warnings(&step, Some(97_500)).is_empty() && warnings(&step, None).is_empty());
        assert!(warnings(&[("preset", Value::text("lgcc"))], Some(50_000)).is_empty());
        assert_eq!(warnings(&[], Some(6000)).len(), 1, "min_th = 7.5 KB");
    }
}
