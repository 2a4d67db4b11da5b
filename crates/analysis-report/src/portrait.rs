//! Trajectories in the plane of two quantities.

use crate::unit::AxisUnit;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, PLANE, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_fluid::motion::LongTermBehavior;
use millpond_theory::transients::{Observable, PhasePortrait, PhaseTrajectory, phase_portrait_sentence};
use std::f64::consts::TAU;

/// Style class of a trajectory that settles.
const SETTLES: &str = "line trajectory";
/// Style class of a trajectory that does not settle.
const DOES_NOT_SETTLE: &str = "line trajectory c1 d5";
/// Style class of the last turn of a trajectory that does not settle.
const END: &str = "line end c1";
/// Style class of the line on which the queue is constant.
const CONSTANT_QUEUE: &str = "guide";
/// The marker of the equilibrium.
const EQUILIBRIUM: SeriesStyle = SeriesStyle(3);

/// All trajectories together are drawn with at most this length in pixels: more of them would cover the plane.
const MOST_DRAWN: f64 = 30_000.0;

/// A quantity on its axis.
struct PortraitAxis {
    unit: AxisUnit,
    scale: Scale,
}

/// The quantities of both axes.
struct PortraitPlane {
    x: PortraitAxis,
    y: PortraitAxis,
}

/// The portrait.
pub(crate) fn chart(portrait: &PhasePortrait) -> Figure {
    let plane = PortraitPlane {
        x: PortraitAxis::of(&portrait.horizontal, portrait.equilibrium.0, portrait, 0),
        y: PortraitAxis::of(&portrait.vertical, portrait.equilibrium.1, portrait, 1),
    };
    let title = format!("{} over {}", portrait.vertical.name, portrait.horizontal.name);
    let panel = Panel {
        title: portrait.vertical.name.clone(),
        unit: plane.y.unit.name.clone(),
        legend: legend(portrait),
        plot: plot(portrait, &plane, &title),
    };
    Figure {
        id: "phase-portrait".into(),
        title: html! { (title) },
        class: "planar",
        panels: vec![panel],
        caption: caption(portrait, &plane),
    }
}

fn caption(portrait: &PhasePortrait, plane: &PortraitPlane) -> String {
    let most = MOST_DRAWN / portrait.trajectories.len() as f64;
    let is_shortened = |path: &PhaseTrajectory| {
        let points = plane.points(path);
        plane.beginning(&points, most) < points.len()
    };
    let beginnings = if portrait.trajectories.iter().any(is_shortened) {
        " Of long trajectories the beginning is drawn, and the last turn if they do not settle."
    } else {
        ""
    };
    format!(
        "{}. A trajectory settles if it stays within 2 % of its greatest distance from the equilibrium.{beginnings}",
        phase_portrait_sentence(portrait)
    )
}

fn plot(portrait: &PhasePortrait, plane: &PortraitPlane, title: &str) -> Plot {
    let (x, y) = (plane.x.scale, plane.y.scale);
    let x_title = [portrait.horizontal.name.as_str(), &plane.x.unit.name].join(", ");
    let mut plot = Plot::new(title, Axis::numbered(x, x_title, 7), Axis::numbered(y, "", 6), 0)
        .coloured(SeriesStyle(0))
        .plane();
    if portrait.vertical.quantity == "queue" {
        plot.curve("empty queue", "empty-queue", &[(x.low, 0.0), (x.high, 0.0)]);
    }
    if let Some(level) = portrait.balanced_rate.map(|level| level * plane.x.unit.factor) {
        plot.curve("constant queue", CONSTANT_QUEUE, &[(level, y.low), (level, y.high)]);
    }
    let most = MOST_DRAWN / portrait.trajectories.len() as f64;
    portrait.trajectories.iter().for_each(|path| plane.draw(&mut plot, path, most));
    let equilibrium =
        (portrait.equilibrium.0 * plane.x.unit.factor, portrait.equilibrium.1 * plane.y.unit.factor);
    portrait.trajectories.iter().for_each(|path| plane.draw_end(&mut plot, path, equilibrium));
    plot.mark(EQUILIBRIUM, equilibrium);
    plot
}

