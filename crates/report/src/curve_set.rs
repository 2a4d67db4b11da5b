//! Several series of one quantity in one plot: a curve per series if they are few, else a curve per group, or the mean of
//! all series with the range from minimum to maximum.

use millpond_chart::{Legend, Plot, Point, decimate, elide, slice_means, with_gaps};
use millpond_results::{EntityKind, Series, quantity};
use std::collections::BTreeMap;

/// Largest number of curves that a reader can distinguish in one plot, and the number of their tones.
pub const MOST_CURVES: usize = 12;
/// Names of groups in legends are cut to this many characters.
const GROUP_NAME_LENGTH: usize = 11;

/// Points with the name of their curve.
pub(super) struct NamedCurve {
    name: String,
    points: Vec<Point>,
}

/// Series prepared for drawing: in the unit of the plot, decimated, and condensed if they are many.
pub(super) enum CurveSet {
    /// One curve per series.
    Series(Vec<NamedCurve>),
    /// One curve per group.
    Groups(Vec<NamedCurve>),
    /// The mean of all series with its range.
    Range { count: usize, least: Vec<Point>, mean: Vec<Point>, greatest: Vec<Point> },
}

/// Which value represents a group.
#[derive(Clone, Copy)]
pub(super) enum GroupValue {
    Sum,
    Mean,
}

/// What several values at one time have in common.
#[derive(Clone, Copy)]
struct Statistics {
    count: f64,
    sum: f64,
    least: f64,
    greatest: f64,
}

impl Statistics {
    const EMPTY: Self = Self { count: 0.0, sum: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY };

    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }
}

/// Statistics of all finite values at each time at which there is one.
struct StatisticsOverTime {
    times: Vec<f64>,
    statistics: Vec<Statistics>,
}

impl StatisticsOverTime {
    fn of(series: &[&Series], factor: f64) -> Self {
        let mut by_time: BTreeMap<u64, Statistics> = BTreeMap::new();
        for one in series {
            for (time, value) in one.times.iter().zip(&one.values).filter(|(_, value)| value.is_finite()) {
                by_time.entry(time.to_bits()).or_insert(Statistics::EMPTY).add(value * factor);
            }
        }
        let times = by_time.keys().copied().map(f64::from_bits).collect();
        Self { times, statistics: by_time.into_values().collect() }
    }

    fn values(&self, value: fn(&Statistics) -> f64) -> Vec<f64> {
        self.statistics.iter().map(value).collect()
    }

    /// A curve of at most `2 * slices` points.
    fn curve(&self, value: fn(&Statistics) -> f64, slices: usize) -> Vec<Point> {
        decimate(&self.times, &self.values(value), slices)
    }

    /// One point per slice, at the same times for every value.
    fn outline(&self, value: fn(&Statistics) -> f64, keep: fn(f64, f64) -> f64, slices: usize) -> Vec<Point> {
        let samples = self.times.len().div_ceil(2 * slices).max(1);
        let point = |(times, values): (&[f64], &[f64])| {
            values.iter().copied().reduce(keep).map(|value| (times[times.len() / 2], value))
        };
        let values = self.values(value);
        self.times.chunks(samples).zip(values.chunks(samples)).filter_map(point).collect()
    }
}

