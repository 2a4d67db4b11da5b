//! The `millpond` command with the built-in protocols.

use millpond_protocols::Registry;
use mimalloc::MiMalloc;

/// Blocks of one size side by side, in large pages: fewer misses of caches and of address translations with many flows.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    millpond_cli::main(&Registry::builtin())
}
