//! The same answers for programs. Keys carry their units.

use super::{Boundary, Map, Search, Stability};
use millpond_fluid::stability::Crossing;
use serde_json::{Value, json};

/// Whether it stays there.
#[must_use]
pub fn stability_json(
    sentence: &str,
    stability: &Stability,
    searches: &[Search],
    map: Option<&Map>,
) -> Value {
    let root = |root: &millpond_fluid::stability::Root| json!({ "growth_per_s": root.s.re, "frequency_rad_per_s": root.s.im, "multiplicity": root.multiplicity });
    let margin = |crossing: Option<Crossing>| {
        crossing
            .map(|crossing| json!({ "margin": crossing.margin, "frequency_rad_per_s": crossing.frequency }))
    };
    let boundary = |boundary: &Boundary| {
        json!({
            "of": boundary.knob.name(),
            "now": boundary.now,
            "critical": boundary.value,
            "stable_below": boundary.stable_below,
        })
    };
    let followed =
        |search: &Search| json!({ "of": search.knob.name(), "from": search.range.0, "to": search.range.1 });
    json!({
        "verdict": sentence,
        "stable": stability.is_calm() && stability.marginal.is_none(),
        "marginal": stability.marginal,
        "roots": stability.spectrum.roots.iter().map(root).collect::<Vec<_>>(),
        "no_other_root_right_of_per_s": stability.spectrum.complete_to,
        "gain_margin": margin(stability.margins.gain),
        "phase_margin_rad": margin(stability.margins.phase),
        "delay_margin_s": margin(stability.margins.delay),
        "gain_must_fall_to": stability.gain_to_calm,
        "delays_must_fall_to": stability.delay_to_calm,
        "boundaries": searches.iter().flat_map(|search| &search.found).map(boundary).collect::<Vec<_>>(),
        "followed": searches.iter().map(followed).collect::<Vec<_>>(),
        "map": map.map(|map| json!({
            "across": map.across.knob.name(),
            "across_values": map.across.values,
            "up": map.up.knob.name(),
            "up_values": map.up.values,
            "growth_per_s": map.growth,
        })),
    })
}
