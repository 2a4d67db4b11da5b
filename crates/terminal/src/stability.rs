//! Tables of stability: roots, margins, and a map in characters.

use millpond_fluid::stability::{Crossing, Margins, Root};
use millpond_tables::{Cell, Document, Table, table};
use millpond_theory::stability::{
    CriticalValueSearch, FlowChainGain, Stability, StabilityMap, ValueRange, VariedParameter,
};
use millpond_units::format::{duration, frequency, number};
use std::f64::consts::PI;

/// The range over which each parameter was searched, for those for which a boundary was found.
pub fn search_ranges(searches: &[CriticalValueSearch]) -> String {
    let line = |search: &CriticalValueSearch| {
        let CriticalValueSearch { parameter, range: ValueRange { low, high }, .. } = search;
        let [low, high] = [*low, *high].map(|value| parameter.format_value(value));
        format!("{} was searched from {low} to {high}\n", parameter.name())
    };
    searches.iter().filter(|search| !search.found.is_empty()).map(line).collect()
}

/// The rightmost roots, and the margins of a stable network or what makes an unstable one stable.
pub fn stability(stability: &Stability) -> Document {
    let below =
        if stability.disturbances_decay() { margins(&stability.margins) } else { reductions(stability) };
    let differences: String = stability.difference_clauses().map(|clause| clause + "\n").collect();
    Document::default().table(roots(stability)).text(differences).table(below).text(chains(stability))
}

/// The linearization on each side of a threshold; empty if the equilibrium lies on none.
pub fn two_sided(stability: &Stability, searches: &[CriticalValueSearch]) -> Document {
    let Some(two_sided) = &stability.two_sided else { return Document::default() };
    let mut rows = table(&["side of the threshold", "growth, 1/s", "frequency, rad/s", "critical values"]);
    for (index, side) in two_sided.sides.iter().enumerate() {
        let part = |part: fn(&Root) -> f64| {
            side.spectrum.first_nonzero().map_or_else(|| "-".to_owned(), |root| format!("{:.4}", part(root)))
        };
        let of_side = searches.iter().filter_map(|search| search.sides.get(index)).flatten();
        let critical: Vec<String> = of_side
            .map(|found| format!("{} {}", found.parameter.name(), found.parameter.format_value(found.value)))
            .collect();
        rows.add_row([
            two_sided.side_name(side),
            part(|root| root.s.re),
            part(|root| root.s.im),
            if critical.is_empty() { "-".to_owned() } else { critical.join(", ") },
        ]);
    }
    Document::default().table(rows)
}

/// A line for each chain of loops.
fn chains(stability: &Stability) -> String {
    let line = |found: &FlowChainGain| {
        let hop = found.greatest_hop()?;
        let relays = found.chain.hops.len();
        Some(format!(
            "chain of {}: oscillations grow x{} per relay at {} Hz towards the source, x{} over {relays} {} at {} Hz\n",
            found.flow,
            number(hop.gain),
            number(hop.frequency),
            number(found.chain.gain),
            if relays == 1 { "relay" } else { "relays" },
            number(found.chain.frequency)
        ))
    };
    stability.chains.iter().filter_map(line).collect()
}

fn roots(stability: &Stability) -> Table {
    const MOST: usize = 6;
    let mut roots = table(&["root", "growth, 1/s", "frequency, rad/s", "period, s", "growth per cycle"]);
    for (index, root) in stability.spectrum.roots.iter().take(MOST).enumerate() {
        let is_zero = stability.spectrum.is_zero(root);
        let cycle = root.growth_per_cycle().filter(|_| !is_zero && root.s.im > 1e-6 * root.s.re.abs());
        let period = cycle.map_or_else(Cell::absent, |_| Cell::number(2.0 * PI / root.s.im));
        let per_cycle = cycle.map_or_else(Cell::absent, factor);
        let part = |value: f64| match is_zero {
            true => Cell::shown(0.0, "0".to_owned()),
            false => Cell::shown(value, format!("{value:.4}")),
        };
        let (re, im) = (part(root.s.re), part(root.s.im));
        let number = match root.multiplicity {
            times if is_zero && times > 1 => format!("{} ({times} times)", index + 1),
            _ => (index + 1).to_string(),
        };
        roots.add_row([number.into(), re, im, period, per_cycle]);
    }
    roots
}

/// A factor, with a multiplication sign for a person.
fn factor(value: f64) -> Cell {
    Cell::shown(value, format!("x{}", number(value)))
}

fn margins(margins: &Margins) -> Table {
    let Margins { gain, phase, delay } = *margins;
    let mut rows = table(&["margin", "value", "unit", "at rad/s"]).only_in_csv(&["unit"]);
    let mut row =
        |[name, unit]: [&str; 2], crossing: Option<Crossing>, unlimited: &str, show: &dyn Fn(f64) -> Cell| {
            let shown = crossing.map_or_else(|| unlimited.into(), |crossing| show(crossing.margin));
            let at = crossing
                .map_or_else(Cell::absent, |Crossing { frequency: at, .. }| Cell::shown(at, frequency(at)));
            rows.add_row([name.into(), shown, unit.into(), at]);
        };
    let no_crossover = "none: the gain is below one at all frequencies";
    let no_reversal = "none: no locus crosses the negative real axis";
    let degrees = |angle: f64| Cell::shown(angle.to_degrees(), format!("{:.2}°", angle.to_degrees()));
    row(["gain of all loops", "1"], gain, no_reversal, &factor);
    row(["phase", "degrees"], phase, no_crossover, &degrees);
    row(["delay added to every loop", "s"], delay, no_crossover, &|delay| {
        Cell::shown(delay, duration(delay))
    });
    rows
}

fn reductions(stability: &Stability) -> Table {
    let shown = |found: Option<f64>| found.map_or_else(|| "none was found".into(), factor);
    let mut rows = table(&["reduction for stability", "factor"]);
    rows.add_row(["gain of all loops".into(), shown(stability.stabilizing_gain)]);
    rows.add_row(["all delays".into(), shown(stability.stabilizing_delay)]);
    rows
}

/// A map in characters, `#` where the network oscillates; the highest value is in the first row.
pub fn stability_map(map: &StabilityMap) -> String {
    const CHARACTERS: usize = 60;
    let stride = map.horizontal.values.len().div_ceil(CHARACTERS).max(1);
    let mut lines: Vec<String> = Vec::new();
    for (row, value) in map.growth_rates.iter().zip(&map.vertical.values).rev().step_by(stride) {
        let cell = |growth: &Option<f64>| match growth {
            Some(growth) if *growth >= 0.0 => '#',
            Some(_) => '.',
            None => ' ',
        };
        let cells: String = row.iter().step_by(stride).map(cell).collect();
        lines.push(format!("{:>12} {cells}\n", map.vertical.parameter.format_value(*value)));
    }
    // Different numbers of flows may round to the same value.
    lines.dedup();
    let show = |parameter: &VariedParameter, value: Option<&f64>| {
        value.map_or_else(String::new, |value| parameter.format_value(*value))
    };
    let horizontal = &map.horizontal;
    format!(
        "{} over {} from {} to {}; # oscillates, . stable, blank: no equilibrium found\n{}",
        map.vertical.parameter.name(),
        horizontal.parameter.name(),
        show(&horizontal.parameter, horizontal.values.first()),
        show(&horizontal.parameter, horizontal.values.last()),
        lines.concat()
    )
}
