//! What a link trace is like.

use super::write::table;
use comfy_table::CellAlignment;
use millpond_scenario::trace::{Stats, Trace};
use millpond_units::Span;
use millpond_units::format::{megabits, number, percent};

/// Its mean and its highest rate, in a few words.
pub fn rates_of(trace: &Trace) -> String {
    let peak = trace.steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default();
    let [mean, peak] = [trace.mean(), peak].map(|rate| megabits(rate.as_f64()));
    format!("mean {mean} Mbps, peak {peak} Mbps")
}

/// Two columns: what, and how much.
pub fn trace(stats: &Stats) -> String {
    let mut rows = table(&["of the trace", ""]);
    let fine = stats.fine;
    // Where samples are a second apart, their own bins are those of a second.
    let coarse = usize::from(fine == Span::from_millis(1000));
    let bins = if coarse == 0 { format!("{fine}, 1 s, 10 s") } else { "1 s, 10 s".to_owned() };
    let optional = |value: Option<f64>| value.map_or_else(|| "not within the trace".to_owned(), number);
    rows.add_row(["duration".to_owned(), stats.duration.to_string()]);
    let [mean, least, greatest] = [stats.mean, stats.min, stats.max].map(|rate| megabits(rate.as_f64()));
    rows.add_row(["mean rate in Mbps".to_owned(), mean]);
    rows.add_row(["least, greatest mean of a second in Mbps".to_owned(), format!("{least}, {greatest}")]);
    rows.add_row([
        format!("s.d. / mean in bins of {bins}"),
        stats.variation[coarse..].iter().map(|cv| number(*cv)).collect::<Vec<_>>().join(", "),
    ]);
    rows.add_row([
        format!("autocorrelation at {bins}"),
        stats.autocorrelation[coarse..].iter().map(|r| format!("{r:.2}")).collect::<Vec<_>>().join(", "),
    ]);
    rows.add_row([format!("it falls below 1/e after s, in bins of {fine}"), optional(stats.decay[0])]);
    if coarse == 0 {
        rows.add_row(["the same in bins of 1 s".to_owned(), optional(stats.decay[1])]);
    }
    rows.add_row([format!("bins of {fine} below 5 % of the mean"), percent(stats.near_zero)]);
    rows.add_row(["s.d. of ln(next second / this one)".to_owned(), number(stats.jump)]);
    rows.add_row(["seconds that at least double".to_owned(), percent(stats.doubling)]);
    rows.add_row(["seconds that at least halve".to_owned(), percent(stats.halving)]);
    let dropouts = &stats.dropouts;
    rows.add_row(["dropouts per minute".to_owned(), number(dropouts.per_minute)]);
    let lengths = [dropouts.median, dropouts.p90, dropouts.longest].map(number).join(", ");
    rows.add_row(["their length in s: median, p90, longest".to_owned(), lengths]);
    rows.add_row(["dropouts of a second or more per minute".to_owned(), number(dropouts.long_per_minute)]);
    rows.add_row(["their mean length in s".to_owned(), number(dropouts.long_mean)]);
    if let Some(packets) = &stats.packets {
        rows.add_row(["milliseconds with a delivery opportunity".to_owned(), percent(packets.busy)]);
        let dispersion = packets.dispersion.map(number).join(", ");
        rows.add_row(["variance / mean of their number in 1, 10, 100 ms".to_owned(), dispersion]);
    }
    for column in rows.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Left);
    }
    format!("{rows}\n")
}
