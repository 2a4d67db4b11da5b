//! Reading traces: Mahimahi delivery opportunities and `time_s,mbps`.

use super::{Format, OPPORTUNITY, Trace};
use crate::place::Place;
use crate::source::{Fault, Sources};
use millpond_units::{Rate, Span, Time};
use std::path::Path;

/// Times beyond this are taken for a mistake: a day.
const LONGEST: Span = Span::from_millis(86_400_000);
/// Rates beyond this are taken for a mistake, in Mbit/s.
const FASTEST: f64 = 1e8;
const MILLISECOND: Span = Span::from_millis(1);
/// What a line of a CSV trace looks like.
const CSV_LINE: &str = "time_s,mbps: a time in seconds and a rate in 10^6 bit/s, such as 0.5,155";
/// What a line of a Mahimahi trace looks like.
const MAHIMAHI_LINE: &str = "a whole number of milliseconds, not less than the line before";

impl Trace {
    /// Reads the trace file at `path`. Without a format, it is recognized from the first line.
    ///
    /// # Errors
    /// The file cannot be read, or the first line that is wrong.
    pub fn load(path: &Path, format: Option<Format>) -> Result<Self, Fault> {
        let name = path.display().to_string();
        let bytes = crate::files::Files::read(&crate::files::Disk, path);
        let bytes =
            bytes.map_err(|error| Sources::new(&name, "").plain(format!("cannot read {name}: {error}")))?;
        Self::parse(&bytes, &name, format)
    }

    /// Reads a trace, which errors call `name`. Without a format, it is recognized from the first line.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(bytes: &[u8], name: &str, format: Option<Format>) -> Result<Self, Fault> {
        // Spreadsheets begin a text with a byte-order mark.
        let text = String::from_utf8_lossy(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes));
        let lines = TraceLines { name, text: &text };
        let Some((_, first)) = lines.clone().filled().next() else {
            return Err(Sources::new(name, "")
                .plain(format!("the trace {name} is empty: there is no opportunity to deliver anything"))
                .help("a trace is a Mahimahi file of delivery opportunities or a CSV file of time_s,mbps"));
        };
        let format = format.unwrap_or(if first.contains(',') { Format::Csv } else { Format::Mahimahi });
        match format {
            Format::Mahimahi => mahimahi(&lines),
            Format::Csv => csv(&lines),
        }
    }
}

/// The lines of a trace file.
#[derive(Clone)]
struct TraceLines<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> TraceLines<'a> {
    /// Every line that is not empty and not a comment, trimmed, with the byte at which it begins.
    fn filled(&self) -> impl Iterator<Item = (usize, &'a str)> + Clone {
        let text = self.text;
        let lines = text.split('\n').scan(0, |next, line| {
            let start = *next;
            *next += line.len() + 1;
            Some((start, line))
        });
        let trimmed = lines.map(|(start, line)| (start + line.len() - line.trim_start().len(), line.trim()));
        trimmed.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }

    /// A fault of the line that begins at byte `start`; a line too long to show is quoted in part.
    fn wrong(&self, start: usize, line: &str, label: &str, expected: &str) -> Fault {
        let before = self.text.as_bytes().get(..start).unwrap_or_default();
        let number = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let message = format!("line {number} of the trace {} is wrong: \"{}\"", self.name, shortened(line));
        let sources = Sources::new(self.name, self.text);
        let fault = match line.len() {
            0..200 => sources.fault(Place { text: 0, start, end: start + line.len() }, message, label),
            _ => sources.plain(format!("{message}: {label}")),
        };
        fault.help(format!("expected {expected}"))
    }

    /// The fault that all rates are zero.
    fn all_zero(&self) -> Fault {
        let message =
            format!("the trace {} has no rate above zero: its link would have no capacity", self.name);
        Sources::new(self.name, self.text).plain(message).help("use a trace with a rate above zero")
    }
}

/// At most 60 characters.
fn shortened(line: &str) -> String {
    if line.chars().count() <= 60 {
        line.to_owned()
    } else {
        line.chars().take(57).chain("...".chars()).collect()
    }
}

