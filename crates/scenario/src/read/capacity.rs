//! Rates and delays over time: constant, in steps, from a trace.

use super::Reader;
use crate::fields::{self, Complaints, Fields, alternative};
use crate::model::{Capacity, Delay};
use crate::place::At;
use crate::schedule::End;
use crate::trace::{Format, Trace, TraceSource};
use crate::tree::{Node, Raw};
use millpond_units::{Rate, Span, Time};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

const FASTEST: Rate = Rate::from_bps(100_000_000_000_000);
const LONGEST_DELAY: Span = Span::from_millis(3_600_000);

/// `"155Mbps"`, `{ steps = [["0s", "500Mbps"], ["2s", "150Mbps"]] }`, `{ trace = "cell.csv" }`.
pub(crate) fn capacity(reader: &Reader<'_>, node: &Node) -> Option<Capacity> {
    if !matches!(node.value, Raw::Table(_)) {
        return fields::within(reader.complaints, node, Rate::from_bps(1), FASTEST).map(Capacity::Constant);
    }
    let mut fields = Fields::new(reader.complaints, node, "rate")?;
    let forms =
        "\"155Mbps\", { steps = [[\"0s\", \"500Mbps\"], [\"2s\", \"150Mbps\"]] } or { trace = \"cell.csv\" }";
    let chosen = alternative(&mut fields, &["steps", "trace"], forms);
    fields.finish();
    let (key, value) = chosen?;
    match key {
        "steps" => rate_steps(reader.complaints, value).map(Capacity::Steps),
        _ => trace_source(reader, value).map(Capacity::Trace),
    }
}

fn rate_steps(complaints: &Complaints, node: &Node) -> Option<Vec<(Time, Rate)>> {
    let steps = steps(complaints, node, "[[\"0s\", \"500Mbps\"]]", |c, node| {
        fields::within(c, node, Rate::ZERO, FASTEST)
    })?;
    if steps.iter().all(|(_, rate)| rate.is_zero()) {
        return complaints.expected(node, "a rate above zero in at least one step");
    }
    Some(steps)
}

/// `"15ms"` or `{ steps = [["0s", "15ms"], ["10s", "40ms"]] }`.
pub(crate) fn delay(complaints: &Complaints, node: &Node) -> Option<Delay> {
    let one = |c: &Complaints, node: &Node| fields::within(c, node, Span::ZERO, LONGEST_DELAY);
    if !matches!(node.value, Raw::Table(_)) {
        return one(complaints, node).map(Delay::Constant);
    }
    let mut fields = Fields::new(complaints, node, "delay")?;
    let example = "[[\"0s\", \"15ms\"], [\"10s\", \"40ms\"]]";
    let value = fields.required("steps", example);
    fields.finish();
    steps(complaints, value?, example, one).map(Delay::Steps)
}

/// Pairs of a time and a value, the first time zero, times increasing.
fn steps<T>(
    complaints: &Complaints,
    node: &Node,
    example: &str,
    read: impl Fn(&Complaints, &Node) -> Option<T>,
) -> Option<Vec<(Time, T)>> {
    let mut steps: Vec<(Time, T)> = Vec::new();
    for item in fields::list(complaints, node, example)? {
        let (time, value) = fields::pair(complaints, item, "[\"2s\", ...]")?;
        let at = fields::quantity(complaints, time)?;
        match steps.last() {
            None if at != Time::ZERO => return complaints.expected(time, "the first step at \"0s\""),
            Some(&(last, _)) if at <= last => {
                return complaints.expected(time, &format!("a time after the step at \"{last}\""));
            }
            _ => steps.push((at, read(complaints, value)?)),
        }
    }
    if steps.is_empty() {
        complaints.expected(node, &format!("steps such as {example}"))
    } else {
        Some(steps)
    }
}

