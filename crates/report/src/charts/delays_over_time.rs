//! The queueing delay of packets over time: from end to end, with a curve for each group of flows, and at the bottleneck.

use super::super::curve_set::{Band, GroupValue, MOST_CURVES, decimated, sum_of_delays, weighted_mean};
use super::super::run_view::RunView;
use millpond_chart::{Legend, Plot, Point, slice_means, with_gaps};
use millpond_results::{EntityKind, Run, Series, quantity};
use std::collections::{BTreeMap, BTreeSet};

/// What the panel of queueing delays shows of one run, in ms.
pub(super) struct Delays {
    /// From end to end: of all flows, or of each group if there are several.
    end_to_end: Vec<DelayCurve>,
    at_bottleneck: Vec<Point>,
}

/// The end-to-end delay of some flows.
struct DelayCurve {
    name: String,
    /// The class of the tone of a group after a space, as ` f1`; empty for all flows.
    tone: String,
    /// The mean over the flows weighted by goodput.
    points: Vec<Point>,
    /// The range of the mean over the seeds.
    band: Option<Band>,
    /// The part that is spent in relays; none without relays.
    at_relays: Option<StackedPart>,
}

impl Delays {
    pub(super) fn of(view: &RunView, slices: usize) -> Self {
        let at_bottleneck = view.at_bottleneck(quantity::QUEUEING);
        let curves = FlowSet::all(view).into_iter().map(|flows| DelayCurve::of(view, flows, slices));
        Self {
            end_to_end: curves.filter(|curve| !curve.points.is_empty()).collect(),
            at_bottleneck: at_bottleneck.map_or_else(Vec::new, |series| decimated(series, 1.0, slices)),
        }
    }

    /// Every value that is drawn.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let bands = self.end_to_end.iter().filter_map(|curve| curve.band.as_ref()).flat_map(Band::values);
        let points = self.end_to_end.iter().flat_map(|curve| &curve.points).chain(&self.at_bottleneck);
        points.map(|point| point.1).chain(bands)
    }

    /// From end to end, with the part in relays as an area below the curve, and the delay at the bottleneck.
    pub(super) fn draw(&self, plot: &mut Plot) {
        for DelayCurve { tone, band, at_relays, .. } in &self.end_to_end {
            band.iter().for_each(|band| band.draw(plot, &format!("band{tone}")));
            at_relays.iter().for_each(|part| plot.band(&format!("{AT_RELAYS}{tone}"), &part.low, &part.high));
        }
        plot.curve("at the bottleneck", self.class_at_bottleneck(), &self.at_bottleneck);
        for DelayCurve { name, tone, points, .. } in &self.end_to_end {
            plot.curve(name, &format!("line{tone}"), points);
        }
    }

    pub(super) fn legend(&self) -> Legend {
        let curves = self
            .end_to_end
            .iter()
            .fold(Legend::new(), |legend, curve| legend.line(&format!("line{}", curve.tone), &curve.name));
        let has_relays = self.end_to_end.iter().any(|curve| curve.at_relays.is_some());
        let both = curves.and(Legend::new().area(AT_RELAYS, "in relays").when(has_relays));
        both.line(self.class_at_bottleneck(), "at the bottleneck").when(!self.end_to_end.is_empty())
    }

    /// The colour of the plot is that of a group if there are several.
    fn class_at_bottleneck(&self) -> &'static str {
        if self.end_to_end.len() > 1 { "line bottleneck of-all" } else { "line bottleneck" }
    }
}

/// The part of the queueing delay that is spent in relays.
const AT_RELAYS: &str = "band relays";

impl DelayCurve {
    fn of(view: &RunView, flows: FlowSet<'_>, slices: usize) -> Self {
        let of_seeds: Vec<Series> = view.seeds.iter().map(|run| flows.end_to_end_delay(run)).collect();
        let first = of_seeds.first();
        let part = flows.relay_delay(view.run).zip(first);
        Self {
            points: first.map_or_else(Vec::new, |first| decimated(first, 1.0, slices)),
            band: Band::of(&of_seeds.iter().collect::<Vec<_>>(), 1.0, slices),
            at_relays: part.map(|(part, whole)| StackedPart::of(whole, &part, slices)),
            name: flows.curve_name,
            tone: flows.tone,
        }
    }
}

