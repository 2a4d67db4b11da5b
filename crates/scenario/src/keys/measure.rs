//! `[measure]`: what to record.

use crate::model::Measure;
use crate::table::{Form, KeyTable, LONGEST_RUN, Rule, ScenarioKey, Written, put, set, stored_key};
use millpond_units::{Span, Time};

/// Most samples of one series.
pub(crate) const MAX_SAMPLES: u64 = 10_000_000;

/// The keys of `[measure]`.
pub(crate) static MEASURE: KeyTable<Measure> = KeyTable {
    name: "measure table",
    blank: Measure::default,
    plain: None,
    keys: &[
        ScenarioKey {
            name: "from",
            form: Form::Time,
            rule: Rule::Default("\"0s\""),
            meaning: "start of the measurement, before the end of the run: summaries leave out what happens \
                      earlier; series begin at the start of the run",
            read: |measure, written| set(&mut measure.from, from(written)),
            write: |measure| put(&measure.from),
        },
        ScenarioKey {
            name: "every",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Absent("`\"100ms\"`, or a ten-millionth of `duration` if that is longer"),
            meaning: "time between two samples of a series; a series has at most 10 million samples",
            read: |measure, written| set(&mut measure.every, interval(written)),
            write: |measure| put(&measure.every),
        },
        ScenarioKey {
            name: "jain_window",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Default("\"1s\""),
            meaning: "window of the short-term Jain index; a run has at most 10 million windows",
            read: |measure, written| set(&mut measure.jain_window, interval(written)),
            write: |measure| put(&measure.jain_window),
        },
        stored_key! {
            name: "converged_within",
            form: Form::Share { least: 1e-6, most: 1.0 },
            rule: Rule::Default("0.1"),
            meaning: "a flow has converged when its rate stays within this fraction of its fair share: max-min \
                      over the links, less what the flows that share them leave unused",
            field: converged_within,
        },
    ],
};

/// Reads `[measure]`.
pub(crate) fn read(written: &Written<'_>) -> Option<Measure> {
    let mut measure = MEASURE.read(written)?;
    if measure.every.is_zero() {
        let duration = written.context.duration.unwrap_or_default();
        let shortest = Span::from_picos(duration.picos() / MAX_SAMPLES + 1);
        measure.every = Span::from_millis(100).max(shortest);
    }
    Some(measure)
}

fn from(written: &Written<'_>) -> Option<Time> {
    let duration = written.context.duration.unwrap_or(LONGEST_RUN);
    let from = written.quantity::<Time>()?;
    if from < Time::ZERO + duration {
        return Some(from);
    }
    written.report(
        format!("the measurement begins at {from}, but the run ends at {duration}"),
        "not before the end of the run",
        "measure from an earlier time, such as \"0s\", or run for longer",
    )
}

/// A time that fits into the run at most [`MAX_SAMPLES`] times.
fn interval(written: &Written<'_>) -> Option<Span> {
    let duration = written.context.duration.unwrap_or(Span::from_picos(1));
    let shortest = Span::from_picos(duration.picos().div_ceil(MAX_SAMPLES));
    written.within(shortest, LONGEST_RUN)
}
