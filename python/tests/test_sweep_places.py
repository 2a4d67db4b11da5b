"""Sweeps into addresses of fsspec have the datasets of sweeps into folders."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import millpond
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from millpond import _place
from sweeps import RUNS, Here, assert_equal, journal, run_sweep

ADDRESS = "memory://sweeps/out"
FILES = ["groups.parquet", "report.html", "runs.jsonl", "runs.parquet", "sweep.json"]


class EnoughError(Exception):
    """Raised by a progress function."""


@pytest.fixture(autouse=True)
def memory() -> Iterator[MemoryFileSystem]:
    """An empty file system in memory."""
    memory: MemoryFileSystem = fsspec.filesystem("memory")
    memory.store.clear()
    yield memory
    memory.store.clear()


def names(memory: MemoryFileSystem) -> list[str]:
    return sorted(name.rsplit("/", 1)[-1] for name in memory.ls("/sweeps/out", detail=False))


def copied(memory: MemoryFileSystem, folder: Path) -> Path:
    """The files of the address in a folder."""
    folder.mkdir()
    for name in names(memory):
        (folder / name).write_bytes(memory.cat_file(f"/sweeps/out/{name}"))
    return folder


@pytest.fixture
def temporaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, of this test alone: other tests have sweeps at the same time."""
    folder = tmp_path / "temporaries"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def stop_after_half(share: float) -> None:
    if share >= 0.5:
        raise EnoughError


def test_an_address_has_the_files_of_a_folder(
    scenario: millpond.Scenario, serial: Path, memory: MemoryFileSystem, tmp_path: Path, temporaries: Path
) -> None:
    swept = run_sweep(scenario, ADDRESS)
    assert names(memory) == FILES
    assert_equal(copied(memory, tmp_path / "copy"), serial)
    assert swept.directory == ADDRESS
    assert swept.runs().equals(run_sweep(scenario, serial).runs())
    assert list(temporaries.glob("millpond-*")) == []


def test_a_file_address_is_a_folder(scenario: millpond.Scenario, serial: Path, tmp_path: Path) -> None:
    swept = run_sweep(scenario, f"file://{tmp_path}/out")
    assert_equal(tmp_path / "out", serial)
    assert swept.directory == tmp_path / "out"


def test_an_interrupted_sweep_at_an_address_is_continued(
    scenario: millpond.Scenario, serial: Path, memory: MemoryFileSystem, tmp_path: Path
) -> None:
    with pytest.raises(EnoughError):
        run_sweep(scenario, ADDRESS, Here(), stop_after_half)
    assert names(memory) == ["runs.jsonl", "sweep.json"]
    ended = journal(copied(memory, tmp_path / "half"))
    assert RUNS / 2 <= len(ended) < RUNS
    run_sweep(scenario, ADDRESS)
    whole = copied(memory, tmp_path / "whole")
    assert_equal(whole, serial)
    assert journal(whole)[: len(ended)] == ended


def test_runs_are_copied_during_the_sweep_in_complete_lines(
    scenario: millpond.Scenario, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_place, "BETWEEN_COPIES", 0.0)
    monkeypatch.setattr(_place, "COPY_SHARE", 0.0)
    seen: list[int] = []

    def look(share: float) -> None:
        if share > 0.0:
            text = memory.cat_file("/sweeps/out/runs.jsonl")
            assert text.endswith(b"\n")
            seen.append(text.count(b"\n"))

    run_sweep(scenario, ADDRESS, Here(), look)
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] == RUNS


