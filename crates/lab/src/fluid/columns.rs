//! Indices of the states and channels of an integration, and their values at one time.

use millpond_fluid::{Entity, Integration, ProtocolId, SolutionColumn};
use millpond_plan::fluid::FluidPlan;
use millpond_units::Time;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The values of an integration at one time: integrals of all channels since time zero, channels, states and discrete states.
#[derive(Clone, Debug)]
pub(super) struct IntegrationSnapshot {
    pub(super) time: Time,
    pub(super) integrals: Vec<f64>,
    pub(super) channels: Vec<f64>,
    pub(super) states: Vec<f64>,
    pub(super) discrete: Vec<u64>,
}

impl IntegrationSnapshot {
    pub(super) fn of(integration: &dyn Integration, time: Time) -> Self {
        let [integrals, channels, states] =
            [integration.integrals(), integration.channels(), integration.state()].map(<[f64]>::to_vec);
        Self { time, integrals, channels, states, discrete: integration.discrete().to_vec() }
    }

    /// The integral of a channel since an earlier snapshot.
    pub(super) fn since(&self, earlier: &Self, channel: usize) -> f64 {
        self.integrals[channel] - earlier.integrals[channel]
    }

    /// The mean of a channel since an earlier snapshot.
    pub(super) fn mean_since(&self, earlier: &Self, channel: usize) -> f64 {
        self.since(earlier, channel) / self.time.since(earlier.time).secs()
    }
}

/// The queueing delay of a relay over time.
pub(super) struct RelayDelay {
    /// The state of the backlog.
    backlog: usize,
    /// The channel of the sending rate.
    rate: usize,
    /// At the last sample, in seconds.
    last: f64,
}

impl RelayDelay {
    pub(super) const fn new(backlog: usize, rate: usize) -> Self {
        Self { backlog, rate, last: 0.0 }
    }

    /// The backlog in bits.
    pub(super) fn backlog(&self, now: &IntegrationSnapshot) -> f64 {
        now.states[self.backlog]
    }

    /// The delay in seconds at the end of an interval that begins at the last sample.
    pub(super) fn sample(&mut self, before: &IntegrationSnapshot, now: &IntegrationSnapshot) -> f64 {
        let elapsed = now.time.since(before.time).secs();
        self.last = relay_delay(now.states[self.backlog], now.channels[self.rate], self.last + elapsed);
        self.last
    }
}

/// The time in seconds in which a relay sends its backlog, at most `longest`. A relay sends in the order of arrival, so that the time
/// which its oldest bit has waited grows by no more than the elapsed time, however small the rate is at the moment.
fn relay_delay(backlog: f64, rate: f64, longest: f64) -> f64 {
    match (backlog > 0.0, rate > 0.0) {
        (true, true) => (backlog / rate).min(longest),
        (true, false) => longest,
        (false, _) => 0.0,
    }
}

/// An internal quantity of a law.
pub(super) struct LawQuantity {
    /// The name of the quantity, with that of its protocol if two routers of a link have quantities of that name.
    pub(super) quantity: Cow<'static, str>,
    pub(super) unit: &'static str,
    pub(super) index: ColumnIndex,
}

/// The index of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnIndex {
    /// Among the states.
    State(usize),
    /// Among the discrete states of laws.
    Discrete(usize),
    /// Among the channels.
    Channel(usize),
}

/// Indices of the measured quantities: channels, unless the name ends in `_state`.
pub(super) struct Columns {
    /// For each loop: sending rate, round-trip time and delivered rate.
    pub(super) rate: Vec<usize>,
    pub(super) rtt: Vec<usize>,
    pub(super) delivered: Vec<usize>,
    /// For each link of the engine.
    pub(super) delay: Vec<usize>,
    pub(super) marked: Vec<usize>,
    pub(super) lost: Vec<usize>,
    pub(super) arriving: Vec<usize>,
    pub(super) departing: Vec<usize>,
    pub(super) queue_state: Vec<usize>,
    /// The backlog of each relay, by the loop that begins at it.
    pub(super) backlog_state: BTreeMap<usize, usize>,
    /// The internal quantities of the laws of each entity.
    pub(super) law_quantities: BTreeMap<Entity, Vec<LawQuantity>>,
}

