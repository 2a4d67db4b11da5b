"""Sweeps whose executor, disk or dataset fails: a message says what to do, no run is lost or doubled."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import millpond
import pytest
from conftest import SCENARIO
from millpond import _distribute
from sweeps import RUNS, Here, assert_equal, journal, run_sweep


class CrashedError(Exception):
    """What the future of a lost worker raises: each library has a class of its own."""


def count_tasks(executor: Here) -> list[list[int]]:
    """The runs of each task that the executor receives."""
    tasks: list[list[int]] = []
    before = executor.before

    def count(numbers: list[int]) -> None:
        tasks.append(numbers)
        before(numbers)

    executor.before = count
    return tasks


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_killed_process_loses_and_doubles_nothing(
    scenario: millpond.Scenario, serial: Path, method: str, tmp_path: Path
) -> None:
    killed: list[int] = []
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:

        def kill(share: float) -> None:
            if share > 0.0 and not killed:
                killed.append(next(iter(executor._processes)))
                os.kill(killed[0], signal.SIGKILL)
                time.sleep(0.5)

        with pytest.raises(millpond.Error, match="the same call with another executor runs the others"):
            run_sweep(scenario, tmp_path, executor, progress=kill)
    assert killed
    assert 0 < len(journal(tmp_path)) < RUNS
    run_sweep(scenario, tmp_path)
    assert_equal(tmp_path, serial)


def test_a_task_that_was_lost_is_repeated_run_by_run(scenario: millpond.Scenario, serial: Path, tmp_path: Path) -> None:
    lost: list[list[int]] = []

    def lose_the_fifth(numbers: list[int]) -> None:
        if len(tasks) == 5:
            lost.append(numbers)
            raise CrashedError("worker died")

    executor = Here(lose_the_fifth)
    tasks = count_tasks(executor)
    run_sweep(scenario, tmp_path, executor)
    assert_equal(tmp_path, serial)
    (numbers,) = lost
    assert len(numbers) > 1, "the test wants a task of several runs"
    assert all(tasks[5:].count([number]) == 1 for number in numbers)


def test_a_run_that_always_ends_its_worker_is_named_after_three_attempts(
    scenario: millpond.Scenario, serial: Path, tmp_path: Path
) -> None:
    def lose(numbers: list[int]) -> None:
        if 7 in numbers:
            raise CrashedError("worker died.")

    executor = Here(lose)
    tasks = count_tasks(executor)
    with pytest.raises(millpond.Error, match=r"CrashedError: worker died\. Look at .*memory for the run") as raised:
        run_sweep(scenario, tmp_path, executor)
    assert sum(7 in numbers for numbers in tasks) == 3
    # The eighth in the order of settings, protocols and seeds, which are 1 and 2.
    named = "flows.download.count=2, links.access.rate=5Mbps, protocol dctcp, seed 2"
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value.__cause__, CrashedError)
    run_sweep(scenario, tmp_path)
    assert_equal(tmp_path, serial)


def test_an_executor_that_ends_keeps_what_it_had_executed(
    scenario: millpond.Scenario, serial: Path, tmp_path: Path
) -> None:
    executor = ThreadPoolExecutor(2)

    def end(share: float) -> None:
        if share > 0.0:
            executor.shutdown(wait=False, cancel_futures=True)

    with pytest.raises(millpond.Error, match="the executor has ended") as raised:
        run_sweep(scenario, tmp_path, executor, progress=end)
    ended = len(journal(tmp_path))
    assert f"{ended} of {RUNS} missing runs had ended" in str(raised.value)
    assert 0 < ended < RUNS
    # The exception is still referred to, as in a notebook after a failed cell.
    run_sweep(scenario, tmp_path)
    assert_equal(tmp_path, serial)


def test_an_executor_that_breaks_at_once_is_told(scenario: millpond.Scenario, tmp_path: Path) -> None:
    def fail(numbers: list[int]) -> None:
        raise BrokenExecutor("no worker could be started.")

    with pytest.raises(millpond.Error, match=rf"no worker could be started\. 0 of {RUNS} missing runs"):
        run_sweep(scenario, tmp_path, Here(fail))


def test_an_exception_in_a_worker_is_raised_with_its_traceback(
    scenario: millpond.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(task: bytes) -> None:
        raise ModuleNotFoundError("No module named 'laws'")

    monkeypatch.setattr(_distribute, "_plan_of", plan)
    executor = Here()
    tasks = count_tasks(executor)
    with pytest.raises(millpond.Error, match=r"a worker cannot execute.*No module named 'laws'") as raised:
        run_sweep(scenario, tmp_path, executor, in_flight=2)
    assert len(tasks) == 2, "it is not repeated"
    assert "Traceback" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.replace('"version":"', '"version":"other '), "Install the same version for all workers"),
        (lambda line: line, "Give all workers the same files"),
    ],
)
def test_the_runs_of_a_worker_with_another_version_or_trace_are_refused(
    scenario: millpond.Scenario,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[str], str],
    message: str,
) -> None:
    execute = _distribute.run_chunk

    def other(task: bytes, numbers: list[int], attempt: int) -> _distribute.Outcome:
        lines, elapsed, error = execute(task, numbers, attempt)
        return [change(str(line).replace('"run":"', '"run":"0')) for line in lines], elapsed, error

    monkeypatch.setattr(_distribute, "run_chunk", other)
    with pytest.raises(millpond.Error, match=message):
        run_sweep(scenario, tmp_path, Here())
    assert journal(tmp_path) == []


def test_tasks_take_about_a_second(
    scenario: millpond.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the workers advances by 0.1 s for each run: tasks of 20 runs, of which 10 are begun."""
    clock = iter(range(10**9))
    times: list[float] = []
    execute = _distribute._plan_of

    class Plan:
        def __init__(self, task: bytes) -> None:
            self.plan = execute(task)

        def run(self, number: int) -> str:
            return self.plan.run(number)

    monkeypatch.setattr(_distribute, "_plan_of", Plan)
    monkeypatch.setattr("millpond._distribute.time.perf_counter", lambda: next(clock) / 10.0)
    chunk = _distribute.run_chunk

    def timed(task: bytes, numbers: list[int], attempt: int) -> _distribute.Outcome:
        outcome = chunk(task, numbers, attempt)
        times.append(len(outcome[0]) / 10.0)
        return outcome

    monkeypatch.setattr(_distribute, "run_chunk", timed)
    millpond.sweep(
        scenario.set("duration", "1100ms"),
        {"flows.download.count": [1]},
        out=tmp_path,
        seeds=100,
        executor=Here(),
        in_flight=2,
    )
    # The first two tasks measure; at the end the rest is divided among the workers.
    assert times[:2] == [0.1, 0.1]
    middle = times[2 : len(times) // 2]
    assert len(middle) >= 3
    assert all(0.9 <= one <= 1.1 for one in middle), times
    assert len(journal(tmp_path)) == 100


CHILD = f"""
import millpond, os, resource, sys, time
from concurrent.futures import ProcessPoolExecutor
scenario = millpond.Scenario.parse('''{SCENARIO}''')

def sweep(executor=None, progress=None):
    return millpond.sweep(scenario, {{"flows.download.count": [1, 2, 3, 4]}}, out=sys.argv[1], seeds=8,
                          executor=executor, progress=progress)

try:
    CALL
except millpond.Error as error:
    print(error)
"""


def child(call: str, out: Path) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", CHILD.replace("CALL", call), str(out)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def test_a_full_disk_leaves_complete_runs_and_is_told(tmp_path: Path) -> None:
    """A limit of the size of files takes the place of a full disk: a write ends in the middle of a line."""
    out = tmp_path / "out"
    limit = 10_000
    call = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY)); sweep()"
    printed, _ = child(call, out).communicate(timeout=60)
    assert "runs.jsonl: cannot write this file" in printed
    assert "the same sweep runs the others when the file can be written" in printed
    assert printed.count("\n") == 1
    text = (out / "runs.jsonl").read_text()
    assert limit - 2000 < len(text) <= limit
    assert text.endswith("}\n")
    assert sorted(file.name for file in out.iterdir()) == ["runs.jsonl", "sweep.json"]
    before = text.count("\n")
    child("sweep()", out).communicate(timeout=60)
    assert (out / "runs.jsonl").read_text().startswith(text)
    assert 0 < before < 32 == len(journal(out))


