//! Nyquist loci of a scenario, with its margins.

use super::super::nyquist::{inside, plane};
use maud::html;
use millpond_chart::{Figure, Legend, Panel, Plot, Point, SeriesStyle};
use millpond_fluid::stability::{Characteristic, Locus, loci};
use millpond_theory::stability::Stability;
use millpond_units::format::{duration, number};

/// The loci around -1.
pub(super) fn chart(stability: &Stability) -> Figure {
    let mut plot = plane();
    draw(&mut plot, stability);
    let legend = Legend::new().line("line", "w > 0").line("line mirrored", "w < 0").line("guide", "|L| = 1");
    let legend = legend.coloured(SeriesStyle(0));
    Figure {
        id: "nyquist-loci".into(),
        title: html! { "Return ratio L(iw)" },
        class: "planar",
        panels: vec![Panel { title: "imaginary part".into(), unit: String::new(), legend, plot }],
        caption: caption(stability),
    }
}

/// Frequencies around that of the margins, else around that of the rightmost root.
fn draw(plot: &mut Plot, stability: &Stability) {
    const LOWEST: f64 = 0.03;
    const HIGHEST: f64 = 100.0;
    let crossing = stability.margins.delay.or(stability.margins.phase).or(stability.margins.gain);
    let root = stability.spectrum.roots.first().map_or(1.0, |root| root.s.norm());
    let middle = crossing.map_or(root, |crossing| crossing.frequency);
    let function = Characteristic::new(&stability.linear.system);
    for locus in loci(&function, middle * LOWEST, middle * HIGHEST) {
        let points: Vec<Point> = locus.points.iter().map(|(_, value)| inside(*value)).collect();
        let mirrored: Vec<Point> = points.iter().map(|&(re, im)| (re, -im)).collect();
        plot.curve("-w", "line mirrored", &mirrored);
        plot.curve("w", "line", &points);
        if let Some((from, to)) = arrow(&locus) {
            plot.arrow("arrow", from, to);
        }
    }
}

/// Two adjacent points where the locus enters the circle of two thirds around the origin, for an arrow.
fn arrow(locus: &Locus) -> Option<(Point, Point)> {
    const RADIUS: f64 = 0.67;
    let pair =
        locus.points.windows(2).find(|pair| pair[0].1.norm() >= RADIUS && pair[1].1.norm() < RADIUS)?;
    Some(((pair[0].1.re, pair[0].1.im), (pair[1].1.re, pair[1].1.im)))
}

fn caption(stability: &Stability) -> String {
    let direction = "The arrow shows the direction of rising frequency.";
    if !stability.spectrum.is_stable() {
        return format!("The loci encircle -1: unstable. {direction}");
    }
    let margins = &stability.margins;
    let gain =
        margins.gain.map(|gain| format!("gain x{} at {} rad/s", number(gain.margin), number(gain.frequency)));
    let phase = margins.phase.map(|phase| {
        format!("phase {}° at {} rad/s", number(phase.margin.to_degrees()), number(phase.frequency))
    });
    let delay = margins.delay.map(|delay| format!("delay {}", duration(delay.margin)));
    let margins: Vec<String> = [gain, phase, delay].into_iter().flatten().collect();
    if margins.is_empty() {
        format!("The margins are unlimited. {direction}")
    } else {
        format!("Margins: {}. {direction}", margins.join(", "))
    }
}
