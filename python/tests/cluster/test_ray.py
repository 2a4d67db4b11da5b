"""Sweeps on Ray: several worker processes, of which some are killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import millpond
import psutil
import pytest
from millpond._distribute import capacity
from millpond.executors import RayExecutor
from sweeps import RUNS, assert_equal, journal, run_sweep

pytestmark = pytest.mark.usefixtures("ray_cluster")


def working() -> list[int]:
    """The processes that execute tasks of a sweep now."""
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if child.cmdline()[:1] == ["ray::run_chunk"]]


def kill_one(killed: list[int]) -> None:
    """Kills a process that executes a task; none while there is none."""
    for process in working()[:1]:
        os.kill(process, signal.SIGKILL)
        killed.append(process)


def test_the_dataset_is_that_of_a_serial_sweep(scenario: millpond.Scenario, serial: Path, tmp_path: Path) -> None:
    with RayExecutor() as executor:
        assert capacity(executor) == 3
        run_sweep(scenario, tmp_path, executor)
    assert_equal(tmp_path, serial)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(os.getpid)


@pytest.mark.parametrize("options", [{}, {"max_retries": 0}], ids=["Ray repeats", "millpond repeats"])
def test_a_killed_worker_loses_and_doubles_nothing(
    scenario: millpond.Scenario, options: dict[str, int], tmp_path: Path
) -> None:
    killed: list[int] = []
    longer = scenario.set("duration", "60s")

    def kill(share: float) -> None:
        if share > 0.0 and not killed:
            kill_one(killed)

    with RayExecutor(**options) as executor:
        run_sweep(longer, tmp_path / "killed", executor, kill)
    assert killed, "no task was running when the test wanted to kill its worker"
    run_sweep(longer, tmp_path / "serial", threads=1)
    assert_equal(tmp_path / "killed", tmp_path / "serial")


def test_tasks_of_a_sweep_that_ends_are_cancelled(scenario: millpond.Scenario, tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def stop(share: float) -> None:
        if share > 0.0:
            raise EnoughError

    executor = RayExecutor()
    with pytest.raises(EnoughError):
        run_sweep(scenario.set("duration", "60s"), tmp_path, executor, stop)
    assert not executor._references
    assert len(journal(tmp_path)) < RUNS
    end = time.monotonic() + 10.0
    while working() and time.monotonic() < end:
        time.sleep(0.1)
    assert not working()


def test_results_and_exceptions_are_those_of_the_call() -> None:
    with RayExecutor(num_cpus=1) as executor:
        assert list(executor.map(abs, [-1, 2])) == [1, 2]
        failing = executor.submit(int, "x")
    assert isinstance(failing.exception(), ValueError)
