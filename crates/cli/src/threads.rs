//! Starts the threads of runs.

use crate::messages::note;
use millpond_lab::ThreadCount;

/// Starts the threads of all runs. If more were asked for than there are cores, a note states how many run.
pub(crate) fn limit(jobs: Option<usize>) {
    let ThreadCount { threads, refused } = ThreadCount::of(jobs.map(|number| ("--jobs", number)));
    if let Some((name, number)) = refused {
        note(format_args!("{name}={number}: {threads} threads run, one per processor core"));
    }
    // An error means that a program that contains this command has started the threads itself.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
}
