//! The `millpond` command with the protocols that Millpond ships.

use millpond_protocols::Registry;

fn main() -> std::process::ExitCode {
    millpond_cli::main(&Registry::builtin())
}
