//! Checks dependencies of crates and imports of modules against `docs/architecture.md`: reads the tables and the drawing of
//! that page, `cargo metadata` and `use` lines.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod modules;

use millpond_tests::{files, root};
use modules::Modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Packages of the workspace outside of `crates/`: they may depend on any crate.
const OUTSIDE: &[&str] = &["tests", "attack", "bench", "own-protocol", "own-queue"];

/// Crates in which nothing may read a clock, a socket, a file or the environment. `units`, `stats`, `law` and `endpoint` may
/// not either: they are compiled without the standard library, which `make no-std` checks.
const PURE: &[&str] = &["protocols", "sim", "fluid"];

/// Folders beside the protocols that are none.
const SHARED: &[&str] = &["parts", "queues"];

/// Each crate with the crates of this workspace that it depends on.
type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// The section about crates in `docs/architecture.md`.
fn page_of_crates() -> String {
    let page =
        std::fs::read_to_string(root().join("docs/architecture.md")).expect("the page on architecture");
    let (_, section) = page.split_once("\n## Crates").expect("a section about crates");
    section.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The names between backticks.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The table of crates on the page: rows of name, content and dependencies.
fn documented() -> Dependencies {
    let page = page_of_crates();
    let table = page.lines().skip_while(|line| !line.starts_with("| crate ")).skip(2);
    let rows = table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').collect());
    rows.map(|cells: Vec<&str>| {
        let [name, _, needs] = cells[..] else { panic!("three cells in a row: {cells:?}") };
        (quoted(name).next().expect("a name"), quoted(needs).collect())
    })
    .collect()
}

fn dependencies() -> Dependencies {
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
fn crates_depend_on_the_crates_of_the_documented_table() {
    let mut found = dependencies();
    found.retain(|name, _| !OUTSIDE.contains(&name.as_str()));
    assert_eq!(found, documented(), "mend the dependency, or the table of crates in docs/architecture.md");
}

#[test]
fn every_crate_uses_only_crates_on_lower_lines_of_the_drawing() {
    let page = page_of_crates();
    let drawing = page.split("```").nth(1).expect("a drawing");
    let documented = documented();
    // The names of a line come first; a description follows.
    let line_of = |text: &str| -> Vec<String> {
        text.split_whitespace().take_while(|word| documented.contains_key(*word)).map(str::to_owned).collect()
    };
    let lines: Vec<Vec<String>> = drawing.lines().map(line_of).filter(|line| !line.is_empty()).collect();
    let drawn: BTreeSet<&String> = lines.iter().flatten().collect();
    assert_eq!(drawn, documented.keys().collect(), "the drawing in docs/architecture.md has other crates");
    for (place, line) in lines.iter().enumerate() {
        let lower: BTreeSet<&String> = lines[place + 1..].iter().flatten().collect();
        for name in line {
            let wrong: Vec<&String> = documented[name].iter().filter(|need| !lower.contains(need)).collect();
            assert!(wrong.is_empty(), "{name} uses {wrong:?}, which the drawing does not have below it");
        }
    }
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
    // The node has a workspace of its own, and the same rules for its files.
    for name in documented().keys().map(String::as_str).chain(["node"]) {
        let cycle = Modules::read(&root().join("crates").join(name).join("src")).cycle();
        assert!(cycle.is_none(), "{name}: {}", cycle.unwrap_or_default());
    }
}

/// Crates that use neither `protocols` nor `fluid`, and whose size is limited as if they did.
const ALSO_LIMITED: &[&str] = &["results", "guest"];

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
    let documented = documented();
    let all: usize = documented.keys().map(|name| lines(&crates.join(name).join("src"))).sum();
    let is_above = |needs: &BTreeSet<String>| ["protocols", "fluid"].iter().any(|base| needs.contains(*base));
    let upper: Vec<&String> = documented
        .iter()
        .filter(|(name, needs)| is_above(needs) || ALSO_LIMITED.contains(&name.as_str()))
        .map(|(name, _)| name)
        .collect();
    assert!(upper.len() > 10, "most crates are above the worlds: {upper:?}");
    for name in upper {
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

/// Whether a path of a page leads to a file or folder: as it stands, or as the end of a path of a source file, with or
/// without extension.
fn is_found(path: &str, sources: &[String]) -> bool {
    let path = path.trim_end_matches('/');
    root().join(path).exists()
        || sources.iter().any(|source| {
            let forms = [format!("/{path}"), format!("/{path}.rs")];
            let inner = format!("/{path}/");
            forms.iter().any(|form| source.ends_with(form)) || source.contains(&inner)
        })
}

#[test]
fn the_page_on_architecture_names_files_that_exist() {
    let page =
        std::fs::read_to_string(root().join("docs/architecture.md")).expect("the page on architecture");
    let sources: Vec<String> =
        files(&root().join("crates"), "rs").iter().map(|file| file.display().to_string()).collect();
    // Drawings and code have no backticks but their fences.
    let text: String = page.split("```").step_by(2).collect();
    let is_path = |name: &String| {
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
        is_plain && (name.contains('/') || name.ends_with(".rs") || name.ends_with(".md"))
    };
    let paths: Vec<String> = quoted(&text).filter(is_path).filter(|path| !path.contains("NAME")).collect();
    assert!(paths.len() > 50, "{paths:?}");
    let is_recipe = |path: &str| root().join("papers").join(path).with_extension("toml").exists();
    let missing: Vec<&String> =
        paths.iter().filter(|path| !is_found(path, &sources) && !is_recipe(path)).collect();
    assert!(missing.is_empty(), "docs/architecture.md names {missing:?}, which do not exist");
}

/// Pages name the files that check what they say. The changelog is history.
#[test]
fn every_page_names_source_files_that_exist() {
    let sources: Vec<String> = files(&root(), "rs").iter().map(|file| file.display().to_string()).collect();
    let is_source = |name: &String| name.contains('/') && name.ends_with(".rs") && !name.contains("NAME");
    let pages: Vec<_> =
        files(&root(), "md").into_iter().filter(|page| !page.ends_with("CHANGELOG.md")).collect();
    let mut named = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        let text: String = text.split("```").step_by(2).collect();
        let folder = page.parent().unwrap_or(&page);
        for source in quoted(&text).filter(is_source) {
            named += 1;
            let is_there = folder.join(&source).exists() || is_found(&source, &sources);
            assert!(is_there, "{} names {source}, which does not exist", page.display());
        }
    }
    assert!(named > 50, "{named} names");
}
