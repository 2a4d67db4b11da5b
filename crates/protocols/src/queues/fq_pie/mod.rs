//! FQ-PIE: the queues and the scheduler of FQ-CoDel, with PIE in each queue.

use super::flow_queues::{QUANTUM, QUEUES, hashed};
use super::pie::{self, PieLink};
use millpond_law::key::Keys;
use millpond_law::{LinkFacts, Queue, QueueCard, QueueLaw, SettingError, Settings};

/// The queue `fq-pie`.
pub struct FqPie;

static PARAMETERS: Keys = &[
    &QUEUES,
    &QUANTUM,
    &pie::TARGET,
    &pie::UPDATE,
    &pie::ALPHA,
    &pie::BETA,
    &pie::MAX_BURST,
    &pie::ECN,
    &pie::ECN_LIMIT,
    &pie::DERANDOMIZED,
];

static CARD: QueueCard = QueueCard {
    name: "fq-pie",
    title: "Flow Queue PIE",
    source: "Ramakrishnan et al., FQ-PIE Queue Discipline in the Linux Kernel (LCN 2019)",
    parameters: PARAMETERS,
    presets: &[],
};

impl Queue for FqPie {
    fn card(&self) -> &'static QueueCard {
        &CARD
    }

    fn law(&self, settings: &Settings, facts: &LinkFacts) -> Result<QueueLaw, SettingError> {
        hashed(settings, Box::new(PieLink::new(pie::Params::read(settings), facts)))
    }
}
