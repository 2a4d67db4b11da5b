//! The process of a job: reads it from standard input and writes the answer.

use crate::job::{ARGUMENT, Job, Task, line};
use crate::{analysis, apply, check, limits, notebook, run};
use millpond_protocols::Registry;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Does the job of this process, if it was started as one. A program with a `millpond serve` command calls it before
/// anything else.
pub fn run_job(registry: &Registry) -> Option<ExitCode> {
    if std::env::args_os().nth(1)?.to_str()? != ARGUMENT {
        return None;
    }
    limits::limit_this_process();
    let mut input = Vec::new();
    if std::io::stdin().read_to_end(&mut input).is_err() {
        return Some(ExitCode::FAILURE);
    }
    let Ok(job) = serde_json::from_slice::<Job>(&input) else { return Some(ExitCode::FAILURE) };
    let answered = answer(&job, registry, limits::LAST_STEP, &mut std::io::stdout());
    Some(if answered.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the answer of a job. A run ends itself when it has taken `time`.
///
/// # Errors
/// Nobody reads it any more.
pub(crate) fn answer(
    job: &Job,
    registry: &Registry,
    time: Duration,
    output: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    match job.task {
        Task::Check => line(output, &check::check(job, registry)),
        Task::Apply => line(output, &apply::answer(&job.edited)),
        Task::Notebook => line(output, &notebook::answer(job, registry)),
        Task::Run(world) => run::run(job, world, registry, time, output),
        Task::Analysis => {
            let message = analysis::analyse(job, registry).unwrap_or_else(|faults| job.task.fault(faults));
            line(output, &message)
        }
    }
}
