"""A line of progress, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Called with the share that is done, from 0 to 1.
Progress: TypeAlias = Callable[[float], None]

#: Work that ends within this time shows no line, in seconds.
QUIET_TIME = 1.0
#: The number of characters of a full bar.
WIDTH = 40


class Line:
    """A line on standard error that is written again and again.

    Parameters
    ----------
    what : str
        What is done.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.begin = time.monotonic()
        self.written = 0

    def show(self, share: float) -> None:
        """Writes the line, if the work has lasted long enough."""
        elapsed = time.monotonic() - self.begin
        if elapsed < QUIET_TIME:
            return
        left = f", {elapsed * (1 - share) / share:.0f} s left" if share > 0 else ""
        line = f"{self.what} {'━' * int(WIDTH * share):<{WIDTH}} {100 * share:3.0f} % {elapsed:.0f} s{left}"
        print("\r" + line.ljust(self.written), end="", file=sys.stderr, flush=True)
        self.written = len(line)

    def clear(self) -> None:
        """Removes the line."""
        if self.written:
            print("\r" + " " * self.written + "\r", end="", file=sys.stderr, flush=True)


@contextmanager
def shown(what: str, progress: bool | Progress | None) -> Iterator[Progress | None]:
    """The function to call with the progress of work.

    Parameters
    ----------
    what : str
        What is done.
    progress : bool or callable, optional
        A function of the share that is done, or whether a line is shown. None shows one in a terminal and in a
        notebook.
    """
    if callable(progress):
        yield progress
        return
    if not (_is_interactive() if progress is None else progress):
        yield None
        return
    line = Line(what)
    try:
        yield line.show
    finally:
        line.clear()


def _is_interactive() -> bool:
    """Whether a person sees standard error at once."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
