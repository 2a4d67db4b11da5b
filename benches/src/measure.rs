//! Resources that a process has used, from the kernel.

use std::path::Path;
use std::{fs, process};

/// CPU seconds of the first thread of this process so far.
pub(crate) fn cpu_seconds() -> Option<f64> {
    cpu_seconds_of(Path::new("/proc/self/schedstat"))
}

/// CPU seconds of that thread which has used most, without the first one.
pub(crate) fn busiest_thread() -> Option<f64> {
    let first = process::id().to_string();
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten().filter(|task| *task.file_name() != *first);
    threads.filter_map(|task| cpu_seconds_of(&task.path().join("schedstat"))).reduce(f64::max)
}

/// The first number of a file `schedstat`, in seconds.
fn cpu_seconds_of(path: &Path) -> Option<f64> {
    let stat = fs::read_to_string(path).ok()?;
    let nanos: f64 = stat.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e9)
}

/// The peak memory of this process in megabytes.
pub(crate) fn peak_megabytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}
