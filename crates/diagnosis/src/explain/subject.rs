//! The run that is explained, with its equilibrium and its series.

use super::series::IntervalSeries;
use millpond_fluid::stability::PacketGranularity;
use millpond_fluid::{Entity, Frozen};
use millpond_plan::fluid::{FluidLinkPlan, FluidLoopPlan, FluidPlan};
use millpond_results::{EntityKind, Run, World, quantity};
use millpond_theory::equilibrium::PlanEquilibrium;

/// The run that is explained.
pub(super) struct Subject<'a> {
    pub(super) run: &'a Run,
    pub(super) plan: &'a FluidPlan,
    /// The network in the interval, with all delays set to zero.
    pub(super) frozen: Frozen<'a>,
    /// The equilibrium of the equations; none if they have none.
    pub(super) equilibrium: Option<&'a PlanEquilibrium<'a>>,
    pub(super) series: &'a IntervalSeries<'a>,
    /// Whether the run is in the packet world.
    pub(super) has_packets: bool,
    /// By loop, whether its law limits a window.
    pub(super) has_window: Vec<bool>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        run: &'a Run,
        plan: &'a FluidPlan,
        frozen: Frozen<'a>,
        equilibrium: Option<&'a PlanEquilibrium<'a>>,
        series: &'a IntervalSeries<'a>,
    ) -> Self {
        let has_packets = run.summary.world == World::Packets.name();
        let has_window = (0..plan.loops.len()).map(|l| has_packets && has_window(plan, series, l)).collect();
        Self { run, plan, frozen, equilibrium, series, has_packets, has_window }
    }

    /// A channel at the equilibrium of the equations; none if they have none.
    pub(super) fn value(&self, entity: Entity, quantity: &str) -> Option<f64> {
        self.equilibrium?.value(entity, quantity)
    }

    /// Mean queueing delay at each link of the engine, in seconds.
    pub(super) fn queueing_delays(&self) -> Vec<f64> {
        let links = self.plan.links.iter().filter(|link| link.id.is_some());
        let delay =
            |link: &FluidLinkPlan| self.series.mean(EntityKind::Link, &link.entity, quantity::QUEUEING);
        links.map(|link| delay(link).unwrap_or(0.0) / 1e3).collect()
    }

    /// Packet size and kind of control of each loop; none in the fluid world.
    pub(super) fn granularity(&self) -> Option<Vec<PacketGranularity>> {
        let of_loop = |(planned, has_window): (&FluidLoopPlan, &bool)| PacketGranularity {
            packet: planned.facts.packet,
            has_window: *has_window,
        };
        self.has_packets.then(|| self.plan.loops.iter().zip(&self.has_window).map(of_loop).collect())
    }
}

/// Whether the run recorded a window of a loop.
fn has_window(plan: &FluidPlan, series: &IntervalSeries<'_>, l: usize) -> bool {
    plan.flows.iter().any(|flow| {
        let position = flow.loops.iter().position(|id| id.0 == l);
        let name = position.map(|position| flow.loop_name(position));
        name.is_some_and(|name| series.mean(EntityKind::Flow, &name, quantity::WINDOW).is_some())
    })
}