impl CurveSet {
    /// At most `2 * slices` points per curve, all values multiplied by `factor`.
    pub(super) fn new(series: &[&Series], group_value: GroupValue, factor: f64, slices: usize) -> Self {
        if series.len() <= MOST_CURVES {
            let curve = |one: &&Series| {
                let (name, points) = (one.entity.clone(), decimated(one, factor, slices));
                NamedCurve { name, points }
            };
            return Self::Series(series.iter().map(curve).collect());
        }
        let groups = groups(series);
        if !(2..=MOST_CURVES).contains(&groups.len()) {
            return Self::range(series, factor, slices);
        }
        let curve = |group: &CurveGroup<'_>| NamedCurve {
            name: group_value.name(group.name, group.members.len()),
            points: group_value.points(&group.members, factor, slices),
        };
        Self::Groups(groups.iter().map(curve).collect())
    }

    fn range(series: &[&Series], factor: f64, slices: usize) -> Self {
        let all = StatisticsOverTime::of(series, factor);
        Self::Range {
            count: series.len(),
            least: all.outline(|one| one.least, f64::min, slices),
            greatest: all.outline(|one| one.greatest, f64::max, slices),
            mean: all.curve(|one| one.sum / one.count, slices),
        }
    }

    /// Whether it shows less than every series by itself.
    pub(super) const fn is_condensed(&self) -> bool {
        !matches!(self, Self::Series(_))
    }

    /// Draws all curves; tone and dashes of a curve depend on its index.
    pub(super) fn draw(&self, plot: &mut Plot) {
        match self {
            Self::Series(curves) | Self::Groups(curves) => {
                for (index, NamedCurve { name, points }) in curves.iter().enumerate() {
                    plot.curve(name, &line_class(index), points);
                }
            }
            Self::Range { least, mean, greatest, .. } => {
                plot.band("band", least, greatest);
                plot.curve("least", "line edge", least);
                plot.curve("greatest", "line edge", greatest);
                plot.curve("mean", "line", mean);
            }
        }
    }

    /// An entry for each curve.
    pub(super) fn legend(&self) -> Legend {
        match self {
            Self::Series(curves) | Self::Groups(curves) => {
                let add = |legend: Legend, (index, curve): (usize, &NamedCurve)| {
                    legend.line(&line_class(index), &curve.name)
                };
                curves.iter().enumerate().fold(Legend::new(), add)
            }
            Self::Range { count, .. } => {
                Legend::new().text(&format!("mean of {count}, between the least and the greatest of them"))
            }
        }
    }

    /// Every value that is drawn.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let (curves, range): (&[_], _) = match self {
            Self::Series(curves) | Self::Groups(curves) => (curves, None),
            Self::Range { least, greatest, .. } => (&[], Some(least.iter().chain(greatest))),
        };
        let points = curves.iter().flat_map(|curve| &curve.points).chain(range.into_iter().flatten());
        points.map(|point| point.1)
    }
}

fn line_class(index: usize) -> String {
    format!("line f{index}")
}

/// Series of entities whose names differ in their number only: `user.3` is of the group `user`.
struct CurveGroup<'a> {
    name: &'a str,
    members: Vec<&'a Series>,
}

/// All groups, in the order of their first members.
fn groups<'a>(series: &[&'a Series]) -> Vec<CurveGroup<'a>> {
    let mut groups: Vec<CurveGroup<'_>> = Vec::new();
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for one in series {
        let name = match one.entity.rsplit_once('.') {
            Some((group, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => group,
            _ => one.entity.as_str(),
        };
        let index = *indices.entry(name).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.members.push(one),
            None => groups.push(CurveGroup { name, members: vec![one] }),
        }
    }
    groups
}

impl GroupValue {
    /// The name of the curve of a group of `count` series.
    pub(super) fn name(self, group: &str, count: usize) -> String {
        let name = elide(group, GROUP_NAME_LENGTH);
        match (self, count) {
            (_, 1) => name,
            (Self::Sum, count) => format!("{name}, sum of {count}"),
            (Self::Mean, count) => format!("{name}, mean of {count}"),
        }
    }

    /// The value over those members that have one at a time.
    fn points(self, members: &[&Series], factor: f64, slices: usize) -> Vec<Point> {
        let all = StatisticsOverTime::of(members, factor);
        match self {
            Self::Sum => all.curve(|one| one.sum, slices),
            Self::Mean => all.curve(|one| one.sum / one.count, slices),
        }
    }
}

/// Series one above the other, each between the sum of those below it and that sum plus its own value.
pub(super) struct Stack(Vec<StackedBand>);

/// One series of a stack.
struct StackedBand {
    name: String,
    low: Vec<Point>,
    high: Vec<Point>,
}

