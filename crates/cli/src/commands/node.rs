//! `millpond node`: starts the program of the nodes, which a workspace of its own builds, because it contains QUIC and TLS.

use crate::args::Node;
use crate::failure::{Failure, Outcome};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The name of the program.
const PROGRAM: &str = "millpond-node";

/// Replaces this process by the program of the nodes, which stands beside this one.
pub(crate) fn node(args: &Node) -> Outcome {
    let program = beside().filter(|path| path.is_file()).ok_or_else(|| {
        Failure::input(format!(
            "{PROGRAM} is not beside this program: `make node` in the folder of Millpond builds it into \
             crates/node/target/release, and `cp` puts it here"
        ))
    })?;
    execute(Command::new(&program).args(&args.arguments))
        .map_err(|error| Failure::input(format!("cannot start {}: {error}", program.display())))
}

/// Where the program is expected.
fn beside() -> Option<PathBuf> {
    std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM))
}

/// Signals reach the program itself, because it takes the place of this process.
#[cfg(unix)]
fn execute(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn execute(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
