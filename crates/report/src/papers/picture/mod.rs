//! What is drawn of a checked recipe, as data: quantities on axes, with the paper's values.
//!
//! A recipe declares its pictures in `[[figures]]`. Without them, pictures are derived from the rows: series that rows
//! measure over time (rates and queues if there is none), and boxes of values that no series shows.

mod boxes;
mod over_time;
mod scatter;
mod values;

use millpond_papers::{ChartedRun, CheckedRecipe, MeasuredRow, RecipeFigure, RecipeFigureKind, RowVerdict};

/// An axis with the quantity that it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PictureAxis {
    /// The quantity.
    pub(super) label: String,
    /// The unit; empty if there is none.
    pub(super) unit: String,
    /// Whether the axis is logarithmic.
    pub(super) log: bool,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Picture {
    /// Series of one run over time.
    OverTime(OverTime),
    /// Values over a parameter, or boxes side by side.
    Values(ValuePicture),
    /// Two numbers of each run.
    Scatter(ScatterPicture),
}

/// Series of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OverTime {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub(super) title: String,
    /// Index of the run among the charted runs.
    pub(super) run: usize,
    /// The quantities, from top to bottom.
    pub(super) panels: Vec<TimePanel>,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimePanel {
    /// The vertical axis.
    pub(super) axis: PictureAxis,
    /// From the unit of the series to that of the axis.
    pub(super) factor: f64,
    /// Indices of the series in the run.
    pub(super) series: Vec<usize>,
    /// Indices of the fair shares in the run.
    pub(super) fair: Vec<usize>,
    /// The paper's values, in the unit of the axis.
    pub(super) paper: Vec<PaperArea>,
}

/// A value of the paper over an interval of time: a range, a number (`low` is `high`), or a point of time at which a
/// value is reached (`from` is `to` as well).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PaperArea {
    /// The start, in seconds or steps.
    pub(super) from: f64,
    /// The end; infinite if it is that of the run.
    pub(super) to: f64,
    /// The least value.
    pub(super) low: f64,
    /// The greatest value.
    pub(super) high: f64,
}

/// Values over a parameter, or boxes side by side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuePicture {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub(super) title: String,
    /// The axis of the parameter; none for boxes.
    pub(super) parameter: Option<PictureAxis>,
    /// The quantities.
    pub(super) panels: Vec<ValuePanel>,
}

/// A quantity over a parameter, or side by side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuePanel {
    /// The axis of the values.
    pub(super) axis: PictureAxis,
    /// A curve for each variant.
    pub(super) curves: Vec<ValueCurve>,
    /// What the ends of a box and of its whiskers are; empty if there is one value for each point.
    pub(super) spread: &'static str,
}

/// The values of one variant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueCurve {
    /// The variant; empty if there is only one.
    pub(super) name: String,
    /// Its values.
    pub(super) points: Vec<ValuePoint>,
}

/// A measured value beside that of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuePoint {
    /// The name beside a box.
    pub(super) category: String,
    /// The value of the parameter; not a number for boxes.
    pub(super) x: f64,
    /// Lower whisker, lower end of the box, mean over seeds or median of samples, upper end of the box, upper whisker; none
    /// if not measured.
    pub(super) measured: Option<[f64; 5]>,
    /// The paper's number (twice) or range.
    pub(super) paper: Option<(f64, f64)>,
    /// The range of theory, if the paper's value is not the result.
    pub(super) theory: Option<(f64, f64)>,
    /// The verdict of its row, if it has one.
    pub(super) verdict: Option<RowVerdict>,
}

/// Two numbers of each run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScatterPicture {
    /// Which figure of the paper it is; empty if the recipe does not say it.
    pub(super) title: String,
    /// The horizontal axis.
    pub(super) x: PictureAxis,
    /// The vertical axis.
    pub(super) y: PictureAxis,
    /// Index of each run among the charted runs, with its point.
    pub(super) points: Vec<(usize, (f64, f64))>,
    /// Numbers or ranges of the paper on the horizontal axis.
    pub(super) paper_x: Vec<(f64, f64)>,
    /// Numbers or ranges of the paper on the vertical axis.
    pub(super) paper_y: Vec<(f64, f64)>,
}

/// The pictures that a checked recipe declares; derived ones if it declares none.
pub(super) fn pictures(checked: &CheckedRecipe) -> Vec<Picture> {
    let recipe = MeasuredRecipe { rows: &checked.measured, runs: &checked.runs };
    recipe.pictures(&checked.figures)
}

/// The rows and the runs from which pictures are derived.
struct MeasuredRecipe<'a> {
    rows: &'a [MeasuredRow],
    runs: &'a [ChartedRun],
}

impl MeasuredRecipe<'_> {
    fn pictures(&self, figures: &[RecipeFigure]) -> Vec<Picture> {
        if figures.is_empty() {
            self.derived()
        } else {
            figures.iter().flat_map(|one| self.declared(one)).collect()
        }
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

#[cfg(test)]
mod tests;
