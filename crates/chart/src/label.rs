//! Where names stand beside their markers without covering one another.

use crate::decimate::Point;
use std::cmp::Ordering;

/// Where a text stands relative to its point, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelPosition {
    /// To the right.
    pub dx: f64,
    /// Downwards.
    pub dy: f64,
    /// The text ends at the point instead of beginning there.
    pub is_left: bool,
}

/// A marker in pixels from the top left corner, and the name beside it.
#[derive(Clone, Copy, Debug)]
pub struct MarkedName<'a> {
    /// Centre of the marker.
    pub at: Point,
    /// The text beside it.
    pub name: &'a str,
}

/// Half the width of a marker.
const MARKER: f64 = 6.0;
/// Half the height of a line of text.
const TEXT: f64 = 6.0;
/// Mean width of a character.
const CHARACTER: f64 = 7.2;
/// Between the centre of a marker and its name.
const GAP: f64 = 11.0;
/// A text at most this many pixels above or below its point stands beside it.
pub(crate) const NEAR: f64 = 20.0;

/// The room in pixels that a name needs beside the centre of its marker.
pub fn name_width(name: &str) -> f64 {
    GAP + CHARACTER * name.chars().count() as f64
}

/// In pixels.
#[derive(Clone, Copy, Debug)]
struct Rectangle {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rectangle {
    fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// The common area, in square pixels.
    fn shared(self, other: Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// From a point to the nearest place of the rectangle, in pixels.
    fn distance(self, (x, y): Point) -> f64 {
        let across = (self.left - x).max(x - self.right).max(0.0);
        libm::hypot(across, (self.top - y).max(y - self.bottom).max(0.0))
    }

    fn of_marker((x, y): Point) -> Self {
        Self { left: x - MARKER, top: y - MARKER, right: x + MARKER, bottom: y + MARKER }
    }

    /// A horizontal or vertical line, with a little room.
    fn of_line([(x, y), (other_x, other_y)]: [Point; 2]) -> Self {
        const ROOM: f64 = 2.0;
        Self {
            left: x.min(other_x) - ROOM,
            top: y.min(other_y) - ROOM,
            right: x.max(other_x) + ROOM,
            bottom: y.max(other_y) + ROOM,
        }
    }

    fn of_name(MarkedName { at: (x, y), name }: MarkedName<'_>, position: LabelPosition) -> Self {
        let (near, width) = (x + position.dx, CHARACTER * name.chars().count() as f64);
        let (left, right) = if position.is_left { (near - width, near) } else { (near, near + width) };
        Self { left, top: y + position.dy - TEXT, right, bottom: y + position.dy + TEXT }
    }
}

/// The places in a plot that markers and names cover.
pub struct LabelSpace {
    /// In pixels.
    width: f64,
    taken: Vec<Rectangle>,
}

impl LabelSpace {
    /// An empty plot of this width in pixels.
    pub fn new(width: f64) -> Self {
        Self { width, taken: Vec::new() }
    }

    /// Covers the place of a marker.
    pub fn add_marker(&mut self, at: Point) {
        self.taken.push(Rectangle::of_marker(at));
    }

    /// Whether a marker here covers no other marker and no name.
    pub fn has_room_for_marker(&self, at: Point) -> bool {
        let area = Rectangle::of_marker(at);
        !self.taken.iter().any(|other| area.overlaps(*other))
    }

    /// Covers the place of a name in this position.
    pub fn add_name(&mut self, name: MarkedName<'_>, position: LabelPosition) {
        self.taken.push(Rectangle::of_name(name, position));
    }

    /// The first of these positions in which a name covers no marker and no other name.
    pub fn free_position(
        &self,
        name: MarkedName<'_>,
        candidates: impl IntoIterator<Item = LabelPosition>,
    ) -> Option<LabelPosition> {
        candidates.into_iter().find(|position| self.covered(name, *position) <= 0.0)
    }

