//! The first 100 random scenarios; `make attack` runs 3000.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use millpond_attack::{Attacked, Case, analyze_bytes, attack, attack_bytes, write_failure};
use millpond_protocols::Registry;
use millpond_results::World;
use rayon::prelude::*;
use std::path::Path;

const SCENARIOS: u64 = 100;

/// Further scenarios that have broken an invariant or a relation: one whose relation of split links was wrong for routers with a state from
/// the beginning of the run, and one in which acknowledgements with telemetry were larger than a buffer.
const REMEMBERED: [u64; 2] = [60140, 60401];

#[test]
fn random_scenarios_keep_all_invariants_and_relations() {
    let registry = Registry::builtin();
    let numbers: Vec<u64> = (0..SCENARIOS).chain(REMEMBERED).collect();
    let attacked: Vec<_> =
        numbers.into_par_iter().map(|number| (number, attack(number, &registry))).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack");
    let (mut broken, mut refused) = (Vec::new(), Vec::new());
    for (number, result) in attacked {
        match result {
            Ok(Attacked::Ran(_)) => {}
            Ok(Attacked::Refused(reason)) => refused.push(format!("{number}: {reason}")),
            Err(failure) => {
                let path = write_failure(&folder, number, &failure.0).unwrap_or_default();
                broken.push(format!("{number}: {} ({})", failure.1, path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // The generator writes valid scenarios.
    assert!(refused.len() as u64 <= SCENARIOS / 20, "{}", refused.join("\n"));
}

/// The inputs of a fuzz target, with their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn the_corpora_of_the_fuzzer_keep_all_invariants() {
    type Check = fn(&[u8], &Registry) -> Result<(), Box<(Case, String)>>;
    let targets: [(&str, Check); 3] = [
        ("packets", |bytes, registry| attack_bytes(bytes, World::Packets, registry).map(drop)),
        ("fluid", |bytes, registry| attack_bytes(bytes, World::Fluid, registry).map(drop)),
        ("analyses", analyze_bytes),
    ];
    let registry = Registry::builtin();
    for (target, check) in targets {
        let inputs = corpus(target);
        assert!(inputs.len() >= 10, "{target}");
        inputs.par_iter().for_each(|(name, bytes)| {
            if let Err(failure) = check(bytes, &registry) {
                panic!("{name}: {}", failure.1);
            }
        });
    }
}
