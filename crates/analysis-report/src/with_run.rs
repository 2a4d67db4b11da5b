//! A run in packets beside the analysis: its queues and rates over time, and a spectrum.

use crate::explain::spectrum;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle, decimate};
use millpond_diagnosis::explain::Explanation;
use millpond_report::document::Section;
use millpond_report::rate_unit::RateUnit;
use millpond_results::{EntityKind, Run, Series, quantity};
use millpond_units::format::number;

/// A run of the scenario of the page.
pub struct RunBeside<'a> {
    /// The run.
    pub run: &'a Run,
    /// Whether and why it oscillates; none if it is too short to tell.
    pub explanation: Option<&'a Explanation>,
    /// That in a sentence, or why it is unknown.
    pub sentence: &'a str,
    /// The frequency of the slowest decay or the fastest growth that the analysis predicts, in Hz.
    pub frequency: Option<f64>,
}

/// Only the first links are drawn.
const MOST_QUEUES: usize = 4;
const SLICES: usize = 500;
const GUIDE: &str = "guide";

/// The section; none if the run recorded no series.
pub(crate) fn section(beside: &RunBeside<'_>) -> Option<Section> {
    let figures = figures(beside);
    if figures.is_empty() {
        return None;
    }
    Some(Section {
        id: "with-run".into(),
        title: "The same scenario in packets".into(),
        intro: format!("{}. Seed {}.", capitalized(beside.sentence), beside.run.summary.seed),
        body: html! { div.pictures { @for figure in &figures { (figure) } } },
    })
}

/// Queue and rate over time, and the spectrum; nothing if the run recorded no series.
pub(crate) fn figures(beside: &RunBeside<'_>) -> Vec<Figure> {
    let panels: Vec<Panel> = queues(beside).into_iter().chain(rates(beside)).collect();
    if panels.is_empty() {
        return Vec::new();
    }
    let cut =
        interval_start(beside).map(|start| format!(" Higher values before {} s are cut.", number(start)));
    let over_time = Figure {
        id: "run-over-time".into(),
        title: html! { "Queue and rate over time" },
        class: "",
        panels,
        caption: format!("Means over each sampling interval.{}", cut.unwrap_or_default()),
    };
    let fluctuations = beside.explanation.map_or(&[][..], |explanation| &explanation.fluctuations);
    let shown = fluctuations.iter().find(|fluctuation| fluctuation.is_queue()).or(fluctuations.first());
    let source = beside.frequency.map_or_else(String::new, |hz| format!("root: {} Hz", number(hz)));
    let spectrum = shown.map(|shown| {
        let figure = spectrum(0, shown, beside.frequency, &source);
        Figure { title: html! { "Spectrum: " (figure.title) }, ..figure }
    });
    [Some(over_time), spectrum].into_iter().flatten().collect()
}

/// The start of the interval that was compared with the analysis, in seconds.
fn interval_start(beside: &RunBeside<'_>) -> Option<f64> {
    beside.explanation.map(|explanation| explanation.interval.start).filter(|start| *start > 0.0)
}

fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The scale of values from this time on; earlier values above it are cut.
fn scale<'v>(beside: &RunBeside<'_>, samples: impl Iterator<Item = (&'v f64, &'v f64)>) -> Scale {
    let start = interval_start(beside).unwrap_or(0.0);
    Scale::from_zero(samples.filter(|(time, _)| **time >= start).map(|(_, value)| *value))
}

/// The curve of a series, broken where it is above the scale.
fn curve(times: &[f64], values: &[f64], y: Scale) -> Vec<Point> {
    let below: Vec<f64> =
        values.iter().map(|value| if *value <= y.high { *value } else { f64::NAN }).collect();
    decimate(times, &below, SLICES)
}

/// The series of a quantity of all entities of a kind.
fn series<'r>(run: &'r Run, kind: EntityKind, wanted: &'r str) -> impl Iterator<Item = &'r Series> {
    run.series.iter().filter(move |series| series.kind == kind && series.quantity == wanted)
}