    /// What a name in this position covers or what of it is outside of the plot, in square pixels.
    fn covered(&self, name: MarkedName<'_>, position: LabelPosition) -> f64 {
        let area = Rectangle::of_name(name, position);
        let outside = (-area.left).max(0.0) + (area.right - self.width).max(0.0);
        let shared: f64 = self.taken.iter().map(|other| area.shared(*other)).sum();
        outside * (area.bottom - area.top) + shared
    }
}

/// The markers and names of a plot of this width in pixels.
#[derive(Clone, Debug)]
pub struct PlacedNames<'a> {
    /// The width of the plot.
    pub width: f64,
    /// In the same order at every width.
    pub names: Vec<MarkedName<'a>>,
    /// The ends of horizontal and vertical lines that no name covers, such as intervals.
    pub lines: Vec<[Point; 2]>,
}

/// How often the position of each name is chosen again after those of the others.
const PASSES: usize = 3;

/// For each name the first position beside its marker in which it covers no marker, no other name, no line that leads to
/// one and no other line, is not nearer to another marker than to its own, and does not leave the plot, whatever of these widths the plot has.
/// If there is none, the one with the smallest such area in the widest plot, then in the next one. Two names that remain in
/// each other's way move together.
pub fn label_positions(plots: &[PlacedNames<'_>]) -> Vec<LabelPosition> {
    let mut choice = Choice::new(plots);
    let count = choice.chosen.len();
    for index in (0..PASSES).flat_map(|_| 0..count) {
        choice.move_one(index);
    }
    let crowded: Vec<usize> = (0..count).filter(|index| choice.is_crowded(*index)).collect();
    for (place, one) in crowded.iter().enumerate() {
        for other in &crowded[place + 1..] {
            choice.move_two([*one, *other]);
        }
    }
    choice.chosen
}

/// The positions of all names while they are chosen.
struct Choice<'a> {
    widest_first: Vec<&'a PlacedNames<'a>>,
    candidates: Vec<LabelPosition>,
    chosen: Vec<LabelPosition>,
    /// Names whose position has been chosen; those after them cover nothing yet.
    known: usize,
}

impl<'a> Choice<'a> {
    fn new(plots: &'a [PlacedNames<'a>]) -> Self {
        let rows = [0.0, 13.0, -13.0, 26.0, -26.0, 39.0, -39.0, 52.0];
        let sides = [(GAP, false), (-GAP, true)];
        let candidates: Vec<LabelPosition> = rows
            .iter()
            .flat_map(|&dy| sides.map(|(dx, is_left)| LabelPosition { dx, dy, is_left }))
            .collect();
        let mut widest_first: Vec<&PlacedNames<'_>> = plots.iter().collect();
        widest_first.sort_by(|one, other| other.width.total_cmp(&one.width));
        let count = plots.first().map_or(0, |plot| plot.names.len());
        Self { widest_first, chosen: vec![candidates[0]; count], candidates, known: 0 }
    }

    /// The faults of a name in this position, of the widest plot first.
    fn faults(&self, index: usize, position: LabelPosition) -> Vec<f64> {
        let known = &self.chosen[..self.known];
        self.widest_first.iter().map(|plot| plot.faults(known, index, position)).collect()
    }

    /// Whether a name covers something in the widest plot.
    fn is_crowded(&self, index: usize) -> bool {
        self.faults(index, self.chosen[index]).first().is_some_and(|faults| *faults > 0.0)
    }

    /// Gives a name its best position beside those of the others.
    fn move_one(&mut self, index: usize) {
        let ranked = self.candidates.iter().map(|position| (self.faults(index, *position), *position));
        if let Some((_, best)) = ranked.min_by(|(one, _), (other, _)| order(one, other)) {
            self.chosen[index] = best;
        }
        self.known = self.known.max(index + 1);
    }

    /// Gives two names the best pair of positions beside those of the others, if it is better than the present one.
    fn move_two(&mut self, pair: [usize; 2]) {
        let present = pair.map(|index| self.chosen[index]);
        let mut best = (self.faults_of(pair), present);
        for one in self.candidates.clone() {
            for other in self.candidates.clone() {
                (self.chosen[pair[0]], self.chosen[pair[1]]) = (one, other);
                let faults = self.faults_of(pair);
                if order(&faults, &best.0).is_lt() {
                    best = (faults, [one, other]);
                }
            }
        }
        (self.chosen[pair[0]], self.chosen[pair[1]]) = (best.1[0], best.1[1]);
    }

    /// The faults of two names together.
    fn faults_of(&self, pair: [usize; 2]) -> Vec<f64> {
        let [one, other] = pair.map(|index| self.faults(index, self.chosen[index]));
        one.iter().zip(other).map(|(one, other)| one + other).collect()
    }
}

