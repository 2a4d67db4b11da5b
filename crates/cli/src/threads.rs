//! The number of threads of runs.

use crate::messages::note;
use std::thread::available_parallelism;

/// The variable of the environment that sets the number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts the threads of all runs: as many as `--jobs` says, else the environment, else one per processor core. More
/// than one per core make nothing faster, but each run needs memory, so that they are not started.
pub(crate) fn limit(jobs: Option<usize>) {
    let cores = available_parallelism().map_or(1, usize::from);
    let variable = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    let wanted = [("--jobs", jobs), (VARIABLE, variable.filter(|&threads| threads > 0))];
    let wanted = wanted.into_iter().find_map(|(name, number)| Some((name, number?)));
    let threads = wanted.map_or(cores, |(_, threads)| threads.min(cores));
    if let Some((name, number)) = wanted.filter(|&(_, number)| number > cores) {
        note(format_args!("{name}={number}: {threads} threads run, one per processor core"));
    }
    // An error means that a program that contains this command has started the threads itself.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
}
