//! Values of a paper in a plot: open bars and diamonds, drawn below the curves so that measured values stay visible.

use millpond_chart::{Legend, Plot, Point};

/// Draws an open bar between two points, or an open diamond if they are the same.
pub(super) fn draw(plot: &mut Plot, from: Point, to: Point) {
    if from == to {
        plot.open_mark(from);
        return;
    }
    for class in ["paper-edge", "paper-core"] {
        plot.unnamed_curve(class, &[from, to]);
    }
}

/// The legend of values of a paper.
pub(super) fn legend() -> Legend {
    Legend::new().lines(&["paper-edge", "paper-core"], "paper")
}

/// The legend of ranges of theory.
pub(super) fn theory_legend() -> Legend {
    Legend::new().line("theory-range", "range of theory")
}
