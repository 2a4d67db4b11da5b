//! The series of a difference equation, and its phase portrait if it has an excess rate and a queue.

use super::super::curve_set::{CurveSet, GroupValue};
use super::{COARSE, coloured};
use maud::{Markup, html};
use millpond_chart::{Axis, Figure, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_results::{EntityKind, Run, Series};
use std::collections::BTreeMap;

/// A trajectory is drawn with at most this many points.
const MOST_POINTS: usize = 1000;

/// A panel for each quantity that has more than one value; none if there is no such quantity.
pub(crate) fn recurrence(run: &Run, style: SeriesStyle) -> Option<Figure> {
    let mut by_quantity: BTreeMap<(EntityKind, &str), Vec<&Series>> = BTreeMap::new();
    for series in run.series.iter().filter(|series| series.values.len() > 1) {
        by_quantity.entry((series.kind, &series.quantity)).or_default().push(series);
    }
    let end = by_quantity.values().flatten().filter_map(|one| one.times.last()).copied().fold(0.0, f64::max);
    let over_steps = by_quantity.iter().map(|((kind, quantity), series)| {
        let curves = CurveSet::new(series, GroupValue::Mean, 1.0, COARSE);
        let label = format!("{quantity} of each {}, {}", kind.name(), run.label);
        let x = Axis::numbered(Scale::linear(0.0, end), "step, or time in s", 6);
        let y = Axis::numbered(Scale::around(curves.values()), "", 3);
        let mut plot = Plot::new(label, x, y, 110);
        curves.draw(&mut plot);
        panel(quantity, &curves.legend(), plot, style)
    });
    let panels: Vec<Panel> = portrait(run, style).into_iter().chain(over_steps).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("recurrence-{}", style.0),
        title: html! { (style.badge()) (run.label) },
        class: "internals",
        panels,
        caption: String::new(),
    })
}

fn panel(title: &str, legend: &Markup, plot: Plot, style: SeriesStyle) -> Panel {
    let (legend, plot) = (coloured(style, legend), plot.coloured(style));
    Panel { title: title.into(), unit: String::new(), legend, plot }
}

/// The queue over the excess rate, a curve for each entity; none if there is no excess rate.
fn portrait(run: &Run, style: SeriesStyle) -> Option<Panel> {
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
    let mut plot = Plot::new(format!("Phase portrait, {}", run.label), x, y, 300);
    for (name, points) in &curves {
        plot.curve(name, "line", points);
    }
    Some(panel("Phase portrait: queue over excess rate", &html! {}, plot, style))
}
