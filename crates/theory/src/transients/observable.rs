//! What can be watched, and what it is called: `f.rate`, `near.queue`; the entity may be left out where one alone is meant.

use crate::equilibrium::Settled;
use millpond_fluid::motion::Component;
use millpond_fluid::stability::Linearized;
use millpond_fluid::{Column, Entity};
use millpond_plan::fluid::Plan;
use millpond_units::format::four_digits_or_exponent;
use millpond_units::{Rate, nearest};
use std::collections::BTreeSet;

/// A quantity of the equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Observable {
    /// `f.rate`.
    pub name: String,
    /// Whose.
    pub entity: Entity,
    /// As the equations call it: `sending rate`.
    pub quantity: &'static str,
    /// As shown.
    pub unit: &'static str,
    /// What a value of the equations is multiplied by to be shown.
    pub scale: f64,
    /// Where it is.
    pub place: Component,
}

impl Observable {
    /// A value of the equations with its unit.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        match self.unit {
            "bit/s" => Rate::from_bps_f64(value).to_string(),
            "1" => four_digits_or_exponent(value),
            unit => format!("{} {unit}", four_digits_or_exponent(value * self.scale)),
        }
    }
}

/// Short names of quantities, each before that which it stands for.
const SHORT: [(&str, &str); 5] =
    [("x", "rate"), ("q", "queue"), ("w", "window"), ("rtt", "round-trip-time"), ("delay", "queueing-delay")];

/// What one flow of a class sends, as the engine calls it.
const SENDING: &str = "sending rate";

/// What one flow of each class sends.
pub(super) fn rates(plan: &Plan) -> Vec<Observable> {
    let columns = plan.assembly.channel_columns();
    let sent = columns.iter().enumerate().filter(|(_, column)| column.quantity == SENDING);
    sent.filter_map(|(i, column)| observable(plan, Component::Channel(i), column)).collect()
}

/// All of them, states first; of two of one name the first alone.
#[must_use]
pub fn observables(plan: &Plan) -> Vec<Observable> {
    let states = plan.assembly.state_columns();
    let channels = plan.assembly.channel_columns();
    let states = states.iter().enumerate().map(|(i, column)| (Component::State(i), column));
    let channels = channels.iter().enumerate().map(|(i, column)| (Component::Channel(i), column));
    let mut seen = BTreeSet::new();
    let all = states.chain(channels).filter_map(|(place, column)| observable(plan, place, column));
    all.filter(|one| seen.insert(one.name.clone())).collect()
}

fn observable(plan: &Plan, place: Component, column: &Column) -> Option<Observable> {
    let Column { entity, quantity, unit } = column;
    let (unit, scale) = match *unit {
        "bit" => ("packets", 1.0 / packet(plan, *entity)),
        "s" => ("ms", 1e3),
        unit => (unit, 1.0),
    };
    let name = format!("{}.{}", called(plan, *entity)?, slug(quantity));
    Some(Observable { name, entity: *entity, quantity, unit, scale, place })
}

