//! The distribution of queueing delay over all packets of each run and of each group of a single run, that of completion
//! time over the transfers of each run or group, and five quantiles of each.

use super::super::run_view::{RunView, delays as of_packets};
use super::delays_over_time::FlowSet;
use maud::html;
use millpond_chart::{Axis, CurveStyle, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_results::{Run, Transfer};
use millpond_stats::{curve_of_values, quantile_of_curve, with_quantiles};
use std::borrow::Cow;

/// What is distributed, and the texts of its figure.
struct DistributionTexts {
    /// Of the figure.
    id: &'static str,
    title: &'static str,
    /// The times.
    quantity: &'static str,
    /// What has these times.
    items: &'static str,
    /// The caption before the sentences that all these figures have in common.
    caption: &'static str,
}

/// The queueing delay of all packets: of each run, or of all flows and of each group of a single run with several groups.
pub(crate) fn delays(views: &[RunView]) -> Option<Figure> {
    let groups = if let [only] = views { of_groups(only) } else { Vec::new() };
    let caption = if groups.is_empty() {
        "The delay of each packet in all queues on its path, relays included."
    } else {
        "The delay of each packet in all queues on its path, relays included: of the packets of all flows together, and of \
         those of each group of flows."
    };
    let subject = DistributionTexts {
        id: "delays",
        title: "Queueing delay of packets",
        quantity: "queueing delay",
        items: "packets",
        caption,
    };
    let of_runs =
        || views.iter().filter_map(|view| TimesCurve::of_run(view, |run| of_packets(run, "all").to_vec()));
    figure(&if groups.is_empty() { of_runs().collect() } else { groups }, &subject)
}

/// The completion time of all transfers with a size, for each group of a run with several groups of them.
pub(crate) fn completions(views: &[RunView]) -> Option<Figure> {
    let subject = DistributionTexts {
        id: "completions",
        title: "Completion time of transfers",
        quantity: "completion time",
        items: "transfers",
        caption: "The time from the start of each transfer to the delivery of its last byte. Transfers that are not \
                  complete when the run ends are left out.",
    };
    let is_only = views.len() == 1;
    figure(&views.iter().flat_map(|view| completions_of(view, is_only)).collect::<Vec<_>>(), &subject)
}

/// The completion times of a run: a curve for each of its groups with transfers if they are several, in the tone of its delay
/// over time. Groups of an only run have no label before their names.
fn completions_of<'a>(view: &RunView<'a>, is_only: bool) -> Vec<TimesCurve<'a>> {
    let of = |run: &Run, group: Option<&str>| {
        let own = run.transfers.iter().filter(|transfer| group.is_none_or(|group| transfer.group == group));
        curve_of_values(own.filter_map(Transfer::completion_ms).collect())
    };
    let groups = view.groups_with(|group| group.transfers > 0);
    let has_transfers = |set: &FlowSet<'a>| groups.iter().any(|group| set.group == Some(group.name.as_str()));
    let sets: Vec<FlowSet<'a>> = FlowSet::all(view).into_iter().filter(has_transfers).collect();
    if sets.len() < 2 {
        return TimesCurve::of_run(view, |run| of(run, None)).into_iter().collect();
    }
    let curve = |set: FlowSet<'a>| {
        let group = set.group?;
        let name = if is_only { group.into() } else { format!("{}: {group}", view.run.label).into() };
        let style = CurveStyle { tone: set.tone, ..view.style.into() };
        let curve = TimesCurve::of(view.seeds.iter().map(|run| of(run, set.group)).collect())?;
        Some(TimesCurve { name, style, ..curve })
    };
    sets.into_iter().filter_map(curve).collect()
}

