//! The queue of jobs: as many at once as there are processors, and a bounded number that wait.

use crate::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Jobs that run and jobs that wait.
#[derive(Clone)]
pub(crate) struct JobQueue {
    running: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// A place in the queue, until it is dropped.
pub(crate) struct Place {
    queue: JobQueue,
}

impl JobQueue {
    /// A queue of which this many jobs run at once.
    pub(crate) fn new(processors: usize) -> Self {
        Self { running: Arc::new(Semaphore::new(processors)), waiting: Arc::default() }
    }

    /// Places for some jobs; none if too many wait.
    pub(crate) fn enter(&self, jobs: usize) -> Option<Vec<Place>> {
        let free = |waiting: usize| (waiting + jobs <= limits::MOST_WAITING).then_some(waiting + jobs);
        self.waiting.fetch_update(Ordering::SeqCst, Ordering::SeqCst, free).ok()?;
        Some((0..jobs).map(|_| Place { queue: self.clone() }).collect())
    }
}

impl Place {
    /// Waits for a processor, which is free again when the result is dropped; none if the queue has ended.
    pub(crate) async fn wait(self) -> Option<OwnedSemaphorePermit> {
        self.queue.running.clone().acquire_owned().await.ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_free_again_when_they_are_dropped() {
        let queue = JobQueue::new(1);
        let places = queue.enter(limits::MOST_WAITING).unwrap();
        assert!(queue.enter(1).is_none());
        drop(places);
        assert!(queue.enter(limits::MOST_WAITING).is_some());
    }
}
