//! Phase portraits, answers to steps and times of convergence, each in one sentence.

use super::{Answer, Answered, Convergence, Portrait};
use millpond_fluid::motion::{LongTermBehavior, Predicted, StepResponse};
use millpond_units::format::{number, percent};

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
