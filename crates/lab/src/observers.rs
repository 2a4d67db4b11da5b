//! Observers of the senders of a run.

use crate::Error;
use millpond_endpoint::SenderObserver;
use millpond_plan::packets::PacketPlan;

/// A loop whose sender can be observed.
#[derive(Clone, Copy, Debug)]
pub struct ObservedLoop<'a> {
    /// Its flow; the first one, if several share the loop.
    pub flow: &'a str,
    /// Its number, counted from one at the source.
    pub number: usize,
    /// How many loops the flow has.
    pub of: usize,
}

/// Makes the observer of a loop.
pub type MakeObserver<'a> = dyn Fn(&ObservedLoop<'_>) -> Result<Box<dyn SenderObserver>, Error> + 'a;

/// Gives an observer to the sender of each loop of the declared flows. Transfers that begin in the run have none.
pub(crate) fn observe(plan: &mut PacketPlan, make: &MakeObserver<'_>) -> Result<(), Error> {
    for flow in &plan.flows {
        let observed: Vec<bool> =
            plan.network.flow(flow.id).loops().map(|one| one.sender().is_observed()).collect();
        let of = observed.len();
        for index in (0..of).filter(|index| !observed[*index]) {
            let observer = make(&ObservedLoop { flow: &flow.name, number: index + 1, of })?;
            plan.network.observe(flow.id, index, observer);
        }
    }
    Ok(())
}
