"""Sweeps with laws in Python: runs that a law ends are rows, and each run has the key of the law that it ran."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import millpond
import pytest
from guest_laws import Breaks, Fixed
from millpond.events import Start
from sweeps import journal
from test_guest_laws import network

VARY: dict[str, str | list[millpond._toml.Value]] = {"links.L.rate": ["5Mbps", "10Mbps"]}
MESSAGE = 'law "breaks", sender on_ack at '


@pytest.fixture(scope="module")
def scenario() -> millpond.Scenario:
    return network("cubic", duration="4s")


@pytest.mark.parametrize("kind", ["own threads", "threads", "processes"])
def test_a_run_that_a_law_ends_is_a_row(scenario: millpond.Scenario, kind: str, tmp_path: Path) -> None:
    executor: Executor | None = None
    if kind != "own threads":
        context = multiprocessing.get_context("spawn")
        executor = ThreadPoolExecutor(1) if kind == "threads" else ProcessPoolExecutor(1, mp_context=context)
    shares: list[float] = []

    def sweep() -> millpond.Sweep:
        protocols: list[str | type[millpond.Law]] = ["newreno", Breaks, Fixed]
        return millpond.sweep(
            scenario, VARY, out=tmp_path, protocols=protocols, seeds=2, executor=executor, progress=shares.append
        )

    runs = sweep().runs()
    assert len(runs) == 12
    failed = runs[runs["error"] != ""]
    # Eight packets take longer than the limit on the slower link only.
    assert set(failed["protocol"]) == {"breaks"}
    assert set(failed["links.L.rate [bit/s]"]) == {5e6}
    assert len(failed) == 2, "both seeds"
    assert failed["error"].str.startswith(MESSAGE).all()
    assert failed["error"].str.contains("RuntimeError: a long queue", regex=False).all()
    assert failed["version"].str.contains(" breaks@").all()
    assert shares == sorted(shares)
    before = journal(tmp_path)
    sweep()
    assert journal(tmp_path) == before, "a run that failed is not repeated, as of a built-in protocol"
    if executor is not None:
        executor.shutdown()


@pytest.mark.parametrize("is_varied", [False, True])
def test_a_failed_run_over_a_trace_is_a_row(is_varied: bool, scenario: millpond.Scenario, tmp_path: Path) -> None:
    for seed in (1, 2):
        millpond.Trace.generate("lte-short", duration="5s", seed=seed, mean="3Mbps").save(tmp_path / f"{seed}.csv")
    first, second = (tmp_path / f"{seed}.csv" for seed in (1, 2))
    over_trace = scenario.set("links.L.rate", {"trace": {"file": first}})
    vary: dict[str, str | list[millpond._toml.Value]]
    vary = {"links.L.rate.trace.file": [first, second]} if is_varied else {"flows.f.count": [1, 2]}
    runs = millpond.sweep(over_trace, vary, out=tmp_path / "out", protocols=[Breaks]).runs()
    assert len(runs) == 2
    assert runs["error"].str.startswith(MESSAGE).all()


def test_a_law_joins_a_finished_dataset(scenario: millpond.Scenario, tmp_path: Path) -> None:
    millpond.sweep(scenario, VARY, out=tmp_path, protocols=["newreno"])
    before = journal(tmp_path)
    swept = millpond.sweep(scenario, VARY, out=tmp_path, protocols=["newreno", Fixed])
    assert journal(tmp_path)[: len(before)] == before
    versions = swept.runs().groupby("protocol")["version"].unique()
    assert [one.item() for one in versions[["newreno"]]] == [millpond.__version__]
    assert versions["fixed"].item().startswith(f"{millpond.__version__} fixed@")
    # Of another version nothing is said to have changed.
    assert json.loads((tmp_path / "sweep.json").read_text())["version"] == millpond.__version__


def test_a_changed_law_is_named(scenario: millpond.Scenario, tmp_path: Path) -> None:
    class Changed(Fixed):
        """A larger window."""

        class Sender(Fixed.Sender):
            def on_start(self, start: Start) -> None:
                self.window_bytes = (self.law.window + 1) * start.packet_bytes

    millpond.sweep(scenario, VARY, out=tmp_path, protocols=[Fixed, "newreno"])
    message = r'the law "fixed" has changed: the dataset has runs of fixed@\w{12}, this is fixed@\w{12}; give out'
    refused: list[list[str | type[millpond.Law]]] = [[Changed, "newreno"], ["fixed:window=3"]]
    for protocols in refused:
        with pytest.raises(millpond.Error, match=message):
            millpond.sweep(scenario, VARY, out=tmp_path, protocols=protocols)
    larger = {"links.L.rate": ["5Mbps", "10Mbps", "15Mbps"]}
    assert len(millpond.sweep(scenario, larger, out=tmp_path, protocols=["newreno"]).runs()) == 5
    swept = millpond.sweep(scenario, VARY, out=tmp_path, protocols=[Changed, "newreno"], replace=True)
    assert len(swept.runs()) == 4


class Counts(millpond.Law):
    """Its senders count themselves, and the fifth one fails."""

    name = "counts"
    count = 0

    class Sender(millpond.Sender):
        def on_start(self, start: Start) -> None:
            Counts.count += 1
            self.window_bytes = 1e4
            if Counts.count == 5:
                raise RuntimeError("five")


def test_a_state_that_a_run_changes_is_not_another_law_in_the_same_sweep(
    scenario: millpond.Scenario, tmp_path: Path
) -> None:
    protocols: list[str | type[millpond.Law]] = [Counts, Fixed]
    runs = millpond.sweep(scenario, VARY, out=tmp_path, protocols=protocols, seeds=4, threads=1).runs()
    assert len(runs) == 16
    with pytest.raises(millpond.Error, match='the law "counts" has changed'):
        millpond.sweep(scenario, VARY, out=tmp_path, protocols=[Counts])


def test_a_law_among_the_varied_values_is_a_part_of_the_key(scenario: millpond.Scenario, tmp_path: Path) -> None:
    millpond.register(Fixed)
    runs = millpond.sweep(scenario, {"flows.f.protocol": ["fixed", "newreno"]}, out=tmp_path).runs()
    assert runs["version"].str.contains("fixed@").all()
