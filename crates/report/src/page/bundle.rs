//! Several series of one quantity in one plot: as curves while they can be told apart, else one for each of their
//! groups, or of one group as its mean between the least and the greatest.

use std::collections::BTreeMap;

use crate::chart::decimate::{Point, decimate};
use crate::chart::markup::{Text, elide};
use crate::chart::plot::Plot;
use millpond_results::Series;

/// More curves than this cannot be told apart.
const MOST_CURVES: usize = 12;
/// Names in legends are cut to this many characters.
const NAME_LENGTH: usize = 24;

/// Series prepared for drawing: multiplied by a factor of units, thinned, and bundled if they are many.
pub(super) enum Bundle {
    Curves(Vec<(String, Vec<Point>)>),
    /// One curve per group.
    Groups(Vec<(String, Vec<Point>)>),
    Band {
        count: usize,
        low: Vec<Point>,
        mean: Vec<Point>,
        high: Vec<Point>,
    },
}

/// What stands for a group.
#[derive(Clone, Copy)]
pub(super) enum Together {
    Sum,
    Mean,
}

impl Bundle {
    /// At most `2 * slices` points per curve.
    pub(super) fn new(series: &[&Series], together: Together, factor: f64, slices: usize) -> Self {
        if series.len() > MOST_CURVES {
            let groups = groups(series);
            if !(2..=MOST_CURVES).contains(&groups.len()) {
                return Self::band(series, factor, slices);
            }
            let curve = |(name, members): &(&str, Vec<&Series>)| {
                (together.name(name, members.len()), together.points(members, factor, slices))
            };
            return Self::Groups(groups.iter().map(curve).collect());
        }
        let curve = |one: &&Series| (one.entity.clone(), thinned(one, factor, slices));
        Self::Curves(series.iter().map(curve).collect())
    }

    fn band(series: &[&Series], factor: f64, slices: usize) -> Self {
        let mut at: BTreeMap<u64, (f64, f64, f64, f64)> = BTreeMap::new();
        for one in series {
            for (time, value) in one.times.iter().zip(&one.values).filter(|(_, value)| value.is_finite()) {
                let (count, sum, low, high) =
                    at.entry(time.to_bits()).or_insert((0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY));
                (*count, *sum) = (*count + 1.0, *sum + value);
                (*low, *high) = (low.min(*value), high.max(*value));
            }
        }
        let times: Vec<f64> = at.keys().copied().map(f64::from_bits).collect();
        let outline = |pick: fn(&(f64, f64, f64, f64)) -> f64, keep: fn(f64, f64) -> f64| {
            let values: Vec<f64> = at.values().map(|one| pick(one) * factor).collect();
            coarse(&times, &values, slices, keep)
        };
        Self::Band {
            count: series.len(),
            low: outline(|one| one.2, f64::min),
            high: outline(|one| one.3, f64::max),
            mean: decimate(
                &times,
                &at.values().map(|one| one.1 / one.0 * factor).collect::<Vec<_>>(),
                slices,
            ),
        }
    }

    /// Is it less than every series by itself?
    pub(super) const fn is_condensed(&self) -> bool {
        !matches!(self, Self::Curves(_))
    }

    /// Draws it; a curve's tone and dashes follow its place in the bundle.
    pub(super) fn draw(&self, plot: &mut Plot) {
        match self {
            Self::Curves(curves) | Self::Groups(curves) => {
                for (place, (name, points)) in curves.iter().enumerate() {
                    plot.curve(name, &format!("line f{place}"), points);
                }
            }
            Self::Band { low, mean, high, .. } => {
                plot.band("band", low, high);
                plot.curve("least", "line edge", low);
                plot.curve("greatest", "line edge", high);
                plot.curve("mean", "line", mean);
            }
        }
    }

    /// Which line is which.
    pub(super) fn legend(&self) -> String {
        match self {
            Self::Curves(curves) | Self::Groups(curves) => {
                let key = |(place, (name, _)): (usize, &(String, Vec<Point>))| {
                    legend_entry(&format!("line f{place}"), name)
                };
                curves.iter().enumerate().map(key).collect()
            }
            Self::Band { count, .. } => format!(
                r#"<span class="key">mean of {count}, between the least and the greatest of them</span>"#
            ),
        }
    }

    /// Every value that will be drawn.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let (curves, band): (&[_], _) = match self {
            Self::Curves(curves) | Self::Groups(curves) => (curves, None),
            Self::Band { low, high, .. } => (&[], Some(low.iter().chain(high))),
        };
        let points = curves.iter().flat_map(|(_, points)| points).chain(band.into_iter().flatten());
        points.map(|point| point.1)
    }
}

