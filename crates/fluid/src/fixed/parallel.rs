//! What executes the independent parts of a step.

/// Executes independent tasks. The results of an integration do not depend on it.
pub trait Executor {
    /// Calls `work` once for each item, in any order and on any threads.
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send);
}

/// Executes tasks in order on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Executor for OneThread {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.iter_mut().for_each(work);
    }
}
