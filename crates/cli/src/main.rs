//! The `millpond` command.

mod args;
mod commands;
mod failure;
mod interrupt;
mod progress;
mod scenario;

use args::{Args, Command};
use clap::Parser;
use failure::Outcome;
use millpond_protocols::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    match dispatch(&args.command, &Registry::builtin()) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: &Command, registry: &Registry) -> Outcome {
    match command {
        Command::Run(args) => commands::run(args, registry),
        Command::Check(args) => commands::check(args, registry),
        Command::Compare(args) => commands::compare(args, registry),
        Command::Protocols(args) => commands::protocols(args, registry),
        Command::Report(args) => commands::report(args),
    }
}
