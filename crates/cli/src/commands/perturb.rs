//! `millpond compare --perturb`: what each disturbance of a scenario changes, for each protocol.

use super::comparison_report::{finish_report, new_report};
use crate::args;
use crate::command_line::origin;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::messages::note;
use crate::output::{finish, new_file, print_results, refuse_equal_files};
use crate::progress::Progress;
use crate::values::FigureFormat;
use millpond_analysis_report::{disturbance_page, disturbance_table, tornado_figure};
use millpond_lab::{Disturbance, DisturbancePlan, disturbances};
use millpond_protocols::Registry;
use millpond_report::{PAPER_RULES, PaperWidth};
use millpond_scenario::{Faults, Scenario, join_settings};
use std::process::ExitCode;

pub(super) fn perturb(mut scenario: Scenario, args: &args::Compare, registry: &Registry) -> Outcome {
    let chosen = disturbances(&mut scenario, &args.perturb).map_err(Faults::from)?;
    let plan =
        DisturbancePlan::new(scenario, &join_settings(&args.protocols), &chosen, args.seeds, registry)?;
    let interrupt = Interrupt::install()?;
    // Outputs that cannot be written are refused before the runs.
    refuse_equal_files(
        args.report.as_deref().into_iter().chain(args.tornado.iter().map(|file| &*file.path)),
    )?;
    let page = new_report(args)?;
    let figure = match &args.tornado {
        Some(file) => Some((new_file(&file.path, args.existing)?, file.format)),
        None => None,
    };
    let progress = Progress::of_each(&plan.labels(), interrupt);
    let results = plan.run(registry, &origin(), &progress);
    progress.clear();
    let results = results?;
    print_results(&args.form, || serde_json::to_string_pretty(&results), || disturbance_table(&results))?;
    let meaning = |one: &&'static Disturbance| [one.name, one.changes, one.origin];
    let meanings: Vec<[&str; 3]> = chosen.iter().map(meaning).collect();
    finish_report(args, page, &disturbance_page(&results, &meanings))?;
    if let Some((file, format)) = figure {
        match tornado_figure(&results) {
            Some(figure) => match format {
                FigureFormat::Svg => {
                    finish(file, figure.to_svg(PaperWidth::TwoColumns, PAPER_RULES).as_bytes())?
                }
                FigureFormat::Pdf => finish(file, &figure.to_pdf(PaperWidth::TwoColumns, PAPER_RULES))?,
            },
            None => note("no disturbance applies: there is no tornado chart"),
        }
    }
    Ok(ExitCode::SUCCESS)
}
