//! Series of one run over time, with the values of the paper and the fair shares.

use super::super::curve_set::{CurveSet, GroupValue, decimated};
use super::super::rate_unit::RateUnit;
use super::charted::{BusiestLink, bottleneck_of, case_name};
use super::paper_mark;
use super::picture::{OverTime, PaperArea, TimePanel};
use maud::{Markup, html};
use millpond_chart::{Axis, AxisSpacing, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_papers::{ChartedRun, CheckedRecipe};
use millpond_results::Series;
use millpond_units::format::fixed;

/// Points of all curves of a panel together; each curve has the least and the greatest value of every slice of time.
const SLICES_OF_PANEL: usize = 1400;
/// A curve has at most one slice for each pixel of a wide page with two columns.
const MOST_SLICES: usize = 560;
const LEAST_SLICES: usize = 140;
/// The height of the plots of a figure together, in pixels, and the least height of one.
const HEIGHT: u16 = 330;
const LEAST_HEIGHT: u16 = 90;
/// The greatest height of a plot, in pixels.
const MOST_HEIGHT: u16 = 200;
/// Half the height of the bar of a number, in pixels.
const BAR: f64 = 3.0;
/// Fair shares that differ are drawn up to this number.
const MOST_FAIR_SHARES: usize = 8;
/// A logarithmic axis spans at most this many powers of ten.
const DECADES: f64 = 6.0;

/// The figure of a run.
pub(super) fn figure(picture: &OverTime, checked: &CheckedRecipe) -> Option<Figure> {
    let charted = checked.runs.get(picture.run)?;
    let style = SeriesStyle(picture.run);
    let all = &charted.run.series;
    let end =
        picture.panels.iter().flat_map(|panel| &panel.series).filter_map(|index| all[*index].times.last());
    let end = end.copied().fold(0.0, f64::max);
    let height = (HEIGHT / picture.panels.len().max(1) as u16).clamp(LEAST_HEIGHT, MOST_HEIGHT);
    let last = picture.panels.len().saturating_sub(1);
    let panel = |(index, panel): (usize, &TimePanel)| {
        let axis = time_axis(charted, end);
        let axis = if index == last { axis } else { axis.without_text() };
        TimeCurves::new(panel, all, end).panel(axis, height, style, charted)
    };
    Some(Figure {
        id: String::new(),
        title: title(picture, charted, style),
        class: "own-time",
        panels: picture.panels.iter().enumerate().map(panel).collect(),
        caption: String::new(),
    })
}

fn title(picture: &OverTime, charted: &ChartedRun, style: SeriesStyle) -> Markup {
    html! {
        (style.badge())
        @if !picture.title.is_empty() { (picture.title) ": " }
        (case_name(charted))
        @if let Some(BusiestLink { link, utilization }) = bottleneck_of(charted) {
            span.summary { "bottleneck: " (link) " at " (fixed(100.0 * utilization, 1)) " %" }
        }
    }
}

fn time_axis(charted: &ChartedRun, end: f64) -> Axis {
    Axis::numbered(Scale::linear(0.0, end), charted.time_axis, 6)
}

/// What is drawn in a panel, in the unit of its axis.
struct TimeCurves<'a> {
    panel: &'a TimePanel,
    unit: String,
    curves: CurveSet,
    fair: Vec<Vec<Point>>,
    paper: Vec<PaperArea>,
}

