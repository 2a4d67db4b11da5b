//! Results over a key whose values are words, such as names of queues: a row for each word, with a marker for each protocol.

use super::{Combination, DrawnMetric, METRICS, MOST_FIGURES, left_out, protocol_of, protocols};
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, SeriesStyle};
use millpond_report::document::Section;
use millpond_sweep::{Mean, MeanRow};
use std::collections::BTreeSet;

/// The height of the row of a word in pixels.
const ROW: u16 = 34;
/// The markers of a row are within this distance of its middle, in rows.
const SPREAD: f64 = 0.3;

/// One figure for each combination of the other settings; none without a key of several values.
pub(super) fn section(rows: &[MeanRow]) -> Option<Section> {
    let words = Words::of(rows)?;
    let combinations = Combination::all(rows, words.key);
    let figures = combinations.iter().take(MOST_FIGURES).enumerate();
    let figures: Vec<Figure> = figures.map(|(index, one)| words.figure(&METRICS, index, one)).collect();
    let title = format!("Results for each {}", words.key);
    let intro = format!(
        "Means over the seeds, with lines as long as their 95 % confidence intervals. All figures have the same axes.{}",
        left_out(combinations.len())
    );
    Section::of_figures("sweep", title, intro, &figures)
}

/// The figure of each combination of the other settings, with its title; empty without a key of several values.
pub(super) fn figures(rows: &[MeanRow], metrics: &[DrawnMetric]) -> Vec<(String, Figure)> {
    let Some(words) = Words::of(rows) else { return Vec::new() };
    let combinations = Combination::all(rows, words.key);
    combinations.iter().map(|one| (one.title(), words.figure(metrics, 0, one))).collect()
}

/// A key with its values in the order of the rows.
struct Words<'a> {
    key: &'a str,
    values: Vec<&'a str>,
    all: &'a [MeanRow],
}

impl<'a> Words<'a> {
    /// The key with the most values, of equal numbers of values the first one; none if no key has several.
    fn of(rows: &'a [MeanRow]) -> Option<Self> {
        let keys = rows.first()?.settings.keys();
        let of_key = |key: &'a str| {
            let mut seen = BTreeSet::new();
            let values = rows.iter().filter_map(|row| row.settings.get(key));
            Self { key, values: values.filter(|value| seen.insert(*value)).collect(), all: rows }
        };
        let all: Vec<Self> = keys.map(of_key).collect();
        all.into_iter().rev().max_by_key(|words| words.values.len()).filter(|words| words.values.len() > 1)
    }

    fn figure(&self, metrics: &[DrawnMetric], index: usize, combination: &Combination<'_>) -> Figure {
        let has = |metric: &&DrawnMetric| self.all.iter().any(|row| row.means.contains_key(metric.column));
        let panels = metrics.iter().filter(has).enumerate().map(|(place, metric)| {
            let mut panel = self.panel(metric, combination);
            panel.legend = panel.legend.when(place == 0);
            panel
        });
        Figure {
            id: format!("sweep-{index}"),
            title: html! { (combination.title()) },
            class: "named-rows rows-of-words",
            panels: panels.collect(),
            caption: String::new(),
        }
    }

    /// A row for each word, with the axis of all combinations.
    fn panel(&self, metric: &DrawnMetric, combination: &Combination<'_>) -> Panel {
        let value = |row: &MeanRow| {
            let Mean { mean, half_width } = row.means.get(metric.column)?;
            Some((metric.factor * mean, metric.factor * half_width.unwrap_or_default()))
        };
        let ends =
            self.all.iter().filter_map(value).flat_map(|(mean, half)| [(mean - half).max(0.0), mean + half]);
        let scale = metric.scale(&ends.collect::<Vec<_>>());
        let title = if metric.unit.is_empty() {
            metric.title.to_owned()
        } else {
            format!("{}, {}", metric.title, metric.unit)
        };
        let (x, y) = (Axis::numbered(scale, title, 6), Axis::named(self.values.iter().copied()));
        let height = ROW * self.values.len() as u16 + 8;
        let mut plot = Plot::new(format!("{} for each {}", metric.title, self.key), x, y, height);
        let mut legend = Legend::new();
        let protocols = protocols(self.all);
        for (index, protocol) in protocols.iter().enumerate() {
            let style = SeriesStyle(index);
            let aside = SPREAD * ((2 * index + 1) as f64 / protocols.len() as f64 - 1.0);
            for row in combination.rows.iter().filter(|row| protocol_of(row) == *protocol) {
                let place = row
                    .settings
                    .get(self.key)
                    .and_then(|word| self.values.iter().position(|one| *one == word));
                let Some((place, (mean, half))) = place.zip(value(row)) else { continue };
                let height = -(place as f64) - aside;
                plot.unnamed_curve(
                    &format!("line {}", style.colour()),
                    &[(mean - half, height), (mean + half, height)],
                );
                plot.mark(style, (mean, height));
            }
            if !protocol.is_empty() {
                legend = legend.marker(style, protocol);
            }
        }
        Panel { title: metric.title.to_owned(), unit: metric.unit.to_owned(), legend, plot }
    }
}
