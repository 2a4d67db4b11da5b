#!/usr/bin/env python3
"""Applies single faults to the equations of protocols and applications and checks that the recipes notice each.

`mutants.toml` lists the faults: an expression of a source file, the wrong expression, and the recipes that must
notice it. A file is that of a protocol, or a path that begins with `crates/`. All faults are compiled into one copy
of the sources, each behind a switch that an environment variable selects at run time; the sources themselves are
unchanged. A fault is detected if at least two rows of these recipes are unexplained. Exit code 1 if a fault is not
detected, or if a recipe has an unexplained row without a fault.

usage: run.py [--survey] [NAME...]
  NAME      only the faults whose names begin with one of these
  --survey  run all recipes of the paper instead of those that the list names, and print how many rows each loses

The recipes of a fault run in the order of the list, until two rows are unexplained.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
PROTOCOLS = pathlib.Path("crates/protocols/src")
VARIABLE = "MILLPOND_MUTANT"
LEAST_ROWS = 2
LONGEST_CHECK = 300  # s
SWITCH = f'''
/// Whether the fault with this number is switched on.
pub(crate) fn has_fault(number: usize) -> bool {{
    static NUMBER: std::sync::LazyLock<Option<usize>> =
        std::sync::LazyLock::new(|| std::env::var("{VARIABLE}").ok()?.parse().ok());
    *NUMBER == Some(number)
}}
'''


def read_mutants(text):
    """The faults in the text of mutants.toml, each with its number from 1."""
    listed = tomllib.loads(text)["mutant"]
    names = [mutant["name"] for mutant in listed]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        sys.exit(f"mutants.toml: names occur twice: {', '.join(sorted(repeated))}")
    return [dict(mutant, number=number) for number, mutant in enumerate(listed, 1)]


def with_faults(path, text, mutants):
    """The text of a source file in which each mutated expression depends on the switch."""
    by_expression = {}
    for mutant in mutants:
        by_expression.setdefault(mutant["find"], []).append(mutant)
    code, separator, tests = text.partition("#[cfg(test)]\nmod tests")
    for expression, faults in by_expression.items():
        if code.count(expression) != 1:
            found = code.count(expression)
            sys.exit(f"mutants.toml: {faults[0]['name']}: {path} has {found} times: {expression}")
        branches = (f"if crate::has_fault({m['number']}) {{ {m['replace']} }}" for m in faults)
        code = code.replace(expression, f"({' else '.join(branches)} else {{ {expression} }})")
    # A method that reads the switch is not constant.
    return re.sub(r"\bconst (fn \w+\(&(?:mut )?self)", r"\1", code) + separator + tests


def source_path(file):
    """The path of the source file of a fault."""
    return pathlib.Path(file) if file.startswith("crates/") else PROTOCOLS / file


def library_root(path):
    """The `lib.rs` of the crate that a source file belongs to."""
    return pathlib.Path(*path.parts[:2], "src", "lib.rs")


def faulty_sources(mutants):
    """The texts of source files that have faults, and of the roots of their crates with the switch, by their paths."""
    of_file = {}
    for mutant in mutants:
        path = source_path(mutant["file"])
        of_file.setdefault(path, []).append(mutant)
        of_file.setdefault(library_root(path), [])
    missing = [str(path) for path in of_file if not (ROOT / path).is_file()]
    if missing:
        sys.exit(f"mutants.toml: no such file: {', '.join(missing)}")
    faulty = {path: with_faults(path, (ROOT / path).read_text(), faults) for path, faults in of_file.items()}
    return {path: text + SWITCH if path == library_root(path) else text for path, text in faulty.items()}


def copy_sources(mutants):
    """Copies the tracked files, with all faults; an unchanged file keeps its time, so that little is compiled again."""
    faulty = faulty_sources(mutants)
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    files = [pathlib.Path(name) for name in tracked.stdout.splitlines() if (ROOT / name).is_file()]
    source = WORK / "source"
    for path in files:
        content = faulty[path].encode() if path in faulty else (ROOT / path).read_bytes()
        target = source / path
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(ROOT / path, target)
    return source


def build(source):
    """The command with all faults."""
    quickly = {
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_PROFILE_RELEASE_DEBUG": "none",
    }
    environment = dict(os.environ, CARGO_TARGET_DIR=str(WORK / "build"), RUSTFLAGS="--cap-lints allow", **quickly)
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--package", "millpond-cli"], cwd=source, env=environment, check=True
    )
    return WORK / "build" / "release" / "millpond"


def unexplained_rows(command, recipe, number):
    """The number of rows of a recipe that are unexplained with this fault; all of them if the check itself fails."""
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    environment.pop(VARIABLE, None)
    if number:
        environment[VARIABLE] = str(number)
    arguments = [command, "papers", "check", recipe, "--json", "--papers", str(ROOT / "papers")]
    try:
        checked = subprocess.run(
            arguments, env=environment, capture_output=True, text=True, timeout=LONGEST_CHECK, check=False
        )
        recipes = json.loads(checked.stdout)["recipes"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
        return sys.maxsize
    return sum(row["verdict"] == "unexplained" for one in recipes for row in one["rows"])


def recipes_of(mutant, survey):
    """The recipes that are run with a fault."""
    if not survey:
        return mutant["recipes"]
    papers = sorted({recipe.split("/")[0] for recipe in mutant["recipes"]})
    return [
        f"{paper}/{path.stem}"
        for paper in papers
        for path in sorted((ROOT / "papers" / paper).glob("*.toml"))
        if path.stem != "paper"
    ]


def judge(command, mutant, survey):
    """The number of rows that each recipe loses to a fault; without `survey` until they are enough."""
    lost = {}
    for recipe in recipes_of(mutant, survey):
        if survey or sum(lost.values()) < LEAST_ROWS:
            lost[recipe] = unexplained_rows(command, recipe, mutant["number"])
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--survey", action="store_true")
    options = parser.parse_args()
    mutants = read_mutants((pathlib.Path(__file__).parent / "mutants.toml").read_text())
    command = build(copy_sources(mutants))
    selected = [m for m in mutants if not options.names or m["name"].startswith(tuple(options.names))]
    if not selected:
        sys.exit("no fault has such a name")
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        recipes = sorted({recipe for mutant in selected for recipe in recipes_of(mutant, options.survey)})
        without_fault = dict(
            zip(recipes, pool.map(lambda recipe: unexplained_rows(command, recipe, None), recipes), strict=True)
        )
        broken = [recipe for recipe, rows in without_fault.items() if rows]
        if broken:
            sys.exit(f"unexplained without a fault: {', '.join(broken)}")
        missed = 0
        for mutant, lost in zip(
            selected, pool.map(lambda mutant: judge(command, mutant, options.survey), selected), strict=True
        ):
            rows = sum(lost.values())
            missed += rows < LEAST_ROWS
            shown = ", ".join(f"{recipe} {'fails' if n == sys.maxsize else n}" for recipe, n in lost.items() if n)
            print(
                f"{'MISSED  ' if rows < LEAST_ROWS else 'detected'} {mutant['name']}: {shown or 'no row'}", flush=True
            )
    print(f"{len(selected) - missed} of {len(selected)} faults are detected by at least {LEAST_ROWS} rows")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
