//! Runs random scenarios, prints what does not hold and writes these scenarios to `target/attack/`.

use clap::Parser;
use millpond_attack::{Attacked, Kind, attack, write_failure};
use millpond_protocols::Registry;
use rayon::prelude::*;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Random scenarios: invariants of each, and relations between runs.
#[derive(Parser)]
struct Options {
    /// What kind of scenarios.
    #[arg(long, value_enum, default_value_t = Kind::General)]
    kind: Kind,
    /// The number of the first scenario.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// How many scenarios.
    #[arg(long, default_value_t = 3000)]
    count: u64,
    /// Writes a line for each scenario: its number, and the digest of its results or why it was refused.
    #[arg(long, value_name = "FILE")]
    digests: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Options { kind, first, count, digests } = Options::parse();
    let registry = Registry::builtin();
    let numbers = first..first.saturating_add(count);
    let lines: Vec<Line> =
        numbers.into_par_iter().map(|number| attack_and_print((kind, number), &registry)).collect();
    let broken = lines.iter().filter(|line| matches!(line, Line::Broken)).count();
    let refused = lines.iter().filter(|line| matches!(line, Line::Refused(_))).count();
    println!("{count} scenarios of the kind {kind}: {broken} break an invariant, {refused} were refused");
    let text: String = (first..).zip(&lines).map(|(number, line)| format!("{number} {line}\n")).collect();
    if let Some(Err(error)) = digests.map(|path| std::fs::write(path, text)) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What became of a scenario.
enum Line {
    Ran(String),
    Refused(String),
    Broken,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran(digest) => f.write_str(digest),
            Self::Refused(reason) => f.write_str(reason.lines().next().unwrap_or_default()),
            Self::Broken => f.write_str("breaks an invariant"),
        }
    }
}

/// Runs a scenario; if it breaks an invariant, prints which, and writes it to a file.
fn attack_and_print((kind, number): (Kind, u64), registry: &Registry) -> Line {
    match attack(kind, number, registry) {
        Ok(Attacked::Ran(digest)) => Line::Ran(digest),
        Ok(Attacked::Refused(reason)) => Line::Refused(reason),
        Err(failure) => {
            let (case, reason) = *failure;
            let written = write_failure(Path::new("target/attack"), (kind, number), &case);
            let path = written.map_or_else(|error| error.to_string(), |path| path.display().to_string());
            eprintln!(
                "scenario {number}: {reason}\n  {path}; again with: make attack KIND={kind} NUMBER={number}"
            );
            Line::Broken
        }
    }
}
