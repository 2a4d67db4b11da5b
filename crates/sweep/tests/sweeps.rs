//! Sweeps of small networks: what is run, what an interrupted dataset keeps, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use millpond_protocols::Registry;
use millpond_results::{Unwatched, Watch, World};
use millpond_sweep::{
    Dataset, Error, SweepPlan, SweepSpec, Varied, means, number_without_randomness, run_cells,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const SCENARIO: &str = r#"
title = "One link"
duration = "2s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "5Mbps"
delay = "10ms"
[[flows]]
name = "f"
protocol = "newreno"
path = ["A", "B"]
start = { uniform = ["0s", "500ms"] }
"#;

fn spec(folder: &Path, varied: &[&str]) -> SweepSpec {
    let file = folder.join("s.toml");
    if !file.exists() {
        fs::write(&file, SCENARIO).unwrap();
    }
    SweepSpec {
        file,
        sets: Vec::new(),
        seed: None,
        varied: varied.iter().map(|text| Varied::parse(text).unwrap()).collect(),
        samples: None,
        protocols: vec!["newreno".to_owned(), "cubic".to_owned()],
        world: World::Packets,
        seeds: 2,
    }
}

/// Runs what is missing, and returns how much that was.
fn run(spec: SweepSpec, path: &Path, watch: &dyn Watch) -> Result<usize, Error> {
    let registry = Registry::builtin();
    let plan = SweepPlan::new(spec, &registry, "1.0")?;
    let dataset = Dataset::open(path, &plan)?;
    let missing = dataset.missing().len();
    run_cells(&plan, &dataset, watch)?;
    dataset.write_tables(&dataset.records()?)?;
    Ok(missing)
}

#[test]
fn the_command_of_a_sweep_repeats_it() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let command = |spec: SweepSpec| {
        let file = spec.file.display().to_string();
        let origin = SweepPlan::new(spec, &registry, "1.0").unwrap().origin();
        assert_eq!(origin.version, "1.0");
        origin.command.replace(&file, "FILE")
    };
    let plain = spec(folder.path(), &["links.L.rate=1Mbps..4Mbps:log:3"]);
    assert_eq!(
        command(plain.clone()),
        "millpond sweep FILE --vary links.L.rate=1Mbps..4Mbps:log:3 --protocols newreno,cubic --seeds 2"
    );
    let other = SweepSpec {
        sets: vec!["title=a b".into(), "duration=1s".into()],
        seed: Some(7),
        varied: vec![Varied::parse("links.L.rate=1Mbps..4Mbps").unwrap()],
        samples: Some(3),
        protocols: Vec::new(),
        world: World::Fluid,
        ..plain
    };
    assert_eq!(
        command(other),
        "millpond sweep FILE --set 'title=a b' --set duration=1s --seed 7 --vary links.L.rate=1Mbps..4Mbps --samples 3 \
         --seeds 2 --world fluid"
    );
}

/// Stops all runs when this many have ended.
struct StopAfter(AtomicUsize);

impl Watch for StopAfter {
    fn progress(&self, _: usize, done: f64) {
        if done >= 1.0 {
            let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        }
    }

    fn stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

const VARIED: &[&str] = &["links.L.rate=2Mbps..8Mbps:log:3", "flows.f.count=1,3"];

fn tables(path: &Path) -> [Vec<u8>; 2] {
    ["runs.parquet", "groups.parquet"].map(|name| fs::read(path.join(name)).unwrap())
}

#[test]
fn an_interrupted_sweep_runs_what_is_missing_and_has_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    assert_eq!(run(spec(folder.path(), VARIED), &whole, &Unwatched).unwrap(), 3 * 2 * 2 * 2);
    let stopped = run(spec(folder.path(), VARIED), &parts, &StopAfter(5.into())).unwrap_err();
    let Error::Stopped { finished, of: 24 } = stopped else { panic!("{stopped}") };
    assert!((1..24).contains(&finished), "{finished}");
    // A process that is killed while it writes leaves an incomplete line.
    let journal = parts.join("runs.jsonl");
    let kept = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, kept.clone() + r#"{"run":"abc","sett"#).unwrap();
    let missing = run(spec(folder.path(), VARIED), &parts, &Unwatched).unwrap();
    assert_eq!(missing, 24 - kept.lines().count());
    assert_eq!(tables(&whole), tables(&parts));
    assert_eq!(run(spec(folder.path(), VARIED), &parts, &Unwatched).unwrap(), 0);
}

#[test]
fn an_enlarged_sweep_runs_the_new_values_only() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(spec(folder.path(), &["links.L.delay=10ms,20ms"]), &out, &Unwatched).unwrap();
    let larger = || SweepSpec { seeds: 3, ..spec(folder.path(), &["links.L.delay=10ms,20ms,40ms"]) };
    assert_eq!(run(larger(), &out, &Unwatched).unwrap(), 3 * 2 * 3 - 2 * 2 * 2);
    let fresh = folder.path().join("fresh");
    run(larger(), &fresh, &Unwatched).unwrap();
    assert_eq!(tables(&out), tables(&fresh));
}