impl Stack {
    /// A band for each series if they are few, else for each group; none if there are fewer than two or too many bands.
    /// A series without a value at a time counts as zero. All bands have the same times, at most `slices` of them.
    pub(super) fn new(series: &[&Series], factor: f64, slices: usize) -> Option<Self> {
        let groups = if series.len() <= MOST_CURVES {
            series.iter().map(|one| CurveGroup { name: &one.entity, members: vec![*one] }).collect()
        } else {
            groups(series)
        };
        if !(2..=MOST_CURVES).contains(&groups.len()) {
            return None;
        }
        let all = StatisticsOverTime::of(series, factor);
        let mut low = vec![0.0; all.times.len()];
        let band = |group: &CurveGroup<'_>| {
            let own = StatisticsOverTime::of(&group.members, factor);
            let mut high = low.clone();
            let mut places = all.times.iter().zip(&mut high);
            for (time, statistics) in own.times.iter().zip(&own.statistics) {
                places
                    .find(|(other, _)| *other == time)
                    .into_iter()
                    .for_each(|(_, sum)| *sum += statistics.sum);
            }
            let below = std::mem::replace(&mut low, high);
            let [low, high] = [&below, &low].map(|values| slice_means(&all.times, values, slices));
            StackedBand { name: GroupValue::Sum.name(group.name, group.members.len()), low, high }
        };
        Some(Self(groups.iter().map(band).collect()))
    }

    /// Draws all bands, each with its upper edge.
    pub(super) fn draw(&self, plot: &mut Plot) {
        for (index, band) in self.0.iter().enumerate() {
            plot.band(&format!("band f{index}"), &band.low, &band.high);
            plot.curve(&band.name, &line_class(index), &band.high);
        }
    }

    /// An entry for each band.
    pub(super) fn legend(&self) -> Legend {
        let add = |legend: Legend, (index, band): (usize, &StackedBand)| {
            legend.line(&line_class(index), &band.name)
        };
        self.0.iter().enumerate().fold(Legend::new(), add)
    }

    /// The values of the uppermost edge.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.0.last().into_iter().flat_map(|band| band.high.iter().map(|point| point.1))
    }
}

/// One series as points, at most `2 * slices` of them, its values multiplied by `factor`. The curve is broken where samples
/// have no value or are missing.
pub(super) fn decimated(series: &Series, factor: f64, slices: usize) -> Vec<Point> {
    let (times, values) = with_gaps(&series.times, &series.values);
    let mut points = decimate(&times, &values, slices);
    points.iter_mut().for_each(|point| point.1 *= factor);
    points
}

/// The range of several series at each time, one point per slice.
pub(super) struct Band {
    pub(super) least: Vec<Point>,
    pub(super) greatest: Vec<Point>,
}

impl Band {
    /// The range of all series, multiplied by `factor`; none of a single one.
    pub(super) fn of(series: &[&Series], factor: f64, slices: usize) -> Option<Self> {
        let all = (series.len() > 1).then(|| StatisticsOverTime::of(series, factor))?;
        let least = all.outline(|one| one.least, f64::min, slices);
        Some(Self { least, greatest: all.outline(|one| one.greatest, f64::max, slices) })
    }

    /// Draws it in the colour of the plot, or in that of a series.
    pub(super) fn draw(&self, plot: &mut Plot, class: &str) {
        plot.band(class, &self.least, &self.greatest);
    }

    /// Every value that is drawn.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.least.iter().chain(&self.greatest).map(|point| point.1)
    }
}

/// The mean of `values` at each time, weighted by `weights` with the same entities and times; at most `2 * slices` points.
/// At a time at which all weights are zero every value counts equally.
pub(super) fn weighted_mean(values: &[&Series], weights: &[&Series]) -> Series {
    let weight_of: BTreeMap<(&str, u64), f64> = weights
        .iter()
        .flat_map(|one| {
            one.times.iter().zip(&one.values).map(|(t, w)| ((one.entity.as_str(), t.to_bits()), *w))
        })
        .collect();
    let mut by_time: BTreeMap<u64, [f64; 4]> = BTreeMap::new();
    for one in values {
        for (time, value) in one.times.iter().zip(&one.values).filter(|(_, value)| value.is_finite()) {
            let weight = weight_of.get(&(one.entity.as_str(), time.to_bits())).copied().unwrap_or_default();
            let [weights, weighted, count, plain] = by_time.entry(time.to_bits()).or_default();
            *weights += weight;
            *weighted += weight * value;
            *count += 1.0;
            *plain += value;
        }
    }
    let mean = |[weights, weighted, count, plain]: &[f64; 4]| {
        if *weights > 0.0 { weighted / weights } else { plain / count }
    };
    Series {
        kind: EntityKind::Group,
        entity: "all".to_owned(),
        quantity: quantity::QUEUEING.to_owned(),
        unit: "ms".to_owned(),
        times: by_time.keys().copied().map(f64::from_bits).collect(),
        values: by_time.values().map(mean).collect(),
    }
}

/// The sum of delays in ms over those series that have a value at a time, as the delay of a flow.
pub(super) fn sum_of_delays(flow: &str, delays: &[&Series]) -> Series {
    let all = StatisticsOverTime::of(delays, 1.0);
    Series {
        kind: EntityKind::Flow,
        entity: flow.to_owned(),
        quantity: quantity::QUEUEING.to_owned(),
        unit: "ms".to_owned(),
        values: all.values(|one| one.sum),
        times: all.times.into(),
    }
}

