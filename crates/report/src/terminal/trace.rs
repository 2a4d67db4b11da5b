//! Statistics of a link trace.

use millpond_scenario::trace::{Stats, Trace};
use millpond_tables::{Document, text_table};
use millpond_units::Span;
use millpond_units::format::{megabits, number, percent};

/// The mean and the highest rate of a trace.
pub fn trace_rates(trace: &Trace) -> String {
    let peak = trace.steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default();
    let [mean, peak] = [trace.mean(), peak].map(|rate| megabits(rate.as_f64()));
    format!("mean {mean} Mbit/s, peak {peak} Mbit/s")
}

/// One row per statistic.
pub fn trace(stats: &Stats) -> Document {
    let mut rows = text_table(&["statistic", "value"]);
    let fine = stats.fine;
    // With samples a second apart, the finest bins are those of a second.
    let coarse = usize::from(fine == Span::from_millis(1000));
    let bins = if coarse == 0 { format!("{fine}, 1 s, 10 s") } else { "1 s, 10 s".to_owned() };
    let optional = |value: Option<f64>| value.map_or_else(|| "not within the trace".to_owned(), number);
    rows.add_row(["duration".to_owned(), stats.duration.to_string()]);
    let [mean, least, greatest] = [stats.mean, stats.min, stats.max].map(|rate| megabits(rate.as_f64()));
    rows.add_row(["mean rate, Mbit/s".to_owned(), mean]);
    rows.add_row(["least and greatest mean of a second, Mbit/s".to_owned(), format!("{least}, {greatest}")]);
    rows.add_row([
        format!("s.d. / mean in bins of {bins}"),
        stats.variation[coarse..].iter().map(|cv| number(*cv)).collect::<Vec<_>>().join(", "),
    ]);
    rows.add_row([
        format!("autocorrelation at {bins}"),
        stats.autocorrelation[coarse..].iter().map(|r| format!("{r:.2}")).collect::<Vec<_>>().join(", "),
    ]);
    rows.add_row([format!("time until it falls below 1/e, s, in bins of {fine}"), optional(stats.decay[0])]);
    if coarse == 0 {
        rows.add_row(["the same in bins of 1 s".to_owned(), optional(stats.decay[1])]);
    }
    rows.add_row([format!("bins of {fine} below 5 % of the mean"), percent(stats.near_zero)]);
    rows.add_row(["s.d. of ln(mean of a second / mean of the one before)".to_owned(), number(stats.jump)]);
    rows.add_row([
        "seconds with at least twice the rate of the one before".to_owned(),
        percent(stats.doubling),
    ]);
    rows.add_row(["seconds with at most half the rate of the one before".to_owned(), percent(stats.halving)]);
    let dropouts = &stats.dropouts;
    rows.add_row(["dropouts per minute".to_owned(), number(dropouts.per_minute)]);
    let lengths = [dropouts.median, dropouts.p90, dropouts.longest].map(number).join(", ");
    rows.add_row(["length of dropouts, s: median, p90, longest".to_owned(), lengths]);
    rows.add_row(["dropouts of a second or more per minute".to_owned(), number(dropouts.long_per_minute)]);
    rows.add_row(["mean length of these dropouts, s".to_owned(), number(dropouts.long_mean)]);
    if let Some(packets) = &stats.packets {
        rows.add_row(["milliseconds with a delivery opportunity".to_owned(), percent(packets.busy)]);
        let dispersion = packets.dispersion.map(number).join(", ");
        rows.add_row(["variance / mean of the opportunities in 1, 10, 100 ms".to_owned(), dispersion]);
    }
    Document::default().table(rows)
}
