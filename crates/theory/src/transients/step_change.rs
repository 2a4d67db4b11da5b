//! Steps of a link's capacity or of the number of flows, as typed.

use super::observable::{Observable, observables};
use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::{Entity, LinkId};
use millpond_scenario::Scenario;
use millpond_units::{Rate, nearest};

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepChange {
    /// The capacity of a link changes.
    Capacity {
        /// The link in the engine.
        link: LinkId,
        /// Its name as typed.
        name: String,
        /// The new capacity, in bit/s.
        capacity: f64,
    },
    /// One more flow of a group starts.
    Join {
        /// Name of the group.
        group: String,
    },
}

impl StepChange {
    /// Reads `near=80%`, `near=100Mbps`, `join`, or `join=short`.
    ///
    /// # Errors
    /// The text cannot be read, names no link or group, or changes nothing.
    pub fn parse(text: &str, scenario: &Scenario, equilibrium: &PlanEquilibrium<'_>) -> Result<Self, String> {
        let groups = || scenario.flows.iter().map(|group| group.name.value.as_str());
        match text.split_once('=') {
            None if text == "join" => {
                let group = groups().next().ok_or_else(|| usage(text))?.to_owned();
                Ok(Self::Join { group })
            }
            Some(("join", group)) if groups().any(|known| known == group) => {
                Ok(Self::Join { group: group.to_owned() })
            }
            Some(("join", group)) => Err(unknown("no group of flows", group, groups().collect())),
            Some((name, value)) => Self::parse_capacity(text, name, value, equilibrium),
            None => Err(usage(text)),
        }
    }

    fn parse_capacity(
        text: &str,
        name: &str,
        value: &str,
        equilibrium: &PlanEquilibrium<'_>,
    ) -> Result<Self, String> {
        let all = observables(equilibrium.plan).into_iter();
        let queues: Vec<Observable> = all.filter(|observable| observable.quantity == "queue").collect();
        let link_name = |queue: &Observable| queue.name.trim_end_matches(".queue").to_owned();
        let names: Vec<String> = queues.iter().map(link_name).collect();
        let found = queues.iter().find(|queue| link_name(queue) == name).map(|queue| queue.entity);
        let Some(Entity::Link(link)) = found else {
            return Err(unknown(
                "no link that data crosses",
                name,
                names.iter().map(String::as_str).collect(),
            ));
        };
        if !equilibrium.frozen.configured_follows_actual(link) {
            return Err(format!(
                "--step {text}: the configured capacity of this link is not a constant share of its capacity, so that a \
                 step of its capacity alone does not determine the step that its laws receive; leave out `configured_delay` and `configured_levels`, and \
                 write `configured_rate` in per cent"
            ));
        }
        let current = equilibrium.frozen.capacity(link);
        let share = value.trim().strip_suffix('%').map(|share| share.trim().parse::<f64>().ok());
        let capacity = match share {
            Some(share) => share.map(|share| share / 100.0 * current),
            None => value.trim().parse::<Rate>().ok().map(Rate::as_f64),
        };
        match capacity.filter(|capacity| capacity.is_finite() && *capacity > 0.0) {
            Some(capacity) if capacity != current => {
                Ok(Self::Capacity { link: LinkId(link), name: name.to_owned(), capacity })
            }
            Some(_) => Err(format!("--step {text}: this is its current capacity")),
            None => Err(usage(text)),
        }
    }
}

fn usage(text: &str) -> String {
    format!("--step {text}: write a link's new capacity, such as near=80% or near=100Mbps, or join=GROUP")
}

fn unknown(what: &str, text: &str, names: Vec<&str>) -> String {
    let hint = match nearest(text, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    format!("--step: {what} is called \"{text}\"; {hint}there are: {}", names.join(", "))
}