/// Flows whose mean delay is one curve.
pub(super) struct FlowSet<'a> {
    /// None of all flows.
    pub(super) group: Option<&'a str>,
    curve_name: String,
    /// As that of its curve.
    pub(super) tone: String,
}

impl<'a> FlowSet<'a> {
    /// All flows, or those of each group if there are several. The tone of a group is that of the goodput of its first flow.
    pub(super) fn all(view: &RunView<'a>) -> Vec<Self> {
        let summary = &view.run.summary;
        if !(2..=MOST_CURVES).contains(&summary.groups.len()) {
            return vec![Self { group: None, curve_name: "end to end".to_owned(), tone: String::new() }];
        }
        let goodputs = view.goodputs();
        let set = |(index, name): (usize, &'a str)| {
            let set = Self { group: Some(name), curve_name: String::new(), tone: String::new() };
            let members = set.members(view.run);
            let first = goodputs.iter().position(|one| members.contains(one.entity.as_str()));
            let tone = first.filter(|_| goodputs.len() <= MOST_CURVES).unwrap_or(index);
            let curve_name = GroupValue::Mean.name(name, members.len());
            Self { curve_name, tone: format!(" f{tone}"), ..set }
        };
        summary.groups.iter().map(|group| group.name.as_str()).enumerate().map(set).collect()
    }

    /// The names of its flows in a run; those of all flows need no list.
    fn members<'r>(&self, run: &'r Run) -> BTreeSet<&'r str> {
        let flows = run.summary.flows.iter().filter(|flow| self.group.is_some_and(|name| flow.group == name));
        flows.map(|flow| flow.name.as_str()).collect()
    }

    /// The series of its flows.
    fn only<'r>(&self, run: &Run, mut series: Vec<&'r Series>) -> Vec<&'r Series> {
        let members = self.members(run);
        series.retain(|one| self.group.is_none() || members.contains(one.entity.as_str()));
        series
    }

    /// The mean over the flows at each time, weighted by their goodputs.
    fn end_to_end_delay(&self, run: &Run) -> Series {
        let delays = self.only(run, run.series_of_flows(quantity::QUEUEING));
        weighted_mean(&delays, &run.series_of_flows(quantity::GOODPUT))
    }

    /// The mean time that packets wait in relays over time: for each flow the sum over its relays, then the mean over the
    /// flows, weighted by their goodputs. None without relays.
    fn relay_delay(&self, run: &Run) -> Option<Series> {
        let mut relays: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
        let is_wait = |one: &&Series| one.kind == EntityKind::Relay && one.quantity == quantity::QUEUEING;
        for series in run.series.iter().filter(is_wait) {
            let flow = series.entity.split('@').next().unwrap_or_default();
            relays.entry(flow).or_default().push(series);
        }
        let sums: Vec<Series> =
            relays.into_iter().map(|(flow, relays)| sum_of_delays(flow, &relays)).collect();
        let sums = self.only(run, sums.iter().collect());
        (!sums.is_empty()).then(|| weighted_mean(&sums, &run.series_of_flows(quantity::GOODPUT)))
    }
}

/// The upper part of a curve: between what is below it and the curve.
struct StackedPart {
    low: Vec<Point>,
    high: Vec<Point>,
}

