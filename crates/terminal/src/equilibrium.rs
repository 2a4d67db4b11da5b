//! Tables of an equilibrium: flows and links.

use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::{Entity, LinkId};
use millpond_tables::{Cell, Document, Table, are_shown_equal, table};
use millpond_theory::NamedCapacity;
use millpond_theory::classification::SteadyStateAnalysis;
use millpond_theory::equilibrium::{PlanEquilibrium, UtilityAllocation};
use millpond_theory::steady_state::{SteadyState, steady_state_sentence};
use millpond_units::format::{megabits, number, percent};

/// The steady state in a sentence, a line for each link with a varying capacity, and the equilibrium of the equations.
pub fn steady_state(found: &SteadyStateAnalysis<'_>, capacities: &[NamedCapacity]) -> Document {
    let capacities: String = capacities.iter().map(|capacity| format!("{capacity}\n")).collect();
    let tables = found.equilibrium.as_ref().map(equilibrium);
    let mean = match found.state {
        SteadyState::LimitCycle(_) | SteadyState::Sawtooth(_) if tables.is_some() => {
            "about the equilibrium of the fluid equations:\n"
        }
        _ => "",
    };
    Document::default()
        .text(format!("steady state: {}\n{capacities}{mean}", steady_state_sentence(&found.state)))
        .then(tables.unwrap_or_default())
}

/// A sentence about the equilibrium and its uniqueness, a table of the flows and a table of the links.
pub fn equilibrium(found: &PlanEquilibrium<'_>) -> Document {
    let delay = |id: LinkId| found.value(Entity::Link(id.0), "queueing delay");
    let has_queue = |link: usize| found.plan.links[link].id.and_then(delay).is_some_and(|delay| delay > 0.0);
    let series = found.plan.queues_in_series(has_queue).map(|note| format!("note: {note}\n"));
    let tables = Document::default().text(headline(found)).table(flows(found)).table(links(found));
    series.into_iter().fold(tables, Document::text)
}

/// The rates and loads under a utility function.
pub fn utility_allocation(found: &UtilityAllocation<'_>) -> Document {
    let solution = &found.allocation;
    let mut flows = table(&["flow", "flows", "weight", "rate each, Mbit/s"]);
    for (class, rate) in found.classes.iter().zip(&solution.rates) {
        let weight = Cell::shown(class.weight, class.weight.to_string());
        let count = Cell::shown(class.count, class.count.to_string());
        flows.add_row([class.title(&found.classes).into(), count, weight, Cell::megabits(*rate)]);
    }
    let mut links = table(&["link", "load", "bottleneck"]);
    for (index, load) in solution.loads.iter().enumerate() {
        let bottleneck = if solution.bottlenecks.contains(&index) { "yes" } else { "" };
        let entity = found.plan.links[found.links[index]].entity.as_str();
        links.add_row([entity.into(), Cell::percent(load / found.capacities[index]), bottleneck.into()]);
    }
    let headline = format!(
        "the {} rates of this network, independent of its protocols; optimality gap {:.1e}\n",
        found.utility,
        solution.certificate.worst()
    );
    Document::default().text(headline).table(flows).table(links)
}

fn flows(found: &PlanEquilibrium<'_>) -> Table {
    let closed = found.closed_form.as_ref();
    let kind = closed.map(|closed| closed.kind);
    let kind = kind.map(|kind| format!("{kind}, Mbit/s"));
    let headings =
        ["flow", "flows", "rate each, Mbit/s"].into_iter().chain(kind.as_deref()).chain(["RTT, ms"]);
    let mut flows = table(&headings.collect::<Vec<_>>());
    let rows = found.plan.loops.iter().enumerate().map(|(index, l)| {
        let value = |quantity| found.value(Entity::Loop(index), quantity).unwrap_or(f64::NAN);
        let by_closed_form = closed.map(|closed| Cell::megabits(closed.allocation.rates[index]));
        let rtt = Cell::number(value("round-trip time") * 1e3);
        let cells = std::iter::once(Cell::megabits(value("sending rate"))).chain(by_closed_form).chain([rtt]);
        EqualRows::one(&l.name, l.count, cells.collect())
    });
    for rows in merged(rows) {
        let members = Cell::shown(rows.members, rows.members.to_string());
        flows.add_row([rows.title().into(), members].into_iter().chain(rows.cells));
    }
    flows
}

const LINKS: [&str; 7] = [
    "link",
    "load",
    "queueing delay, ms",
    "marking probability",
    "loss probability",
    "signals",
    "bottleneck",
];

