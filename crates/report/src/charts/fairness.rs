//! Jain's fairness index over time.

use super::super::curve_set::{Band, decimated};
use super::super::run_view::RunView;
use super::{FINE, run_legend, time_axis};
use maud::html;
use millpond_chart::{Axis, Figure, Panel, Plot, Scale};
use millpond_results::{EntityKind, Series, quantity};

/// How many markers are on each curve.
const MARKERS: usize = 5;

/// One curve per run: Jain's index of the active flows. None if no run has two active flows at any time.
pub(crate) fn fairness(views: &[RunView]) -> Option<Figure> {
    let drawn: Vec<_> = views.iter().filter_map(|view| Some((view, index_of(view)?))).collect();
    if drawn.is_empty() {
        return None;
    }
    let least = drawn.iter().flat_map(|(_, series)| &series.values).copied().fold(1.0, f64::min);
    let floor = if least >= 0.5 { 0.5 } else { 0.0 };
    let mut plot = Plot::new(
        "Jain's fairness index over time",
        time_axis(views),
        Axis::numbered(Scale::linear(floor, 1.0 + 0.02 * (1.0 - floor)), "", 4),
        260,
    )
    .over_time();
    for (view, series) in &drawn {
        if let Some(band) = Band::of(&view.of_seeds(series), 1.0, FINE) {
            band.draw(&mut plot, &format!("band {}", view.style.colour()));
        }
        let points = decimated(series, 1.0, FINE);
        plot.curve(&view.run.label, &view.style.line(), &points);
        let stride = (points.len() / MARKERS).max(1);
        let first = stride * (view.style.0 + 1) / (views.len() + 1);
        for point in points.iter().skip(first).step_by(stride).filter(|point| point.1.is_finite()) {
            plot.mark(view.style, *point);
        }
    }
    let legend = run_legend(drawn.iter().map(|(view, _)| *view));
    Some(Figure {
        id: "fairness".into(),
        title: html! { "Fairness over time" },
        class: "",
        panels: vec![Panel { title: "Jain's index".into(), unit: String::new(), legend, plot }],
        caption: "The index is 1 if all active flows have the same goodput over their weight, and 1/n if one of n flows \
                  has all of it. It falls when a flow joins and rises as the new flow gets its share."
            .into(),
    })
}

/// The series of a run's index. A run in which one flow is active at a time has no index.
fn index_of<'a>(view: &RunView<'a>) -> Option<&'a Series> {
    let mut indices = view.series(EntityKind::Group, quantity::JAIN);
    indices.find(|series| series.values.iter().any(|index| index.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::Run;

    #[test]
    fn a_run_in_which_one_flow_is_active_at_a_time_has_no_curve() {
        let run = |label: &str, values: [f64; 2]| Run {
            label: label.into(),
            series: vec![Series {
                kind: EntityKind::Group,
                entity: "all".into(),
                quantity: quantity::JAIN.into(),
                unit: "1".into(),
                times: vec![1.0, 2.0].into(),
                values: values.into(),
            }],
            ..Run::default()
        };
        let alone = run("alone", [f64::NAN; 2]);
        assert!(fairness(&RunView::all(std::slice::from_ref(&alone))).is_none());
        let both = [alone, run("two", [f64::NAN, 0.9])];
        let figure = fairness(&RunView::all(&both)).unwrap();
        assert_eq!(figure.panels[0].legend.len(), 1);
    }
}
