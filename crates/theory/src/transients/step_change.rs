//! A step, as typed.

use super::observable::Observable;
use super::observables;
use crate::equilibrium::Settled;
use millpond_fluid::{Entity, LinkId};
use millpond_scenario::Scenario;
use millpond_units::{Rate, nearest};

/// What changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A link's capacity.
    Capacity {
        /// As the engine knows it.
        link: LinkId,
        /// As typed.
        name: String,
        /// In bit/s.
        to: f64,
    },
    /// One more flow of this group.
    Join {
        /// The group.
        group: String,
    },
}

impl Step {
    /// `near=80%`, `near=100Mbps`, `join`, `join=short`.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn read(text: &str, scenario: &Scenario, settled: &Settled<'_>) -> Result<Self, String> {
        let usage = || {
            format!(
                "--step {text}: write a link's new capacity, such as near=80% or near=100Mbps, or join=GROUP"
            )
        };
        let groups = || scenario.flows.iter().map(|group| group.name.value.as_str());
        let (name, to) = match text.split_once('=') {
            None if text == "join" => {
                let group = groups().next().ok_or_else(usage)?.to_owned();
                return Ok(Self::Join { group });
            }
            Some(("join", group)) if groups().any(|known| known == group) => {
                return Ok(Self::Join { group: group.to_owned() });
            }
            Some(("join", group)) => return Err(unknown("no group of flows", group, groups().collect())),
            Some((name, to)) => (name, to),
            None => return Err(usage()),
        };
        let queues: Vec<Observable> =
            observables(settled.plan).into_iter().filter(|one| one.quantity == "queue").collect();
        let called = |one: &Observable| one.name.trim_end_matches(".queue").to_owned();
        let names: Vec<String> = queues.iter().map(called).collect();
        let found = queues.iter().find(|one| called(one) == name).map(|one| one.entity);
        let Some(Entity::Link(link)) = found else {
            return Err(unknown("no link that data cross", name, names.iter().map(String::as_str).collect()));
        };
        let now = settled.frozen.capacity(link);
        let share = to.trim().strip_suffix('%').map(|share| share.trim().parse::<f64>().ok());
        let to = match share {
            Some(share) => share.map(|share| share / 100.0 * now),
            None => to.trim().parse::<Rate>().ok().map(Rate::as_f64),
        };
        match to.filter(|to| to.is_finite() && *to > 0.0) {
            Some(to) if to != now => Ok(Self::Capacity { link: LinkId(link), name: name.to_owned(), to }),
            Some(_) => Err(format!("--step {text}: that is what it is now")),
            None => Err(usage()),
        }
    }
}

fn unknown(what: &str, text: &str, names: Vec<&str>) -> String {
    let hint = match nearest(text, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? "),
        None => String::new(),
    };
    format!("--step: {what} is called \"{text}\"; {hint}there are: {}", names.join(", "))
}
