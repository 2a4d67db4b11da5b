//! The `millpond` command with an additional protocol:
//! `cargo run --release -p own-protocol -- compare scenarios/dumbbell.toml --protocols tortoise,newreno`.

mod tortoise;

use millpond_protocols::Registry;

fn main() -> std::process::ExitCode {
    millpond_cli::main(&Registry::builtin().with(&tortoise::Tortoise))
}
