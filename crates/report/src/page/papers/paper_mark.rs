//! Values of a paper in a plot: open bars and diamonds, drawn below the curves so that measured values stay visible.

use maud::{Markup, html};
use millpond_chart::{Plot, Point};

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

/// The entry of the legend.
pub(super) fn legend_entry() -> Markup {
    html! {
        span.key {
            svg.swatch width="22" height="10" aria-hidden="true" {
                path class="paper-edge" d="M1 5H21" {}
                path class="paper-core" d="M2 5H20" {}
            }
            "paper"
        }
    }
}

/// The entry of the range of theory.
pub(super) fn theory_entry() -> Markup {
    html! {
        span.key {
            svg.swatch width="22" height="10" aria-hidden="true" { path class="theory-range" d="M1 5H21" {} }
            "range of theory"
        }
    }
}