/// The distribution functions, their complements, and the quantiles below, on the same axis of times.
fn figure(runs: &[TimesCurve<'_>], subject: &DistributionTexts) -> Option<Figure> {
    if runs.is_empty() {
        return None;
    }
    let DistributionTexts { quantity, items, .. } = subject;
    let legend = || runs.iter().fold(Legend::new(), |legend, curve| legend.curve(&curve.style, &curve.name));
    let panel =
        |title: String, unit: &str, legend: Legend, plot| Panel { title, unit: unit.into(), legend, plot };
    let axis = times_axis(runs, quantity);
    Some(Figure {
        id: subject.id.into(),
        title: html! { (subject.title) },
        class: "named-rows",
        panels: vec![
            panel(
                format!("Share of {items} with at most this {quantity}"),
                "%",
                legend(),
                distributions(runs, &axis),
            ),
            panel(format!("Share of {items} with a greater {quantity}"), "%", legend(), tails(runs, &axis)),
            panel(
                "5th, 25th, 50th, 75th and 95th percentile".into(),
                "",
                Legend::new(),
                quantiles(runs, axis),
            ),
        ],
        caption: format!(
            "{} A curve further to the left is a shorter time. The second plot has the same curves from the upper end: it \
             shows the {items} with the longest times. Markers are at the median and at the 95th percentile, in the \
             second plot at the 99th and at the 99.9th. With several seeds the curve is the mean of their quantiles, \
             between the least and the greatest of a seed. Shorter times than the left end of the axis are drawn \
             there.",
            subject.caption
        ),
    })
}

/// The axis of times spans at most this many powers of ten.
const DECADES: f64 = 4.0;

/// The times of a run or of a group at [`shares`]: of all seeds together, and the least and the greatest of a seed.
struct TimesCurve<'a> {
    name: Cow<'a, str>,
    /// Its own of a run and of all flows, a tone of the colour of the run of a group.
    style: CurveStyle,
    /// `(share, time in ms)`, the mean over the seeds.
    mean: Vec<Point>,
    /// `(time in ms, share)`; empty for a single seed.
    least: Vec<Point>,
    greatest: Vec<Point>,
}

/// The curve of all flows beside those of groups: black, as no tone of the first run.
const ALL_FLOWS: SeriesStyle = SeriesStyle(6);

/// The delays of all flows, then those of each group, in the tone of its delay over time; empty unless there are several.
fn of_groups<'a>(view: &RunView<'a>) -> Vec<TimesCurve<'a>> {
    let of = |entity: &str| view.seeds.iter().map(|run| of_packets(run, entity).to_vec()).collect();
    let group = |set: FlowSet<'a>| {
        let name = set.group?;
        Some(TimesCurve {
            name: name.into(),
            style: CurveStyle { tone: set.tone, ..view.style.into() },
            ..TimesCurve::of(of(name))?
        })
    };
    let groups: Vec<TimesCurve<'_>> = FlowSet::all(view).into_iter().filter_map(group).collect();
    let all = TimesCurve::of(of("all")).filter(|_| groups.len() > 1);
    let all = all.map(|all| TimesCurve { name: "all flows".into(), style: ALL_FLOWS.into(), ..all });
    if all.is_some() { all.into_iter().chain(groups).collect() } else { Vec::new() }
}

impl<'a> TimesCurve<'a> {
    /// None without a distribution; `points` are shares and times in ms of a run, empty if it has none.
    fn of_run(view: &RunView<'a>, points: impl Fn(&Run) -> Vec<Point>) -> Option<Self> {
        let curve = Self::of(view.seeds.iter().map(|run| points(run)).collect())?;
        Some(Self { name: view.run.label.as_str().into(), style: view.style.into(), ..curve })
    }

    /// Without a name, from the distribution of each seed; none if all are empty.
    fn of(mut curves: Vec<Vec<Point>>) -> Option<Self> {
        curves.retain(|curve| !curve.is_empty());
        let (mut least, mut greatest) = (Vec::new(), Vec::new());
        let mean = match curves.as_slice() {
            [] => return None,
            [only] => only.clone(),
            several => {
                let at = |share: f64| several.iter().filter_map(move |curve| quantile_of_curve(curve, share));
                let end = |share: f64, keep: fn(f64, f64) -> f64| {
                    (at(share).reduce(keep).unwrap_or(f64::NAN), share)
                };
                least = shares().map(|share| end(share, f64::min)).collect();
                greatest = shares().map(|share| end(share, f64::max)).collect();
                shares().map(|share| (share, at(share).sum::<f64>() / several.len() as f64)).collect()
            }
        };
        Some(Self { name: "".into(), style: SeriesStyle(0).into(), mean, least, greatest })
    }
}

