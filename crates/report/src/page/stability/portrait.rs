//! Trajectories in the plane of two quantities.

use super::unit::AxisUnit;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, PLANE, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_fluid::motion::LongTermBehavior;
use millpond_theory::transients::{Observable, PhasePortrait, PhaseTrajectory, phase_portrait_sentence};

/// Style class of a trajectory that settles.
const SETTLES: &str = "line trajectory";
/// Style class of a trajectory that does not settle.
const DOES_NOT_SETTLE: &str = "line trajectory c1 d5";
/// Style class of the last tenth of a trajectory that does not settle.
const END: &str = "line end c1";
/// Style class of the line on which the queue is constant.
const CONSTANT_QUEUE: &str = "guide";
/// The marker of the equilibrium.
const EQUILIBRIUM: SeriesStyle = SeriesStyle(3);

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
pub(super) fn chart(portrait: &PhasePortrait) -> Figure {
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
        caption: format!(
            "{}. A trajectory settles if it stays within 2 % of its greatest distance from the equilibrium.",
            phase_portrait_sentence(portrait)
        ),
    }
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
    portrait.trajectories.iter().for_each(|path| plane.draw(&mut plot, path));
    portrait.trajectories.iter().for_each(|path| plane.draw_end(&mut plot, path));
    let equilibrium =
        (portrait.equilibrium.0 * plane.x.unit.factor, portrait.equilibrium.1 * plane.y.unit.factor);
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

    fn draw(&self, plot: &mut Plot, path: &PhaseTrajectory) {
        let points = self.points(path);
        let (class, arrow) = if settles(path) { (SETTLES, "arrow") } else { (DOES_NOT_SETTLE, "arrow c1") };
        plot.unnamed_curve(class, &self.visible(&points));
        for (from, to) in self.arrows(&points) {
            if self.contains(from) && self.contains(to) {
                plot.arrow(arrow, from, to);
            }
        }
        if let Some(start) = points.first().filter(|start| self.contains(**start)) {
            plot.dot("start", *start, 3.0);
        }
    }

    /// Draws the end of a trajectory that does not settle, above all trajectories.
    fn draw_end(&self, plot: &mut Plot, path: &PhaseTrajectory) {
        let points = self.points(path);
        if !settles(path) {
            plot.unnamed_curve(END, &self.visible(&points[points.len() * 9 / 10..]));
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
    let unsettled = Legend::new().line(DOES_NOT_SETTLE, "does not settle").line(END, "its last tenth");
    Legend::new()
        .line(SETTLES, "settles")
        .when(settled > 0)
        .and(unsettled.coloured(SeriesStyle(1)).when(!all_settle))
        .and(Legend::new().line(CONSTANT_QUEUE, "constant queue").when(portrait.balanced_rate.is_some()))
        .dot("start", "start")
        .marker(EQUILIBRIUM, "equilibrium")
        .coloured(SeriesStyle(0))
}
