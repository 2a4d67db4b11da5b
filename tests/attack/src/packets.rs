//! What must hold after every run of the packet world.

use crate::case::{Case, WorkloadCase};
use crate::ensure;
use millpond_plan::packets::{PacketFlowPlan, PacketPlan, plan};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_sim::{FlowView, LoopView, PacketNetwork};
use millpond_units::{Span, Time};
use std::collections::BTreeSet;

/// Runs the network of a scenario and checks it at its end.
///
/// # Errors
/// The first invariant that does not hold, with its numbers.
pub(crate) fn check(case: &Case, scenario: &Scenario, registry: &Registry) -> Result<(), String> {
    let mut plan = plan(scenario, registry).map_err(|faults| faults.to_string())?;
    let end = Time::ZERO + scenario.duration;
    plan.network.run_to(end);
    links_serve_at_most_their_capacity(&plan.network, end)?;
    packets_are_conserved(&plan)?;
    for flow in &plan.flows {
        bytes_are_conserved(&plan, flow)?;
        round_trips_take_at_least_the_base_rtt(&plan, flow)?;
    }
    goodputs_fit_into_links(&plan)?;
    let all_sized = case.flows.iter().all(|flow| matches!(flow.workload, WorkloadCase::Sized(_)));
    if all_sized && !has_cobalt(case) {
        sized_flows_complete(&mut plan, end)?;
    }
    Ok(())
}

/// A link serves at most the integral of its rate; a bit more because of rounding.
fn links_serve_at_most_their_capacity(network: &PacketNetwork, end: Time) -> Result<(), String> {
    for link in network.links() {
        let (served, capacity) = (link.totals().served_bytes * 8, link.capacity_bits(Time::ZERO, end));
        let name = link.name();
        ensure!(served <= capacity + 1, "{name} served {served} bits with a capacity of {capacity}");
        ensure!(link.utilization() <= 1.0 + 1e-9, "{name} has a utilization of {}", link.utilization());
        let totals = link.totals();
        let left = totals.served + totals.buffer_drops + totals.law_drops + link.queue_packets();
        ensure!(totals.arrivals == left, "{name}: {} packets arrived, {left} are known", totals.arrivals);
    }
    Ok(())
}

/// Data and acknowledgements sent are dropped, in the network or have arrived, and an acknowledgement arrives once.
fn packets_are_conserved(plan: &PacketPlan) -> Result<(), String> {
    let network = &plan.network;
    let (mut sent, mut arrived, mut acks) = (0, 0, 0);
    let mut known = BTreeSet::new();
    for view in network.flows().flat_map(|flow| flow.loops()) {
        // Flows of a shared loop have its sender in common.
        if known.insert(std::ptr::from_ref(view.sender())) {
            sent += view.totals().sent;
            arrived += view.totals().arrived;
            acks += view.receiver().counters().acks;
        }
    }
    let dropped: u64 = network.links().map(|link| link.totals().drops()).sum();
    let present = network.packets_in_network() as u64;
    if plan.sources.is_empty() {
        let all = sent + acks;
        ensure!(
            all >= dropped + present + arrived,
            "{all} packets were sent, but {dropped} dropped, {present} are present and {arrived} arrived"
        );
        let arrived_acks = all - dropped - present - arrived;
        ensure!(arrived_acks <= acks, "{acks} acknowledgements were sent and {arrived_acks} arrived");
    }
    Ok(())
}

/// What has arrived at a relay has left it or is in its queue; nothing arrives that was not sent.
fn bytes_are_conserved(plan: &PacketPlan, flow: &PacketFlowPlan) -> Result<(), String> {
    let view = plan.network.flow(flow.id);
    let name = &flow.name;
    let loops: Vec<LoopView<'_>> = view.loops().collect();
    for view in &loops {
        let (sent, arrived) = (view.stream_bytes_sent(), view.arrived());
        ensure!(arrived <= sent, "{name}: {sent} were sent in a loop and {arrived} arrived");
    }
    for pair in loops.windows(2) {
        let (arrived, kept) = (pair[0].arrived(), pair[1].stream_bytes_sent() + pair[1].backlog());
        ensure!(arrived == kept, "{name}: {arrived} arrived at a relay, which sent or holds {kept}");
    }
    if let Some(size) = flow.size {
        let (delivered, is_complete) = (view.delivered(), view.completed().is_some());
        ensure!(delivered <= size, "{name}: {delivered} of {size} were delivered");
        ensure!(is_complete == (delivered == size), "{name}: {delivered} of {size}, complete: {is_complete}");
    }
    Ok(())
}

fn round_trips_take_at_least_the_base_rtt(plan: &PacketPlan, flow: &PacketFlowPlan) -> Result<(), String> {
    let view: FlowView<'_> = plan.network.flow(flow.id);
    let rtts = view.first().round_trip_times();
    if flow.relays.is_empty() && rtts.total() > 0 {
        let (least, base) = (Span::from_picos(rtts.min()), flow.base_rtt);
        ensure!(least >= base, "{}: an RTT of {least} is below the base RTT of {base}", flow.name);
    }
    Ok(())
}

/// What flows deliver has crossed each link of their paths.
fn goodputs_fit_into_links(plan: &PacketPlan) -> Result<(), String> {
    for (index, link) in plan.links.iter().enumerate() {
        let crossing = plan.flows.iter().filter(|flow| flow.links.contains(&index));
        let delivered: u64 = crossing.map(|flow| plan.network.flow(flow.id).delivered().get()).sum();
        let served = plan.network.link(link.id).totals().served_bytes;
        ensure!(delivered <= served, "{}: {served} bytes were served, {delivered} delivered", link.entity);
    }
    Ok(())
}

/// COBALT's BLUE lowers its drop probability by 1/4096 each time that the queue becomes empty. A flow that does not send less
/// when packets are lost raises it to nearly one, and then sends too few packets to lower it within hours.
fn has_cobalt(case: &Case) -> bool {
    case.all_links().any(|link| link.keys.iter().any(|key| key == "queue = \"cobalt\""))
}

/// A run warns of a law whose window falls to its minimum on a long path: Swift then sends a packet per thousand round trips.
fn has_minimum_window(plan: &PacketPlan) -> bool {
    plan.warnings.iter().any(|warning| warning.contains("the window falls to its minimum"))
}

/// Flows of a given size over links that are up in the end complete, and leave no packet in the network. Those whose window
/// falls to its minimum need not.
fn sized_flows_complete(plan: &mut PacketPlan, end: Time) -> Result<(), String> {
    const SECONDS: u64 = 3000;
    let mut now = end;
    for _ in 0..SECONDS {
        if plan.flows.iter().all(|flow| plan.network.flow(flow.id).completed().is_some()) {
            // The last acknowledgements, and packets that were sent twice.
            plan.network.run_to(now + Span::from_secs(300.0));
            let present = plan.network.packets_in_network();
            ensure!(present == 0, "{present} packets are in the network after all flows have ended");
            return Ok(());
        }
        now += Span::from_secs(1.0);
        plan.network.run_to(now);
    }
    let mut open = plan.flows.iter().filter(|flow| plan.network.flow(flow.id).completed().is_none());
    match open.find(|flow| flow.protocol != "swift" || !has_minimum_window(plan)) {
        None => Ok(()),
        Some(flow) => Err(format!("\"{}\" is not complete {SECONDS} s after the end of the run", flow.name)),
    }
}
