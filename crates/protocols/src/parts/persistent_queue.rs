//! The part of a queue that stays: what comes and goes within a round trip is no sign of too much traffic. XCP and ACP
//! take the least that was seen over intervals of a timer of its own.

use millpond_units::{Bytes, Time};

/// The least queue of the last interval, and of this one so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PersistentQueue {
    persistent: Bytes,
    least: Bytes,
    interval_end: Time,
}

impl PersistentQueue {
    /// The least queue of the last interval.
    pub(crate) fn bytes(&self) -> Bytes {
        self.persistent
    }

    /// When this interval ends.
    pub(crate) fn interval_end(&self) -> Time {
        self.interval_end
    }

    /// So much waits.
    #[inline]
    pub(crate) fn see(&mut self, queue: Bytes) {
        self.least = self.least.min(queue);
    }

    /// An interval ends while so much waits; the one that begins lasts until `next`.
    pub(crate) fn end_interval(&mut self, queue: Bytes, next: Time) {
        *self = Self { persistent: self.least, least: queue, interval_end: next };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_least_of_a_whole_interval_and_known_when_that_ends() {
        let (kilobytes, mut queue) = (|n: u64| Bytes::new(1000 * n), PersistentQueue::default());
        queue.end_interval(kilobytes(9), Time::from_secs(1.0));
        [5, 3, 7].into_iter().for_each(|n| queue.see(kilobytes(n)));
        assert_eq!((queue.bytes(), queue.interval_end()), (Bytes::ZERO, Time::from_secs(1.0)));
        queue.end_interval(kilobytes(7), Time::from_secs(2.0));
        assert_eq!(queue.bytes(), kilobytes(3));
        queue.end_interval(kilobytes(8), Time::from_secs(3.0));
        assert_eq!(queue.bytes(), kilobytes(7), "what waits when an interval begins counts in it");
    }
}
