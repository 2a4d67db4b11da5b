//! Statistics of a link trace.

use millpond_scenario::trace::{Stats, Trace};
use millpond_tables::{Cell, Document, text_table};
use millpond_units::format::{fixed, megabits};
use millpond_units::{Rate, Span};

/// The mean and the highest rate of a trace.
pub fn trace_rates(trace: &Trace) -> String {
    let peak = trace.steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default();
    let [mean, peak] = [trace.mean(), peak].map(|rate| megabits(rate.as_f64()));
    format!("mean {mean} Mbit/s, peak {peak} Mbit/s")
}

/// A value in this form; a dash without one.
fn cell(value: Option<f64>, form: impl Fn(f64) -> Cell) -> Cell {
    value.map_or_else(Cell::absent, form)
}

/// One row per statistic. In CSV the numbers have all digits.
pub fn trace(stats: &Stats) -> Document {
    let mut rows = text_table(&["statistic", "value"]);
    let mut add = |name: String, value: Cell| rows.add_row([Cell::from(name), value]);
    let fine = stats.fine;
    // With samples a second apart, the finest bins are those of a second.
    let coarse = usize::from(fine == Span::from_millis(1000));
    let bins = [fine.to_string(), "1 s".to_owned(), "10 s".to_owned()];
    let bins = || bins.iter().enumerate().skip(coarse);
    let optional = |value: Option<f64>| value.map_or_else(|| "not within the trace".into(), Cell::number);
    add("duration, s".into(), Cell::number(stats.duration.secs()));
    for (name, rate) in [
        ("mean rate", Some(stats.mean)),
        ("least mean of a second", stats.min),
        ("greatest mean of a second", stats.max),
    ] {
        add(format!("{name}, Mbit/s"), cell(rate.map(Rate::as_f64), Cell::megabits));
    }
    for (index, bin) in bins() {
        add(format!("s.d. / mean in bins of {bin}"), cell(stats.variation[index], Cell::number));
    }
    let correlation = |value| Cell::shown(value, fixed(value, 2));
    for (index, bin) in bins() {
        add(format!("autocorrelation at {bin}"), cell(stats.autocorrelation[index], correlation));
    }
    for ((_, bin), decay) in bins().zip(stats.decay.iter().skip(coarse)) {
        add(format!("time until it falls below 1/e, s, in bins of {bin}"), optional(*decay));
    }
    for (name, share) in [
        (format!("bins of {fine} below 5 % of the mean"), stats.near_zero),
        ("seconds with at least twice the rate of the one before".into(), stats.doubling),
        ("seconds with at most half the rate of the one before".into(), stats.halving),
    ] {
        add(name, cell(share, Cell::percent));
    }
    add("s.d. of ln(mean of a second / mean of the one before)".into(), cell(stats.jump, Cell::number));
    let dropouts = &stats.dropouts;
    for (name, value) in [
        ("dropouts per minute", Some(dropouts.per_minute)),
        ("length of dropouts, s: median", dropouts.median),
        ("length of dropouts, s: p90", dropouts.p90),
        ("length of dropouts, s: longest", dropouts.longest),
        ("dropouts of a second or more per minute", Some(dropouts.long_per_minute)),
        ("mean length of these dropouts, s", dropouts.long_mean),
    ] {
        add(name.into(), cell(value, Cell::number));
    }
    if let Some(packets) = &stats.packets {
        add("milliseconds with a delivery opportunity".into(), Cell::percent(packets.busy));
        for (bin, value) in ["1 ms", "10 ms", "100 ms"].iter().zip(packets.dispersion) {
            add(format!("variance / mean of the opportunities in {bin}"), cell(value, Cell::number));
        }
    }
    Document::default().table(rows)
}
