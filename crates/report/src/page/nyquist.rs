//! The plane of Nyquist plots with equal units on both axes, and several plots in one plane.

use maud::html;
use millpond_chart::{Axis, Figure, LabelPosition, Legend, PLANE, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_fluid::stability::{Complex, Locus};
use std::f64::consts::PI;

const LEFT: f64 = -2.4;
const RIGHT: f64 = 1.2;

/// The imaginary part at the upper end; the lower end is as far below zero.
fn top() -> f64 {
    (RIGHT - LEFT) * PLANE.1 / PLANE.0 / 2.0
}

/// Axes with the unit circle and the point -1.
pub(super) fn plane() -> Plot {
    const CRITICAL_POINT: Point = (-1.0, 0.0);
    let mut plot = Plot::new(
        "Nyquist loci",
        Axis::numbered(Scale::linear(LEFT, RIGHT), "real part", 7),
        Axis::numbered(Scale::linear(-top(), top()), "", 5),
        0,
    )
    .coloured(SeriesStyle(0))
    .plane();
    let angles = (0..=180).map(|i| f64::from(i) * PI / 90.0);
    let circle: Vec<Point> = angles.map(|angle| (angle.cos(), angle.sin())).collect();
    plot.curve("unit circle", "guide", &circle);
    plot.mark(SeriesStyle(6), CRITICAL_POINT);
    plot.text("name", CRITICAL_POINT, LabelPosition { dx: 8.0, dy: -8.0, is_left: false }, "-1");
    plot
}

/// A point of a locus; not a number outside the plane.
pub(super) fn inside(value: Complex<f64>) -> Point {
    let is_inside = (LEFT..=RIGHT).contains(&value.re) && value.im.abs() <= top();
    (value.re, if is_inside { value.im } else { f64::NAN })
}

/// Loci for positive frequencies, each with its name.
pub(super) fn several(curves: &[(String, Vec<Locus>)]) -> Figure {
    let mut plot = plane();
    for (index, (name, loci)) in curves.iter().enumerate() {
        for locus in loci {
            let points: Vec<Point> = locus.points.iter().map(|(_, value)| inside(*value)).collect();
            plot.curve(name, &SeriesStyle(index).line(), &points);
        }
    }
    let add =
        |legend: Legend, (index, (name, _)): (usize, &(String, _))| legend.series(SeriesStyle(index), name);
    let legend = curves.iter().enumerate().fold(Legend::new(), add).line("guide", "|L| = 1");
    Figure {
        id: "nyquist-loci".into(),
        title: html! { "Return ratio L(iw), w > 0" },
        class: "planar",
        panels: vec![Panel { title: "imaginary part".into(), unit: String::new(), legend, plot }],
        caption: "The eigenvalues of the return ratio over the bottlenecks. The frequency rises towards the origin."
            .to_owned(),
    }
}
