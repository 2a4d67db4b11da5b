//! Where a scenario settles, and whether it stays there.

use super::write::table;
use comfy_table::Table;
use millpond_fluid::Entity;
use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::stability::{Crossing, Margins};
use millpond_theory::equilibrium::{PlanEquilibrium, UtilityAllocation};
use millpond_theory::stability::{CriticalValueSearch, Stability, StabilityMap, ValueRange, VariedParameter};
use millpond_units::format::{duration, frequency, megabits, number, percent};
use std::f64::consts::PI;

/// Flows, links, and what is known of other equilibria.
pub fn equilibrium(settled: &PlanEquilibrium<'_>) -> String {
    format!("{}{}\n{}\n", headline(settled), flows(settled), links(settled))
}

/// The same under a utility that was asked for.
pub fn utility_allocation(found: &UtilityAllocation<'_>) -> String {
    let solution = &found.allocation;
    let mut flows = table(&["flow", "flows", "weight", "rate Mbps each"]);
    for (class, rate) in found.classes.iter().zip(&solution.rates) {
        let (count, weight) = (class.count.to_string(), class.weight.to_string());
        flows.add_row([class.group.clone(), count, weight, megabits(*rate)]);
    }
    let mut links = table(&["link", "load", "bottleneck"]);
    for (index, load) in solution.loads.iter().enumerate() {
        let bottleneck = if solution.bottlenecks.contains(&index) { "yes" } else { "" }.to_owned();
        let entity = found.plan.links[found.links[index]].entity.clone();
        links.add_row([entity, percent(load / found.capacities[index]), bottleneck]);
    }
    format!(
        "the {} shares of this network, whatever its protocols do; optimality gap {:.1e}\n{flows}\n{links}\n",
        found.utility,
        solution.certificate.worst()
    )
}

fn flows(settled: &PlanEquilibrium<'_>) -> Table {
    let closed = settled.closed_form.as_ref();
    let kind = closed.map(|closed| closed.kind);
    let headings = ["flow", "flows", "rate Mbps each"].into_iter().chain(kind).chain(["RTT ms"]);
    let mut flows = table(&headings.collect::<Vec<_>>());
    let rows = settled.plan.loops.iter().enumerate().map(|(index, l)| {
        let value = |quantity| settled.value(Entity::Loop(index), quantity).unwrap_or(f64::NAN);
        let by_closed_form = closed.map(|closed| megabits(closed.allocation.rates[index]));
        let rtt = number(value("round-trip time") * 1e3);
        let cells = std::iter::once(megabits(value("sending rate"))).chain(by_closed_form).chain([rtt]);
        Alike::one(&l.name, l.count, cells.collect())
    });
    for alike in merged(rows) {
        flows.add_row([alike.title(), alike.members.to_string()].into_iter().chain(alike.cells));
    }
    flows
}

fn links(settled: &PlanEquilibrium<'_>) -> Table {
    // As much of a link is taken for all of it: what is left are roundings.
    const FULL: f64 = 1.0 - 1e-6;
    let closed = settled.closed_form.as_ref();
    let mut links = table(&["link", "load", "queue ms", "marked", "lost", "says", "bottleneck"]);
    let rows = settled.plan.links.iter().enumerate().filter_map(|(index, link)| {
        let id = link.id?.0;
        let value = |quantity| settled.value(Entity::Link(id), quantity).unwrap_or(f64::NAN);
        let full = value("arriving rate") / settled.frozen.capacity(id);
        let bottleneck = closed.map_or(full >= FULL, |closed| closed.allocation.bottlenecks.contains(&index));
        let cells = vec![
            percent(full),
            number(value("queueing delay") * 1e3),
            number(value("marking probability")),
            number(value("loss probability")),
            says(settled, id),
            if bottleneck { "yes" } else { "" }.to_owned(),
        ];
        Some(Alike { is_named: bottleneck, ..Alike::one(&link.entity, 1.0, cells) })
    });
    for alike in merged(rows) {
        links.add_row(std::iter::once(alike.title()).chain(alike.cells));
    }
    links
}

/// Neighbours of whom a table says the same.
struct Alike<'a> {
    first: &'a str,
    /// How many names stand for them.
    names: usize,
    /// How many they are.
    members: f64,
    cells: Vec<String>,
    /// Keeps a row of its own.
    is_named: bool,
}

