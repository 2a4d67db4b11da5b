//! What each run pays in delay for the capacity that it uses.

use super::super::subject::Subject;
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::elide;
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::{Scale, Spacing};

const HEIGHT: f64 = 300.0;
/// Names are placed as if the plot were this wide; on a wider page they have more room.
const WIDTH: f64 = 420.0;

/// One mark per run: delay to the right, utilization upwards; none for a run alone.
pub(crate) fn tradeoff(subjects: &[Subject]) -> Option<Figure> {
    let known = |subject: &&Subject| {
        subject.headline.utilization.is_finite() && subject.headline.queueing_ms.p95.is_finite()
    };
    let seen: Vec<&Subject> = subjects.iter().filter(known).collect();
    if seen.len() < 2 {
        return None;
    }
    Some(Figure {
        id: "tradeoff".into(),
        title: "What the delay buys".into(),
        class: "",
        panels: vec![Panel {
            title: "Utilization of the bottleneck".into(),
            unit: "%".into(),
            legend: String::new(),
            plot: draw(&seen),
        }],
        caption: "Each mark is one run. Higher uses more of the capacity, further left keeps packets waiting less: \
                  the upper left corner is the place to be."
            .into(),
    })
}

fn draw(subjects: &[&Subject]) -> Plot {
    let places: Vec<(f64, f64)> = subjects
        .iter()
        .map(|subject| (subject.headline.queueing_ms.p95, 100.0 * subject.headline.utilization))
        .collect();
    let x = wide_enough(Scale::log(places.iter().map(|place| place.0), 4.0));
    let y = utilization_scale(places.iter().map(|place| place.1));
    let label = "Utilization against the 95th percentile of queueing delay";
    let x_axis = Axis::numbered(x, "95th percentile of queueing delay, ms", 8);
    let mut plot = Plot::new(label, x_axis, Axis::numbered(y, "", 5), HEIGHT as u16);
    plot.words("corner", (x.low, y.high), (10.0, 20.0), false, "↖ better");
    let marks: Vec<(f64, f64)> = places
        .iter()
        .map(|place| (WIDTH * x.fraction(place.0), HEIGHT * (1.0 - y.fraction(place.1))))
        .collect();
    let names: Vec<String> = subjects.iter().map(|subject| elide(&subject.run.label, 18)).collect();
    for (((subject, place), name), spot) in
        subjects.iter().zip(&places).zip(&names).zip(spots(&marks, &names))
    {
        plot.mark(subject.look, *place);
        plot.words("name", *place, (spot.dx, spot.dy + 4.0), spot.leftwards, name);
    }
    plot
}

/// Room on both sides, so that no mark sits on the frame.
fn wide_enough(scale: Scale) -> Scale {
    match scale.spacing {
        Spacing::Log => Scale { low: scale.low / 1.6, high: scale.high * 1.6, ..scale },
        Spacing::Linear => scale,
    }
}

/// Down from 100 %, with room below the least.
fn utilization_scale(values: impl Iterator<Item = f64>) -> Scale {
    let least = values.fold(100.0, f64::min);
    let room = (0.15 * (100.0 - least)).max(0.5);
    Scale::linear((least - room).max(0.0), 100.0 + 0.5 * room)
}

/// Where a name stands beside its mark, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    dx: f64,
    dy: f64,
    leftwards: bool,
}

/// Left, top, right and bottom, in pixels.
type Frame = (f64, f64, f64, f64);

/// For each name the first spot around its mark that covers no mark and no earlier name; if there is none, the first.
fn spots(marks: &[(f64, f64)], names: &[String]) -> Vec<Spot> {
    let rows = [0.0, 13.0, -13.0, 26.0, -26.0, 39.0, 52.0];
    let sides = [(11.0, false), (-11.0, true)];
    let candidates = rows.iter().flat_map(|&dy| sides.map(|(dx, leftwards)| Spot { dx, dy, leftwards }));
    let mut taken: Vec<Frame> = marks.iter().map(|&(x, y)| (x - 6.0, y - 6.0, x + 6.0, y + 6.0)).collect();
    let mut chosen = Vec::with_capacity(marks.len());
    for (&mark, name) in marks.iter().zip(names) {
        let free = |spot: &Spot| {
            let frame = frame(mark, name, *spot);
            frame.0 >= 0.0 && frame.2 <= WIDTH && !taken.iter().any(|other| overlap(frame, *other))
        };
        let spot = candidates.clone().find(free).unwrap_or(Spot { dx: 11.0, dy: 0.0, leftwards: false });
        taken.push(frame(mark, name, spot));
        chosen.push(spot);
    }
    chosen
}

fn frame((x, y): (f64, f64), name: &str, spot: Spot) -> Frame {
    let (near, wide) = (x + spot.dx, 7.2 * name.chars().count() as f64);
    let (left, right) = if spot.leftwards { (near - wide, near) } else { (near, near + wide) };
    (left, y + spot.dy - 6.0, right, y + spot.dy + 6.0)
}

fn overlap(one: Frame, other: Frame) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_covers_a_mark_or_another_name() {
        let marks = [(200.0, 20.0), (200.0, 20.0), (205.0, 24.0), (400.0, 20.0), (380.0, 25.0)];
        let names = ["lgcc", "lgc", "abc", "cubic", "newreno"].map(String::from);
        let frames: Vec<Frame> = spots(&marks, &names)
            .iter()
            .zip(marks.iter().zip(&names))
            .map(|(spot, (mark, name))| frame(*mark, name, *spot))
            .collect();
        for (at, one) in frames.iter().enumerate() {
            assert!(!frames[at + 1..].iter().any(|other| overlap(*one, *other)), "{frames:?}");
            assert!(!marks.iter().any(|&(x, y)| overlap(*one, (x, y, x, y))), "{frames:?}");
        }
    }
}
