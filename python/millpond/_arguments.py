"""Checks of arguments that several functions have."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from millpond._core import Error

T = TypeVar("T")
S = TypeVar("S", str, str | None)

#: The largest seed.
LARGEST_SEED = 2**64 - 1

#: The most seeds of runs that are held in memory at the same time, as of ``millpond compare --seeds``.
MOST_SEEDS = 10_000


def whole(name: str, value: Any, least: int, most: int = LARGEST_SEED) -> int:  # noqa: ANN401
    """A whole number within a range.

    Raises
    ------
    Error
        The value is no whole number, or outside of the range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        upper = "2^64 - 1" if most == LARGEST_SEED else str(most)
        raise Error(f"{name} is {value!r}: expected a whole number from {least} to {upper}")
    return number


def listed(name: str, values: Iterable[T]) -> list[T]:
    """The items of a list.

    Raises
    ------
    Error
        A single item or a mapping was given in place of a list.
    """
    if isinstance(values, (str, type, Mapping)) or not isinstance(values, Iterable):
        shown = values.__name__ if isinstance(values, type) else repr(values)
        raise Error(f"{name} is {shown}: expected a list, such as [{shown}]")
    return list(values)


def worded(name: str, value: S, example: str) -> S:
    """A text with a unit; None is returned as it is.

    Raises
    ------
    Error
        The value is no text.
    """
    if value is not None and not isinstance(value, str):
        raise Error(f'{name} is {value!r}: expected a text with a unit, such as "{example}"')
    return value
