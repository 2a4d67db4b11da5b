//! The analyses of a scenario end within a bounded time, with a result or with an error that says why there is none.

use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::analyze_stability;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How much processor time the analyses of a network of the generator may take. Their limits of work (one search for roots, the
/// eigenloci, two searches for a stabilizing factor) are together about 45 s in a debug build. Other work of the machine does
/// not count.
const LONGEST: Duration = Duration::from_secs(90);

/// Analyzes a scenario of the fluid world in a thread of its own. Returns whether it has an equilibrium whose stability is
/// known.
///
/// # Errors
/// The analyses have not ended within their processor time, or panicked.
pub(crate) fn check(scenario: &Scenario, registry: &Registry) -> Result<bool, String> {
    let (scenario, registry) = (scenario.clone(), registry.clone());
    let (started, thread) = channel();
    let (done, result) = channel();
    std::thread::spawn(move || {
        // The receivers exist until the results are here, or too late.
        let _ = started.send(std::fs::read_link("/proc/thread-self"));
        let _ = done.send(analyze(&scenario, &registry));
    });
    let thread = thread.recv().map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    loop {
        match result.recv_timeout(Duration::from_millis(200)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err("the analyses panicked".to_owned()),
            Err(RecvTimeoutError::Timeout) if processor_time(&thread)? > LONGEST => {
                return Err(format!(
                    "the analyses have no result after {} s of processor time",
                    LONGEST.as_secs()
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
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

/// Processor time of a thread, from its directory relative to `/proc`; zero once the thread has ended.
fn processor_time(thread: &Path) -> Result<Duration, String> {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(thread).join("stat")) else {
        return Ok(Duration::ZERO);
    };
    // Fields 14 and 15, in hundredths of a second; the name, which ends with a parenthesis, is field 2.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let hundredths: Option<u64> = fields.skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum();
    hundredths
        .map(|hundredths| Duration::from_millis(10 * hundredths))
        .ok_or_else(|| format!("unknown format: {stat}"))
}
