//! Dependencies have accepted licences, come from the registry, and have no known advisory: the rules of `deny.toml` for
//! `Cargo.lock`, without a tool and without a network. Advisories are those of `tests/advisories.txt`, a snapshot.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod version;

use millpond_tests::root;
use std::collections::BTreeSet;
use std::process::Command;
use version::{Version, matches};

fn table(file: &str) -> toml::Table {
    let text = std::fs::read_to_string(root().join(file)).expect("a file of the repository");
    text.parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Name, version and source of each package of a lock file; crates of this repository have no source.
fn locked(file: &str) -> Vec<(String, String, Option<String>)> {
    let text = |package: &toml::Value, key: &str| {
        package.get(key).and_then(|value| value.as_str().map(str::to_owned))
    };
    let lock = table(file);
    let packages = lock["package"].as_array().expect("a list of packages");
    let named = packages
        .iter()
        .map(|package| (text(package, "name"), text(package, "version"), text(package, "source")));
    named
        .map(|(name, version, source)| (name.expect("a name"), version.expect("a version"), source))
        .collect()
}

/// The folders of the workspaces, each with a lock file.
const WORKSPACES: [&str; 3] = [".", "fuzz", "crates/node"];

/// The packages of all lock files.
fn all_locked() -> impl Iterator<Item = (String, String, Option<String>)> {
    WORKSPACES.iter().flat_map(|folder| locked(&format!("{folder}/Cargo.lock")))
}

#[test]
fn every_dependency_comes_from_the_one_registry() {
    let sources: BTreeSet<String> = all_locked().filter_map(|(_, _, source)| source).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
}

/// The words of a list in `deny.toml`, or their field `id`.
fn listed(section: &str, key: &str) -> BTreeSet<String> {
    let rules = table("deny.toml");
    let items = rules[section][key].as_array().expect("a list").clone();
    let word = |item: &toml::Value| item.get("id").unwrap_or(item).as_str().expect("a text").to_owned();
    items.iter().map(word).collect()
}

#[test]
fn no_dependency_has_an_advisory_that_is_not_listed() {
    let snapshot = std::fs::read_to_string(root().join("tests/advisories.txt")).expect("the snapshot");
    let ignored = listed("advisories", "ignore");
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for (name, version, _) in all_locked().filter(|package| package.2.is_some()) {
        let version = Version::read(&version).expect("a version");
        for line in snapshot.lines() {
            let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let [id, package, kind, patched, unaffected] = columns[..] else {
                panic!("advisories.txt: {line}")
            };
            let is_fixed =
                [patched, unaffected].iter().any(|list| list.split(';').any(|one| matches(&version, one)));
            if package != name || is_fixed {
                continue;
            }
            if ignored.contains(id) {
                used.insert(id.to_owned());
            } else {
                found.push(format!("{id}: {name} {version:?}: {kind}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(used, ignored, "an advisory is ignored that no dependency has");
}

/// Whether a licence expression (SPDX, or the older form with a slash) can be met with these licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    let is_met = |licence: &str| allowed.contains(licence.trim());
    // An expression in parentheses is the first part of a conjunction in all that occur.
    expression.split(" AND ").all(|part| part.split(" OR ").any(is_met))
}

/// The packages of a workspace for this machine, as `cargo metadata` describes them. Those that are not here yet come from
/// the registry.
fn packages(folder: &str, host: &str) -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .current_dir(root().join(folder))
        .output()
        .expect("cargo metadata runs");
    let reason = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata in {folder}: {reason}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

#[test]
fn every_dependency_has_an_accepted_licence() {
    let target = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let target = String::from_utf8_lossy(&target.stdout).into_owned();
    let host = target.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let allowed = listed("licenses", "allow");
    let mut refused = Vec::new();
    for folder in WORKSPACES {
        let packages = packages(folder, host);
        assert!(packages.len() > 10, "{folder}: {} packages", packages.len());
        let is_refused = |package: &&serde_json::Value| {
            !is_allowed(package["license"].as_str().unwrap_or("none"), &allowed)
        };
        refused.extend(
            packages
                .iter()
                .filter(is_refused)
                .map(|package| format!("{folder}: {}: {}", package["name"], package["license"])),
        );
    }
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn an_expression_is_met_by_one_of_its_alternatives() {
    let allowed: BTreeSet<String> = ["MIT", "Unicode-3.0"].map(str::to_owned).into();
    for expression in ["MIT", "GPL-3.0 OR MIT", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in ["GPL-3.0", "none", "MIT AND GPL-3.0", "Apache-2.0 WITH LLVM-exception"] {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
}