/// `"cell.csv"` or `{ file = "cell.csv", format = "csv", end = "loop", skip = "10s", length = "300s", scale = 2 }`.
fn trace_source(reader: &Reader<'_>, node: &Node) -> Option<TraceSource> {
    let complaints = reader.complaints;
    if let Raw::Text(file) = &node.value {
        return source(reader, node, file, Settings::default());
    }
    let mut fields = Fields::new(complaints, node, "trace")?;
    let file = fields.required("file", "\"cell.csv\"");
    let plain = Settings::default();
    let settings = Settings {
        format: fields.read("format", |c, node| word(c, node, FORMATS)),
        end: fields.read_or("end", plain.end, |c, node| word(c, node, ENDS)),
        skip: fields.read_or("skip", plain.skip, fields::quantity),
        length: fields.read("length", super::times::positive),
        scale: fields.read_or("scale", plain.scale, |c, node| fields::number(c, node, 1e-6, 1e6)),
        window: fields.read_or("window", plain.window, super::times::positive),
    };
    fields.finish();
    let file = file?;
    source(reader, file, fields::text(complaints, file)?, settings)
}

/// How a trace is used.
struct Settings {
    format: Option<Format>,
    end: End,
    skip: Span,
    length: Option<Span>,
    scale: f64,
    window: Span,
}

impl Default for Settings {
    fn default() -> Self {
        let window = Span::from_millis(100);
        Self { format: None, end: End::Loop, skip: Span::ZERO, length: None, scale: 1.0, window }
    }
}

/// The spellings of [`Format`].
pub(crate) const FORMATS: &[(&str, Format)] = &[("mahimahi", Format::Mahimahi), ("csv", Format::Csv)];
/// The spellings of [`End`].
pub(crate) const ENDS: &[(&str, End)] = &[("loop", End::Loop), ("hold", End::Hold), ("stop", End::Stop)];

/// One of these words.
pub(crate) fn word<T: Copy>(complaints: &Complaints, node: &Node, words: &[(&str, T)]) -> Option<T> {
    let written = At::new(fields::text(complaints, node)?, node.place);
    let found = words.iter().find(|(word, _)| *word == written.value).map(|&(_, meaning)| meaning);
    found.or_else(|| complaints.unknown(&written, "word", words.iter().map(|&(word, _)| word)))
}

fn source(reader: &Reader<'_>, node: &Node, file: &str, settings: Settings) -> Option<TraceSource> {
    let path = reader.path(node, file);
    let trace = load(reader, node, &path, settings.format)?;
    let Settings { end, skip, length, scale, window, .. } = settings;
    let file = At::new(path, node.place);
    let source = TraceSource { file, format: trace.format, end, skip, length, scale, window, trace };
    let used = source.schedule();
    if used.peak().is_zero() {
        let (length, skip) = (source.trace.length, source.skip);
        let message = format!("nothing is served in the part that is used of this {length} long trace");
        let help =
            format!("skip = \"{skip}\" leaves out too much, length keeps too little or scale is too small");
        return reader.complaints.wrong(node.place, message, "no rate above zero", help);
    }
    Some(source)
}

fn load(reader: &Reader<'_>, node: &Node, path: &PathBuf, format: Option<Format>) -> Option<Arc<Trace>> {
    let complaints = reader.complaints;
    let known = reader.traces.borrow().get(path).cloned();
    let trace = known.unwrap_or_else(|| {
        let trace = reader.bytes(node, path, "trace").and_then(|bytes| {
            let parsed = Trace::parse(&bytes, &path.display().to_string(), format);
            parsed
                .map_err(|fault| complaints.pass_on::<()>(node.place, fault, "this trace"))
                .ok()
                .map(Arc::new)
        });
        reader.traces.borrow_mut().insert(path.clone(), trace.clone());
        trace
    })?;
    if format.is_some_and(|format| format != trace.format) {
        return complaints.expected(node, "one format for all uses of this file");
    }
    Some(trace)
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|(word, _)| *word == text).map(|&(_, format)| format);
        found.ok_or_else(|| format!("unknown trace format \"{text}\": expected mahimahi or csv"))
    }
}
