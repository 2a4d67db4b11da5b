//! The same answers for programs. Keys carry their units; quantities have the units in which they are shown.

use super::{Answer, Answered, Convergence, Portrait};
use millpond_fluid::motion::{LongTermBehavior, StepResponse};
use serde_json::{Value, json};

/// Trajectories at no more points than this.
const POINTS: usize = 400;

/// A phase portrait.
#[must_use]
pub fn portrait_json(portrait: &Portrait) -> Value {
    let axis = |of: &super::Observable, rest: f64| json!({ "of": of.name, "unit": of.unit, "rest": rest * of.scale });
    let path = |path: &super::Path| {
        let every = path.trajectory.times.len().div_ceil(POINTS).max(1);
        let thin = |values: &[f64], scale: f64| -> Vec<f64> {
            values.iter().step_by(every).map(|value| value * scale).collect()
        };
        json!({
            "fate": word(path.fate),
            "settles_after_s": match path.fate { LongTermBehavior::Settles { after } => Some(after), _ => None },
            "broken": path.trajectory.error.as_ref().map(ToString::to_string),
            "time_s": thin(&path.trajectory.times, 1.0),
            "across": path.trajectory.values.first().map(|values| thin(values, portrait.across.scale)),
            "up": path.trajectory.values.get(1).map(|values| thin(values, portrait.up.scale)),
        })
    };
    json!({
        "across": axis(&portrait.across, portrait.rest.0),
        "up": axis(&portrait.up, portrait.rest.1),
        "followed_s": portrait.seconds,
        "paths": portrait.paths.iter().map(path).collect::<Vec<_>>(),
    })
}

/// How a trajectory ends, in a word.
pub(super) fn word(fate: LongTermBehavior) -> &'static str {
    match fate {
        LongTermBehavior::Settles { .. } => "settles",
        LongTermBehavior::Approaches => "approaches",
        LongTermBehavior::Cycles => "cycles",
        LongTermBehavior::OtherEquilibrium => "rests elsewhere",
        LongTermBehavior::Diverges => "leaves",
        LongTermBehavior::Interrupted => "lost",
    }
}

/// The answer to a step.
#[must_use]
pub fn step_json(answer: &Answer) -> Value {
    let one = |answered: &Answered| {
        let shown = |value: f64| value * answered.of.scale;
        let (mut rise, mut overshoot, mut peak, settling) = (
            None,
            None,
            None,
            match answered.response {
                StepResponse::Step { settling, .. } | StepResponse::Excursion { settling, .. } => settling,
            },
        );
        match answered.response {
            StepResponse::Step { rise: r, overshoot: o, .. } => (rise, overshoot) = (r, Some(o)),
            StepResponse::Excursion { peak: p, .. } => peak = Some(shown(p)),
        }
        json!({
            "of": answered.of.name,
            "unit": answered.of.unit,
            "from": answered.values.first().copied().map(shown),
            "to": shown(answered.to),
            "rise_s": rise,
            "overshoot": overshoot,
            "excursion": peak,
            "settling_s": settling,
        })
    };
    json!({
        "step": answer.what,
        "rates": answer.rates.iter().map(one).collect::<Vec<_>>(),
        "queues": answer.queues.iter().map(one).collect::<Vec<_>>(),
        "predicted": answer.predicted.map(|predicted| json!({
            "damping": predicted.damping,
            "period_s": predicted.period,
            "overshoot": predicted.overshoot,
            "settling_s": predicted.settling,
        })),
    })
}

/// Times of convergence.
#[must_use]
pub fn convergence_json(convergence: &Convergence) -> Value {
    json!({
        "over": convergence.over.knob.name(),
        "values": convergence.over.values,
        "within": convergence.asked.within,
        "from": convergence.asked.from,
        "time_s": convergence.times,
        "predicted_s": convergence.predicted,
    })
}
