//! What went on inside the laws and on the other links: every quantity that is drawn nowhere else.

use std::collections::BTreeMap;

use super::super::bundle::{Bundle, Together};
use super::super::subject::Subject;
use super::super::units::RateUnit;
use super::{COARSE, time_axis};
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::Text;
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use millpond_results::{Kind, Series, quantity};

/// Drawn elsewhere on the page.
const SHOWN: [&str; 5] =
    [quantity::GOODPUT, quantity::CAPACITY, quantity::THROUGHPUT, quantity::QUEUEING, quantity::JAIN];

/// One figure per run that has anything to show.
pub(crate) fn internals(subjects: &[Subject]) -> Vec<Figure> {
    let figure = |subject: &Subject| Figure {
        id: format!("inside-{}", subject.look.0),
        title: format!("{}{}", subject.look.badge(), Text(&subject.run.label)),
        class: "inside",
        panels: panels(subject, subjects),
        caption: String::new(),
    };
    subjects.iter().map(figure).filter(|figure| !figure.panels.is_empty()).collect()
}

fn panels(subject: &Subject, all: &[Subject]) -> Vec<Panel> {
    let mut by_quantity: BTreeMap<(Kind, &str, &str), Vec<&Series>> = BTreeMap::new();
    for series in subject.run.series.iter().filter(|series| !SHOWN.contains(&series.quantity.as_str())) {
        by_quantity.entry((series.kind, &series.quantity, &series.unit)).or_default().push(series);
    }
    by_quantity
        .into_iter()
        .filter_map(|((kind, quantity, unit), series)| panel(subject, all, (kind, quantity, unit), &series))
        .collect()
}

fn panel(
    subject: &Subject,
    all: &[Subject],
    (kind, quantity, unit): (Kind, &str, &str),
    series: &[&Series],
) -> Option<Panel> {
    let (factor, unit) = display_unit(unit, series);
    let bundle = Bundle::new(series, Together::Mean, factor, COARSE);
    let scale = Scale::around(bundle.values());
    bundle.values().find(|value| value.is_finite())?;
    let label = format!("{quantity} of each {} over time, {}", kind.name(), subject.run.label);
    let mut plot = Plot::new(label, time_axis(all), Axis::numbered(scale, "", 3), 90).over_time();
    bundle.draw(&mut plot);
    Some(Panel {
        title: capitalised(quantity),
        unit: unit.into(),
        legend: format!(r#"<span class="{}">{}</span>"#, subject.look.colour(), bundle.legend()),
        plot: plot.coloured(subject.look),
    })
}

/// Rates get the unit that fits them, a pure number gets none.
fn display_unit<'a>(unit: &'a str, series: &[&Series]) -> (f64, &'a str) {
    match unit {
        "bit/s" => {
            let values = series.iter().flat_map(|one| &one.values).copied();
            let unit = RateUnit::for_peak(values.fold(0.0, f64::max));
            (unit.factor, unit.label)
        }
        "1" => (1.0, ""),
        _ => (1.0, unit),
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
