//! Nyquist loci of a scenario, with its margins and with frequencies along the loci.

use crate::margin_marks::{MarginMark, MarginMarks, arc_from_minus_one};
use maud::html;
use millpond_chart::{
    Figure, LabelPosition, LabelSpace, Legend, MarkedName, PLANE, Panel, Plot, Point, SeriesStyle,
};
use millpond_fluid::stability::{Characteristic, Complex, Locus, Margins, Spectrum, loci};
use millpond_report::nyquist::{NyquistPlane, arc};
use millpond_theory::stability::Stability;
use millpond_units::format::{duration, number};

/// Style class of the gain margin.
const GAIN: &str = "line margin c1";
/// Style class of the phase margin.
const PHASE: &str = "line margin c2";

/// The loci around -1.
pub(crate) fn chart(stability: &Stability) -> Figure {
    let marks = MarginMarks::of(stability);
    let least = marks.gain.as_ref().map_or(-1.0, |mark| mark.value.re);
    let plane = NyquistPlane::reaching(least);
    let mut plot = plane.plot();
    draw(&mut plot, plane, stability, &marks);
    let legend = Legend::new().line("line", "w > 0").line("line mirrored", "w < 0").line("guide", "|L| = 1");
    let legend = legend
        .and(Legend::new().line(GAIN, marks.gain_name()).when(marks.gain.is_some()))
        .and(Legend::new().line(PHASE, "phase margin").when(marks.phase.is_some()))
        .coloured(SeriesStyle(0));
    Figure {
        id: "nyquist-loci".into(),
        title: html! { "Return ratio L(iw)" },
        class: "planar",
        panels: vec![Panel { title: "imaginary part".into(), unit: String::new(), legend, plot }],
        caption: caption(stability),
    }
}

/// Frequencies around that of the margins, else around that of the rightmost root that is not zero.
fn draw(plot: &mut Plot, plane: NyquistPlane, stability: &Stability, marks: &MarginMarks) {
    const LOWEST: f64 = 0.03;
    const HIGHEST: f64 = 100.0;
    let crossing = stability.margins.delay.or(stability.margins.phase).or(stability.margins.gain);
    let root = stability.spectrum.first_nonzero().map_or(1.0, |root| root.s.norm());
    let middle = crossing.map_or(root, |crossing| crossing.frequency);
    let function = Characteristic::new(&stability.linear.system);
    let loci = loci(&function, middle * LOWEST, middle * HIGHEST).unwrap_or_default();
    for locus in &loci {
        let points: Vec<Point> = locus.points.iter().map(|(_, value)| plane.inside(*value)).collect();
        let mirrored: Vec<Point> = points.iter().map(|&(re, im)| (re, -im)).collect();
        plot.curve("-w", "line mirrored", &mirrored);
        plot.curve("w", "line", &points);
        if let Some((from, to)) = arrow(locus) {
            plot.arrow("arrow", from, to);
        }
    }
    let mut labels = Labels { plot, plane, space: LabelSpace::new(PLANE.0 * NARROW) };
    labels.space.add_marker(labels.place(Complex::new(-1.0, 0.0)));
    let name = MarkedName { at: labels.place(Complex::new(-1.0, 0.0)), name: "-1" };
    labels.space.add_name(name, MINUS_ONE);
    if let Some(gain) = &marks.gain {
        labels.draw_gain(gain);
    }
    if let Some(phase) = &marks.phase {
        labels.draw_phase(phase);
    }
    labels.draw_frequencies(&loci);
}

/// Names have room also on a plot of this share of its full width, such as on a phone.
const NARROW: f64 = 0.5;

/// What is drawn with names beside it.
struct Labels<'p> {
    plot: &'p mut Plot,
    plane: NyquistPlane,
    /// The places that are covered on a narrow plot.
    space: LabelSpace,
}

