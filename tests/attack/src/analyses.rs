//! The analyses of a scenario end within a bounded time, with a result or with an error that says why there is none.

use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::analyze_stability;
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long the analyses of a network of the generator may take. Their limits of work (one search for roots, the eigenloci, two
/// searches for a stabilizing factor) are together about 45 s in a debug build, and the machine has other work.
const LONGEST: Duration = Duration::from_secs(120);

/// Analyzes a scenario of the fluid world in a thread of its own. Returns whether it has an equilibrium whose stability is
/// known.
///
/// # Errors
/// The analyses have not ended in time, or panicked.
pub(crate) fn check(scenario: &Scenario, registry: &Registry) -> Result<bool, String> {
    let (scenario, registry) = (scenario.clone(), registry.clone());
    let (done, result) = channel();
    std::thread::spawn(move || done.send(analyze(&scenario, &registry)));
    result.recv_timeout(LONGEST).map_err(|error| format!("the analyses have no result: {error}"))?
}

fn analyze(scenario: &Scenario, registry: &Registry) -> Result<bool, String> {
    let plan = match Study::new(scenario, registry).plan() {
        Ok(plan) => plan,
        Err(error) => return is_explained(&error.to_string()),
    };
    let equilibrium = match find_equilibrium(&plan) {
        Ok(equilibrium) => equilibrium,
        Err(error) => return is_explained(&error.to_string()),
    };
    match analyze_stability(&equilibrium) {
        Ok(stability) if stability.spectrum.rightmost().is_nan() => {
            Err("the rightmost root is no number".to_owned())
        }
        Ok(_) => Ok(true),
        Err(error) => is_explained(&error.to_string()),
    }
}

/// An error has a text; there is no stability then.
fn is_explained(text: &str) -> Result<bool, String> {
    if text.is_empty() { Err("an error without a text".to_owned()) } else { Ok(false) }
}
