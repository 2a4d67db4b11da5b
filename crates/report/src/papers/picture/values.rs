//! Values of rows over a parameter of their cases, or side by side.

use super::{MeasuredRecipe, PictureAxis, ValueCurve, ValuePanel, ValuePicture, ValuePoint};
use millpond_papers::names::{first_number, variable_part, without_numbers, without_variables};
use millpond_papers::{
    AcceptedRange, Expectation, FigurePanel, MeasuredRow, NumberIn, RecipeFigure, Relation,
};
use millpond_stats::{mean, quantile_of_sorted};
use millpond_units::glob;

/// Rows of one quantity, or of one panel of a figure.
pub(super) struct RowGroup<'a> {
    /// The quantity as the recipe writes it.
    pub written: &'a str,
    pub rows: Vec<&'a MeasuredRow>,
    /// The panel that the figure declares for them.
    pub declared: Option<&'a FigurePanel>,
}

/// The shares of the five numbers of a box over seeds.
const QUARTILES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl MeasuredRecipe<'_> {
    /// Values over the parameter in the names of cases or quantities.
    pub(super) fn over_parameter(&self, figure: &RecipeFigure) -> ValuePicture {
        let x = &figure.x;
        let point = |measured: &MeasuredRow| {
            let what = measured.row.what.get_ref();
            let text = if x.number_in == NumberIn::What { what } else { &measured.shown_case };
            let x = first_number(text, &x.unit)?;
            let name = joined([
                without_numbers(&measured.shown_case),
                measured.reading.clone(),
                self.variant(measured, figure),
            ]);
            Some((name, ValuePoint { x, ..point_of(measured, String::new()) }))
        };
        let panels = self.panels(figure).into_iter().map(|group| group.panel(&point));
        let axis = PictureAxis { label: x.label.clone(), unit: x.unit.clone(), log: x.log };
        let panels = panels.filter(|panel| !panel.curves.is_empty()).map(with_ordered_points).collect();
        ValuePicture { title: figure.title.clone(), parameter: Some(axis), panels }
    }

    /// What differs in the names of a quantity, unless the parameter is one of them.
    fn variant(&self, measured: &MeasuredRow, figure: &RecipeFigure) -> String {
        let is_case = figure.x.number_in == NumberIn::Case;
        let part = variable_part(&measured.row.written, measured.row.what.get_ref());
        if is_case { part.to_owned() } else { String::new() }
    }

    /// The rows of each panel that the figure declares, or of each quantity.
    pub(super) fn panels<'f>(&'f self, figure: &'f RecipeFigure) -> Vec<RowGroup<'f>> {
        let rows = || self.rows.iter().filter(|one| is_drawn(one) && figure.shows(&one.case));
        if figure.panels.is_empty() {
            return grouped(rows());
        }
        let of_panel = |panel: &'f FigurePanel| {
            let is_of = |one: &&MeasuredRow| panel.what.iter().any(|rows| glob(rows, one.row.what.get_ref()));
            let rows: Vec<_> = rows().filter(is_of).collect();
            let written = rows.first()?.row.written.as_str();
            Some(RowGroup { written, rows, declared: Some(panel) })
        };
        figure.panels.iter().filter_map(of_panel).collect()
    }
}

/// The rows of each quantity and unit, in the order of the recipe.
pub(super) fn grouped<'a>(rows: impl Iterator<Item = &'a MeasuredRow>) -> Vec<RowGroup<'a>> {
    let mut groups: Vec<RowGroup<'a>> = Vec::new();
    for one in rows {
        let is_same = |group: &&mut RowGroup<'a>| {
            group.written == one.row.written && group.rows.iter().all(|other| other.row.unit == one.row.unit)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.rows.push(one),
            None => groups.push(RowGroup { written: &one.row.written, rows: vec![one], declared: None }),
        }
    }
    groups
}

impl RowGroup<'_> {
    /// The panel of these rows; `point` gives the name of the curve and the point of each row.
    pub(super) fn panel(&self, point: &dyn Fn(&MeasuredRow) -> Option<(String, ValuePoint)>) -> ValuePanel {
        let mut curves: Vec<ValueCurve> = Vec::new();
        for (name, point) in self.rows.iter().filter_map(|one| point(one)) {
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(ValueCurve { name, points: vec![point] }),
            }
        }
        let several = self.rows.iter().any(|one| one.values.as_ref().is_ok_and(|values| values.len() > 1));
        let spread = if several { "least, quartiles and greatest of the seeds; marker: mean" } else { "" };
        ValuePanel { axis: self.axis(), curves, spread }
    }

    fn axis(&self) -> PictureAxis {
        let row = self.rows.first().map(|one| &one.row);
        let is_one =
            self.rows.iter().all(|one| Some(one.row.what.get_ref()) == row.map(|row| row.what.get_ref()));
        let label = match (self.declared, row) {
            (Some(panel), _) if !panel.label.is_empty() => panel.label.clone(),
            (_, Some(row)) if is_one => row.what.get_ref().clone(),
            _ => without_variables(self.written),
        };
        let unit = self.declared.and_then(|panel| panel.unit.clone());
        let unit = unit.or_else(|| row.map(|row| row.unit.clone())).unwrap_or_default();
        PictureAxis { label, unit, log: self.declared.is_some_and(|panel| panel.log) }
    }
}

/// Whether the row is drawn: a comparison with another row shows that row's value again, and is not.
pub(super) fn is_drawn(measured: &MeasuredRow) -> bool {
    measured.row.order().is_none_or(|order| order.than.is_none())
}

/// The measured value and the paper's, without a parameter.
pub(super) fn point_of(measured: &MeasuredRow, category: String) -> ValuePoint {
    let MeasuredRow { row, values, verdict, .. } = measured;
    let bounds = |AcceptedRange(low, high)| (low, high);
    ValuePoint {
        category,
        x: f64::NAN,
        measured: values.as_ref().ok().and_then(|values| over_seeds(values)),
        paper: row.paper_bounds().or_else(|| ordered_bounds(row)).map(bounds),
        theory: row.theory.map(bounds),
        verdict: Some(*verdict),
    }
}

/// The values of a quotient that have the order of the paper.
fn ordered_bounds(row: &Expectation) -> Option<AcceptedRange> {
    let order = row.order()?;
    Some(match order.order {
        Relation::Greater | Relation::AtLeast => AcceptedRange(order.by, f64::INFINITY),
        Relation::Less | Relation::AtMost => AcceptedRange(f64::NEG_INFINITY, 1.0 / order.by),
    })
}

/// Least value, lower quartile, mean, upper quartile and greatest value over the seeds: the mean is judged.
fn over_seeds(values: &[f64]) -> Option<[f64; 5]> {
    let [least, lower, _, upper, greatest] = five_numbers(values.to_vec(), QUARTILES)?;
    Some([least, lower, mean(values), upper, greatest])
}

/// Five quantiles of values; none if one of them is not finite.
pub(super) fn five_numbers(mut values: Vec<f64>, shares: [f64; 5]) -> Option<[f64; 5]> {
    values.sort_by(f64::total_cmp);
    let quantiles = shares.map(|share| quantile_of_sorted(&values, share).unwrap_or(f64::NAN));
    quantiles.iter().all(|value| value.is_finite()).then_some(quantiles)
}

/// The parts that are not empty, divided by commas.
pub(super) fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn with_ordered_points(mut panel: ValuePanel) -> ValuePanel {
    panel.curves.iter_mut().for_each(|curve| curve.points.sort_by(|one, other| one.x.total_cmp(&other.x)));
    panel
}
