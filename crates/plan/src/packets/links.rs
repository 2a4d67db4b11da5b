//! From the links of a scenario to those of the simulator.

use crate::buffers::{buffer, packet_beyond_buffer};
use crate::laws::{BuiltLaws, laws, queue_place};
use crate::protocols::ConfiguredProtocol;
use crate::traffic::{LinkTraffic, facts, hop_name};
use millpond_law::{
    DeficitRoundRobin, FairScheduler, FlowQueues, LinkFacts, QueueLaw, Random, Scheduler, StrictPriority,
};
use millpond_protocols::Registry;
use millpond_scenario as scenario;
use millpond_scenario::{Delay, Direction, End, Fault, Faults, Hop, Scenario};
use millpond_sim::{AtEnd, Jitter, LinkLayer, LinkSpec, Loss, NodeId, Processing, Propagation, Schedule};
use millpond_units::{Bytes, Span, Time};
use std::sync::Arc;

/// The simulator's link for `hop`.
pub(super) fn link(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    traffic: &LinkTraffic<'_, '_>,
    hop: Hop,
    ends: (NodeId, NodeId),
) -> Result<LinkSpec, Faults> {
    let direction = scenario.links[hop.link].direction(hop.forward);
    let mut random =
        Random::stream(scenario.seed, &format!("link {} configured rate", hop_name(scenario, hop)));
    let configured = direction.configured.schedule(&direction.rate, scenario.duration, || random.uniform());
    let configured_capacity = Arc::new(schedule(&configured));
    let buffer = buffer(direction, traffic, scenario.duration);
    if let Some(packet) = packet_beyond_buffer(buffer, traffic) {
        return Err(too_small_buffer(scenario, hop, packet).into());
    }
    let facts = LinkFacts {
        capacity_changes: configured.steps.len() > 1,
        ..facts(configured_capacity.rate_at(Time::ZERO), buffer, traffic)
    };
    let BuiltLaws { queue, routers } = laws(scenario, registry, protocols, traffic, hop, &facts)?;
    let queue = scheduled(direction.scheduler, queue, &facts).map_err(|refusal| match refusal {
        NotPerFlow::OneQueue => queue_for_all_flows(scenario, hop),
        NotPerFlow::OwnScheduler => queue_with_scheduler(scenario, hop),
    })?;
    Ok(LinkSpec {
        name: hop_name(scenario, hop),
        from: ends.0,
        to: ends.1,
        rate: Arc::new(schedule(&direction.rate.schedule())),
        configured_capacity: Some(configured_capacity),
        propagation: propagation(direction),
        loss: loss(&direction.loss),
        link_layer: link_layer(direction.link_layer),
        buffer,
        queue,
        routers,
        processing: router_processing(scenario, direction),
    })
}

/// A buffer that has no room for a packet that crosses the link.
fn too_small_buffer(scenario: &Scenario, hop: Hop, packet: Bytes) -> Fault {
    let link = &scenario.links[hop.link].name;
    let message = format!(
        "{}: its buffer has no room for a packet of {packet}, so that all of them are dropped",
        hop_name(scenario, hop)
    );
    let fault = scenario.fault(link.place, message, "a buffer smaller than a packet");
    fault.help(format!("set links.{}.buffer to \"{packet}\" or more, or to a number of packets", link.value))
}

/// Why a queue law cannot stand at a link with a queue for each flow.
enum NotPerFlow {
    /// It has no form for the queue of one flow.
    OneQueue,
    /// It has internal queues and a scheduler of its own.
    OwnScheduler,
}

/// The law of a link with this scheduler, whose queue has this law.
fn scheduled(
    scheduler: scenario::Scheduler,
    queue: QueueLaw,
    facts: &LinkFacts,
) -> Result<QueueLaw, NotPerFlow> {
    match scheduler {
        scenario::Scheduler::Fifo => Ok(queue),
        scenario::Scheduler::Fair => per_flow(FairScheduler::default(), queue),
        scenario::Scheduler::DeficitRoundRobin => per_flow(DeficitRoundRobin::new(facts.packet), queue),
        scenario::Scheduler::Priority => per_flow(StrictPriority::default(), queue),
    }
}

