//! Trajectories in the plane of two quantities.

use super::super::bundle::legend_entry;
use super::super::units::RateUnit;
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, PLANE, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_fluid::motion::LongTermBehavior;
use millpond_theory::transients::{Observable, PhasePortrait, PhaseTrajectory, phase_portrait_sentence};

/// What a trajectory that settles is drawn with, and one that does not.
const SETTLES: &str = "line path";
const RESTLESS: &str = "line path c1 d5";
/// Where one that does not settle ends.
const END: &str = "line end c1";
/// Where the queue neither grows nor shrinks.
const LEVEL: &str = "guide";

/// A quantity as it is drawn.
pub(super) struct Drawn {
    pub(super) unit: String,
    pub(super) factor: f64,
}

impl Drawn {
    /// Rates in the unit that keeps their numbers short.
    pub(super) fn new(of: &Observable, peak: f64) -> Self {
        match of.unit {
            "bit/s" => {
                let unit = RateUnit::for_peak(peak);
                Self { unit: unit.label.to_owned(), factor: unit.factor }
            }
            unit => {
                Self { unit: if unit == "1" { String::new() } else { unit.to_owned() }, factor: of.scale }
            }
        }
    }
}

/// The portrait.
pub(super) fn chart(portrait: &PhasePortrait) -> Figure {
    let (x, x_range) = axis(&portrait.horizontal, portrait.equilibrium.0, portrait, 0);
    let (y, y_range) = axis(&portrait.vertical, portrait.equilibrium.1, portrait, 1);
    let x_title = [portrait.horizontal.name.as_str(), &x.unit].join(", ");
    let title = format!("{} over {}", portrait.vertical.name, portrait.horizontal.name);
    let mut plot =
        Plot::new(title.clone(), Axis::numbered(x_range, x_title, 7), Axis::numbered(y_range, "", 6), 0)
            .coloured(Look(0))
            .plane();
    if portrait.vertical.quantity == "queue" {
        plot.curve("the queue is empty", "wall", &[(x_range.low, 0.0), (x_range.high, 0.0)]);
    }
    if let Some(level) = portrait.balanced_rate.map(|level| level * x.factor) {
        plot.curve("the queue does not move", LEVEL, &[(level, y_range.low), (level, y_range.high)]);
    }
    let axes = ((x.factor, x_range), (y.factor, y_range));
    portrait.trajectories.iter().for_each(|path| draw(&mut plot, path, axes));
    portrait.trajectories.iter().for_each(|path| draw_end(&mut plot, path, axes));
    let rest = (portrait.equilibrium.0 * x.factor, portrait.equilibrium.1 * y.factor);
    plot.mark(Look(3), rest);
    let panel =
        Panel { title: portrait.vertical.name.clone(), unit: y.unit.clone(), legend: legend(portrait), plot };
    Figure {
        id: "phase-portrait".into(),
        title,
        class: "planar",
        panels: vec![panel],
        caption: format!(
            "{}. Settled is what stays within 2 % of how far it went.",
            phase_portrait_sentence(portrait)
        ),
    }
}

/// Factor and range of both axes.
type Axes = ((f64, Scale), (f64, Scale));

/// All points of a path as they are drawn.
fn points(path: &PhaseTrajectory, ((fx, _), (fy, _)): Axes) -> Vec<Point> {
    let [across, up] = path.trajectory.values.as_slice() else { return Vec::new() };
    across.iter().zip(up).map(|(a, b)| (a * fx, b * fy)).collect()
}

fn is_inside((a, b): Point, ((_, x), (_, y)): Axes) -> bool {
    (x.low..=x.high).contains(&a) && (y.low..=y.high).contains(&b)
}

/// Broken where it leaves the picture.
fn visible(points: &[Point], axes: Axes) -> Vec<Point> {
    let one = |point: &Point| if is_inside(*point, axes) { *point } else { (point.0, f64::NAN) };
    thinned(&points.iter().map(one).collect::<Vec<_>>(), axes.0.1, axes.1.1)
}

fn is_restless(path: &PhaseTrajectory) -> bool {
    !matches!(path.behavior, LongTermBehavior::Settles { .. })
}

fn draw(plot: &mut Plot, path: &PhaseTrajectory, axes: Axes) {
    let all = points(path, axes);
    let (class, arrow) = if is_restless(path) { (RESTLESS, "arrow c1") } else { (SETTLES, "arrow") };
    plot.curve("", class, &visible(&all, axes));
    for (from, to) in arrows(&all, axes.0.1, axes.1.1) {
        if is_inside(from, axes) && is_inside(to, axes) {
            plot.arrow(arrow, from, to);
        }
    }
    if let Some(start) = all.first().filter(|start| is_inside(**start, axes)) {
        plot.dot("start", *start, 3.0);
    }
}