/// Series by the groups of their entities, in the order in which these first appear: `user.3` is of `user`.
fn groups<'a>(series: &[&'a Series]) -> Vec<(&'a str, Vec<&'a Series>)> {
    let mut groups: Vec<(&str, Vec<&Series>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for one in series {
        let name = match one.entity.rsplit_once('.') {
            Some((group, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => group,
            _ => one.entity.as_str(),
        };
        let place = *places.entry(name).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, members)) => members.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    groups
}

impl Together {
    fn name(self, group: &str, members: usize) -> String {
        let group = elide(group, NAME_LENGTH - 13);
        match (self, members) {
            (_, 1) => group,
            (Self::Sum, many) => format!("{many} of {group}"),
            (Self::Mean, many) => format!("{group}, mean of {many}"),
        }
    }

    /// Of those members that have a value.
    fn points(self, members: &[&Series], factor: f64, slices: usize) -> Vec<Point> {
        let mut at: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for one in members {
            for (time, value) in one.times.iter().zip(&one.values).filter(|(_, value)| value.is_finite()) {
                let (count, sum) = at.entry(time.to_bits()).or_default();
                (*count, *sum) = (*count + 1.0, *sum + value * factor);
            }
        }
        let times: Vec<f64> = at.keys().copied().map(f64::from_bits).collect();
        let value = |(count, sum): (f64, f64)| match self {
            Self::Sum => sum,
            Self::Mean => sum / count,
        };
        decimate(&times, &at.into_values().map(value).collect::<Vec<_>>(), slices)
    }
}

/// A piece of line and its name.
pub(super) fn legend_entry(class: &str, name: &str) -> String {
    format!(
        concat!(
            r#"<span class="key"><svg class="swatch" width="22" height="10" aria-hidden="true">"#,
            r#"<path class="{}" d="M1 5H21"/></svg>{}</span>"#
        ),
        class,
        Text(&elide(name, NAME_LENGTH))
    )
}

/// One series as points, at most `2 * slices` of them.
pub(super) fn thinned(series: &Series, factor: f64, slices: usize) -> Vec<Point> {
    let mut points = decimate(&series.times, &series.values, slices);
    points.iter_mut().for_each(|point| point.1 *= factor);
    points
}

/// The sum of all series at each time, thinned like one.
pub(super) fn total(series: &[&Series], slices: usize) -> Vec<Point> {
    Together::Sum.points(series, 1.0, slices)
}

/// One value per slice, at the same places for every outline of the same times.
fn coarse(times: &[f64], values: &[f64], slices: usize, keep: fn(f64, f64) -> f64) -> Vec<Point> {
    let samples = times.len().div_ceil(2 * slices).max(1);
    let slice = |(times, values): (&[f64], &[f64])| {
        values.iter().copied().reduce(keep).map(|value| (times[times.len() / 2], value))
    };
    times.chunks(samples).zip(values.chunks(samples)).filter_map(slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::Kind;

    fn flows(count: usize) -> Vec<Series> {
        let flow = |index: usize| Series {
            kind: Kind::Flow,
            entity: format!("flow.{index}"),
            quantity: "goodput".into(),
            unit: "bit/s".into(),
            times: vec![1.0, 2.0],
            values: vec![index as f64, if index == 0 { f64::NAN } else { 5.0 }],
        };
        (0..count).map(flow).collect()
    }

    #[test]
    fn a_dozen_series_stay_curves() {
        let flows = flows(12);
        let bundle = Bundle::new(&flows.iter().collect::<Vec<_>>(), Together::Mean, 1.0, 100);
        assert!(matches!(bundle, Bundle::Curves(curves) if curves.len() == 12));
    }

    #[test]
    fn many_series_of_a_few_groups_become_a_curve_for_each() {
        let mut flows = flows(20);
        flows[19].entity = "alone".into();
        let series: Vec<_> = flows.iter().collect();
        let groups = |how| match Bundle::new(&series, how, 2.0, 100) {
            Bundle::Groups(curves) => curves,
            _ => panic!("not by groups"),
        };
        assert_eq!(groups(Together::Sum)[0], ("19 of flow".into(), vec![(1.0, 342.0), (2.0, 180.0)]));
        assert_eq!(groups(Together::Mean)[0], ("flow, mean of 19".into(), vec![(1.0, 18.0), (2.0, 10.0)]));
        assert_eq!(groups(Together::Mean)[1], ("alone".into(), vec![(1.0, 38.0), (2.0, 10.0)]));
    }

    #[test]
    fn a_total_counts_who_is_there() {
        let flows = flows(3);
        assert_eq!(total(&flows.iter().collect::<Vec<_>>(), 100), [(1.0, 3.0), (2.0, 10.0)]);
    }

    #[test]
    fn a_thousand_series_become_their_least_mean_and_greatest() {
        let flows = flows(1000);
        let Bundle::Band { count, low, mean, high } =
            Bundle::new(&flows.iter().collect::<Vec<_>>(), Together::Mean, 2.0, 100)
        else {
            panic!("a thousand curves")
        };
        assert_eq!(count, 1000);
        assert_eq!(low, [(1.0, 0.0), (2.0, 10.0)]);
        assert_eq!(mean, [(1.0, 999.0), (2.0, 10.0)]);
        assert_eq!(high, [(1.0, 1998.0), (2.0, 10.0)]);
    }
}
