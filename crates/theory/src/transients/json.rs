//! The schemas of `millpond stability --phase`, `--step` and `--convergence` with `--json`. Keys carry their units; quantities
//! have the units in which they are shown.

use super::{ConvergenceTimes, Observable, ObservedResponse, PhasePortrait, PhaseTrajectory, StepTransient};
use millpond_fluid::motion::{LongTermBehavior, Predicted, StepResponse};
use schemars::JsonSchema;
use serde::Serialize;

/// The greatest number of points of a trajectory.
const POINTS: usize = 400;

/// A phase portrait: key `portrait` of `millpond stability --phase --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhasePortraitJson {
    /// The horizontal axis.
    pub across: AxisJson,
    /// The vertical axis.
    pub up: AxisJson,
    /// The longest simulated time of a trajectory, in s.
    pub followed_s: f64,
    /// All trajectories, in the order of their initial conditions.
    pub trajectories: Vec<PhaseTrajectoryJson>,
}

/// An axis of a phase portrait.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AxisJson {
    /// Name of the quantity.
    pub of: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value at the equilibrium.
    pub equilibrium: f64,
}

/// A trajectory of a phase portrait, at no more than 400 points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseTrajectoryJson {
    /// `settles`, `approaches`, `cycles`, `other equilibrium`, `diverges` or `interrupted`.
    pub behavior: &'static str,
    /// The time after which it stays near the equilibrium, in s; null if it does not settle.
    pub settles_after_s: Option<f64>,
    /// Why the integration ended early; null if it did not.
    pub error: Option<String>,
    /// Times of the points, in s.
    pub time_s: Vec<f64>,
    /// Values on the horizontal axis; null if the integration failed at once.
    pub across: Option<Vec<f64>>,
    /// Values on the vertical axis; null if the integration failed at once.
    pub up: Option<Vec<f64>>,
}

/// The results that were requested beside the stability of the equilibrium: keys of `millpond stability --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TransientsJson {
    /// The phase portrait; absent without `--phase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portrait: Option<PhasePortraitJson>,
    /// The response to each step, in the order of the options; absent without `--step`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepTransientJson>,
    /// The convergence times; absent without `--convergence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<ConvergenceTimesJson>,
}

/// The JSON of a phase portrait.
#[must_use]
pub fn phase_portrait_json(portrait: &PhasePortrait) -> PhasePortraitJson {
    let axis = |observable: &Observable, value: f64| AxisJson {
        of: observable.name.clone(),
        unit: observable.unit,
        equilibrium: value * observable.scale,
    };
    PhasePortraitJson {
        across: axis(&portrait.horizontal, portrait.equilibrium.0),
        up: axis(&portrait.vertical, portrait.equilibrium.1),
        followed_s: portrait.seconds,
        trajectories: portrait.trajectories.iter().map(|found| trajectory_json(portrait, found)).collect(),
    }
}

fn trajectory_json(portrait: &PhasePortrait, found: &PhaseTrajectory) -> PhaseTrajectoryJson {
    let trajectory = &found.trajectory;
    let stride = trajectory.times.len().div_ceil(POINTS).max(1);
    let thinned = |values: &[f64], scale: f64| -> Vec<f64> {
        values.iter().step_by(stride).map(|value| value * scale).collect()
    };
    let settles_after_s = match found.behavior {
        LongTermBehavior::Settles { after } => Some(after),
        _ => None,
    };
    PhaseTrajectoryJson {
        behavior: behavior_name(found.behavior),
        settles_after_s,
        error: trajectory.error.as_ref().map(ToString::to_string),
        time_s: thinned(&trajectory.times, 1.0),
        across: trajectory.values.first().map(|values| thinned(values, portrait.horizontal.scale)),
        up: trajectory.values.get(1).map(|values| thinned(values, portrait.vertical.scale)),
    }
}

fn behavior_name(behavior: LongTermBehavior) -> &'static str {
    match behavior {
        LongTermBehavior::Settles { .. } => "settles",
        LongTermBehavior::Approaches => "approaches",
        LongTermBehavior::Cycles => "cycles",
        LongTermBehavior::OtherEquilibrium => "other equilibrium",
        LongTermBehavior::Diverges => "diverges",
        LongTermBehavior::Interrupted => "interrupted",
    }
}

