//! What a user should know before looking at results.

use crate::delays::base_rtts;
use crate::flow_instances::Member;
use crate::protocols::Role;
use crate::traffic::{hop_name, hops};
use millpond_law::Pipe;
use millpond_scenario::{FlowGroup, Hop, Relays, Scenario, Workload};
use millpond_units::{Rate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// What the protocols say about their settings and their paths, each under the name that flows use; and which groups
/// never start, and which links are asked too much.
pub(crate) fn warnings(scenario: &Scenario, roles: &[Role<'_>], members: &[Member<'_>]) -> Vec<String> {
    let of_role = |role| of_role(scenario, role, members);
    let groups = idle_groups(scenario, members).chain(overloads(scenario, members));
    let groups = groups.chain(many_samples(scenario, members));
    roles.iter().flat_map(of_role).chain(groups).collect()
}

/// Links that cannot carry the transfers that come.
fn overloads<'a>(scenario: &'a Scenario, members: &'a [Member<'a>]) -> impl Iterator<Item = String> {
    let mut offers: BTreeMap<(usize, bool), f64> = BTreeMap::new();
    for member in members {
        let offered = offered_bps(member.group);
        member.there.iter().for_each(|hop| *offers.entry((hop.link, hop.forward)).or_default() += offered);
    }
    let warning = move |hop: Hop| {
        let offered = offers.get(&(hop.link, hop.forward)).copied().filter(|offered| *offered > 0.0)?;
        let capacity = scenario.links[hop.link].direction(hop.forward).rate.schedule().mean();
        let name = hop_name(scenario, hop);
        (offered > capacity.as_f64()).then(|| {
            let offered = Rate::from_bps(offered as u64);
            format!("transfers ask {offered} of \"{name}\", which has {capacity}: they pile up")
        })
    };
    hops(scenario).into_iter().filter_map(warning)
}

/// What the transfers of a source ask of its path on the average, in bit/s on the wire.
fn offered_bps(group: &FlowGroup) -> f64 {
    let Workload::Transfers { size, gap } = &group.workload else { return 0.0 };
    let payload = group.packet.saturating_sub(group.overhead).as_f64() / group.packet.as_f64();
    size.mean().as_f64() * 8.0 / payload / gap.mean().secs()
}

/// More samples of flows than this make large files.
const MANY_SAMPLES: u64 = 10_000_000;

/// Series that are longer than anybody will look at.
fn many_samples(scenario: &Scenario, members: &[Member<'_>]) -> Option<String> {
    let every = scenario.measure.every;
    let samples = members.len() as u64 * (scenario.duration.picos() / every.picos().max(1));
    (samples > MANY_SAMPLES).then(|| {
        let flows = members.len();
        format!("{flows} flows, each sampled every {every}: {samples} samples of each of their series; a longer measure.every makes smaller files")
    })
}

/// Groups of which no flow starts before the run ends.
fn idle_groups<'a>(scenario: &'a Scenario, members: &'a [Member<'_>]) -> impl Iterator<Item = String> {
    let end = Time::ZERO + scenario.duration;
    let started = members.iter().filter(move |member| member.draw.start < end);
    let started: BTreeSet<&str> = started.map(|member| member.group.name.value.as_str()).collect();
    let names = scenario.flows.iter().map(|group| &group.name.value);
    let names = names.filter(move |name| !started.contains(name.as_str()));
    names.map(move |name| format!("\"{name}\" never starts: the run ends at {end}"))
}

fn of_role(scenario: &Scenario, role: &Role<'_>, members: &[Member<'_>]) -> Vec<String> {
    let name = &role.label.value;
    let mut said = role.protocol.warnings(&role.settings);
    said.extend(role.protocol.path_warnings(&role.settings, longest_base_rtt(scenario, role, members)));
    let smallest = pipes(scenario, role, members).min_by(|a, b| a.packets().total_cmp(&b.packets()));
    said.extend(smallest.map(|pipe| role.protocol.pipe_warnings(&role.settings, &pipe)).unwrap_or_default());
    let mut warnings: Vec<_> = said.into_iter().map(|why| format!("{name}: {why}")).collect();
    let none = Relays::Nodes(Vec::new());
    if role.needs.relays && role.entry.is_none_or(|entry| entry.relays == none) {
        warnings.push(format!("{name} runs end to end: [protocols.{name}] names no relays"));
    }
    warnings
}

/// Each loop of each flow that runs this, and what the flow has of the links from there on. The transfers of a source
/// count as one flow.
fn pipes<'a>(
    scenario: &'a Scenario,
    role: &'a Role<'_>,
    members: &'a [Member<'_>],
) -> impl Iterator<Item = Pipe> {
    let own = || members.iter().filter(|member| member.group.protocol.value == role.label.value);
    let mut crowds: BTreeMap<(usize, bool), u64> = BTreeMap::new();
    for hop in own().flat_map(|member| member.there) {
        *crowds.entry((hop.link, hop.forward)).or_default() += 1;
    }
    let mean = |hop: Hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().mean();
    let rates: BTreeMap<(usize, bool), Rate> =
        hops(scenario).into_iter().map(|hop| ((hop.link, hop.forward), mean(hop))).collect();
    let rate = move |hop: &Hop| rates.get(&(hop.link, hop.forward)).copied().unwrap_or(Rate::MAX);
    own().flat_map(move |member| {
        let packet = member.group.packet;
        let (mut rest, mut pipes) = (member.there, Vec::new());
        for (there, base_rtt) in
            scenario.loops(member.there, role.entry).iter().zip(base_rtts(scenario, role, member))
        {
            let service: Span = there.iter().map(|hop| rate(hop).time_for(packet)).sum();
            let crowd = |hop: &Hop| crowds.get(&(hop.link, hop.forward)).copied().unwrap_or(1);
            let share = rest.iter().map(|hop| rate(hop) / crowd(hop)).min().unwrap_or(Rate::MAX);
            pipes.push(Pipe { rate: share, base_rtt: base_rtt + service, packet });
            rest = rest.get(there.len()..).unwrap_or_default();
        }
        pipes
    })
}

/// The longest base round-trip time of any loop that runs this.
fn longest_base_rtt(scenario: &Scenario, role: &Role<'_>, members: &[Member<'_>]) -> Span {
    let own = members.iter().filter(|member| member.group.protocol.value == role.label.value);
    own.flat_map(|member| base_rtts(scenario, role, member)).max().unwrap_or(Span::ZERO)
}
