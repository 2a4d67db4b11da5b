//! Elapsed time and processor time of a run, for `timing.json` only.

use cpu_time::ThreadTime;
use millpond_results::Timing;
use std::time::Instant;

/// Measures from its creation on.
pub(crate) struct Stopwatch {
    wall: Instant,
    processor: Option<ThreadTime>,
}

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "timing.json holds elapsed time")]
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), processor: ThreadTime::try_now().ok() }
    }

    /// The time since the stopwatch was started, for a run of `packet_hops`.
    pub(crate) fn read(&self, packet_hops: u64) -> Timing {
        let wall_s = self.wall.elapsed().as_secs_f64();
        let cpu_s = self.processor.and_then(|start| start.try_elapsed().ok()).map(|time| time.as_secs_f64());
        let spent = cpu_s.unwrap_or(wall_s);
        let packet_hops_per_s = if spent > 0.0 { packet_hops as f64 / spent } else { 0.0 };
        Timing { wall_s, cpu_s, packet_hops_per_s }
    }
}
