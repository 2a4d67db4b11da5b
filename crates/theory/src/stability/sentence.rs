//! The verdict on stability in one sentence.

use super::{Boundary, Search, Stability};
use millpond_units::format::{duration, number};
use std::f64::consts::PI;

/// The verdict in one sentence.
pub fn verdict(stability: &Stability, searches: &[Search]) -> String {
    let calm = stability.is_calm();
    let found: Vec<String> =
        searches.iter().flat_map(|search| &search.found).map(|boundary| side(boundary, calm)).collect();
    let nowhere: Vec<String> = searches.iter().filter(|search| search.found.is_empty()).map(range).collect();
    let head = match (&stability.marginal, calm) {
        (None, true) => "stable".to_owned(),
        (Some(why), true) => {
            format!("marginal: one disturbance neither grows nor dies out, since {why}; all others die out")
        }
        (_, false) => format!("unstable: {}", growth(stability)),
    };
    let (there, none) = if calm { ("oscillates", "no boundary") } else { ("stable", "unstable all the way") };
    let found = (!found.is_empty()).then(|| format!("; {there} {}", found.join(", and ")));
    let nowhere = (!nowhere.is_empty()).then(|| format!("; {none} {}", nowhere.join(" or ")));
    format!("{head}{}{}", found.unwrap_or_default(), nowhere.unwrap_or_default())
}

/// Where the other verdict begins.
fn side(boundary: &Boundary, calm: bool) -> String {
    let side = if boundary.stable_below == calm { "above" } else { "below" };
    let (name, value) = (boundary.knob.name(), boundary.knob.show(boundary.value));
    format!("{side} {name} {value} (now {})", boundary.knob.show(boundary.now))
}

fn range(search: &Search) -> String {
    let Search { knob, now, range: (low, high), .. } = search;
    format!("between {} {} and {} (now {})", knob.name(), knob.show(*low), knob.show(*high), knob.show(*now))
}

fn growth(stability: &Stability) -> String {
    let Some(root) = stability.spectrum.first_nonzero() else { return "no root found".to_owned() };
    match root.growth_per_cycle() {
        Some(factor) => {
            format!("oscillates every {}, x{} per cycle", duration(2.0 * PI / root.s.im), number(factor))
        }
        None => format!("drifts away, x e in {}", duration(1.0 / root.s.re)),
    }
}
