//! Warnings: properties of a scenario that a user should know before looking at results.

use crate::delays::base_rtts;
use crate::flow_instances::FlowInstance;
use crate::least_rate::least_rate_warning;
use crate::protocols::{ConfiguredProtocol, labels_of_loops};
use crate::queue_conflicts::missing_marks;
use crate::queue_warnings::queue_warnings;
use crate::traffic::{hop_name, hops};
use millpond_protocols::Registry;
use millpond_scenario::{Buffer, Faults, FlowGroup, Hop, ProtocolEntry, Scenario, Scheduler, Size, Workload};
use millpond_units::{Rate, Readable, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The warnings of the protocols about their settings and paths, each with the protocol's name in the scenario; then
/// protocols without the marks that they need, queue laws that never act, groups that never start, overloaded links, weights
/// without effect, very long series and runs that are too short for fair shares.
///
/// # Errors
/// Those of [`missing_marks`] and [`queue_warnings`].
pub(crate) fn warnings(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
) -> Result<Vec<String>, Faults> {
    let warnings_of = |configured| warnings_of(scenario, protocols, configured, instances);
    let marks = missing_marks(scenario, registry, protocols)?;
    let groups = idle_groups(scenario, instances).chain(overloads(scenario, instances));
    let groups = groups.chain(unused_weights(scenario, protocols, instances));
    let groups = groups.chain(many_samples(scenario, instances)).chain(no_window(scenario, instances));
    let queues = queue_warnings(scenario, registry, protocols, instances)?;
    Ok(protocols.iter().flat_map(warnings_of).chain(marks).chain(queues).chain(groups).collect())
}

/// Links whose capacity is below the mean rate of the transfers on them, of all sources that are active at one time.
fn overloads<'a>(scenario: &'a Scenario, instances: &'a [FlowInstance<'a>]) -> impl Iterator<Item = String> {
    let mut changes: BTreeMap<(usize, bool), Vec<(Time, f64)>> = BTreeMap::new();
    for instance in instances {
        let (offered, samples) = (offered_bps(instance.group), &instance.samples);
        let (start, stop) = (samples.start, samples.stop.unwrap_or(Time::NEVER));
        for hop in instance.forward_path.iter().filter(|_| offered > 0.0) {
            changes.entry((hop.link, hop.forward)).or_default().extend([(start, offered), (stop, -offered)]);
        }
    }
    let warning = move |hop: Hop| {
        let offered = largest_sum(changes.get(&(hop.link, hop.forward))?);
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

/// The largest sum that changes at these times lead to. At one time falls come before rises.
fn largest_sum(changes: &[(Time, f64)]) -> f64 {
    let mut changes = changes.to_vec();
    changes.sort_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let sums = changes.iter().scan(0.0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.fold(0.0, f64::max)
}

/// The mean rate of the transfers of a source, in bit/s on the wire; zero for other workloads.
fn offered_bps(group: &FlowGroup) -> f64 {
    let Workload::Transfers { size, gap } = &group.workload else { return 0.0 };
    8.0 * bytes_on_the_wire(group, size) / gap.mean().secs()
}

/// The mean number of bytes of a transfer with the headers of its packets: exact for a constant size. Of random sizes at least that
/// of a mean number of packets, which need not be whole, and is at least one.
fn bytes_on_the_wire(group: &FlowGroup, size: &Size) -> f64 {
    let packets = size.mean().as_f64() / group.packet.saturating_sub(group.overhead).as_f64();
    let packets = if matches!(size, Size::Constant(_)) { packets.ceil() } else { packets.max(1.0) };
    size.mean().as_f64() + packets * group.overhead.as_f64()
}

/// Groups with a weight that neither a law nor a scheduler of their paths reads.
fn unused_weights<'a>(
    scenario: &'a Scenario,
    protocols: &'a [ConfiguredProtocol<'_>],
    instances: &'a [FlowInstance<'_>],
) -> impl Iterator<Item = String> + use<'a> {
    let reads_weight = |name: &str| {
        let configured = protocols.iter().find(|configured| configured.label.value == name);
        configured.is_some_and(|configured| configured.protocol.reads_weight())
    };
    let is_used = move |instance: &FlowInstance<'_>| {
        let entry = scenario.protocols.get(&instance.group.protocol.value);
        let has_scheduler =
            |hop: &Hop| scenario.links[hop.link].direction(hop.forward).scheduler != Scheduler::Fifo;
        let loops = scenario.loops(instance.forward_path, entry);
        entry.is_some_and(|entry| !entry.aggregate.is_empty())
            || instance.forward_path.iter().any(has_scheduler)
            || labels_of_loops(scenario, instance, &loops).iter().any(|label| reads_weight(&label.value))
    };
    let unused = move |group: &FlowGroup| {
        let mut own = instances.iter().filter(|instance| instance.group.name.value == group.name.value);
        (group.weight != 1.0 && !own.any(is_used)).then(|| {
            format!(
                "\"{}\": weight = {} has no effect: {} does not read it, and no link of its paths has a scheduler that does",
                group.name.value, group.weight, group.protocol.value
            )
        })
    };
    scenario.flows.iter().filter_map(unused)
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