/// The sum of all series at each time, at most `2 * slices` points.
pub(super) fn sum(series: &[&Series], slices: usize) -> Vec<Point> {
    GroupValue::Sum.points(series, 1.0, slices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_weighted_at_each_time_and_values_count_equally_without_weights() {
        let one = |entity: &str, values: [f64; 3]| Series {
            entity: entity.into(),
            times: vec![1.0, 2.0, 3.0].into(),
            values: values.into(),
            ..flows(1).remove(0)
        };
        let (delays, rates) = (
            [one("a", [10.0, 10.0, f64::NAN]), one("b", [40.0, 20.0, 5.0])],
            [one("a", [3.0, 0.0, 1.0]), one("b", [1.0, 0.0, 1.0])],
        );
        let mean = weighted_mean(&delays.each_ref(), &rates.each_ref());
        assert_eq!((mean.times, mean.values), (vec![1.0, 2.0, 3.0].into(), vec![17.5, 15.0, 5.0]));
    }

    fn flows(count: usize) -> Vec<Series> {
        let flow = |index: usize| Series {
            kind: EntityKind::Flow,
            entity: format!("flow.{index}"),
            quantity: "goodput".into(),
            unit: "bit/s".into(),
            times: vec![1.0, 2.0].into(),
            values: vec![index as f64, if index == 0 { f64::NAN } else { 5.0 }],
        };
        (0..count).map(flow).collect()
    }

    #[test]
    fn a_dozen_series_are_a_curve_each() {
        let flows = flows(12);
        let set = CurveSet::new(&flows.iter().collect::<Vec<_>>(), GroupValue::Mean, 1.0, 100);
        assert!(matches!(set, CurveSet::Series(curves) if curves.len() == 12));
    }

    #[test]
    fn many_series_of_a_few_groups_are_a_curve_for_each_group() {
        let mut flows = flows(20);
        flows[19].entity = "alone".into();
        let series: Vec<_> = flows.iter().collect();
        let curve = |value, index: usize| match CurveSet::new(&series, value, 2.0, 100) {
            CurveSet::Groups(curves) => (curves[index].name.clone(), curves[index].points.clone()),
            _ => panic!("not by groups"),
        };
        assert_eq!(curve(GroupValue::Sum, 0), ("flow, sum of 19".into(), vec![(1.0, 342.0), (2.0, 180.0)]));
        assert_eq!(curve(GroupValue::Mean, 0), ("flow, mean of 19".into(), vec![(1.0, 18.0), (2.0, 10.0)]));
        assert_eq!(curve(GroupValue::Mean, 1), ("alone".into(), vec![(1.0, 38.0), (2.0, 10.0)]));
    }

    #[test]
    fn a_sum_is_over_those_that_have_a_value() {
        let flows = flows(3);
        assert_eq!(sum(&flows.iter().collect::<Vec<_>>(), 100), [(1.0, 3.0), (2.0, 10.0)]);
    }

    /// Flow 0 has no value at the second time: the band has no height there.
    #[test]
    fn stacked_series_add_up_and_have_common_times() {
        let flows = flows(3);
        let Stack(bands) = Stack::new(&flows.iter().collect::<Vec<_>>(), 2.0, 100).unwrap();
        let edges: Vec<_> = bands.iter().map(|band| (band.low.clone(), band.high.clone())).collect();
        assert_eq!(edges[0], (vec![(1.0, 0.0), (2.0, 0.0)], vec![(1.0, 0.0), (2.0, 0.0)]));
        assert_eq!(edges[1].1, [(1.0, 2.0), (2.0, 10.0)]);
        assert_eq!(edges[2], (edges[1].1.clone(), vec![(1.0, 6.0), (2.0, 20.0)]));
        assert!(Stack::new(&[&flows[0]], 1.0, 100).is_none());
    }

    #[test]
    fn a_thousand_series_are_their_least_mean_and_greatest_value() {
        let flows = flows(1000);
        let series: Vec<_> = flows.iter().collect();
        let CurveSet::Range { count, least, mean, greatest } =
            CurveSet::new(&series, GroupValue::Mean, 2.0, 100)
        else {
            panic!("a thousand curves")
        };
        assert_eq!(count, 1000);
        assert_eq!(least, [(1.0, 0.0), (2.0, 10.0)]);
        assert_eq!(mean, [(1.0, 999.0), (2.0, 10.0)]);
        assert_eq!(greatest, [(1.0, 1998.0), (2.0, 10.0)]);
    }
}
