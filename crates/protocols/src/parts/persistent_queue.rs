//! The persistent queue: transient queues within a round trip are no sign of overload. XCP and ACP use the minimum queue
//! over the intervals of a separate timer.

use millpond_units::{Bytes, Time};

/// The minimum queue of the last interval, and of the current one so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PersistentQueue {
    persistent: Bytes,
    least: Bytes,
    interval_end: Time,
}

impl PersistentQueue {
    /// The minimum queue of the last interval.
    pub(crate) fn bytes(&self) -> Bytes {
        self.persistent
    }

    /// End of the current interval.
    pub(crate) fn interval_end(&self) -> Time {
        self.interval_end
    }

    /// Records the current queue.
    #[inline]
    pub(crate) fn see(&mut self, queue: Bytes) {
        self.least = self.least.min(queue);
    }

    /// Ends an interval with this queue; the next one lasts until `next`.
    pub(crate) fn end_interval(&mut self, queue: Bytes, next: Time) {
        *self = Self { persistent: self.least, least: queue, interval_end: next };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_minimum_of_a_whole_interval_and_available_at_its_end() {
        let (kilobytes, mut queue) = (|n: u64| Bytes::new(1000 * n), PersistentQueue::default());
        queue.end_interval(kilobytes(9), Time::from_secs(1.0));
        [5, 3, 7].into_iter().for_each(|n| queue.see(kilobytes(n)));
        assert_eq!((queue.bytes(), queue.interval_end()), (Bytes::ZERO, Time::from_secs(1.0)));
        queue.end_interval(kilobytes(7), Time::from_secs(2.0));
        assert_eq!(queue.bytes(), kilobytes(3));
        queue.end_interval(kilobytes(8), Time::from_secs(3.0));
        assert_eq!(queue.bytes(), kilobytes(7), "the queue at the start of an interval counts in it");
    }
}
