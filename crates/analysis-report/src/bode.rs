//! The Bode plot: magnitude and phase of the return ratio over frequency, with the margins.

use crate::margin_marks::{MarginMark, MarginMarks};
use maud::html;
use millpond_chart::{Axis, Figure, LabelPosition, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_fluid::stability::{Characteristic, Locus, loci};
use millpond_theory::stability::Stability;

/// Style class of the gain margin.
const GAIN: &str = "line margin c1";
/// Style class of the phase margin.
const PHASE: &str = "line margin c2";
const GUIDE: &str = "guide";
/// Only the first loci are drawn.
const MOST: usize = 8;
/// In degrees.
const TURN: f64 = 360.0;

/// A locus as magnitude and continuous phase in degrees, over angular frequency in rad/s.
struct Response {
    magnitudes: Vec<Point>,
    phases: Vec<Point>,
}

impl Response {
    /// The phase at the lowest frequency lies between -270 and 90 degrees.
    fn of(locus: &Locus) -> Self {
        const START: f64 = -90.0;
        let mut last = START;
        let mut phases = Vec::with_capacity(locus.points.len());
        for (frequency, value) in &locus.points {
            let angle = value.arg().to_degrees();
            last = angle + TURN * ((last - angle) / TURN).round();
            phases.push((*frequency, last));
        }
        let magnitudes = locus.points.iter().map(|(frequency, value)| (*frequency, value.norm())).collect();
        Self { magnitudes, phases }
    }

    /// The distance of magnitude and phase at the frequency of a mark from those of the mark.
    fn distance(&self, mark: &MarginMark) -> f64 {
        let values = at(&self.magnitudes, mark.frequency).zip(at(&self.phases, mark.frequency));
        values.map_or(f64::INFINITY, |(magnitude, phase)| {
            let turned = phase - mark.value.arg().to_degrees();
            (magnitude / mark.value.norm()).ln().hypot((turned / TURN - (turned / TURN).round()) * TURN)
        })
    }
}

/// The value of a curve at a frequency, between its points.
fn at(curve: &[Point], frequency: f64) -> Option<f64> {
    let pair = curve.windows(2).find(|pair| pair[0].0 <= frequency && frequency <= pair[1].0)?;
    let share = (frequency - pair[0].0) / (pair[1].0 - pair[0].0);
    Some(pair[0].1 + (pair[1].1 - pair[0].1) * share)
}

/// Magnitude and phase one above the other.
pub(crate) fn chart(stability: &Stability) -> Figure {
    let marks = MarginMarks::of(stability);
    let scale = frequency_scale(stability, &marks);
    let function = Characteristic::new(&stability.linear.system);
    let loci = loci(&function, scale.low, scale.high).unwrap_or_default();
    let responses: Vec<Response> = loci.iter().take(MOST).map(Response::of).collect();
    let panels = vec![magnitude(&responses, scale, &marks), phase(&responses, scale, &marks)];
    Figure {
        id: "bode".into(),
        title: html! { "Bode plot of L(iw)" },
        class: "bode",
        panels,
        caption: "Frequency and magnitude are logarithmic. Dotted verticals: the frequencies of the margins."
            .to_owned(),
    }
}

/// One and a half decades around all margins, else around the rightmost root that is not zero.
fn frequency_scale(stability: &Stability, marks: &MarginMarks) -> Scale {
    const AROUND: f64 = 30.0;
    let root = stability.spectrum.first_nonzero().map_or(1.0, |root| root.s.norm());
    let (low, high) = marks
        .frequencies()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), frequency| (low.min(frequency), high.max(frequency)));
    let (low, high) = if low.is_finite() { (low, high) } else { (root, root) };
    Scale::decades(low / AROUND, high * AROUND)
}

fn magnitude(responses: &[Response], scale: Scale, marks: &MarginMarks) -> Panel {
    const DECADES: f64 = 6.0;
    let values = responses.iter().flat_map(|response| &response.magnitudes).map(|point| point.1);
    let y = Scale::log(values.chain([0.1, 10.0]), DECADES);
    let x = Axis::numbered(scale, "", 6).without_text();
    let mut plot = Plot::new("Magnitude of L", x, Axis::numbered(y, "", 6), 210).coloured(SeriesStyle(0));
    plot.unnamed_curve(GUIDE, &[(scale.low, 1.0), (scale.high, 1.0)]);
    let above = |point: &Point| (point.0, if point.1 >= y.low { point.1 } else { f64::NAN });
    draw_curves(&mut plot, responses, |response| response.magnitudes.iter().map(above).collect());
    draw_verticals(&mut plot, marks, y);
    if let Some(gain) = &marks.gain {
        let magnitude = gain.value.norm();
        plot.unnamed_curve(GAIN, &[(gain.frequency, magnitude), (gain.frequency, 1.0)]);
        plot.dot("point c1", (gain.frequency, magnitude), 3.5);
        let position = if magnitude < 1.0 {
            LabelPosition { dx: 8.0, dy: -6.0, is_left: false }
        } else {
            LabelPosition { dx: -8.0, dy: 14.0, is_left: true }
        };
        plot.text("name", (gain.frequency, 1.0), position, &gain.label);
    }
    let legend =
        entries(responses).and(Legend::new().line(GAIN, marks.gain_name()).when(marks.gain.is_some()));
    Panel { title: "magnitude |L|".into(), unit: String::new(), legend, plot }
}