/// An opportunity at `t` ms is at the end of the millisecond that ends there, so that a file lasts until its last
/// opportunity and is repeated from there, as `mm-link` does. Those at 0 belong to the first millisecond; if there
/// are no others, the trace has no length to repeat.
fn mahimahi(lines: &TraceLines<'_>) -> Result<Trace, Fault> {
    let mut steps = vec![(Time::ZERO, Rate::ZERO)];
    let (mut now, mut count) = (1, 0);
    let mut last = (0, "", 0);
    for (start, line) in lines.filled() {
        let wrong = |label: &str| lines.wrong(start, line, label, MAHIMAHI_LINE);
        let millis: u64 = line.parse().map_err(|_| wrong("not a whole number of milliseconds"))?;
        last = (start, line, millis);
        let millis = millis.max(1);
        if millis > LONGEST.picos() / MILLISECOND.picos() {
            return Err(wrong("more than a day after the start"));
        }
        if millis < now {
            return Err(wrong("earlier than the line before"));
        }
        if millis > now {
            deliver(&mut steps, now, count);
            (now, count) = (millis, 0);
        }
        count += 1;
    }
    if let (start, line, 0) = last {
        let label = "the last opportunity is at 0 ms: the trace lasts no time and cannot be repeated";
        return Err(lines.wrong(start, line, label, "an opportunity later than 0 ms in the end"));
    }
    deliver(&mut steps, now, count);
    steps.pop();
    let length = MILLISECOND * now;
    Ok(Trace { format: Format::Mahimahi, steps: merged(steps), length, sampling: MILLISECOND })
}

/// Adds `count` opportunities in the millisecond that ends at `millis`, and nothing after.
fn deliver(steps: &mut Vec<(Time, Rate)>, millis: u64, count: u64) {
    if count == 0 {
        return;
    }
    let (start, end) = (Time::ZERO + MILLISECOND * (millis - 1), Time::ZERO + MILLISECOND * millis);
    if steps.last().is_some_and(|&(last, _)| last == start) {
        steps.pop();
    }
    steps.push((start, (OPPORTUNITY * count).per(MILLISECOND)));
    steps.push((end, Rate::ZERO));
}

/// Times are relative to the first row, which may be any. The last rate lasts as long as the one before it.
fn csv(lines: &TraceLines<'_>) -> Result<Trace, Fault> {
    let mut rows: Vec<(Time, Rate)> = Vec::new();
    let mut first = None;
    for (index, (start, line)) in lines.filled().enumerate() {
        let wrong = |label: &str| lines.wrong(start, line, label, CSV_LINE);
        if index == 0 && is_header(line) {
            continue;
        }
        let (time, rate) = row(line).map_err(wrong)?;
        let begun = *first.get_or_insert(time);
        if time - begun > LONGEST.secs() {
            return Err(wrong("more than a day after the first"));
        }
        let time = Time::from_secs(time - begun);
        if time < begun_after(&rows) {
            return Err(wrong("not later than the row before"));
        }
        rows.push((time, rate));
    }
    if rows.iter().all(|(_, rate)| rate.is_zero()) {
        return Err(lines.all_zero());
    }
    let sampling = usual_distance(&rows);
    let length = match rows.as_slice() {
        [.., (before, _), (last, _)] => last.since(Time::ZERO) + last.since(*before),
        _ => sampling,
    };
    Ok(Trace { format: Format::Csv, steps: merged(rows), length, sampling })
}

/// The median distance between two rows; a second if there is one row only.
fn usual_distance(rows: &[(Time, Rate)]) -> Span {
    let later = rows.iter().skip(1).map(|&(time, _)| time);
    let mut distances: Vec<_> = rows.iter().zip(later).map(|(&(time, _), later)| later.since(time)).collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).copied().unwrap_or(Span::from_secs(1.0))
}

/// The earliest time that the next row may have.
fn begun_after(rows: &[(Time, Rate)]) -> Time {
    rows.last().map_or(Time::ZERO, |&(last, _)| last + Span::from_picos(1))
}

fn is_header(line: &str) -> bool {
    let columns: Vec<String> = line.split(',').map(|column| column.trim().to_lowercase()).collect();
    columns == ["time_s", "mbps"]
}

/// One row of a CSV trace.
fn row(line: &str) -> Result<(f64, Rate), &'static str> {
    let Some((time, rate)) = line.split_once(',') else { return Err("not two values with a comma between") };
    let time: f64 = time.trim().parse().map_err(|_| "the time is not a number")?;
    let rate: f64 = rate.trim().parse().map_err(|_| "the rate is not a number")?;
    if !time.is_finite() || time < 0.0 {
        return Err("the time is not a number of seconds from zero up");
    }
    if !rate.is_finite() || !(0.0..=FASTEST).contains(&rate) {
        return Err("the rate is not a number of megabits per second from zero up");
    }
    Ok((time, Rate::from_mbps(rate)))
}

/// The same without steps that change nothing.
fn merged(mut steps: Vec<(Time, Rate)>) -> Vec<(Time, Rate)> {
    steps.dedup_by_key(|&mut (_, rate)| rate);
    steps
}
