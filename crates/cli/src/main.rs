//! The `millpond` command with the built-in protocols.

use millpond_protocols::Registry;

fn main() -> std::process::ExitCode {
    millpond_cli::main(&Registry::builtin())
}
