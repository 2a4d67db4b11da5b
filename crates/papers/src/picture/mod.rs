//! Pictures of checked recipes, as data: what is drawn on which axes, with the paper's values. `millpond-report` draws
//! them.
//!
//! A recipe declares its pictures in `[[figures]]`. Without them, pictures are derived from the rows: series that rows
//! measure over time (rates and queues if there is none), and boxes of values that no series shows.

mod boxes;
mod over_time;
mod scatter;
mod values;

use super::expect::Expectation;
use super::figure::{RecipeFigure, RecipeFigureKind};
use super::recipe::Recipe;
use super::verdict::{RowValues, RowVerdict};
use millpond_results::Run;

/// A run that is kept for charts.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartedRun {
    /// The case.
    pub case: String,
    /// The reading.
    pub reading: String,
    /// What its times count, with the unit.
    pub time_axis: &'static str,
    /// The run.
    pub run: Run,
}

/// An axis with the quantity that it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureAxis {
    /// The quantity.
    pub label: String,
    /// The unit; empty if there is none.
    pub unit: String,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Series of one run over time.
    OverTime(OverTime),
    /// Values over a parameter, or boxes side by side.
    Values(ValuePicture),
    /// Two numbers of each run.
    Scatter(ScatterPicture),
}

/// Series of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub title: String,
    /// Index of the run among the charted runs.
    pub run: usize,
    /// The quantities, from top to bottom.
    pub panels: Vec<TimePanel>,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePanel {
    /// The vertical axis.
    pub axis: PictureAxis,
    /// From the unit of the series to that of the axis.
    pub factor: f64,
    /// Indices of the series in the run.
    pub series: Vec<usize>,
    /// Indices of the fair shares in the run.
    pub fair: Vec<usize>,
    /// The paper's values, in the unit of the axis.
    pub paper: Vec<PaperArea>,
}

/// A value of the paper over an interval of time: a range, a number (`low` is `high`), or a point of time at which a
/// value is reached (`from` is `to` as well).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperArea {
    /// The start, in seconds or steps.
    pub from: f64,
    /// The end; infinite if it is that of the run.
    pub to: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// Values over a parameter, or boxes side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuePicture {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub title: String,
    /// The axis of the parameter; none for boxes.
    pub parameter: Option<PictureAxis>,
    /// The quantities.
    pub panels: Vec<ValuePanel>,
}

/// A quantity over a parameter, or side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuePanel {
    /// The axis of the values.
    pub axis: PictureAxis,
    /// A curve for each variant.
    pub curves: Vec<ValueCurve>,
    /// What the ends of a box and of its whiskers are; empty if there is one value for each point.
    pub spread: &'static str,
}

/// The values of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueCurve {
    /// The variant; empty if there is only one.
    pub name: String,
    /// Its values.
    pub points: Vec<ValuePoint>,
}

/// A measured value beside that of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuePoint {
    /// The name beside a box.
    pub category: String,
    /// The value of the parameter; not a number for boxes.
    pub x: f64,
    /// Lower whisker, lower end of the box, mean over seeds or median of samples, upper end of the box, upper whisker; none
    /// if not measured.
    pub measured: Option<[f64; 5]>,
    /// The paper's number (twice) or range.
    pub paper: Option<(f64, f64)>,
    /// The range of theory, if the paper's value is not the result.
    pub theory: Option<(f64, f64)>,
    /// The verdict of its row, if it has one.
    pub verdict: Option<RowVerdict>,
}

/// Two numbers of each run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPicture {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub title: String,
    /// The horizontal axis.
    pub x: PictureAxis,
    /// The vertical axis.
    pub y: PictureAxis,
    /// Index of each run among the charted runs, with its point.
    pub points: Vec<(usize, (f64, f64))>,
    /// Numbers or ranges of the paper on the horizontal axis.
    pub paper_x: Vec<(f64, f64)>,
    /// Numbers or ranges of the paper on the vertical axis.
    pub paper_y: Vec<(f64, f64)>,
}

/// A row with its values and its verdict.
pub(super) struct MeasuredRow<'a> {
    pub row: &'a Expectation,
    /// The case, with the other one of a quotient.
    pub case: String,
    /// The reading, empty if it is the paper's first.
    pub reading: String,
    pub values: RowValues,
    pub verdict: RowVerdict,
}

/// A checked recipe from which pictures are derived.
pub(super) struct MeasuredRecipe<'a> {
    pub recipe: &'a Recipe,
    pub rows: &'a [MeasuredRow<'a>],
    pub runs: &'a [ChartedRun],
}

impl MeasuredRecipe<'_> {
    /// The pictures that the recipe declares; derived ones if it declares none.
    pub(super) fn pictures(&self) -> Vec<Picture> {
        if self.recipe.figures.is_empty() {
            return self.derived();
        }
        self.recipe.figures.iter().flat_map(|figure| self.declared(figure.get_ref())).collect()
    }

    fn declared(&self, figure: &RecipeFigure) -> Vec<Picture> {
        match figure.kind {
            RecipeFigureKind::Time => self.over_time(figure).into_iter().map(Picture::OverTime).collect(),
            RecipeFigureKind::Parameter => vec![Picture::Values(self.over_parameter(figure))],
            RecipeFigureKind::Boxes => vec![Picture::Values(self.boxes(figure))],
            RecipeFigureKind::Scatter => self.scatter(figure).map(Picture::Scatter).into_iter().collect(),
        }
    }

    fn derived(&self) -> Vec<Picture> {
        let time = self.over_time(&RecipeFigure::default());
        let time = if time.is_empty() { self.rates_and_queues() } else { time };
        let values = self.derived_boxes();
        let values = Some(values).filter(|picture| !picture.panels.is_empty()).map(Picture::Values);
        time.into_iter().map(Picture::OverTime).chain(values).collect()
    }
}

impl RecipeFigure {
    /// Whether this case is drawn.
    fn shows(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|shown| shown == case)
    }
}

#[cfg(test)]
mod tests;
