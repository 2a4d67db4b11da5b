//! `millpond stability`: whether a scenario stays where it settles.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{print, print_line};
use crate::progress::Progress;
use crate::scenario::load;
use millpond_lab::analysis::{self, Axis, Boundary, Knob, Map};
use millpond_lab::files::write_whole;
use millpond_lab::{fluid, report, tables};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_units::Span;
use std::process::ExitCode;

pub(crate) fn stability(args: &args::Stability, registry: &Registry) -> Outcome {
    let scenario = load(&args.scenario)?;
    let knob = |name: &str| Knob::read(name, &scenario, registry).map_err(Failure::input);
    let asked = args.critical.iter().map(|name| knob(name)).collect::<Result<Vec<_>, _>>()?;
    let axes = args.map.as_deref().map(|map| axes(map, args.points, &scenario, registry)).transpose()?;
    let plan = fluid::plan(&scenario, registry)?;
    let settled = analysis::settle(&plan)?;
    let judged = analysis::judge(&settled)?;
    let knobs = if asked.is_empty() { vec![Knob::Rtt] } else { asked };
    let mut boundaries: Vec<Boundary> = Vec::new();
    for knob in &knobs {
        boundaries.extend(analysis::boundaries(&scenario, registry, knob)?);
    }
    let sentence = tables::verdict(&judged, &boundaries);
    let map = axes.map(|axes| draw(&scenario, registry, axes)).transpose()?;
    if args.json {
        let answer = analysis::stability_json(&sentence, &judged, &boundaries, map.as_ref());
        print(format_args!("{answer:#}\n"))?;
    } else {
        print_line(&sentence)?;
        print(tables::stability(&judged))?;
        if let Some(map) = &map {
            print(tables::map(map))?;
        }
    }
    if let Some(path) = &args.report {
        let page = report::stability(&scenario.title, &sentence, &judged, map.as_ref());
        write_whole(path, page.as_bytes()).map_err(Failure::input)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn draw(scenario: &Scenario, registry: &Registry, (across, up): (Axis, Axis)) -> Result<Map, Failure> {
    let progress = Progress::of_each(&["map".to_owned()], Interrupt::install()?);
    let map = analysis::map(scenario, registry, across, up, &progress);
    progress.clear();
    Ok(map?)
}

/// `rtt=10ms..2s,flows=1..100`
fn axes(
    text: &str,
    points: usize,
    scenario: &Scenario,
    registry: &Registry,
) -> Result<(Axis, Axis), Failure> {
    let usage =
        || Failure::input(format!("--map {text}: write two ranges, such as rtt=10ms..2s,flows=1..100"));
    let (across, up) = text.split_once(',').ok_or_else(usage)?;
    let axis = |text: &str| -> Result<Axis, Failure> {
        let (name, range) = text.split_once('=').ok_or_else(usage)?;
        let (low, high) = range.split_once("..").ok_or_else(usage)?;
        let knob = Knob::read(name.trim(), scenario, registry).map_err(Failure::input)?;
        let (low, high) = value(low).zip(value(high)).ok_or_else(usage)?;
        if !(0.0 < low && low < high) {
            return Err(Failure::input(format!("--map {text}: write the lower end first, and above zero")));
        }
        Ok(Axis::new(knob, low, high, points))
    };
    let (across, up) = (axis(across)?, axis(up)?);
    if across.knob == up.knob {
        return Err(Failure::input(format!("--map: {} is on both sides; vary two things", up.knob.name())));
    }
    Ok((across, up))
}

/// A plain number, or a time in seconds.
fn value(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().or_else(|| text.parse::<Span>().map(Span::secs).ok())
}
