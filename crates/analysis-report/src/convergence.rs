//! Convergence times over a parameter.

use crate::map::axis_title;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_theory::transients::{ConvergenceTimes, convergence_sentence};

/// Style classes of the measured and of the predicted times.
const MEASURED: &str = "line";
const PREDICTED: &str = "guide";

/// The measured times, and the times that the rightmost root alone predicts.
pub(crate) fn chart(convergence: &ConvergenceTimes) -> Figure {
    let values = &convergence.axis.values;
    let points = |times: &[Option<f64>]| -> Vec<Point> {
        values.iter().zip(times).map(|(value, time)| (*value, time.unwrap_or(f64::NAN))).collect()
    };
    let (measured, predicted) = (points(&convergence.times), points(&convergence.predicted_times));
    let times = || measured.iter().chain(&predicted).map(|point| point.1).filter(|time| time.is_finite());
    let x =
        Axis::numbered(Scale::log(values.iter().copied(), 9.0), axis_title(&convergence.axis.parameter), 6);
    let y = Axis::numbered(Scale::log(times(), 9.0), "", 5);
    let mut plot = Plot::new("Convergence time", x, y, 320).coloured(SeriesStyle(0));
    plot.curve("rightmost root alone", PREDICTED, &predicted);
    plot.curve("time", MEASURED, &measured);
    for point in measured.iter().filter(|point| point.1.is_finite()) {
        plot.dot("point", *point, 3.0);
    }
    let legend = Legend::new().line(MEASURED, "delay equations").line(PREDICTED, "rightmost root alone");
    let legend = legend.coloured(SeriesStyle(0));
    Figure {
        id: "convergence-time".into(),
        title: html! { "Time until within " (100.0 * convergence.criterion.tolerance) " % of the equilibrium" },
        class: "",
        panels: vec![Panel { title: "time".into(), unit: "s".into(), legend, plot }],
        caption: caption(convergence),
    }
}

fn caption(convergence: &ConvergenceTimes) -> String {
    let start = match &convergence.criterion.initial_condition {
        Some(from) => format!("Started from {from}, all other quantities in equilibrium"),
        None => "The slowest of four starts, with all rates at 20, 50, 150 and 200 % of their equilibrium"
            .to_owned(),
    };
    format!("{start}: {}.", convergence_sentence(convergence))
}
