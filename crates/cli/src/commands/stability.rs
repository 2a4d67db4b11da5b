//! `millpond stability`: whether the equilibrium of a scenario is stable.

use super::axis::RangeOption;
use super::capacity::{capacity_lines, held};
use super::explain::explain;
use super::figure::content;
use super::transients::{Requests, Transients};
use super::with_run::ExplainedRun;
use crate::args;
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{finish, new_file, print_results};
use crate::progress::{Progress, watched};
use crate::scenario::load;
use crate::values::FigureFormat;
use millpond_analysis_report as analysis_report;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_report::PaperWidth;
use millpond_scenario::Scenario;
use millpond_terminal::{self as terminal, Document};
use millpond_theory::classification::analyze_steady_state;
use millpond_theory::stability::{
    CriticalValueSearch, ParameterAxis, Stability, StabilityMap, VariedParameter, compute_stability_map,
    find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::steady_state::{SteadyState, steady_state_json, steady_state_sentence};
use millpond_theory::{ConstantCapacities, NamedCapacity, StabilityOutputJson, Study, json_value};
use serde_json::to_string_pretty as pretty;
use std::path::Path;
use std::process::ExitCode;

/// Values of a range without `--points`.
const POINTS: usize = 40;

pub(crate) fn stability(args: &args::Stability, registry: &Registry) -> Outcome {
    match (&args.explain, &args.scenario) {
        (Some(run), _) => explain(run, args, registry),
        (None, Some(scenario)) => analyse(args, &load(scenario, registry)?, registry),
        (None, None) => Err(Failure::input(
            "name a scenario: millpond stability SCENARIO.toml, or --explain RUN for a finished run",
        )),
    }
}

fn analyse(args: &args::Stability, written: &Scenario, registry: &Registry) -> Outcome {
    args.figures.as_deref().map_or(Ok(()), |directory| check_empty(directory, args.existing))?;
    let ConstantCapacities { scenario, named } = &held(written, args.at)?;
    let study = Study::new(scenario, registry);
    let parameters = parameters(&args.critical, study)?;
    if args.points.is_some() && args.map.is_none() && args.transients.convergence.is_none() {
        return Err(Failure::input("--points sets how many values a range has: add --map or --convergence"));
    }
    let points = args.points.unwrap_or(POINTS);
    let option = RangeOption {
        option: "--map",
        usage: "write two ranges, such as rtt=10ms..2s,flows=1..100",
        points,
        study,
    };
    let axes = args.map.as_deref().map(|map| option.axes(map)).transpose()?;
    let plan = fluid::plan_steady_state(scenario, registry)?;
    let mut found = analyze_steady_state(&plan)?;
    let (Some(stability), Some(equilibrium)) = (found.stability()?, &found.equilibrium) else {
        return print_oscillation(args, &found.state, named);
    };
    let requests = Requests::read(&args.transients, points, study, equilibrium)?;
    let search = |parameter: &VariedParameter| find_critical_values(study, parameter);
    let searches = parameters.iter().map(search).collect::<Result<Vec<_>, _>>()?;
    let interrupt = Interrupt::install()?;
    let map = axes.map(|axes| map(study, axes, &interrupt)).transpose()?;
    let transients = requests.compute(study, equilibrium, &interrupt)?;
    let run = |interrupt| ExplainedRun::new(study.with_scenario(written), args.at, interrupt);
    let run = args.with_run.then(|| run(interrupt)).transpose()?;
    let results = Results {
        stability: &stability,
        run: run.as_ref(),
        capacities: named,
        searches: &searches,
        map: map.as_ref(),
        transients: &transients,
    };
    print_results(&args.form, || results.json_text(), || results.document())?;
    if let Some(path) = &args.report {
        finish(new_file(path, args.existing)?, results.page(&scenario.title).as_bytes())?;
    }
    if let Some(directory) = &args.figures {
        results.write_figures(directory, args.existing)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a directory that has files, unless they may be replaced.
fn check_empty(directory: &Path, existing: args::Existing) -> Result<(), Failure> {
    let has_files = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if has_files && !existing.force {
        return Err(Failure::input(format!(
            "{}: has files already; give another name, or replace them with --force",
            directory.display()
        )));
    }
    Ok(())
}

/// The parameters of `--critical`; the round-trip time if there are none.
fn parameters(names: &[String], study: Study<'_>) -> Result<Vec<VariedParameter>, Failure> {
    if names.is_empty() {
        return Ok(vec![VariedParameter::Rtt]);
    }
    names.iter().map(|name| VariedParameter::parse(name, study).map_err(Failure::input)).collect()
}

/// Prints the verdict on a network with a limit cycle or a sawtooth. It has neither roots nor margins.
fn print_oscillation(args: &args::Stability, state: &SteadyState, capacities: &[NamedCapacity]) -> Outcome {
    let verdict = format!("has {}", steady_state_sentence(state));
    let transients = &args.transients;
    let wanted = [
        ("--critical", !args.critical.is_empty()),
        ("--map", args.map.is_some()),
        ("--phase", transients.phase.is_some()),
        ("--step", !transients.step.is_empty()),
        ("--convergence", transients.convergence.is_some()),
        ("--with-run", args.with_run),
        ("--report", args.report.is_some()),
        ("--figures", args.figures.is_some()),
    ];
    if let Some((option, _)) = wanted.iter().find(|(_, is_wanted)| *is_wanted) {
        return Err(Failure::input(format!(
            "{option} needs a fixed point, but the scenario {verdict}; simulate it instead: millpond run --world fluid"
        )));
    }
    let json = || {
        pretty(&json_value(&StabilityOutputJson::Oscillation {
            verdict: verdict.clone(),
            stable: false,
            steady_state: steady_state_json(state),
            varying_capacities: capacities.to_vec(),
        }))
    };
    let text = format!("{verdict}\n{}", capacity_lines(capacities));
    print_results(&args.form, json, || Document::default().text(text))?;
    Ok(ExitCode::SUCCESS)
}

fn map(study: Study<'_>, axes: [ParameterAxis; 2], interrupt: &Interrupt) -> Result<StabilityMap, Failure> {
    let [across, up] = axes;
    let map = |watch: &Progress| compute_stability_map(study, across, up, watch);
    Ok(watched("map", interrupt, map)??)
}

/// Everything that was computed.
struct Results<'a> {
    stability: &'a Stability,
    run: Option<&'a ExplainedRun>,
    capacities: &'a [NamedCapacity],
    searches: &'a [CriticalValueSearch],
    map: Option<&'a StabilityMap>,
    transients: &'a Transients,
}

impl Results<'_> {
    fn verdict(&self) -> String {
        stability_sentence(self.stability, self.searches)
    }

    fn json(&self) -> StabilityOutputJson {
        let verdict = self.verdict();
        StabilityOutputJson::Linear {
            stability: Box::new(stability_json(&verdict, self.stability, self.searches, self.map)),
            transients: Box::new(self.transients.json()),
            varying_capacities: self.capacities.to_vec(),
        }
    }

    fn json_text(&self) -> Result<String, serde_json::Error> {
        let stability = self.json();
        match self.run {
            Some(run) => pretty(&json_value(&run.json(stability))),
            None => pretty(&json_value(&stability)),
        }
    }

    fn document(&self) -> Document {
        let run = self.run.map(|run| format!("{}\n", run.sentence)).unwrap_or_default();
        let headline = format!("{}\n{run}{}", self.verdict(), capacity_lines(self.capacities));
        Document::default()
            .text(headline + &terminal::search_ranges(self.searches))
            .then(terminal::stability(self.stability))
            .then(terminal::two_sided(self.stability, self.searches))
            .text(self.map.map(terminal::stability_map).unwrap_or_default())
            .then(self.transients.document())
    }

    fn page(&self, title: &str) -> String {
        let mut sentences = vec![self.verdict()];
        sentences.extend(self.stability.difference_clauses());
        sentences.extend(self.capacities.iter().map(ToString::to_string));
        sentences.extend(self.transients.sentences());
        let origin = origin();
        let content = self.shown(title, &sentences);
        analysis_report::stability(&analysis_report::StabilityPage { origin: Some(&origin), ..content })
    }

    fn shown<'s>(&'s self, title: &'s str, sentences: &'s [String]) -> analysis_report::StabilityPage<'s> {
        analysis_report::StabilityPage {
            title,
            sentences,
            origin: None,
            stability: self.stability,
            run: self.run.map(|run| run.beside(self.stability)),
            map: self.map,
            portrait: self.transients.portrait.as_ref(),
            steps: &self.transients.steps,
            convergence: self.transients.convergence.as_ref(),
        }
    }

    /// Writes each figure of the page as SVG and PDF, one and two columns wide: `bode-1.svg`.
    fn write_figures(&self, directory: &Path, existing: args::Existing) -> Result<(), Failure> {
        let created = std::fs::create_dir_all(directory);
        created.map_err(|error| {
            Failure::input(format!("{}: cannot create this directory: {error}", directory.display()))
        })?;
        for figure in analysis_report::stability_figures(&self.shown("", &[])) {
            for (columns, width) in [(1, PaperWidth::OneColumn), (2, PaperWidth::TwoColumns)] {
                for (extension, format) in [("svg", FigureFormat::Svg), ("pdf", FigureFormat::Pdf)] {
                    let path = directory.join(format!("{}-{columns}.{extension}", figure.id));
                    finish(new_file(&path, existing)?, &content(&figure, format, width))?;
                }
            }
        }
        Ok(())
    }
}
