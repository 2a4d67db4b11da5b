"""Sweeps of Python have the datasets of the command, whatever executes them."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import millpond
import numpy as np
import pytest
from conftest import Command
from millpond._toml import Value
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


def test_an_item_of_a_list_is_one_value(scenario: millpond.Scenario, tmp_path: Path) -> None:
    short = scenario.set({"duration": "2s"})
    titles: list[Value] = ["plain", "a,b", 'q"u,o', "it's", "x..y", " p ", "[a", "a\\", ""]
    runs = millpond.sweep(short, {"title": titles}, out=tmp_path / "titles").runs()
    assert len(runs) == len(titles)
    assert (runs["error"] == "").all()
    for name in ("a,b.csv", "my.csv"):
        millpond.Trace.generate("lte-short", duration="5s").save(tmp_path / name)
    over_trace = short.set("links.access.rate", {"trace": {"file": tmp_path / "my.csv"}})
    files: list[Value] = [tmp_path / "a,b.csv", str(tmp_path / "my.csv")]
    assert len(millpond.sweep(over_trace, {"links.access.rate.trace.file": files}, out=tmp_path / "files").runs()) == 2
    rates: list[Value] = ["5Mbps", {"trace": {"file": f"{tmp_path}/../{tmp_path.name}/my.csv"}}]
    assert len(millpond.sweep(short, {"links.access.rate": rates}, out=tmp_path / "rates").runs()) == 2
    paths: list[Value] = ['["server", "home"]', ["home", "server"]]
    assert len(millpond.sweep(short, {"flows.download.path": paths}, out=tmp_path / "paths").runs()) == 2


def test_values_of_numpy_are_values(scenario: millpond.Scenario, tmp_path: Path) -> None:
    short = scenario.set({"duration": "2s"})
    vary: dict[str, str | list[Value]] = {
        "flows.download.count": np.arange(1, 3),  # type: ignore[dict-item]
        "measure.converged_within": np.linspace(0.1, 0.3, 2),  # type: ignore[dict-item]
    }
    runs = millpond.sweep(short, vary, out=tmp_path, seeds=np.int64(1)).runs()  # type: ignore[arg-type]
    assert sorted(set(runs["flows.download.count"])) == [1, 2]
    assert sorted(set(runs["measure.converged_within"])) == [0.1, 0.3]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"protocols": "cubic"}, r"protocols is 'cubic': expected a list, such as \['cubic'\]"),
        ({"protocols": 3}, "protocols is 3: expected a list"),
        ({"seeds": 0}, "seeds is 0: expected a whole number from 1"),
        ({"seeds": -1}, "seeds is -1: expected"),
        ({"threads": -1}, "threads is -1: expected"),
        ({"samples": -1}, "samples is -1: expected a whole number from 1 to 65536"),
        ({"in_flight": 0}, "in_flight is 0: expected"),
        ({"vary": {"flows.download.count": 2}}, r"vary\['flows.download.count'\] is 2: expected a list, such as \[2\]"),
        ({"vary": {"flows.download.count": []}}, r"vary\['flows.download.count'\] is empty: expected at least one"),
        ({"vary": ["flows.download.count"]}, "expected a mapping"),
    ],
)
def test_wrong_arguments_are_refused(
    scenario: millpond.Scenario, wrong: dict[str, Any], message: str, tmp_path: Path
) -> None:
    arguments: dict[str, Any] = {"vary": {"flows.download.count": [1]}, "out": tmp_path / "out"} | wrong
    with pytest.raises(millpond.Error, match=message):
        millpond.sweep(scenario, **arguments)
    assert not (tmp_path / "out").exists()
