//! The plane of Nyquist plots, on equal axes, so that the unit circle is one; and several plots in it.

use super::bundle::legend_entry;
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, PLANE, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_fluid::stability::{Complex, Locus};
use std::f64::consts::PI;

const LEFT: f64 = -2.4;
const RIGHT: f64 = 1.2;

/// As far up as down.
fn top() -> f64 {
    (RIGHT - LEFT) * PLANE.1 / PLANE.0 / 2.0
}

/// Axes with the unit circle and the point -1.
pub(super) fn plane() -> Plot {
    let mut plot = Plot::new(
        "Nyquist loci",
        Axis::numbered(Scale::linear(LEFT, RIGHT), "real part", 7),
        Axis::numbered(Scale::linear(-top(), top()), "", 5),
        0,
    )
    .coloured(Look(0))
    .plane();
    let turn: Vec<Point> = (0..=180).map(|i| f64::from(i) * PI / 90.0).map(|a| (a.cos(), a.sin())).collect();
    plot.curve("size one", "guide", &turn);
    plot.mark(Look(6), (-1.0, 0.0));
    plot.words("name", (-1.0, 0.0), (8.0, -8.0), false, "-1");
    plot
}

/// A point of a locus; broken where it leaves the picture.
pub(super) fn inside(value: Complex<f64>) -> Point {
    let visible = (LEFT..=RIGHT).contains(&value.re) && value.im.abs() <= top();
    (value.re, if visible { value.im } else { f64::NAN })
}

/// Plots for positive frequencies, each under its name.
pub(super) fn several(curves: &[(String, Vec<Locus>)]) -> Figure {
    let mut plot = plane();
    let mut legend = String::new();
    for (place, (name, loci)) in curves.iter().enumerate() {
        let look = Look(place);
        let class = format!("line {} {}", look.colour(), look.dashes());
        for locus in loci {
            let points: Vec<Point> = locus.points.iter().map(|(_, value)| inside(*value)).collect();
            plot.curve(name, &class, &points);
        }
        legend += &look.legend_entry(name);
    }
    legend += &format!(r#"<span class="c0">{}</span>"#, legend_entry("guide", "|L| = 1"));
    Figure {
        id: "nyquist-loci".into(),
        title: "Return ratio L(iw), w > 0".into(),
        class: "planar",
        panels: vec![Panel { title: "imaginary part".into(), unit: String::new(), legend, plot }],
        caption: "The eigenvalues over the bottlenecks; frequency rises towards the origin.".to_owned(),
    }
}
