//! Tests of every protocol and queue with a fluid model: finite equations, exact derivatives that agree with
//! differences, and the declared equilibrium.

pub mod derivatives;
pub mod equilibrium;
mod pieces;

use crate::Laws;
use millpond_law::fluid::{FluidModel, FluidQueue, LoopFacts};
use millpond_law::{LinkFacts, Protocol, Queue, Settings};
use millpond_units::{Bytes, Rate};

/// Packets of 1000 bytes over one link of 10 Mbit/s and 100 ms.
pub(crate) const LOOP: LoopFacts =
    LoopFacts { packet: 8000.0, base_rtt: 0.1, capacity: 10e6, hops: 1, weight: 1.0, chained: false };

/// The link.
pub(crate) fn link_facts() -> LinkFacts {
    LinkFacts::fifo(Rate::from_mbps(10.0), None, Bytes::new(1000))
}

/// The model of a protocol under these settings, if there is one; rejected settings are skipped.
fn model(protocol: &dyn Protocol, settings: &Settings) -> Option<Box<dyn FluidModel>> {
    match protocol.fluid(settings) {
        Ok(model) => model,
        Err(fault) => {
            crate::assert_names_a_parameter(&fault, protocol.card().parameters);
            None
        }
    }
}

/// The law of a queue under these settings, if there is one.
fn law(queue: &dyn Queue, settings: &Settings) -> Option<Box<dyn millpond_law::fluid::LinkLaws>> {
    match queue.fluid(settings, &link_facts()) {
        Ok(FluidQueue::Law { law, .. }) => Some(law),
        _ => None,
    }
}

/// All checks of equations.
pub fn check(laws: &Laws) {
    derivatives::equations_are_finite_for_all_inputs(laws);
    derivatives::exact_derivatives_are_the_limits_of_difference_quotients(laws);
    let _ = equilibrium::with_a_constant_price_a_flow_sends_its_demand(laws);
    let _ = equilibrium::with_a_constant_signalled_rate_a_max_min_flow_sends_at_it(laws);
    let _ = equilibrium::a_router_with_constant_load_and_queue_reaches_its_equilibrium(laws);
}
