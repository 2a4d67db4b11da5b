"""What the package itself writes in the dataset of a sweep: the code of laws, and runs that a law has ended."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from millpond import _core

DESCRIPTION, RUNS = "sweep.json", "runs.jsonl"

#: The part of a message that tells that a line has another key than its run.
OTHER_RUN = "another run than it was sent"
#: The protocol of runs that are executed for the hashes of their traces.
BUILT_IN = "newreno"

#: For a varied key and its value the hashes of the traces of the scenario with it, with commas between them.
Traces: TypeAlias = Callable[[str, str], str]


class Ended(NamedTuple):
    """A run that a law in Python has ended, with the message of the `GuestError`."""

    message: str


def execute(plan: _core.SweepPlan, number: int) -> str | Ended:
    """Executes a run; returns its line of ``runs.jsonl``, or why its law has ended it."""
    try:
        return plan.run(number)
    except _core.GuestError as error:
        return Ended(str(error))


class Journal:
    """The open dataset of a plan, which takes runs that a law has ended as well.

    Parameters
    ----------
    dataset : Dataset
        The dataset.
    plan : SweepPlan
        Its runs.
    scenario : Scenario
        Their scenario, without what is varied.
    path : path
        The folder of the dataset.
    """

    def __init__(self, dataset: _core.Dataset, plan: _core.SweepPlan, scenario: _core.Scenario, path: Path) -> None:
        self.dataset, self.plan, self.scenario = dataset, plan, scenario
        self._known: dict[tuple[str, str], str] = {}
        self._description: dict[str, Any] = json.loads((path / DESCRIPTION).read_text("utf-8"))

    def missing(self) -> list[int]:
        """The numbers of the runs that the dataset did not have when it was opened."""
        return self.dataset.missing()

    def append(self, number: int, line: str | Ended) -> None:
        """Adds a run.

        Raises
        ------
        Error
            The run is not one of this plan, or the file cannot be written.
        GuestError
            A law has ended a run that no row can name: its settings choose the trace of a link, and the law also ends
            the runs that have this trace under a built-in protocol.
        """
        if isinstance(line, str):
            self.dataset.append(number, line)
            return
        traces = self._description["base"].partition(",")[2]
        if self._is_added(number, self._failed(number, line.message, lambda name, value: traces)):
            return
        try:
            failed = self._failed(number, line.message, self._traces)
        except _core.Error as error:
            raise _core.GuestError(f"{line.message}, in the run {self.plan.describe(number)}") from error
        self.dataset.append(number, failed)

    def _is_added(self, number: int, line: str) -> bool:
        """Adds a run, unless its key is another one."""
        try:
            self.dataset.append(number, line)
        except _core.Error as error:
            if OTHER_RUN in str(error):
                return False
            raise
        return True

    def _failed(self, number: int, message: str, traces: Traces) -> str:
        """The line of a run without results."""
        about = self._description
        names = sorted(about["keys"])
        pattern = ", ".join([*(f"{re.escape(name)}=(.*?)" for name in names), "(?:protocol (.*?), )?seed ([0-9]+)"])
        found = re.fullmatch(pattern, self.plan.describe(number), re.DOTALL)
        *values, protocol, seed = found.groups() if found else [*names, None, "0"]
        settings = dict(zip(names, values, strict=True))
        record = {
            "run": _key(about, settings, protocol, seed, traces),
            "settings": settings,
            "protocol": protocol,
            "world": about["world"],
            "seed": int(seed),
            "version": about["version"],
            "scenario_sha256": "",
            "error": message,
            "rows": [],
        }
        return json.dumps(record)

    def _traces(self, name: str, value: str) -> str:
        """The hashes of the traces of the scenario with one setting, which a run under a built-in protocol tells."""
        if (name, value) not in self._known:
            scenario = self.scenario.with_sets([f"{name}={value}"])
            summary = json.loads(_core.run(scenario, "packets", BUILT_IN, "", None).summary_json())
            self._known[name, value] = ",".join(trace["sha256"] for trace in summary["traces"])
        return self._known[name, value]


def _key(about: dict[str, Any], settings: dict[str, str], protocol: str | None, seed: str, traces: Traces) -> str:
    """The key of a run as `SweepPlan` computes it; a dataset refuses another one."""
    assigned = [text for name, value in settings.items() for text in (name, value, traces(name, value))]
    digest = hashlib.sha256()
    for text in (about["version"], about["base"], about["world"], protocol or "", seed, *assigned):
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


def set_version(path: Path, version: str) -> None:
    """Names the laws of the runs that are added next to the dataset, if it has runs of this version of Millpond.

    One dataset has the runs of several sets of laws, each under the version of Millpond and the keys of its laws.
    """
    file = path / DESCRIPTION
    try:
        about = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):  # There is no dataset yet, or opening it reports what is wrong.
        return
    old = about.get("version") if isinstance(about, dict) else None
    own = _core.VERSION
    if old == version or not isinstance(old, str) or (old != own and not old.startswith(f"{own} ")):
        return
    partial = path / f".{DESCRIPTION}.partial"
    with suppress(OSError):  # Opening the dataset reports it.
        partial.write_text(json.dumps({**about, "version": version}, indent=2, ensure_ascii=False) + "\n", "utf-8")
        partial.replace(file)


def check_laws(path: Path, shown: object, keys: Iterable[str]) -> None:
    """Refuses a dataset with runs of another code of a law.

    Parameters
    ----------
    path : path
        The folder of the dataset.
    shown : object
        Its name in the message.
    keys : iterable of str
        The fingerprints of the laws.

    Raises
    ------
    Error
        A law has changed.
    """
    versions = _versions(path / RUNS)
    for key in keys:
        name = key.rpartition("@")[0]
        pattern = re.compile(rf" ({re.escape(name)}@[0-9a-f]{{12}})(?= |$)")
        others = {found[1] for version in versions if (found := pattern.search(version))} - {key}
        if others:
            raise _core.Error(
                f'{shown}: the law "{name}" has changed: the dataset has runs of {", ".join(sorted(others))}, this is '
                f"{key}; give out another name, or replace the dataset with replace=True"
            )


def _versions(journal: Path) -> set[str]:
    """The different versions of the runs of a dataset."""
    found: set[str] = set()
    if not journal.exists():
        return found
    with journal.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                found.add(str(json.loads(line)["version"]))
            except (ValueError, KeyError, TypeError):  # Opening the dataset removes an incomplete line, or reports it.
                continue
    return found
