//! Base round-trip times of flows and of their loops.

use crate::flow_instances::Member;
use crate::protocols::Role;
use millpond_scenario::{Hop, Scenario};
use millpond_units::Span;

/// The base round-trip times of the loops of a flow.
pub(crate) fn base_rtts(scenario: &Scenario, role: &Role<'_>, member: &Member<'_>) -> Vec<Span> {
    let cut = scenario.loops(member.there, role.entry);
    let numbered = cut.iter().enumerate();
    numbered.map(|(n, there)| base_rtt(scenario, there, extra_delay(scenario, member, n))).collect()
}

/// What the flow's base RTT exceeds that of its links is one delay element before its first link.
pub(crate) fn extra_delay(scenario: &Scenario, member: &Member<'_>, number: usize) -> Span {
    let own = scenario.propagation(member.there) + scenario.propagation(&member.back);
    if number == 0 { member.base_rtt.saturating_sub(own) } else { Span::ZERO }
}

/// The base round-trip time of a loop that takes the links `there`.
pub(crate) fn base_rtt(scenario: &Scenario, there: &[Hop], extra_delay: Span) -> Span {
    let back = scenario.return_path(there).unwrap_or_default();
    scenario.propagation(there) + scenario.propagation(&back) + extra_delay
}
