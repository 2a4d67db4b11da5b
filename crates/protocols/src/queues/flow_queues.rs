//! What FQ-CoDel and FQ-PIE share: hashing to queues, and the scheduler of RFC 8290.

use millpond_law::key::{Key, bytes, from, whole};
use millpond_law::{Classifier, FlowQueueing, FlowQueues, Link, Overflow, QueueLaw, SettingError, Settings};
use millpond_units::Bytes;

pub(super) const QUEUES: Key<u64> = whole("queues", "1", 1024, from(1.0).to(65_536.0))
    .source("flows in RFC 8290, section 5.2.5")
    .meaning("number of queues to which flows are hashed");
pub(super) const QUANTUM: Key<Bytes> = bytes("quantum", Bytes::new(1514))
    .source("RFC 8290, section 5.2.4")
    .meaning("bytes that a queue may send in each round");

/// Least quantum: that of the smallest Ethernet frame. A packet waits for its size over the quantum rounds, each of which takes
/// time to compute.
const LEAST_QUANTUM: Bytes = Bytes::new(64);

/// Queues by hash of the flow, with this law in each.
pub(super) fn hashed(settings: &Settings, law: Box<dyn Link>) -> Result<QueueLaw, SettingError> {
    let (queues, quantum) = (Classifier::Hash(settings.get(QUEUES) as u32), settings.get(QUANTUM));
    if quantum < LEAST_QUANTUM {
        return Err(QUANTUM.error(format!("expected at least {LEAST_QUANTUM}, found {quantum}")));
    }
    let scheduler = FlowQueueing::new(quantum);
    Ok(QueueLaw::multi(FlowQueues::new(queues, Overflow::OldestHalf, scheduler, Some(law))))
}
