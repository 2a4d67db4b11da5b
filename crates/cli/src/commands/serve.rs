//! `millpond serve`: the playground.

use crate::args;
use crate::command_line::VERSION;
use crate::failure::{Failure, Outcome};
use crate::output::print_line;
use millpond_playground::ServeOptions;
use millpond_protocols::Registry;
use std::process::ExitCode;

pub(crate) fn serve(args: &args::Serve, registry: &Registry) -> Outcome {
    let options = ServeOptions { folder: args.folder.clone(), port: args.port, version: VERSION };
    // Without a reader of the address nobody can open the page, but the server needs no reader later.
    let announce = |address: &str| drop(print_line(address));
    millpond_playground::serve(&options, registry, announce).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}
