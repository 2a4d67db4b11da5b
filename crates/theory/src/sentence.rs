//! The answers of the analyses, each in one sentence.

use crate::motion::{Answer, Answered, Convergence, Portrait};
use crate::{Boundary, Search, Stability};
use millpond_fluid::motion::{LongTermBehavior, Predicted, StepResponse};
use millpond_units::format::{duration, number, percent};
use std::f64::consts::PI;

/// The verdict in one sentence.
pub fn verdict(stability: &Stability, searches: &[Search]) -> String {
    let calm = stability.is_calm();
    let found: Vec<String> =
        searches.iter().flat_map(|search| &search.found).map(|boundary| side(boundary, calm)).collect();
    let nowhere: Vec<String> = searches.iter().filter(|search| search.found.is_empty()).map(range).collect();
    let head = match (&stability.marginal, calm) {
        (None, true) => "stable".to_owned(),
        (Some(why), true) => {
            format!("marginal: one disturbance neither grows nor dies out, since {why}; all others die out")
        }
        (_, false) => format!("unstable: {}", growth(stability)),
    };
    let (there, none) = if calm { ("oscillates", "no boundary") } else { ("stable", "unstable all the way") };
    let found = (!found.is_empty()).then(|| format!("; {there} {}", found.join(", and ")));
    let nowhere = (!nowhere.is_empty()).then(|| format!("; {none} {}", nowhere.join(" or ")));
    format!("{head}{}{}", found.unwrap_or_default(), nowhere.unwrap_or_default())
}

/// Where the other verdict begins.
fn side(boundary: &Boundary, calm: bool) -> String {
    let side = if boundary.stable_below == calm { "above" } else { "below" };
    let (name, value) = (boundary.knob.name(), boundary.knob.show(boundary.value));
    format!("{side} {name} {value} (now {})", boundary.knob.show(boundary.now))
}

fn range(search: &Search) -> String {
    let Search { knob, now, range: (low, high), .. } = search;
    format!("between {} {} and {} (now {})", knob.name(), knob.show(*low), knob.show(*high), knob.show(*now))
}

fn growth(stability: &Stability) -> String {
    let Some(root) = stability.spectrum.moving() else { return "no root found".to_owned() };
    match root.growth_per_cycle() {
        Some(factor) => {
            format!("oscillates every {}, x{} per cycle", duration(2.0 * PI / root.s.im), number(factor))
        }
        None => format!("drifts away, x e in {}", duration(1.0 / root.s.re)),
    }
}

/// Where the trajectories of a portrait lead, in one sentence.
pub fn portrait_sentence(portrait: &Portrait) -> String {
    let all = portrait.paths.len();
    let after = portrait.paths.iter().filter_map(|path| match path.fate {
        LongTermBehavior::Settles { after } => Some(after),
        _ => None,
    });
    let settled = after.clone().count();
    let slowest = after.fold(0.0, f64::max);
    let mut parts = vec![match settled {
        0 => format!("none of {all} trajectories settles"),
        _ => format!("{settled} of {all} settle, the last after {}", seconds(Some(slowest))),
    }];
    let others: [(LongTermBehavior, [&str; 2]); 5] = [
        (LongTermBehavior::Approaches, ["is on its way", "are on their way"]),
        (LongTermBehavior::Cycles, ["cycles", "cycle"]),
        (LongTermBehavior::OtherEquilibrium, ["rests elsewhere", "rest elsewhere"]),
        (LongTermBehavior::Diverges, ["leaves", "leave"]),
        (LongTermBehavior::Interrupted, ["could not be integrated", "could not be integrated"]),
    ];
    for (fate, [one, many]) in others {
        match portrait.count(|other| other == fate) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            count => parts.push(format!("{count} {many}")),
        }
    }
    let plane = format!("{} and {}", portrait.across.name, portrait.up.name);
    format!("{plane}: {}, followed for {}", parts.join("; "), seconds(Some(portrait.seconds)))
}

/// In seconds, milliseconds where they are few.
pub fn seconds(time: Option<f64>) -> String {
    match time {
        None => "-".to_owned(),
        Some(time) if time < 0.1 => format!("{} ms", number(time * 1e3)),
        Some(time) => format!("{} s", number(time)),
    }
}

/// The answer to a step, in one sentence: that of the first rate, and what the rightmost root would make of it.
pub fn step_sentence(answer: &Answer) -> String {
    let measured = match answer.rates.first() {
        Some(Answered { of, response: StepResponse::Step { rise, overshoot, settling }, .. }) => format!(
            "{}: from 10 to 90 % in {}, overshoot {}, {}",
            of.name,
            seconds(*rise),
            percent(*overshoot),
            settled(*settling)
        ),
        Some(Answered { of, response: StepResponse::Excursion { settling, .. }, .. }) => {
            format!("{} ends where it was, {}", of.name, settled(*settling))
        }
        None => "no flow answers".to_owned(),
    };
    let predicted = match answer.predicted {
        Some(Predicted { overshoot, settling: Some(time), .. }) => {
            let (overshoot, settling) = (percent(overshoot), settled(Some(time)));
            format!(" (the rightmost root alone: overshoot {overshoot}, {settling})")
        }
        Some(_) => " (the rightmost root grows)".to_owned(),
        None => String::new(),
    };
    format!("{}; {measured}{predicted}", answer.what)
}

fn settled(time: Option<f64>) -> String {
    match time {
        Some(_) => format!("settled in {}", seconds(time)),
        None => "not settled".to_owned(),
    }
}

/// Times of convergence, in one sentence.
pub fn convergence_sentence(convergence: &Convergence) -> String {
    let knob = &convergence.over.knob;
    let found: Vec<(f64, f64)> = convergence
        .over
        .values
        .iter()
        .zip(&convergence.times)
        .filter_map(|(value, time)| time.map(|time| (*value, time)))
        .collect();
    let within = percent(convergence.asked.within);
    let missing = convergence.times.len() - found.len();
    let Some(((low, first), (high, last))) = found.first().zip(found.last()) else {
        return format!("nowhere within {within} of rest while it was followed");
    };
    let at = |value: f64| format!("{} {}", knob.name(), knob.show(value));
    let gaps = match missing {
        0 => String::new(),
        missing => format!("; never at {missing} of {} values", convergence.times.len()),
    };
    format!(
        "within {within} of rest after {} at {} and {} at {}{gaps}",
        seconds(Some(*first)),
        at(*low),
        seconds(Some(*last)),
        at(*high)
    )
}
