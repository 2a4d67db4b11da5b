//! The first random scenarios of each kind; `make attack` runs more.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use millpond_attack::{
    Attacked, Case, Kind, Units, analyze_bytes, attack, attack_bytes, scenario, write_failure,
};
use millpond_protocols::Registry;
use millpond_results::World;
use rayon::prelude::*;
use std::path::Path;

/// How many scenarios of each kind.
const SCENARIOS: [(Kind, u64); 3] = [(Kind::General, 100), (Kind::DataCentres, 40), (Kind::Loops, 40)];

/// Further scenarios that have broken an invariant or a relation: one whose relation of split links was wrong for routers with a state from
/// the beginning of the run, and one in which acknowledgements with telemetry were larger than a buffer.
const REMEMBERED: [(Kind, u64); 2] = [(Kind::General, 60140), (Kind::General, 60401)];

/// Scenarios of the fluid world whose equations once could not be integrated: a flow of `paganini-ecn` that joins where the price is
/// many times its round-trip time, in a network with a stable equilibrium.
const INTEGRABLE: [(Kind, u64); 1] = [(Kind::General, 50856)];

#[test]
fn equations_of_sensible_networks_are_integrated() {
    let registry = Registry::builtin();
    for (kind, number) in INTEGRABLE {
        let result = attack(kind, number, &registry);
        assert!(matches!(result, Ok(Attacked::Ran(_))), "{kind} {number}: {result:?}");
    }
}

#[test]
fn random_scenarios_keep_all_invariants_and_relations() {
    let registry = Registry::builtin();
    let first = SCENARIOS.into_iter().flat_map(|(kind, count)| (0..count).map(move |number| (kind, number)));
    let numbers: Vec<(Kind, u64)> = first.chain(REMEMBERED).collect();
    let all = numbers.len();
    let attacked: Vec<_> = numbers
        .into_par_iter()
        .map(|(kind, number)| (kind, number, attack(kind, number, &registry)))
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack");
    let (mut broken, mut refused) = (Vec::new(), Vec::new());
    for (kind, number, result) in attacked {
        match result {
            Ok(Attacked::Ran(_)) => {}
            Ok(Attacked::Refused(reason)) => refused.push(format!("{kind} {number}: {reason}")),
            Err(failure) => {
                let path = write_failure(&folder, (kind, number), &failure.0).unwrap_or_default();
                broken.push(format!("{kind} {number}: {} ({})", failure.1, path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // The generator writes valid scenarios.
    assert!(refused.len() <= all / 20, "{}", refused.join("\n"));
}

/// Numbers that a change of the generator leaves without these networks test nothing of them.
#[test]
fn each_kind_contains_the_networks_that_it_is_for() {
    let expected: [(Kind, &[&str]); 3] = [
        (
            Kind::General,
            &["name = \"bottleneck\"", "name = \"hop2\"", "name = \"T1\"", "relays = \"all\"", "stop = "],
        ),
        (
            Kind::DataCentres,
            &[
                "[leaf-spine]",
                "[fat-tree]",
                "name = \"L1--S1\"",
                "path = \"random\"",
                "path = \"permutation\"",
                "path = \"incast\"",
                "path = { random = [\"H1\"",
                "path = { incast = [\"H",
            ],
        ),
        (
            Kind::Loops,
            &[
                "[protocols.plain]",
                "lgcc:cellular",
                "= \"plain\"",
                "aggregate = \"all\"",
                "aggregate = [",
                "weight = 0.5",
            ],
        ),
    ];
    for ((kind, count), (of, parts)) in SCENARIOS.into_iter().zip(expected) {
        assert_eq!(kind, of);
        let texts: Vec<String> =
            (0..count).map(|number| scenario(kind, number).to_toml(Units::Small)).collect();
        for part in parts {
            assert!(texts.iter().any(|text| text.contains(part)), "{kind}: {part}");
        }
    }
    let in_loops = (0..40).map(|number| scenario(Kind::Loops, number).to_toml(Units::Small));
    let two_in_loops =
        |text: &str| text.lines().any(|line| line.starts_with("loops = {") && line.contains(", "));
    assert!(in_loops.filter(|text| two_in_loops(text)).count() >= 5);
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