/// A warning if no window of the short-term Jain index ends in the measured time of several flows: without one no flow has a
/// fair share.
fn no_window(scenario: &Scenario, instances: &[FlowInstance<'_>]) -> Option<String> {
    let window = scenario.measure.jain_window;
    let windows = scenario.duration.picos() / window.picos().max(1);
    let ends = Time::ZERO + window * windows;
    (instances.len() > 1 && ends <= scenario.measure.from).then(|| {
        let (window, duration) = (window.readable(), scenario.duration.readable());
        format!(
            "no window of measure.jain_window = \"{window}\" ends in the measured time of a run of {duration}: flows have no \
             fair share, and starving ones are not found"
        )
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
    protocols: &[ConfiguredProtocol<'_>],
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> Vec<String> {
    let (name, protocol, settings) = (&configured.label.value, configured.protocol, &configured.settings);
    let chains = instances.iter().map(|instance| base_rtts_of_protocol(scenario, name, instance));
    let (longest_base_rtt, most_loops) = chains.fold((Span::ZERO, 0), |(longest, most), base_rtts| {
        (base_rtts.iter().copied().fold(longest, Span::max), most.max(base_rtts.len()))
    });
    let mut texts = protocol.warnings(settings);
    texts.extend(protocol.path_warnings(settings, longest_base_rtt));
    texts.extend(protocol.chain_warnings(settings, most_loops));
    texts.extend(least_rate_warning(scenario, protocols, configured, instances));
    let mut warnings: Vec<_> = texts.into_iter().map(|text| format!("{name}: {text}")).collect();
    let is_of_a_group = scenario.flows.iter().any(|group| group.protocol.value == *name);
    let has_no_relays = configured.entry.is_none_or(|entry| entry.relays.is_empty());
    if configured.needs.relays && has_no_relays && is_of_a_group {
        warnings.push(format!("{name} runs end to end: [protocols.{name}] has no relays"));
    }
    warnings.extend(short_buffer(scenario, configured, instances));
    warnings
}

/// A relay buffer in time that is shorter than the base RTT of a loop before a relay. What is under way counts, so that the loop has at
/// most this part of what the next one may send.
fn short_buffer(
    scenario: &Scenario,
    configured: &ConfiguredProtocol<'_>,
    instances: &[FlowInstance<'_>],
) -> Option<String> {
    let name = &configured.label.value;
    let Some(ProtocolEntry { relay_buffer: Buffer::Time(delay), .. }) = configured.entry else { return None };
    let own = instances.iter().filter(|instance| instance.group.protocol.value == *name);
    let before_relays = own.flat_map(|instance| {
        let loops = scenario.loops(instance.forward_path, configured.entry);
        let mut rtts = base_rtts(scenario, instance, &loops);
        rtts.pop();
        rtts
    });
    let longest = before_relays.max().filter(|rtt| rtt > delay)?;
    Some(format!(
        "{name}: relay_buffer = \"{}\" is shorter than a base RTT of {} before a relay, and contains what is under way: that loop has at \
         most {:.0} % of what the next one may send",
        delay.readable(),
        longest.readable(),
        100.0 * delay.secs() / longest.secs()
    ))
}

/// The base round-trip times of those loops of a flow that run this protocol.
fn base_rtts_of_protocol(scenario: &Scenario, name: &str, instance: &FlowInstance<'_>) -> Vec<Span> {
    let own = &instance.group.protocol.value;
    let entry = scenario.protocols.get(own);
    let runs_in_loops = |entry: &ProtocolEntry| entry.loops.values().any(|protocol| protocol.value == name);
    if own != name && !entry.is_some_and(runs_in_loops) {
        return Vec::new();
    }
    let loops = scenario.loops(instance.forward_path, entry);
    let labels = labels_of_loops(scenario, instance, &loops);
    let of_loops = labels.into_iter().zip(base_rtts(scenario, instance, &loops));
    of_loops.filter(|(label, _)| label.value == name).map(|(_, base_rtt)| base_rtt).collect()
}