impl Labels<'_> {
    /// Pixels from the top left corner of a narrow plot.
    fn place(&self, value: Complex<f64>) -> Point {
        let (x, y) = self.plane.position(value);
        (x * NARROW, y * NARROW)
    }

    /// The segment of the real axis between -1 and the crossing of the locus.
    fn draw_gain(&mut self, mark: &MarginMark) {
        let crossing: Point = (mark.value.re, 0.0);
        self.plot.unnamed_curve(GAIN, &[(-1.0, 0.0), crossing]);
        self.plot.dot("point c1", crossing, 3.5);
        self.space.add_marker(self.place(mark.value));
        // Right of -1, where the locus of an unstable network leaves room, if the name does not leave the plot there.
        let (from, dx) =
            if mark.value.re < -1.0 { (-1.0, 8.0) } else { (f64::midpoint(-1.0, mark.value.re), -12.0) };
        let from = Complex::new(from, 0.0);
        let at = |dx, is_left| LabelPosition { dx, dy: 18.0 - BASELINE, is_left };
        let name = MarkedName { at: self.place(from), name: &mark.label };
        let sides = [at(dx, false), at(8.0, true)];
        let position = self.space.free_position(name, sides).unwrap_or(at(8.0, true));
        self.name("name", from, LabelPosition { dy: position.dy + BASELINE, ..position }, &mark.label);
    }

    /// The arc of the unit circle between -1 and the crossing of the locus, and the ray to the crossing.
    fn draw_phase(&mut self, mark: &MarginMark) {
        let (from, to) = arc_from_minus_one(mark.value);
        let crossing = Complex::from_polar(1.0, to);
        self.plot.unnamed_curve("guide", &[(0.0, 0.0), (crossing.re, crossing.im)]);
        self.plot.unnamed_curve(PHASE, &arc(from, to));
        self.plot.dot("point c2", (crossing.re, crossing.im), 3.5);
        self.space.add_marker(self.place(crossing));
        let middle = Complex::from_polar(1.0, f64::midpoint(from, to));
        self.name("name", middle, beside(self.plane, middle, 10.0), &mark.label);
    }

    fn name(&mut self, class: &str, at: Complex<f64>, position: LabelPosition, text: &str) {
        self.plot.text(class, (at.re, at.im), position, text);
        let position = LabelPosition { dy: position.dy - BASELINE, ..position };
        self.space.add_name(MarkedName { at: self.place(at), name: text }, position);
    }

    /// Round frequencies along the loci, where there is room for their names.
    fn draw_frequencies(&mut self, loci: &[Locus]) {
        const DISTANCE: f64 = 9.0;
        let mut unit = " rad/s";
        for mark in loci.iter().flat_map(round_frequencies) {
            let at = self.place(mark.value);
            if !self.plane.contains(mark.value) || !self.space.has_room_for_marker(at) {
                continue;
            }
            // Both sides of the locus, first the one that is farther from the origin.
            let across = Complex::new(-mark.direction.im, mark.direction.re);
            let outwards = if (across * mark.value.conj()).re < 0.0 { -across } else { across };
            let sides = [outwards, -outwards].map(|side| {
                let position = beside(self.plane, side, DISTANCE);
                LabelPosition { dy: position.dy - BASELINE, ..position }
            });
            let text = format!("{}{unit}", mark.frequency);
            let Some(side) = self.space.free_position(MarkedName { at, name: &text }, sides) else {
                continue;
            };
            self.plot.dot("point", (mark.value.re, mark.value.im), 3.0);
            self.space.add_marker(at);
            self.name("hint", mark.value, LabelPosition { dy: side.dy + BASELINE, ..side }, &text);
            unit = "";
        }
    }
}

/// The position of the name of the point -1.
const MINUS_ONE: LabelPosition = LabelPosition { dx: 8.0, dy: -12.0, is_left: false };
/// From the middle of a text to its base line, in pixels.
const BASELINE: f64 = 4.0;

/// A text so many pixels away from a place, in the direction of `outwards` from the origin.
fn beside(plane: NyquistPlane, outwards: Complex<f64>, distance: f64) -> LabelPosition {
    let (dx, dy) = plane.pixels(outwards);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let (dx, dy) = (dx / length * distance, dy / length * distance);
    LabelPosition { dx, dy: dy + BASELINE, is_left: dx < 0.0 }
}

/// A frequency on a locus.
struct FrequencyMark {
    /// In rad/s.
    frequency: f64,
    value: Complex<f64>,
    /// The direction of the locus.
    direction: Complex<f64>,
}

/// 1, 2 and 5 times powers of ten.
fn round_frequencies(locus: &Locus) -> Vec<FrequencyMark> {
    let ends = locus.points.first().zip(locus.points.last());
    let Some(((low, _), (high, _))) = ends else { return Vec::new() };
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let round = powers.flat_map(|power| ["1", "2", "5"].map(|digit| format!("{digit}e{power}")));
    let at = |frequency: f64| {
        let pair = locus.points.windows(2).find(|pair| pair[0].0 <= frequency && frequency < pair[1].0)?;
        let share = (frequency - pair[0].0) / (pair[1].0 - pair[0].0);
        let direction = pair[1].1 - pair[0].1;
        Some(FrequencyMark { frequency, value: pair[0].1 + direction * share, direction })
    };
    round.filter_map(|text| at(text.parse().ok()?)).collect()
}

