//! Goodput and queue of packet runs and fluid runs in one plot.

use super::super::curve_set::decimated;
use super::super::rate_unit::RateUnit;
use super::super::run_view::RunView;
use super::{FINE, run_legend, time_axis};
use maud::html;
use millpond_chart::{Axis, Figure, Panel, Plot, Point, Scale};
use millpond_results::quantity;
use std::collections::BTreeSet;

/// Only the first flows of each run are drawn: more curves hide one another.
const MOST_FLOWS: usize = 6;

/// The curves of one run.
struct RunCurves<'a> {
    view: &'a RunView<'a>,
    curves: Vec<Vec<Point>>,
}

/// Goodputs, and the bottleneck's queue below; none unless the runs are of more than one world.
pub(crate) fn packets_and_fluid(views: &[RunView]) -> Option<Figure> {
    let worlds: BTreeSet<&str> = views.iter().map(|view| view.run.summary.world.as_str()).collect();
    if worlds.len() < 2 {
        return None;
    }
    let peak = views.iter().flat_map(RunView::goodputs).flat_map(|series| &series.values);
    let unit = RateUnit::for_peak(peak.copied().fold(0.0, f64::max));
    let goodputs = views.iter().map(|view| RunCurves { view, curves: goodputs(view, unit.factor) });
    let queue = |view: &RunView| view.at_bottleneck(quantity::QUEUE).map(|one| decimated(one, 1.0, FINE));
    let queues = views.iter().map(|view| RunCurves { view, curves: queue(view).into_iter().collect() });
    let (goodputs, queues): (Vec<_>, Vec<_>) = (goodputs.collect(), queues.collect());
    Some(Figure {
        id: "packets-and-fluid".into(),
        title: html! { "Packets and fluid model" },
        class: "",
        panels: vec![
            panel("Goodput", unit.label, time_axis(views).without_text(), &goodputs),
            panel("Queue at the bottleneck", "packets", time_axis(views), &queues),
        ],
        caption: format!(
            "The flows (the first {MOST_FLOWS} of them) and the queue of each run. Curves that coincide show that the \
             equations describe the packet run; differences are effects of single packets and of randomness."
        ),
    })
}

fn goodputs(view: &RunView, factor: f64) -> Vec<Vec<Point>> {
    view.goodputs().into_iter().take(MOST_FLOWS).map(|series| decimated(series, factor, FINE)).collect()
}

fn panel(title: &str, unit: &str, time: Axis, runs: &[RunCurves<'_>]) -> Panel {
    let values = runs.iter().flat_map(|run| run.curves.iter().flatten().map(|point| point.1));
    let y = Axis::numbered(Scale::from_zero(values), "", 4);
    let mut plot = Plot::new(format!("{title}, packets and fluid model"), time, y, 220).over_time();
    for RunCurves { view, curves } in runs {
        for curve in curves {
            plot.curve(&view.run.label, &view.style.line(), curve);
        }
    }
    let legend = run_legend(runs.iter().map(|run| run.view));
    Panel { title: title.into(), unit: unit.into(), legend, plot }
}
