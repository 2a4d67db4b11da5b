//! What is evaluated: a protocol or a queue. In the scenarios of a suite it is called [`TESTED`]: an entry of `[protocols]`
//! that flows use, or the queue of links.

use millpond_papers::{RecipeError, unknown};
use millpond_protocols::Registry;
use millpond_scenario::{At, Direction, Place, ProtocolEntry, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the subject in the scenarios of a suite.
pub(super) const TESTED: &str = "tested";

/// The kind of what is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A protocol.
    #[default]
    Protocol,
    /// A queue.
    Queue,
}

/// A protocol or a queue that is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Whether it is a protocol or a queue.
    pub kind: SubjectKind,
    /// Its name.
    pub name: String,
}

/// What the description of a subject states about it.
pub(super) struct SubjectCard {
    pub(super) title: &'static str,
    pub(super) source: &'static str,
}

impl SubjectKind {
    /// The word for one: `protocol`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Queue => "queue",
        }
    }

    /// The name of a subject of this kind, for messages.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Protocol => "cubic",
            Self::Queue => "fq-codel",
        }
    }

    /// All of this kind that there are.
    pub fn all(self, registry: &Registry) -> Vec<Subject> {
        let subject = |name: &str| Subject { kind: self, name: name.to_owned() };
        match self {
            Self::Protocol => registry.protocols().map(|protocol| subject(protocol.card().name)).collect(),
            Self::Queue => registry.queues().map(|queue| subject(queue.card().name)).collect(),
        }
    }

    /// Whether the subject is part of a scenario of a suite.
    pub(super) fn is_tested_in(self, scenario: &Scenario) -> bool {
        match self {
            Self::Protocol => {
                let mut protocols = scenario.flows.iter().flat_map(|group| scenario.protocols_of(group));
                protocols.any(|protocol| protocol.value == TESTED)
            }
            Self::Queue => scenario
                .links
                .iter()
                .flat_map(|link| std::iter::once(&link.forward).chain(&link.backward))
                .any(is_tested_queue),
        }
    }

    /// Whether an override in the form of `--set` changes the subject alone.
    pub(super) fn is_own(self, set: &str) -> bool {
        let key = set.split('=').next().unwrap_or_default();
        match self {
            Self::Protocol => key.starts_with("protocols.tested."),
            Self::Queue => key.contains(".queue.tested."),
        }
    }
}

impl Subject {
    /// The protocols and queues of these names, each once.
    ///
    /// # Errors
    /// The first name that neither a protocol nor a queue has.
    pub fn all_named(names: &[String], registry: &Registry) -> Result<Vec<Self>, RecipeError> {
        let mut subjects = Vec::new();
        for name in names {
            let kinds = [SubjectKind::Protocol, SubjectKind::Queue];
            let known = || kinds.into_iter().flat_map(|kind| kind.all(registry)).map(|one| one.name);
            let subject = Self::named(name, registry).ok_or_else(|| {
                let known: Vec<String> = known().collect();
                RecipeError::new("evaluate", unknown(name, "protocol or queue", &known))
            })?;
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        Ok(subjects)
    }

    /// The protocol or the queue of this name; none if there is neither.
    fn named(name: &str, registry: &Registry) -> Option<Self> {
        let kind = match (registry.protocol(name), registry.queue(name)) {
            (Ok(_), _) => SubjectKind::Protocol,
            (Err(_), Ok(_)) => SubjectKind::Queue,
            (Err(_), Err(_)) => return None,
        };
        Some(Self { kind, name: name.to_owned() })
    }

    /// The title and the source in its description.
    pub(super) fn card(&self, registry: &Registry) -> Option<SubjectCard> {
        match self.kind {
            SubjectKind::Protocol => {
                let card = registry.protocol(&self.name).ok()?.card();
                Some(SubjectCard { title: card.title, source: card.source })
            }
            SubjectKind::Queue => {
                let card = registry.queue(&self.name).ok()?.card();
                Some(SubjectCard { title: card.title, source: card.source })
            }
        }
    }

    /// The scenario with this subject in the place of [`TESTED`]. A protocol without settings is named as in a scenario
    /// without `tested`, so that both scenarios are equal.
    pub(super) fn placed_in(&self, mut scenario: Scenario) -> Scenario {
        match self.kind {
            SubjectKind::Protocol => self.place_protocol(&mut scenario),
            SubjectKind::Queue => {
                let directions = scenario
                    .links
                    .iter_mut()
                    .flat_map(|link| std::iter::once(&mut link.forward).chain(&mut link.backward));
                for queue in directions.filter_map(|direction| direction.queue.as_mut()) {
                    if queue.name.value == TESTED {
                        queue.name.value.clone_from(&self.name);
                    }
                }
            }
        }
        scenario
    }

    fn place_protocol(&self, scenario: &mut Scenario) {
        let Some(mut entry) = scenario.protocols.remove(TESTED) else { return };
        entry.protocol = At::new(self.name.clone(), Place::default());
        let is_plain = entry == ProtocolEntry::unconfigured(&self.name);
        if is_plain && !scenario.protocols.contains_key(&self.name) {
            let of_groups = scenario.flows.iter_mut().map(|group| &mut group.protocol);
            let of_loops = scenario.protocols.values_mut().flat_map(|entry| entry.loops.values_mut());
            for protocol in of_groups.chain(of_loops).filter(|protocol| protocol.value == TESTED) {
                protocol.value.clone_from(&self.name);
            }
        } else {
            scenario.protocols.insert(TESTED.to_owned(), entry);
        }
    }
}

/// A scenario in which the subject has no part, without the entry that it would replace and entries with a loop of it.
pub(super) fn without_subject(mut scenario: Scenario) -> Scenario {
    let runs_it = |entry: &ProtocolEntry| entry.loops.values().any(|protocol| protocol.value == TESTED);
    scenario.protocols.retain(|name, entry| name != TESTED && !runs_it(entry));
    scenario
}

fn is_tested_queue(direction: &Direction) -> bool {
    direction.queue.as_ref().is_some_and(|queue| queue.name.value == TESTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::Disk;
    use std::path::Path;

    const SPLIT: &str = r#"
        title = "split"
        duration = "10s"
        links = [
            { name = "L", between = ["A", "R"], rate = "40Mbps", delay = "5ms" },
            { name = "M", between = ["R", "B"], rate = "10Mbps", delay = "15ms" },
        ]
        flows = [{ name = "f", protocol = "split", path = ["A", "R", "B"] }]
        [protocols.split]
        protocol = "cubic"
        relays = ["R"]
        loops = { R = "tested" }
        [protocols.tested]
        protocol = "cubic"
        [protocols.other]
        protocol = "cubic"
    "#;

    #[test]
    fn a_protocol_is_placed_in_single_loops_as_well() {
        let scenario = Scenario::parse(SPLIT, "split.toml", Path::new(""), &[], &Disk).unwrap();
        assert!(SubjectKind::Protocol.is_tested_in(&scenario));
        let pledge = Subject { kind: SubjectKind::Protocol, name: "pledge".to_owned() };
        let placed = pledge.placed_in(scenario.clone());
        let of_loops: Vec<&str> =
            placed.protocols["split"].loops.values().map(|protocol| protocol.value.as_str()).collect();
        assert_eq!(of_loops, ["pledge"]);
        assert!(!placed.protocols.contains_key(TESTED) && !SubjectKind::Protocol.is_tested_in(&placed));
        let without: Vec<String> = without_subject(scenario).protocols.into_keys().collect();
        assert_eq!(without, ["other"]);
    }
}
