//! How a scenario moves about its equilibrium: a sentence first, then numbers.

use super::write::{number, percent, table};
use crate::motion::{Answer, Answered, Convergence, Portrait};
use millpond_fluid::motion::{LongTermBehavior, Predicted, StepResponse};

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
fn seconds(time: Option<f64>) -> String {
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

/// Rise from 10 to 90 %, overshoot as a share of the step, settling to 2 % of it; of what ends where it began, the peak.
pub fn step(answer: &Answer) -> String {
    let mut rows = table(&["", "from", "to", "unit", "rise 10-90 %", "overshoot", "peak", "settled to 2 %"]);
    for answered in answer.rates.iter().chain(&answer.queues) {
        let (scale, unit) = match answered.of.unit {
            "bit/s" => (1e-6, "Mbps"),
            unit => (answered.of.scale, unit),
        };
        let shown = |value: f64| number(value * scale);
        let from = answered.values.first().copied().unwrap_or(f64::NAN);
        let (rise, overshoot, peak, settling) = match answered.response {
            StepResponse::Step { rise, overshoot, settling } => {
                (seconds(rise), percent(overshoot), "-".to_owned(), settling)
            }
            StepResponse::Excursion { peak, settling, .. } => {
                ("-".to_owned(), "-".to_owned(), shown(from + peak), settling)
            }
        };
        let name = answered.of.name.clone();
        let (from, to) = (shown(from), shown(answered.to));
        rows.add_row([name, from, to, unit.to_owned(), rise, overshoot, peak, seconds(settling)]);
    }
    if let Some(predicted) = answer.predicted.filter(|predicted| predicted.settling.is_some()) {
        let (overshoot, settling) = (percent(predicted.overshoot), seconds(predicted.settling));
        let name = format!("rightmost root alone, damping {}", number(predicted.damping));
        let [nothing, blank, unit, rise, peak] = ["-", "-", "", "-", "-"].map(str::to_owned);
        rows.add_row([name, nothing, blank, unit, rise, overshoot, peak, settling]);
    }
    format!("{rows}\n")
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

/// Time by time, at most twenty of them.
pub fn convergence(convergence: &Convergence) -> String {
    const ROWS: usize = 20;
    let knob = &convergence.over.knob;
    let mut rows = table(&[knob.name().as_str(), "time", "rightmost root alone"]);
    let values = convergence.over.values.iter().zip(convergence.times.iter().zip(&convergence.predicted));
    for (value, (time, predicted)) in values.step_by(convergence.times.len().div_ceil(ROWS).max(1)) {
        rows.add_row([knob.show(*value), seconds(*time), seconds(*predicted)]);
    }
    format!("{rows}\n")
}
