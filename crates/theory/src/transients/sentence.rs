//! Phase portraits, responses to steps and convergence times, each in one sentence.

use super::{ConvergenceTimes, ObservedResponse, PhasePortrait, StepTransient};
use millpond_fluid::motion::{LongTermBehavior, Predicted, StepResponse};
use millpond_units::format::{number, percent};

/// How the trajectories of a phase portrait end, in one sentence.
pub fn phase_portrait_sentence(portrait: &PhasePortrait) -> String {
    let all = portrait.trajectories.len();
    let after = portrait.trajectories.iter().filter_map(|found| match found.behavior {
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
        (LongTermBehavior::Approaches, ["still approaches", "still approach"]),
        (LongTermBehavior::Cycles, ["cycles", "cycle"]),
        (LongTermBehavior::OtherEquilibrium, ["reaches another equilibrium", "reach another equilibrium"]),
        (LongTermBehavior::Diverges, ["diverges", "diverge"]),
        (LongTermBehavior::Interrupted, ["could not be integrated", "could not be integrated"]),
    ];
    for (behavior, [one, many]) in others {
        match portrait.count(|other| other == behavior) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            count => parts.push(format!("{count} {many}")),
        }
    }
    let plane = format!("{} and {}", portrait.horizontal.name, portrait.vertical.name);
    format!("{plane}: {}, simulated for {}", parts.join("; "), seconds(Some(portrait.seconds)))
}

/// A time in seconds, or in milliseconds below 0.1 s.
pub fn seconds(time: Option<f64>) -> String {
    match time {
        None => "-".to_owned(),
        Some(time) if time < 0.1 => format!("{} ms", number(time * 1e3)),
        Some(time) => format!("{} s", number(time)),
    }
}

/// The response of the first rate to a step in one sentence, beside that of the rightmost root alone.
pub fn step_sentence(transient: &StepTransient) -> String {
    let measured = match transient.rates.first() {
        Some(ObservedResponse {
            observable,
            response: StepResponse::Step { rise, overshoot, settling },
            ..
        }) => format!(
            "{}: from 10 to 90 % in {}, overshoot {}, {}",
            observable.name,
            seconds(*rise),
            percent(*overshoot),
            settled(*settling)
        ),
        Some(ObservedResponse { observable, response: StepResponse::Excursion { settling, .. }, .. }) => {
            format!("{} returns to its value, {}", observable.name, settled(*settling))
        }
        None => "no flow is active".to_owned(),
    };
    let predicted = match transient.predicted {
        Some(Predicted { overshoot, settling: Some(time), .. }) => {
            let (overshoot, settling) = (percent(overshoot), settled(Some(time)));
            format!(" (the rightmost root alone: overshoot {overshoot}, {settling})")
        }
        Some(_) => " (the rightmost root grows)".to_owned(),
        None => String::new(),
    };
    format!("{}; {measured}{predicted}", transient.description)
}

fn settled(time: Option<f64>) -> String {
    match time {
        Some(_) => format!("settled in {}", seconds(time)),
        None => "not settled".to_owned(),
    }
}

/// Convergence times at the ends of the range, in one sentence.
pub fn convergence_sentence(convergence: &ConvergenceTimes) -> String {
    let parameter = &convergence.axis.parameter;
    let found: Vec<(f64, f64)> = convergence
        .axis
        .values
        .iter()
        .zip(&convergence.times)
        .filter_map(|(value, time)| time.map(|time| (*value, time)))
        .collect();
    let within = percent(convergence.criterion.tolerance);
    let missing = convergence.times.len() - found.len();
    let Some(((low, first), (high, last))) = found.first().zip(found.last()) else {
        return format!("at no value within {within} of the equilibrium in the simulated time");
    };
    let at = |value: f64| format!("{} {}", parameter.name(), parameter.format_value(value));
    let gaps = match missing {
        0 => String::new(),
        missing => format!("; not at {missing} of {} values", convergence.times.len()),
    };
    format!(
        "within {within} of the equilibrium after {} at {} and {} at {}{gaps}",
        seconds(Some(*first)),
        at(*low),
        seconds(Some(*last)),
        at(*high)
    )
}
