//! `millpond stability`: whether a scenario stays where it settles.

use super::explain::explain;
use super::motion::{Motions, Questions};
use crate::args;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{print, print_line};
use crate::progress::Progress;
use crate::scenario::load;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_report::{page, terminal};
use millpond_results::files::write_whole;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{
    CriticalValueSearch, ParameterAxis, Stability, StabilityMap, VariedParameter, analyze_stability,
    compute_stability_map, find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::{AnalysisError, Study, json_value};
use millpond_units::Span;
use std::process::ExitCode;

pub(crate) fn stability(args: &args::Stability, registry: &Registry) -> Outcome {
    if let Some(run) = &args.explain {
        return explain(run, args, registry);
    }
    let asked = "which scenario? millpond stability SCENARIO.toml, or --explain RUN for a finished run";
    let typed = args.scenario.as_ref().ok_or_else(|| Failure::input(asked))?;
    let scenario = load(typed)?;
    let study = Study::new(&scenario, registry);
    let parameter = |name: &String| VariedParameter::parse(name, study).map_err(Failure::input);
    let asked = args.critical.iter().map(parameter).collect::<Result<Vec<_>, _>>()?;
    if args.points.is_some() && args.map.is_none() && args.motion.convergence.is_none() {
        return Err(Failure::input("--points says how many values a range has: add --map or --convergence"));
    }
    let points = args.points.unwrap_or(POINTS);
    let axes = args.map.as_deref().map(|map| axes(map, points, study)).transpose()?;
    let plan = fluid::plan(&scenario, registry)?;
    let settled = find_equilibrium(&plan)?;
    let judged = match analyze_stability(&settled) {
        Err(AnalysisError::LimitCycle(sentence)) => return cycles(args, &sentence),
        judged => judged?,
    };
    let questions = Questions::read(&args.motion, points, study, &settled)?;
    let parameters = if asked.is_empty() { vec![VariedParameter::Rtt] } else { asked };
    let search = |parameter: &VariedParameter| find_critical_values(study, parameter);
    let searches = parameters.iter().map(search).collect::<Result<Vec<_>, _>>()?;
    let interrupt = Interrupt::install()?;
    let map = axes.map(|axes| draw(study, axes, &interrupt)).transpose()?;
    let motions = questions.answer(study, &settled, &interrupt)?;
    let answers = Answers { judged: &judged, searches: &searches, map: map.as_ref(), motions: &motions };
    answers.tell(args, &scenario.title)?;
    Ok(ExitCode::SUCCESS)
}

/// What cycles about a jump has neither roots nor margins, and nothing that could be varied would change it.
fn cycles(args: &args::Stability, sentence: &str) -> Outcome {
    if args.json {
        print(format_args!("{:#}\n", serde_json::json!({ "verdict": sentence, "stable": false })))?;
    } else {
        print_line(sentence)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Values of a range, unless told otherwise.
const POINTS: usize = 40;

/// All that came out.
struct Answers<'a> {
    judged: &'a Stability,
    searches: &'a [CriticalValueSearch],
    map: Option<&'a StabilityMap>,
    motions: &'a Motions,
}

impl Answers<'_> {
    fn tell(&self, args: &args::Stability, title: &str) -> Result<(), Failure> {
        let verdict = stability_sentence(self.judged, self.searches);
        if args.json {
            let mut answer = json_value(&stability_json(&verdict, self.judged, self.searches, self.map));
            self.motions.json(&mut answer);
            print(format_args!("{answer:#}\n"))?;
        } else {
            print_line(&verdict)?;
            print(terminal::followed(self.searches))?;
            print(terminal::stability(self.judged))?;
            self.map.map_or(Ok(()), |map| print(terminal::map(map)))?;
            self.motions.print()?;
        }
        let Some(path) = &args.report else { return Ok(()) };
        let mut sentences = vec![verdict];
        sentences.extend(self.motions.sentences());
        let page = page::stability(&page::Page {
            title,
            sentences: &sentences,
            stability: self.judged,
            map: self.map,
            portrait: self.motions.portrait.as_ref(),
            steps: &self.motions.steps,
            convergence: self.motions.convergence.as_ref(),
        });
        write_whole(path, page.as_bytes()).map_err(Failure::input)
    }
}

/// Something that takes long, under a progress bar; what Ctrl-C leaves unfinished is thrown away.
pub(super) fn watched<T>(
    what: &str,
    interrupt: &Interrupt,
    work: impl FnOnce(&Progress) -> T,
) -> Result<T, Failure> {
    let progress = Progress::of_each(&[what.to_owned()], interrupt.clone());
    let found = work(&progress);
    progress.clear();
    if interrupt.is_raised() {
        return Err(Failure::Interrupted(format!("the {what} had not ended")));
    }
    Ok(found)
}

fn draw(
    study: Study<'_>,
    (across, up): (ParameterAxis, ParameterAxis),
    interrupt: &Interrupt,
) -> Result<StabilityMap, Failure> {
    let map = |watch: &Progress| compute_stability_map(study, across, up, watch);
    Ok(watched("map", interrupt, map)??)
}

/// `rtt=10ms..2s,flows=1..100`
fn axes(text: &str, points: usize, study: Study<'_>) -> Result<(ParameterAxis, ParameterAxis), Failure> {
    let usage =
        || Failure::input(format!("--map {text}: write two ranges, such as rtt=10ms..2s,flows=1..100"));
    let (across, up) = text.split_once(',').ok_or_else(usage)?;
    let (across, up) =
        (axis(across, points, study, ("--map", &usage))?, axis(up, points, study, ("--map", &usage))?);
    if across.parameter == up.parameter {
        return Err(Failure::input(format!(
            "--map: {} is on both sides; vary two things",
            up.parameter.name()
        )));
    }
    Ok((across, up))
}

/// `rtt=10ms..2s`
pub(super) fn axis(
    text: &str,
    points: usize,
    study: Study<'_>,
    (option, usage): (&str, &dyn Fn() -> Failure),
) -> Result<ParameterAxis, Failure> {
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let (low, high) = range.split_once("..").ok_or_else(usage)?;
    let parameter = VariedParameter::parse(name.trim(), study).map_err(Failure::input)?;
    let (low, high) = value(low).zip(value(high)).ok_or_else(usage)?;
    if !(0.0 < low && low < high) {
        return Err(Failure::input(format!("{option} {text}: write the lower end first, and above zero")));
    }
    Ok(ParameterAxis::logarithmic(parameter, low, high, points))
}

/// A plain number, or a time in seconds.
fn value(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().or_else(|| text.parse::<Span>().map(Span::secs).ok())
}
