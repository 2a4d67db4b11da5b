//! All checks of one scenario.

use crate::case::{Case, Units};
use crate::choices::Choices;
use crate::kind::Kind;
use crate::relations::{Relation, run_scenario, units};
use crate::{analyses, fluid, generator, packets, results};
use millpond_lab::Error;
use millpond_protocols::Registry;
use millpond_results::World;
use millpond_theory::Study;
use std::path::{Path, PathBuf};

/// What became of a scenario that breaks nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attacked {
    /// It ran: the digest of its results.
    Ran(String),
    /// Its world refused it, or its equations could not be integrated: why.
    Refused(String),
}

/// Runs scenario `number` of a kind and checks all that must hold.
///
/// # Errors
/// The case, and what does not hold.
pub fn attack(kind: Kind, number: u64, registry: &Registry) -> Result<Attacked, Box<(Case, String)>> {
    let case = generator::scenario(kind, number);
    let relation = Relation::ALL[(number % 7).min(Relation::ALL.len() as u64 - 1) as usize];
    run_case(&case, &[relation], number.is_multiple_of(8), registry)
        .map_err(|reason| Box::new((case, reason)))
}

/// Runs the scenario that these bytes select in a world and checks its invariants, as a fuzzer does.
///
/// # Errors
/// The case, and what does not hold.
pub fn attack_bytes(
    bytes: &[u8],
    world: World,
    registry: &Registry,
) -> Result<Attacked, Box<(Case, String)>> {
    let case = generator::generate(&mut Choices::from_bytes(bytes), Kind::General, world);
    run_case(&case, &[], false, registry).map_err(|reason| Box::new((case, reason)))
}

/// Analyzes the scenario of the fluid world that these bytes select, as a fuzzer does.
///
/// # Errors
/// The case, and why its analyses do not end.
pub fn analyze_bytes(bytes: &[u8], registry: &Registry) -> Result<(), Box<(Case, String)>> {
    let case = generator::generate(&mut Choices::from_bytes(bytes), Kind::General, World::Fluid);
    let Ok(scenario) = case.check(registry) else { return Ok(()) };
    analyses::check(&scenario, registry).map(drop).map_err(|reason| Box::new((case, reason)))
}

/// Runs a case and checks its invariants, these relations, and that its analyses end.
///
/// # Errors
/// What does not hold.
pub fn run_case(
    case: &Case,
    relations: &[Relation],
    with_analyses: bool,
    registry: &Registry,
) -> Result<Attacked, String> {
    let scenario = match case.check(registry) {
        Ok(scenario) => scenario,
        Err(faults) => return Ok(Attacked::Refused(faults.to_string())),
    };
    units(case)?;
    if case.world == World::Packets {
        packets::check(case, &scenario, registry)?;
    } else if with_analyses {
        analyses::check(&scenario, registry)?;
    }
    let run = match run_scenario(&scenario, case.world, registry) {
        Ok(run) => run,
        Err(Error::Fluid(error)) => return Ok(Attacked::Refused(error.to_string())),
        Err(error) => return Err(error.to_string()),
    };
    results::check(&run)?;
    if case.world == World::Fluid {
        let plan = Study::new(&scenario, registry).plan().map_err(|error| error.to_string())?;
        fluid::check(&plan, &run)?;
    }
    for relation in relations {
        relation.check(case, registry, &run).map_err(|reason| format!("{relation:?}: {reason}"))?;
    }
    Ok(Attacked::Ran(results::digest(&run)))
}

/// Writes a case with its traces to `folder/kind-number/` and returns the path of its scenario.
///
/// # Errors
/// The file system's.
pub fn write_failure(folder: &Path, (kind, number): (Kind, u64), case: &Case) -> std::io::Result<PathBuf> {
    let folder = folder.join(format!("{kind}-{number}"));
    std::fs::create_dir_all(&folder)?;
    for (name, text) in &case.traces {
        std::fs::write(folder.join(name), text)?;
    }
    let path = folder.join("scenario.toml");
    std::fs::write(&path, case.to_toml(Units::Small))?;
    Ok(path)
}