fn links(found: &PlanEquilibrium<'_>) -> Table {
    // A load that is smaller by rounding errors only counts as full.
    const FULL: f64 = 1.0 - 1e-6;
    let closed = found.closed_form.as_ref();
    let mut links = table(&LINKS);
    let rows = found.plan.links.iter().enumerate().filter_map(|(index, link)| {
        let id = link.id?.0;
        let value = |quantity| found.value(Entity::Link(id), quantity).unwrap_or(f64::NAN);
        let full = value("arriving rate") / found.frozen.capacity(id);
        let bottleneck = closed.map_or(full >= FULL, |closed| closed.allocation.bottlenecks.contains(&index));
        let cells = vec![
            Cell::percent(full),
            Cell::number(value("queueing delay") * 1e3),
            Cell::number(value("marking probability")),
            Cell::number(value("loss probability")),
            signals(found, id).into(),
            if bottleneck { "yes" } else { "" }.into(),
        ];
        Some(EqualRows { is_separate: bottleneck, ..EqualRows::one(&link.entity, 1.0, cells) })
    });
    for rows in merged(rows) {
        links.add_row(std::iter::once(rows.title().into()).chain(rows.cells));
    }
    links
}

/// Adjacent rows with equal cells, printed as one row.
struct EqualRows<'a> {
    /// The name of the first row.
    first: &'a str,
    /// The number of rows.
    names: usize,
    /// The number of flows in all rows.
    members: f64,
    cells: Vec<Cell>,
    /// Never merged with its neighbours.
    is_separate: bool,
}

impl<'a> EqualRows<'a> {
    fn one(first: &'a str, members: f64, cells: Vec<Cell>) -> Self {
        Self { first, names: 1, members, cells, is_separate: false }
    }

    fn title(&self) -> String {
        match self.names {
            1 => self.first.to_owned(),
            names => format!("{} and {} more", self.first, names - 1),
        }
    }
}

fn merged<'a>(rows: impl Iterator<Item = EqualRows<'a>>) -> Vec<EqualRows<'a>> {
    let mut merged: Vec<EqualRows<'a>> = Vec::new();
    for row in rows {
        let is_equal = |last: &&mut EqualRows<'_>| {
            !last.is_separate && !row.is_separate && are_shown_equal(&last.cells, &row.cells)
        };
        match merged.last_mut().filter(is_equal) {
            Some(last) => {
                last.names += 1;
                last.members += row.members;
            }
            None => merged.push(row),
        }
    }
    merged
}

/// The signals of a link's laws, each with its name.
fn signals(found: &PlanEquilibrium<'_>, link: usize) -> String {
    const ENGINE: [&str; 8] = [
        "queueing delay",
        "queueing delay slope",
        "marking probability",
        "loss probability",
        "departing over arriving",
        "capacity",
        "arriving rate",
        "departing rate",
    ];
    let columns = found.plan.assembly.channel_columns();
    let named = columns.iter().zip(&found.point.channels);
    let own = named.filter(|(c, _)| c.entity == Entity::Link(link) && !ENGINE.contains(&c.quantity));
    let show = |value: f64, unit: &str| match unit {
        "bit/s" => format!("{} Mbit/s", megabits(value)),
        "1" => number(value),
        unit => format!("{} {unit}", number(value)),
    };
    own.map(|(c, value)| format!("{} {}", c.quantity, show(*value, c.unit))).collect::<Vec<_>>().join(", ")
}

/// Whether the equilibrium has a closed form, whether it is unique, and how far the equations are from it.
fn headline(found: &PlanEquilibrium<'_>) -> String {
    let Some(closed) = &found.closed_form else {
        return "equilibrium of the equations (no closed form)\n".to_owned();
    };
    let overflow = match found.overflowing_link() {
        Some(link) if found.closed_form_error() > 1e-3 => {
            format!(": the buffer of {link} overflows, which the closed form does not include")
        }
        _ => String::new(),
    };
    format!(
        "equilibrium: {} allocation; {}; optimality gap {:.1e}; the equilibrium of the equations differs by {}{overflow}\n",
        closed.kind,
        uniqueness(found, &closed.allocation.uniqueness),
        closed.allocation.certificate.worst(),
        percent(found.closed_form_error())
    )
}

fn uniqueness(found: &PlanEquilibrium<'_>, uniqueness: &Uniqueness) -> String {
    match uniqueness {
        Uniqueness::Unique => "unique".to_owned(),
        Uniqueness::Prices { rank, bottlenecks, links } => {
            let names: Vec<&str> = links.iter().map(|link| found.plan.links[*link].entity.as_str()).collect();
            format!(
                "the bottlenecks are not of full rank ({rank} of {bottlenecks}): rates are unique, prices of {} are not",
                names.join(", ")
            )
        }
    }
}
