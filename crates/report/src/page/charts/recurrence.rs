//! A difference equation over its steps; and its phase portrait, where it has an excess and a queue.

use std::collections::BTreeMap;

use super::super::bundle::{Bundle, Together};
use super::COARSE;
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::Text;
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_results::{Kind, Run, Series};

/// More points than this of one trajectory cannot be seen.
const MOST_POINTS: usize = 1000;

/// One figure: a panel for each quantity that has more than a value.
pub(crate) fn recurrence(run: &Run, look: Look) -> Option<Figure> {
    let mut by_quantity: BTreeMap<(Kind, &str), Vec<&Series>> = BTreeMap::new();
    for series in run.series.iter().filter(|series| series.values.len() > 1) {
        by_quantity.entry((series.kind, &series.quantity)).or_default().push(series);
    }
    let end = by_quantity.values().flatten().filter_map(|one| one.times.last()).copied().fold(0.0, f64::max);
    let over_steps = by_quantity.iter().map(|((kind, quantity), series)| {
        let bundle = Bundle::new(series, Together::Mean, 1.0, COARSE);
        let label = format!("{quantity} of each {}, {}", kind.name(), run.label);
        let x = Axis::numbered(Scale::linear(0.0, end), "step, or time in s", 6);
        let mut plot = Plot::new(label, x, Axis::numbered(Scale::around(bundle.values()), "", 3), 110);
        bundle.draw(&mut plot);
        panel(quantity, bundle.legend(), plot, look)
    });
    let panels: Vec<Panel> = portrait(run, look).into_iter().chain(over_steps).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("recurrence-{}", look.0),
        title: format!("{}{}", look.badge(), Text(&run.label)),
        class: "inside",
        panels,
        caption: String::new(),
    })
}

fn panel(title: &str, legend: String, plot: Plot, look: Look) -> Panel {
    let legend = format!(r#"<span class="{}">{legend}</span>"#, look.colour());
    Panel { title: title.into(), unit: String::new(), legend, plot: plot.coloured(look) }
}

/// The queue over the excess, a curve for each start.
fn portrait(run: &Run, look: Look) -> Option<Panel> {
    let of = |quantity: &str, entity: Option<&str>| {
        let mut found = run.series.iter().filter(|series| series.quantity == quantity);
        found.find(|series| entity.is_none_or(|entity| series.entity == entity))
    };
    of("excess", None)?;
    let curves: Vec<(&str, Vec<Point>)> = run
        .series
        .iter()
        .filter(|series| series.quantity == "excess")
        .filter_map(|excess| {
            let queue = of("queue", Some(&excess.entity))?;
            let every = excess.values.len().div_ceil(MOST_POINTS).max(1);
            let points = excess.values.iter().copied().zip(queue.values.iter().copied()).step_by(every);
            Some((excess.entity.as_str(), points.collect()))
        })
        .collect();
    let points = || curves.iter().flat_map(|(_, points)| points);
    let x = Axis::numbered(Scale::around(points().map(|point| point.0)), "excess rate", 7);
    let y = Axis::numbered(Scale::around(points().map(|point| point.1)), "", 5);
    let mut plot = Plot::new(format!("Phase portrait, {}", run.label), x, y, 300);
    for (name, points) in &curves {
        plot.curve(name, "line", points);
    }
    Some(panel("Phase portrait: queue over excess rate", String::new(), plot, look))
}