fn phase(responses: &[Response], scale: Scale, marks: &MarginMarks) -> Panel {
    const LOWEST: f64 = -3.0 * 180.0;
    const ROOM: f64 = 15.0;
    let crossing = |mark: &MarginMark| {
        let nearest = responses.iter().min_by(|a, b| a.distance(mark).total_cmp(&b.distance(mark)))?;
        at(&nearest.phases, mark.frequency)
    };
    let marked = marks.phase.as_ref().and_then(|mark| Some((mark, crossing(mark)?)));
    let critical = |phase: f64| TURN * ((phase + TURN / 2.0) / TURN).round() - TURN / 2.0;
    let phases = || responses.iter().flat_map(|response| &response.phases).map(|point| point.1);
    let floor = marked.map_or(LOWEST, |(_, phase)| LOWEST.min(critical(phase) - 90.0));
    let low = phases().fold(-TURN / 2.0, f64::min).max(floor) - ROOM;
    let high = phases().fold(-90.0, f64::max) + ROOM;
    let y = Axis {
        scale: Scale::linear(low, high),
        title: String::new(),
        ticks: degrees(low, high),
        is_named: false,
    };
    let x = Axis::numbered(scale, "frequency, rad/s", 6);
    let mut plot = Plot::new("Phase of L", x, y, 210).coloured(SeriesStyle(0));
    let odd = critical(marked.map_or(-TURN / 2.0, |(_, phase)| phase));
    plot.unnamed_curve(GUIDE, &[(scale.low, odd), (scale.high, odd)]);
    let above = |point: &Point| (point.0, if point.1 >= low { point.1 } else { f64::NAN });
    draw_curves(&mut plot, responses, |response| response.phases.iter().map(above).collect());
    draw_verticals(&mut plot, marks, Scale::linear(low, high));
    if let Some((mark, phase)) = marked {
        plot.unnamed_curve(PHASE, &[(mark.frequency, phase), (mark.frequency, odd)]);
        plot.dot("point c2", (mark.frequency, phase), 3.5);
        let middle = (mark.frequency, f64::midpoint(phase, odd));
        plot.text("name", middle, LabelPosition { dx: -8.0, dy: 4.0, is_left: true }, &mark.label);
    }
    let legend = Legend::new().line(PHASE, "phase margin").when(marks.phase.is_some());
    Panel { title: "phase".into(), unit: "°".into(), legend, plot }
}

/// Multiples of a quarter or half a turn, so that there are at most eight.
fn degrees(low: f64, high: f64) -> Vec<(f64, String)> {
    let step = [45.0, 90.0, 180.0].into_iter().find(|step| (high - low) / step <= 6.0).unwrap_or(TURN);
    let ticks = (low / step).ceil() as i64..=(high / step).floor() as i64;
    ticks.map(|index| index as f64 * step).map(|degrees| (degrees, degrees.to_string())).collect()
}

fn draw_curves(plot: &mut Plot, responses: &[Response], curve: impl Fn(&Response) -> Vec<Point>) {
    for (index, response) in responses.iter().enumerate() {
        plot.curve(&name(responses, index), &SeriesStyle(index).line(), &curve(response));
    }
}

/// The frequencies of the margins.
fn draw_verticals(plot: &mut Plot, marks: &MarginMarks, y: Scale) {
    for mark in marks.gain.iter().chain(&marks.phase) {
        plot.unnamed_curve(GUIDE, &[(mark.frequency, y.low), (mark.frequency, y.high)]);
    }
}

fn name(responses: &[Response], index: usize) -> String {
    if responses.len() == 1 { "L".to_owned() } else { format!("locus {}", index + 1) }
}

/// Entries of the legend; one locus needs none.
fn entries(responses: &[Response]) -> Legend {
    let add = |legend: Legend, index: usize| legend.line(&SeriesStyle(index).line(), &name(responses, index));
    (0..responses.len()).fold(Legend::new(), add).when(responses.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_fluid::stability::Complex;

    /// L = exp(-i w) / (i w)^2: magnitude 1 / w^2, phase -180 degrees less w.
    #[test]
    fn the_phase_of_a_delay_falls_without_jumps() {
        let points = (0..600).map(|i| 0.01 * 1.01_f64.powi(i));
        let value = |w: f64| Complex::from_polar(1.0 / (w * w), -w - std::f64::consts::PI);
        let response = Response::of(&Locus { points: points.map(|w| (w, value(w))).collect() });
        for (w, phase) in &response.phases {
            assert!((phase + 180.0 + w.to_degrees()).abs() < 1e-6, "{w}: {phase}");
        }
        assert!((at(&response.magnitudes, 2.0).unwrap() - 0.25).abs() < 1e-3);
    }

    #[test]
    fn ticks_of_angles_are_parts_of_a_turn() {
        let values = |low, high| degrees(low, high).into_iter().map(|tick| tick.0).collect::<Vec<_>>();
        assert_eq!(values(-200.0, -80.0), [-180.0, -135.0, -90.0]);
        assert_eq!(values(-550.0, -80.0), [-540.0, -450.0, -360.0, -270.0, -180.0, -90.0]);
    }
}
