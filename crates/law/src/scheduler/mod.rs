//! Schedulers: which of several queues of a link is served next.

mod deficit_round_robin;
mod fair;
mod flow_queueing;
mod priority;

pub use deficit_round_robin::DeficitRoundRobin;
pub use fair::FairScheduler;
pub use flow_queueing::FlowQueueing;
pub use priority::StrictPriority;

use millpond_units::{Bytes, Span};

/// The internal queues of a link, numbered from zero, as their law and their scheduler read them. The packet in service is
/// in none of them.
pub trait Queues {
    /// Number of queues that have had a packet; those with greater numbers are empty.
    fn count(&self) -> u32;

    /// Packets that wait in a queue.
    fn packets(&self, queue: u32) -> u64;

    /// Bytes that wait in a queue.
    fn bytes(&self, queue: u32) -> Bytes;

    /// Size of the packet at the head of a queue; zero if the queue is empty.
    fn head_bytes(&self, queue: u32) -> Bytes;

    /// Time since the arrival of the packet at the head of a queue; zero if the queue is empty.
    fn head_sojourn(&self, queue: u32) -> Span;
}

/// Selects the queue to serve next. The element owns the queues and calls these functions; packets can also leave a queue
/// without service, by a drop, of which [`Self::next`] must learn from [`Queues`].
pub trait Scheduler: Send {
    /// Adds a queue with the weight of its flow; called in the order of the flows. Schedulers without weights ignore it.
    fn add_queue(&mut self, _weight: f64) {}

    /// A packet has joined a queue.
    fn arrived(&mut self, queue: u32);

    /// The queue whose head is served next; none if all are empty.
    fn next(&mut self, queues: &dyn Queues) -> Option<u32>;

    /// The link has served all packets: the end of a busy period.
    fn idle(&mut self) {}

    /// A packet of `bytes` has left the queue that [`Self::next`] returned, for service.
    fn served(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues);
}

/// Queues of packets for tests of schedulers.
#[cfg(test)]
mod testing {
    use super::{Queues, Scheduler};
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use millpond_units::{Bytes, Span};

    /// Packet sizes of each queue.
    #[derive(Default)]
    pub(super) struct Backlog(Vec<VecDeque<u64>>);

    impl Queues for Backlog {
        fn count(&self) -> u32 {
            self.0.len() as u32
        }

        fn packets(&self, queue: u32) -> u64 {
            self.0.get(queue as usize).map_or(0, |queue| queue.len() as u64)
        }

        fn bytes(&self, queue: u32) -> Bytes {
            Bytes::new(self.0.get(queue as usize).map_or(0, |queue| queue.iter().sum()))
        }

        fn head_bytes(&self, queue: u32) -> Bytes {
            Bytes::new(self.0.get(queue as usize).and_then(|queue| queue.front().copied()).unwrap_or(0))
        }

        fn head_sojourn(&self, _queue: u32) -> Span {
            Span::ZERO
        }
    }

    /// A scheduler with queues.
    pub(super) struct Bench<S> {
        pub(super) scheduler: S,
        pub(super) backlog: Backlog,
    }

    impl<S: Scheduler> Bench<S> {
        pub(super) fn new(mut scheduler: S, weights: &[f64]) -> Self {
            weights.iter().for_each(|weight| scheduler.add_queue(*weight));
            Self { scheduler, backlog: Backlog::default() }
        }

        pub(super) fn push(&mut self, queue: u32, bytes: u64) {
            let queues = &mut self.backlog.0;
            if queues.len() <= queue as usize {
                queues.resize_with(queue as usize + 1, VecDeque::new);
            }
            queues[queue as usize].push_back(bytes);
            self.scheduler.arrived(queue);
        }

        /// Drops all packets of a queue.
        pub(super) fn clear(&mut self, queue: u32) {
            self.backlog.0[queue as usize].clear();
        }

        /// Serves one packet; returns its queue.
        pub(super) fn serve(&mut self) -> Option<u32> {
            let queue = self.scheduler.next(&self.backlog)?;
            let bytes = self.backlog.0[queue as usize].pop_front().unwrap();
            self.scheduler.served(queue, Bytes::new(bytes), &self.backlog);
            Some(queue)
        }

        /// The queues of the next packets served, at most `count`.
        pub(super) fn order(&mut self, count: usize) -> Vec<u32> {
            (0..count).map_while(|_| self.serve()).collect()
        }
    }
}
