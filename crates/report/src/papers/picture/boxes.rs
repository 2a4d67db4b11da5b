//! Boxes side by side: of values over seeds, of samples over time, or of a distribution.

use super::values::{five_numbers, grouped, is_drawn, joined, point_of};
use super::{MeasuredRecipe, PictureAxis, ValueCurve, ValuePanel, ValuePicture, ValuePoint};
use millpond_papers::names::variable_part;
use millpond_papers::{ChartedRun, FigurePanel, MeasuredRow, RecipeFigure};
use millpond_results::Run;
use millpond_stats::quantile_of_curve;
use millpond_units::glob;

/// The shares of the five numbers of a box of samples or packets.
const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
/// Derived panels have at least this many values; the table shows fewer as well.
const LEAST_VALUES: usize = 3;
/// Derived panels have at most this many values.
const MOST_VALUES: usize = 40;

impl MeasuredRecipe<'_> {
    /// The boxes that the figure declares.
    pub(super) fn boxes(&self, figure: &RecipeFigure) -> ValuePicture {
        let of_rows = |one: &FigurePanel| !one.what.is_empty();
        let mut panels: Vec<ValuePanel> = Vec::new();
        for group in self.panels(figure) {
            if group.declared.is_none_or(of_rows) {
                panels.push(group.panel(&category));
            }
        }
        panels.extend(
            figure.panels.iter().filter(|one| !of_rows(one)).map(|panel| self.of_runs(figure, panel)),
        );
        panels.retain(|panel| !panel.curves.is_empty());
        ValuePicture { title: figure.title.clone(), parameter: None, panels }
    }

    /// Boxes of all quantities with several values that no series shows.
    pub(super) fn derived_boxes(&self) -> ValuePicture {
        let is_shown = |one: &&MeasuredRow| is_drawn(one) && !is_in_series(one);
        let groups = grouped(self.rows.iter().filter(is_shown));
        let groups = groups.iter().filter(|group| (LEAST_VALUES..=MOST_VALUES).contains(&group.rows.len()));
        let panels = groups.map(|group| group.panel(&category)).collect();
        ValuePicture { title: String::new(), parameter: None, panels }
    }

    /// A box for each run.
    fn of_runs(&self, figure: &RecipeFigure, panel: &FigurePanel) -> ValuePanel {
        let shown = self.runs.iter().filter(|charted| figure.shows(&charted.case));
        let mut unit = String::new();
        let point = |charted: &ChartedRun| {
            let (numbers, own) = quantiles(panel, &charted.run)?;
            unit = own;
            Some(ValuePoint {
                category: charted.case.clone(),
                x: f64::NAN,
                measured: Some(numbers.map(|value| value * panel.scale.unwrap_or(1.0))),
                paper: None,
                theory: None,
                verdict: None,
            })
        };
        let points: Vec<_> = shown.filter_map(point).collect();
        let entity = panel.series.as_ref().or(panel.distribution.as_ref());
        let quantity = entity.map_or("", |entity| &entity.get_ref().quantity);
        let label = if panel.label.is_empty() { quantity } else { &panel.label };
        let unit = panel.unit.clone().unwrap_or(if unit == "1" { String::new() } else { unit });
        let curves =
            if points.is_empty() { Vec::new() } else { vec![ValueCurve { name: String::new(), points }] };
        let axis = PictureAxis { label: label.to_owned(), unit, log: panel.log };
        ValuePanel { axis, curves, spread: "5, 25, 50, 75 and 95 % of one run" }
    }
}

/// Whether a picture over time shows the row's value.
fn is_in_series(MeasuredRow { row, .. }: &MeasuredRow) -> bool {
    row.series.is_some() && row.versus.is_none() && row.over.is_none()
}

/// The curve and the point of a row: what differs in its quantity stands beside the box, the case is the curve; or the
/// case stands beside the box.
fn category(measured: &MeasuredRow) -> Option<(String, ValuePoint)> {
    let part = variable_part(&measured.row.written, measured.row.what.get_ref()).to_owned();
    let (case, reading) = (measured.shown_case.clone(), measured.reading.clone());
    let (name, category) = if part.is_empty() { (reading, case) } else { (joined([case, reading]), part) };
    Some((name, point_of(measured, category)))
}

/// The five numbers of a panel's series or distribution, with their unit.
fn quantiles(panel: &FigurePanel, run: &Run) -> Option<([f64; 5], String)> {
    if let Some(entity) = panel.distribution.as_ref().map(|entity| entity.get_ref()) {
        let (kind, pattern) = entity.kind_and_pattern().ok()?;
        let found = run
            .distributions
            .iter()
            .find(|one| one.kind == kind && one.quantity == entity.quantity && glob(pattern, &one.entity))?;
        let numbers = SHARES.map(|share| quantile_of_curve(&found.points, share).unwrap_or(f64::NAN));
        return Some((numbers, found.unit.clone())).filter(|_| numbers.iter().all(|value| value.is_finite()));
    }
    let entity = panel.series.as_ref()?.get_ref();
    let (kind, pattern) = entity.kind_and_pattern().ok()?;
    let from = panel.from.map_or(f64::NEG_INFINITY, |from| from.0);
    let mut samples = Vec::new();
    let mut unit = String::new();
    for series in &run.series {
        if series.kind == kind && series.quantity == entity.quantity && glob(pattern, &series.entity) {
            let timed = series.times.iter().zip(&series.values);
            samples.extend(
                timed.filter(|(time, value)| **time > from && value.is_finite()).map(|(_, value)| *value),
            );
            unit.clone_from(&series.unit);
        }
    }
    Some((five_numbers(samples, SHARES)?, unit))
}
