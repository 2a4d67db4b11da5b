"""What the package itself writes in the dataset of a sweep: the code of laws, and runs that a law has ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from millpond import _core

DESCRIPTION, RUNS = "sweep.json", "runs.jsonl"


def execute(plan: _core.SweepPlan, number: int) -> str:
    """Executes a run; returns its line of ``runs.jsonl``. A run that a law in Python ends has its message."""
    try:
        return plan.run(number)
    except _core.GuestError as error:
        return plan.failed(number, str(error))


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
