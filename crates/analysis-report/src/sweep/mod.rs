//! The page about a sweep: results over the varied key, one curve per protocol, one figure per combination of the other
//! settings. Keys whose values are words have rows instead of a horizontal axis; samples are scattered over each varied key.
//! A table has all values.

mod table;
mod words;

use maud::html;
use millpond_chart::{Axis, AxisSpacing, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_report::document::{Section, origin, page};
use millpond_results::RunOrigin;
use millpond_sweep::{MeanRow, number_with_unit};
use std::collections::{BTreeMap, BTreeSet};

/// Figures beyond this number are not drawn.
const MOST_FIGURES: usize = 12;
/// The height of a plot in pixels.
const HEIGHT: u16 = 150;
/// The axis of a varied key is logarithmic if its ends have a larger ratio than this.
const LINEAR_RATIO: f64 = 20.0;
/// A logarithmic axis spans at most this many powers of ten.
const DECADES: f64 = 6.0;

/// A metric that is drawn: heading, column, factor from the unit of the column, unit.
struct DrawnMetric {
    title: &'static str,
    column: &'static str,
    factor: f64,
    unit: &'static str,
    /// The same in every report.
    spacing: AxisSpacing,
}

const METRICS: [DrawnMetric; 5] = [
    UTILIZATION,
    DrawnMetric {
        title: "total goodput",
        column: "total_goodput_bps",
        factor: 1e-6,
        unit: "Mbit/s",
        ..QUEUEING
    },
    QUEUEING,
    DrawnMetric { title: "Jain's index", column: "jain", factor: 1.0, unit: "", ..UTILIZATION },
    DrawnMetric { title: "completion time, p95", column: "completion_p95_ms", ..QUEUEING },
];
const UTILIZATION: DrawnMetric = DrawnMetric {
    title: "utilization",
    column: "utilization",
    factor: 100.0,
    unit: "%",
    spacing: AxisSpacing::Linear,
};
const QUEUEING: DrawnMetric = DrawnMetric {
    title: "queueing delay, p95",
    column: "queueing_p95_ms",
    factor: 1.0,
    unit: "ms",
    spacing: AxisSpacing::Log,
};

/// What the page about a sweep shows.
pub struct SweepPage<'a> {
    /// The means over the seeds.
    pub rows: &'a [MeanRow],
    /// The title of the scenario.
    pub title: &'a str,
    /// The command that makes the runs, and the version.
    pub made: &'a RunOrigin,
    /// The number of runs that this command makes. Earlier commands with other values or seeds made the others of a dataset.
    pub runs_of_command: usize,
}

/// The page. Equal content gives equal bytes.
pub fn sweep(content: &SweepPage<'_>) -> String {
    let SweepPage { rows, title, made, runs_of_command } = *content;
    let runs: u64 = rows.iter().map(|row| row.runs).sum();
    let failed: u64 = rows.iter().map(|row| row.failed).sum();
    let earlier = runs.saturating_sub(runs_of_command as u64);
    let lead = html! {
        p {
            (runs) " runs"
            @if failed > 0 { ", of which " (failed) " have no results" }
            "."
        }
        ul.facts {
            (origin(made))
            @if earlier > 0 {
                li { (earlier) " of the runs are of earlier commands with other values, protocols or seeds." }
            }
        }
    };
    let figures = if are_samples(rows) {
        samples(rows)
    } else if let Some(axis) = SweepAxis::of(rows) {
        section(rows, &axis)
    } else {
        words::section(rows)
    };
    page(title, &lead, &figures.into_iter().chain(table::section(rows)).collect::<Vec<_>>())
}

/// Whether several keys vary together: at most half of the combinations of their values have rows. Whole numbers repeat among
/// samples, so that two samples may differ in one key only.
fn are_samples(rows: &[MeanRow]) -> bool {
    let axes = SweepAxis::all(rows);
    let settings: BTreeSet<Vec<(&str, &str)>> =
        rows.iter().map(|row| row.settings.iter().collect()).collect();
    let combinations = axes.iter().map(|axis| axis.count).fold(1, usize::saturating_mul);
    axes.len() > 1 && 2 * settings.len() <= combinations
}

