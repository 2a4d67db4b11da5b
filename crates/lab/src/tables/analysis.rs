//! Where a scenario settles, and whether it stays there.

use super::write::{megabits, number, percent, table};
use crate::analysis::{Boundary, Map, Settled, Stability};
use millpond_fluid::Entity;
use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::stability::Crossing;
use std::f64::consts::PI;

/// Flows, links, and what is known of other equilibria.
pub fn equilibrium(settled: &Settled<'_>) -> String {
    let closed = settled.closed.as_ref();
    let kind = closed.map_or("-", |closed| closed.kind);
    let mut flows = table(&["flow", "flows", "rate Mbps each", kind, "RTT ms"]);
    for (index, l) in settled.plan.loops.iter().enumerate() {
        let value = |quantity| settled.value(Entity::Loop(index), quantity).unwrap_or(f64::NAN);
        flows.add_row([
            l.name.clone(),
            l.count.to_string(),
            megabits(value("sending rate")),
            closed.map_or_else(|| "-".to_owned(), |closed| megabits(closed.equilibrium.rates[index])),
            number(value("round-trip time") * 1e3),
        ]);
    }
    let mut links = table(&["link", "load", "queue ms", "marked", "lost", "says", "bottleneck"]);
    for (index, link) in settled.plan.links.iter().enumerate() {
        let Some(id) = link.id else { continue };
        let value = |quantity| settled.value(Entity::Link(id.0), quantity).unwrap_or(f64::NAN);
        let full = value("arriving rate") / settled.frozen.capacity(id.0);
        let bottleneck = closed.is_none_or(|closed| closed.equilibrium.bottlenecks.contains(&index));
        links.add_row([
            link.entity.clone(),
            percent(full),
            number(value("queueing delay") * 1e3),
            number(value("marking probability")),
            number(value("loss probability")),
            says(settled, id.0),
            if !bottleneck {
                ""
            } else if closed.is_some() {
                "yes"
            } else {
                "-"
            }
            .to_owned(),
        ]);
    }
    format!("{}{flows}\n{links}\n", headline(settled))
}

/// Everything that a link's laws say, by name.
fn says(settled: &Settled<'_>, link: usize) -> String {
    const ENGINE: [&str; 7] = [
        "queueing delay",
        "queueing delay slope",
        "marking probability",
        "loss probability",
        "departing over arriving",
        "arriving rate",
        "departing rate",
    ];
    let columns = settled.plan.assembly.channel_columns();
    let named = columns.iter().zip(&settled.moment.channels);
    let own = named.filter(|(c, _)| c.entity == Entity::Link(link) && !ENGINE.contains(&c.quantity));
    let show = |value: f64, unit: &str| match unit {
        "bit/s" => format!("{} Mbps", megabits(value)),
        "1" => number(value),
        unit => format!("{} {unit}", number(value)),
    };
    own.map(|(c, value)| format!("{} {}", c.quantity, show(*value, c.unit))).collect::<Vec<_>>().join(", ")
}

fn headline(settled: &Settled<'_>) -> String {
    let Some(closed) = &settled.closed else {
        return "settles; found as the point of rest of the equations (no closed form)\n".to_owned();
    };
    let gap = closed.equilibrium.certificate.worst();
    let apart = settled.plan.loops.iter().enumerate().map(|(index, _)| {
        let found = settled.value(Entity::Loop(index), "sending rate").unwrap_or(f64::NAN);
        let expected = closed.equilibrium.rates[index];
        if expected > 0.0 { (found / expected - 1.0).abs() } else { 0.0 }
    });
    let apart = apart.fold(0.0, f64::max);
    let unique = match &closed.equilibrium.uniqueness {
        Uniqueness::Unique => "unique".to_owned(),
        Uniqueness::Prices { rank, bottlenecks, links } => {
            let names: Vec<&str> =
                links.iter().map(|link| settled.plan.links[*link].entity.as_str()).collect();
            format!(
                "bottlenecks not of full rank ({rank} of {bottlenecks}): rates are unique, prices of {} are not",
                names.join(", ")
            )
        }
    };
    format!(
        "settles at a {} allocation; {unique}; optimality gap {gap:.1e}; the equations rest within {} of it\n",
        closed.kind,
        percent(apart)
    )
}

