//! Read access to a law at a link.

use millpond_law::{Gauge, HeaderId, Link as Law, MultiQueue};

/// A law at a link.
#[derive(Clone, Copy)]
pub struct LawView<'a> {
    /// The protocol whose headers it reads; none for a queue law.
    pub header: HeaderId,
    pub(super) law: QueueCount<'a>,
}

/// A law by the number of its queues.
#[derive(Clone, Copy)]
pub(super) enum QueueCount<'a> {
    /// A law for one queue.
    Single(&'a dyn Law),
    /// A law with several internal queues.
    Multi(&'a dyn MultiQueue),
}

impl LawView<'_> {
    /// Reports the internal quantities of the law.
    pub fn observe(&self, gauge: &mut dyn Gauge) {
        match self.law {
            QueueCount::Single(law) => law.observe(gauge),
            QueueCount::Multi(law) => law.observe(gauge),
        }
    }
}
