//! Why a run swings.

use super::write::table;
use millpond_fluid::stability::Crossing;
use millpond_theory::explain::sentence::{show, time};
use millpond_theory::{Explanation, Of};
use millpond_units::format::{duration, number, percent};
use std::f64::consts::PI;

/// The part of the run, the operating point, the loop, and what moves: model beside series.
pub fn explanation(explained: &Explanation) -> String {
    format!(
        "{}, a sample every {}, {}\n{}\n{}\n{}\n",
        explained.stretch,
        time(explained.interval),
        explained.world,
        points(explained),
        loops(explained),
        swings(explained)
    )
}

fn points(explained: &Explanation) -> comfy_table::Table {
    let mut points = table(&["operating point", "unit", "model", "series"]);
    for row in &explained.points {
        let series = row.series.map_or_else(|| "-".to_owned(), number);
        points.add_row([row.name.clone(), row.unit.to_owned(), number(row.model), series]);
    }
    points
}

fn loops(explained: &Explanation) -> comfy_table::Table {
    let (model, swings) = (&explained.model, &explained.swings);
    let peak = explained.verdict.swing.and_then(|place| swings[place].peak);
    let mut rows = table(&["loop", "model", "series"]);
    let mut row = |name: &str, model: Option<String>, series: Option<String>| {
        let dash = || "-".to_owned();
        rows.add_row([name.to_owned(), model.unwrap_or_else(dash), series.unwrap_or_else(dash)]);
    };
    row("gain where it comes back in phase (limit 1)", model.gain.map(|gain| number(gain.gain)), None);
    row("at Hz", model.gain.map(|gain| number(gain.frequency / (2.0 * PI))), None);
    let margins = &model.stability.margins;
    let margin = |crossing: Option<Crossing>, show: &dyn Fn(f64) -> String| {
        let shown = crossing.map_or_else(|| "unlimited".to_owned(), |crossing| show(crossing.margin));
        Some(if model.is_stable() { shown } else { "none".to_owned() })
    };
    row("gain margin", margin(margins.gain, &|factor| format!("x{}", number(factor))), None);
    row("phase margin", margin(margins.phase, &|angle| format!("{:.2}°", angle.to_degrees())), None);
    row("delay margin", margin(margins.delay, &duration), None);
    row("frequency, Hz", model.frequency().map(number), peak.map(|peak| number(peak.frequency)));
    let growth = peak.and_then(|peak| peak.growth);
    let growth = growth.map(|growth| format!("x{} ±{}", number(growth.per_cycle), percent(growth.error)));
    row("per cycle", model.growth_per_cycle().map(|factor| format!("x{}", number(factor))), growth);
    let sure = peak.map(|peak| format!("{} of the variance", percent(peak.share)));
    row("at this frequency", None, sure);
    let chance = peak.map(|peak| if peak.is_sure() { "< 0.1 %".to_owned() } else { percent(peak.chance) });
    row("chance of such a peak in a flat spectrum", None, chance);
    rows
}

fn swings(explained: &Explanation) -> comfy_table::Table {
    let mut rows = table(&["what moves", "mean", "chance predicts", "s.d.", "amplitude", "peak to peak"]);
    for swing in &explained.swings {
        let mean = if swing.of == Of::Queue {
            number(swing.mean)
        } else {
            format!("{} Mbps", number(swing.mean / 1e6))
        };
        let floor = match swing.floor.total() {
            _ if !explained.model.is_stable() => "no floor".to_owned(),
            0.0 => "-".to_owned(),
            floor => show(swing, floor),
        };
        let amplitude = swing.peak.map_or_else(|| "-".to_owned(), |peak| show(swing, peak.amplitude));
        let (deviation, range) = (show(swing, swing.deviation), show(swing, swing.peak_to_peak));
        rows.add_row([swing.name.clone(), mean, floor, deviation, amplitude, range]);
    }
    rows
}
