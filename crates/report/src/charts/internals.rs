//! Every quantity of a run that no other chart of the page shows.

use super::super::curve_set::{CurveSet, GroupValue};
use super::super::rate_unit::RateUnit;
use super::super::run_view::RunView;
use super::{COARSE, capitalized, run_title, time_axis};
use millpond_chart::{Axis, Figure, Panel, Plot, Scale};
use millpond_results::{EntityKind, Series, quantity};
use std::collections::BTreeMap;

/// Quantities that other charts of the page show.
const SHOWN: [&str; 5] =
    [quantity::GOODPUT, quantity::CAPACITY, quantity::THROUGHPUT, quantity::QUEUEING, quantity::JAIN];

/// What the series of one panel have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Variable<'a> {
    kind: EntityKind,
    quantity: &'a str,
    unit: &'a str,
}

/// One figure per run that has such quantities.
pub(crate) fn internals(views: &[RunView]) -> Vec<Figure> {
    let figure = |view: &RunView| Figure {
        id: format!("internals-{}", view.style.0),
        title: run_title(view),
        class: "internals",
        panels: panels(view, views),
        caption: String::new(),
    };
    views.iter().map(figure).filter(|figure| !figure.panels.is_empty()).collect()
}

fn panels(view: &RunView, all: &[RunView]) -> Vec<Panel> {
    let mut by_variable: BTreeMap<Variable<'_>, Vec<&Series>> = BTreeMap::new();
    for series in view.run.series.iter().filter(|series| !SHOWN.contains(&series.quantity.as_str())) {
        let variable = Variable { kind: series.kind, quantity: &series.quantity, unit: &series.unit };
        by_variable.entry(variable).or_default().push(series);
    }
    by_variable.into_iter().filter_map(|(variable, series)| panel(view, all, variable, &series)).collect()
}

/// The panel of one variable; none if it has no finite value.
fn panel(view: &RunView, all: &[RunView], variable: Variable<'_>, series: &[&Series]) -> Option<Panel> {
    let unit = unit(variable.unit, series);
    let curves = CurveSet::new(series, GroupValue::Mean, unit.factor, COARSE);
    curves.values().find(|value| value.is_finite())?;
    let Variable { kind, quantity, .. } = variable;
    let label = format!("{quantity} of each {} over time, {}", kind.name(), view.run.label);
    let y = Axis::numbered(Scale::around(curves.values()).without_spikes(curves.values()), "", 3);
    let mut plot = Plot::new(label, time_axis(all), y, 90).over_time();
    curves.draw(&mut plot);
    Some(Panel {
        title: capitalized(quantity),
        unit: unit.name.into(),
        legend: curves.legend().coloured(view.style),
        plot: plot.coloured(view.style),
    })
}

/// The unit in which values are drawn.
struct ChartUnit<'a> {
    name: &'a str,
    /// From the unit of the series.
    factor: f64,
}

/// A readable unit for rates, no name for the unit of a pure number, else the unit of the series.
fn unit<'a>(unit: &'a str, series: &[&Series]) -> ChartUnit<'a> {
    match unit {
        "bit/s" => {
            let values = series.iter().flat_map(|one| &one.values).copied();
            let unit = RateUnit::for_peak(values.fold(0.0, f64::max));
            ChartUnit { name: unit.label, factor: unit.factor }
        }
        "1" => ChartUnit { name: "", factor: 1.0 },
        name => ChartUnit { name, factor: 1.0 },
    }
}