def test_a_table_that_has_no_room_is_absent(tmp_path: Path) -> None:
    child("sweep()", tmp_path / "whole").communicate(timeout=60)
    out = tmp_path / "out"
    out.mkdir()
    (out / "runs.jsonl").write_text((tmp_path / "whole/runs.jsonl").read_text())
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY)); sweep()"
    printed, _ = child(limit, out).communicate(timeout=60)
    assert "runs.parquet: cannot write this file" in printed
    assert "when the file can be written" in printed
    assert sorted(file.name for file in out.iterdir()) == ["runs.jsonl", "sweep.json"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_two_sweeps_into_one_folder(scenario: millpond.Scenario, serial: Path, tmp_path: Path) -> None:
    refused: list[str] = []

    def again(share: float) -> None:
        if not refused:
            with pytest.raises(
                millpond.Error, match="another sweep adds runs to this dataset; wait for its end"
            ) as raised:
                run_sweep(scenario, tmp_path)
            refused.append(str(raised.value))

    run_sweep(scenario, tmp_path, progress=again, executor=Here())
    assert "give out another name" in refused[0]
    assert "--" not in refused[0]
    assert_equal(tmp_path, serial)


def test_a_dataset_of_another_version_is_replaced_only_on_request(
    scenario: millpond.Scenario, serial: Path, tmp_path: Path
) -> None:
    run_sweep(scenario, tmp_path)
    description = tmp_path / "sweep.json"
    old = description.read_text().replace(f'"version": "{millpond.__version__}', '"version": "0.0.1')
    description.write_text(old)
    with pytest.raises(millpond.Error, match=r"has runs of version 0\.0\.1.*or replace the dataset with replace=True"):
        run_sweep(scenario, tmp_path)
    assert description.read_text() == old
    run_sweep(scenario, tmp_path, replace=True)
    assert_equal(tmp_path, serial)


def test_a_folder_with_other_files_is_refused(scenario: millpond.Scenario, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(millpond.Error, match=r"it has thesis\.tex; give out another name"):
        run_sweep(scenario, tmp_path, replace=True)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_the_workers_of_a_killed_sweep_do_not_lock_its_dataset(method: str, tmp_path: Path) -> None:
    call = f"""
    import multiprocessing
    def tell(share):
        if share > 0:
            print(*executor._processes, flush=True)
            time.sleep(60)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("{method}")) as executor:
        sweep(executor, tell)"""
    process = child(call, tmp_path)
    assert process.stdout is not None
    workers = [int(worker) for worker in process.stdout.readline().split()]
    process.kill()
    process.wait()
    process.stdout.close()
    try:
        assert len(workers) == 2
        printed, _ = child("sweep()", tmp_path).communicate(timeout=60)
        assert printed == ""
        assert len(journal(tmp_path)) == 32
    finally:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
