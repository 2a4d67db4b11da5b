//! From a scenario's flows to those of the packet world: each a chain of loops, cut at its protocol's relays.

use super::cast::Role;
use super::faults;
use super::members::Member;
use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_scenario::{self as scenario, Fault, Hop, Scenario};
use millpond_sim::{FlowSpec, LinkId, LoopSpec, Workload};
use millpond_units::{Bytes, Rate, Span};

/// The flow of the packet world that `member` is.
pub(super) fn flow(
    scenario: &Scenario,
    role: &Role<'_>,
    member: &Member<'_>,
    link: &dyn Fn(Hop) -> Option<LinkId>,
) -> Result<FlowSpec, Fault> {
    let cut = scenario.loops(member.there, role.entry);
    let mut loops = Vec::with_capacity(cut.len());
    let mut relays = Vec::new();
    for (number, there) in cut.iter().enumerate() {
        let extra_delay = extra_delay(scenario, member, number);
        if let Some(entry) = role.entry.filter(|_| number + 1 < cut.len()) {
            let base_rtt = base_rtt(scenario, there, extra_delay);
            relays.push(relay_limit(scenario, entry, there, base_rtt, member.group.packet));
        }
        loops.push(one_loop(scenario, role, member, there, extra_delay, link)?);
    }
    Ok(FlowSpec {
        name: member.name.clone(),
        weight: member.group.weight,
        relays,
        loops,
        workload: match &member.group.workload {
            scenario::Workload::Bulk => Workload::Bulk,
            scenario::Workload::Sized(_) => Workload::Sized(member.draw.size.unwrap_or_default()),
            scenario::Workload::ConstantRate(rate) => Workload::Constant(*rate),
        },
        start: member.draw.start,
        stop: member.draw.stop,
    })
}

/// The base round-trip times of the loops of a flow.
pub(super) fn base_rtts(scenario: &Scenario, role: &Role<'_>, member: &Member<'_>) -> Vec<Span> {
    let cut = scenario.loops(member.there, role.entry);
    let numbered = cut.iter().enumerate();
    numbered.map(|(n, there)| base_rtt(scenario, there, extra_delay(scenario, member, n))).collect()
}

/// What the flow's base RTT exceeds that of its links is one delay element before its first link.
fn extra_delay(scenario: &Scenario, member: &Member<'_>, number: usize) -> Span {
    let own = scenario.propagation(member.there) + scenario.propagation(&member.back);
    if number == 0 { member.base_rtt.saturating_sub(own) } else { Span::ZERO }
}

/// The base round-trip time of a loop that takes the links `there`.
fn base_rtt(scenario: &Scenario, there: &[Hop], extra_delay: Span) -> Span {
    let back = scenario.way_back(there).unwrap_or_default();
    scenario.propagation(there) + scenario.propagation(&back) + extra_delay
}

fn one_loop(
    scenario: &Scenario,
    role: &Role<'_>,
    member: &Member<'_>,
    there: &[Hop],
    extra_delay: Span,
    link: &dyn Fn(Hop) -> Option<LinkId>,
) -> Result<LoopSpec, Fault> {
    let group = member.group;
    let law_fault = |error| faults::setting(scenario, &role.label.value, &[], role.label.place, &error);
    let back = scenario.way_back(there).ok_or_else(|| faults::no_way_back(scenario, group))?;
    let max_ack_delay = group.delayed_acks.map_or(Span::ZERO, |delayed| delayed.after);
    let sending = SenderConfig {
        overhead: group.overhead,
        weight: group.weight,
        max_ack_delay,
        ..SenderConfig::new(group.packet, role.needs)
    };
    Ok(LoopSpec {
        sender: role.protocol.sender(&role.settings).map_err(law_fault)?,
        receiver: role.protocol.receiver(&role.settings).map_err(law_fault)?,
        sending,
        receiving: ReceiverConfig {
            every: group.delayed_acks.map_or(1, |delayed| delayed.packets),
            max_delay: max_ack_delay,
            ack: group.ack,
        },
        forward: there.iter().filter_map(|hop| link(*hop)).collect(),
        backward: back.iter().filter_map(|hop| link(*hop)).collect(),
        extra_delay,
    })
}

/// The bound of the relay at the end of a loop that takes the links `there`.
fn relay_limit(
    scenario: &Scenario,
    entry: &scenario::ProtocolEntry,
    there: &[Hop],
    base_rtt: Span,
    packet: Bytes,
) -> Bytes {
    let rates =
        there.iter().map(|hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().mean());
    let slowest = rates.min().unwrap_or(Rate::MAX);
    match &entry.relay_buffer {
        scenario::Buffer::Unlimited => Bytes::MAX,
        scenario::Buffer::Bytes(bytes) => *bytes,
        scenario::Buffer::Packets(packets) => packet * *packets,
        scenario::Buffer::Time(span) => slowest.bytes_in(*span),
        scenario::Buffer::Bdp(times) => Bytes::from_f64(times * slowest.bytes_in(base_rtt).as_f64()),
    }
}
