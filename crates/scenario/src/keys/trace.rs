//! Traces: rates from a file.

use crate::place::{At, Place};
use crate::schedule::End;
use crate::table::{
    Form, KeyTable, Keyword, PlainForm, Rule, ScenarioKey, Written, put, spellings, stored_key, text,
};
use crate::trace::{Format, Trace, TraceSource};
use millpond_units::Span;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// How a trace is used, before its file is read.
#[derive(Default)]
pub(crate) struct TraceUse {
    file: At<String>,
    format: Option<Format>,
    end: End,
    skip: Span,
    length: Option<Span>,
    scale: f64,
    window: Span,
}

impl Keyword for Format {
    const WORDS: &'static [(&'static str, Self)] = &[("mahimahi", Self::Mahimahi), ("csv", Self::Csv)];
}

impl Keyword for End {
    const WORDS: &'static [(&'static str, Self)] =
        &[("loop", Self::Loop), ("hold", Self::Hold), ("stop", Self::Stop)];
}

/// The forms of a trace.
pub(crate) static TRACE: KeyTable<TraceUse> = KeyTable {
    name: "trace",
    blank: TraceUse::default,
    plain: Some(PlainForm {
        form: Form::Text,
        example: "\"cell.csv\"",
        meaning: "the file alone",
        read: |written| Some(TraceUse { file: written.placed_text()?, ..TRACE.defaults(written.context) }),
        write: |_| None,
    }),
    keys: &[
        stored_key! {
            name: "file",
            form: Form::Text,
            rule: Rule::Required("\"cell.csv\""),
            meaning: "relative to the scenario file; in an override, to the current folder",
            field: file,
        },
        ScenarioKey {
            name: "format",
            form: Form::Words(spellings::<Format>),
            rule: Rule::Absent("recognized from the first line"),
            meaning: "how the file is written (below)",
            read: |trace, written| written.store(&mut trace.format),
            write: |trace| trace.format.as_ref().and_then(put),
        },
        stored_key! {
            name: "end",
            form: Form::Words(spellings::<End>),
            rule: Rule::Default("\"loop\""),
            meaning: "what follows the end: the trace again, its last rate, or no service",
            field: end,
        },
        stored_key! {
            name: "skip",
            form: Form::ANY_SPAN,
            rule: Rule::Default("\"0s\""),
            meaning: "how much of the beginning is left out",
            field: skip,
        },
        ScenarioKey {
            name: "length",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Absent("up to the end"),
            meaning: "how much is used",
            read: |trace, written| written.store(&mut trace.length),
            write: |trace| trace.length.as_ref().and_then(put),
        },
        stored_key! {
            name: "scale",
            form: Form::Number { least: 1e-6, most: 1e6 },
            rule: Rule::Default("1"),
            meaning: "each rate is multiplied by this",
            field: scale,
        },
        stored_key! {
            name: "window",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Default("\"100ms\""),
            meaning: "link laws receive the mean of delivery opportunities over this trailing window as the \
                      capacity",
            field: window,
        },
    ],
};

impl From<&TraceSource> for TraceUse {
    fn from(source: &TraceSource) -> Self {
        let TraceSource { end, skip, length, scale, window, .. } = *source;
        let file = source.file.clone().map(|file| file.display().to_string());
        Self { file, format: Some(source.format), end, skip, length, scale, window }
    }
}

/// Reads the file of a trace.
pub(crate) fn source(written: &Written<'_>, trace_use: TraceUse) -> Option<TraceSource> {
    let TraceUse { file, format, end, skip, length, scale, window } = trace_use;
    let path = written.context.path(file.place, &file);
    let trace = load(written, file.place, &path, format)?;
    let file = At::new(path, file.place);
    let source = TraceSource { file, format: trace.format, end, skip, length, scale, window, trace };
    if !source.schedule().peak().is_zero() {
        return Some(source);
    }
    let message =
        format!("all rates are zero in the part of this {} long trace that is used", source.trace.length);
    let help =
        format!("skip = \"{skip}\" leaves out too much, length keeps too little or scale is too small");
    written.context.faults.report(source.file.place, message, "no rate above zero", help)
}

fn load(written: &Written<'_>, place: Place, path: &PathBuf, format: Option<Format>) -> Option<Arc<Trace>> {
    let context = written.context;
    let known = context.traces.borrow().get(path).cloned();
    let trace = known.unwrap_or_else(|| {
        let trace = context.bytes(place, path, "trace").and_then(|bytes| {
            let parsed = Trace::parse(&bytes, &path.display().to_string(), format);
            parsed
                .map_err(|fault| context.faults.forward::<()>(place, fault, "this trace"))
                .ok()
                .map(Arc::new)
        });
        context.traces.borrow_mut().insert(path.clone(), trace.clone());
        trace
    })?;
    if format.is_some_and(|format| format != trace.format) {
        let expected = "one format for all uses of this file";
        let found = text(path.display());
        return context.faults.report(
            place,
            format!("expected {expected}"),
            format!("this is the text {found}"),
            format!("write {expected}"),
        );
    }
    Some(trace)
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text).map(|&(_, format)| format);
        found.ok_or_else(|| format!("unknown trace format \"{text}\": expected mahimahi or csv"))
    }
}