impl StackedPart {
    /// The part of `whole` that is `part`; a part is at most the whole.
    fn of(whole: &Series, part: &Series, slices: usize) -> Self {
        let parts: BTreeMap<u64, f64> =
            part.times.iter().map(|time| time.to_bits()).zip(part.values.iter().copied()).collect();
        let (times, values) = with_gaps(&whole.times, &whole.values);
        let rest = |(time, value): (&f64, &f64)| {
            let part = parts.get(&time.to_bits()).copied().unwrap_or_default();
            if part.is_finite() { (value - part).max(0.0) } else { *value }
        };
        let low: Vec<f64> = times.iter().zip(&values).map(rest).collect();
        let outline = |values: &[f64]| slice_means(&times, values, slices);
        Self { low: outline(&low), high: outline(&values) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Flow, Group, Summary};

    fn series(kind: EntityKind, entity: &str, quantity: &str, values: [f64; 3]) -> Series {
        let [entity, quantity, unit] = [entity, quantity, ""].map(str::to_owned);
        Series { kind, entity, quantity, unit, times: vec![1.0, 2.0, 3.0].into(), values: values.into() }
    }

    fn goodput(flow: &str, value: f64) -> Series {
        series(EntityKind::Flow, flow, quantity::GOODPUT, [value; 3])
    }

    /// Flow a waits 1 + 2 ms in its two relays, flow b 5 ms in one and has three times the goodput: (3 + 15) / 4 = 4.5 ms.
    #[test]
    fn the_part_in_relays_is_their_sum_for_each_flow_and_the_mean_over_flows() {
        let wait = |relay, value| series(EntityKind::Relay, relay, quantity::QUEUEING, [value; 3]);
        let series = vec![
            wait("a@R1", 1.0),
            wait("a@R2", 2.0),
            wait("b@R1", 5.0),
            goodput("a", 1e6),
            goodput("b", 3e6),
        ];
        let run = Run { series, ..Run::default() };
        let all = FlowSet { group: None, curve_name: String::new(), tone: String::new() };
        assert_eq!(all.relay_delay(&run).unwrap().values, [4.5; 3]);
        assert!(all.relay_delay(&Run::default()).is_none());
    }

    #[test]
    fn a_part_is_below_the_whole_and_at_most_the_whole() {
        let whole = series(EntityKind::Flow, "all", quantity::QUEUEING, [10.0, 4.0, 6.0]);
        let part = series(EntityKind::Flow, "all", quantity::QUEUEING, [7.0, 5.0, f64::NAN]);
        let StackedPart { low, high } = StackedPart::of(&whole, &part, 100);
        assert_eq!(low, [(1.0, 3.0), (2.0, 0.0), (3.0, 6.0)]);
        assert_eq!(high, [(1.0, 10.0), (2.0, 4.0), (3.0, 6.0)]);
    }

    /// Two flows of cubic wait 10 and 30 ms with equal goodputs, the flow of sprout 80 ms.
    #[test]
    fn each_of_several_groups_has_a_curve_in_the_tone_of_its_first_goodput_and_one_group_has_none_of_its_own()
    {
        let flow =
            |name: &str, group: &str| Flow { name: name.into(), group: group.into(), ..Flow::default() };
        let delay = |flow, value| series(EntityKind::Flow, flow, quantity::QUEUEING, [value; 3]);
        let goodputs = ["cubic.1", "cubic.2", "sprout"].map(|flow| goodput(flow, 1e6));
        let series = [delay("cubic.1", 10.0), delay("cubic.2", 30.0), delay("sprout", 80.0)];
        let group = |name: &str| Group { name: name.into(), flows: 1, ..Group::default() };
        let mut summary = Summary {
            flows: vec![flow("cubic.1", "cubic"), flow("cubic.2", "cubic"), flow("sprout", "sprout")],
            groups: vec![group("cubic"), group("sprout")],
            ..Summary::default()
        };
        let curves = |summary: &Summary| -> Vec<(String, String, f64)> {
            let series = series.iter().chain(&goodputs).cloned().collect();
            let runs = [Run { series, summary: summary.clone(), ..Run::default() }];
            let delays = Delays::of(&RunView::all(&runs)[0], 100);
            delays.end_to_end.into_iter().map(|curve| (curve.name, curve.tone, curve.points[0].1)).collect()
        };
        let named = |name: &str, tone: &str, value| (name.to_owned(), tone.to_owned(), value);
        assert_eq!(curves(&summary), [named("cubic, mean of 2", " f0", 20.0), named("sprout", " f2", 80.0)]);
        summary.groups.truncate(1);
        assert_eq!(curves(&summary), [named("end to end", "", 40.0)]);
    }
}
