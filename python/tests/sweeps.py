"""What the tests of sweeps share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import millpond
from millpond._toml import Value

#: 6 combinations; with two protocols and two seeds 24 runs.
VARY: dict[str, str | list[Value]] = {"links.access.rate": "5Mbps..20Mbps:log:3", "flows.download.count": [1, 2]}
RUNS = 24
TABLES = ("runs.parquet", "groups.parquet", "report.html", "sweep.json")


def run_sweep(
    scenario: millpond.Scenario,
    out: Path | str,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> millpond.Sweep:
    return millpond.sweep(
        scenario,
        VARY,
        out=out,
        protocols=["cubic", "dctcp"],
        seeds=2,
        executor=executor,
        progress=progress,
        **options,
    )


def journal(out: Path) -> list[str]:
    """The lines of the ended runs."""
    return (out / "runs.jsonl").read_text().splitlines()


def assert_equal(out: Path, expected: Path) -> None:
    """Both datasets have the same bytes, and each run once."""
    for name in TABLES:
        assert (out / name).read_bytes() == (expected / name).read_bytes(), name
    assert sorted(journal(out)) == sorted(journal(expected))


class Here(Executor):
    """Executes each task at once in this process; `before` sees its arguments and may raise what its future raises."""

    def __init__(self, before: Callable[[list[int]], None] = lambda numbers: None) -> None:
        self.before = before

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            self.before(args[1])
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