/// A figure for each varied key, with a marker for each sample.
fn samples(rows: &[MeanRow]) -> Option<Section> {
    let figures: Vec<Figure> = sample_figures(rows, &METRICS).into_iter().map(|(_, figure)| figure).collect();
    Section::of_figures(
        "sweep",
        "Results of the samples",
        "Each marker is a sample, at its value of the key on the horizontal axis; the other varied keys differ from marker to \
         marker. Vertical lines are the 95 % confidence intervals over the seeds.",
        &figures,
    )
}

/// The figure of each varied key, with the key.
fn sample_figures(rows: &[MeanRow], metrics: &'static [DrawnMetric]) -> Vec<(String, Figure)> {
    let everything = Combination { settings: Vec::new(), rows: rows.iter().collect() };
    let figure = |(index, axis): (usize, SweepAxis)| {
        let drawing = FigureSettings {
            all: rows,
            protocols: protocols(rows),
            axis: &axis,
            metrics,
            drawn_as: DrawnAs::Markers,
        };
        let title = format!("Results over {}", axis.key);
        let figure = Figure { title: html! { (title) }, ..drawing.figure(index, &everything) };
        (axis.key.clone(), figure)
    };
    SweepAxis::all(rows).into_iter().enumerate().map(figure).collect()
}

/// The figure of each combination of the settings besides the one on the axis, with its title.
fn combination_figures(
    rows: &[MeanRow],
    axis: &SweepAxis,
    metrics: &'static [DrawnMetric],
) -> Vec<(String, Figure)> {
    let protocols = protocols(rows);
    let drawing = FigureSettings { all: rows, protocols, axis, metrics, drawn_as: DrawnAs::Curves };
    let figure = |(index, one): (usize, &Combination<'_>)| (one.title(), drawing.figure(index, one));
    Combination::all(rows, &axis.key).iter().enumerate().map(figure).collect()
}

/// What a single figure of a sweep shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepFigureKind {
    /// All results, one above the other.
    All,
    /// One of the results of the page, by its position.
    Metric(usize),
}

impl SweepFigureKind {
    /// All of them, with the names that users write.
    pub const ALL: [(&str, Self); 6] = [
        ("sweep", Self::All),
        ("sweep-utilization", Self::Metric(0)),
        ("sweep-goodput", Self::Metric(1)),
        ("sweep-delay", Self::Metric(2)),
        ("sweep-fairness", Self::Metric(3)),
        ("sweep-completions", Self::Metric(4)),
    ];

    fn metrics(self) -> &'static [DrawnMetric] {
        match self {
            Self::All => &METRICS,
            Self::Metric(index) => METRICS.get(index..=index).unwrap_or_default(),
        }
    }
}

/// One figure of the page for a paper. `chosen` is a combination of the other settings, as the page writes it or without blanks;
/// of samples it is the key on the axis.
///
/// # Errors
/// A sentence that says what is missing or which figures can be chosen.
pub fn sweep_figure(rows: &[MeanRow], kind: SweepFigureKind, chosen: Option<&str>) -> Result<Figure, String> {
    let metrics = kind.metrics();
    let (what, figures) = if are_samples(rows) {
        ("key on the axis", sample_figures(rows, metrics))
    } else if let Some(axis) = SweepAxis::of(rows) {
        ("combination of settings", combination_figures(rows, &axis, metrics))
    } else {
        ("combination of settings", words::figures(rows, metrics))
    };
    let titles = figures.iter().map(|(title, _)| format!("\"{title}\"")).collect::<Vec<_>>().join(", ");
    let without_blanks = |text: &str| text.replace(' ', "");
    let position = match (chosen, figures.len()) {
        (_, 0) => return Err("a figure of a sweep needs a varied key with several values".to_owned()),
        (None, 1) => 0,
        (None, _) => return Err(format!("choose a {what} with --run, one of {titles}")),
        (Some(chosen), _) => figures
            .iter()
            .position(|(title, _)| without_blanks(title) == without_blanks(chosen))
            .ok_or_else(|| format!("no {what} is \"{chosen}\"; choose one of {titles}"))?,
    };
    let figure = figures.into_iter().nth(position).map(|(_, figure)| figure);
    figure
        .filter(|figure| !figure.panels.is_empty())
        .ok_or_else(|| "no run of the sweep has this result".to_owned())
}