fn end(run: &Run) -> f64 {
    run.series.iter().filter_map(|series| series.times.last().copied()).fold(0.0, f64::max)
}

/// The queues that take part in the loop, or, if they are unknown, those that hold a packet on the mean.
fn queues(beside: &RunBeside<'_>) -> Option<Panel> {
    let equilibrium = |entity: &str| {
        let rows = &beside.explanation?.operating_point;
        let row = rows.iter().find(|row| row.name == format!("queue of {entity}"))?;
        Some(row.model).filter(|packets| packets.is_finite())
    };
    let holds_packets = |series: &&Series| {
        let values = series.values.iter().filter(|value| value.is_finite());
        values.sum::<f64>() >= series.values.len() as f64
    };
    let shown: Vec<&Series> = series(beside.run, EntityKind::Link, quantity::QUEUE)
        .filter(holds_packets)
        .take(MOST_QUEUES)
        .collect();
    let levels: Vec<Option<f64>> = shown.iter().map(|series| equilibrium(&series.entity)).collect();
    let values = shown.iter().flat_map(|series| series.times.iter().zip(&series.values));
    let y = scale(beside, values.chain(levels.iter().flatten().map(|level| (&f64::INFINITY, level))));
    let end = end(beside.run);
    let mut plot = over_time("Queue", end, y, 190, false);
    for (index, series) in shown.iter().enumerate() {
        let style = SeriesStyle(index);
        plot.curve(&series.entity, &style.line(), &curve(&series.times, &series.values, y));
    }
    for level in levels.iter().flatten() {
        plot.unnamed_curve(GUIDE, &[(0.0, *level), (end, *level)]);
    }
    let add = |legend: Legend, (index, series): (usize, &&Series)| {
        legend.line(&SeriesStyle(index).line(), &series.entity)
    };
    let has_level = levels.iter().any(Option::is_some);
    let legend = shown.iter().enumerate().fold(Legend::new(), add);
    let legend = legend.and(Legend::new().line(GUIDE, "equilibrium").when(has_level));
    (!shown.is_empty()).then(|| Panel { title: "queue".into(), unit: "packets".into(), legend, plot })
}

/// The sending rate of all flows together.
fn rates(beside: &RunBeside<'_>) -> Option<Panel> {
    let run = beside.run;
    let mut sum: Vec<Point> = Vec::new();
    for flow in series(run, EntityKind::Flow, quantity::SEND_RATE) {
        for (index, (time, rate)) in flow.times.iter().zip(&flow.values).enumerate() {
            match sum.get_mut(index) {
                Some(point) => point.1 += if rate.is_finite() { *rate } else { 0.0 },
                None => sum.push((*time, if rate.is_finite() { *rate } else { 0.0 })),
            }
        }
    }
    let peak = sum.iter().map(|point| point.1).fold(0.0, f64::max);
    let unit = RateUnit::for_peak(peak);
    let (times, values): (Vec<f64>, Vec<f64>) =
        sum.into_iter().map(|(time, rate)| (time, rate * unit.factor)).unzip();
    let y = scale(beside, times.iter().zip(&values));
    let style = SeriesStyle(0);
    let mut plot = over_time("Sending rate", end(run), y, 150, true);
    plot.curve("all flows", &style.line(), &curve(&times, &values, y));
    let legend = Legend::new().line(&style.line(), "all flows");
    (!times.is_empty()).then(|| Panel { title: "sending rate".into(), unit: unit.label.into(), legend, plot })
}

fn over_time(label: &str, end: f64, y: Scale, height: u16, is_last: bool) -> Plot {
    let time = Axis::numbered(Scale::linear(0.0, end), "time, s", 8);
    let time = if is_last { time } else { time.without_text() };
    Plot::new(format!("{label} of the run over time"), time, Axis::numbered(y, "", 4), height).over_time()
}
