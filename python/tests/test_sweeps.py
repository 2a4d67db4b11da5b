"""Sweeps of Python have the datasets of the command, whatever executes them."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import millpond
import pytest
from conftest import Command
from sweeps import RUNS, assert_equal, run_sweep


@pytest.fixture(scope="module")
def expected(command: Command, file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("command") / "out"
    vary = ["--vary", "links.access.rate=5Mbps..20Mbps:log:3", "--vary", "flows.download.count=1,2"]
    done = command("sweep", file, *vary, "--protocols", "cubic,dctcp", "--seeds", "2", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    (out.parent / "printed.json").write_text(done.stdout)
    return out


@pytest.mark.parametrize("kind", ["own threads", "threads", "processes"])
def test_a_sweep_has_the_dataset_of_the_command(
    scenario: millpond.Scenario, expected: Path, kind: str, tmp_path: Path
) -> None:
    if kind == "own threads":
        swept = run_sweep(scenario, tmp_path / "out")
    else:
        context = multiprocessing.get_context("spawn")
        executor = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=context)
        with executor:
            swept = run_sweep(scenario, tmp_path / "out", executor)
    assert_equal(tmp_path / "out", expected)
    assert json.loads(swept.to_json()) == json.loads((expected.parent / "printed.json").read_text())
    assert len(swept.runs()) == RUNS
    assert len(swept.result.rows) == 12


def test_a_larger_sweep_runs_what_is_missing(scenario: millpond.Scenario, tmp_path: Path) -> None:
    millpond.sweep(scenario, {"flows.download.count": [1]}, out=tmp_path)
    first = (tmp_path / "runs.jsonl").read_text()
    swept = millpond.sweep(scenario, {"flows.download.count": [1, 2]}, out=tmp_path)
    assert (tmp_path / "runs.jsonl").read_text().startswith(first)
    assert len(swept.runs()) == 2


def test_bad_sweeps_are_refused_before_the_first_run(scenario: millpond.Scenario, tmp_path: Path) -> None:
    with pytest.raises(millpond.Error, match="expected"):
        millpond.sweep(scenario, {"links.access.rate": ["20Mbps", "fast"]}, out=tmp_path / "a")
    with pytest.raises(millpond.Error, match="different units"):
        millpond.sweep(scenario, {"links.access.rate": "1Mbps..5ms:3"}, out=tmp_path / "a")
    assert not (tmp_path / "a").exists()
    millpond.sweep(scenario, {"flows.download.count": [1]}, out=tmp_path / "b")
    with pytest.raises(millpond.Error, match="other varied keys"):
        millpond.sweep(scenario, {"links.access.delay": ["10ms"]}, out=tmp_path / "b")