impl<'a> Alike<'a> {
    fn one(first: &'a str, members: f64, cells: Vec<String>) -> Self {
        Self { first, names: 1, members, cells, is_named: false }
    }

    fn title(&self) -> String {
        match self.names {
            1 => self.first.to_owned(),
            names => format!("{} and {} more", self.first, names - 1),
        }
    }
}

fn merged<'a>(rows: impl Iterator<Item = Alike<'a>>) -> Vec<Alike<'a>> {
    let mut merged: Vec<Alike<'a>> = Vec::new();
    for row in rows {
        let is_same = |last: &&mut Alike<'_>| !last.is_named && !row.is_named && last.cells == row.cells;
        match merged.last_mut().filter(is_same) {
            Some(last) => {
                last.names += 1;
                last.members += row.members;
            }
            None => merged.push(row),
        }
    }
    merged
}

/// Everything that a link's laws say, by name.
fn says(settled: &PlanEquilibrium<'_>, link: usize) -> String {
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
    let named = columns.iter().zip(&settled.point.channels);
    let own = named.filter(|(c, _)| c.entity == Entity::Link(link) && !ENGINE.contains(&c.quantity));
    let show = |value: f64, unit: &str| match unit {
        "bit/s" => format!("{} Mbps", megabits(value)),
        "1" => number(value),
        unit => format!("{} {unit}", number(value)),
    };
    own.map(|(c, value)| format!("{} {}", c.quantity, show(*value, c.unit))).collect::<Vec<_>>().join(", ")
}

fn headline(settled: &PlanEquilibrium<'_>) -> String {
    let Some(closed) = &settled.closed_form else {
        return "settles; found as the point of rest of the equations (no closed form)\n".to_owned();
    };
    let gap = closed.allocation.certificate.worst();
    let full = match settled.overflowing_link() {
        Some(link) if settled.closed_form_error() > 1e-3 => {
            format!(": the buffer of {link} overflows, which the closed form does not know")
        }
        _ => String::new(),
    };
    let unique = match &closed.allocation.uniqueness {
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
        "settles at a {} allocation; {unique}; optimality gap {gap:.1e}; the equations rest within {} of it{full}\n",
        closed.kind,
        percent(settled.closed_form_error())
    )
}

/// How far was looked for boundaries where one was found.
pub fn followed(searches: &[CriticalValueSearch]) -> String {
    let one = |search: &CriticalValueSearch| {
        let CriticalValueSearch { parameter, range: ValueRange { low, high }, .. } = search;
        let [low, high] = [*low, *high].map(|value| parameter.format_value(value));
        format!("{} was followed from {low} to {high}\n", parameter.name())
    };
    searches.iter().filter(|search| !search.found.is_empty()).map(one).collect()
}

/// The roots and the margins.
pub fn stability(stability: &Stability) -> String {
    let mut roots = table(&["root", "1/s", "rad/s", "period s", "per cycle"]);
    for (index, root) in stability.spectrum.roots.iter().take(6).enumerate() {
        let is_zero = stability.spectrum.is_zero(root);
        let cycle = root.growth_per_cycle().filter(|_| !is_zero && root.s.im > 1e-6 * root.s.re.abs());
        let period = cycle.map_or_else(|| "-".to_owned(), |_| number(2.0 * PI / root.s.im));
        let factor = cycle.map_or_else(|| "-".to_owned(), |factor| format!("x{}", number(factor)));
        let part = |value: f64| if is_zero { "0".to_owned() } else { format!("{value:.4}") };
        let (re, im) = (part(root.s.re), part(root.s.im));
        roots.add_row([(index + 1).to_string(), re, im, period, factor]);
    }
    let mut margins = table(&["margin", "", "at rad/s"]);
    let mut row = |name: &str, (crossing, none): (Option<Crossing>, &str), show: &dyn Fn(f64) -> String| {
        let shown = crossing.map_or_else(|| none.to_owned(), |crossing| show(crossing.margin));
        let at = crossing.map_or_else(|| "-".to_owned(), |crossing| frequency(crossing.frequency));
        margins.add_row([name.to_owned(), shown, at]);
    };
    if stability.nonzero_roots_decay() {
        let Margins { gain, phase, delay } = stability.margins;
        let never_one = "any: the gain never reaches one";
        let never_back = "any: no loop ever comes back in phase";
        row("gain, of all loops together", (gain, never_back), &|factor| format!("x{}", number(factor)));
        row("phase", (phase, never_one), &|angle| format!("{:.2}°", angle.to_degrees()));
        row("delay, added to every loop", (delay, never_one), &duration);
        return format!("{roots}\n{margins}\n");
    }
    let must = |factor: Option<f64>| match factor {
        Some(factor) => format!("to x{}", number(factor)),
        None => "no fall helps".to_owned(),
    };
    let mut falls = table(&["to be stable must fall", ""]);
    falls.add_row(["gain, of all loops together".to_owned(), must(stability.stabilizing_gain)]);
    falls.add_row(["delays, all together".to_owned(), must(stability.stabilizing_delay)]);
    format!("{roots}\n{falls}\n")
}

