//! The slowdown of transfers over their size: how many times as long as alone in the network they take.

use super::super::run_view::RunView;
use super::{capitalized, run_legend};
use maud::html;
use millpond_chart::{Axis, Figure, Panel, Plot, Point, Scale};
use millpond_results::Transfer;
use millpond_stats::quantile_of_sorted;

/// Each range of sizes has at least this many transfers of each run, so that its 95th percentile is not its greatest value.
const LEAST_TRANSFERS: usize = 20;

/// The most ranges of sizes.
const MOST_RANGES: usize = 10;

/// With more groups of flows, the transfers of all of them are shown together.
const MOST_GROUPS: usize = 3;

/// The median and the 95th percentile of the slowdown in ranges of sizes, of each group of flows with transfers of several
/// sizes. None if there is no such group, or if its transfers are few or have no shortest completion time.
pub(crate) fn slowdown(views: &[RunView]) -> Option<Figure> {
    let groups = groups(views);
    let shown: Vec<Panel> = groups.iter().flat_map(|group| panels(views, *group, groups.len() > 1)).collect();
    (!shown.is_empty()).then(|| Figure {
        id: "slowdown".into(),
        title: html! { "Slowdown of transfers" },
        class: "",
        panels: shown,
        caption: "Completion time divided by the shortest one, which the transfer has alone in the network with all its \
                  packets sent at once: 1 is the best result. Each marker is a range of sizes, at the median of the sizes in \
                  it; all ranges have about as many transfers. Transfers of all seeds count together, without those that are \
                  not complete when the run ends. Groups of flows whose transfers have one size are in the table alone."
            .into(),
    })
}

/// The groups of flows with transfers, in the order of the scenario; none of them, for all flows, if they are one or many.
fn groups<'a>(views: &[RunView<'a>]) -> Vec<Option<&'a str>> {
    let mut names: Vec<&str> = Vec::new();
    for group in views.iter().flat_map(|view| view.groups_with(|group| group.slowdown.is_some())) {
        if !names.contains(&group.name.as_str()) {
            names.push(&group.name);
        }
    }
    if (2..=MOST_GROUPS).contains(&names.len()) { names.into_iter().map(Some).collect() } else { vec![None] }
}

/// The panels of a group of flows, or of all; none if its transfers have one range of sizes. `is_named`: others have panels,
/// too.
fn panels(views: &[RunView], group: Option<&str>, is_named: bool) -> Vec<Panel> {
    let runs: Vec<(&RunView, Vec<Sized>)> = views
        .iter()
        .map(|view| (view, transfers(view, group)))
        .filter(|(_, transfers)| !transfers.is_empty())
        .collect();
    let ranges = SizeRanges::of(&runs.iter().map(|(_, transfers)| transfers.as_slice()).collect::<Vec<_>>());
    if ranges.starts.is_empty() {
        return Vec::new();
    }
    let panel = |statistic: &str, is_last: bool, level: f64| {
        let title = match group {
            Some(name) if is_named => format!("{name}: {statistic} of the slowdown"),
            _ => format!("{} of the slowdown", capitalized(statistic)),
        };
        let curves: Vec<(&RunView, Vec<Point>)> =
            runs.iter().map(|(view, transfers)| (*view, ranges.quantiles(transfers, level))).collect();
        let legend = run_legend(runs.iter().map(|(view, _)| *view));
        Panel { plot: draw(&title, is_last, &curves), title, unit: String::new(), legend }
    };
    vec![panel("median", false, 0.5), panel("95th percentile", true, 0.95)]
}

/// A transfer with its size in kB.
struct Sized {
    kilobytes: f64,
    slowdown: f64,
}

/// The complete transfers of a group in all seeds whose shortest completion time is known, in the order of their sizes.
fn transfers(view: &RunView, group: Option<&str>) -> Vec<Sized> {
    let of = |one: &Transfer| {
        Some(Sized { kilobytes: one.size_bytes? as f64 / 1000.0, slowdown: one.slowdown()? })
    };
    let all = view.seeds.iter().flat_map(|run| &run.transfers);
    let own = all.filter(|one| group.is_none_or(|group| one.group == group));
    let mut own: Vec<Sized> = own.filter_map(of).collect();
    own.sort_by(|one, other| one.kilobytes.total_cmp(&other.kilobytes));
    own
}

/// Ranges of sizes, which are the same for all runs.
struct SizeRanges {
    /// The least size of each range but the first, in kB, ascending.
    starts: Vec<f64>,
}

impl SizeRanges {
    /// Ranges with about as many of the transfers of these runs each.
    fn of(runs: &[&[Sized]]) -> Self {
        let fewest = runs.iter().map(|transfers| transfers.len()).min().unwrap_or_default();
        let ranges = (fewest / LEAST_TRANSFERS).min(MOST_RANGES);
        let mut sizes: Vec<f64> = runs.iter().copied().flatten().map(|one| one.kilobytes).collect();
        sizes.sort_by(f64::total_cmp);
        let mut starts: Vec<f64> = (1..ranges).map(|range| sizes[range * sizes.len() / ranges]).collect();
        starts.dedup();
        // No range ends before the least size.
        starts.retain(|start| *start > sizes[0]);
        Self { starts }
    }

