//! How evenly the flows share, as time goes on.

use super::super::bundle::thinned;
use super::super::subject::Subject;
use super::{FINE, time_axis};
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use millpond_results::{Kind, quantity};

/// A mark stands on every curve at this many places.
const MARKS: usize = 5;

/// One curve per run: Jain's index of the flows that are running.
pub(crate) fn fairness(subjects: &[Subject]) -> Option<Figure> {
    let indices = subjects.iter().flat_map(|subject| subject.series(Kind::Group, quantity::JAIN));
    let least = indices.flat_map(|series| &series.values).copied().fold(1.0, f64::min);
    let floor = if least >= 0.5 { 0.5 } else { 0.0 };
    let mut plot = Plot::new(
        "Jain's fairness index over time",
        time_axis(subjects),
        Axis::numbered(Scale::linear(floor, 1.0 + 0.02 * (1.0 - floor)), "", 4),
        260,
    )
    .over_time();
    let mut legend = String::new();
    for subject in subjects {
        let mut indices = subject.series(Kind::Group, quantity::JAIN);
        // While one flow runs alone there is no index.
        let Some(series) = indices.find(|series| series.values.iter().any(|index| index.is_finite())) else {
            continue;
        };
        let points = thinned(series, 1.0, FINE);
        let class = format!("line {} {}", subject.look.colour(), subject.look.dashes());
        plot.curve(&subject.run.label, &class, &points);
        let stride = (points.len() / MARKS).max(1);
        let first = stride * (subject.look.0 + 1) / (subjects.len() + 1);
        for point in points.iter().skip(first).step_by(stride).filter(|point| point.1.is_finite()) {
            plot.mark(subject.look, *point);
        }
        legend += &subject.look.legend_entry(&subject.run.label);
    }
    if legend.is_empty() {
        return None;
    }
    Some(Figure {
        id: "fairness".into(),
        title: "How evenly the flows share".into(),
        class: "",
        panels: vec![Panel { title: "Jain's index".into(), unit: String::new(), legend, plot }],
        caption:
            "1 means that all running flows have the same goodput; with n flows, 1/n means that one has all. \
                  It dips when a flow joins and recovers as fast as the newcomer gets its share."
                .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Run, Series};

    #[test]
    fn where_no_two_flows_ran_at_a_time_there_is_nothing_to_draw() {
        let run = |values: [f64; 2]| Run {
            series: vec![Series {
                kind: Kind::Group,
                entity: "all".into(),
                quantity: quantity::JAIN.into(),
                unit: "1".into(),
                times: vec![1.0, 2.0],
                values: values.into(),
            }],
            ..Run::default()
        };
        let alone = run([f64::NAN; 2]);
        assert!(fairness(&Subject::all(std::slice::from_ref(&alone))).is_none());
        let both = [alone, run([f64::NAN, 0.9])];
        let legend =
            fairness(&Subject::all(&both)).map(|figure| figure.panels[0].legend.matches("key").count());
        assert_eq!(legend, Some(1));
    }
}
