//! What a user should know before looking at results.

use super::cast::Role;
use super::flows::base_rtts;
use super::members::Member;
use millpond_scenario::{Relays, Scenario};
use millpond_units::Span;

/// What the protocols say about their settings and their paths, each under the name that flows use.
pub(super) fn warnings(scenario: &Scenario, roles: &[Role<'_>], members: &[Member<'_>]) -> Vec<String> {
    let of_role = |role| of_role(role, longest_base_rtt(scenario, role, members));
    roles.iter().flat_map(of_role).collect()
}

fn of_role(role: &Role<'_>, base_rtt: Span) -> Vec<String> {
    let name = &role.label.value;
    let mut said = role.protocol.warnings(&role.settings);
    said.extend(role.protocol.path_warnings(&role.settings, base_rtt));
    let mut warnings: Vec<_> = said.into_iter().map(|why| format!("{name}: {why}")).collect();
    let none = Relays::Nodes(Vec::new());
    if role.needs.relays && role.entry.is_none_or(|entry| entry.relays == none) {
        warnings.push(format!("{name} runs end to end: [protocols.{name}] names no relays"));
    }
    warnings
}

/// The longest base round-trip time of any loop that runs this.
fn longest_base_rtt(scenario: &Scenario, role: &Role<'_>, members: &[Member<'_>]) -> Span {
    let own = members.iter().filter(|member| member.group.protocol.value == role.label.value);
    own.flat_map(|member| base_rtts(scenario, role, member)).max().unwrap_or(Span::ZERO)
}
