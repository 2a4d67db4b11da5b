//! What each run pays in delay for the capacity that it uses.

use super::super::figure::{Figure, Panel};
use super::super::markup::elide;
use super::super::plot::{Axis, Plot};
use super::super::scale::{Scale, Spacing};
use super::super::subject::Subject;

const HEIGHT: u16 = 300;
/// Names closer to each other than this share of the height would overlap.
const LINE: f64 = 16.0 / HEIGHT as f64;
/// Names are about this share of the width.
const WIDTH: f64 = 0.2;

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
    let x = wide_enough(Scale::log(places.iter().map(|place| place.0)));
    let y = utilization_scale(places.iter().map(|place| place.1));
    let label = "Utilization against the 95th percentile of queueing delay";
    let x_axis = Axis::numbered(x, "95th percentile of queueing delay, ms", 8);
    let mut plot = Plot::new(label, x_axis, Axis::numbered(y, "", 5), HEIGHT);
    plot.words("corner", (x.low, y.high), (10.0, 20.0), false, "↖ better");
    let on_paper: Vec<(f64, f64)> =
        places.iter().map(|place| (x.fraction(place.0), 1.0 - y.fraction(place.1))).collect();
    for ((subject, place), shift) in subjects.iter().zip(&places).zip(shifts(&on_paper)) {
        plot.mark(subject.look, *place);
        let leftwards = x.fraction(place.0) > 0.75;
        let dx = if leftwards { -11.0 } else { 11.0 };
        let dy = 4.0 + shift * f64::from(HEIGHT);
        plot.words("name", *place, (dx, dy), leftwards, &elide(&subject.run.label, 18));
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

/// How far down each name moves, as a share of the height, so that no two overlap.
fn shifts(places: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&one, &other| places[one].1.total_cmp(&places[other].1));
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut shifts = vec![0.0; places.len()];
    for index in order {
        let (x, y) = places[index];
        let mut at = y;
        while let Some(other) =
            taken.iter().find(|other| (other.0 - x).abs() < WIDTH && (other.1 - at).abs() < LINE * 0.99)
        {
            at = other.1 + LINE;
        }
        taken.push((x, at));
        shifts[index] = at - y;
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_that_coincide_stand_one_below_the_other() {
        let moved = shifts(&[(0.5, 0.2), (0.5, 0.2), (0.5, 0.2), (0.9, 0.2)]);
        assert_eq!(moved[3], 0.0);
        let mut lines: Vec<f64> = moved[..3].iter().map(|shift| libm::round(shift / LINE)).collect();
        lines.sort_by(f64::total_cmp);
        assert_eq!(lines, [0.0, 1.0, 2.0]);
    }
}
