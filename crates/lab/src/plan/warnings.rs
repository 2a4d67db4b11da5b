//! What a user should know before looking at results.

use super::cast::Role;
use super::flows::base_rtts;
use super::members::Member;
use millpond_scenario::{Relays, Scenario};
use millpond_units::{Span, Time};

/// What the protocols say about their settings and their paths, each under the name that flows use; and which groups
/// never start.
pub(super) fn warnings(scenario: &Scenario, roles: &[Role<'_>], members: &[Member<'_>]) -> Vec<String> {
    let of_role = |role| of_role(role, longest_base_rtt(scenario, role, members));
    roles.iter().flat_map(of_role).chain(idle_groups(scenario, members)).collect()
}

/// Groups of which no flow starts before the run ends.
fn idle_groups<'a>(scenario: &'a Scenario, members: &'a [Member<'_>]) -> impl Iterator<Item = String> {
    let end = Time::ZERO + scenario.duration;
    let starts = move |name: &str| {
        members.iter().any(|member| member.group.name.value == name && member.draw.start < end)
    };
    let names = scenario.flows.iter().map(|group| &group.name.value).filter(move |name| !starts(name));
    names.map(move |name| format!("\"{name}\" never starts: the run ends at {end}"))
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