/// The response to a step: an element of key `steps` of `millpond stability --step --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepTransientJson {
    /// The step in a phrase.
    pub step: String,
    /// Sending rate of one flow of each class.
    pub rates: Vec<ResponseJson>,
    /// Queues of the bottlenecks and of the changed link.
    pub queues: Vec<ResponseJson>,
    /// The response of a system with only the rightmost root; null without such a root.
    pub predicted: Option<PredictedResponseJson>,
}

/// The response of one quantity, in its unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResponseJson {
    /// Name of the quantity.
    pub of: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value before the step.
    pub from: Option<f64>,
    /// Its value at the new equilibrium.
    pub to: f64,
    /// Rise time from 10 to 90 %, in s; null without a change of the equilibrium.
    pub rise_s: Option<f64>,
    /// Overshoot as a share of the change; null without a change of the equilibrium.
    pub overshoot: Option<f64>,
    /// Largest distance from an unchanged equilibrium; null otherwise.
    pub excursion: Option<f64>,
    /// Settling time to 2 %, in s; null if it does not settle.
    pub settling_s: Option<f64>,
}

/// The response of a system with only the rightmost root.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictedResponseJson {
    /// Damping ratio.
    pub damping: f64,
    /// Period, in s; null without an oscillation.
    pub period_s: Option<f64>,
    /// Overshoot as a share of the change.
    pub overshoot: f64,
    /// Settling time to 2 %, in s; null if the root does not decay.
    pub settling_s: Option<f64>,
}

/// The JSON of a response to a step.
#[must_use]
pub fn step_transient_json(transient: &StepTransient) -> StepTransientJson {
    let predicted = |predicted: Predicted| PredictedResponseJson {
        damping: predicted.damping,
        period_s: predicted.period,
        overshoot: predicted.overshoot,
        settling_s: predicted.settling,
    };
    StepTransientJson {
        step: transient.description.clone(),
        rates: transient.rates.iter().map(response_json).collect(),
        queues: transient.queues.iter().map(response_json).collect(),
        predicted: transient.predicted.map(predicted),
    }
}

fn response_json(observed: &ObservedResponse) -> ResponseJson {
    let shown = |value: f64| value * observed.observable.scale;
    let (rise_s, overshoot, excursion, settling_s) = match observed.response {
        StepResponse::Step { rise, overshoot, settling } => (rise, Some(overshoot), None, settling),
        StepResponse::Excursion { peak, settling, .. } => (None, None, Some(shown(peak)), settling),
    };
    ResponseJson {
        of: observed.observable.name.clone(),
        unit: observed.observable.unit,
        from: observed.values.first().copied().map(shown),
        to: shown(observed.final_value),
        rise_s,
        overshoot,
        excursion,
        settling_s,
    }
}

/// Convergence times: key `convergence` of `millpond stability --convergence --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConvergenceTimesJson {
    /// Name of the varied parameter.
    pub over: String,
    /// Its values: RTT in s, others in the unit in which they are written.
    pub values: Vec<f64>,
    /// Largest relative difference between a rate and its equilibrium.
    pub within: f64,
    /// The initial condition as typed; null for a grid around the equilibrium.
    pub from: Option<String>,
    /// Convergence time of each value, in s; null if it does not converge.
    pub time_s: Vec<Option<f64>>,
    /// The same as the rightmost root predicts, in s; null if the root does not decay.
    pub predicted_s: Vec<Option<f64>>,
}

/// The JSON of convergence times.
#[must_use]
pub fn convergence_times_json(convergence: &ConvergenceTimes) -> ConvergenceTimesJson {
    ConvergenceTimesJson {
        over: convergence.axis.parameter.name(),
        values: convergence.axis.values.clone(),
        within: convergence.criterion.tolerance,
        from: convergence.criterion.initial_condition.clone(),
        time_s: convergence.times.clone(),
        predicted_s: convergence.predicted_times.clone(),
    }
}
