//! The same answer for programs. Keys carry their units.

use super::{Explanation, Floor, Growth, Of, Peak, Swing};
use millpond_fluid::stability::{Crossing, NoiseKind};
use serde_json::{Map, Value, json};

/// Why a run does what it does.
#[must_use]
pub fn explanation_json(sentence: &str, explained: &Explanation) -> Value {
    let (model, stretch) = (&explained.model, &explained.stretch);
    let margin = |crossing: Option<Crossing>| {
        crossing
            .map(|crossing| json!({ "margin": crossing.margin, "frequency_rad_per_s": crossing.frequency }))
    };
    let root = model.root();
    let points = explained
        .points
        .iter()
        .map(|row| json!({ "of": row.name, "unit": row.unit, "model": row.model, "series": row.series }));
    json!({
        "verdict": sentence,
        "finding": explained.verdict.finding.name(),
        "candidates": explained.verdict.candidates,
        "run": explained.run,
        "world": explained.world,
        "stretch": {
            "from_s": stretch.from, "to_s": stretch.to, "begins": stretch.begins, "ends": stretch.ends,
            "interval_s": explained.interval,
        },
        "model": {
            "stable": model.is_stable(),
            "loop_gain": model.gain.map(|gain| json!({ "gain": gain.gain, "frequency_rad_per_s": gain.frequency })),
            "gain_margin": margin(model.stability.margins.gain),
            "phase_margin_rad": margin(model.stability.margins.phase),
            "delay_margin_s": margin(model.stability.margins.delay),
            "rightmost_root": root.map(|root| json!({ "growth_per_s": root.s.re, "frequency_rad_per_s": root.s.im })),
            "growth_per_cycle": model.growth_per_cycle(),
        },
        "operating_point": points.collect::<Vec<_>>(),
        "swings": explained.swings.iter().map(swing).collect::<Vec<_>>(),
    })
}

fn swing(swing: &Swing) -> Value {
    let unit = if swing.of == Of::Queue { "packets" } else { "bit/s" };
    json!({
        "of": swing.name,
        "unit": unit,
        "mean": swing.mean,
        "deviation": swing.deviation,
        "peak_to_peak": swing.peak_to_peak,
        "peak": swing.peak.as_ref().map(peak),
        "noise_floor": floor(&swing.floor),
    })
}

fn peak(peak: &Peak) -> Value {
    let growth =
        |growth: Growth| json!({ "per_cycle": growth.per_cycle, "standard_error_of_ln": growth.error });
    json!({
        "frequency_hz": peak.frequency,
        "amplitude": peak.amplitude,
        "share_of_variance": peak.share,
        "chance_in_a_flat_spectrum": peak.chance,
        "growth": peak.growth.map(growth),
    })
}

fn floor(floor: &Floor) -> Value {
    let mut causes = Map::new();
    for (cause, deviation) in &floor.causes {
        let name = match cause {
            NoiseKind::Marks => "marks",
            NoiseKind::Losses => "losses",
            NoiseKind::Windows => "whole_packets_in_windows",
        };
        causes.insert(name.to_owned(), json!(deviation));
    }
    json!({ "deviation": floor.total(), "counting": floor.grain, "causes": causes })
}
