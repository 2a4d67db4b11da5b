//! The plane of Nyquist plots with equal units on both axes, and several plots in one plane.

use maud::html;
use millpond_chart::{Axis, Figure, LabelPosition, Legend, PLANE, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_fluid::stability::{Complex, Locus};
use std::f64::consts::PI;

const LEFT: f64 = -2.4;
const RIGHT: f64 = 1.2;

/// The part of the complex plane that is drawn; both axes have the same unit.
#[derive(Clone, Copy)]
pub struct NyquistPlane {
    left: f64,
    right: f64,
}

impl NyquistPlane {
    /// The surroundings of the unit circle.
    pub const UNIT_CIRCLE: Self = Self { left: LEFT, right: RIGHT };

    /// The plane that shows the unit circle and a value on the negative real axis, at most 25 times as wide.
    pub fn reaching(least: f64) -> Self {
        const ROOM: f64 = 1.15;
        const WIDEST: f64 = 25.0;
        let factor = (least * ROOM / LEFT).clamp(1.0, WIDEST);
        Self { left: LEFT * factor, right: RIGHT * factor }
    }

    /// The imaginary part at the upper end; the lower end is as far below zero.
    fn top(self) -> f64 {
        (self.right - self.left) * PLANE.1 / PLANE.0 / 2.0
    }

    /// Axes with the unit circle and the point -1.
    pub fn plot(self) -> Plot {
        const CRITICAL_POINT: Point = (-1.0, 0.0);
        let mut plot = Plot::new(
            "Nyquist loci",
            Axis::numbered(Scale::linear(self.left, self.right), "real part", 7),
            Axis::numbered(Scale::linear(-self.top(), self.top()), "", 5),
            0,
        )
        .coloured(SeriesStyle(0))
        .plane();
        plot.curve("unit circle", "guide", &arc(0.0, 2.0 * PI));
        plot.mark(SeriesStyle(6), CRITICAL_POINT);
        plot.text("name", CRITICAL_POINT, LabelPosition { dx: 8.0, dy: -8.0, is_left: false }, "-1");
        plot
    }

    /// Whether a value lies in the plane.
    pub fn contains(self, value: Complex<f64>) -> bool {
        (self.left..=self.right).contains(&value.re) && value.im.abs() <= self.top()
    }

    /// A point of a locus; not a number outside the plane.
    pub fn inside(self, value: Complex<f64>) -> Point {
        (value.re, if self.contains(value) { value.im } else { f64::NAN })
    }

    /// Pixels from the top left corner.
    pub fn position(self, value: Complex<f64>) -> Point {
        self.pixels(value - Complex::new(self.left, self.top()))
    }

    /// The difference of two values in pixels, downwards positive.
    pub fn pixels(self, difference: Complex<f64>) -> Point {
        let scale = PLANE.0 / (self.right - self.left);
        (difference.re * scale, -difference.im * scale)
    }
}

/// The arc of the unit circle between two angles in radians.
pub fn arc(from: f64, to: f64) -> Vec<Point> {
    const STEPS: u32 = 180;
    let angles = (0..=STEPS).map(|i| from + (to - from) * f64::from(i) / f64::from(STEPS));
    angles.map(|angle| (angle.cos(), angle.sin())).collect()
}

/// Loci for positive frequencies, each with its name.
pub fn several(curves: &[(String, Vec<Locus>)]) -> Figure {
    let plane = NyquistPlane::UNIT_CIRCLE;
    let mut plot = plane.plot();
    for (index, (name, loci)) in curves.iter().enumerate() {
        for locus in loci {
            let points: Vec<Point> = locus.points.iter().map(|(_, value)| plane.inside(*value)).collect();
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
