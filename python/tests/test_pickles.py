"""Scenarios and results can be pickled, so that pools of processes, joblib and Dask return them."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import millpond
import numpy as np
import pytest

T = TypeVar("T")


def again(value: T) -> T:
    """The value after a way through another process."""
    restored: T = pickle.loads(pickle.dumps(value))
    return restored


def is_same(one: millpond.Run, other: millpond.Run) -> bool:
    """Whether two runs have equal numbers to the last bit."""
    pairs = zip(one.series.select(), other.series.select(), strict=True)
    same_series = all(
        (a.kind, a.entity, a.quantity, a.unit) == (b.kind, b.entity, b.quantity, b.unit)
        and np.array_equal(a.time, b.time)
        and np.array_equal(a.value, b.value, equal_nan=True)
        for a, b in pairs
    )
    points = zip(one.distributions, other.distributions, strict=True)
    same_points = all((a.entity, a.kind) == (b.entity, b.kind) and np.array_equal(a.value, b.value) for a, b in points)
    texts = ("label", "command", "scenario_toml", "cpu_s")
    return (
        same_series
        and same_points
        and one.summary_json() == other.summary_json()
        and one.transfers.to_arrow().equals(other.transfers.to_arrow())
        and all(getattr(one, name) == getattr(other, name) for name in texts)
    )


def test_a_run_is_restored_to_the_last_bit(run: millpond.Run) -> None:
    run.series.select(quantity="goodput")
    for restored in (again(run), copy.deepcopy(run)):
        assert is_same(run, restored)
        assert str(restored) == str(run)
    # Series that are sampled together share their times.
    columns: Any = run._core.parts()[4]
    assert len({id(times) for _, times, _ in columns}) < len(columns) / 2
    assert again(run.summary) == run.summary


def test_a_restored_run_is_explained_from_its_scenario(margin: millpond.Scenario) -> None:
    run = margin.run()
    assert again(run).explain().to_json() == run.explain().to_json()


def test_comparisons_and_analyses_are_restored(scenario: millpond.Scenario, margin: millpond.Scenario) -> None:
    short = scenario.set({"duration": "2s", "flows.download.protocol": "dctcp"})
    comparison = short.compare(worlds=["packets", "fluid"])
    restored = again(comparison)
    assert str(restored) == str(comparison)
    assert restored.to_json() == comparison.to_json()
    assert all(is_same(one, other) for one, other in zip(comparison, restored, strict=True))
    for analysis in (margin.equilibrium(), margin.allocation(alpha=1.0), margin.stability()):
        assert again(analysis).to_json() == analysis.to_json()
    trace = millpond.Trace.generate("5g-static", duration="2s")
    assert again(trace).duration_s == trace.duration_s
    assert np.array_equal(again(trace).rate_bps, trace.rate_bps)
    assert np.array_equal(again(trace).time_s, trace.time_s)


def test_a_sweep_is_restored_with_its_tables(scenario: millpond.Scenario, tmp_path: Path) -> None:
    swept = millpond.sweep(scenario.set("duration", "2s"), {"flows.download.count": [1, 2]}, out=tmp_path / "out")
    restored = again(swept)
    assert str(restored) == str(swept)
    assert restored.to_json() == swept.to_json()
    assert restored.runs().equals(swept.runs())


def one_run(scenario: millpond.Scenario, seed: int) -> millpond.Run:
    """What a worker does."""
    return scenario.run(seed=seed)


def test_a_pool_of_processes_returns_runs(scenario: millpond.Scenario) -> None:
    short = scenario.set("duration", "2s")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        runs = list(pool.map(one_run, [short, short], [1, 2]))
    assert [run.summary.seed for run in runs] == [1, 2]
    assert all(run.summary_json() == short.run(seed=seed).summary_json() for seed, run in enumerate(runs, 1))


def test_a_table_says_what_to_pickle_in_its_place(run: millpond.Run) -> None:
    for table in (run.flows, run.series):
        with pytest.raises(TypeError, match="pickle its run"):
            pickle.dumps(table)
