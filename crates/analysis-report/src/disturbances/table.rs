//! What disturbances change: a table for each protocol, and tornado charts of text.

use super::tornado::{TORNADOES, Tornado, TornadoBar};
use millpond_results::{DisturbanceComparison, DisturbedProtocol, DisturbedRow, Estimate};
use millpond_tables::{Cell, Document, Table, table};

/// The widest bar on one side, in characters.
const BAR: usize = 24;

/// For each protocol what does not apply to it, the table, and a tornado chart of each indicator.
pub fn disturbances(comparison: &DisturbanceComparison) -> Document {
    comparison.protocols.iter().fold(Document::default(), |document, protocol| {
        let document = document.text(format!("{}\n{}", protocol.protocol, without_effect(protocol)));
        document.table(rows(protocol)).text(charts(protocol))
    })
}

/// The levels of a disturbance that apply, one by one, or those that do not for the same reason.
fn chunks(protocol: &DisturbedProtocol) -> impl Iterator<Item = &[DisturbedRow]> {
    protocol.rows.chunk_by(|one, next| {
        one.disturbance == next.disturbance
            && one.does_not_apply.is_some()
            && one.does_not_apply == next.does_not_apply
    })
}

/// Whether the disturbance has no levels beside those of the chunk.
fn is_whole(protocol: &DisturbedProtocol, chunk: &[DisturbedRow]) -> bool {
    let is_same =
        |row: &&DisturbedRow| chunk.first().is_some_and(|first| first.disturbance == row.disturbance);
    protocol.rows.iter().filter(is_same).count() == chunk.len()
}

/// The levels of a chunk; `all` of several if there are no others.
fn levels(protocol: &DisturbedProtocol, chunk: &[DisturbedRow]) -> String {
    match chunk {
        [_, _, ..] if is_whole(protocol, chunk) => "all".to_owned(),
        _ => chunk.iter().map(|row| row.level.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// A line for each disturbance that does not apply at some levels.
fn without_effect(protocol: &DisturbedProtocol) -> String {
    let line = |chunk: &[DisturbedRow]| {
        let first = chunk.first()?;
        let reason = first.does_not_apply.as_ref()?;
        let levels = match is_whole(protocol, chunk) {
            true => String::new(),
            false => format!(" of {}", levels(protocol, chunk)),
        };
        Some(format!("{}{levels} does not apply: {reason}\n", first.disturbance))
    };
    chunks(protocol).filter_map(line).collect()
}

fn rows(protocol: &DisturbedProtocol) -> Table {
    let mut headings = vec!["protocol".to_owned(), "disturbance".to_owned(), "level".to_owned()];
    for Tornado { heading, unit, .. } in &TORNADOES {
        headings.extend([format!("{heading}\n{unit}"), format!("change of\n{heading}")]);
    }
    headings.push("does not apply".to_owned());
    let mut rows = table(&headings.iter().map(String::as_str).collect::<Vec<_>>())
        .only_in_csv(&["protocol", "does not apply"]);
    let undisturbed =
        |tornado: &Tornado| [cell(tornado, (tornado.value)(&protocol.undisturbed)), Cell::absent()];
    let first = [protocol.protocol.as_str(), "none", "-"].map(Cell::from).into_iter();
    rows.add_row(first.chain(TORNADOES.iter().flat_map(undisturbed)).chain([Cell::absent()]));
    for chunk in chunks(protocol) {
        let Some(row) = chunk.first() else { continue };
        let cells = TORNADOES.iter().flat_map(|tornado| match (&row.values, &row.changes) {
            (Some(values), Some(changes)) => {
                [cell(tornado, (tornado.value)(values)), change(tornado, (tornado.value)(changes))]
            }
            _ => [Cell::absent(), Cell::absent()],
        });
        let names = [protocol.protocol.as_str(), &row.disturbance, &levels(protocol, chunk)]
            .map(Cell::from)
            .into_iter();
        let reason = Cell::from(row.does_not_apply.as_deref().unwrap_or("-"));
        rows.add_row(names.chain(cells).chain([reason]));
    }
    rows
}

fn cell(tornado: &Tornado, value: Option<Estimate>) -> Cell {
    value.map_or_else(Cell::absent, |value| shown(tornado, value, |x| (tornado.show)(x)))
}

fn change(tornado: &Tornado, value: Option<Estimate>) -> Cell {
    value.map_or_else(Cell::absent, |value| shown(tornado, value, |x| signed(tornado, x)))
}

fn shown(tornado: &Tornado, value: Estimate, show: impl Fn(f64) -> String) -> Cell {
    let Estimate { mean, half_width } = value.scaled(tornado.scale);
    Cell::estimate(mean, half_width, show)
}

/// A number with its sign.
fn signed(tornado: &Tornado, x: f64) -> String {
    let text = (tornado.show)(x.abs());
    if x < 0.0 { format!("-{text}") } else { format!("+{text}") }
}

/// A chart for each indicator that the protocol has.
fn charts(protocol: &DisturbedProtocol) -> String {
    let charts = TORNADOES.iter().filter_map(|tornado| chart(protocol, tornado));
    charts.collect::<Vec<_>>().join("\n") + "\n"
}

fn chart(protocol: &DisturbedProtocol, tornado: &Tornado) -> Option<String> {
    let undisturbed = (tornado.value)(&protocol.undisturbed)?.mean * tornado.scale;
    let bars = tornado.bars(protocol);
    let widest = bars.iter().map(TornadoBar::reach).fold(0.0, f64::max);
    let mut lines = format!(
        "{}: {}, {}; undisturbed {}\n",
        protocol.protocol,
        tornado.heading,
        tornado.unit,
        (tornado.show)(undisturbed)
    );
    for TornadoBar { name, low, high } in &bars {
        let length =
            |reach: f64| if widest > 0.0 { (reach / widest * BAR as f64).round() as usize } else { 0 };
        let (left, right) = ("█".repeat(length(-low)), "█".repeat(length(*high)));
        let ends = [*low, *high].map(|end| if end == 0.0 { String::new() } else { signed(tornado, end) });
        let line = format!("  {name:<14} {:>8} {left:>BAR$}│{right:<BAR$} {}", ends[0], ends[1]);
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    Some(lines)
}