impl Columns {
    pub(super) fn new(plan: &FluidPlan) -> Self {
        let (states, channels) = (plan.assembly.state_columns(), plan.assembly.channel_columns());
        let all = |columns: &[SolutionColumn], quantity: &str| -> Vec<usize> {
            let named = columns.iter().enumerate().filter(|(_, column)| column.quantity == quantity);
            named.map(|(place, _)| place).collect()
        };
        let links = plan.links.iter().filter(|link| link.id.is_some()).count();
        // The signal of a queue law may have the name of a quantity of the engine, which comes first.
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
            law_quantities: law_quantities(plan, &states, &channels),
        }
    }
}

/// The loop after each relay, in the order in which the relays were added.
fn downstream(plan: &FluidPlan) -> Vec<usize> {
    let chains: BTreeSet<&Vec<millpond_fluid::LoopId>> = plan.flows.iter().map(|flow| &flow.loops).collect();
    chains.into_iter().flat_map(|chain| chain.iter().skip(1).map(|id| id.0)).collect()
}

/// All states and discrete states of laws, and the signals of links that are not states.
fn law_quantities(
    plan: &FluidPlan,
    states: &[SolutionColumn],
    channels: &[SolutionColumn],
) -> BTreeMap<Entity, Vec<LawQuantity>> {
    let mut quantities: BTreeMap<Entity, Vec<LawQuantity>> = BTreeMap::new();
    let engines = channels.iter().rposition(|column| column.quantity == "departing rate").unwrap_or_default();
    let states = states.iter().enumerate().map(|(i, column)| (ColumnIndex::State(i), column));
    let discrete = plan.assembly.discrete_columns();
    let discrete = discrete.iter().enumerate().map(|(i, column)| (ColumnIndex::Discrete(i), column));
    let signals = channels.iter().enumerate().skip(engines + 1);
    let signals = signals.filter(|(_, column)| matches!(column.entity, Entity::Link(_)));
    let signals = signals.map(|(i, column)| (ColumnIndex::Channel(i), column));
    let is_of_law =
        |column: &SolutionColumn| !matches!(column.entity, Entity::Relay(_)) && column.quantity != "queue";
    let columns: Vec<(ColumnIndex, &SolutionColumn)> =
        states.chain(discrete).chain(signals).filter(|(_, column)| is_of_law(column)).collect();
    let routers = routers_by_quantity(&columns);
    let mut seen: BTreeSet<(Entity, &str, Option<ProtocolId>)> = BTreeSet::new();
    for (index, SolutionColumn { entity, quantity, unit, router }) in columns {
        if !seen.insert((*entity, quantity, *router)) {
            continue;
        }
        let is_first = routers[&(*entity, *quantity)].first() == Some(router);
        let quantity = match router.filter(|_| !is_first) {
            Some(ProtocolId(protocol)) => format!("{quantity} of {}", plan.protocols[protocol]).into(),
            None => Cow::from(*quantity),
        };
        quantities.entry(*entity).or_default().push(LawQuantity { quantity, unit, index });
    }
    quantities
}

/// The routers of each entity that have a quantity of this name, in the order of the protocols of the scenario, as in the packet
/// world: the first one gives the quantity its name. A queue law comes before them.
fn routers_by_quantity<'a>(
    columns: &[(ColumnIndex, &'a SolutionColumn)],
) -> BTreeMap<(Entity, &'a str), BTreeSet<Option<ProtocolId>>> {
    let mut routers: BTreeMap<(Entity, &str), BTreeSet<Option<ProtocolId>>> = BTreeMap::new();
    for (_, column) in columns {
        routers.entry((column.entity, column.quantity)).or_default().insert(column.router);
    }
    routers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A backlog of 1.2 Mbit at 4 Mbit/s, at a rate that has nearly vanished, at no rate, and an empty relay.
    #[test]
    fn the_delay_of_a_relay_grows_by_no_more_than_the_elapsed_time() {
        let delays = [(1.2e6, 4e6), (1.2e6, 1e-3), (1.2e6, 0.0), (0.0, 1e-3)];
        assert_eq!(delays.map(|(backlog, rate)| relay_delay(backlog, rate, 0.4)), [0.3, 0.4, 0.4, 0.0]);
    }
}
