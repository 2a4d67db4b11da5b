//! The progress of a computation over many points by several threads.

use millpond_results::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the points that are computed and shows their share.
pub(crate) struct ProgressCounter<'a> {
    watch: &'a dyn Watch,
    computed: AtomicUsize,
    points: usize,
}

impl<'a> ProgressCounter<'a> {
    /// A counter of this number of points, of which none is computed.
    pub(crate) fn new(watch: &'a dyn Watch, points: usize) -> Self {
        Self { watch, computed: AtomicUsize::new(0), points }
    }

    /// Counts a computed point.
    #[allow(clippy::cast_precision_loss, reason = "counts of points are small")]
    pub(crate) fn count(&self) {
        let computed = self.computed.fetch_add(1, Ordering::Relaxed) + 1;
        self.watch.progress(0, computed as f64 / self.points as f64);
    }
}