/// A map in characters, `#` where the network oscillates: its rows from the highest value down.
pub fn map(map: &StabilityMap) -> String {
    const CHARACTERS: usize = 60;
    let stride = map.horizontal.values.len().div_ceil(CHARACTERS).max(1);
    let mut lines: Vec<String> = Vec::new();
    let name = |parameter: &VariedParameter, value: f64| parameter.format_value(value);
    for (row, value) in map.growth_rates.iter().zip(&map.vertical.values).rev().step_by(stride) {
        let cell = |growth: &Option<f64>| match growth {
            Some(growth) if *growth >= 0.0 => '#',
            Some(_) => '.',
            None => ' ',
        };
        let cells: String = row.iter().step_by(stride).map(cell).collect();
        lines.push(format!("{:>12} {cells}\n", name(&map.vertical.parameter, *value)));
    }
    let ends = [map.horizontal.values.first(), map.horizontal.values.last()];
    let [low, high] =
        ends.map(|value| value.map_or_else(String::new, |value| name(&map.horizontal.parameter, *value)));
    let (up, across) = (map.vertical.parameter.name(), map.horizontal.parameter.name());
    // Rows of so many flows may round to the same number.
    lines.dedup();
    format!(
        "{up} over {across} from {low} to {high}; # oscillates, . settles, blank: no rest found\n{}",
        lines.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_protocols::Registry;
    use millpond_scenario::{Disk, Scenario};
    use millpond_theory::equilibrium::find_equilibrium;
    use std::path::Path;

    const FULL_BUFFER: &str = r#"
duration = "5s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "10ms"
buffer = "100packets"
[[flows]]
name = "f"
count = 4
protocol = "newreno"
path = ["A", "B"]
"#;

    /// The cells of the row that begins with `name`.
    fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
        let rows = table.lines().map(|line| line.trim_matches('│').split('┆').map(str::trim).collect());
        rows.into_iter().find(|cells: &Vec<_>| cells[0] == name).unwrap_or_else(|| panic!("{name}:\n{table}"))
    }

    /// A full buffer of 100 packets is 12 ms at 100 Mbit/s, on 20 ms of links. A window of w = 25 Mbit/s * 32 ms loses
    /// 2 / w^2 (Misra, Gong, Towsley 2000): .00045.
    #[test]
    fn a_rest_without_a_closed_form_has_no_column_of_it_and_knows_its_bottleneck() {
        let scenario = Scenario::parse(FULL_BUFFER, "test.toml", Path::new(""), &[], &Disk).unwrap();
        let plan = millpond_plan::fluid::plan(&scenario, &Registry::builtin()).unwrap();
        let table = equilibrium(&find_equilibrium(&plan).unwrap());
        assert!(table.starts_with("settles; found as the point of rest of the equations (no closed form)\n"));
        assert_eq!(row(&table, "flow"), ["flow", "flows", "rate Mbps each", "RTT ms"]);
        assert_eq!(row(&table, "f"), ["f", "4", "25.0", "32.0"]);
        assert_eq!(row(&table, "link")[..2], ["link", "load"]);
        assert_eq!(row(&table, "L ->"), ["L ->", "100.0 %", "12.0", "0.00", "0.00045", "", "yes"]);
    }
}
