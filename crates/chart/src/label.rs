//! Where names stand beside their markers without covering one another.

use crate::decimate::Point;

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

    fn of_marker((x, y): Point) -> Self {
        Self { left: x - MARKER, top: y - MARKER, right: x + MARKER, bottom: y + MARKER }
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
        let is_free = |position: &LabelPosition| {
            let area = Rectangle::of_name(name, *position);
            area.left >= 0.0
                && area.right <= self.width
                && !self.taken.iter().any(|other| area.overlaps(*other))
        };
        candidates.into_iter().find(is_free)
    }
}

/// For each name the first position beside its marker that covers no marker and no earlier name, within a plot of
/// `width` pixels. If there is no such position, the name stands to the right of its marker.
pub fn label_positions(names: &[MarkedName<'_>], width: f64) -> Vec<LabelPosition> {
    let rows = [0.0, 13.0, -13.0, 26.0, -26.0, 39.0, 52.0];
    let sides = [(GAP, false), (-GAP, true)];
    let candidates = rows.iter().flat_map(|&dy| sides.map(|(dx, is_left)| LabelPosition { dx, dy, is_left }));
    let mut space = LabelSpace::new(width);
    names.iter().for_each(|name| space.add_marker(name.at));
    let mut chosen = Vec::with_capacity(names.len());
    for name in names {
        let default = LabelPosition { dx: GAP, dy: 0.0, is_left: false };
        let position = space.free_position(*name, candidates.clone()).unwrap_or(default);
        space.add_name(*name, position);
        chosen.push(position);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_covers_a_marker_or_another_name() {
        let marks = [(200.0, 20.0), (200.0, 20.0), (205.0, 24.0), (400.0, 20.0), (380.0, 25.0)];
        let names = ["lgcc", "lgc", "abc", "cubic", "newreno"];
        let names: Vec<_> = marks.iter().zip(names).map(|(&at, name)| MarkedName { at, name }).collect();
        let positions = label_positions(&names, 420.0);
        let areas = names.iter().zip(positions).map(|(name, position)| Rectangle::of_name(*name, position));
        let areas: Vec<Rectangle> = areas.collect();
        for (index, area) in areas.iter().enumerate() {
            assert!(!areas[index + 1..].iter().any(|other| area.overlaps(*other)), "{areas:?}");
            let centre = |(x, y): Point| Rectangle { left: x, top: y, right: x, bottom: y };
            assert!(!marks.iter().any(|mark| area.overlaps(centre(*mark))), "{areas:?}");
        }
    }
}
