//! The `millpond` command with an additional queue:
//! `cargo run --release -p own-queue -- run scenarios/reno-over-red.toml --set 'links.bottleneck.queue="ramp"'`.

mod ramp;

use millpond_protocols::Registry;

fn main() -> std::process::ExitCode {
    millpond_cli::main(&Registry::builtin().with_queue(&ramp::Ramp))
}
