//! `millpond completions` and `millpond man`: files for shells and for `man`.

use super::protocols::unknown;
use crate::args::{self, Args};
use crate::failure::{Failure, Outcome};
use crate::output::print;
use clap::CommandFactory;
use std::process::ExitCode;

pub(crate) fn completions(args: &args::Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "millpond", &mut script);
    print(String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &args::Man) -> Outcome {
    let mut all = Args::command();
    all.build();
    let below = |all: clap::Command, name: &String| match all.find_subcommand(name) {
        Some(command) => Ok(command.clone()),
        None if !all.has_subcommands() => {
            Err(Failure::input(format!("{} has no commands of its own", all.get_name())))
        }
        None => Err(unknown("command", name, all.get_subcommands().map(clap::Command::get_name))),
    };
    let command = args.command.iter().try_fold(all, below)?;
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::input)?;
    print(String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
