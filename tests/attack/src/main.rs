//! `attack [--first NUMBER] [--count N] [--digests FILE]`: runs random scenarios, prints what does not hold and writes these
//! scenarios to `target/attack/`.

use millpond_attack::{Attacked, attack, write_failure};
use millpond_protocols::Registry;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options: BTreeMap<&str, &str> =
        arguments.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let number = |name, default| options.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (first, count) = (number("--first", 0_u64), number("--count", 3000_u64));
    let registry = Registry::builtin();
    let lines: Vec<Line> =
        (first..first + count).into_par_iter().map(|number| attack_and_print(number, &registry)).collect();
    let broken = lines.iter().filter(|line| matches!(line, Line::Broken)).count();
    let refused = lines.iter().filter(|line| matches!(line, Line::Refused(_))).count();
    println!("{count} scenarios: {broken} break an invariant, {refused} were refused");
    let digests: String = (first..).zip(&lines).map(|(number, line)| format!("{number} {line}\n")).collect();
    if let Some(Err(error)) = options.get("--digests").map(|path| std::fs::write(path, digests)) {
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
fn attack_and_print(number: u64, registry: &Registry) -> Line {
    match attack(number, registry) {
        Ok(Attacked::Ran(digest)) => Line::Ran(digest),
        Ok(Attacked::Refused(reason)) => Line::Refused(reason),
        Err(failure) => {
            let (case, reason) = *failure;
            let written = write_failure(Path::new("target/attack"), number, &case);
            let path = written.map_or_else(|error| error.to_string(), |path| path.display().to_string());
            eprintln!("scenario {number}: {reason}\n  {path}; again with: make attack NUMBER={number}");
            Line::Broken
        }
    }
}
