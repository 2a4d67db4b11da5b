//! `millpond completions` and `millpond man`: files for shells and for `man`.

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
    let command = match &args.command {
        None => all,
        Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| unknown(&all, name))?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::input)?;
    print(String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(all: &clap::Command, name: &str) -> Failure {
    let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
    let near = millpond_units::nearest(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    Failure::input(format!("no command \"{name}\"; {near}there are: {}", names.join(", ")))
}
