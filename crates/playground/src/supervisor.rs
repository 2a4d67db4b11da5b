//! Processes of jobs: started, read, limited in time, and ended when nobody waits for the answer.

use crate::faults::PlacedFault;
use crate::job::{ARGUMENT, Job};
use crate::limits;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// The program whose processes are jobs.
#[derive(Clone, Debug)]
pub(crate) struct JobProgram {
    file: PathBuf,
    arguments: Vec<String>,
}

/// Why a job has no complete answer.
#[derive(Debug)]
pub(crate) enum JobError {
    /// A limit, or a fault of the program.
    Fault(PlacedFault),
    /// Nobody waits for the answer.
    Closed,
}

impl JobProgram {
    /// This program.
    ///
    /// # Errors
    /// The system does not tell its file.
    pub(crate) fn this() -> io::Result<Self> {
        Ok(Self { file: std::env::current_exe()?, arguments: vec![ARGUMENT.to_owned()] })
    }

    /// Does a job within a time, unless `closed` comes first; `receive` gets each line of the answer with its line break, and
    /// returns whether more are wanted. The process has ended when the future is ready; it also ends when the future is dropped.
    ///
    /// # Errors
    /// The job takes too long, needs too much memory, or fails; or no more lines are wanted.
    pub(crate) async fn run(
        &self,
        job: &Job,
        limit: Duration,
        closed: impl Future<Output = ()>,
        receive: impl FnMut(Vec<u8>) -> bool,
    ) -> Result<(), JobError> {
        let mut child = self.start(job).map_err(failed)?;
        let answered = tokio::select! {
            answered = answer(&mut child, job, receive) => answered,
            () = tokio::time::sleep(limit) => Err(JobError::Fault(too_long(limit))),
            () = closed => Err(JobError::Closed),
        };
        if answered.is_err() {
            // A process that has ended already is no error.
            let _ = child.kill().await;
            return answered;
        }
        finished(&mut child).await
    }

    /// Starts a process with one thread.
    fn start(&self, job: &Job) -> io::Result<Child> {
        Command::new(&self.file)
            .args(&self.arguments)
            .current_dir(&job.folder)
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

fn failed(error: impl std::fmt::Display) -> JobError {
    JobError::Fault(PlacedFault::plain(format!("a process of the playground failed: {error}")))
}

/// Writes the request and receives all lines of the answer.
async fn answer(
    child: &mut Child,
    job: &Job,
    mut receive: impl FnMut(Vec<u8>) -> bool,
) -> Result<(), JobError> {
    write(child, job).await.map_err(failed)?;
    let mut lines = child.stdout.take().map(BufReader::new).ok_or_else(|| failed("no output"))?;
    loop {
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line).await.map_err(failed)? == 0 {
            return Ok(());
        }
        if !receive(line) {
            return Err(JobError::Closed);
        }
    }
}

/// Writes the request and closes the input.
async fn write(child: &mut Child, job: &Job) -> io::Result<()> {
    let mut input = child.stdin.take().ok_or_else(|| io::Error::other("no input"))?;
    input.write_all(&serde_json::to_vec(job)?).await?;
    input.shutdown().await
}

/// Waits for the end of a process that has closed its output.
async fn finished(child: &mut Child) -> Result<(), JobError> {
    /// The most bytes of its errors that are read.
    const MOST: u64 = 64 << 10;
    let mut errors = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        stderr.take(MOST).read_to_end(&mut errors).await.map_err(failed)?;
    }
    let status = child.wait().await.map_err(failed)?;
    if status.success() { Ok(()) } else { Err(JobError::Fault(ended_early(status, &errors))) }
}

fn too_long(limit: Duration) -> PlacedFault {
    PlacedFault::plain(format!("it takes longer than {} s, the limit of the playground", limit.as_secs()))
        .help("shorten duration, use fewer flows or lower rates, or run it with: millpond run")
}

/// The fault of a process that ended without an answer.
fn ended_early(status: ExitStatus, errors: &[u8]) -> PlacedFault {
    let errors = String::from_utf8_lossy(errors);
    if errors.contains("memory allocation of") || errors.contains("out of memory") {
        let most = limits::MOST_MEMORY >> 30;
        return PlacedFault::plain(format!(
            "it needs more than {most} GiB of memory, the limit of the playground"
        ))
        .help(
            "use fewer flows or links, raise measure.every, shorten duration, or run it with: millpond run",
        );
    }
    let last = errors.lines().last().unwrap_or_default();
    PlacedFault::plain(format!("a process of the playground ended early ({status}) {last}"))
        .help("please report the scenario: this is a fault of Millpond")
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::job::Task;
    use crate::requests::Edited;

    /// The answer of a job whose program is this shell script.
    fn answer(script: &str, wanted: usize) -> (Vec<String>, Result<(), JobError>) {
        let program = JobProgram { file: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] };
        let job = Job { task: Task::Check, edited: Edited::default(), folder: "/".into(), width: 0 };
        let mut lines = Vec::new();
        let mut receive = |line: Vec<u8>| {
            lines.push(String::from_utf8(line).unwrap());
            lines.len() < wanted
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limit = Duration::from_millis(300);
        let ended = runtime.block_on(program.run(&job, limit, std::future::pending(), &mut receive));
        (lines, ended)
    }

    fn message(ended: Result<(), JobError>) -> String {
        match ended {
            Err(JobError::Fault(fault)) => format!("{}; {}", fault.message, fault.help.unwrap_or_default()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_is_all_lines_of_the_process() {
        let (lines, ended) = answer("cat > /dev/null; echo one; echo two", 9);
        assert_eq!(lines, ["one\n", "two\n"]);
        assert!(ended.is_ok());
    }

    #[test]
    fn a_process_that_takes_too_long_is_a_fault_that_names_the_limit() {
        let (_, ended) = answer("cat > /dev/null; exec sleep 60", 9);
        assert!(message(ended).starts_with("it takes longer than 0 s, the limit of the playground; shorten"));
    }

    #[test]
    fn a_process_that_ends_early_is_a_fault_that_names_the_reason() {
        let memory = "cat > /dev/null; echo 'memory allocation of 8 bytes failed' >&2; kill -ABRT $$";
        assert!(message(answer(memory, 9).1).starts_with("it needs more than 1 GiB of memory, the limit"));
        let other = message(answer("cat > /dev/null; echo broken >&2; exit 3", 9).1);
        assert!(other.contains("broken") && other.contains("fault of Millpond"), "{other}");
    }

    #[test]
    fn a_process_whose_answer_nobody_wants_ends() {
        let (lines, ended) = answer("cat > /dev/null; while true; do echo line; done", 2);
        assert_eq!(lines.len(), 2);
        assert!(matches!(ended, Err(JobError::Closed)));
    }
}
