//! `millpond stability --explain RUN`: why a run swings.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_line};
use millpond_protocols::Registry;
use millpond_report::{page, terminal};
use millpond_results::files::write_whole;
use millpond_theory::{Inexplicable, ReadError, Refusal};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn explain(run: &Path, args: &args::Stability, registry: &Registry) -> Outcome {
    let about = |reason: Inexplicable| match reason {
        Inexplicable::Refusal(Refusal::Scenario(faults)) => Failure::Scenario(faults),
        Inexplicable::NoRun(_) => Failure::input(reason),
        reason => Failure::input(format!("{}: {reason}", run.display())),
    };
    let (read, scenario) = millpond_theory::read_run(run).map_err(|error| match error {
        ReadError::Run(reason) => about(reason),
        ReadError::Scenario(faults) => Failure::Scenario(faults),
    })?;
    let explained = millpond_theory::explain(&read, &scenario, registry).map_err(about)?;
    let sentence = millpond_theory::explain::verdict_sentence(&explained);
    if args.json {
        print(format_args!("{:#}\n", millpond_theory::explanation_json(&sentence, &explained)))?;
    } else {
        print_line(&sentence)?;
        print(terminal::explanation(&explained))?;
    }
    if let Some(path) = &args.report {
        let page = page::explanation(&scenario.title, &sentence, &explained);
        write_whole(path, page.as_bytes()).map_err(Failure::input)?;
    }
    Ok(ExitCode::SUCCESS)
}
