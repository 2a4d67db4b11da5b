//! Quantities of the equations and their names: `f.rate`, `near.queue`. The entity may be left out where only one is meant.

use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::motion::Component;
use millpond_fluid::stability::Linearized;
use millpond_fluid::{Entity, SolutionColumn};
use millpond_plan::fluid::FluidPlan;
use millpond_units::format::four_digits_or_exponent;
use millpond_units::format::mbit_per_s;
use millpond_units::nearest;
use std::collections::BTreeSet;

/// A quantity of the equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Observable {
    /// Its full name, such as `f.rate`.
    pub name: String,
    /// The loop, link or relay to which it belongs.
    pub entity: Entity,
    /// Its name in the equations, such as `sending rate`.
    pub quantity: &'static str,
    /// The unit in which it is shown.
    pub unit: &'static str,
    /// The factor from the unit of the equations to the shown unit.
    pub scale: f64,
    /// Its index among the states or channels.
    pub component: Component,
}

impl Observable {
    /// A value of the equations, formatted with its unit.
    #[must_use]
    pub fn format_value(&self, value: f64) -> String {
        match self.unit {
            "bit/s" => mbit_per_s(value),
            "1" => four_digits_or_exponent(value),
            unit => format!("{} {unit}", four_digits_or_exponent(value * self.scale)),
        }
    }

    /// Its value at an equilibrium, in the units of the equations.
    pub(super) fn equilibrium_value(&self, equilibrium: &PlanEquilibrium<'_>) -> f64 {
        self.component.of(&equilibrium.point.x, &equilibrium.point.channels)
    }
}

/// The quantities of a plan, found by name.
pub struct Observables<'a> {
    pub(super) equilibrium: &'a PlanEquilibrium<'a>,
    all: Vec<Observable>,
    bottlenecks: Vec<usize>,
}

impl<'a> Observables<'a> {
    /// The quantities of the plan of an equilibrium.
    #[must_use]
    pub fn new(equilibrium: &'a PlanEquilibrium<'a>) -> Self {
        let (all, bottlenecks) = (observables(equilibrium.plan), bottleneck_links(equilibrium));
        Self { equilibrium, all, bottlenecks }
    }

    /// The quantity of this name. The entity may be left out where a single entity has such a quantity, or a single
    /// bottleneck.
    ///
    /// # Errors
    /// The name is unknown or ambiguous: lists the names, the nearest spelling first.
    pub fn find(&self, text: &str) -> Result<Observable, String> {
        find(text, &self.all, &self.bottlenecks)
    }
}

/// Short names of quantities, each before the name for which it stands.
const SHORT: [(&str, &str); 5] =
    [("x", "rate"), ("q", "queue"), ("w", "window"), ("rtt", "round-trip-time"), ("delay", "queueing-delay")];

/// The rate of one flow of a class, as the engine names it.
const SENDING: &str = "sending rate";

/// The sending rate of one flow of each class.
pub(super) fn sending_rates(plan: &FluidPlan) -> Vec<Observable> {
    let columns = plan.assembly.channel_columns();
    let sent = columns.iter().enumerate().filter(|(_, column)| column.quantity == SENDING);
    sent.filter_map(|(i, column)| observable(plan, Component::Channel(i), column)).collect()
}

/// All quantities of a plan, states first; of two with the same name only the first.
pub(super) fn observables(plan: &FluidPlan) -> Vec<Observable> {
    let states = plan.assembly.state_columns();
    let channels = plan.assembly.channel_columns();
    let states = states.iter().enumerate().map(|(i, column)| (Component::State(i), column));
    let channels = channels.iter().enumerate().map(|(i, column)| (Component::Channel(i), column));
    let mut seen = BTreeSet::new();
    let all = states.chain(channels).filter_map(|(component, column)| observable(plan, component, column));
    all.filter(|observable| seen.insert(observable.name.clone())).collect()
}

fn observable(plan: &FluidPlan, component: Component, column: &SolutionColumn) -> Option<Observable> {
    let SolutionColumn { entity, quantity, unit, .. } = column;
    let (unit, scale) = match *unit {
        "bit" => ("packets", 1.0 / packet_bits(plan, *entity)),
        "s" => ("ms", 1e3),
        unit => (unit, 1.0),
    };
    let name = format!("{}.{}", entity_name(plan, *entity)?, quantity_name(quantity));
    Some(Observable { name, entity: *entity, quantity, unit, scale, component })
}

/// The packet size of an entity, in bits.
fn packet_bits(plan: &FluidPlan, entity: Entity) -> f64 {
    let of_link = |link: usize| {
        let found = plan.links.iter().find(|planned| planned.id.is_some_and(|id| id.0 == link));
        found.map_or(1.0, |link| link.packet.as_f64() * 8.0)
    };
    match entity {
        Entity::Loop(l) => plan.loops[l].facts.packet,
        Entity::Link(link) => of_link(link),
        Entity::Relay(_) => plan.loops.first().map_or(1.0, |l| l.facts.packet),
    }
}

/// The name of an entity: of a link that data crosses in one direction its own name, of others `L1->` and `L1<-`.
fn entity_name(plan: &FluidPlan, entity: Entity) -> Option<String> {
    match entity {
        Entity::Link(link) => {
            let crossed = || plan.links.iter().filter(|link| link.id.is_some());
            let link = crossed().find(|planned| planned.id.is_some_and(|id| id.0 == link))?;
            let directions = crossed().filter(|other| other.name == link.name).count();
            Some(if directions == 1 { link.name.clone() } else { link.entity.replace(' ', "") })
        }
        Entity::Loop(_) => Some(plan.assembly.name(entity).to_owned()),
        Entity::Relay(_) => Some(format!("{}@relay", plan.assembly.name(entity))),
    }
}

