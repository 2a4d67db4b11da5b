//! The limits of the playground, and those that the system enforces on a job.

use std::time::Duration;

/// The largest body of a request, in bytes.
pub(crate) const LARGEST_BODY: usize = 256 << 10;
/// The largest file that a scenario may read, in bytes.
pub(crate) const LARGEST_FILE: u64 = 16 << 20;
/// The most overrides of a request.
pub(crate) const MOST_OVERRIDES: usize = 500;
/// The most packet-hops of a run in packets, by estimate.
pub(crate) const MOST_EVENTS: f64 = 2e8;
/// The most flows of a scenario.
pub(crate) const MOST_FLOWS: u64 = 10_000;
/// The most samples of all series of a run, by estimate; a sample has 16 bytes.
pub(crate) const MOST_SAMPLES: f64 = 2e7;
/// How long a run or an analysis may take.
pub(crate) const LONGEST_RUN: Duration = Duration::from_secs(20);
/// When a run ends itself and shows what it has simulated. The rest of [`LONGEST_RUN`] is for the step of the run during
/// which this time passes, and for the figures.
pub(crate) const LAST_STEP: Duration = Duration::from_secs(19);
/// How long a check or a change of a text may take.
pub(crate) const LONGEST_CHECK: Duration = Duration::from_secs(5);
/// The most memory of a job, in bytes.
pub(crate) const MOST_MEMORY: u64 = 1 << 30;
/// The most memory that a job may map, in bytes. The allocator of the command maps 1 GiB at its start, used or not; the rest
/// is for stacks.
const MOST_MAPPED: u64 = MOST_MEMORY + (256 << 20);
/// The most jobs that wait for a processor.
pub(crate) const MOST_WAITING: usize = 32;
/// The narrowest and the widest figure, in pixels.
pub(crate) const WIDTHS: (u32, u32) = (100, 4096);

/// Limits this process: memory, processor time, no written files, no core file; it ends with its parent. On other systems
/// than Linux only the time is limited, by the server.
pub(crate) fn limit_this_process() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = |resource, most| {
            // A limit that is lower already cannot be raised, and need not be.
            let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        };
        limit(Resource::Data, MOST_MAPPED);
        // Two runs of a job may use two processors.
        limit(Resource::Cpu, 2 * LONGEST_RUN.as_secs() + 5);
        limit(Resource::Fsize, 0);
        limit(Resource::Core, 0);
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
}