impl PortraitAxis {
    /// Unit and range over everything that trajectories pass. Diverging trajectories count up to three times their
    /// initial distance from the equilibrium.
    fn of(observable: &Observable, equilibrium: f64, portrait: &PhasePortrait, column: usize) -> Self {
        const FARTHEST: f64 = 3.0;
        let (mut low, mut high) = (equilibrium, equilibrium);
        for path in &portrait.trajectories {
            let Some(values) = path.trajectory.values.get(column) else { continue };
            let start = values.first().map_or(0.0, |start| (start - equilibrium).abs());
            let reach = match path.behavior {
                LongTermBehavior::Diverges | LongTermBehavior::Interrupted => {
                    FARTHEST * start.max(1e-6 * equilibrium.abs())
                }
                _ => f64::INFINITY,
            };
            for value in values.iter().filter(|value| value.is_finite()) {
                let value = value.max(equilibrium - reach).min(equilibrium + reach);
                (low, high) = (low.min(value), high.max(value));
            }
        }
        let unit = AxisUnit::new(observable, low.abs().max(high.abs()));
        let room = 0.05 * (high - low).max(1e-9 * high.abs());
        let bottom = if low >= 0.0 && low < 0.25 * high { 0.0 } else { low - room };
        let scale = Scale::linear(bottom * unit.factor, (high + room) * unit.factor);
        Self { unit, scale }
    }
}

impl PortraitPlane {
    /// All points of a path in the units of the plane.
    fn points(&self, path: &PhaseTrajectory) -> Vec<Point> {
        let [across, up] = path.trajectory.values.as_slice() else { return Vec::new() };
        across.iter().zip(up).map(|(x, y)| (x * self.x.unit.factor, y * self.y.unit.factor)).collect()
    }

    fn contains(&self, (x, y): Point) -> bool {
        let is_within = |scale: Scale, value: f64| (scale.low..=scale.high).contains(&value);
        is_within(self.x.scale, x) && is_within(self.y.scale, y)
    }

    /// In pixels; also outside of the plane.
    fn pixels(&self, (x, y): Point) -> Point {
        let position = |scale: Scale, value: f64| (value - scale.low) / (scale.high - scale.low);
        (PLANE.0 * position(self.x.scale, x), PLANE.1 * position(self.y.scale, y))
    }

    fn distance(&self, one: Point, other: Point) -> f64 {
        let (one, other) = (self.pixels(one), self.pixels(other));
        libm::hypot(one.0 - other.0, one.1 - other.1)
    }

    /// The curve through points, broken where it leaves the plane.
    fn visible(&self, points: &[Point]) -> Vec<Point> {
        let point = |point: &Point| if self.contains(*point) { *point } else { (point.0, f64::NAN) };
        self.thinned(&points.iter().map(point).collect::<Vec<_>>())
    }