/// The key on the horizontal axes.
struct SweepAxis {
    key: String,
    unit: String,
    /// From the unit of the values to that of the axis.
    factor: f64,
    /// The least and the greatest value, in the unit of the axis.
    ends: (f64, f64),
    /// The number of different values.
    count: usize,
}

impl SweepAxis {
    /// The key with the most values among those whose values are numbers of one unit; none if there is none.
    fn of(rows: &[MeanRow]) -> Option<Self> {
        // Of keys with equal numbers of values the first one.
        Self::all(rows).into_iter().rev().max_by_key(|axis| axis.count)
    }

    /// An axis for each key whose values are several numbers of one unit.
    fn all(rows: &[MeanRow]) -> Vec<Self> {
        let keys = rows.first().into_iter().flat_map(|row| row.settings.keys());
        keys.filter_map(|key| Self::of_key(key, rows)).collect()
    }

    fn of_key(key: &str, rows: &[MeanRow]) -> Option<Self> {
        let values: Option<Vec<(f64, String)>> =
            rows.iter().map(|row| number_with_unit(row.settings.get(key)?)).collect();
        let values = values?;
        let units: BTreeSet<&str> = values.iter().map(|(_, unit)| unit.as_str()).collect();
        let distinct: BTreeSet<u64> = values.iter().map(|(number, _)| number.to_bits()).collect();
        let unit = units.first().filter(|_| units.len() == 1 && distinct.len() > 1)?;
        let (factor, unit) = match *unit {
            "bit/s" => (1e-6, "Mbit/s"),
            "s" => (1e3, "ms"),
            "B" => (1e-3, "kB"),
            other => (1.0, other),
        };
        let numbers = || values.iter().map(|(number, _)| factor * number);
        let ends = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
        let (key, unit, count) = (key.to_owned(), unit.to_owned(), distinct.len());
        Some(Self { key, unit, factor, ends, count })
    }

    /// The value of a row on the axis.
    fn value(&self, row: &MeanRow) -> Option<f64> {
        Some(self.factor * number_with_unit(row.settings.get(&self.key)?)?.0)
    }

    fn scale(&self) -> Scale {
        let (low, high) = self.ends;
        if low > 0.0 && high > LINEAR_RATIO * low {
            Scale::decades(low, high)
        } else {
            Scale::linear(low, high)
        }
    }

    fn title(&self) -> String {
        if self.unit.is_empty() { self.key.clone() } else { format!("{}, {}", self.key, self.unit) }
    }
}

/// All rows with the same settings but for the key of the axis.
struct Combination<'a> {
    settings: Vec<(&'a str, &'a str)>,
    rows: Vec<&'a MeanRow>,
}

impl<'a> Combination<'a> {
    /// Those of all keys but `varied`, in the order in which they first occur.
    fn all(rows: &'a [MeanRow], varied: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut indices: BTreeMap<Vec<(&str, &str)>, usize> = BTreeMap::new();
        for row in rows {
            let settings = row.settings.iter().filter(|(key, _)| *key != varied);
            let settings: Vec<_> = settings.collect();
            let index = *indices.entry(settings.clone()).or_insert(all.len());
            match all.get_mut(index) {
                Some(combination) => combination.rows.push(row),
                None => all.push(Self { settings, rows: vec![row] }),
            }
        }
        all
    }

    fn title(&self) -> String {
        let settings: Vec<String> =
            self.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if settings.is_empty() { "All runs".to_owned() } else { settings.join(", ") }
    }
}

fn section(rows: &[MeanRow], axis: &SweepAxis) -> Option<Section> {
    let all = combination_figures(rows, axis, &METRICS);
    let left_out = left_out(all.len());
    let figures: Vec<Figure> = all.into_iter().take(MOST_FIGURES).map(|(_, figure)| figure).collect();
    let intro = format!(
        "Means over the seeds, with vertical lines as long as their 95 % confidence intervals, over {}. All figures have \
         the same axes.{left_out}",
        axis.key
    );
    Section::of_figures("sweep", format!("Results over {}", axis.key), intro, &figures)
}

