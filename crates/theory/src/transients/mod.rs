//! Transients about an equilibrium: phase portraits, responses to steps, convergence times. All are computed from the delay
//! equations; beside them stands the prediction of the rightmost root.
//!
//! ```text
//!   PlanEquilibrium --Observable, InitialConditions--> PhasePortrait: trajectories from a grid, and where each leads
//!          \----------StepChange---------------------> StepTransient: rates and queues, rise, overshoot, settling
//!   Study -------------ParameterAxis-----------------> ConvergenceTimes: time to the equilibrium over a parameter
//! ```

mod convergence;
mod duration;
mod initial;
mod json;
mod observable;
mod phase_portrait;
mod sentence;
mod step_change;
mod step_response;

pub use convergence::{ConvergenceCriterion, ConvergenceTimes, compute_convergence_times};
pub use initial::{InitialConditions, InitialValues, is_single_condition};
pub use json::{
    AxisJson, ConvergenceTimesJson, PhasePortraitJson, PhaseTrajectoryJson, PredictedResponseJson,
    ResponseJson, StepTransientJson, TransientsJson, convergence_times_json, phase_portrait_json,
    step_transient_json,
};
pub use observable::{Observable, Observables};
pub use phase_portrait::{PhasePortrait, PhaseTrajectory, compute_phase_portrait};
pub use sentence::{convergence_sentence, phase_portrait_sentence, seconds, step_sentence};
pub use step_change::StepChange;
pub use step_response::{ObservedResponse, StepTransient, simulate_steps};

/// A trajectory has settled when it stays within this share of its largest distance from the equilibrium.
pub const BAND: f64 = millpond_fluid::motion::BAND;
