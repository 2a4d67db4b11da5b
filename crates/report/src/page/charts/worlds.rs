//! Runs of several worlds in one picture: what is the law, and what is the grain of packets.

use super::super::bundle::thinned;
use super::super::subject::Subject;
use super::super::units::RateUnit;
use super::{FINE, time_axis};
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use millpond_results::quantity;
use std::collections::BTreeSet;

/// More flows than this hide one another: the first of them stand for all.
const MOST_FLOWS: usize = 6;

/// Curves of one run.
type Curves<'a> = (&'a Subject<'a>, Vec<Vec<Point>>);

/// Goodputs and the bottleneck's queue, all runs on top of one another, if they are of more than one world.
pub(crate) fn worlds(subjects: &[Subject]) -> Option<Figure> {
    let worlds: BTreeSet<&str> = subjects.iter().map(|subject| subject.run.summary.world.as_str()).collect();
    if worlds.len() < 2 {
        return None;
    }
    let peak = subjects.iter().flat_map(Subject::goodputs).flat_map(|series| &series.values);
    let unit = RateUnit::for_peak(peak.copied().fold(0.0, f64::max));
    let rates: Vec<Curves<'_>> =
        subjects.iter().map(|subject| (subject, goodputs(subject, unit.factor))).collect();
    let queue = |subject: &Subject| subject.at_bottleneck(quantity::QUEUE).map(|s| thinned(s, 1.0, FINE));
    let queues: Vec<Curves<'_>> = subjects.iter().map(|s| (s, queue(s).into_iter().collect())).collect();
    Some(Figure {
        id: "worlds".into(),
        title: "One law, several worlds".into(),
        class: "",
        panels: vec![
            panel(("Goodput", unit.label), time_axis(subjects).silent(), &rates),
            panel(("Queue at the bottleneck", "packets"), time_axis(subjects), &queues),
        ],
        caption: format!(
            "Each run's flows (the first {MOST_FLOWS} of them) and queue over those of the others. Where curves lie on one \
             another, the equations say what packets do; what is left is the grain of packets, and their chance."
        ),
    })
}

fn goodputs(subject: &Subject, factor: f64) -> Vec<Vec<Point>> {
    subject.goodputs().into_iter().take(MOST_FLOWS).map(|series| thinned(series, factor, FINE)).collect()
}

fn panel((title, unit): (&str, &str), time: Axis, all: &[Curves<'_>]) -> Panel {
    let values = all.iter().flat_map(|(_, curves)| curves.iter().flatten().map(|point| point.1));
    let y = Axis::numbered(Scale::from_zero(values), "", 4);
    let mut plot = Plot::new(format!("{title} in each world"), time, y, 220).over_time();
    let mut legend = String::new();
    for (subject, curves) in all {
        let class = format!("line {} {}", subject.look.colour(), subject.look.dashes());
        for curve in curves {
            plot.curve(&subject.run.label, &class, curve);
        }
        legend += &subject.look.legend_entry(&subject.run.label);
    }
    Panel { title: title.into(), unit: unit.into(), legend, plot }
}
