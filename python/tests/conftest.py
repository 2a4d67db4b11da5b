"""The command, scenarios and runs that the tests share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
import millpond
import pytest
from sweeps import run_sweep

mpl.use("agg")

ROOT = Path(__file__).parents[2]

#: Two flows of different protocols over one link for five seconds.
SCENARIO = """\
title    = "Two downloads"
duration = "5s"
measure  = { from = "1s", every = "50ms" }

[[links]]
name    = "access"
between = ["server", "home"]
rate    = "20Mbps"
delay   = "10ms"
buffer  = "1bdp"

[[flows]]
name     = "download"
count    = 2
protocol = "cubic"
path     = ["server", "home"]
start    = { uniform = ["0s", "1s"] }
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the command ``millpond``, which the variable MILLPOND names."""
    program = os.environ.get("MILLPOND")
    if program is None:
        pytest.fail("set MILLPOND to the millpond command: make python-test does")

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenario") / "two.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="session")
def scenario(file: Path) -> millpond.Scenario:
    return millpond.Scenario.load(file)


@pytest.fixture(scope="session")
def run(scenario: millpond.Scenario) -> millpond.Run:
    return scenario.run(seed=7)


@pytest.fixture(scope="session")
def comparison(scenario: millpond.Scenario) -> millpond.Comparison:
    return scenario.compare(["cubic", "dctcp"], seeds=3)


@pytest.fixture(scope="session")
def serial(scenario: millpond.Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of `sweeps.run_sweep` on one thread."""
    out = tmp_path_factory.mktemp("serial") / "out"
    run_sweep(scenario, out, threads=1)
    return out


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """Ray on this machine, which all tests share: it takes long to start."""
    from ray_cluster import started

    with started():
        yield


@pytest.fixture(scope="session")
def margin() -> millpond.Scenario:
    """A scenario with a stable equilibrium whose delay margin is known."""
    return millpond.Scenario.load(ROOT / "scenarios/delay-margin.toml")