    /// The median size of each range, and this quantile of its slowdown, of transfers in the order of their sizes.
    fn quantiles(&self, transfers: &[Sized], level: f64) -> Vec<Point> {
        let number = |one: &Sized| self.starts.partition_point(|start| *start <= one.kilobytes);
        let of_range = |range: &[Sized]| {
            let sizes: Vec<f64> = range.iter().map(|one| one.kilobytes).collect();
            let mut slowdowns: Vec<f64> = range.iter().map(|one| one.slowdown).collect();
            slowdowns.sort_by(f64::total_cmp);
            Some((quantile_of_sorted(&sizes, 0.5)?, quantile_of_sorted(&slowdowns, level)?))
        };
        transfers.chunk_by(|one, next| number(one) == number(next)).filter_map(of_range).collect()
    }
}

/// The last panel of a group has the texts of the axis of sizes.
fn draw(title: &str, is_last: bool, curves: &[(&RunView, Vec<Point>)]) -> Plot {
    /// Powers of ten on an axis at most.
    const DECADES: f64 = 8.0;
    let points = || curves.iter().flat_map(|(_, points)| points);
    let sizes = Scale::log(points().map(|point| point.0), DECADES);
    let slowdowns = Scale::log(points().map(|point| point.1).chain([1.0]), DECADES);
    let sizes = Axis::numbered(sizes, "size, kB", 8);
    let sizes = if is_last { sizes } else { sizes.without_text() };
    let label = format!("{title} over the size of the transfer");
    let mut plot = Plot::new(label, sizes, Axis::numbered(slowdowns, "", 5), 230);
    for (view, points) in curves {
        plot.curve(&view.run.label, &view.style.line(), points);
        points.iter().for_each(|point| plot.mark(view.style, *point));
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Group, Run, Summary};

    /// Transfers of these sizes in bytes, each with this slowdown.
    fn run(label: &str, transfers: impl Iterator<Item = (u64, f64)>) -> Run {
        let transfers = transfers.map(|(size, slowdown)| Transfer {
            name: "f".into(),
            group: "f".into(),
            protocol: label.into(),
            size_bytes: Some(size),
            delivered_bytes: size,
            start_s: 0.0,
            completed_s: Some(slowdown),
            shortest_ms: Some(1000.0),
        });
        Run { label: label.into(), transfers: transfers.collect(), ..Run::default() }
    }

    /// 1 to 200 kB: ten ranges of twenty sizes.
    #[test]
    fn each_range_of_sizes_has_the_quantile_of_its_transfers() {
        let runs =
            [run("a", (1..=200).map(|n| (1000 * n, n as f64))), run("b", (1..=200).map(|n| (1000 * n, 2.0)))];
        let views = RunView::all(&runs);
        let own: Vec<Vec<Sized>> = views.iter().map(|view| transfers(view, None)).collect();
        let ranges = SizeRanges::of(&[&own[0], &own[1]]);
        let medians: Vec<Point> =
            (0..10).map(|range| 10.5 + 20.0 * f64::from(range)).map(|n| (n, n)).collect();
        assert_eq!(ranges.quantiles(&own[0], 0.5), medians);
        // 1 + .95 x 19.
        assert!((ranges.quantiles(&own[0], 0.95)[0].1 - 19.05).abs() < 1e-9);
        assert!(ranges.quantiles(&own[1], 0.95).iter().all(|point| point.1 == 2.0));
        assert_eq!(slowdown(&views).unwrap().panels[0].legend.len(), 2);
    }

    #[test]
    fn equal_sizes_are_in_one_range() {
        let of = |sizes: fn(u64) -> u64| {
            let runs = [run("a", (0..100).map(|n| (sizes(n), 1.0)))];
            let own = transfers(&RunView::all(&runs)[0], None);
            SizeRanges::of(&[&own]).quantiles(&own, 0.5)
        };
        assert_eq!(of(|_| 5000), [(5.0, 1.0)]);
        assert_eq!(of(|n| if n < 70 { 1000 } else { 9000 }), [(1.0, 1.0), (9.0, 1.0)]);
    }

    /// A burst of one size has no panels, and does not belong to the range of the others with this size.
    #[test]
    fn each_group_with_several_sizes_has_panels() {
        let of_group = |name: &str, transfers: Vec<(u64, f64)>| {
            let mut one = run("a", transfers.into_iter());
            one.transfers.iter_mut().for_each(|transfer| transfer.group = name.into());
            one.transfers
        };
        let sizes = |slowdown: f64| (1..=40).map(|n| (1000 * n, slowdown)).collect();
        let search = of_group("search", sizes(2.0));
        let answers = of_group("answers", vec![(10_000, 50.0); 45]);
        let group = |name: &str| Group {
            name: name.into(),
            slowdown: Some(millpond_results::Slowdown::default()),
            ..Group::default()
        };
        let summary = Summary { groups: vec![group("search"), group("answers")], ..Summary::default() };
        let mut runs =
            [Run { transfers: [search, answers].concat(), summary, ..run("a", std::iter::empty()) }];
        let titles = |runs: &[Run]| {
            let figure = slowdown(&RunView::all(runs)).unwrap();
            figure.panels.iter().map(|panel| panel.title.clone()).collect::<Vec<_>>()
        };
        let of_search = ["search: median of the slowdown", "search: 95th percentile of the slowdown"];
        assert_eq!(titles(&runs), of_search);
        runs[0].summary.groups.truncate(1);
        assert_eq!(titles(&runs), ["Median of the slowdown", "95th percentile of the slowdown"]);
    }

    #[test]
    fn transfers_without_a_shortest_time_have_no_figure() {
        let mut runs = [run("a", (1..=200).map(|n| (n, 1.0)))];
        runs[0].transfers.iter_mut().for_each(|one| one.shortest_ms = None);
        assert!(slowdown(&RunView::all(&runs)).is_none());
        assert!(slowdown(&RunView::all(&[run("few", (1..=39).map(|n| (n, 1.0)))])).is_none());
    }
}
