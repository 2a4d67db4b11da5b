//! The imports between the modules of a crate, as its `crate::` and `super::` paths state them.

use millpond_tests::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A path of names, such as `solver::history`; the crate's root is empty.
type Names = Vec<String>;

/// A source file: the module that it defines and its tokens, without comments and without its test module.
struct Source {
    module: Names,
    tokens: Names,
}

/// The modules of a crate with what they export again from their children.
pub(crate) struct Modules {
    sources: Vec<Source>,
    known: BTreeSet<Names>,
    /// For each module and exported name: the path that the name stands for.
    exported: BTreeMap<(Names, String), Names>,
}

impl Modules {
    /// Reads every source file of `folder` (the `src` folder of a crate) except files of tests.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut sources = Vec::new();
        for file in files(folder, "rs") {
            let relative = file.strip_prefix(folder).unwrap_or(&file).with_extension("");
            let mut module: Names = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| ["mod", "lib"].contains(&last.as_str())) {
                module.pop();
            }
            if module.last().is_none_or(|last| last != "tests" && !last.ends_with("_tests")) {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                sources.push(Source { module, tokens: tokens(&text) });
            }
        }
        let known = sources.iter().map(|source| source.module.clone()).collect();
        let mut modules = Self { sources, known, exported: BTreeMap::new() };
        modules.exported = modules.exports();
        modules
    }

    /// Which names each module exports again: its `pub use child::...` paths.
    fn exports(&self) -> BTreeMap<(Names, String), Names> {
        let mut exported = BTreeMap::new();
        for Source { module, tokens } in &self.sources {
            for at in (0..tokens.len()).filter(|at| tokens[*at] == "use") {
                for path in paths(tokens, at + 1) {
                    let full = [module.clone(), path].concat();
                    if let Some(name) = full.last().cloned().filter(|_| self.is_below(&full, module)) {
                        exported.insert((module.clone(), name), full);
                    }
                }
            }
        }
        exported
    }

    /// Whether a path leads through a child of `module`.
    fn is_below(&self, path: &[String], module: &[String]) -> bool {
        path.get(..=module.len()).is_some_and(|child| self.known.contains(child))
    }

    /// The module in which a path ends, exported names followed.
    fn resolve(&self, path: &[String]) -> Names {
        let mut module = Names::new();
        for (place, name) in path.iter().enumerate() {
            let child = [module.clone(), vec![name.clone()]].concat();
            if self.known.contains(&child) {
                module = child;
            } else if let Some(full) = self.exported.get(&(module.clone(), name.clone())) {
                return self.resolve(&[full.clone(), path[place + 1..].to_vec()].concat());
            } else {
                break;
            }
        }
        module
    }

    /// Each import from one module to another.
    fn imports(&self) -> BTreeSet<(Names, Names)> {
        let mut imports = BTreeSet::new();
        for Source { module, tokens } in &self.sources {
            for (at, token) in tokens.iter().enumerate() {
                let is_start = at == 0 || tokens[at - 1] != "::";
                if !is_start || (token != "crate" && token != "super") {
                    continue;
                }
                for path in paths(tokens, at) {
                    let ups = path.iter().take_while(|name| *name == "super").count();
                    let from = if token == "crate" { 0 } else { module.len().saturating_sub(ups) };
                    let names = path.iter().skip(ups.max(1)).cloned().collect();
                    let target = self.resolve(&[module[..from].to_vec(), names].concat());
                    imports.insert((module.clone(), target));
                }
            }
        }
        imports
    }

    /// A cycle of imports between children of one module, a child standing for all modules below it; none if there is no such
    /// cycle. Imports between a module and its own children do not count.
    pub(crate) fn cycle(&self) -> Option<String> {
        let mut edges: BTreeMap<Names, BTreeSet<Names>> = BTreeMap::new();
        for (from, to) in self.imports() {
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (from.get(..=common), to.get(..=common)) {
                edges.entry(from.to_vec()).or_default().insert(to.to_vec());
            }
        }
        // Modules that import nothing that is left are taken away until none or only cycles remain.
        while let Some(done) = self.known.iter().chain(edges.values().flatten()).find(|module| {
            !edges.contains_key(*module) && edges.values().any(|targets| targets.contains(*module))
        }) {
            let done = done.clone();
            edges.values_mut().for_each(|targets| targets.retain(|target| *target != done));
            edges.retain(|_, targets| !targets.is_empty());
        }
        let mut at = edges.keys().next()?.clone();
        let mut way: Vec<Names> = Vec::new();
        while !way.contains(&at) {
            way.push(at.clone());
            at = edges.get(&at)?.iter().find(|next| edges.contains_key(*next))?.clone();
        }
        way.push(at.clone());
        let first = way.iter().position(|module| *module == at)?;
        Some(way[first..].iter().map(|module| module.join("::")).collect::<Vec<_>>().join(" -> "))
    }
}

/// Names, `::`, braces and other characters of a source, up to its test module; comments are left out.
fn tokens(text: &str) -> Names {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut tokens = Names::new();
    for line in code.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                _ if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// All paths of the tree that begins at a token: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn paths(tokens: &[String], start: usize) -> Vec<Names> {
    let (mut found, mut prefix, mut open) = (Vec::new(), Names::new(), Vec::new());
    for (place, token) in tokens[start..].iter().enumerate() {
        let is_joined = place == 0 || tokens[start + place - 1] == "::" || !open.is_empty();
        match token.as_str() {
            "::" => {}
            "{" if is_joined => open.push(prefix.len()),
            "," | "}" if !open.is_empty() => {
                found.push(prefix.clone());
                prefix.truncate(open.last().copied().unwrap_or_default());
                if token == "}" {
                    open.pop();
                }
                if open.is_empty() {
                    return found;
                }
            }
            name if is_joined && name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                prefix.push(name.to_owned());
            }
            _ => break,
        }
    }
    found.push(prefix);
    found
}