/// The verdict in one sentence.
pub fn verdict(stability: &Stability, boundaries: &[Boundary]) -> String {
    let stable = stability.spectrum.is_stable();
    let word = |boundary: &Boundary| {
        let side = if boundary.stable_below { "above" } else { "below" };
        let (name, value) = (boundary.knob.name(), boundary.knob.show(boundary.value));
        format!("{side} {name} {value} (now {})", boundary.knob.show(boundary.now))
    };
    let relevant = boundaries.iter().map(word).collect::<Vec<_>>().join(", and ");
    match (stable, relevant.is_empty()) {
        (true, true) => "stable".to_owned(),
        (true, false) => format!("stable; oscillates {relevant}"),
        (false, true) => format!("unstable: {}", growth(stability)),
        (false, false) => {
            let calm: Vec<String> = boundaries
                .iter()
                .map(|boundary| {
                    let side = if boundary.stable_below { "below" } else { "above" };
                    let (name, value) = (boundary.knob.name(), boundary.knob.show(boundary.value));
                    format!("{side} {name} {value} (now {})", boundary.knob.show(boundary.now))
                })
                .collect();
            format!("unstable: {}; stable {}", growth(stability), calm.join(", and "))
        }
    }
}

fn growth(stability: &Stability) -> String {
    let Some(root) = stability.spectrum.roots.first() else { return "no root found".to_owned() };
    match root.growth_per_cycle() {
        Some(factor) => {
            format!("oscillates every {} s, x{} per cycle", number(2.0 * PI / root.s.im), number(factor))
        }
        None if root.s.re.abs() < 1e-9 => "a disturbance neither grows nor dies out".to_owned(),
        None => format!("drifts away, x e in {} s", number(1.0 / root.s.re)),
    }
}

/// The roots and the margins.
pub fn stability(stability: &Stability) -> String {
    let mut roots = table(&["root", "1/s", "rad/s", "period s", "per cycle"]);
    for (index, root) in stability.spectrum.roots.iter().take(6).enumerate() {
        let period = if root.s.im > 0.0 { number(2.0 * PI / root.s.im) } else { "-".to_owned() };
        let factor =
            root.growth_per_cycle().map_or_else(|| "-".to_owned(), |factor| format!("x{}", number(factor)));
        let (re, im) = (format!("{:.4}", root.s.re), format!("{:.4}", root.s.im));
        roots.add_row([(index + 1).to_string(), re, im, period, factor]);
    }
    let mut margins = table(&["margin", "", "at rad/s"]);
    let mut row = |name: &str, crossing: Option<Crossing>, show: &dyn Fn(f64) -> String| {
        let shown = crossing.map_or_else(|| "unlimited".to_owned(), |crossing| show(crossing.margin));
        let at = crossing.map_or_else(|| "-".to_owned(), |crossing| number(crossing.frequency));
        margins.add_row([name.to_owned(), shown, at]);
    };
    if stability.spectrum.is_stable() {
        row("gain, of all loops together", stability.margins.gain, &|factor| format!("x{}", number(factor)));
        row("phase", stability.margins.phase, &|angle| format!("{:.2}°", angle.to_degrees()));
        row("delay, added to every loop", stability.margins.delay, &|delay| format!("{:.1} ms", delay * 1e3));
        return format!("{roots}\n{margins}\n");
    }
    format!("{roots}\n")
}

/// A map in characters, `#` where the network oscillates: its rows from the highest value down.
pub fn map(map: &Map) -> String {
    const CHARACTERS: usize = 60;
    let stride = map.across.values.len().div_ceil(CHARACTERS).max(1);
    let mut lines: Vec<String> = Vec::new();
    let name = |knob: &crate::analysis::Knob, value: f64| knob.show(value);
    for (row, value) in map.growth.iter().zip(&map.up.values).rev().step_by(stride) {
        let cell = |growth: &Option<f64>| match growth {
            Some(growth) if *growth >= 0.0 => '#',
            Some(_) => '.',
            None => ' ',
        };
        let cells: String = row.iter().step_by(stride).map(cell).collect();
        lines.push(format!("{:>12} {cells}\n", name(&map.up.knob, *value)));
    }
    let ends = [map.across.values.first(), map.across.values.last()];
    let [low, high] =
        ends.map(|value| value.map_or_else(String::new, |value| name(&map.across.knob, *value)));
    let (up, across) = (map.up.knob.name(), map.across.knob.name());
    // Rows of so many flows may round to the same number.
    lines.dedup();
    format!(
        "{up} over {across} from {low} to {high}; # oscillates, . settles, blank: no rest found\n{}",
        lines.concat()
    )
}