/// A dataset never takes a run of one world, protocol, seed, value or version for another one.
#[test]
fn runs_of_other_worlds_protocols_seeds_values_and_versions_have_other_keys() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let varied = || spec(folder.path(), &["links.L.delay=10ms,20ms"]);
    let mut keys = BTreeSet::new();
    for (world, version) in [(World::Packets, "1.0"), (World::Fluid, "1.0"), (World::Packets, "1.1")] {
        let spec = SweepSpec { world, ..varied() };
        let plan = SweepPlan::new(spec, &registry, version).unwrap();
        keys.extend(plan.cells().iter().map(|cell| cell.key.clone()));
    }
    assert_eq!(keys.len(), 3 * 2 * 2 * 2, "two values, protocols and seeds each");
}

/// A sweep changes nothing but the varied key.
#[test]
fn a_run_of_a_sweep_is_the_run_of_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let plan = SweepPlan::new(spec(folder.path(), &["links.L.rate=5Mbps,10Mbps"]), &registry, "1.0").unwrap();
    let cell = plan.cells().iter().find(|cell| *cell.settings == ["10Mbps".to_owned()]).unwrap();
    let record = millpond_sweep::run_cell(&plan, cell, 0, &Unwatched).unwrap();
    let sets = ["links.L.rate=10Mbps".to_owned()];
    let scenario = millpond_scenario::Scenario::load(&folder.path().join("s.toml"), &sets).unwrap();
    assert_eq!(*record.scenario_sha256, scenario.key().sha256);
    assert_eq!(record.seed, scenario.seed);
    let text = serde_json::to_value(&record).unwrap();
    let (all, group) = (&text["rows"][0]["values"], &text["rows"][1]["values"]);
    assert_eq!((&text["rows"][0]["group"], &text["rows"][1]["group"]), (&Value::Null, &"f".into()));
    // One flow without competition fills most of the link.
    assert!(all["utilization"].as_f64().unwrap() > 0.5 && group["utilization"].is_null(), "{text}");
    assert_eq!(all["total_goodput_bps"], group["total_goodput_bps"]);
}

/// In the equations, the start of the flow is the only random value.
#[test]
fn combinations_of_which_all_seeds_give_the_same_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let counted = |name: &str, sets: &[&str]| {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        let varied = spec(folder.path(), &["links.L.delay=10ms,20ms"]);
        let spec = SweepSpec { sets, world: World::Fluid, ..varied };
        let plan = SweepPlan::new(spec, &registry, "1.0").unwrap();
        let dataset = Dataset::open(&folder.path().join(name), &plan).unwrap();
        run_cells(&plan, &dataset, &Unwatched).unwrap();
        number_without_randomness(&dataset.records().unwrap())
    };
    assert_eq!(counted("random", &[]), 0);
    assert_eq!(counted("fixed", &["flows.f.start=0s"]), 2 * 2);
}

#[test]
fn a_failed_run_is_a_row_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // Each value by itself is valid; together the flow stops before it starts.
    let varied = ["flows.f.start=1s,3s", "flows.f.stop=2s,4s"];
    let mut spec = spec(folder.path(), &varied);
    spec.sets = vec!["duration=5s".to_owned()];
    run(spec.clone(), &out, &Unwatched).unwrap();
    let registry = Registry::builtin();
    let plan = SweepPlan::new(spec, &registry, "1.0").unwrap();
    let records = Dataset::open(&out, &plan).unwrap().records().unwrap();
    let failed: Vec<_> = records.iter().filter(|record| record.error.is_some()).collect();
    assert_eq!(failed.len(), 4);
    assert!(
        failed
            .iter()
            .all(|record| record.settings.get("flows.f.start") == Some("3s") && record.rows.is_empty())
    );
    let rows = means(&records);
    assert_eq!(rows.iter().map(|row| (row.runs, row.failed)).filter(|&(_, failed)| failed == 2).count(), 2);
}

#[test]
fn samples_fill_the_ranges_evenly() {
    let folder = tempfile::tempdir().unwrap();
    let varied = ["links.L.rate=1Mbps..9Mbps", "links.L.delay=1ms..100ms:log"];
    let spec =
        SweepSpec { samples: Some(64), seeds: 1, protocols: Vec::new(), ..spec(folder.path(), &varied) };
    let registry = Registry::builtin();
    let plan = SweepPlan::new(spec, &registry, "1.0").unwrap();
    assert_eq!(plan.cells().len(), 64);
    // 64 points of a Sobol sequence in base 2 have one point in each of 8 x 8 equal cells of two dimensions.
    let mut cells = std::collections::BTreeSet::new();
    for cell in plan.cells() {
        let [rate, delay] = &*cell.settings else { panic!("two keys") };
        let rate = rate.parse::<millpond_units::Rate>().unwrap().bps() as f64;
        let delay = delay.parse::<millpond_units::Span>().unwrap().secs();
        let shares = [(rate - 1e6) / 8e6, (delay / 1e-3).log10() / 2.0];
        cells.insert(shares.map(|share| (share * 8.0) as u32));
    }
    assert_eq!(cells.len(), 64);
}