/// Above all paths, where those end that do not settle.
fn draw_end(plot: &mut Plot, path: &PhaseTrajectory, axes: Axes) {
    let all = points(path, axes);
    if is_restless(path) {
        plot.curve("", END, &visible(&all[all.len() * 9 / 10..], axes));
    }
}

/// In pixels.
fn seen((a, b): Point, x: Scale, y: Scale) -> Point {
    (PLANE.0 * (a - x.low) / (x.high - x.low), PLANE.1 * (b - y.low) / (y.high - y.low))
}

fn apart(one: Point, other: Point) -> f64 {
    libm::hypot(one.0 - other.0, one.1 - other.1)
}

/// Points that the eye tells apart.
fn thinned(points: &[Point], x: Scale, y: Scale) -> Vec<Point> {
    const PIXELS: f64 = 0.7;
    let mut kept: Vec<Point> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let far = kept.last().is_none_or(|last| {
            let distance = apart(seen(*last, x, y), seen(*point, x, y));
            distance.is_nan() || distance > PIXELS
        });
        if far || at + 1 == points.len() {
            kept.push(*point);
        }
    }
    kept
}

/// Where arrows stand: some way after the start, and once more.
fn arrows(points: &[Point], x: Scale, y: Scale) -> Vec<(Point, Point)> {
    const AFTER: [f64; 2] = [45.0, 260.0];
    let (mut way, mut found) = (0.0, Vec::new());
    for pair in points.windows(2) {
        let next = way + apart(seen(pair[0], x, y), seen(pair[1], x, y));
        if AFTER.iter().any(|after| (way..next).contains(after)) {
            found.push((pair[0], pair[1]));
        }
        way = next;
    }
    found
}

/// How the quantity is drawn, and over which range: everywhere trajectories go, but those that leave no farther than thrice
/// where they start.
fn axis(of: &Observable, rest: f64, portrait: &PhasePortrait, column: usize) -> (Drawn, Scale) {
    const FARTHEST: f64 = 3.0;
    let (mut low, mut high) = (rest, rest);
    for path in &portrait.trajectories {
        let Some(values) = path.trajectory.values.get(column) else { continue };
        let start = values.first().map_or(0.0, |start| (start - rest).abs());
        let reach = match path.behavior {
            LongTermBehavior::Diverges | LongTermBehavior::Interrupted => {
                FARTHEST * start.max(1e-6 * rest.abs())
            }
            _ => f64::INFINITY,
        };
        for value in values.iter().filter(|value| value.is_finite()) {
            let value = value.max(rest - reach).min(rest + reach);
            (low, high) = (low.min(value), high.max(value));
        }
    }
    let drawn = Drawn::new(of, low.abs().max(high.abs()));
    let room = 0.05 * (high - low).max(1e-9 * high.abs());
    let bottom = if low >= 0.0 && low < 0.25 * high { 0.0 } else { low - room };
    let scale = Scale::linear(bottom * drawn.factor, (high + room) * drawn.factor);
    (drawn, scale)
}

fn legend(portrait: &PhasePortrait) -> String {
    let settled = portrait.count(|fate| matches!(fate, LongTermBehavior::Settles { .. }));
    let mut legend = String::new();
    if settled > 0 {
        legend += &legend_entry(SETTLES, "settles");
    }
    if settled < portrait.trajectories.len() {
        legend += &format!(r#"<span class="c1">{}</span>"#, legend_entry(RESTLESS, "does not settle"));
        legend += &format!(r#"<span class="c1">{}</span>"#, legend_entry(END, "its last tenth"));
    }
    if portrait.balanced_rate.is_some() {
        legend += &legend_entry(LEVEL, "queue level");
    }
    let dot = r#"<span class="key"><svg width="10" height="10" aria-hidden="true"><circle class="start" cx="5" cy="5" r="3"/></svg>start</span>"#;
    let mark = Look(3).mark(r#"x="6" y="5""#);
    let rest = format!(
        r#"<span class="key"><svg width="12" height="10" class="rest" aria-hidden="true">{mark}</svg>rest</span>"#
    );
    format!(r#"<span class="c0">{legend}{dot}{rest}</span>"#)
}
