//! Nyquist loci on equal axes, so that the unit circle is one.

use super::super::bundle::legend_entry;
use super::super::decimate::Point;
use super::super::figure::{Figure, Panel};
use super::super::markup::short;
use super::super::plot::{Axis, PLANE, Plot};
use super::super::scale::Scale;
use super::super::theme::Look;
use crate::analysis::Stability;
use millpond_fluid::stability::{Characteristic, Complex, Locus, loci};
use std::f64::consts::PI;

const LEFT: f64 = -2.4;
const RIGHT: f64 = 1.2;

/// The loci around -1.
pub(super) fn chart(stability: &Stability) -> Figure {
    const DECADES_BELOW: f64 = 0.03;
    const DECADES_ABOVE: f64 = 100.0;
    let crossing = stability.margins.delay.or(stability.margins.phase).or(stability.margins.gain);
    let root = stability.spectrum.roots.first().map_or(1.0, |root| root.s.norm());
    let middle = crossing.map_or(root, |crossing| crossing.frequency);
    let function = Characteristic::new(&stability.linear.system);
    let top = (RIGHT - LEFT) * PLANE.1 / PLANE.0 / 2.0;
    let mut plot = Plot::new(
        "Nyquist loci",
        Axis::numbered(Scale::linear(LEFT, RIGHT), "real part", 7),
        Axis::numbered(Scale::linear(-top, top), "", 5),
        0,
    )
    .coloured(Look(0))
    .plane();
    let turn: Vec<Point> = (0..=180).map(|i| f64::from(i) * PI / 90.0).map(|a| (a.cos(), a.sin())).collect();
    plot.curve("size one", "guide", &turn);
    for locus in loci(&function, middle * DECADES_BELOW, middle * DECADES_ABOVE) {
        let at =
            |sign: f64| -> Vec<Point> { locus.points.iter().map(|(_, l)| inside(*l, sign * top)).collect() };
        plot.curve("-w", "line mirrored", &at(-1.0));
        plot.curve("w", "line", &at(1.0));
        if let Some((from, to)) = passing(&locus) {
            plot.arrow("arrow", from, to);
        }
    }
    plot.mark(Look(6), (-1.0, 0.0));
    plot.words("name", (-1.0, 0.0), (8.0, -8.0), false, "-1");
    let keys = [("line", "w > 0"), ("line mirrored", "w < 0"), ("guide", "|L| = 1")];
    let keys: String = keys.iter().map(|(class, name)| legend_entry(class, name)).collect();
    let legend = format!(r#"<span class="c0">{keys}</span>"#);
    let panel = Panel { title: "imaginary part".into(), unit: String::new(), legend, plot };
    Figure {
        id: "nyquist-loci".into(),
        title: "Return ratio L(iw)".into(),
        class: "planar",
        panels: vec![panel],
        caption: caption(stability),
    }
}

/// A point of the locus, or of its mirror image where `top` is negative; broken where it leaves the picture.
fn inside(value: Complex<f64>, top: f64) -> Point {
    let (re, im) = (value.re, value.im * top.signum());
    let visible = (LEFT..=RIGHT).contains(&re) && im.abs() <= top.abs();
    (re, if visible { im } else { f64::NAN })
}

/// Two neighbours where the locus passes through the size of two thirds: where an arrow shows the way of rising frequency.
fn passing(locus: &Locus) -> Option<(Point, Point)> {
    const SIZE: f64 = 0.67;
    let pair = locus.points.windows(2).find(|pair| pair[0].1.norm() >= SIZE && pair[1].1.norm() < SIZE)?;
    Some(((pair[0].1.re, pair[0].1.im), (pair[1].1.re, pair[1].1.im)))
}

fn caption(stability: &Stability) -> String {
    let way = "The arrow shows the way of rising frequency.";
    if !stability.spectrum.is_stable() {
        return format!("The loci go around -1: unstable. {way}");
    }
    let margins = &stability.margins;
    let gain =
        margins.gain.map(|gain| format!("gain x{} at {} rad/s", short(gain.margin), short(gain.frequency)));
    let phase = margins.phase.map(|phase| {
        format!("phase {}° at {} rad/s", short(phase.margin.to_degrees()), short(phase.frequency))
    });
    let delay = margins.delay.map(|delay| format!("delay {} ms", short(delay.margin * 1e3)));
    let all: Vec<String> = [gain, phase, delay].into_iter().flatten().collect();
    if all.is_empty() {
        format!("Margins are unlimited. {way}")
    } else {
        format!("Margins: {}. {way}", all.join(", "))
    }
}