/// A queue with this law for each flow.
fn per_flow(scheduler: impl Scheduler + 'static, queue: QueueLaw) -> Result<QueueLaw, NotPerFlow> {
    let law = match queue {
        QueueLaw::DropTail => None,
        QueueLaw::Single(law) if law.for_flow().is_none() => return Err(NotPerFlow::OneQueue),
        QueueLaw::Single(law) => Some(law),
        QueueLaw::Multi(_) => return Err(NotPerFlow::OwnScheduler),
    };
    Ok(QueueLaw::multi(FlowQueues::per_flow(scheduler, law)))
}

/// A scheduler at a link whose queue has one itself.
fn queue_with_scheduler(scenario: &Scenario, hop: Hop) -> Fault {
    let link = &scenario.links[hop.link].name.value;
    let message = format!(
        "{}: this queue law has several queues and a scheduler of its own, and the link sets another scheduler",
        hop_name(scenario, hop)
    );
    let fault = scenario.fault(queue_place(scenario, hop), message, "two schedulers at one link");
    fault.help(format!("set links.{link}.scheduler to \"fifo\""))
}

/// A scheduler of flows with a queue law that has no form for the queue of one flow.
fn queue_for_all_flows(scenario: &Scenario, hop: Hop) -> Fault {
    let link = &scenario.links[hop.link].name.value;
    let message = format!(
        "{}: with this scheduler each flow has a queue of its own, and this queue law controls one queue of all flows",
        hop_name(scenario, hop)
    );
    let fault =
        scenario.fault(queue_place(scenario, hop), message, "only possible with `scheduler = \"fifo\"`");
    fault.help(format!(
        "set links.{link}.queue to \"codel\", \"pie\", \"red\" or \"droptail\", or the scheduler to \"fifo\""
    ))
}

/// The processing time of the router before a link. Default: the service time of the packet at the highest rate of the
/// link. A scenario whose hosts are strictly periodic has strictly periodic routers.
fn router_processing(scenario: &Scenario, direction: &Direction) -> Processing {
    match (scenario.routers.jitter, scenario.hosts.jitter) {
        (Some(jitter), _) => Processing::UpTo(jitter),
        (None, Some(Span::ZERO)) => Processing::Immediate,
        (None, _) => Processing::ServiceTime(direction.rate.schedule().peak()),
    }
}

/// A schedule of the scenario as one of the simulator. The scenario has been checked, so that this does not fail.
fn schedule(schedule: &scenario::Schedule) -> Schedule {
    let at_end = match schedule.end {
        End::Loop => AtEnd::Loop,
        End::Hold => AtEnd::Hold,
        End::Stop => AtEnd::Stop,
    };
    let endless = schedule.length == millpond_units::Span::MAX;
    let made = if endless {
        Schedule::steps(&schedule.steps)
    } else {
        Schedule::table(&schedule.segments().collect::<Vec<_>>(), at_end)
    };
    made.unwrap_or_else(|_| Schedule::constant(schedule.at(Time::ZERO)))
}

fn propagation(direction: &Direction) -> Propagation {
    let steps = match &direction.delay {
        Delay::Constant(_) => Vec::new(),
        Delay::Steps(steps) => steps.iter().skip(1).copied().collect(),
    };
    let jitter = (!direction.jitter.is_zero()).then_some(Jitter::Uniform(direction.jitter));
    Propagation { delay: direction.delay.initial(), steps, jitter, reorder: direction.reorder }
}

fn link_layer(layer: scenario::LinkLayer) -> Option<LinkLayer> {
    match layer {
        scenario::LinkLayer::None => None,
        scenario::LinkLayer::Radio(scenario::Radio { error, retransmit_after, attempts }) => {
            Some(LinkLayer::Radio { error, retransmit_after, attempts })
        }
        scenario::LinkLayer::Grants(scenario::Grants { every, after }) => {
            Some(LinkLayer::Grants { every, after })
        }
        scenario::LinkLayer::Contention(scenario::Contention {
            access,
            slot,
            window,
            aggregate,
            stations,
            busy,
        }) => Some(LinkLayer::Contention { access, slot, window, aggregate, stations, busy }),
    }
}

fn loss(loss: &scenario::Loss) -> Option<Loss> {
    match *loss {
        scenario::Loss::None => None,
        scenario::Loss::Bernoulli(probability) => Some(Loss::Bernoulli(probability)),
        scenario::Loss::GilbertElliott(chain) => Some(Loss::GilbertElliott {
            worsen: chain.good_to_bad,
            recover: chain.bad_to_good,
            good: chain.loss_good,
            bad: chain.loss_bad,
        }),
    }
}
