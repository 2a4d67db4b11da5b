//! The `millpond` command for any registry of protocols. A program with one more protocol is three lines.

mod args;
mod command_line;
mod commands;
mod event_files;
mod examples;
mod failure;
mod interrupt;
mod messages;
mod output;
mod progress;
mod scenario;
mod threads;
mod values;

use args::{Args, Command};
use clap::Parser;
use failure::Outcome;
use millpond_protocols::Registry;
use std::process::ExitCode;

/// Runs the command with the protocols and queues of this registry. The exit code is 0 on success, 1 if a check failed, 2
/// if the input was invalid, 130 if interrupted.
pub fn main(registry: &Registry) -> ExitCode {
    if let Some(code) = millpond_live::run_inside() {
        return code;
    }
    if let Some(code) = millpond_playground::run_job(registry) {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return messages::usage(&error),
    };
    messages::configure(&args.common);
    // The emulator of a link needs a process with one thread, so that signals reach it.
    if !matches!(args.command, Command::Link(_)) {
        threads::limit(args.common.jobs);
    }
    match dispatch(&args.command, registry) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: &Command, registry: &Registry) -> Outcome {
    match command {
        Command::Run(args) => commands::run(args, registry),
        Command::New(args) => commands::new(args),
        Command::Check(args) => commands::check(args, registry),
        Command::Schema(args) => commands::schema(args),
        Command::Compare(args) => commands::compare(args, registry),
        Command::Sweep(args) => commands::sweep(args, registry),
        Command::Coexistence(args) => commands::coexistence(args, registry),
        Command::Frontier(args) => commands::frontier(args, registry),
        Command::Evaluate(args) => commands::evaluate(args, registry),
        Command::Equilibrium(args) => commands::equilibrium(args, registry),
        Command::Stability(args) => commands::stability(args, registry),
        Command::Protocols(args) => commands::protocols(args, registry),
        Command::Report(args) => commands::report(args),
        Command::Figure(args) => commands::figure(args),
        Command::Serve(args) => commands::serve(args, registry),
        Command::Link(args) => commands::link(args, registry),
        Command::Node(args) => commands::node(args),
        Command::Papers(args) => commands::papers(args, registry),
        Command::Trace(args) => commands::trace(args),
        Command::Completions(args) => commands::completions(args),
        Command::Man(args) => commands::man(args),
    }
}
