//! Tables about why a run oscillates.

use millpond_diagnosis::explain::{Explanation, LinearModel, format_fluctuation, format_time};
use millpond_fluid::stability::Crossing;
use millpond_tables::{Cell, Document, Table, table};
use millpond_units::format::{duration, number, percent};
use std::f64::consts::PI;

/// The interval of the run, its operating point, its loop and its series, each by the model and as measured.
pub fn explanation(explained: &Explanation) -> Document {
    let capacities: String = explained.capacities.iter().map(|capacity| format!("{capacity}\n")).collect();
    let mechanism = match &explained.model {
        Some(model) => loops(explained, model),
        None => periods(explained),
    };
    let headline = format!(
        "{}, a sample every {}, {}\n{capacities}",
        explained.interval,
        format_time(explained.sample_interval),
        explained.world
    );
    Document::default()
        .text(headline)
        .table(points(explained))
        .table(mechanism)
        .table(fluctuations(explained))
}

fn points(explained: &Explanation) -> Table {
    let mut points = table(&["operating point", "unit", "model", "series"]);
    for row in &explained.operating_point {
        let series = row.series.map_or_else(Cell::absent, Cell::number);
        points.add_row([row.name.as_str().into(), row.unit.into(), Cell::number(row.model), series]);
    }
    points
}

/// The predicted period of each class of flows, and the measured one.
fn periods(explained: &Explanation) -> Table {
    let mut rows = table(&["period", "seconds"]);
    if let Some(oscillation) = explained.steady_state.oscillation() {
        for period in &oscillation.periods {
            let name = format!("{}, closed form", period.flow);
            rows.add_row([name.into(), Cell::number(period.seconds)]);
        }
        if let Some(seconds) = oscillation.fluid_period {
            rows.add_row(["fluid equations".into(), Cell::number(seconds)]);
        }
    }
    let measured = explained.measured_period.map_or_else(Cell::absent, Cell::number);
    rows.add_row(["in this run, mean over all flows".into(), measured]);
    let peak = explained.verdict.clearest.and_then(|index| explained.fluctuations[index].peak);
    let spectral = peak.map_or_else(Cell::absent, |peak| Cell::number(1.0 / peak.frequency));
    rows.add_row(["fundamental of its spectrum".into(), spectral]);
    rows
}

fn loops(explained: &Explanation, model: &LinearModel) -> Table {
    let fluctuations = &explained.fluctuations;
    let peak = explained.verdict.clearest.and_then(|index| fluctuations[index].peak);
    let mut rows = table(&["loop", "model", "series"]);
    let mut row = |name: &str, model: Option<String>, series: Option<String>| {
        let dash = || "-".to_owned();
        rows.add_row([name.to_owned(), model.unwrap_or_else(dash), series.unwrap_or_else(dash)]);
    };
    row(
        "loop gain at the phase crossover (stable below 1)",
        model.loop_gain.map(|gain| number(gain.gain)),
        None,
    );
    row("phase crossover, Hz", model.loop_gain.map(|gain| number(gain.frequency / (2.0 * PI))), None);
    let margins = &model.stability.margins;
    let margin = |crossing: Option<Crossing>, show: &dyn Fn(f64) -> String| {
        let shown = crossing.map_or_else(|| "none".to_owned(), |crossing| show(crossing.margin));
        model.is_stable().then_some(shown)
    };
    row("gain margin", margin(margins.gain, &|factor| format!("x{}", number(factor))), None);
    row("phase margin", margin(margins.phase, &|angle| format!("{:.2}°", angle.to_degrees())), None);
    row("delay margin", margin(margins.delay, &duration), None);
    row("frequency, Hz", model.frequency().map(number), peak.map(|peak| number(peak.frequency)));
    let growth = peak.and_then(|peak| peak.growth);
    let growth =
        growth.map(|growth| format!("x{} ±{}", number(growth.per_cycle), percent(growth.log_standard_error)));
    row("growth per cycle", model.growth_per_cycle().map(|factor| format!("x{}", number(factor))), growth);
    let share = peak.map(|peak| percent(peak.variance_share));
    row("share of the variance at this frequency", None, share);
    let chance = peak.map(|peak| {
        if peak.is_significant() { "< 0.1 %".to_owned() } else { percent(peak.false_alarm_probability) }
    });
    row("probability of such a peak in white noise", None, chance);
    rows
}

fn fluctuations(explained: &Explanation) -> Table {
    let mut rows = table(&["series", "mean", "predicted s.d.", "measured s.d.", "amplitude", "peak to peak"]);
    for found in &explained.fluctuations {
        let mean = if found.is_queue() {
            number(found.mean)
        } else {
            format!("{} Mbit/s", number(found.mean / 1e6))
        };
        let predicted = match found.noise_floor.total_deviation() {
            _ if explained.model.as_ref().is_some_and(|model| !model.is_stable()) => "unstable".to_owned(),
            0.0 => "-".to_owned(),
            deviation => format_fluctuation(found, deviation),
        };
        let amplitude =
            found.peak.map_or_else(|| "-".to_owned(), |peak| format_fluctuation(found, peak.amplitude));
        let [deviation, range] =
            [found.deviation, found.peak_to_peak].map(|value| format_fluctuation(found, value));
        rows.add_row([found.name.clone(), mean, predicted, deviation, amplitude, range]);
    }
    rows
}