    /// Points that are a visible distance apart.
    fn thinned(&self, points: &[Point]) -> Vec<Point> {
        const PIXELS: f64 = 0.7;
        let mut kept: Vec<Point> = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let is_apart = kept.last().is_none_or(|last| {
                let distance = self.distance(*last, *point);
                distance.is_nan() || distance > PIXELS
            });
            if is_apart || index + 1 == points.len() {
                kept.push(*point);
            }
        }
        kept
    }

    /// The number of points until the trajectory has this length in pixels.
    fn beginning(&self, points: &[Point], most: f64) -> usize {
        let mut length = 0.0;
        let is_long = |pair: &[Point]| {
            length += self.distance(pair[0], pair[1]);
            length > most
        };
        points.windows(2).position(is_long).map_or(points.len(), |index| index + 1)
    }

    /// The number of points before the last turn about the equilibrium; a turn has at most a tenth of all points.
    fn before_last_turn(&self, points: &[Point], equilibrium: Point) -> usize {
        const LEAST: f64 = 0.9;
        let centre = self.pixels(equilibrium);
        let angle = |point: Point| {
            let (x, y) = self.pixels(point);
            libm::atan2(y - centre.1, x - centre.0)
        };
        let mut turned = 0.0_f64;
        let is_a_turn = |pair: &[Point]| {
            let step = angle(pair[1]) - angle(pair[0]);
            turned += step - TAU * (step / TAU).round();
            turned.abs() >= TAU
        };
        let from = points.windows(2).rposition(is_a_turn).unwrap_or(0);
        from.max((points.len() as f64 * LEAST) as usize)
    }

    /// Draws a trajectory until it has a length of `most` pixels.
    fn draw(&self, plot: &mut Plot, path: &PhaseTrajectory, most: f64) {
        let points = self.points(path);
        let points = &points[..self.beginning(&points, most)];
        let (class, arrow) = if settles(path) { (SETTLES, "arrow") } else { (DOES_NOT_SETTLE, "arrow c1") };
        plot.unnamed_curve(class, &self.visible(points));
        for (from, to) in self.arrows(points) {
            if self.contains(from) && self.contains(to) {
                plot.arrow(arrow, from, to);
            }
        }
        if let Some(start) = points.first().filter(|start| self.contains(**start)) {
            plot.dot("start", *start, 3.0);
        }
    }

    /// Draws the last turn of a trajectory that does not settle, above all trajectories.
    fn draw_end(&self, plot: &mut Plot, path: &PhaseTrajectory, equilibrium: Point) {
        let points = self.points(path);
        if !settles(path) {
            let from = self.before_last_turn(&points, equilibrium);
            plot.unnamed_curve(END, &self.visible(&points[from..]));
        }
    }

    /// Pairs of adjacent points for two arrows, at these distances in pixels along the trajectory.
    fn arrows(&self, points: &[Point]) -> Vec<(Point, Point)> {
        const DISTANCES: [f64; 2] = [45.0, 260.0];
        let (mut length, mut found) = (0.0, Vec::new());
        for pair in points.windows(2) {
            let next = length + self.distance(pair[0], pair[1]);
            if DISTANCES.iter().any(|distance| (length..next).contains(distance)) {
                found.push((pair[0], pair[1]));
            }
            length = next;
        }
        found
    }
}

fn settles(path: &PhaseTrajectory) -> bool {
    matches!(path.behavior, LongTermBehavior::Settles { .. })
}

fn legend(portrait: &PhasePortrait) -> Legend {
    let settled = portrait.trajectories.iter().filter(|path| settles(path)).count();
    let all_settle = settled == portrait.trajectories.len();
    let unsettled = Legend::new().line(DOES_NOT_SETTLE, "does not settle").line(END, "its last turn");
    Legend::new()
        .line(SETTLES, "settles")
        .when(settled > 0)
        .and(unsettled.coloured(SeriesStyle(1)).when(!all_settle))
        .and(Legend::new().line(CONSTANT_QUEUE, "constant queue").when(portrait.balanced_rate.is_some()))
        .dot("start", "start")
        .marker(EQUILIBRIUM, "equilibrium")
        .coloured(SeriesStyle(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane() -> PortraitPlane {
        let axis = || PortraitAxis {
            unit: AxisUnit { name: String::new(), factor: 1.0 },
            scale: Scale::linear(-2.0, 2.0),
        };
        PortraitPlane { x: axis(), y: axis() }
    }

    /// A hundred turns of forty points each.
    fn circles() -> Vec<Point> {
        let angles = (0..4000).map(|i| f64::from(i) * TAU / 40.0);
        angles.map(|angle| (angle.cos(), angle.sin())).collect()
    }

    #[test]
    fn of_a_long_cycle_the_first_pixels_and_the_last_turn_are_drawn() {
        let (plane, points) = (plane(), circles());
        let turn = plane.beginning(&points, f64::INFINITY);
        assert_eq!(turn, points.len());
        // A turn is an ellipse of 345 by 240 pixels: between 750 and 1085 pixels.
        let drawn = plane.beginning(&points, 2000.0);
        assert!((73..=107).contains(&drawn), "{drawn}");
        let last = points.len() - plane.before_last_turn(&points, (0.0, 0.0));
        assert!((40..=42).contains(&last), "{last}");
    }
}
