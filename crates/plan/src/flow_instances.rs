//! Every flow of every group, with its way, its base round-trip time and its draws.

use crate::faults;
use crate::sampling::{Draw, draws, flow_name};
use millpond_scenario::{Fault, FlowGroup, Hop, Scenario};
use millpond_units::Span;

/// One flow.
pub(crate) struct Member<'s> {
    pub(crate) name: String,
    pub(crate) group: &'s FlowGroup,
    pub(crate) there: &'s [Hop],
    /// The way of its acknowledgements.
    pub(crate) back: Vec<Hop>,
    /// From end to end, without queueing and service, as it is when the run begins.
    pub(crate) base_rtt: Span,
    pub(crate) draw: Draw,
}

/// All flows, group after group.
pub(crate) fn members(scenario: &Scenario) -> Result<Vec<Member<'_>>, Fault> {
    let mut members = Vec::new();
    for group in &scenario.flows {
        for (index, draw) in draws(group, scenario.seed).into_iter().enumerate() {
            members.push(member(scenario, group, index, draw)?);
        }
    }
    Ok(members)
}

fn member<'s>(
    scenario: &'s Scenario,
    group: &'s FlowGroup,
    index: usize,
    draw: Draw,
) -> Result<Member<'s>, Fault> {
    let there = group.paths.get(index % group.paths.len().max(1)).map_or(&[][..], Vec::as_slice);
    let Some(back) = scenario.return_path(there) else {
        return Err(faults::no_way_back(scenario, group));
    };
    let own = scenario.propagation(there) + scenario.propagation(&back);
    Ok(Member {
        name: flow_name(group, index as u32),
        group,
        there,
        back,
        base_rtt: draw.rtt.unwrap_or(own).max(own),
        draw,
    })
}
