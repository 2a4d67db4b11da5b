"""The benchmark of the package executes each of its workloads; `make bench-python` judges the numbers."""

from __future__ import annotations

import os
import subprocess
import sys

from conftest import ROOT

#: The first words of each line, one for each number of the package.
NUMBERS = [
    "import millpond",
    "a run from Python over the command",
    "a million rows of series to pandas",
    "NewReno in Python, with all of the simulation",
    "NewReno in C over the built-in one",
    "NewReno in Numba over the built-in one",
    "steps of 10 ms, LinkControl-v0",
    "steps of 10 ms, its vector version",
]


def test_the_benchmark_measures_every_number() -> None:
    program = [sys.executable, str(ROOT / "benches/python.py"), os.environ["MILLPOND"], "--quick"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for number in NUMBERS:
        assert f"\n{number}" in done.stdout, done.stdout
