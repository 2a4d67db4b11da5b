//! Checks dependencies of crates and imports of modules against `docs/architecture.md`: reads `cargo metadata` and `use`
//! lines.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod modules;

use millpond_tests::{files, root};
use modules::Modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Each crate and the crates of this workspace that it depends on.
const DEPENDENCIES: &[(&str, &str)] = &[
    ("units", ""),
    ("stats", ""),
    ("results", "units stats"),
    ("law", "units"),
    ("scenario", "units stats"),
    ("conformance", "units law"),
    ("guest", "units law"),
    ("protocols", "units law conformance"),
    ("endpoint", "units law"),
    ("sim", "units law endpoint"),
    ("fluid", "units stats law"),
    ("plan", "units law scenario protocols endpoint sim fluid"),
    ("theory", "units stats results law scenario protocols fluid plan"),
    ("diagnosis", "units stats results scenario fluid plan theory"),
    ("recurrences", "law protocols results"),
    ("live", "units results law scenario protocols endpoint sim plan"),
    ("lab", "units stats results law scenario protocols sim fluid plan theory diagnosis live"),
    ("papers", "units stats results scenario protocols fluid plan theory diagnosis lab recurrences"),
    ("sweep", "units stats results scenario protocols lab"),
    ("chart", ""),
    ("report", "units stats results law scenario protocols fluid plan theory diagnosis papers sweep chart"),
    ("analysis-report", "units results scenario protocols fluid plan theory diagnosis report chart"),
    (
        "cli",
        "units results law scenario protocols plan theory diagnosis lab live papers sweep report analysis-report",
    ),
    (
        "py",
        "units results law scenario conformance guest protocols fluid plan theory diagnosis lab papers sweep report",
    ),
];

/// Packages of the workspace outside of `crates/`: they may depend on any crate.
const OUTSIDE: &[&str] = &["tests", "attack", "bench", "own-protocol", "own-queue"];

/// Crates in which nothing may read a clock, a socket, a file or the environment. `units`, `stats`, `law` and `endpoint` may
/// not either: they are compiled without the standard library, which `make no-std` checks.
const PURE: &[&str] = &["protocols", "sim", "fluid"];

/// Folders beside the protocols that are none.
const SHARED: &[&str] = &["parts", "queues"];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let text = |name: &serde_json::Value| name.as_str().expect("a name").to_owned();
    let own = |name: &serde_json::Value| text(name).strip_prefix("millpond-").map(str::to_owned);
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .map(|package| {
            let needs = package["dependencies"].as_array().expect("a list of dependencies");
            let needs = needs.iter().filter_map(|d| own(&d["name"])).collect();
            (own(&package["name"]).unwrap_or_else(|| text(&package["name"])), needs)
        })
        .collect()
}

#[test]
fn crates_depend_on_the_listed_crates() {
    let mut found = dependencies();
    found.retain(|name, _| !OUTSIDE.contains(&name.as_str()));
    let owned = |names: &str| names.split_whitespace().map(str::to_owned).collect();
    let planned = DEPENDENCIES.iter().map(|(name, needs)| ((*name).to_owned(), owned(needs))).collect();
    assert_eq!(
        found, planned,
        "a dependency is not that of the plan: mend it, or this list and docs/architecture.md"
    );
}

/// The `use`, `crate::` and `super::` paths of a source file, without comments.
fn paths(source: &str) -> impl Iterator<Item = &str> {
    source.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

#[test]
fn protocols_never_import_each_other() {
    let folder = root().join("crates/protocols/src");
    let protocols: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of protocols")
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !SHARED.contains(&name.as_str()))
        .collect();
    assert!(!protocols.is_empty());
    for protocol in &protocols {
        for file in files(&folder.join(protocol), "rs") {
            let source = std::fs::read_to_string(&file).expect("a source file");
            for line in paths(&source) {
                for other in protocols.iter().filter(|other| *other != protocol) {
                    let named = [format!("crate::{other}::"), format!("super::super::{other}::")];
                    assert!(!named.iter().any(|path| line.contains(path)), "{}: {line}", file.display());
                }
            }
        }
    }
}

#[test]
fn the_core_uses_no_clock_no_socket_and_no_file() {
    let outside =
        ["std::time", "std::net", "std::fs", "std::env", "std::thread", "std::process", "thread_rng"];
    for name in PURE {
        for file in files(&root().join("crates").join(name).join("src"), "rs") {
            let source = std::fs::read_to_string(&file).expect("a source file");
            for line in paths(&source) {
                assert!(!outside.iter().any(|path| line.contains(path)), "{}: {line}", file.display());
            }
        }
    }
}

#[test]
fn modules_do_not_import_each_other_in_a_cycle() {
    for (name, _) in DEPENDENCIES {
        let cycle = Modules::read(&root().join("crates").join(name).join("src")).cycle();
        assert!(cycle.is_none(), "{name}: {}", cycle.unwrap_or_default());
    }
}

/// Crates above `protocols` and the worlds. Their size is limited.
const UPPER: &[&str] = &[
    "results",
    "plan",
    "theory",
    "diagnosis",
    "recurrences",
    "lab",
    "live",
    "papers",
    "sweep",
    "report",
    "analysis-report",
    "guest",
    "cli",
    "py",
];

/// The number of lines of all source files of a folder, including their tests.
fn lines(folder: &Path) -> usize {
    let count =
        |file: &std::path::PathBuf| std::fs::read_to_string(file).expect("a source file").lines().count();
    files(folder, "rs").iter().map(count).sum()
}

#[test]
fn no_crate_of_the_upper_half_exceeds_6000_lines_or_a_tenth_of_all() {
    const MOST: usize = 6000;
    let crates = root().join("crates");
    let all: usize = DEPENDENCIES.iter().map(|(name, _)| lines(&crates.join(name).join("src"))).sum();
    for name in UPPER {
        let own = lines(&crates.join(name).join("src"));
        assert!(own <= MOST && 10 * own <= all, "crate {name} has {own} of {all} lines: split it");
    }
}

#[test]
fn no_source_file_is_longer_than_the_limit() {
    let mut sources = files(&root().join("crates"), "rs");
    sources.extend(files(&root().join("tests"), "rs"));
    for file in sources {
        let lines = std::fs::read_to_string(&file).expect("a source file").lines().count();
        assert!(lines <= 800, "{} has {lines} lines: at most 800 are allowed", file.display());
    }
}

#[test]
fn every_protocol_has_a_page() {
    let folder = root().join("crates/protocols/src");
    for entry in std::fs::read_dir(&folder).expect("the folder of protocols").flatten() {
        let path = entry.path();
        let is_shared = SHARED.iter().any(|shared| path.ends_with(shared));
        if path.is_dir() && !is_shared {
            let page = std::fs::read_to_string(path.join("README.md")).unwrap_or_default();
            let lines = page.lines().count();
            assert!((1..=140).contains(&lines), "{}: README.md has {lines} lines", path.display());
        }
    }
}

#[test]
fn the_page_on_architecture_names_every_crate() {
    let page = std::fs::read_to_string(Path::new(&root()).join("docs/architecture.md")).unwrap_or_default();
    for (name, _) in DEPENDENCIES {
        assert!(page.contains(&format!("`{name}`")), "docs/architecture.md does not name `{name}`");
    }
}
