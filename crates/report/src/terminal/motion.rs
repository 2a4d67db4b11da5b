//! How a scenario moves about its equilibrium: a sentence first, then numbers.

use super::write::table;
use millpond_fluid::motion::StepResponse;
use millpond_theory::transients::{ConvergenceTimes, StepTransient, seconds};
use millpond_units::format::{number, percent};

/// Rise from 10 to 90 %, overshoot as a share of the step, settling to 2 % of it; of what ends where it began, the peak.
pub fn step(answer: &StepTransient) -> String {
    let mut rows = table(&["", "from", "to", "unit", "rise 10-90 %", "overshoot", "peak", "settled to 2 %"]);
    for answered in answer.rates.iter().chain(&answer.queues) {
        let (scale, unit) = match answered.observable.unit {
            "bit/s" => (1e-6, "Mbps"),
            unit => (answered.observable.scale, unit),
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
        let name = answered.observable.name.clone();
        let (from, to) = (shown(from), shown(answered.final_value));
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

/// Time by time, at most twenty of them.
pub fn convergence(convergence: &ConvergenceTimes) -> String {
    const ROWS: usize = 20;
    let parameter = &convergence.axis.parameter;
    let mut rows = table(&[parameter.name().as_str(), "time", "rightmost root alone"]);
    let values =
        convergence.axis.values.iter().zip(convergence.times.iter().zip(&convergence.predicted_times));
    for (value, (time, predicted)) in values.step_by(convergence.times.len().div_ceil(ROWS).max(1)) {
        rows.add_row([parameter.format_value(*value), seconds(*time), seconds(*predicted)]);
    }
    format!("{rows}\n")
}
