//! Runs a scenario in the live world: the network of the packet world, whose hosts and links exchange datagrams at the times of a
//! clock. It is measured as a packet run is.

use crate::observers::observe;
use crate::packets::measure;
use crate::stopwatch::Stopwatch;
use crate::{Error, MakeObserver};
use millpond_live::{LiveDriver, check_live};
use millpond_plan::packets::{self, PacketPlan, plan};
use millpond_protocols::Registry;
use millpond_results::{About, Finished, LiveFacts, Watch};
use millpond_scenario::Scenario;
use millpond_units::{Bytes, Span};

/// Checks a scenario as [`run`] does.
///
/// # Errors
/// An error of [`plan`], or what real hosts cannot do.
pub(crate) fn check(scenario: &Scenario, registry: &Registry) -> Result<(), Error> {
    check_live(scenario)?;
    packets::check(scenario, registry)?;
    Ok(())
}

/// Plans and runs a scenario; it takes as long as its duration.
///
/// # Errors
/// An error of [`plan`] or `observer`, what real hosts cannot do, a machine that refuses sockets, or that `watch` stopped the run.
pub(crate) fn run(
    scenario: &Scenario,
    registry: &Registry,
    about: About,
    watch: &dyn Watch,
    observer: Option<&MakeObserver<'_>>,
) -> Result<Finished, Error> {
    check_live(scenario)?;
    let mut plan = plan(scenario, registry)?;
    observer.map_or(Ok(()), |observer| observe(&mut plan, observer))?;
    let stopwatch = Stopwatch::start();
    let largest = scenario.flows.iter().map(|group| group.packet.max(group.ack)).max();
    let mut driver = LiveDriver::start(&mut plan.network, largest.unwrap_or(Bytes::ZERO));
    let mut advance = |network: &mut _, time| Ok(driver.run_to(network, time)?);
    let mut run = measure(&mut plan, scenario, about, watch, &mut advance)?;
    let shortest = shortest_rtt(&plan);
    let facts = driver.finish(&mut plan.network, shortest)?;
    run.summary.live = Some(LiveFacts { sample_interval_ms: Some(scenario.measure.every.millis()), ..facts });
    let timing = stopwatch.read(run.summary.packet_hops);
    Ok(Finished { run, timing })
}

/// The shortest RTT that a loop of a declared flow measured, if there is one.
fn shortest_rtt(plan: &PacketPlan) -> Option<Span> {
    let loops = plan.network.flows().flat_map(|flow| flow.loops().collect::<Vec<_>>());
    loops.filter_map(|one| one.sender().min_rtt()).min()
}
