//! Notes on a comparison of worlds.

use super::{AgreementRow, ComparedQuantity};
use millpond_plan::fluid::FluidPlan;
use millpond_scenario::Scenario;
use millpond_units::Readable;

/// Parts of the laws that the equations leave out, and means that include a transient or an oscillation.
pub(super) fn notes(plan: &FluidPlan, scenario: &Scenario, rows: &[AgreementRow]) -> Vec<String> {
    let left_out = plan.left_out.iter().map(|(protocol, left_out)| {
        format!("the equations of {protocol} leave out: {}", left_out.join("; "))
    });
    let notes = left_out.chain(queues_in_series(plan, rows)).chain(includes_start(plan, scenario));
    notes.chain(transient(rows)).collect()
}

/// A note if the fluid run has queues at equal links of one path.
fn queues_in_series(plan: &FluidPlan, rows: &[AgreementRow]) -> Option<String> {
    /// A queue has at least this many packets in the mean.
    const QUEUE: f64 = 1.0;
    let is_of = |row: &AgreementRow, link: usize| {
        let link = &plan.links[link];
        row.name == link.name && row.direction.as_ref() == Some(&link.direction)
    };
    let has_queue = |row: &AgreementRow| row.quantity == ComparedQuantity::MeanQueue && row.fluid >= QUEUE;
    plan.queues_in_series(|link| rows.iter().any(|row| is_of(row, link) && has_queue(row)))
}

/// A note if the means include the start of the last flow.
fn includes_start(plan: &FluidPlan, scenario: &Scenario) -> Option<String> {
    let (from, last) = (scenario.measure.from, plan.flows.iter().map(|flow| flow.start).max()?);
    (from <= last).then(|| {
        let (from, last) = (from.readable(), last.readable());
        format!(
            "means are measured from {from} and the last flow starts at {last}: they include the transient; set a later measure.from"
        )
    })
}

/// A note if the mean of the fluid run is not the equilibrium: names the first such row.
pub(super) fn transient(rows: &[AgreementRow]) -> Option<String> {
    /// Largest relative difference of a mean from the equilibrium.
    const TOLERANCE: f64 = 0.01;
    let differs = |row: &&AgreementRow| {
        let difference = row.equilibrium.map(|equilibrium| (row.fluid - equilibrium) / equilibrium);
        difference.is_some_and(|difference| difference.is_finite() && difference.abs() > TOLERANCE)
    };
    let row = rows.iter().find(differs)?;
    Some(format!(
        "the means of the fluid run differ from the equilibrium ({}): it has not converged yet (set a later measure.from, a \
         longer duration), or it oscillates (millpond stability)",
        row.title()
    ))
}
