//! FQ-CoDel: a queue for each hash value of flows, deficit round robin with sparse flows first, CoDel in each queue.

use super::codel::{self, CoDelLink};
use super::flow_queues::{QUANTUM, QUEUES, hashed};
use millpond_law::key::Keys;
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `fq-codel`.
pub struct FqCoDel;

static PARAMETERS: Keys = &[&QUEUES, &QUANTUM, &codel::TARGET, &codel::INTERVAL, &codel::ECN];

static CARD: QueueCard = QueueCard {
    name: "fq-codel",
    title: "Flow Queue CoDel",
    source: "RFC 8290",
    parameters: PARAMETERS,
    presets: &[],
};

impl Queue for FqCoDel {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        hashed(settings, Box::new(CoDelLink::new(codel::Params::read(settings), facts)))
    }
}
