//! Times of convergence over a knob.

use super::super::bundle::legend_entry;
use super::map::title;
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_theory::transients::{ConvergenceTimes, convergence_sentence};

const MEASURED: &str = "line";
const PREDICTED: &str = "guide";

/// The curve, and what the rightmost root alone predicts.
pub(super) fn chart(convergence: &ConvergenceTimes) -> Figure {
    let values = &convergence.axis.values;
    let points = |times: &[Option<f64>]| -> Vec<Point> {
        values.iter().zip(times).map(|(value, time)| (*value, time.unwrap_or(f64::NAN))).collect()
    };
    let (measured, predicted) = (points(&convergence.times), points(&convergence.predicted_times));
    let all = || measured.iter().chain(&predicted).map(|point| point.1).filter(|time| time.is_finite());
    let x = Axis::numbered(Scale::log(values.iter().copied(), 9.0), title(&convergence.axis.parameter), 6);
    let y = Axis::numbered(Scale::for_peaks(&all().collect::<Vec<_>>(), all()), "", 5);
    let mut plot = Plot::new("Time of convergence", x, y, 320).coloured(Look(0));
    plot.curve("rightmost root alone", PREDICTED, &predicted);
    plot.curve("time", MEASURED, &measured);
    for point in measured.iter().filter(|point| point.1.is_finite()) {
        plot.dot("point", *point, 3.0);
    }
    let legend = format!(
        r#"<span class="c0">{}{}</span>"#,
        legend_entry(MEASURED, "delay equations"),
        legend_entry(PREDICTED, "rightmost root alone")
    );
    let panel = Panel { title: "time".into(), unit: "s".into(), legend, plot };
    let from = match &convergence.criterion.initial_condition {
        Some(from) => format!("Started from {from}, everything else at rest"),
        None => "Started as the scenario has it, counted from when its last flow starts".to_owned(),
    };
    Figure {
        id: "convergence-time".into(),
        title: format!("Time until within {} % of rest", 100.0 * convergence.criterion.tolerance),
        class: "",
        panels: vec![panel],
        caption: format!("{from}: {}.", convergence_sentence(convergence)),
    }
}
