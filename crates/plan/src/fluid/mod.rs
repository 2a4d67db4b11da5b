//! From a scenario to equations of the fluid engine: the same network, flows and sampled values as in the packet world.
//!
//! ```text
//!   Scenario --> protocols, flow instances --> unsupported: features without equations are refused
//!           \--> links: capacities, buffers, laws --> loops: classes, delays, relays --> Assembly
//! ```
//!
//! Acknowledgements use no capacity. A flow's base round-trip time is its
//! propagation delay, as in the packet world; without service times, unless `fluid.base_rtt` is `"service"`.

mod links;
mod loops;
mod plan;
mod series;
mod unsupported;

pub use plan::{FluidFlowPlan, FluidLinkPlan, FluidLoopPlan, FluidPlan};

use crate::faults;
use crate::flow_instances::{FlowInstance, flow_instances};
use crate::protocols::{ConfiguredProtocol, configured_protocols};
use crate::queue_conflicts::check_queues;
use crate::warnings::warnings;
use millpond_fluid::{Assembly, FluidNetwork};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Scenario};
use plan::{FluidProtocol, refused};

/// Stability depends on the sum of a loop's delays. One that is shorter than a round-trip time divided by this would only limit the step
/// of the solver.
const PARTS_OF_RTT: f64 = 100.0;

/// Plans the fluid world of `scenario` with the protocols of `registry`.
///
/// # Errors
/// What the packet world refuses, and features of the scenario that have no equations, with line and alternative.
pub fn plan(scenario: &Scenario, registry: &Registry) -> Result<FluidPlan, Faults> {
    plan_equations(scenario, registry, flow_instances(scenario)?)
}

/// As [`plan`], for analyses of the state after the last start: flows that differ only in their start and in a later stop are
/// equal, which makes the equations of many such flows small.
///
/// # Errors
/// Those of [`plan`], without the advice to run the scenario in packets: an analysis has equations alone.
pub fn plan_steady_state(scenario: &Scenario, registry: &Registry) -> Result<FluidPlan, Faults> {
    let mut instances = flow_instances(scenario)?;
    let last = instances.iter().map(|instance| instance.samples.start).max().unwrap_or_default();
    for samples in instances.iter_mut().map(|instance| &mut instance.samples) {
        if samples.stop.is_none_or(|stop| stop > last) {
            (samples.start, samples.stop) = (last, None);
        }
    }
    plan_equations(scenario, registry, instances).map_err(Faults::without_command_help)
}

fn plan_equations(
    scenario: &Scenario,
    registry: &Registry,
    instances: Vec<FlowInstance<'_>>,
) -> Result<FluidPlan, Faults> {
    unsupported::scenario(scenario)?;
    let protocols = configured_protocols(scenario, registry)?;
    let warnings = warnings(scenario, registry, &protocols, &instances)?;
    unsupported::fair_sharing(scenario, &instances, &protocols)?;
    let models = protocols
        .into_iter()
        .map(|configured| fluid_protocol(scenario, registry, configured))
        .collect::<Result<Vec<_>, _>>()?;
    let configured: Vec<_> = models.iter().map(|model| &model.configured).collect();
    check_queues(scenario, registry, &configured)?;
    let mut network = FluidNetwork::new();
    let links = links::links(scenario, registry, &models, &instances, &mut network)?;
    let loops::Loops { loops, flows, .. } = loops::loops(scenario, &models, &instances, &links, &mut network);
    network.round_down_delays(PARTS_OF_RTT);
    let assembly = Assembly::new(network).map_err(|error| refused(scenario, &links, &loops, error))?;
    let protocols = models.iter().map(|m| m.configured.protocol.card().name).collect();
    let left_out = models.iter().map(|m| (m.configured.label.value.clone(), m.equations.left_out()));
    let left_out = left_out.filter(|(_, left_out)| !left_out.is_empty()).collect();
    Ok(FluidPlan { assembly, links, loops, flows, warnings, protocols, left_out })
}

/// A protocol with its equations.
fn fluid_protocol<'s>(
    scenario: &Scenario,
    registry: &Registry,
    configured: ConfiguredProtocol<'s>,
) -> Result<FluidProtocol<'s>, Fault> {
    let params = configured.entry.map_or(&[][..], |entry| &entry.params);
    let fault =
        |error| faults::setting(scenario, &configured.label.value, params, configured.label.place, &error);
    match configured.protocol.fluid(&configured.settings).map_err(fault)? {
        Some(equations) => Ok(FluidProtocol { configured, equations }),
        None => Err(unsupported::protocol_without_equations(scenario, registry, &configured)),
    }
}

/// Checks that the scenario's integration method can integrate the plan. Equilibrium and stability need no method.
///
/// # Errors
/// A feature that fixed steps do not support, with line and alternative.
pub fn check_method(scenario: &Scenario, plan: &FluidPlan) -> Result<(), Faults> {
    unsupported::method(scenario, plan).map_err(Faults::from)
}