def test_what_follows_the_last_line_is_not_copied(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    long = "x" * 200_000
    for text, expected in [("", ""), ("a\nb", "a\n"), ("a\n", "a\n"), ("b", ""), (f"a\n{long}", "a\n"), (long, "")]:
        file.write_text(text)
        _place._remove_incomplete_line(file)
        assert file.read_text() == expected


def test_two_sweeps_into_one_address(
    scenario: millpond.Scenario, serial: Path, memory: MemoryFileSystem, tmp_path: Path
) -> None:
    refused: list[str] = []

    def again(share: float) -> None:
        if not refused:
            with pytest.raises(millpond.Error, match="another sweep adds runs to this dataset") as raised:
                run_sweep(scenario, ADDRESS)
            refused.append(str(raised.value))

    run_sweep(scenario, ADDRESS, Here(), again)
    assert refused[0].startswith(ADDRESS)
    assert "remove sweep.lock there" in refused[0]
    assert_equal(copied(memory, tmp_path / "copy"), serial)


def test_the_lock_of_a_killed_sweep_expires(scenario: millpond.Scenario, memory: MemoryFileSystem) -> None:
    lock = {"host": "h", "process": 1, "token": "t", "renewed": time.time()}
    memory.pipe_file("/sweeps/out/sweep.lock", json.dumps(lock).encode())
    with pytest.raises(millpond.Error, match="process 1 on h"):
        run_sweep(scenario, ADDRESS)
    assert names(memory) == ["sweep.lock"]
    lock["renewed"] = time.time() - _place.LEASE
    memory.pipe_file("/sweeps/out/sweep.lock", json.dumps(lock).encode())
    run_sweep(scenario, ADDRESS)
    assert names(memory) == FILES


def test_a_sweep_whose_lock_another_one_has_ends(
    scenario: millpond.Scenario, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_place, "BETWEEN_COPIES", 0.0)
    monkeypatch.setattr(_place, "COPY_SHARE", 0.0)

    def take(share: float) -> None:
        memory.pipe_file("/sweeps/out/sweep.lock", b'{"token": "other"}')
        memory.pipe_file("/sweeps/out/runs.jsonl", b"theirs")

    with pytest.raises(millpond.Error, match="another sweep has taken this dataset over"):
        run_sweep(scenario, ADDRESS, Here(), take)
    assert memory.cat_file("/sweeps/out/runs.jsonl") == b"theirs"
    assert memory.cat_file("/sweeps/out/sweep.lock") == b'{"token": "other"}'


def test_an_address_with_another_dataset_or_other_files_is_refused(
    scenario: millpond.Scenario, serial: Path, memory: MemoryFileSystem, tmp_path: Path
) -> None:
    run_sweep(scenario.set("duration", "3s"), ADDRESS)
    old = {name: memory.cat_file(f"/sweeps/out/{name}") for name in names(memory)}
    with pytest.raises(millpond.Error, match=f"^{ADDRESS}: has runs of another scenario.*replace=True"):
        run_sweep(scenario, ADDRESS)
    assert {name: memory.cat_file(f"/sweeps/out/{name}") for name in names(memory)} == old
    run_sweep(scenario, ADDRESS, replace=True)
    assert_equal(copied(memory, tmp_path / "copy"), serial)
    memory.pipe_file("/sweeps/out/thesis.tex", b"text")
    with pytest.raises(millpond.Error, match=f"^{ADDRESS}: is not the dataset of a sweep: it has thesis.tex"):
        run_sweep(scenario, ADDRESS, replace=True)
    assert names(memory) == sorted([*FILES, "thesis.tex"])


def test_a_replaced_sweep_that_is_interrupted_leaves_no_old_table(
    scenario: millpond.Scenario, memory: MemoryFileSystem
) -> None:
    run_sweep(scenario.set("duration", "3s"), ADDRESS)
    with pytest.raises(EnoughError):
        run_sweep(scenario, ADDRESS, Here(), stop_after_half, replace=True)
    assert names(memory) == ["runs.jsonl", "sweep.json"]


def test_an_address_that_cannot_be_written_keeps_the_runs_here(
    scenario: millpond.Scenario,
    serial: Path,
    memory: MemoryFileSystem,
    monkeypatch: pytest.MonkeyPatch,
    temporaries: Path,
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MemoryFileSystem, "put_file", fail)
    with pytest.raises(millpond.Error, match=r"No space left on device.*copy its files to the address") as raised:
        run_sweep(scenario, ADDRESS)
    assert names(memory) == ["sweep.lock"]
    (folder,) = temporaries.glob("millpond-*")
    assert str(folder / "dataset") in str(raised.value)
    assert_equal(folder / "dataset", serial)
    for file in (folder / "dataset").iterdir():
        memory.pipe_file(f"/sweeps/out/{file.name}", file.read_bytes())
        file.unlink()


def test_an_unknown_address_is_told(scenario: millpond.Scenario) -> None:
    with pytest.raises(millpond.Error, match=r"^nothing://bucket/out: cannot use this address: .*Protocol not known"):
        run_sweep(scenario, "nothing://bucket/out")