/// In bits.
fn packet(plan: &Plan, entity: Entity) -> f64 {
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

/// A link that data cross in one direction alone is called by its name, others `L1->` and `L1<-`.
fn called(plan: &Plan, entity: Entity) -> Option<String> {
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

/// `arriving rate` is typed `arriving-rate`; what comes after a comma only explains. What a flow sends is its rate.
fn slug(quantity: &str) -> String {
    if quantity == SENDING {
        return "rate".to_owned();
    }
    quantity.split(',').next().unwrap_or_default().replace(' ', "-")
}

/// The links that matter: those bottlenecks of the allocation in closed form, or of the linear network, that are nearly full.
#[must_use]
pub fn bottlenecks(settled: &Settled<'_>) -> Vec<usize> {
    const NEARLY: f64 = 0.9;
    let all: Vec<usize> = match &settled.closed {
        Some(closed) => {
            let ids = closed.equilibrium.bottlenecks.iter().filter_map(|place| settled.plan.links[*place].id);
            ids.map(|id| id.0).collect()
        }
        None => Linearized::of(&settled.frozen, &settled.moment).bottlenecks(),
    };
    let load = |link: &usize| {
        let arriving = settled.value(Entity::Link(*link), "arriving rate").unwrap_or_default();
        arriving / settled.frozen.capacity(*link)
    };
    let full: Vec<usize> = all.iter().copied().filter(|link| load(link) > NEARLY).collect();
    if full.is_empty() { all } else { full }
}

/// The observable of this name. Without an entity: the only one there is, or the only one at a bottleneck.
///
/// # Errors
/// Says what there is, with the nearest spelling.
pub fn pick(text: &str, known: &[Observable], bottlenecks: &[usize]) -> Result<Observable, String> {
    let exactly = |name: &str| known.iter().find(|one| one.name == name).cloned();
    let text = text.trim();
    for name in spellings(text) {
        if let Some(found) = exactly(&name) {
            return Ok(found);
        }
        let ends = format!(".{name}");
        let all: Vec<&Observable> = known.iter().filter(|one| one.name.ends_with(&ends)).collect();
        let matters = |one: &&&Observable| match one.entity {
            Entity::Link(link) => bottlenecks.contains(&link),
            _ => true,
        };
        let chosen: Vec<&&Observable> = all.iter().filter(matters).collect();
        match (all.as_slice(), chosen.as_slice()) {
            ([one], _) => return Ok((*one).clone()),
            (_, [one]) => return Ok((**one).clone()),
            ([], _) => {}
            (all, _) => {
                let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
                return Err(format!("\"{text}\" could be any of {}; say which", names.join(", ")));
            }
        }
    }
    Err(unknown(text, known))
}

/// The name as typed, then with each short name replaced by what it stands for.
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
    let names = || known.iter().map(|one| one.name.as_str());
    let ends = || names().filter_map(|name| name.rsplit_once('.').map(|(_, end)| end));
    let hint = match nearest(text, names()).or_else(|| nearest(text, ends())) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    let all: Vec<&str> = names().collect();
    format!(
        "nothing that could be watched is called \"{text}\"; {hint}there are: {}; x is short for a rate, q for a queue, w for a \
         window",
        all.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Observable> {
        let one = |(i, (name, entity)): (usize, &(&str, Entity))| Observable {
            name: (*name).to_owned(),
            entity: *entity,
            quantity: "",
            unit: "",
            scale: 1.0,
            place: Component::State(i),
        };
        let names = [
            ("f.window", Entity::Loop(0)),
            ("near.queue", Entity::Link(0)),
            ("far.queue", Entity::Link(1)),
            ("f.rate", Entity::Loop(0)),
            ("g.rate", Entity::Loop(1)),
        ];
        names.iter().enumerate().map(one).collect()
    }

    fn found(text: &str, bottlenecks: &[usize]) -> Result<String, String> {
        pick(text, &known(), bottlenecks).map(|one| one.name)
    }

    #[test]
    fn a_name_may_be_short_or_lack_its_entity_where_one_alone_is_meant() {
        assert_eq!(found("near.q", &[]).as_deref(), Ok("near.queue"));
        assert_eq!(found("q", &[1]).as_deref(), Ok("far.queue"));
        assert_eq!(found("g.x", &[]).as_deref(), Ok("g.rate"));
        assert_eq!(found("w", &[]).as_deref(), Ok("f.window"));
    }

    #[test]
    fn what_could_be_several_or_nothing_says_what_there_is() {
        let several = found("q", &[0, 1]).unwrap_err();
        assert!(several.contains("near.queue, far.queue"), "{several}");
        assert!(found("x", &[0]).unwrap_err().contains("f.rate, g.rate"));
        let wrong = found("near.queu", &[]).unwrap_err();
        assert!(wrong.contains("did you mean \"near.queue\"?") && wrong.contains("f.window"), "{wrong}");
        assert!(found("windw", &[]).unwrap_err().contains("did you mean \"window\"?"));
    }
}