/// From 0 to 1 in steps of half a per cent; the last per cent in steps that become finer towards 1.
fn shares() -> impl Iterator<Item = f64> {
    const PER_DECADE: i32 = 10;
    let even = (0..198).map(|step| f64::from(step) / 200.0);
    let tail =
        (0..=2 * PER_DECADE).map(|step| 1.0 - 0.01 * 0.1_f64.powf(f64::from(step) / f64::from(PER_DECADE)));
    even.chain(tail).chain([1.0])
}

fn times_axis(runs: &[TimesCurve<'_>], quantity: &str) -> Axis {
    let ends =
        |run: &TimesCurve<'_>| run.least.iter().chain(&run.greatest).map(|end| end.0).collect::<Vec<_>>();
    let times = runs.iter().flat_map(|run| run.mean.iter().map(|point| point.1).chain(ends(run)));
    Axis::numbered(Scale::log(times, DECADES), format!("{quantity}, ms"), 8)
}

fn distributions(runs: &[TimesCurve<'_>], times: &Axis) -> Plot {
    let percent = Axis::numbered(Scale::linear(0.0, 100.0), "", 4);
    let label = format!("Cumulative distribution of {}", times.title);
    let height = |share| Some(100.0 * share);
    curves(runs, label, times, percent, height, [0.5, 0.95])
}

/// The complements of the distribution functions on a logarithmic axis.
fn tails(runs: &[TimesCurve<'_>], times: &Axis) -> Plot {
    let percent = Axis::numbered(Scale::decades(100.0 * LEAST_TAIL, 100.0), "", 5);
    let label = format!("Complementary cumulative distribution of {}", times.title);
    let height =
        |share: f64| Some(100.0 * (1.0 - share)).filter(|height| *height >= 100.0 * LEAST_TAIL * 0.999);
    curves(runs, label, times, percent, height, [0.99, 0.999])
}

/// The axis of tails ends at this share, and so do the curves.
const LEAST_TAIL: f64 = 1e-4;

/// All curves, where `height` is the place of a share on the axis, with markers at two shares.
fn curves(
    runs: &[TimesCurve<'_>],
    label: String,
    times: &Axis,
    shares: Axis,
    height: fn(f64) -> Option<f64>,
    marked: [f64; 2],
) -> Plot {
    let shortest = times.scale.low;
    let mut plot = Plot::new(label, times.clone().without_text(), shares, 280);
    for TimesCurve { name, style, mean, least, greatest } in runs {
        let raised = |ends: &[Point]| {
            let ends = ends.iter().map(|end| Some((end.0.max(shortest), height(end.1)?)));
            ends.flatten().collect::<Vec<_>>()
        };
        plot.band(&format!("band {}", style.colour()), &raised(least), &raised(greatest));
        let mean = with_quantiles(mean, &marked);
        let before = mean.partition_point(|point| point.1 < shortest).saturating_sub(1);
        let points = mean[before..].iter().map(|&(share, time)| Some((time, height(share)?)));
        let points: Vec<Point> = points.flatten().collect();
        plot.curve(name, &style.line(), &points);
        for share in marked {
            let time = quantile_of_curve(&mean, share).filter(|time| *time >= shortest);
            if let Some(at) = time.zip(height(share)) {
                plot.mark_curve(style, at);
            }
        }
    }
    plot
}

fn quantiles(runs: &[TimesCurve<'_>], times: Axis) -> Plot {
    let names = Axis::named(runs.iter().map(|run| &*run.name));
    let height = 26 * runs.len() as u16 + 8;
    let mut plot = Plot::new(format!("Quantiles of {}", times.title), times, names, height);
    for (row, run) in runs.iter().enumerate() {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| quantile_of_curve(&run.mean, share));
        if let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles {
            plot.quantile_box(&run.style.colour(), -(row as f64), [p5, p25, p50, p75, p95]);
        }
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Distribution, EntityKind, Group, Summary, quantity};

    /// Two seeds, in which cubic waits 10 to 30 and 10 to 50 ms and sprout 80 ms.
    #[test]
    fn each_group_of_a_single_run_has_a_curve_beside_that_of_all_flows() {
        let delay = |entity: &str, points: [Point; 2]| {
            let [entity, quantity, unit] = [entity, quantity::QUEUEING, "ms"].map(str::to_owned);
            Distribution { kind: EntityKind::Group, entity, quantity, unit, points: points.to_vec() }
        };
        let group = |name: &str| Group { name: name.into(), ..Group::default() };
        let summary = Summary { groups: vec![group("cubic"), group("sprout")], ..Summary::default() };
        let seed = |most: f64| {
            let ends = |least, most| [(0.0, least), (1.0, most)];
            let all = [("cubic", ends(10.0, most)), ("sprout", ends(80.0, 80.0)), ("all", ends(10.0, 80.0))];
            let distributions = all.map(|(entity, points)| delay(entity, points)).to_vec();
            Run { distributions, summary: summary.clone(), ..Run::default() }
        };
        let mut runs = [seed(30.0), seed(50.0)];
        let found: Vec<_> = of_groups(&RunView::all(&runs)[0])
            .iter()
            .map(|one| {
                (one.name.to_string(), one.style.colour(), quantile_of_curve(&one.mean, 0.5).unwrap().round())
            })
            .collect();
        let named = |name: &str, colour: &str, median| (name.to_owned(), colour.to_owned(), median);
        assert_eq!(
            found,
            [named("all flows", "c6", 45.0), named("cubic", "c0 f0", 25.0), named("sprout", "c0 f1", 80.0)]
        );
        let curves = |runs: &[Run]| delays(&RunView::all(runs)).unwrap().panels[0].legend.len();
        assert_eq!(curves(&runs), 3);
        runs[1].label = "another".into();
        assert_eq!(curves(&runs), 2, "one for each of two runs");
        runs[0].distributions.remove(1);
        assert_eq!(curves(&runs[..1]), 1, "a single group is all flows");
    }

    /// Pages take 730 ms, frames 200 ms.
    #[test]
    fn each_group_with_transfers_has_a_curve_of_its_own() {
        let transfer = |group: &str, completed_s| Transfer {
            name: group.into(),
            group: group.into(),
            protocol: "cubic".into(),
            size_bytes: Some(1),
            delivered_bytes: 1,
            start_s: 1.0,
            completed_s: Some(completed_s),
            shortest_ms: None,
        };
        let group = |name: &str, transfers| Group { name: name.into(), transfers, ..Group::default() };
        let groups = vec![group("pages", 1), group("frames", 1), group("bulk", 0)];
        let summary = Summary { groups, ..Summary::default() };
        let transfers = vec![transfer("pages", 1.73), transfer("frames", 1.2)];
        let mut runs = [Run { label: "home".into(), summary, transfers, ..Run::default() }];
        let found = |runs: &[Run], is_only: bool| -> Vec<(String, f64)> {
            let curves = completions_of(&RunView::all(runs)[0], is_only);
            let median = |curve: &TimesCurve<'_>| quantile_of_curve(&curve.mean, 0.5).unwrap().round();
            curves.iter().map(|curve| (curve.name.to_string(), median(curve))).collect()
        };
        let named = |name: &str, median| (name.to_owned(), median);
        assert_eq!(found(&runs, true), [named("pages", 730.0), named("frames", 200.0)]);
        assert_eq!(found(&runs, false), [named("home: pages", 730.0), named("home: frames", 200.0)]);
        runs[0].transfers.truncate(1);
        runs[0].summary.groups.remove(1);
        assert_eq!(found(&runs, true), [named("home", 730.0)]);
    }
}