/// `arriving rate` becomes `arriving-rate`; an explanation after a comma is left out. The sending rate is called `rate`.
fn quantity_name(quantity: &str) -> String {
    if quantity == SENDING {
        return "rate".to_owned();
    }
    quantity.split(',').next().unwrap_or_default().replace(' ', "-")
}

/// The bottlenecks of the closed form, or of the linear network without one; only the nearly full ones if any is.
pub(super) fn bottleneck_links(equilibrium: &PlanEquilibrium<'_>) -> Vec<usize> {
    const NEARLY_FULL: f64 = 0.9;
    let all: Vec<usize> = match &equilibrium.closed_form {
        Some(closed_form) => {
            let bottlenecks = closed_form.allocation.bottlenecks.iter();
            bottlenecks.filter_map(|index| equilibrium.plan.links[*index].id).map(|id| id.0).collect()
        }
        None => Linearized::of(&equilibrium.frozen, &equilibrium.point).bottlenecks(),
    };
    let load = |link: &usize| {
        let arriving = equilibrium.value(Entity::Link(*link), "arriving rate").unwrap_or_default();
        arriving / equilibrium.frozen.capacity(*link)
    };
    let full: Vec<usize> = all.iter().copied().filter(|link| load(link) > NEARLY_FULL).collect();
    if full.is_empty() { all } else { full }
}

/// The quantity of this name among `known`, links in `bottlenecks` before others.
fn find(text: &str, known: &[Observable], bottlenecks: &[usize]) -> Result<Observable, String> {
    let text = text.trim();
    for name in spellings(text) {
        if let Some(found) = known.iter().find(|observable| observable.name == name) {
            return Ok(found.clone());
        }
        let suffix = format!(".{name}");
        let all: Vec<&Observable> =
            known.iter().filter(|observable| observable.name.ends_with(&suffix)).collect();
        let is_relevant = |observable: &&&Observable| match observable.entity {
            Entity::Link(link) => bottlenecks.contains(&link),
            _ => true,
        };
        let relevant: Vec<&&Observable> = all.iter().filter(is_relevant).collect();
        match (all.as_slice(), relevant.as_slice()) {
            ([only], _) => return Ok((*only).clone()),
            (_, [only]) => return Ok((**only).clone()),
            ([], _) => {}
            (all, _) => {
                let names: Vec<&str> = all.iter().map(|observable| observable.name.as_str()).collect();
                return Err(format!("\"{text}\" is ambiguous: it can be any of {}", names.join(", ")));
            }
        }
    }
    Err(unknown(text, known))
}

/// The name as typed, then with each short name replaced by the name for which it stands.
fn spellings(text: &str) -> Vec<String> {
    let mut names = vec![text.to_owned()];
    for (short, long) in SHORT {
        let last = names[names.len() - 1].clone();
        match last.rsplit_once('.') {
            Some((entity, quantity)) if quantity == short => names.push(format!("{entity}.{long}")),
            None if last == short => names.push(long.to_owned()),
            _ => {}
        }
    }
    names
}

fn unknown(text: &str, known: &[Observable]) -> String {
    let names = || known.iter().map(|observable| observable.name.as_str());
    let quantities = || names().filter_map(|name| name.rsplit_once('.').map(|(_, quantity)| quantity));
    let hint = match nearest(text, names()).or_else(|| nearest(text, quantities())) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    let all: Vec<&str> = names().collect();
    format!(
        "no quantity is called \"{text}\"; {hint}there are: {}; x is short for a rate, q for a queue, w for a \
         window",
        all.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Observable> {
        let observable = |(i, (name, entity)): (usize, &(&str, Entity))| Observable {
            name: (*name).to_owned(),
            entity: *entity,
            quantity: "",
            unit: "",
            scale: 1.0,
            component: Component::State(i),
        };
        let names = [
            ("f.window", Entity::Loop(0)),
            ("near.queue", Entity::Link(0)),
            ("far.queue", Entity::Link(1)),
            ("f.rate", Entity::Loop(0)),
            ("g.rate", Entity::Loop(1)),
        ];
        names.iter().enumerate().map(observable).collect()
    }

    fn found(text: &str, bottlenecks: &[usize]) -> Result<String, String> {
        find(text, &known(), bottlenecks).map(|observable| observable.name)
    }

    #[test]
    fn a_name_may_be_short_or_lack_its_entity_if_only_one_is_meant() {
        assert_eq!(found("near.q", &[]).as_deref(), Ok("near.queue"));
        assert_eq!(found("q", &[1]).as_deref(), Ok("far.queue"));
        assert_eq!(found("g.x", &[]).as_deref(), Ok("g.rate"));
        assert_eq!(found("w", &[]).as_deref(), Ok("f.window"));
    }

    #[test]
    fn an_ambiguous_or_unknown_name_lists_the_known_names() {
        let several = found("q", &[0, 1]).unwrap_err();
        assert!(several.contains("ambiguous") && several.contains("near.queue, far.queue"), "{several}");
        assert!(found("x", &[0]).unwrap_err().contains("f.rate, g.rate"));
        let wrong = found("near.queu", &[]).unwrap_err();
        assert!(wrong.contains("did you mean \"near.queue\"?") && wrong.contains("f.window"), "{wrong}");
        assert!(found("windw", &[]).unwrap_err().contains("did you mean \"window\"?"));
    }
}
