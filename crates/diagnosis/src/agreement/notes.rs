//! Notes on a comparison of worlds.

use super::AgreementRow;
use millpond_plan::fluid::FluidPlan;
use millpond_scenario::Scenario;
use millpond_units::Readable;

/// Parts of the laws that the equations leave out, and means that include a transient or an oscillation.
pub(super) fn notes(plan: &FluidPlan, scenario: &Scenario, rows: &[AgreementRow]) -> Vec<String> {
    let left_out = plan.left_out.iter().map(|(protocol, left_out)| {
        format!("the equations of {protocol} leave out: {}", left_out.join("; "))
    });
    left_out.chain(includes_start(plan, scenario)).chain(transient(rows)).collect()
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