/// Two adjacent points where the locus enters the circle of two thirds around the origin, for an arrow.
fn arrow(locus: &Locus) -> Option<(Point, Point)> {
    const RADIUS: f64 = 0.67;
    let pair =
        locus.points.windows(2).find(|pair| pair[0].1.norm() >= RADIUS && pair[1].1.norm() < RADIUS)?;
    Some(((pair[0].1.re, pair[0].1.im), (pair[1].1.re, pair[1].1.im)))
}

/// Where the loci are with respect to -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encirclement {
    /// They encircle it.
    Around,
    /// One of them passes through it: the slowest oscillation neither grows nor decays.
    Through,
    /// They do not encircle it, and no root is at zero.
    Absent,
    /// They do not encircle it. A root is at zero, which is no instability of the loop.
    AbsentWithZeroRoot,
}

impl Encirclement {
    fn of(spectrum: &Spectrum) -> Self {
        match spectrum.first_nonzero() {
            Some(root) if spectrum.is_zero_rate(root.s.re) => Self::Through,
            Some(root) if root.s.re > 0.0 => Self::Around,
            _ if spectrum.roots.iter().any(|root| spectrum.is_zero(root)) => Self::AbsentWithZeroRoot,
            _ => Self::Absent,
        }
    }
}

fn caption(stability: &Stability) -> String {
    let direction = "Numbers on the loci are frequencies in rad/s.";
    match Encirclement::of(&stability.spectrum) {
        Encirclement::Around => format!("The loci encircle -1: unstable. {direction}"),
        Encirclement::Through => {
            format!("A locus passes through -1: the loop is at its stability boundary. {direction}")
        }
        Encirclement::Absent => format!("{} {direction}", margins_sentence(&stability.margins)),
        Encirclement::AbsentWithZeroRoot => format!(
            "The loci do not encircle -1: the root at zero is no instability of the loop. {} {direction}",
            margins_sentence(&stability.margins)
        ),
    }
}

fn margins_sentence(margins: &Margins) -> String {
    let gain =
        margins.gain.map(|gain| format!("gain x{} at {} rad/s", number(gain.margin), number(gain.frequency)));
    let phase = margins.phase.map(|phase| {
        format!("phase {}° at {} rad/s", number(phase.margin.to_degrees()), number(phase.frequency))
    });
    let delay = margins.delay.map(|delay| format!("delay {}", duration(delay.margin)));
    let margins: Vec<String> = [gain, phase, delay].into_iter().flatten().collect();
    if margins.is_empty() {
        "The margins are unlimited.".to_owned()
    } else {
        format!("Margins: {}.", margins.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_fluid::stability::Root;

    /// The longest delay is a second.
    #[test]
    fn a_root_at_zero_and_a_locus_through_minus_one_are_no_encirclement() {
        let of = |roots: &[(f64, f64)]| {
            let roots = roots.iter().map(|&(re, im)| Root { s: Complex::new(re, im), multiplicity: 1 });
            let roots = roots.collect();
            Encirclement::of(&Spectrum { roots, complete_to: -9.0, time_scale: 1.0, effort: 0.0 })
        };
        assert_eq!(of(&[(0.1, 2.0)]), Encirclement::Around);
        assert_eq!(of(&[(1e-9, 0.0), (0.1, 2.0)]), Encirclement::Around);
        assert_eq!(of(&[(1e-9, 2.0), (-3.0, 0.0)]), Encirclement::Through);
        assert_eq!(of(&[(1e-9, 0.0), (-3.0, 1.0)]), Encirclement::AbsentWithZeroRoot);
        assert_eq!(of(&[(-3.0, 1.0)]), Encirclement::Absent);
        assert_eq!(of(&[]), Encirclement::Absent);
    }

    /// L = 1 / (i w).
    #[test]
    fn round_frequencies_are_at_their_values() {
        let points = (0..=200).map(|i| 0.05 * 1.03_f64.powi(i));
        let locus = Locus { points: points.map(|w| (w, Complex::new(0.0, -1.0 / w))).collect() };
        let marks = round_frequencies(&locus);
        let frequencies: Vec<f64> = marks.iter().map(|mark| mark.frequency).collect();
        assert_eq!(frequencies, [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]);
        assert!(marks.iter().all(|mark| (mark.value.im * mark.frequency + 1.0).abs() < 1e-3));
    }
}