/// A sentence about combinations that are not drawn; empty if all are.
fn left_out(combinations: usize) -> String {
    match combinations {
        all if all > MOST_FIGURES => {
            format!(" The first {MOST_FIGURES} of {all} combinations of the other settings are drawn.")
        }
        _ => String::new(),
    }
}

fn protocol_of(row: &MeanRow) -> &str {
    row.protocol.as_ref().map_or("", |name| name)
}

/// The protocols in the order of the rows; an empty name for those of the scenario.
fn protocols(rows: &[MeanRow]) -> Vec<&str> {
    let mut found = Vec::new();
    for name in rows.iter().map(protocol_of) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// What all figures of a page have in common.
struct FigureSettings<'a> {
    all: &'a [MeanRow],
    protocols: Vec<&'a str>,
    axis: &'a SweepAxis,
    metrics: &'static [DrawnMetric],
    drawn_as: DrawnAs,
}

/// How the rows of a protocol are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DrawnAs {
    /// A curve with a marker for each row.
    Curves,
    /// Markers alone.
    Markers,
}

/// A point with half the width of its confidence interval.
struct Estimated {
    at: Point,
    half_width: Option<f64>,
}

impl FigureSettings<'_> {
    /// A panel for each metric that any row of the sweep has.
    fn figure(&self, index: usize, combination: &Combination<'_>) -> Figure {
        let has = |metric: &&DrawnMetric| self.all.iter().any(|row| row.means.contains_key(metric.column));
        let metrics: Vec<&DrawnMetric> = self.metrics.iter().filter(has).collect();
        let last = metrics.len().saturating_sub(1);
        let panel = |(place, metric): (usize, &&DrawnMetric)| {
            let x = Axis::numbered(self.axis.scale(), self.axis.title(), 6);
            let mut panel = self.panel(metric, if place == last { x } else { x.without_text() }, combination);
            panel.legend = panel.legend.when(place == 0);
            panel
        };
        Figure {
            id: format!("sweep-{index}"),
            title: html! { (combination.title()) },
            class: "",
            panels: metrics.iter().enumerate().map(panel).collect(),
            caption: String::new(),
        }
    }

    fn panel(&self, metric: &DrawnMetric, x: Axis, combination: &Combination<'_>) -> Panel {
        let points = self.all.iter().filter_map(|row| self.point(metric, row));
        let ends = points.flat_map(|Estimated { at: (_, y), half_width }| {
            let half = half_width.unwrap_or_default();
            [(y - half).max(0.0), y + half]
        });
        let y = Axis::numbered(metric.scale(&ends.collect::<Vec<_>>()), "", 4);
        let mut plot = Plot::new(format!("{} over {}", metric.title, self.axis.key), x, y, HEIGHT);
        let mut legend = Legend::new();
        for (index, protocol) in self.protocols.iter().enumerate() {
            let style = SeriesStyle(index);
            let own = combination.rows.iter().filter(|row| protocol_of(row) == *protocol);
            let points: Vec<Estimated> = own.filter_map(|row| self.point(metric, row)).collect();
            if self.drawn_as == DrawnAs::Curves {
                let name = if protocol.is_empty() { "mean" } else { protocol };
                plot.curve(name, &style.line(), &points.iter().map(|point| point.at).collect::<Vec<_>>());
            }
            mark(&mut plot, style, &points);
            if !protocol.is_empty() {
                legend = legend.marker(style, protocol);
            }
        }
        Panel { title: metric.title.to_owned(), unit: metric.unit.to_owned(), legend, plot }
    }

    fn point(&self, metric: &DrawnMetric, row: &MeanRow) -> Option<Estimated> {
        let mean = row.means.get(metric.column)?;
        let at = (self.axis.value(row)?, metric.factor * mean.mean);
        Some(Estimated { at, half_width: mean.half_width.map(|half| metric.factor * half) })
    }
}