#[test]
fn the_key_of_a_run_depends_on_traces_and_not_on_the_order_of_options() {
    let folder = tempfile::tempdir().unwrap();
    let write = |mbps: &str| {
        fs::write(folder.path().join("t.csv"), format!("time_s,mbps\n0,5\n1,{mbps}\n")).unwrap();
    };
    let registry = Registry::builtin();
    let keys = |varied: &[&str]| -> Vec<String> {
        let plan = SweepPlan::new(spec(folder.path(), varied), &registry, "1.0").unwrap();
        let mut keys: Vec<String> = plan.cells().iter().map(|cell| cell.key.clone()).collect();
        keys.sort();
        keys
    };
    let file = folder.path().join("t.csv");
    let trace = format!("links.L.rate={{ trace = {{ file = \"{}\" }} }},3Mbps", file.display());
    let (trace, count) = (trace.as_str(), "flows.f.count=1,2");
    write("7");
    let first = keys(&[trace, count]);
    assert_eq!(first, keys(&[count, trace]));
    write("8");
    let second = keys(&[trace, count]);
    // The runs of the constant rate are the same, those of the trace are others.
    assert_eq!(first.iter().filter(|key| second.contains(key)).count(), first.len() / 2);
}

#[test]
fn a_mistake_in_a_varied_key_is_shown_at_its_option() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let shown = |sets: &[&str], varied: &str| {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        let spec = SweepSpec { sets, protocols: Vec::new(), ..spec(folder.path(), &[varied]) };
        match SweepPlan::new(spec, &registry, "1.0").err() {
            Some(Error::Scenario(faults)) => faults.render(false),
            other => panic!("{:?}", other.map(|error| error.to_string())),
        }
    };
    for varied in
        ["links.M.rate=1Mbps,2Mbps", "links.L.rat=1Mbps", "links.L.rate=1parsec", "flows.f.protocol=cubik"]
    {
        let found = shown(&["duration=1s"], varied);
        assert!(found.contains("[--vary:1:") && !found.contains("--set"), "{varied}: {found}");
    }
    let found = shown(&["links.M.rate=1Mbps"], "links.L.rate=1Mbps");
    assert!(found.contains("[--set:1:") && !found.contains("--vary"), "{found}");
}

#[test]
fn what_does_not_fit_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let plan = |spec: SweepSpec| SweepPlan::new(spec, &registry, "1.0");
    let fault = |error: Error| error.to_string();
    let valid = || spec(folder.path(), &["flows.f.count=1"]);
    let refused = |spec: SweepSpec| fault(plan(spec).err().unwrap());
    assert!(refused(spec(folder.path(), &["flows.f.cuont=1"])).contains("count"));
    assert!(refused(spec(folder.path(), &["links.L.rate=1Mbps,x"])).contains("x"));
    let own = |varied| SweepSpec { protocols: Vec::new(), ..spec(folder.path(), &[varied]) };
    assert!(refused(own("flows.f.protocol=cubic,cubik")).contains("cubik"));
    assert!(refused(spec(folder.path(), &["links.L.rate=1Mbps..9Mbps"])).contains("how many values"));
    assert!(refused(spec(folder.path(), &["duration=1s", "duration=2s"])).contains("varied twice"));
    assert!(refused(spec(folder.path(), &["seed=1,2"])).contains("--seeds"));
    assert!(refused(SweepSpec { seed: Some(u64::MAX), ..valid() }).contains("no 2 seeds from"));
    assert!(refused(SweepSpec { protocols: vec!["cubik".into()], ..valid() }).contains("cubic"));
    assert!(refused(SweepSpec { seeds: 2_000_000, ..valid() }).contains("at most 1000000"));
    assert!(refused(SweepSpec { samples: Some(70_000), ..valid() }).contains("65536"));

    let out = folder.path().join("out");
    let first = plan(valid()).unwrap();
    let dataset = Dataset::open(&out, &first).unwrap();
    let opened = |plan: &SweepPlan<'_>| fault(Dataset::open(&out, plan).err().unwrap());
    assert!(opened(&first).contains("another sweep"), "two sweeps at the same time");
    drop(dataset);
    assert!(
        opened(&plan(spec(folder.path(), &["links.L.delay=1ms"])).unwrap()).contains("other varied keys")
    );
    let newer = SweepPlan::new(valid(), &registry, "1.1").unwrap();
    assert!(opened(&newer).contains("version 1.0"));
    let set = SweepSpec { sets: vec!["duration=3s".into()], ..valid() };
    assert!(opened(&plan(set).unwrap()).contains("another scenario"));
    fs::write(out.join("thesis.tex"), "").unwrap();
    assert!(opened(&first).contains("thesis.tex"));
    assert!(fault(Dataset::remove(&out).err().unwrap()).contains("thesis.tex"));
}