/// Which faults are fewer: in the widest plot, then in the next one.
fn order(one: &[f64], other: &[f64]) -> Ordering {
    one.partial_cmp(other).unwrap_or(Ordering::Equal)
}

/// Plots narrower than this, in pixels, are those of a narrow window (`wide-only` in `chart.css`).
const NARROW: f64 = 600.0;
/// The class of a name that a narrow window leaves out.
const LEFT_OUT: &str = "name wide-only";

/// The class of each name in these positions. Where names in a narrow plot cover one another or another marker, or leave the plot,
/// the style sheet leaves some of them out in a narrow window, so that the others can be read.
pub fn name_classes(plots: &[PlacedNames<'_>], positions: &[LabelPosition]) -> Vec<&'static str> {
    let mut classes = vec!["name"; positions.len()];
    for plot in plots.iter().filter(|plot| plot.width < NARROW) {
        let areas: Vec<Rectangle> =
            plot.names.iter().zip(positions).map(|(name, at)| Rectangle::of_name(*name, *at)).collect();
        // The name that covers the most others is left out first.
        let worst = |classes: &[&str]| {
            let is_shown = |index: &usize| classes[*index] != LEFT_OUT;
            let shown = || (0..areas.len()).filter(is_shown);
            let covered = |index: usize| {
                let names = shown().filter(|other| *other != index && areas[index].overlaps(areas[*other]));
                let markers = plot.names.iter().enumerate().filter(|(other, name)| {
                    *other != index && areas[index].overlaps(Rectangle::of_marker(name.at))
                });
                let area = areas[index];
                let is_outside = area.left < 0.0 || area.right > plot.width || area.top < -TEXT;
                names.count() + markers.count() + usize::from(is_outside)
            };
            shown().map(|index| (covered(index), index)).max().filter(|(count, _)| *count > 0)
        };
        while let Some((_, index)) = worst(&classes) {
            classes[index] = LEFT_OUT;
        }
    }
    classes
}

impl PlacedNames<'_> {
    /// What the name with this index would cover in a position, or what of it would be outside of the plot, in square pixels;
    /// its whole area besides if it would be nearer to another marker than to its own. The first of the others are in the
    /// `chosen` positions.
    fn faults(&self, chosen: &[LabelPosition], index: usize, position: LabelPosition) -> f64 {
        let Some(own) = self.names.get(index) else { return 0.0 };
        let area = Rectangle::of_name(*own, position);
        let outside = (-area.left).max(0.0) + (area.right - self.width).max(0.0);
        // One line above the plot is free.
        let above = (-2.0 * TEXT - area.top).max(0.0);
        let mut faults = outside * (area.bottom - area.top) + above * (area.right - area.left);
        faults += self.names.iter().map(|name| area.shared(Rectangle::of_marker(name.at))).sum::<f64>();
        faults += self.lines.iter().map(|ends| area.shared(Rectangle::of_line(*ends))).sum::<f64>();
        if self.names.iter().any(|name| area.distance(name.at) < area.distance(own.at)) {
            faults += area.shared(area);
        }
        let own_leader = leader(own.at, position);
        let others = self.names.iter().zip(chosen).enumerate().filter(|(other, _)| *other != index);
        for (_, (name, position)) in others {
            let (other, its_leader) = (Rectangle::of_name(*name, *position), leader(name.at, *position));
            faults += area.shared(other);
            faults += own_leader.iter().map(|piece| piece.shared(other)).sum::<f64>();
            faults += its_leader.iter().map(|piece| piece.shared(area)).sum::<f64>();
        }
        faults
    }
}

/// Squares along the line that leads from a marker to a name; none for a name that stands beside it.
fn leader((x, y): Point, LabelPosition { dx, dy, .. }: LabelPosition) -> Vec<Rectangle> {
    const PIECES: u32 = 6;
    if dy.abs() <= NEAR {
        return Vec::new();
    }
    let [from, to] = leader_ends(dx, dy);
    let piece = |piece: u32| {
        let share = f64::from(piece) / f64::from(PIECES);
        let at = |from: f64, to: f64| from + share * (to - from);
        let (x, y) = (x + at(from.0, to.0), y + at(from.1, to.1));
        Rectangle { left: x - 2.0, top: y - 2.0, right: x + 2.0, bottom: y + 2.0 }
    };
    (0..=PIECES).map(piece).collect()
}

/// Both ends of the line from a point to a text that does not stand beside it, in pixels from the point.
pub(crate) fn leader_ends(dx: f64, dy: f64) -> [Point; 2] {
    [(0.4 * dx, 0.3 * dy), (0.9 * dx, 0.8 * dy)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_room_in_a_narrow_plot_stand_free_in_wide_ones() {
        // Markers that are nearer than two lines of text: three names fit on each side in 1050 pixels, and none in 60.
        let texts: Vec<String> = (0..6).map(|index| format!("protocol-{index}")).collect();
        let at = |width: f64| {
            let names = texts
                .iter()
                .zip(0..)
                .map(|(name, index)| MarkedName { at: (0.45 * width, 7.0 * f64::from(index)), name });
            PlacedNames { width, names: names.collect(), lines: Vec::new() }
        };
        let plots = [60.0, 1050.0].map(at);
        let positions = label_positions(&plots);
        let wide = &plots[1];
        let areas: Vec<Rectangle> =
            wide.names.iter().zip(&positions).map(|(name, at)| Rectangle::of_name(*name, *at)).collect();
        for (index, area) in areas.iter().enumerate() {
            assert!(!areas[index + 1..].iter().any(|other| area.overlaps(*other)), "{areas:?}");
        }
    }

    #[test]
    fn of_names_that_cover_one_another_in_a_narrow_plot_some_are_left_out_there() {
        let texts: Vec<String> = (0..24).map(|index| format!("protocol-{index}")).collect();
        let plot = |width: f64| {
            let names = texts
                .iter()
                .zip(0..)
                .map(|(name, index)| MarkedName { at: (0.45 * width, 3.0 * f64::from(index)), name });
            PlacedNames { width, names: names.collect(), lines: Vec::new() }
        };
        let plots = [310.0, 1050.0].map(plot);
        let positions = label_positions(&plots);
        let classes = name_classes(&plots, &positions);
        assert!(classes.contains(&"name") && classes.contains(&LEFT_OUT), "{classes:?}");
        let areas: Vec<Rectangle> = plots[0]
            .names
            .iter()
            .zip(&positions)
            .zip(&classes)
            .filter(|(_, class)| **class == "name")
            .map(|((name, at), _)| Rectangle::of_name(*name, *at))
            .collect();
        for (index, area) in areas.iter().enumerate() {
            assert!(!areas[index + 1..].iter().any(|other| area.overlaps(*other)), "{areas:?}");
        }
        let alone = PlacedNames { names: plots[0].names[..1].to_vec(), ..plots[0].clone() };
        let beside = LabelPosition { dx: GAP, dy: 0.0, is_left: false };
        assert_eq!(name_classes(&[alone], &[beside]), ["name"]);
    }

    /// Places of a frontier: the name of the lower of two near markers stood below the upper one's neighbour.
    #[test]
    fn no_name_is_nearer_to_another_marker_than_to_its_own() {
        let shares = [
            (0.40, 60.0),
            (0.42, 82.0),
            (0.55, 71.0),
            (0.45, 110.0),
            (0.62, 60.0),
            (0.8, 4.0),
            (0.8, 4.0),
            (0.8, 4.0),
        ];
        let texts = ["xcp", "abc", "pledge@50ms", "vegas", "pledge@100ms", "a", "b", "c"];
        let at = |width: f64| {
            let names = shares.iter().zip(texts);
            let names = names.map(|(&(share, y), name)| MarkedName { at: (share * width, y), name });
            PlacedNames { width, names: names.collect(), lines: Vec::new() }
        };
        let plots = [310.0, 480.0, 1050.0].map(at);
        let positions = label_positions(&plots);
        for PlacedNames { width, names, .. } in &plots {
            for (own, position) in names.iter().zip(&positions) {
                let area = Rectangle::of_name(*own, *position);
                let is_nearer = |other: &&MarkedName<'_>| area.distance(other.at) < area.distance(own.at);
                assert!(area.top >= -2.0 * TEXT, "{} is above the plot", own.name);
                let nearer: Vec<&str> = names.iter().filter(is_nearer).map(|other| other.name).collect();
                assert!(nearer.is_empty(), "{} at {width} px is nearer to {nearer:?}", own.name);
            }
        }
    }

    /// Places of a frontier: no position of "acp" alone is free beside that of "hpcc", and none of "hpcc" beside that of "acp".
    #[test]
    fn two_names_in_each_others_way_move_together() {
        let places = [
            ("dctcp", 636.7, 90.7),
            ("lgcc", 464.5, 110.5),
            ("lgc", 695.4, 45.0),
            ("abc", 605.3, 31.9),
            ("xcp", 587.6, 38.5),
            ("rcp", 518.6, 106.9),
            ("vcp", 545.4, 147.4),
            ("vegas", 641.0, 100.8),
            ("hpcc", 476.8, 95.8),
            ("copa", 678.5, 80.3),
            ("sprout", 358.1, 205.9),
            ("ledbatpp@50ms", 509.6, 202.1),
            ("ledbatpp@200ms", 729.4, 167.6),
            ("acp", 489.6, 101.0),
            ("mcp", 742.5, 137.7),
            ("pledge@20ms", 424.5, 88.7),
            ("pledge@50ms", 549.6, 31.3),
            ("pledge@100ms", 639.7, 12.5),
            ("pledge@200ms", 639.7, 12.5),
            ("paganini-ecn", 569.0, 75.2),
            ("paganini-delay", 657.3, 23.6),
        ];
        let at = |width: f64| {
            let names = places.map(|(name, x, y)| MarkedName { at: (x * width / 1050.0, y), name });
            PlacedNames { width, names: names.to_vec(), lines: Vec::new() }
        };
        let plots = [310.0, 480.0, 1050.0].map(at);
        let positions = label_positions(&plots);
        for (index, position) in positions.iter().enumerate() {
            assert_eq!(plots[2].faults(&positions, index, *position), 0.0, "{positions:?}");
        }
    }

    /// Markers with intervals to both sides, as in a trade-off of several seeds.
    #[test]
    fn no_name_covers_an_interval() {
        let shares = [(0.3, 150.0), (0.6, 60.0), (0.65, 90.0)];
        let at = |width: f64| {
            let places = shares.map(|(share, y)| (share * width, y));
            let names =
                places.iter().zip(["abc", "cubic", "lgcc"]).map(|(&at, name)| MarkedName { at, name });
            let across = places.iter().map(|&(x, y)| [(x - 40.0, y), (x + 40.0, y)]);
            let upwards = places.iter().map(|&(x, y)| [(x, y - 30.0), (x, y + 30.0)]);
            PlacedNames { width, names: names.collect(), lines: across.chain(upwards).collect() }
        };
        let plots = [310.0, 480.0, 1050.0].map(at);
        let positions = label_positions(&plots);
        for PlacedNames { names, lines, .. } in &plots {
            for (name, position) in names.iter().zip(&positions) {
                let area = Rectangle::of_name(*name, *position);
                let covered = lines.iter().filter(|ends| area.overlaps(Rectangle::of_line(**ends))).count();
                assert_eq!(covered, 0, "{} at {position:?}", name.name);
            }
        }
    }

    #[test]
    fn no_name_covers_a_marker_or_another_name_or_leaves_the_plot_at_any_width() {
        let shares = [(0.5, 20.0), (0.5, 20.0), (0.51, 24.0), (0.99, 20.0), (0.9, 25.0), (0.01, 90.0)];
        let texts = ["lgcc", "lgc", "abc", "cubic", "newreno", "paganini"];
        let at = |width: f64| {
            let names = shares.iter().zip(texts);
            let names = names.map(|(&(share, y), name)| MarkedName { at: (share * width, y), name });
            PlacedNames { width, names: names.collect(), lines: Vec::new() }
        };
        let plots = [310.0, 420.0, 1050.0].map(at);
        let positions = label_positions(&plots);
        for PlacedNames { width, names, .. } in &plots {
            let areas = names.iter().zip(&positions).map(|(name, at)| Rectangle::of_name(*name, *at));
            let areas: Vec<Rectangle> = areas.collect();
            for (index, area) in areas.iter().enumerate() {
                assert!(area.left >= 0.0 && area.right <= *width, "{area:?} of {width}");
                assert!(!areas[index + 1..].iter().any(|other| area.overlaps(*other)), "{areas:?}");
                let centre = |(x, y): Point| Rectangle { left: x, top: y, right: x, bottom: y };
                assert!(!names.iter().any(|name| area.overlaps(centre(name.at))), "{areas:?}");
            }
        }
    }
}
