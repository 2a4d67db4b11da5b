//! From a scenario's flows to those of the packet world: each a chain of loops, cut at its protocol's relays.

use super::cast::Role;
use super::faults;
use super::members::Member;
use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_scenario::{self as scenario, Fault, Hop, Scenario};
use millpond_sim::{FlowSpec, LinkId, LoopSpec, Workload};
use millpond_units::{Bytes, Span};

/// The flow of the packet world that `member` is.
pub(super) fn flow(
    scenario: &Scenario,
    role: &Role<'_>,
    member: &Member<'_>,
    link: &dyn Fn(Hop) -> Option<LinkId>,
) -> Result<FlowSpec, Fault> {
    let cut = scenario.loops(member.there, role.entry);
    let own = scenario.propagation(member.there) + scenario.propagation(&member.back);
    let mut loops = Vec::with_capacity(cut.len());
    for (number, there) in cut.iter().enumerate() {
        // What the flow's base RTT exceeds that of its links is one delay element before its first link.
        let extra_delay = if number == 0 { member.base_rtt.saturating_sub(own) } else { Span::ZERO };
        loops.push(one_loop(scenario, role, member, there, extra_delay, link)?);
    }
    let relay = role.entry.map_or(Bytes::MAX, |entry| relay_limit(&entry.relay_buffer, member.group.packet));
    Ok(FlowSpec {
        name: member.name.clone(),
        weight: member.group.weight,
        relays: vec![relay; loops.len().saturating_sub(1)],
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

/// The bound of a relay's send queue; the scenario allows bytes, packets or unlimited.
fn relay_limit(buffer: &scenario::Buffer, packet: Bytes) -> Bytes {
    match buffer {
        scenario::Buffer::Bytes(bytes) => *bytes,
        scenario::Buffer::Packets(packets) => packet * *packets,
        scenario::Buffer::Unlimited | scenario::Buffer::Time(_) | scenario::Buffer::Bdp(_) => Bytes::MAX,
    }
}
