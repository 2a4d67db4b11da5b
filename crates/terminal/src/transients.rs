//! Tables of step responses and convergence times.

use millpond_fluid::motion::StepResponse;
use millpond_tables::{Cell, Document, table};
use millpond_theory::transients::{ConvergenceTimes, StepTransient};
use millpond_units::format::number;

const STEP: [&str; 8] = [
    "quantity",
    "from",
    "to",
    "unit",
    "rise time (10-90 %), s",
    "overshoot",
    "peak",
    "settling time (2 %), s",
];

/// Rise time, overshoot as a share of the step, and settling time of each rate and queue; the peak of a quantity that
/// ends where it began.
pub fn step_response(step: &StepTransient) -> Document {
    let mut rows = table(&STEP);
    for response in step.rates.iter().chain(&step.queues) {
        let (scale, unit) = match response.observable.unit {
            "bit/s" => (1e-6, "Mbit/s"),
            unit => (response.observable.scale, unit),
        };
        let shown = |value: f64| Cell::number(value * scale);
        let from = response.values.first().copied().unwrap_or(f64::NAN);
        let (rise, overshoot, peak, settling) = match response.response {
            StepResponse::Step { rise, overshoot, settling } => {
                (time(rise), Cell::percent(overshoot), Cell::absent(), settling)
            }
            StepResponse::Excursion { peak, settling, .. } => {
                (Cell::absent(), Cell::absent(), shown(from + peak), settling)
            }
        };
        let name = response.observable.name.clone();
        let (from, to) = (shown(from), shown(response.final_value));
        rows.add_row([name.into(), from, to, unit.into(), rise, overshoot, peak, time(settling)]);
    }
    if let Some(predicted) = step.predicted.filter(|predicted| predicted.settling.is_some()) {
        let (overshoot, settling) = (Cell::percent(predicted.overshoot), time(predicted.settling));
        let name = format!("rightmost root alone, damping ratio {}", number(predicted.damping));
        let [from, to, rise, peak] = [(); 4].map(|()| Cell::absent());
        rows.add_row([name.into(), from, to, "".into(), rise, overshoot, peak, settling]);
    }
    Document::default().table(rows)
}

/// A time in seconds, if there is one.
fn time(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::absent, Cell::number)
}

/// The convergence time for at most twenty values of the parameter.
pub fn convergence(convergence: &ConvergenceTimes) -> Document {
    const ROWS: usize = 20;
    let parameter = &convergence.axis.parameter;
    let mut rows =
        table(&[parameter.name().as_str(), "convergence time, s", "of the rightmost root alone, s"]);
    let values =
        convergence.axis.values.iter().zip(convergence.times.iter().zip(&convergence.predicted_times));
    for (value, (found, predicted)) in values.step_by(convergence.times.len().div_ceil(ROWS).max(1)) {
        rows.add_row([parameter.format_value(*value).into(), time(*found), time(*predicted)]);
    }
    Document::default().table(rows)
}
