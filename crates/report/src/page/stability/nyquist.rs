//! Nyquist loci of a scenario, with their margins.

use super::super::bundle::legend_entry;
use super::super::nyquist::{inside, plane};
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::short;
use millpond_fluid::stability::{Characteristic, Locus, loci};
use millpond_theory::stability::Stability;
use millpond_units::format::duration;

/// The loci around -1.
pub(super) fn chart(stability: &Stability) -> Figure {
    const DECADES_BELOW: f64 = 0.03;
    const DECADES_ABOVE: f64 = 100.0;
    let crossing = stability.margins.delay.or(stability.margins.phase).or(stability.margins.gain);
    let root = stability.spectrum.roots.first().map_or(1.0, |root| root.s.norm());
    let middle = crossing.map_or(root, |crossing| crossing.frequency);
    let function = Characteristic::new(&stability.linear.system);
    let mut plot = plane();
    for locus in loci(&function, middle * DECADES_BELOW, middle * DECADES_ABOVE) {
        let at: Vec<Point> = locus.points.iter().map(|(_, value)| inside(*value)).collect();
        let mirrored: Vec<Point> = at.iter().map(|&(re, im)| (re, -im)).collect();
        plot.curve("-w", "line mirrored", &mirrored);
        plot.curve("w", "line", &at);
        if let Some((from, to)) = passing(&locus) {
            plot.arrow("arrow", from, to);
        }
    }
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
    let delay = margins.delay.map(|delay| format!("delay {}", duration(delay.margin)));
    let all: Vec<String> = [gain, phase, delay].into_iter().flatten().collect();
    if all.is_empty() {
        format!("Margins are unlimited. {way}")
    } else {
        format!("Margins: {}. {way}", all.join(", "))
    }
}
