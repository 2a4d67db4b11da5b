"""Sweeps on Dask: several worker processes, of which some are killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import millpond
import pytest
from distributed import Client, LocalCluster
from millpond._distribute import capacity
from sweeps import RUNS, assert_equal, journal, run_sweep


@pytest.fixture
def client() -> Iterator[Client]:
    """A cluster of three processes, which are replaced when they end."""
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def workers(client: Client) -> list[int]:
    """The processes of the workers."""
    return list(client.run(os.getpid).values())


def test_the_dataset_is_that_of_a_serial_sweep(
    client: Client, scenario: millpond.Scenario, serial: Path, tmp_path: Path
) -> None:
    executor = client.get_executor()
    assert capacity(executor) == 3
    run_sweep(scenario, tmp_path, executor)
    assert_equal(tmp_path, serial)


def killer(client: Client, killed: list[int]) -> Callable[[float], None]:
    """A progress function that kills one worker that executes a task, and appends its process, when runs have ended."""
    processes = client.run(os.getpid)

    def busy() -> list[str]:
        return [worker for worker, tasks in client.processing().items() if tasks and worker in processes]

    def kill(share: float) -> None:
        for worker in busy() if share > 0.0 and not killed else []:
            # A task may end before the signal arrives: the worker stops until the scheduler has read its messages.
            os.kill(processes[worker], signal.SIGSTOP)
            time.sleep(0.5)
            if worker in busy():
                killed.append(processes[worker])
                os.kill(killed[0], signal.SIGKILL)
                return
            os.kill(processes[worker], signal.SIGCONT)

    return kill


@pytest.fixture(scope="module")
def longer(scenario: millpond.Scenario) -> millpond.Scenario:
    """Its runs take so long that most of them are not done when the first has ended."""
    return scenario.set("duration", "60s")


@pytest.fixture(scope="module")
def expected(longer: millpond.Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of a serial sweep of the longer runs."""
    out = tmp_path_factory.mktemp("longer") / "out"
    run_sweep(longer, out, threads=1)
    return out


def test_a_killed_worker_loses_and_doubles_nothing(
    client: Client, longer: millpond.Scenario, expected: Path, tmp_path: Path
) -> None:
    killed: list[int] = []
    run_sweep(longer, tmp_path, client.get_executor(), killer(client, killed))
    assert killed, "no worker was busy when the test wanted to kill it"
    assert killed[0] not in workers(client)
    assert_equal(tmp_path, expected)


def test_tasks_that_dask_gives_up_are_repeated(
    longer: millpond.Scenario, expected: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With no allowed failure Dask gives up each task of a killed worker."""
    killed: list[int] = []
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        run_sweep(longer, tmp_path, client.get_executor(), killer(client, killed))
    assert killed, "no worker was busy when the test wanted to kill it"
    assert "marked as failed because 1 workers died" in caplog.text
    assert_equal(tmp_path, expected)


def test_a_cluster_that_ends_keeps_what_it_had_executed(
    scenario: millpond.Scenario, serial: Path, tmp_path: Path
) -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def end(share: float) -> None:
            if share > 0.0:
                client.close()

        with pytest.raises(millpond.Error, match="the executor has ended"):
            run_sweep(scenario, tmp_path, client.get_executor(), end)
    assert 0 < len(journal(tmp_path)) < RUNS
    run_sweep(scenario, tmp_path)
    assert_equal(tmp_path, serial)
