//! The same scenario, seed and version give the same bytes.

use crate::common::{results, scenario};
use millpond_lab::{Choice, cases, compare};
use millpond_protocols::Registry;
use millpond_results::files::{Extras, RunDirectory, save};
use millpond_results::{RunOrigin, Unwatched, World};
use std::collections::BTreeMap;
use std::fs;

/// All uses of random numbers: starts, stops, loss, jitter, marking.
const DRAWS: &str = r#"
title = "Draws"
duration = "6s"
seed = 7
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
buffer = "1bdp"
loss = 0.001
jitter = "1ms"
[[flows]]
name = "f"
count = 3
protocol = "newreno"
path = ["A", "B"]
start = { uniform = ["0s", "2s"] }
lasts = { exponential = "3s" }
"#;

/// The files of a comparison of all protocols that is run by a number of threads, without `timing.json`.
fn files(threads: usize) -> BTreeMap<String, Vec<u8>> {
    let registry = Registry::builtin();
    let protocols: Vec<String> = registry.protocols().map(|p| p.card().name.to_owned()).collect();
    let choice = Choice { protocols, seeds: 2, ..Choice::of(World::Packets) };
    let cases = cases(&scenario(DRAWS, &[]), &registry, &choice).unwrap();
    let root = tempfile::tempdir().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let finished = pool
        .install(|| compare(&cases, &registry, &RunOrigin::default(), &|_, _| Ok(()), &Unwatched))
        .unwrap();
    let mut files = BTreeMap::new();
    for (case, finished) in cases.iter().zip(&finished) {
        let directory = RunDirectory::create(&root.path().join(&case.directory)).unwrap();
        save(&finished.run, &finished.timing, Extras { csv: true }, &directory).unwrap();
        for entry in fs::read_dir(directory.finish().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name != "timing.json" {
                files.insert(format!("{}/{name}", case.directory), fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn one_thread_or_two_give_the_same_bytes() {
    let (one, two) = (files(1), files(2));
    assert!(one.keys().eq(two.keys()));
    assert!(one.len() >= 2 * 8, "{:?}", one.keys());
    for (name, bytes) in &one {
        assert!(two[name] == *bytes, "{name} differs");
    }
}

#[test]
fn another_seed_gives_another_run() {
    let files = files(1);
    assert_ne!(files["newreno-seed7/summary.json"], files["newreno-seed8/summary.json"]);
}

#[test]
fn another_flow_does_not_change_the_starts_of_the_others() {
    let starts = |count: &str| {
        let run = results(DRAWS, &[&format!("flows.f.count={count}"), "duration=3s"]);
        run.transfers.iter().map(|transfer| transfer.start_s).collect::<Vec<_>>()
    };
    let (three, four) = (starts("3"), starts("4"));
    assert_eq!(three, four[..3]);
}
