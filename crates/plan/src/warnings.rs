//! Warnings: properties of a scenario that a user should know before looking at results.

use crate::delays::base_rtts;
use crate::flow_instances::FlowInstance;
use crate::least_rate::least_rate_warning;
use crate::protocols::ConfiguredProtocol;
use crate::traffic::{hop_name, hops};
use millpond_scenario::{FlowGroup, Hop, Relays, Scenario, Workload};
use millpond_units::{Rate, Readable, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The warnings of the protocols about their settings and paths, each with the protocol's name in the scenario; then
/// groups that never start, overloaded links and very long series.
pub(crate) fn warnings(
    scenario: &Scenario,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
) -> Vec<String> {
    let warnings_of = |configured| warnings_of(scenario, configured, instances);
    let groups = idle_groups(scenario, instances).chain(overloads(scenario, instances));
    let groups = groups.chain(many_samples(scenario, instances));
    protocols.iter().flat_map(warnings_of).chain(groups).collect()
}

/// Links whose capacity is below the mean rate of the transfers on them.
fn overloads<'a>(scenario: &'a Scenario, instances: &'a [FlowInstance<'a>]) -> impl Iterator<Item = String> {
    let mut offers: BTreeMap<(usize, bool), f64> = BTreeMap::new();
    for instance in instances {
        let offered = offered_bps(instance.group);
        instance
            .forward_path
            .iter()
            .for_each(|hop| *offers.entry((hop.link, hop.forward)).or_default() += offered);
    }
    let warning = move |hop: Hop| {
        let offered = offers.get(&(hop.link, hop.forward)).copied().filter(|offered| *offered > 0.0)?;
        let capacity =
            scenario.links[hop.link].direction(hop.forward).rate.schedule().mean(scenario.duration);
        let name = hop_name(scenario, hop);
        (offered > capacity.as_f64()).then(|| {
            let (offered, capacity) = (Rate::from_bps(offered as u64).readable(), capacity.readable());
            format!("transfers offer {offered} to \"{name}\", which has {capacity}: their number grows without bound")
        })
    };
    hops(scenario).into_iter().filter_map(warning)
}

/// The mean rate of the transfers of a source, in bit/s on the wire; zero for other workloads.
fn offered_bps(group: &FlowGroup) -> f64 {
    let Workload::Transfers { size, gap } = &group.workload else { return 0.0 };
    let payload = group.packet.saturating_sub(group.overhead).as_f64() / group.packet.as_f64();
    size.mean().as_f64() * 8.0 / payload / gap.mean().secs()
}

/// Above this number of samples of each quantity path is a warning about large files.
const MANY_SAMPLES: u64 = 10_000_000;

/// A warning if the series of the flows have more than [`MANY_SAMPLES`] samples.
fn many_samples(scenario: &Scenario, instances: &[FlowInstance<'_>]) -> Option<String> {
    let every = scenario.measure.every;
    let samples = instances.len() as u64 * (scenario.duration.picos() / every.picos().max(1));
    (samples > MANY_SAMPLES).then(|| {
        let (flows, every) = (instances.len(), every.readable());
        format!("{flows} flows with a sample every {every} have {samples} samples of each quantity; a longer measure.every makes smaller files")
    })
}

/// Groups without a flow that starts before the run ends.
fn idle_groups<'a>(
    scenario: &'a Scenario,
    instances: &'a [FlowInstance<'_>],
) -> impl Iterator<Item = String> {
    let (end, duration) = (Time::ZERO + scenario.duration, scenario.duration.readable());
    let started = instances.iter().filter(move |instance| instance.samples.start < end);
    let started: BTreeSet<&str> = started.map(|instance| instance.group.name.value.as_str()).collect();
    let names = scenario.flows.iter().map(|group| &group.name.value);
    let names = names.filter(move |name| !started.contains(name.as_str()));
    names.map(move |name| format!("\"{name}\" never starts: the run ends at {duration}"))
}

fn warnings_of(
    scenario: &Scenario,
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> Vec<String> {
    let name = &configured.label.value;
    let mut texts = configured.protocol.warnings(&configured.settings);
    texts.extend(
        configured
            .protocol
            .path_warnings(&configured.settings, longest_base_rtt(scenario, configured, instances)),
    );
    let loops = most_loops(scenario, configured, instances);
    texts.extend(configured.protocol.chain_warnings(&configured.settings, loops));
    texts.extend(least_rate_warning(scenario, configured, instances));
    let mut warnings: Vec<_> = texts.into_iter().map(|text| format!("{name}: {text}")).collect();
    let none = Relays::Nodes(Vec::new());
    if configured.needs.relays && configured.entry.is_none_or(|entry| entry.relays == none) {
        warnings.push(format!("{name} runs end to end: [protocols.{name}] has no relays"));
    }
    warnings
}

/// The greatest number of loops of a flow of this protocol.
fn most_loops(
    scenario: &Scenario,
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> usize {
    let flows = instances.iter().filter(|instance| instance.group.protocol.value == configured.label.value);
    flows.map(|instance| scenario.loops(instance.forward_path, configured.entry).len()).max().unwrap_or(0)
}

/// The longest base round-trip time of a loop of this protocol.
fn longest_base_rtt(
    scenario: &Scenario,
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> Span {
    let flows = instances.iter().filter(|instance| instance.group.protocol.value == configured.label.value);
    flows.flat_map(|instance| base_rtts(scenario, configured, instance)).max().unwrap_or(Span::ZERO)
}