impl DrawnMetric {
    fn scale(&self, values: &[f64]) -> Scale {
        match self.spacing {
            AxisSpacing::Linear => Scale::from_zero(values.iter().copied()),
            AxisSpacing::Log => Scale::log(values.iter().copied(), DECADES),
        }
    }
}

/// A marker for each point, with its confidence interval.
fn mark(plot: &mut Plot, style: SeriesStyle, points: &[Estimated]) {
    for Estimated { at: (x, y), half_width } in points {
        if let Some(half) = half_width {
            plot.unnamed_curve(&format!("line {}", style.colour()), &[(*x, y - half), (*x, y + half)]);
        }
        plot.mark(style, (*x, *y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_sweep::Mean;

    fn row(rate: &str, count: &str, protocol: &str, goodput: f64) -> MeanRow {
        let settings = [("links.L.rate", rate), ("flows.f.count", count)];
        MeanRow {
            settings: BTreeMap::from(settings.map(|(key, value)| (key.to_owned(), value.to_owned()))).into(),
            protocol: Some(protocol.into()),
            runs: 3,
            failed: 0,
            error: None,
            means: [("total_goodput_bps", Mean { mean: goodput, half_width: Some(1e5) })]
                .into_iter()
                .collect(),
        }
    }

    /// The page of rows whose 36 runs one command makes.
    fn page_of(rows: &[MeanRow], title: &str) -> String {
        let made = RunOrigin { command: "millpond sweep s.toml --seeds 3".into(), version: "1.2".into() };
        sweep(&SweepPage { rows, title, made: &made, runs_of_command: 36 })
    }

    fn rows() -> Vec<MeanRow> {
        let mut rows = Vec::new();
        for (rate, goodput) in [("1Mbps", 0.9e6), ("10Mbps", 9e6), ("100Mbps", 80e6)] {
            for count in ["1", "4"] {
                for protocol in ["cubic", "lgcc"] {
                    rows.push(row(rate, count, protocol, goodput));
                }
            }
        }
        rows
    }

    #[test]
    fn the_key_with_the_most_numbers_is_the_axis_and_the_others_are_figures() {
        let rows = rows();
        let axis = SweepAxis::of(&rows).unwrap();
        assert_eq!((axis.title().as_str(), axis.ends), ("links.L.rate, Mbit/s", (1.0, 100.0)));
        assert_eq!(axis.scale().spacing, AxisSpacing::Log);
        let page = page_of(&rows, "A <title>");
        assert!(page.contains("A &lt;title&gt;") && page.contains("36 runs."), "{page}");
        let made = "Millpond 1.2: <code>millpond sweep s.toml --seeds 3</code>";
        for part in ["flows.f.count = 1", "flows.f.count = 4", made] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("of earlier commands"));
        let more = [rows, vec![row("2Mbps", "1", "cubic", 1e6)]].concat();
        assert!(page_of(&more, "t").contains("3 of the runs are of earlier commands"));
        // Two protocols at three rates in each of two figures.
        assert_eq!(page.matches("<use class=\"mark c0\"").count(), 2 * (3 + 1));
    }

    /// All rates within five per cent, or over four decades.
    #[test]
    fn each_metric_has_the_same_kind_of_axis_in_every_report_and_names_it() {
        let kinds = |goodputs: [f64; 2]| {
            let rows = [("1Mbps", goodputs[0]), ("2Mbps", goodputs[1])];
            let page = page_of(&rows.map(|(rate, goodput)| row(rate, "1", "cubic", goodput)), "t");
            let (figures, _) = page.split_once("id=\"numbers\"").unwrap();
            let units = figures.split("class=\"unit\">").skip(1).filter_map(|rest| rest.split('<').next());
            units.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(kinds([1e6, 1.05e6]), ["Mbit/s, log scale"]);
        assert_eq!(kinds([1e6, 1e10]), ["Mbit/s, log scale"]);
    }

    #[test]
    fn a_figure_of_one_combination_is_chosen_by_the_title_that_the_page_gives_it() {
        let rows = rows();
        let kind = |name: &str| SweepFigureKind::ALL.iter().find(|(known, _)| *known == name).unwrap().1;
        let refused = |name, chosen| sweep_figure(&rows, kind(name), chosen).map(drop).unwrap_err();
        assert_eq!(
            refused("sweep", None),
            "choose a combination of settings with --run, one of \"flows.f.count = 1\", \"flows.f.count = 4\""
        );
        assert!(
            refused("sweep", Some("x")).starts_with("no combination of settings is \"x\"; choose one of ")
        );
        assert_eq!(refused("sweep-delay", Some("flows.f.count = 4")), "no run of the sweep has this result");
        for chosen in ["flows.f.count = 4", "flows.f.count=4"] {
            let figure = sweep_figure(&rows, kind("sweep-goodput"), Some(chosen)).unwrap();
            assert_eq!(
                figure.panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(),
                ["total goodput"]
            );
        }
    }

    #[test]
    fn words_are_rows_with_a_marker_for_each_protocol_and_a_table_has_all_values() {
        let mut rows = Vec::new();
        for queue in ["droptail", "codel", "fq-codel"] {
            rows.extend(["cubic", "vegas"].map(|protocol| row(queue, "x", protocol, 9e6)));
        }
        assert!(SweepAxis::of(&rows).is_none());
        let page = page_of(&rows, "t");
        assert!(page.contains("Results for each links.L.rate"), "{page}");
        // Two protocols at three words, and in the legend.
        for colour in 0..2 {
            assert_eq!(page.matches(&format!("<use class=\"mark c{colour}\"")).count(), 3 + 1);
        }
        for text in ["<th scope=\"row\">x</th><td>fq-codel</td><td>vegas</td>", ">fq-codel</text>", "9.00"] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }

    /// The kinds are those of the page, which draws words as rows and samples as markers over each key.
    #[test]
    fn figures_for_papers_show_words_and_samples_as_the_page_does() {
        let words = ["droptail", "codel"].map(|queue| row(queue, "x", "cubic", 9e6));
        let figure = sweep_figure(&words, SweepFigureKind::All, None).unwrap();
        assert_eq!((figure.class, figure.panels.len()), ("named-rows rows-of-words", 1));
        let samples = [("1Mbps", "7"), ("30Mbps", "2")].map(|(rate, count)| row(rate, count, "cubic", 1e6));
        let refused = sweep_figure(&samples, SweepFigureKind::All, None).map(drop).unwrap_err();
        assert_eq!(
            refused,
            "choose a key on the axis with --run, one of \"flows.f.count\", \"links.L.rate\""
        );
        for key in ["links.L.rate", "flows.f.count"] {
            let figure = sweep_figure(&samples, SweepFigureKind::Metric(1), Some(key)).unwrap();
            assert_eq!(figure.title.into_string(), format!("Results over {key}"));
        }
        let single = sweep_figure(&[row("x", "y", "cubic", 1e6)], SweepFigureKind::All, None).map(drop);
        assert_eq!(single.unwrap_err(), "a figure of a sweep needs a varied key with several values");
    }

    /// No two of the three samples have the same rate or the same number of flows.
    #[test]
    fn samples_are_scattered_over_each_varied_key() {
        let rows = [("1Mbps", "7"), ("30Mbps", "2"), ("9Mbps", "4")]
            .map(|(rate, count)| row(rate, count, "cubic", 1e6));
        let page = page_of(&rows, "t");
        assert_eq!(page.matches("<figure").count(), 2, "one for each key");
        assert!(page.contains("Results over links.L.rate") && page.contains("Results over flows.f.count"));
        assert_eq!(page.matches("<use class=\"mark c0\"").count(), 2 * (3 + 1));
        assert!(!page.contains("data-name=\"cubic\""), "no curve connects samples");
    }

    /// Six samples of a rate and of one to three flows; a grid of the same keys.
    #[test]
    fn whole_numbers_that_repeat_among_samples_make_no_grid() {
        let rates = ["1Mbps", "2Mbps", "3Mbps", "4Mbps", "5Mbps", "6Mbps"];
        let samples = rates.iter().zip(["1", "2", "3", "1", "2", "3"]);
        let samples: Vec<MeanRow> = samples.map(|(rate, count)| row(rate, count, "cubic", 1e6)).collect();
        assert!(are_samples(&samples));
        assert!(!are_samples(&rows()));
    }
}
