//! `millpond trace`: generates link traces and prints statistics of a trace.

use crate::args::{self, TraceCommand, TraceFormat};
use crate::failure::{Failure, Outcome};
use crate::output::{finish, new_file, print, print_line};
use millpond_report::terminal;
use millpond_scenario::Faults;
use millpond_scenario::trace::{PRESETS, Trace, TraceRecipe, preset};
use std::process::ExitCode;

pub(crate) fn trace(args: &args::Trace) -> Outcome {
    match &args.command {
        TraceCommand::Generate(args) => generate(args),
        TraceCommand::Stats(args) => stats(args),
    }
}

fn generate(args: &args::Generate) -> Outcome {
    let chosen = preset(&args.preset).ok_or_else(|| unknown_preset(&args.preset))?;
    let recipe = TraceRecipe {
        mean: args.mean,
        peak: args.peak,
        step: args.step,
        ..TraceRecipe::new(chosen, args.duration, args.seed)
    };
    let trace = recipe.generate().map_err(Failure::input)?;
    let text = match args.format {
        TraceFormat::Csv => trace.to_csv(),
        TraceFormat::Mahimahi => trace.to_mahimahi(chosen.busy, args.seed).map_err(Failure::input)?,
    };
    match &args.out {
        None => print(text)?,
        Some(path) => {
            finish(new_file(path, args.existing)?, text.as_bytes())?;
            print_line(format_args!("{}: {}", path.display(), terminal::trace_rates(&trace)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_preset(name: &str) -> Failure {
    let near = millpond_units::nearest(name, PRESETS.iter().map(|preset| preset.name));
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    let list: Vec<String> =
        PRESETS.iter().map(|preset| format!("  {:<20}  {}", preset.name, preset.title)).collect();
    Failure::input(format!("no preset \"{name}\"; {near}there are:\n{}", list.join("\n")))
}

fn stats(args: &args::Stats) -> Outcome {
    let trace = Trace::load(&args.file, None).map_err(Faults::from)?;
    print(terminal::trace(&trace.stats()))?;
    Ok(ExitCode::SUCCESS)
}
