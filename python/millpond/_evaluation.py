"""Protocols and queues under the criteria that documents of the IETF have for them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from millpond import _core
from millpond._arguments import listed, whole
from millpond._law import Law, name_of
from millpond._progress import Progress, shown
from millpond._theory import Analysis

if TYPE_CHECKING:
    from millpond.documents import EvaluationsResult


class Evaluations(Analysis):
    """The evidence for each criterion of a suite, for one or several protocols or queues."""

    def __init__(self, text: str, tables: str, page: str) -> None:
        super().__init__(text, tables)
        self._page = page

    @cached_property
    def result(self) -> EvaluationsResult:
        """Criteria with their verdicts and their evidence: the document that ``millpond evaluate --json`` prints."""
        from millpond.documents import EvaluationsResult

        return EvaluationsResult.from_json(json.loads(self._json))

    def save_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the HTML page of ``millpond evaluate --report``."""
        Path(path).write_text(self._page, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Evaluations: {', '.join(one.name for one in self.result.evaluations)}>"


def evaluate(
    *subjects: str | type[Law],
    suites: Iterable[str] = (),
    sections: Iterable[str] = (),
    full: bool = False,
    sets: Iterable[str] = (),
    threads: int = 0,
    progress: bool | Progress | None = None,
) -> Evaluations:
    """Runs an experiment for each criterion of a suite that a simulation can judge.

    Parameters
    ----------
    subjects : str or type
        The protocols or queues: names, or subclasses of `Law`.
    suites : iterable of str
        The suites, such as ``["bcp133"]``, or folders of suites, such as ``["./my-link"]``. Default: all shipped
        ones that evaluate protocols, or queues.
    sections : iterable of str
        Only the criteria of these sections, such as ``["5.1.1"]``.
    full : bool
        Whether 32 seeds are run for each row instead of 8.
    sets : iterable of str
        Changes of every scenario, in the form of ``--set``.
    threads : int
        Number of runs at the same time, at most one per core; 0 for `RAYON_NUM_THREADS`, else one per core.
    progress : bool or callable, optional
        As for `millpond.Scenario.run`.

    Raises
    ------
    Error
        A name is unknown, or a suite does not evaluate protocols, or queues.
    """
    if not subjects:
        raise TypeError("evaluate needs at least one protocol or queue")
    names = [name_of(subject) for subject in subjects]
    lists = listed("suites", suites), listed("sections", sections)
    changes, threads = listed("sets", sets), whole("threads", threads, 0)
    with shown(f"evaluation of {', '.join(names)}", progress) as show:
        return Evaluations(*_core.evaluate(names, *lists, full, changes, threads, show))
