//! `millpond frontier`: what a controller can reach on the trace of a link.

use super::figure::content;
use super::trace::presets_near;
use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::messages::note;
use crate::output::{finish, new_file, print_results, refuse_equal_files};
use crate::progress::Progress;
use millpond_frontier::{FrontierPlan, FrontierRequest, TracedLink};
use millpond_protocols::Registry;
use millpond_report::PaperWidth;
use millpond_scenario::Faults;
use millpond_scenario::trace::{Preset, Trace, TraceRecipe, preset};
use millpond_terminal as terminal;
use millpond_units::Span;
use std::process::ExitCode;

pub(crate) fn frontier(args: &args::Frontier, registry: &Registry) -> Outcome {
    let (link, file) = link(args)?;
    let targets = each_once(&args.target);
    let request = FrontierRequest {
        name: args.trace.display().to_string(),
        link,
        file,
        rtt: args.rtt,
        duration: args.duration,
        buffer: args.buffer.clone(),
        protocols: match args.protocols.is_empty() {
            true => registry.protocols().map(|protocol| protocol.card().name.to_owned()).collect(),
            false => args.protocols.clone(),
        },
        targets: targets.clone(),
    };
    let plan = FrontierPlan::new(request, registry)?;
    refuse_equal_files(args.report.as_deref().into_iter().chain(args.figure.iter().map(|file| &*file.path)))?;
    let page = args.report.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let figure = match &args.figure {
        Some(file) => Some((new_file(&file.path, args.existing)?, file.format)),
        None => None,
    };
    let progress = Progress::of_all(plan.run_count(), Interrupt::install()?);
    let found = plan.run(registry, &progress);
    progress.clear();
    let found = found?;
    if let Some(page) = page {
        finish(page, millpond_analysis_report::frontier(&found, &origin()).as_bytes())?;
    }
    if let Some((file, format)) = figure {
        let figure = millpond_analysis_report::frontier_figure(&found);
        finish(file, &content(&figure, format, PaperWidth::TwoColumns))?;
    }
    for warning in found.warnings() {
        note(format_args!("warning: {warning}"));
    }
    let json = || serde_json::to_string_pretty(&found);
    print_results(&args.form, json, || terminal::frontier(&found, &targets))?;
    Ok(ExitCode::SUCCESS)
}

/// The targets in the order in which they were written, each once.
fn each_once(targets: &[Span]) -> Vec<Span> {
    let is_first = |(index, target): &(usize, &Span)| !targets[..*index].contains(target);
    targets.iter().enumerate().filter(is_first).map(|(_, target)| *target).collect()
}

/// The link of a trace file, or of a preset if there is no such file, and the content of the trace as a file.
fn link(args: &args::Frontier) -> Result<(TracedLink, Vec<u8>), Failure> {
    let name = args.trace.display().to_string();
    if let Some(preset) = preset(&name).filter(|_| !args.trace.exists()) {
        return generated(preset, args);
    }
    if !args.trace.exists() {
        return Err(Failure::input(format!(
            "{name}: there is no such file, and no kind of link with this name; {}",
            presets_near(&name)
        )));
    }
    if args.trace.extension().is_some_and(|end| end == "toml") {
        return Err(Failure::input(format!(
            "{name}: this is a scenario: name the file of a trace, such as that of its `rate`, or a kind of link, such as \
             5g-static"
        )));
    }
    let trace = Trace::load(&args.trace, None).map_err(Faults::from)?;
    let bytes = std::fs::read(&args.trace).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    Ok((TracedLink::Recorded(trace), bytes))
}

fn generated(preset: &'static Preset, args: &args::Frontier) -> Result<(TracedLink, Vec<u8>), Failure> {
    let process = TraceRecipe::new(preset, args.duration, args.seed).process().map_err(Failure::input)?;
    let file = process.trace.to_csv().into_bytes();
    Ok((TracedLink::Generated(Box::new(process)), file))
}
