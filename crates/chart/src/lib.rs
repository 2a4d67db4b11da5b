//! Charts as inline SVG and as files: axes, scales, curves, figures, their style sheet and their script. It depends on no
//! other crate of Millpond.
//!
//! A [`Plot`] is one pair of axes with what is drawn between them, a [`Panel`] is a plot with its heading and its legend,
//! and a [`Figure`] is a column of panels with a caption. All three are markup for an HTML page that includes [`STYLE`],
//! [`SCRIPT`] and [`definitions`] once. Coordinates are whole numbers on a grid, so equal data give equal bytes. A figure
//! is also an SVG or PDF file of the width of one or two columns of a paper.
//!
//! Colours, dashes and line widths are classes of [`STYLE`]. A page may add classes of its own.

mod axis;
mod decimate;
mod element;
mod figure;
mod label;
mod legend;
mod paper;
mod plot;
mod scale;
mod style;
mod text;

pub use axis::Axis;
pub use decimate::{Point, decimate, slice_means, with_gaps};
pub use element::PLANE;
pub use figure::{Figure, Panel};
pub use label::{
    LabelPosition, LabelSpace, MarkedName, PlacedNames, label_positions, name_classes, name_width,
};
pub use legend::Legend;
pub use paper::{PaperColour, PaperPaint, PaperRule, PaperWidth};
pub use plot::Plot;
pub use scale::{AxisSpacing, Scale, are_of_one_order};
pub use style::{CurveStyle, SeriesStyle, definitions};
pub use text::elide;

/// The style sheet of charts: light, dark and print.
pub const STYLE: &str = include_str!("chart.css");

/// The script of charts: it reads values under the pointer and zooms the time axis. Charts are complete without it.
pub const SCRIPT: &str = include_str!("chart.js");
