"""Recipes that reproduce the figures, tables and theorems of papers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from millpond import _core
from millpond._arguments import listed, whole
from millpond._progress import Progress, shown
from millpond._theory import Analysis

if TYPE_CHECKING:
    from millpond.documents import PapersResult

__all__ = ["CheckedPapers", "Recipe", "check", "recipes"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A figure, table or theorem of a paper.

    Attributes
    ----------
    name : str
        Paper and recipe: ``"lgcc/fig12"``.
    place : str
        Where it is in the paper.
    title : str
        What it is about.
    """

    name: str
    place: str
    title: str


class CheckedPapers(Analysis):
    """Checked recipes."""

    @cached_property
    def result(self) -> PapersResult:
        """Rows with their verdicts: the document that ``millpond papers check --json`` prints."""
        from millpond.documents import PapersResult

        return PapersResult.from_json(json.loads(self._json))

    @property
    def holds(self) -> bool:
        """Whether no row is unexplained."""
        return all(row.verdict != "unexplained" for recipe in self.result.recipes for row in recipe.rows)

    def __repr__(self) -> str:
        return f"<CheckedPapers: {len(self.result.recipes)} recipes>"


def recipes(name: str | None = None, *, folder: str | os.PathLike[str] | None = None) -> list[Recipe]:
    """The recipes of a paper, or all.

    Parameters
    ----------
    name : str, optional
        A paper, ``"lgcc"``, or a recipe, ``"lgcc/fig12"``.
    folder : path, optional
        Folder with recipes. Default: the built-in ones.

    Raises
    ------
    Error
        The name is unknown.
    """
    return [Recipe(*one) for one in _core.recipes(name, folder)]


def check(
    name: str | None = None,
    *,
    full: bool = False,
    sets: Iterable[str] = (),
    trace: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    threads: int = 0,
    progress: bool | Progress | None = None,
) -> CheckedPapers:
    """Runs recipes and compares their values with those of the papers.

    Parameters
    ----------
    name : str, optional
        A paper, ``"lgcc"``, or a recipe, ``"lgcc/fig12"``. Default: all.
    full : bool
        Whether the papers' own grids are run instead of quick ones.
    sets : iterable of str
        Changes of every scenario, in the form of ``--set``.
    trace : path, optional
        A trace that replaces every trace of the recipes.
    keep : path, optional
        Folder of finished runs, from which an interrupted check continues.
    folder : path, optional
        Folder with recipes. Default: the built-in ones.
    threads : int
        Number of runs at the same time, at most one per core; 0 for `RAYON_NUM_THREADS`, else one per core.
    progress : bool or callable, optional
        As for `millpond.Scenario.run`.

    Raises
    ------
    Error
        The name is unknown, or a scenario cannot be run.
    """
    changes, threads = listed("sets", sets), whole("threads", threads, 0)
    with shown(name or "all recipes", progress) as show:
        return CheckedPapers(*_core.check_papers(name, folder, full, changes, trace, keep, threads, show))
