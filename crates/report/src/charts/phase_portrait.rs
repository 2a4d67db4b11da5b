//! The phase portrait of a difference equation: its queue over its excess rate.

use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_results::{Run, Series};

/// A trajectory is drawn with at most this many points.
const MOST_POINTS: usize = 1000;

/// The queue over the excess rate, a curve for each entity; none if there is no excess rate.
pub(crate) fn phase_portrait(run: &Run, style: SeriesStyle) -> Option<Figure> {
    let series = |quantity: &'static str| run.series.iter().filter(move |one| one.quantity == quantity);
    let curve = |excess: &Series| {
        let queue = series("queue").find(|queue| queue.entity == excess.entity)?;
        let every = excess.values.len().div_ceil(MOST_POINTS).max(1);
        let points = excess.values.iter().copied().zip(queue.values.iter().copied()).step_by(every);
        Some((excess.entity.clone(), points.collect::<Vec<Point>>()))
    };
    series("excess").next()?;
    let curves: Vec<(String, Vec<Point>)> = series("excess").filter_map(curve).collect();
    let points = || curves.iter().flat_map(|(_, points)| points);
    let x = Axis::numbered(Scale::around(points().map(|point| point.0)), "excess rate", 7);
    let y = Axis::numbered(Scale::around(points().map(|point| point.1)), "", 5);
    let mut plot = Plot::new(format!("Phase portrait, {}", run.label), x, y, 300).coloured(style);
    for (name, points) in &curves {
        plot.curve(name, "line", points);
    }
    let (title, legend) = ("Phase portrait: queue over excess rate".to_owned(), Legend::new());
    Some(Figure {
        id: "phase-portrait".into(),
        title: html! { (style.badge()) (run.label) },
        class: "",
        panels: vec![Panel { title, unit: String::new(), legend, plot }],
        caption: String::new(),
    })
}