impl<'a> TimeCurves<'a> {
    fn new(panel: &'a TimePanel, all: &[Series], end: f64) -> Self {
        let series: Vec<&Series> = panel.series.iter().map(|index| &all[*index]).collect();
        let (factor, unit) = factor_and_unit(panel, &series);
        let slices = (SLICES_OF_PANEL / series.len().clamp(1, 12)).clamp(LEAST_SLICES, MOST_SLICES);
        let mut fair: Vec<&Series> = Vec::new();
        for share in panel.fair.iter().map(|index| &all[*index]) {
            let is_equal = |other: &&Series| equal(&other.values, &share.values);
            if fair.len() < MOST_FAIR_SHARES && !fair.iter().any(is_equal) {
                fair.push(share);
            }
        }
        let scaled = |area: &PaperArea| {
            let (low, high) = (area.low * factor / panel.factor, area.high * factor / panel.factor);
            PaperArea { from: area.from.min(end), to: area.to.min(end), low, high }
        };
        Self {
            panel,
            unit,
            curves: CurveSet::new(&series, GroupValue::Mean, factor, slices),
            fair: fair.iter().map(|share| decimated(share, factor, slices)).collect(),
            paper: panel.paper.iter().filter(|area| area.from < end).map(scaled).collect(),
        }
    }

    fn scale(&self) -> Scale {
        let paper = self.paper.iter().flat_map(|area| [area.low, area.high]);
        let fair = self.fair.iter().flatten().map(|point| point.1);
        let values = self.curves.values().chain(paper).chain(fair);
        if self.panel.axis.log { Scale::log(values, DECADES) } else { Scale::around(values) }
    }

    fn panel(&self, time: Axis, height: u16, style: SeriesStyle, charted: &ChartedRun) -> Panel {
        let label = format!("{} over time, {}", self.panel.axis.label, case_name(charted));
        let scale = self.scale();
        let y = Axis::numbered(scale, "", if height > 110 { 4 } else { 3 });
        let mut plot = Plot::new(label, time, y, height).over_time().coloured(style);
        self.curves.draw(&mut plot);
        for share in &self.fair {
            plot.curve("fair share", FAIR, share);
        }
        for area in &self.paper {
            draw_area(&mut plot, &with_height(area, scale, height));
        }
        Panel {
            title: self.panel.axis.label.clone(),
            unit: self.unit.clone(),
            legend: self.legend(style),
            plot,
        }
    }

    fn legend(&self, style: SeriesStyle) -> Legend {
        self.curves
            .legend()
            .coloured(style)
            .and(Legend::new().line(FAIR, "fair share").when(!self.fair.is_empty()))
            .and(paper_mark::legend().when(!self.paper.is_empty()))
    }
}

const FAIR: &str = "line fair";

/// Equal values, or both not a number, at all times.
fn equal(one: &[f64], other: &[f64]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one == other || one.is_nan() && other.is_nan())
}

/// From the unit of the series to that of the axis; rates have the largest unit that fits.
fn factor_and_unit(panel: &TimePanel, series: &[&Series]) -> (f64, String) {
    if panel.axis.unit != "bit/s" {
        return (panel.factor, panel.axis.unit.clone());
    }
    let values = series.iter().flat_map(|one| &one.values).copied();
    let unit = RateUnit::for_peak(values.filter(|value| value.is_finite()).fold(0.0, f64::max));
    (unit.factor * panel.factor, unit.label.to_owned())
}

/// An area whose values are a number over time gets a height of a few pixels, so that its edge shows what is inside.
fn with_height(area: &PaperArea, scale: Scale, height: u16) -> PaperArea {
    if area.low != area.high || area.from == area.to {
        return *area;
    }
    let share = BAR / f64::from(height);
    let (low, high) = match scale.spacing {
        AxisSpacing::Linear => {
            let half = share * (scale.high - scale.low);
            (area.low - half, area.high + half)
        }
        AxisSpacing::Log => {
            let factor = libm::pow(scale.high / scale.low, share);
            (area.low / factor, area.high * factor)
        }
    };
    PaperArea { low, high, ..*area }
}

fn draw_area(plot: &mut Plot, area: &PaperArea) {
    let PaperArea { from, to, low, high } = *area;
    if from == to {
        paper_mark::draw(plot, (from, low), (to, high));
    } else {
        plot.band("paper-band", &[(from, low), (to, low)], &[(from, high), (to, high)]);
    }
}
