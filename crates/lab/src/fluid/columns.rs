//! Where an integration keeps what: places of states and channels, and both at a moment.

use millpond_fluid::{Column, Entity, Integration};
use millpond_plan::fluid::Plan;
use millpond_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// An integration at a moment: integrals of all channels since time zero, channels and states now.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    pub(super) time: Time,
    pub(super) integrals: Vec<f64>,
    pub(super) channels: Vec<f64>,
    pub(super) states: Vec<f64>,
}

impl Totals {
    pub(super) fn of(integration: &dyn Integration, time: Time) -> Self {
        let [integrals, channels, states] =
            [integration.integrals(), integration.channels(), integration.state()].map(<[f64]>::to_vec);
        Self { time, integrals, channels, states }
    }

    /// What a channel has added up to since an earlier moment.
    pub(super) fn since(&self, earlier: &Self, channel: usize) -> f64 {
        self.integrals[channel] - earlier.integrals[channel]
    }

    /// The mean of a channel since an earlier moment.
    pub(super) fn mean_since(&self, earlier: &Self, channel: usize) -> f64 {
        self.since(earlier, channel) / self.time.since(earlier.time).secs()
    }
}

/// A quantity of a law's own.
pub(super) struct Own {
    pub(super) quantity: &'static str,
    pub(super) unit: &'static str,
    pub(super) place: Place,
}

/// Where a quantity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the states.
    State(usize),
    /// Among the channels.
    Channel(usize),
}

/// Places of what is measured: channels unless the name says otherwise.
pub(super) struct Columns {
    /// Of each loop.
    pub(super) rate: Vec<usize>,
    pub(super) rtt: Vec<usize>,
    pub(super) delivered: Vec<usize>,
    /// Of each link of the engine.
    pub(super) delay: Vec<usize>,
    pub(super) marked: Vec<usize>,
    pub(super) lost: Vec<usize>,
    pub(super) arriving: Vec<usize>,
    pub(super) departing: Vec<usize>,
    pub(super) queue_state: Vec<usize>,
    /// By the loop that begins at the relay.
    pub(super) backlog_state: BTreeMap<usize, usize>,
    /// What the laws of an entity know and say.
    pub(super) own: BTreeMap<Entity, Vec<Own>>,
}

impl Columns {
    pub(super) fn new(plan: &Plan) -> Self {
        let (states, channels) = (plan.assembly.state_columns(), plan.assembly.channel_columns());
        let all = |columns: &[Column], quantity: &str| -> Vec<usize> {
            let named = columns.iter().enumerate().filter(|(_, column)| column.quantity == quantity);
            named.map(|(place, _)| place).collect()
        };
        let links = plan.links.iter().filter(|link| link.id.is_some()).count();
        // A queue law's signal may bear the name of a quantity of the engine's, which comes first.
        let of_links = |quantity: &str| all(&channels, quantity).into_iter().take(links).collect();
        let backlogs = states.iter().enumerate().filter(|(_, column)| column.quantity == "backlog");
        let relays = backlogs.filter_map(|(place, column)| match column.entity {
            Entity::Relay(relay) => Some((relay, place)),
            _ => None,
        });
        let downstream = downstream(plan);
        Self {
            rate: all(&channels, "sending rate"),
            rtt: all(&channels, "round-trip time"),
            delivered: all(&channels, "delivered rate"),
            delay: of_links("queueing delay"),
            marked: of_links("marking probability"),
            lost: of_links("loss probability"),
            arriving: of_links("arriving rate"),
            departing: of_links("departing rate"),
            queue_state: all(&states, "queue"),
            backlog_state: relays.map(|(relay, place)| (downstream[relay], place)).collect(),
            own: own(&states, &channels),
        }
    }
}

/// The loop behind each relay, in the order in which chains were joined.
fn downstream(plan: &Plan) -> Vec<usize> {
    let chains: BTreeSet<&Vec<millpond_fluid::LoopId>> = plan.flows.iter().map(|flow| &flow.loops).collect();
    chains.into_iter().flat_map(|chain| chain.iter().skip(1).map(|id| id.0)).collect()
}

/// All that laws know, and what links say that is no state of theirs.
fn own(states: &[Column], channels: &[Column]) -> BTreeMap<Entity, Vec<Own>> {
    let mut own: BTreeMap<Entity, Vec<Own>> = BTreeMap::new();
    let mut seen: BTreeSet<(Entity, &str)> = BTreeSet::new();
    let engines = channels.iter().rposition(|column| column.quantity == "departing rate").unwrap_or_default();
    let states = states.iter().enumerate().map(|(i, column)| (Place::State(i), column));
    let said = channels.iter().enumerate().skip(engines + 1);
    let said = said.filter(|(_, column)| matches!(column.entity, Entity::Link(_)));
    let said = said.map(|(i, column)| (Place::Channel(i), column));
    for (place, Column { entity, quantity, unit }) in states.chain(said) {
        let is_engines = matches!(entity, Entity::Relay(_)) || *quantity == "queue";
        if !is_engines && seen.insert((*entity, quantity)) {
            own.entry(*entity).or_default().push(Own { quantity, unit, place });
        }
    }
    own
}
